"""Activations of a tiny language model: the right ones, all of them, however the run went."""

import json
import shutil

import numpy as np
import pytest
from small_models import BOS, PAD, WIDTH, ids_of, network_of, write_corpus, write_model

from benchmark import metrics
from benchmark.datasets import load_dataset
from benchmark.errors import UserError
from benchmark.saes.activations import TopK
from benchmark.saes.sae import Sae
from benchmark.text import collect as module
from benchmark.text.collect import TextRecipe, collect
from benchmark.text.corpus import read_corpus
from benchmark.text.model import find_model, load_tokenizer

EMBEDDING = "model.embed_tokens"
LAYER = "model.layers.0"
LENGTH = 12


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    write_model(folder / "quiet")
    write_model(folder / "loud", loud=1e4)
    write_corpus(folder / "corpus.txt")
    return folder


@pytest.fixture(autouse=True)
def own_home(monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def run(
    place, out, hook=LAYER, model="quiet", workers=1, overwrite=False, progress=None, **changes
):
    recipe = TextRecipe(hook, **{"context_length": LENGTH, "batch_size": 4, **changes})
    return collect(
        find_model(str(place / model)),
        read_corpus(str(place / "corpus.txt")),
        recipe,
        out,
        workers=workers,
        overwrite=overwrite,
        progress=progress,
    )


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def documents_of(place):
    return {one.id: one.text for one in read_corpus(str(place / "corpus.txt")).documents}


def test_every_token_of_the_corpus_is_there_once(place, tmp_path):
    data = run(place, tmp_path / "out")
    documents = documents_of(place)
    found = {name: [] for name in documents}
    for one in data.tokens.contexts:
        found[one.document] += one.input_ids[one.places].tolist()
    assert found == {name: ids_of(text) for name, text in documents.items()}
    assert len(data.ids) == sum(len(text.split()) for text in documents.values())
    assert data.manifest["tokens_found"] == len(data.ids) == len(set(data.ids))
    # the last batch of contexts is a partial one, and its rows are kept
    assert len(data.tokens.contexts) % 4
    assert {len(one.input_ids) for one in data.tokens.contexts} > {LENGTH}


def test_activations_are_those_of_the_tokens(place, tmp_path):
    """At the embedding a row must be the embedding of its token; deeper, that of a plain run."""
    import torch

    data = run(place, tmp_path / "embedding", EMBEDDING)
    network = network_of(place / "quiet")
    ids = np.concatenate([one.input_ids[one.places] for one in data.tokens.contexts])
    expected = network.model.embed_tokens.weight.detach().numpy()[ids]
    assert (data.activations.images == expected).all()
    deep = run(place, tmp_path / "deep")
    for number in (0, 7, len(deep.tokens.contexts) - 1):
        one = deep.tokens.contexts[number]
        with torch.no_grad():
            inputs = torch.tensor(one.input_ids[None].astype(np.int64))
            plain = network.model(inputs, output_hidden_states=True).hidden_states[1][0]
        rows = slice(int(deep.tokens.first[number]), int(deep.tokens.first[number + 1]))
        expected = plain.numpy()[one.places]
        assert deep.activations.images[rows] == pytest.approx(expected, abs=1e-5)


def test_marked_text_names_the_token(place, tmp_path):
    data = run(place, tmp_path / "out")
    documents = documents_of(place)
    for row in range(0, len(data.ids), 13):
        document, number, position = data.ids[row].rsplit("/", 2)
        before = sum(
            len(one.places)
            for one in data.tokens.contexts[: int(number)]
            if one.document == document
        )
        word = documents[document].split()[before + int(position) - 1]
        assert f"«{word}»" in data.contexts.marked(row)


def test_documents_stay_in_one_split(place, tmp_path):
    data = run(place, tmp_path / "out", match_share=0.5)
    rows = {split: data.split(split) for split in ("match", "score")}
    names = {
        split: {data.ids[row].rsplit("/", 2)[0] for row in rows[split].tolist()} for split in rows
    }
    assert not names["match"] & names["score"]
    every = np.sort(np.concatenate(list(rows.values())))
    assert every.tolist() == list(range(len(data.ids)))
    assert abs(len(rows["match"]) / len(data.ids) - 0.5) < 0.05


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_the_batch_size_moves_no_activation(place, tmp_path, batch_size):
    first = run(place, tmp_path / "a")
    other = run(place, tmp_path / "b", batch_size=batch_size)
    assert list(first.ids) == list(other.ids)
    assert other.activations.images == pytest.approx(first.activations.images, abs=2e-6)


def test_a_killed_run_goes_on_to_the_same_bytes(place, tmp_path, monkeypatch):
    """Killed after one block, and once more after three; several workers, as well as one."""
    monkeypatch.setattr(module, "BLOCK_ROWS", 32)
    whole = files_of(run(place, tmp_path / "whole").folder)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "second"))
    out, started = tmp_path / "out", []
    for stop in (32, 96):

        def stopping(done, total, stop=stop):
            started.append(done)
            if done >= stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run(place, out, workers=3, progress=stopping)
        assert not out.exists()
    again = []
    run(place, out, workers=2, progress=lambda done, total: again.append(done))
    assert again[0] == 96
    assert files_of(out) == whole
    assert not list((tmp_path / "second" / "text").glob("*/work"))


