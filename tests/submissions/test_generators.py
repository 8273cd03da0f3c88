"""The generator submissions of this repository: what was measured is what lies there."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.files import json_text
from benchmark.generative.submitted.real_sets import attributes_json
from benchmark.images import read_image
from benchmark.submissions import Submission, exposure, load_submissions
from benchmark.submissions.check import check
from benchmark.submissions.folders import MAX_FOLDER
from benchmark.submissions.generators_images import ImageFile
from benchmark.submissions.generators_known import real_set
from benchmark.submissions.generators_results import recomputed
from benchmark.submissions.measured import current_fingerprints, older_data
from generation.avatars.generators import IMAGES, REFERENCES, document_of, same

ROOT = Path(__file__).parents[2] / "submissions"


@pytest.fixture(scope="module")
def generators() -> dict[str, Submission]:
    return {each.id: each for each in load_submissions(ROOT, kind="generators")}


def newest(submission: Submission) -> dict[str, Any]:
    return dict(submission.newest()["synavatars"].document)


def test_every_rule_holds_over_the_generators(generators: dict[str, Submission]) -> None:
    assert set(generators) >= set(REFERENCES)
    assert check(ROOT, [each.folder for each in generators.values()]).problems == ()


def test_results_are_of_the_images_that_lie_there(generators: dict[str, Submission]) -> None:
    current = current_fingerprints(generators.values())
    for found in generators.values():
        assert older_data(found, current) == []
        files = found.document["generator"].get("files", [])
        if "hub" in found.document["generator"] or not files:
            continue
        size = sum(path.stat().st_size for path in found.folder.iterdir() if path.is_file())
        assert size <= MAX_FOLDER
        content, place = hashlib.sha256(), 0
        for entry in files:
            for data in ImageFile.of(found.folder / entry["path"]).encoded():
                content.update(f"{place:06d}".encode() + b"\0" + hashlib.sha256(data).digest())
                place += 1
        for result in found.results:
            who = result.document["submission"]
            assert (who["images_sha256"], who["n"]) == (content.hexdigest(), place)


def test_results_are_of_the_fixed_attributes(generators: dict[str, Submission]) -> None:
    for found in generators.values():
        chosen = real_set(found.document["real"])
        result = newest(found)
        assert result["protocol"]["attributes"] == attributes_json(chosen.attributes)
        assert result["model"]["name"] == chosen.clip
        assert result["encoder"]["name"] == chosen.encoder
        assert (result["real"]["split"], result["real"]["selection"]) == (
            chosen.split,
            chosen.concept,
        )
        assert exposure(found.document, result) == ()
        for name, (value, _) in recomputed(result).items():
            assert result["scores"][name]["value"] == pytest.approx(value, rel=1e-9)


def test_the_references_are_what_their_program_makes(generators: dict[str, Submission]) -> None:
    for name in REFERENCES:
        folder = generators[name].folder
        assert generators[name].document == document_of(name, folder / "images.parquet")
    (file,) = generators["assay-avatars-same"].document["generator"]["files"]
    images = ImageFile.of(generators["assay-avatars-same"].folder / file["path"])
    assert images.rows == IMAGES
    first = next(iter(images.encoded()))
    assert read_image(first).tobytes() == same(1)[0].tobytes()


def test_the_references_are_found_out(generators: dict[str, Submission]) -> None:
    results = {name.removeprefix("assay-avatars-"): newest(generators[name]) for name in REFERENCES}
    whole, glasses = results["same"], results["more-glasses"]
    moved, repeats = results["moved-left"], results["repeats"]
    assert all(null["inside"] for null in whole["null"].values())
    assert not glasses["null"]["sad"]["inside"]
    rows = sorted(glasses["per_attribute"], key=lambda row: -row["sad"]["score"]["value"])
    assert rows[0]["attribute"] == "eyeglasses"
    assert rows[0]["sad"]["score"]["value"] > 5 * rows[1]["sad"]["score"]["value"]
    ratio = {name: result["scores"]["r_sad_over_null"]["value"] for name, result in results.items()}
    assert max(ratio, key=lambda name: ratio[name]) == "moved-left"
    assert not moved["null"]["r_sad_unrefined"]["inside"]
    # SaD does not see that faces repeat: the average face is right; coverage and recall do
    assert repeats["null"]["sad"]["inside"]
    for key in ("recall", "coverage"):
        values = {name: result["scores"][key]["value"] for name, result in results.items()}
        assert min(values, key=lambda name: values[name]) == "repeats"


def test_documents_are_written_canonically(generators: dict[str, Submission]) -> None:
    for found in generators.values():
        for file in (found.folder / "submission.json", *(r.file for r in found.results)):
            text = file.read_text(encoding="utf-8")
            assert text == json_text(json.loads(text)) + "\n", file
