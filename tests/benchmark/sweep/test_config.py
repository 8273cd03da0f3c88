"""The configuration file: what comes along loads, and every fault is named with its key."""

import pytest
from sweep_cases import DATASET, TEXT, write_config

from benchmark.errors import UserError
from benchmark.names import ID
from benchmark.sweep import ConfigError, find_config, jobs_of, load_config
from benchmark.sweep.config import Matcher
from benchmark.sweep.plan import in_k_sweep


def test_the_papers_grid_is_what_the_paper_says():
    config = load_config(find_config("paper"))
    jobs = jobs_of(config)
    main = [job for job in jobs if job.main]
    assert len(main) == 4 * 6 * 2 * 2
    assert {job.recipe.k for job in main} == {32}
    assert {job.recipe.epochs for job in jobs} == {50}
    extra = [job for job in jobs if not job.main]
    assert sorted({job.recipe.k for job in extra}) == [8, 16, 64, 128]
    assert len(extra) == 4 * 4
    assert sum(in_k_sweep(config, job.recipe) for job in jobs) == 5 * 4
    assert {(job.setting.dataset, job.setting.pairs) for job in jobs} == {
        ("cub", "syncub"),
        ("coco", "syncoco"),
    }
    labels = [matcher.label for matcher in config.matchers]
    assert labels == ["FBMP F_0.5", "FBMP F_0.25", "FBMP F_1", "one-to-one", "NN-OMP"]


def test_ids_are_ids_and_all_differ():
    for name in ("paper", "synavatars"):
        jobs = jobs_of(load_config(find_config(name)))
        paths = [wanted.path for job in jobs for wanted in job.wanted]
        assert len({job.id for job in jobs}) == len(jobs)
        assert len(set(paths)) == len(paths)
        assert all(ID.fullmatch(job.id) for job in jobs)


def test_datasets_whose_slugs_are_alike_keep_apart(tmp_path):
    one, two = DATASET, DATASET.replace("=", ",,")
    text = TEXT.replace("[[datasets]]", f'[[datasets]]\nname = "{two}"\n\n[[datasets]]')
    jobs = jobs_of(load_config(write_config(tmp_path, text)))
    assert {job.setting.dataset for job in jobs} == {one, two}
    assert len({job.id for job in jobs}) == len(jobs)
    assert all(ID.fullmatch(job.id) for job in jobs)


def test_a_matcher_is_recorded_as_what_it_amounts_to():
    config = load_config(find_config("paper"))
    protocol = config.protocol(Matcher("one_to_one"))
    assert (protocol.matcher, protocol.beta, protocol.max_latents) == ("one_to_one", 1.0, 1)
    assert config.protocol().beta == 0.5


FAULTS = [
    ("epochs = 3", "epoch = 3", "epoch: unknown key; did you mean 'epochs'?"),
    ("epochs = 3", "epochs = true", "epochs: found True, expected a whole number from 1"),
    ("epochs = 3", "epochs = 0", "epochs: found 0, expected a whole number from 1"),
    ("epochs = 3", 'epochs = "3"', "epochs: found '3', expected a whole number"),
    ("k = 3\n", "k = 3.0\n", "k: found 3.0, expected a whole number"),
    ("k = 3\n", "k = 9\n", "k: found 9, expected at most the least of dict_sizes, 8"),
    ("k = [1, 3, 6]", "k = [1, 13]", "k_sweep.k: found 13, expected at most the least of"),
    ("k = [1, 3, 6]", "k = []", "k_sweep.k: found [], expected a list with at least one entry"),
    ('"jumprelu"]', '"vae"]', "architectures[3]: found 'vae', expected one of topk"),
    ('"jumprelu"]', '"topk"]', "architectures[3]: found 'topk', expected an entry that is not"),
    ('matcher = "nn_omp"', "beta = nan", "matchers[2].beta: found nan, expected a number above 0"),
    ('matcher = "nn_omp"', "beta = 0.5", "matchers[2]: found {'beta': 0.5}, expected an entry"),
    ('name = "small"', 'name = "My Sweep"', "name: found 'My Sweep', expected lower-case"),
    ('name = "small"', "", "name: missing; it has no default"),
    ("[[datasets]]", "[datasets]", "datasets: found {'name':"),
    ("[[datasets]]", "[[datasets]]\nrevision = 1", "datasets[0].revision: unknown key; known:"),
    ("k = 3\n", "k = \n", "not TOML: "),
    ("[k_sweep]", "[[k_sweep]]", "k_sweep: found [{"),
]


@pytest.mark.parametrize(("old", "new", "message"), FAULTS, ids=[new for _, new, _ in FAULTS])
def test_a_fault_is_named(tmp_path, old, new, message):
    assert old in TEXT
    path = write_config(tmp_path, TEXT.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    (fault,) = caught.value.faults
    assert fault.startswith(f"{path}: {message}")


def test_every_fault_has_its_line(tmp_path):
    text = TEXT.replace("epochs = 3", "epochs = 0").replace("k = 3\n", "kk = 3\n")
    with pytest.raises(ConfigError) as caught:
        load_config(write_config(tmp_path, text))
    assert len(caught.value.faults) == 2


def test_an_unknown_configuration_lists_the_known_ones():
    with pytest.raises(UserError, match=r"'papers'; expected a TOML file or one of paper, synav"):
        find_config("papers")