def test_the_same_folder_is_not_made_again(place, tmp_path, monkeypatch):
    out = tmp_path / "out"
    run(place, out)
    monkeypatch.setattr(module, "_plan", None)
    run(place, out)
    shutil.copytree(place / "quiet", tmp_path / "moved" / "quiet")
    shutil.copy(place / "corpus.txt", tmp_path / "moved")
    run(tmp_path / "moved", out)
    with pytest.raises(UserError, match="choose another --out or give --overwrite"):
        run(place, out, seed=1)
    monkeypatch.undo()


def test_overwriting_is_asked_for(place, tmp_path):
    out = tmp_path / "out"
    first = run(place, out)
    other = run(place, out, seed=1, overwrite=True)
    assert first.manifest["recipe"]["seed"] == 0
    assert other.manifest["recipe"]["seed"] == 1
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    with pytest.raises(UserError, match="holds something else"):
        run(place, tmp_path / "mine", overwrite=True)
    assert (tmp_path / "mine" / "file").read_text() == "x"


def test_a_loud_pad_or_bos_token_owns_nothing(place, tmp_path):
    """Their norm is 10⁴ times that of a word; with them in, one latent would hold everything."""
    quiet, loud = (
        run(place, tmp_path / model, EMBEDDING, model=model) for model in ("quiet", "loud")
    )
    assert (loud.activations.images == quiet.activations.images).all()
    assert loud.manifest["norm"] == quiet.manifest["norm"]
    deep = [run(place, tmp_path / f"deep-{m}", LAYER, model=m) for m in ("quiet", "loud")]
    assert deep[1].activations.images == pytest.approx(deep[0].activations.images, abs=1e-3)
    draw = np.random.default_rng(0)
    directions = draw.standard_normal((24, WIDTH)).astype(np.float32)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    sae = Sae(
        "topk",
        directions,
        np.zeros(24, np.float32),
        directions,
        np.zeros(WIDTH, np.float32),
        TopK(4),
        normalisation="none",
    )
    own = metrics.dominance(sae.encode(quiet.activations.images))
    assert (metrics.dominance(sae.encode(loud.activations.images)) == own).all()
    # the check can fail: had the loud rows been kept, they would show
    network = network_of(place / "loud")
    rows = network.model.embed_tokens.weight.detach().numpy()[[PAD, BOS]]
    spoiled = np.concatenate([loud.activations.images, np.repeat(rows, 200, axis=0)])
    assert abs(metrics.dominance(sae.encode(spoiled)) - own).max() > 0.05
    assert np.linalg.norm(rows, axis=1).min() > 1e3 * loud.manifest["norm"]["max"]


def test_padding_stands_on_the_right_whatever_the_tokenizer_says(place, tmp_path, monkeypatch):
    tokenizer = load_tokenizer(find_model(str(place / "quiet")))
    assert tokenizer.padding_side == "left"
    assert tokenizer("w1")["input_ids"][0] == BOS
    seen = []
    original = module.batch_of

    def watched(contexts, recipe):
        seen.append(original(contexts, recipe))
        return seen[-1]

    monkeypatch.setattr(module, "batch_of", watched)
    run(place, tmp_path / "out")
    for ids, mask in seen:
        assert ids.shape == mask.shape == (4, LENGTH)
        assert (np.diff(mask, axis=1) <= 0).all()
        assert (ids[:, 0] == BOS).all()


def test_a_corpus_that_is_too_small_is_recorded(place, tmp_path):
    few = run(place, tmp_path / "few", tokens=100)
    assert len(few.ids) == few.manifest["tokens_found"] == few.manifest["tokens_wanted"] == 100
    many = run(place, tmp_path / "many", tokens=10**6)
    assert many.manifest["tokens_wanted"] == 10**6
    assert many.manifest["tokens_found"] == len(many.ids) < 10**6


