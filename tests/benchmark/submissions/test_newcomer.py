"""The newcomer's three commands, as CONTRIBUTING.md has them; the reference submissions."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from submission_cases import edit, make_result, write_sae

import schemas
from benchmark.runs import Prepared, prepare_by_name
from benchmark.saes import load_sae
from benchmark.submissions import exposure, load_submission, load_submissions
from benchmark.submissions.check import check
from benchmark.submissions.reference import make_references
from benchmark.tensors import write_tensors

GUIDE = Path(__file__).parents[3] / "CONTRIBUTING.md"


def commands() -> list[list[str]]:
    """The indented ``assay`` lines of the section on SAEs."""
    section = GUIDE.read_text().split("\n## Submit an SAE\n")[1].split("\n## ")[0]
    lines = re.findall(r"^    (assay .*)$", section, re.MULTILINE)
    return [shlex.split(line)[1:] for line in lines]


def write_saelens(folder: Path, d_in: int, d_sae: int, k: int) -> None:
    """A TopK SAE as SAELens saves it."""
    draw = np.random.default_rng(0)
    decoder = draw.standard_normal((d_sae, d_in)).astype(np.float32)
    decoder /= np.linalg.norm(decoder, axis=1, keepdims=True)
    folder.mkdir(parents=True)
    tensors = {
        "W_enc": decoder.T.copy(),
        "W_dec": decoder,
        "b_enc": np.zeros(d_sae, np.float32),
        "b_dec": np.zeros(d_in, np.float32),
    }
    write_tensors(folder / "sae_weights.safetensors", tensors, {})
    config = {
        "architecture": "topk",
        "d_in": d_in,
        "d_sae": d_sae,
        "k": k,
        "dtype": "float32",
        "apply_b_dec_to_input": True,
        "normalize_activations": "none",
        "metadata": {"sae_lens_version": "6.54.12"},
    }
    (folder / "cfg.json").write_text(json.dumps(config))


@pytest.fixture
def ready(avatars: Path, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty current folder, and a small synAvatars at home."""
    monkeypatch.setenv("ASSAY_HOME", str(home))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_three_commands_from_an_saelens_sae_to_scores(assay: Any, ready: Path) -> None:
    found = commands()
    assert [command[:2] for command in found] == [
        ["submit", "init"],
        ["submit", "validate"],
        ["submit", "score"],
    ]
    write_saelens(ready / found[0][2], 1280, 64, 8)
    for command in found[:2]:
        code, shown, complaint = assay(*command)
        assert (code, complaint) == (0, ""), complaint
    assert shown == "1 checked: valid\n"
    code, shown, complaint = assay(*found[2], "--json")
    assert code == 0, complaint
    record = json.loads(shown)
    schemas.validate("result-sae", record)
    assert record["submission"]["architecture"] == "topk"
    assert record["submission"]["d_sae"] == 64
    assert record["scores"]["l0"]["value"] == pytest.approx(8)
    submission = load_submission(ready / "submissions/saes/my-sae", kind="saes")
    assert exposure(submission.document, record) == ()
    assert submission.results == ()


def test_score_says_how_the_board_will_mark_it(
    assay: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmark.cli.submit._measure_sae", lambda *_: make_result())
    folder = write_sae(tmp_path)
    assert "exposed" not in assay("submit", "score", folder)[1]
    edit(folder, "training_data", [{"dataset": "synavatars", "splits": ["score", "match"]}])
    said = "note: the board marks this as exposed: by its own statement training saw score images\n"
    code, shown, complaint = assay("submit", "score", folder)
    assert (code, complaint) == (0, "")
    assert shown.endswith(said)
    code, shown, complaint = assay("submit", "score", folder, "--json")
    assert (code, complaint) == (0, said)
    assert json.loads(shown)


@pytest.fixture
def prepared(ready: Path) -> Prepared:
    return prepare_by_name("synavatars", None, None)


def test_the_references_come_again_byte_by_byte(ready: Path, prepared: Prepared) -> None:
    roots = ready / "one", ready / "two"
    for root in roots:
        made = list(make_references(root, prepared, d_sae=16, epochs=1))
        assert len(made) == 8
        assert check(root).problems == ()
    files = sorted(path.relative_to(roots[0]) for path in roots[0].rglob("*") if path.is_file())
    assert len(files) == 24
    for file in files:
        assert (roots[0] / file).read_bytes() == (roots[1] / file).read_bytes(), file
    names = {each.id for each in load_submissions(roots[0], kind="saes")}
    architectures = ("topk", "batchtopk", "matryoshka", "jumprelu", "relu", "gated", "p-anneal")
    assert names == {f"assay-{name}-16" for name in (*architectures, "untrained")}
    twin = load_submission(roots[0] / "saes/assay-untrained-16", kind="saes")
    assert "nothing else was learned" in twin.document["training_data"][0]["note"]
    sae = load_sae(twin.folder / "sae.safetensors")
    np.testing.assert_allclose(np.linalg.norm(sae.encoder, axis=1), 1, rtol=1e-6)
    features = prepared.features["match"].astype(np.float64)
    normalised = features - features.mean(1, keepdims=True)
    normalised /= features.std(1, ddof=1, keepdims=True)
    np.testing.assert_allclose(sae.decoder_bias, normalised.mean(0), rtol=1e-4, atol=1e-5)
