"""Keeping measurements: next versions, what counts as the same, ids as a way into scoring."""

import copy
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from submission_cases import edit, make_document, make_result, write_folder, write_result, write_sae

import schemas
from benchmark.datasets.planted import Recipe, plant
from benchmark.errors import UserError
from benchmark.records import environment, processor
from benchmark.saes.faults import true_sae
from benchmark.saes.formats.assay import FORMAT
from benchmark.submissions import load_submission
from benchmark.submissions.make import Answers, make_submission, read_source
from benchmark.submissions.recording import record_result, same_measurement
from benchmark.submissions.saes import open_sae

PLANTED = "planted:features=20,width=24,sparsity=4,noise=0,match=300,score=200,pairs=60"


def measured(kind: str | None = "x86_64 AVX512", **changes: Any) -> dict[str, Any]:
    record = make_result(**changes)
    if kind is not None:
        record["environment"]["processor"] = kind
    return record


def test_time_and_environment_are_no_change() -> None:
    one = measured()
    other = copy.deepcopy(one)
    other["timing"] = {"seconds": 99.0, "measured_at": "2027-01-01T00:00:00Z"}
    other["environment"] |= {"commit": "1" * 40, "suite_version": "9.9"}
    assert same_measurement(one, other)


def test_on_one_kind_of_processor_the_last_bit_counts() -> None:
    one, other = measured(), measured()
    other["per_concept"][0]["f1"] += 1e-15
    assert not same_measurement(one, other)
    other = measured()
    other["per_concept"][0]["coalition"] = []
    assert not same_measurement(one, other)


@pytest.mark.parametrize("kind", ["aarch64 NEON", None])
def test_across_processors_scores_lie_near(kind: str | None) -> None:
    one, other = measured(), measured(kind)
    other["per_concept"][0] |= {"coalition": [], "f1": 0.0}
    other["scores"]["match_score"]["value"] += 9e-4
    other["scores"]["match_score"]["ci95"][0] -= 9e-4
    assert same_measurement(one, other)
    other["scores"]["match_score"]["value"] += 2e-4
    assert not same_measurement(one, other)
    other = measured(kind, dataset={"fingerprint": "1" * 64})
    assert not same_measurement(one, other)
    other = measured(kind)
    other["scores"]["match_score"]["n"] += 1
    assert not same_measurement(one, other)


def test_the_environment_names_the_processor() -> None:
    assert environment()["processor"] == processor() != ""
    record = make_result()
    record["environment"] = environment()
    schemas.validate("result-sae", record)