def test_records_name_model_and_hook(place, tmp_path):
    from benchmark.runs import prepare_activations

    out = tmp_path / "out"
    made = run(place, out)
    data = load_dataset(out)
    assert data.fingerprint == made.fingerprint == data.manifest["fingerprint"]
    source = prepare_activations(data).source
    assert source.encoder["name"] == f"quiet@{LAYER}"
    assert source.encoder["weights_sha256"] == data.manifest["model"]["weights_sha256"]
    assert source.dataset["fingerprint"] == data.fingerprint
    with pytest.raises(UserError, match="has no pictures"):
        data.images[0]


@pytest.mark.parametrize(
    ("hook", "complaint"),
    [
        ("model.layer.0", "no module 'model.layer.0' in LlamaForCausalLM; close: model.layers.0"),
        ("", "no module ''"),
        ("model.layers", "does not run"),
        ("model.rotary_emb", "expected \\(rows, tokens, width\\)"),
    ],
)
def test_a_hook_that_gives_no_activations(place, tmp_path, hook, complaint):
    with pytest.raises(UserError, match=complaint):
        run(place, tmp_path / "out", hook)


def test_a_module_that_runs_twice_is_refused(place, tmp_path):
    shared = tmp_path / "model" / "quiet"
    shutil.copytree(place / "quiet", shared)
    config = json.loads((shared / "config.json").read_text())
    (shared / "config.json").write_text(json.dumps({**config, "hidden_act": "silu"}))
    import benchmark.text.collect as under_test

    original = under_test.load_network

    def tied(files):
        network = original(files)
        network.model.layers[1] = network.model.layers[0]
        return network

    under_test.load_network = tied
    try:
        with pytest.raises(UserError, match=r"model.layers.0 runs 2 times"):
            run(place, tmp_path / "out")
    finally:
        under_test.load_network = original


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"context_length": 65}, "longer than the 64 positions"),
        ({"batch_size": 0}, "batch_size is 0; expected at least 1"),
        ({"match_share": 1.0}, "expected a number between 0 and 1"),
        ({"tokens": 4}, "from 1 document; expected at least 2"),
    ],
)
def test_settings_that_cannot_be(place, tmp_path, change, complaint):
    with pytest.raises(UserError, match=complaint):
        run(place, tmp_path / "out", **change)


def test_a_model_without_some_of_its_weights_is_refused(place, tmp_path):
    """The library would fill them with random numbers."""
    from safetensors.numpy import load_file, save_file

    broken = tmp_path / "broken"
    shutil.copytree(place / "quiet", broken)
    weights = load_file(broken / "model.safetensors")
    del weights["model.layers.0.mlp.up_proj.weight"]
    save_file(weights, broken / "model.safetensors", {"format": "pt"})
    (tmp_path / "corpus.txt").write_bytes((place / "corpus.txt").read_bytes())
    with pytest.raises(UserError, match=r"lack 1 weights, such as model\.layers\.0\.mlp\.up_proj"):
        run(tmp_path, tmp_path / "out", model="broken")


def test_activations_that_are_not_finite_are_named(place, tmp_path):
    from safetensors.numpy import load_file, save_file

    broken = tmp_path / "broken"
    shutil.copytree(place / "quiet", broken)
    weights = load_file(broken / "model.safetensors")
    weights["model.embed_tokens.weight"][ids_of("w7")[0]] = np.nan
    save_file(weights, broken / "model.safetensors", {"format": "pt"})
    (tmp_path / "corpus.txt").write_bytes((place / "corpus.txt").read_bytes())
    with pytest.raises(UserError, match=r"gives NaN or infinity at token \d+: .*«w7»"):
        run(tmp_path, tmp_path / "out", EMBEDDING, model="broken")


def test_what_is_no_model(tmp_path, place):
    for source in ("nowhere", "owner/name", str(place / "corpus.txt")):
        with pytest.raises(UserError, match="no model folder"):
            find_model(source)
    with pytest.raises(UserError, match="full 40-digit commit hash"):
        find_model("owner/name@main")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UserError, match="pickled weights are not read"):
        find_model(str(empty))
    shutil.copytree(place / "quiet", tmp_path / "mute")
    for path in (tmp_path / "mute").glob("tokenizer*"):
        path.unlink()
    with pytest.raises(UserError, match="no tokenizer"):
        find_model(str(tmp_path / "mute"))


def test_code_of_a_model_is_never_run(place, tmp_path):
    trap = tmp_path / "trap"
    shutil.copytree(place / "quiet", trap)
    config = json.loads((trap / "config.json").read_text())
    config |= {"model_type": "trap", "auto_map": {"AutoConfig": "trap.Config"}}
    (trap / "config.json").write_text(json.dumps(config))
    (trap / "trap.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    (tmp_path / "corpus.txt").write_bytes((place / "corpus.txt").read_bytes())
    with pytest.raises(UserError, match="cannot be read"):
        run(tmp_path, tmp_path / "out", model="trap")
    assert not (tmp_path / "ran").exists()
