"""The SAE submissions of this repository: what was measured is what lies there."""

from pathlib import Path

import pytest

from benchmark.runs import weights_sha256
from benchmark.saes.training import ARCHITECTURES
from benchmark.submissions import Submission, exposure, load_submissions
from benchmark.submissions.check import check
from benchmark.submissions.folders import MAX_FOLDER
from benchmark.submissions.measured import current_fingerprints, older_data
from benchmark.submissions.saes import open_sae

ROOT = Path(__file__).parents[2] / "submissions"
REFERENCES = {f"assay-{name.replace('_', '-')}-256" for name in (*ARCHITECTURES, "untrained")}


@pytest.fixture(scope="module")
def saes() -> dict[str, Submission]:
    return {each.id: each for each in load_submissions(ROOT, kind="saes")}


def test_every_rule_holds_over_the_repository() -> None:
    assert check(ROOT).problems == ()


def test_the_references_are_measured_on_current_data(saes: dict[str, Submission]) -> None:
    assert set(saes) >= REFERENCES
    assert len(REFERENCES) == 8
    current = current_fingerprints(saes.values())
    for name in REFERENCES:
        found = saes[name]
        assert "synavatars" in found.newest()
        assert older_data(found, current) == []
        size = sum(path.stat().st_size for path in found.folder.iterdir() if path.is_file())
        assert size <= MAX_FOLDER
        assert exposure(found.document, found.newest()["synavatars"].document) == ()


def test_results_are_of_the_weights_that_lie_there(saes: dict[str, Submission]) -> None:
    for found in saes.values():
        if "hub" in found.document["sae"] or not found.results:
            continue
        sae = open_sae(found)
        digest = weights_sha256(sae)
        for result in found.results:
            who = result.document["submission"]
            assert who["weights_sha256"] == digest, result.file
            assert who["architecture"] == sae.architecture


def test_training_beats_no_training(saes: dict[str, Submission]) -> None:
    def score(name: str, key: str) -> float:
        return saes[name].newest()["synavatars"].document["scores"][key]["value"]

    for name in REFERENCES - {"assay-untrained-256"}:
        for key in ("match_score", "tapa_score"):
            assert score(name, key) > score("assay-untrained-256", key), name
    twin = saes["assay-untrained-256"].newest()["synavatars"].document["scores"]
    # random weights beside other random weights
    assert abs(twin["delta_match_score"]["value"]) < 0.05
