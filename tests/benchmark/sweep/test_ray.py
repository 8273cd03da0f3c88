"""Ray gives the same bytes as local processes, and a worker that is killed costs its own task."""

from collections import Counter
from functools import partial

import pytest
import sweep_work
from sweep_cases import DATASET, contents

from benchmark import features
from benchmark.datasets import load_dataset
from benchmark.encoders import load_encoder
from benchmark.errors import UserError
from benchmark.ray_cluster import connected
from benchmark.sweep import load_config
from benchmark.sweep.run import Task, drive
from benchmark.workers import Setting, prepare_setting

pytest.importorskip("ray", reason="the extra ray is not installed")


@pytest.fixture(scope="module")
def processors(home):
    """A local Ray of two processors."""
    import ray

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_HOME", str(home))
        ray.cloudpickle.register_pickle_by_value(sweep_work)
        with connected("local", 2) as found:
            yield found


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:x", "nowhere"])
def test_an_address_without_ray_is_one_line(address):
    message = rf"--ray {address}: no Ray there \(.+\); expected the address of a running cluster"
    with pytest.raises(UserError, match=message), connected(address):
        pass


def test_a_sweep_on_ray_is_the_same_though_a_worker_is_killed(
    processors, swept, home, monkeypatch, tmp_path
):
    from benchmark.cli.sweep import run_config
    from benchmark.sweep.ray_executor import RayExecutor

    log = tmp_path / "log"

    class Loses(RayExecutor):
        """The process of the third task is killed at its first try."""

        submitted = 0

        def submit(self, setting, work, argument):
            self.submitted += 1
            if self.submitted == 3:
                return super().submit(setting, sweep_work.dying_once, (log, work, argument))
            return super().submit(setting, work, argument)

    monkeypatch.setenv("ASSAY_HOME", str(home))
    config, whole, _, document = swept
    executor = Loses(processors)
    report, found = run_config(load_config(config), tmp_path / "out", executor, on_ray=True)
    executor.close()
    assert log.read_text().splitlines() == ["begun"] * 2
    assert report.failures == []
    assert found == document
    assert contents(tmp_path / "out") == contents(whole)


def test_a_killed_task_alone_is_begun_again(processors, tmp_path, home, monkeypatch):
    from benchmark.sweep.ray_executor import RayExecutor

    monkeypatch.setenv("ASSAY_HOME", str(home))
    setting, log = Setting(DATASET, "none"), tmp_path / "log"
    executor = RayExecutor(processors)
    executor.add(setting, prepare_setting(setting))
    results, failures = {}, []
    works = [sweep_work.square] * 6
    works[2], works[4] = sweep_work.die_once, sweep_work.refuse

    def task(number, work):
        def done(value):
            results[number] = value
            return []

        return Task(str(number), setting, work, (log, number), done, failures.append)

    drive(executor, (task(number, work) for number, work in enumerate(works)))
    assert results == {0: 0, 1: 1, 2: 4, 3: 9, 5: 25}
    assert [one.line for one in failures] == ["no such thing; use another"]
    assert Counter(log.read_text().split()) == {"0": 1, "1": 1, "2": 2, "3": 1, "5": 1}


@pytest.fixture(scope="module")
def small_avatars(tmp_path_factory):
    """A dataset of about a hundred pictures."""
    from generation.avatars import build

    folder = tmp_path_factory.mktemp("few") / "avatars"
    build(folder, match=52, score=52, pairs=4, workers=1)
    return folder


def test_embedding_on_ray_gives_the_same_bytes_though_an_actor_is_killed(
    processors, small_avatars, monkeypatch, tmp_path
):
    from benchmark.ray_embed import blocks_on_ray

    monkeypatch.setattr(features, "BLOCK_ROWS", 16)
    dataset, encoder = load_dataset(small_avatars), load_encoder("efficientnet-lite0")
    here = features.embed(dataset, encoder, home=tmp_path / "here")
    log, done = tmp_path / "log", []
    there = features.embed(
        dataset,
        encoder,
        home=tmp_path / "there",
        progress=lambda now: done.append((now.done, now.total)),
        # in the middle of its third block
        elsewhere=blocks_on_ray(
            partial(sweep_work.dying_dataset, small_avatars, 40, log),
            "efficientnet-lite0",
            encoder,
            processors,
        ),
    )
    assert log.read_text().splitlines() == ["picture 40"] * 2
    assert done[-1][0] == done[-1][1] >= 104
    for name in ("images.npy", "base.npy", "edited.npy", "complete.json"):
        assert (there.folder / name).read_bytes() == (here.folder / name).read_bytes()


def test_a_node_with_another_encoder_is_refused(processors, small_avatars, tmp_path):
    from benchmark.ray_embed import blocks_on_ray

    dataset, encoder = load_dataset(small_avatars), load_encoder("efficientnet-lite0")

    class Other:
        """As the encoder, but for its runtime."""

        runtime = "another library"

        def __getattr__(self, name):
            return getattr(encoder, name)

    elsewhere = blocks_on_ray(
        partial(load_dataset, small_avatars), "efficientnet-lite0", Other(), processors
    )
    with pytest.raises(UserError, match="the encoder differs in runtime"):
        features.embed(dataset, Other(), home=tmp_path, elsewhere=elsewhere)