def test_versions_follow_each_other_and_stay(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    first = record_result(load_submission(folder, kind="saes"), measured())
    assert first == folder / "results/synavatars/1.json"
    bytes_of_first = first.read_bytes()
    found = load_submission(folder, kind="saes")
    assert record_result(found, measured()) is None
    changed = measured(protocol={"twin_seeds": [7, 8, 9]})
    assert record_result(found, changed) == folder / "results/synavatars/2.json"
    with pytest.raises(UserError, match=r"2.json: is there already"):
        record_result(found, changed)
    pairs = measured(pairs_dataset={"name": "syncub", "revision": "1", "fingerprint": "1" * 64})
    pairs["dataset"]["name"] = "cub"
    assert record_result(found, pairs) == folder / "results/cub+syncub/1.json"
    assert first.read_bytes() == bytes_of_first
    files = sorted(path.name for path in folder.rglob("*.*") if "results" in path.parts)
    assert files == ["1.json", "1.json", "2.json"]
    with pytest.raises(UserError, match="does not belong to first"):
        record_result(found, make_result("second"))


def test_the_content_of_another_submission_is_not_recorded(tmp_path: Path) -> None:
    write_result(write_sae(tmp_path), measured())
    folder = write_sae(tmp_path, "second", seed=1)
    (tmp_path / "saes/third/results/synavatars").mkdir(parents=True)
    (tmp_path / "saes/third/results/synavatars/1.json").write_text("[]")
    record = make_result("second")
    with pytest.raises(UserError, match="second: its content is that of first"):
        record_result(load_submission(folder, kind="saes"), record)
    assert not (folder / "results").exists()
    record["submission"]["weights_sha256"] = "1" * 64
    assert record_result(load_submission(folder, kind="saes"), record) is not None


def test_what_a_stopped_or_second_run_leaves_is_no_part_of_a_submission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "submissions"
    found = load_submission(write_sae(root), kind="saes")
    before = {path for path in root.rglob("*") if path.is_file()}
    link, made = os.link, []

    def watched(source: Path, target: Path) -> None:
        assert {path for path in root.rglob("*") if path.is_file()} == before
        assert source.is_file()
        made.append(source)
        if len(made) == 1:  # a second run that is quicker
            record_result(found, measured(protocol={"twin_seeds": [7, 8, 9]}))
            before.add(found.folder / "results/synavatars/1.json")
        link(source, target)

    monkeypatch.setattr("benchmark.submissions.recording.os.link", watched)
    with pytest.raises(UserError, match=r"1.json: is there already"):
        record_result(found, measured())
    assert len(set(made)) == 2
    (result,) = load_submission(found.folder, kind="saes").results
    assert result.document["protocol"]["twin_seeds"] == [7, 8, 9]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["submissions"]


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Submissions with the true SAE of planted activations; the current folder is theirs."""
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    recipe = Recipe.parse(PLANTED.partition(":")[2])
    FORMAT.save(true_sae(plant(recipe).dictionary, sparsity=4), tmp_path / "sae", {})
    answers = Answers("true", "The truth", "CC0-1.0", "none", ("Me",), ("planted:match",))
    return make_submission(read_source("sae"), answers, tmp_path / "submissions")[0]


def decisive(text: bytes) -> dict[str, Any]:
    record = json.loads(text)
    del record["timing"], record["environment"]
    return record


def test_scoring_a_submission_again_gives_the_same_bytes(
    assay: Any, planted: Path, tmp_path: Path
) -> None:
    given = ("submit", "score", "true", "--dataset", PLANTED)
    code, shown, complaint = assay(*given, "--out", "one.json")
    assert code == 0, complaint
    assert "MATCHScore, held-out" in shown
    assert not (planted / "results").exists()
    code, _, complaint = assay(*given, "--record")
    assert (code, complaint.partition(":")[0]) == (0, "recorded")
    (file,) = (planted / "results").rglob("*.json")
    assert file.name == "1.json"
    assert decisive(file.read_bytes()) == decisive(Path("one.json").read_bytes())
    record = json.loads(file.read_bytes())
    assert record["submission"]["id"] == "true"
    assert record["submission"]["name"] == "The truth"
    code, _, complaint = assay(*given, "--record")
    assert code == 0
    assert "nothing changed but time and environment" in complaint
    assert [path.name for path in (planted / "results").rglob("*.json")] == ["1.json"]
    # an id, or a submission's folder, is an SAE for the other commands too
    for name in ("true", planted):
        code, shown, complaint = assay("score", name, "--dataset", PLANTED, "--json")
        assert code == 0, complaint
        assert decisive(shown.encode()) == decisive(file.read_bytes())


def test_a_faulty_submission_is_not_measured(assay: Any, planted: Path) -> None:
    edit(planted, "licence", "mine")
    code, _, complaint = assay("submit", "score", "true", "--dataset", PLANTED, "--record")
    assert code == 1
    assert "$.licence: found mine" in complaint
    assert complaint.count("\n") == 1
    assert not (planted / "results").exists()


def test_out_lies_outside_the_submission(assay: Any, planted: Path) -> None:
    before = sorted(planted.rglob("*"))
    for name in ("submission.json", "results/planted/1.json", "../true/sae.safetensors"):
        code, _, complaint = assay("submit", "score", "true", "--out", planted / name)
        assert code == 2
        assert "lies in the submission" in complaint
    assert sorted(planted.rglob("*")) == before


def test_what_is_no_submission(assay: Any, planted: Path) -> None:
    for name in ("none", "sae", "submissions"):
        code, _, complaint = assay("submit", "score", name)
        assert code == 2
        assert "no submission; expected an id below submissions" in complaint


def test_another_file_than_the_document_says_is_not_opened(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    shutil.copy(
        write_sae(tmp_path, "second", seed=1) / "sae.safetensors", folder / "sae.safetensors"
    )
    with pytest.raises(UserError, match="has SHA-256"):
        open_sae(load_submission(folder, kind="saes"))


def test_files_come_from_the_hub_at_the_revision_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = write_sae(tmp_path / "local")
    document = load_submission(whole, kind="saes").document
    hub = {"repo": "owner/name", "revision": "0" * 40, "folder": "a/b"}
    remote = write_folder(tmp_path, make_document(sae={**document["sae"], "hub": hub}))
    asked = []

    def fetch(text: str, names: Any) -> Path:
        asked.append((text, list(names)))
        return whole

    monkeypatch.setattr("benchmark.saes.hub.fetch", fetch)
    found = open_sae(load_submission(remote, kind="saes"))
    assert found.d_sae == 40
    assert asked == [("owner/name/a/b@" + "0" * 40, ["config.json", "sae.safetensors"])]
    (whole / "sae.safetensors").unlink()
    with pytest.raises(UserError, match="no such file"):
        open_sae(load_submission(remote, kind="saes"))


def test_sizes_of_the_document_are_those_of_the_weights(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    edit(folder, "sae.d_in", 40)
    edit(folder, "sae.d_sae", 12)
    edit(folder, "sae.k", 2)
    with pytest.raises(UserError, match=r"\$\.sae\.d_in: found 40; expected 12"):
        open_sae(load_submission(folder, kind="saes"))
    edit(folder, "sae.architecture", "supersae")
    with pytest.raises(UserError, match=r"\$\.sae\.architecture: found supersae; expected topk"):
        open_sae(load_submission(folder, kind="saes"))


def test_a_result_of_a_deleted_place_starts_again(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    write_result(folder, measured())
    found = load_submission(folder, kind="saes")
    shutil.rmtree(folder / "results")
    assert record_result(load_submission(folder, kind="saes"), measured()) is not None
    assert record_result(found, measured()) is None
