"""Loading submissions, and what of the score data their training saw."""

from pathlib import Path

import pytest
from submission_cases import edit, make_document, make_result, write_folder, write_result

import schemas
from benchmark.errors import UserError
from benchmark.submissions import exposure, load_submission, load_submissions
from benchmark.submissions.check import check
from benchmark.submissions.measured import current_fingerprints, older_data


def test_a_submission_with_two_versions_of_a_result(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, make_document(withdrawn={"date": "2026-12-01", "reason": "x"}))
    late = make_result(timing={"measured_at": "2026-12-02T00:00:00Z"})
    write_result(folder, make_result())
    write_result(folder, late, version=2)
    for version in range(3, 12):
        write_result(folder, make_result(), version=version)
    found = load_submission(folder, kind="saes")
    assert (found.id, found.name, found.licence) == ("first", "The first one", "Apache-2.0")
    assert found.authors[0]["name"] == "Ada Example"
    assert found.claimed["synavatars"]["match_score"] == 0.53
    assert found.withdrawn == {"date": "2026-12-01", "reason": "x"}
    assert [result.version for result in found.results] == list(range(1, 12))
    assert found.results[1].document == late
    assert found.newest()["synavatars"].version == 11


def test_submissions_come_sorted_and_an_absent_folder_is_empty(tmp_path: Path) -> None:
    for name in ("zeta", "alpha", "a-1"):
        write_folder(tmp_path, make_document(name))
    assert [each.id for each in load_submissions(tmp_path, kind="saes")] == ["a-1", "alpha", "zeta"]
    assert load_submissions(tmp_path, kind="generators") == ()
    assert load_submissions(tmp_path / "none", kind="saes") == ()


def test_every_fault_of_every_document_is_in_one_line(tmp_path: Path) -> None:
    edit(write_folder(tmp_path, make_document("one")), "licence", "Apache")
    edit(write_folder(tmp_path, make_document("two")), "sae.d_in", "12")
    write_folder(tmp_path, make_document("three"), folder="four")
    with pytest.raises(UserError) as caught:
        load_submissions(tmp_path, kind="saes")
    text = str(caught.value)
    for part in (
        "saes/one/submission.json $.licence: found Apache; expected an SPDX",
        'saes/two/submission.json $.sae.d_in: found "12"; expected integer',
        "saes/four/submission.json $.id: found three; expected four, the folder's name",
    ):
        assert part in text
    assert "\n" not in text


def test_a_faulty_result_is_a_fault_of_loading(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, make_document())
    write_result(folder, make_result() | {"verified": True})
    with pytest.raises(UserError, match=r"synavatars/1.json \$.verified: found unknown key"):
        load_submission(folder, kind="saes")


def test_the_case_document_is_valid_and_full() -> None:
    schema = schemas.load("submission-sae")
    document = make_document(withdrawn={"date": "2026-12-01", "reason": "x"})
    schemas.validate("submission-sae", document)
    assert set(document) == set(schema["properties"])


SEEN = [
    ("synavatars", ["match"], ()),
    ("SynAvatars", ["Match", "train"], ()),
    ("owner/synavatars@v1", ["score"], ("score images",)),
    ("synavatars", ["match", "pairs"], ("edit pairs",)),
    ("synavatars", ["all"], ("score images", "edit pairs")),
    ("synavatars", ["test"], ("score images",)),
    ("imagenet-1k", ["train", "val", "score"], ()),
    ("synAvatars v1", ["score"], ("score images",)),
    ("synavatars 1.0", ["score"], ("score images",)),
    ("synavatars-v1.0/", ["score"], ("score images",)),
    ("synavatars (score)", ["match"], ("score images",)),
    ("owner/synavatars/score", ["match"], ("score images",)),
    ("synavatars (all the styles)", ["match"], ()),
    ("synavatars-textures", ["score"], ()),
]


@pytest.mark.parametrize(("dataset", "splits", "seen"), SEEN)
def test_exposure_to_the_scored_data(dataset: str, splits: list[str], seen: tuple) -> None:
    document = make_document(training_data=[{"dataset": dataset, "splits": splits}])
    assert exposure(document, make_result()) == seen


@pytest.mark.parametrize(
    ("dataset", "splits", "seen"),
    [
        ("CUB-200-2011", ["train"], ()),
        ("cub", ["test"], ("score images",)),
        ("cub", ["all"], ("score images",)),
        ("someone/synCUB", ["default"], ("edit pairs",)),
        ("syncub-v1", ["default"], ("edit pairs",)),
        ("cub-200-2011 (Caltech)", ["test"], ("score images",)),
    ],
)
def test_exposure_with_pairs_of_another_dataset(
    dataset: str, splits: list[str], seen: tuple
) -> None:
    source = {"revision": "1", "fingerprint": "1" * 64}
    record = make_result()
    record["dataset"] = {"name": "cub", **source}
    record["pairs_dataset"] = {"name": "syncub", **source}
    document = make_document(training_data=[{"dataset": dataset, "splits": splits}])
    assert exposure(document, record) == seen


def test_a_generator_is_exposed_to_the_real_set() -> None:
    result = {"real": {"name": "synavatars", "split": "score"}, "protocol": {}}
    document = {"training_data": [{"dataset": "synavatars", "splits": ["match", "score"]}]}
    assert exposure(document, result) == ("score images",)
    document["training_data"][0]["splits"] = ["all"]
    assert exposure(document, result) == ("score images",)


def test_a_name_that_holds_a_known_one_is_noted(tmp_path: Path) -> None:
    names = ("synavatars", "cub_200_2011", "imagenet-1k", "my synAvatars mix", "subset-of-syncub")
    data = [{"dataset": name, "splits": ["match"]} for name in names]
    write_folder(tmp_path, make_document(training_data=data))
    report = check(tmp_path)
    assert report.problems == ()
    assert [(note.path, note.found, note.expected.partition(",")[0]) for note in report.notes] == [
        ("$.training_data[3].dataset", "my synAvatars mix", "synavatars"),
        ("$.training_data[4].dataset", "subset-of-syncub", "syncub"),
    ]


def test_the_data_measured_last_is_current(tmp_path: Path) -> None:
    old, new = ({"fingerprint": digit * 64} for digit in "12")
    for name, data, day in (("one", old, "01"), ("two", new, "03"), ("three", new, "02")):
        folder = write_folder(tmp_path, make_document(name))
        at = {"measured_at": f"2026-12-{day}T00:00:00Z"}
        write_result(folder, make_result(name, dataset=data, timing=at))
    found = load_submissions(tmp_path, kind="saes")
    current = current_fingerprints(found)
    assert current == {("saes", "synavatars"): ("2" * 64,)}
    assert [each.id for each in found if older_data(each, current)] == ["one"]
