"""What a request may do to submissions that are there: nothing to results, ids or history."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import generator_cases as cases
import pytest
from submission_cases import edit, make_document, make_result, write_folder, write_result, write_sae

from benchmark.submissions.check import check


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A checkout with two submissions; the first has a result."""
    root = tmp_path / "base" / "submissions"
    write_result(write_sae(root), make_result())
    write_sae(root, "second", seed=2)
    return tmp_path / "base"


@pytest.fixture
def head(base: Path, tmp_path: Path) -> Path:
    """The same submissions, to be changed."""
    shutil.copytree(base / "submissions", tmp_path / "head" / "submissions")
    return tmp_path / "head" / "submissions"


def test_a_new_submission_is_a_good_request(base: Path, head: Path) -> None:
    write_sae(head, "third", seed=3)
    report = check(head, base=base)
    assert report.problems == report.notes == ()
    assert report.checked == 3


def test_every_changed_part_of_a_document_is_noted(base: Path, head: Path) -> None:
    assert check(head, base=base).notes == ()
    folder = head / "saes/second"
    edit(folder, "authors", [{"name": "Somebody Else"}])
    edit(folder, "name", "Mine")
    edit(folder, "links", ...)
    edit(folder, "withdrawn", {"date": "2026-12-01", "reason": "a fault"})
    edit(folder, "sae.hub", {"repo": "stranger/name", "revision": "0" * 40})
    for name in ("config.json", "sae.safetensors"):
        (folder / name).unlink()
    report = check(head, base=base)
    assert report.problems == ()
    assert [(each.path, each.found) for each in report.notes] == [
        ("$.authors", "another value than before"),
        ("$.links", "taken away"),
        ("$.name", "another value than before"),
        ("$.sae", "another value than before"),
        ("$.withdrawn", "added"),
    ]
    assert {each.file for each in report.notes} == {"saes/second/submission.json"}


def test_a_first_request_needs_no_submissions_before(head: Path, tmp_path: Path) -> None:
    shutil.rmtree(head / "saes/first/results")
    (tmp_path / "empty").mkdir()
    assert check(head, base=tmp_path / "empty").problems == ()


def moved(folder: Path) -> None:
    """A measured score and its rows, changed together so that they still fit."""
    record = make_result()
    for row in record["per_concept"]:
        row["f1"] = 0.9
    twin = record["baselines"]["untrained"]["match_score"]["value"]
    record["scores"]["match_score"]["value"] = 0.9
    record["scores"]["delta_match_score"]["value"] = 0.9 - twin
    write_result(folder / "first", record)


REFUSED: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "a result of its own": (
        lambda f: write_result(f / "second", make_result("second")),
        "saes/second/results/synavatars/1.json",
        "added by the request",
    ),
    "another version": (
        lambda f: write_result(f / "first", make_result(), version=2),
        "saes/first/results/synavatars/2.json",
        "added by the request",
    ),
    "a score moved": (moved, "saes/first/results/synavatars/1.json", "changed by the request"),
    "one byte of a result": (
        lambda f: (f / "first/results/synavatars/1.json").write_bytes(
            (f / "first/results/synavatars/1.json").read_bytes() + b" "
        ),
        "saes/first/results/synavatars/1.json",
        "changed by the request",
    ),
    "a score vanished": (
        lambda f: shutil.rmtree(f / "first/results"),
        "saes/first/results/synavatars/1.json",
        "removed by the request",
    ),
    "a submission deleted": (lambda f: shutil.rmtree(f / "first"), "saes/first", "nothing"),
    "a submission renamed": (
        lambda f: (f / "second").rename(f / "zweite") and edit(f / "zweite", "id", "zweite"),
        "saes/second",
        "nothing",
    ),
    "a new one with results": (
        lambda f: write_result(write_sae(f.parent, "third", seed=3), make_result("third")),
        "saes/third/results/synavatars/1.json",
        "added by the request",
    ),
    "an empty file among results": (
        lambda f: (f / "first/results/synavatars/notes").touch(),
        "saes/first/results/synavatars/notes",
        "added by the request",
    ),
    "other weights under an id": (
        lambda f: shutil.rmtree(f / "second") or write_sae(f.parent, "second", seed=9),
        "saes/second/submission.json",
        "other content than before",
    ),
    "other k under an id": (
        lambda f: edit(f / "first", "sae.k", 4),
        "saes/first/submission.json",
        "other content than before",
    ),
    "another encoder": (
        lambda f: edit(f / "first", "encoder", "dinov2-vit-s-14"),
        "saes/first/submission.json",
        "dinov2-vit-s-14",
    ),
    "another architecture": (
        lambda f: edit(f / "first", "sae.architecture", "jumprelu"),
        "saes/first/submission.json",
        "other content than before",
    ),
    "the weights of another": (
        lambda f: write_sae(f.parent, "aaa", seed=2),
        "saes/aaa/submission.json",
        "the same content as second",
    ),
    "an id like another": (
        lambda f: write_folder(f.parent, make_document("flrst")),
        "saes/flrst/submission.json",
        "flrst",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_request_that_takes_something_is_refused(base: Path, head: Path, name: str) -> None:
    change, file, found = REFUSED[name]
    change(head / "saes")
    faults = check(head, base=base).problems
    assert any(fault.file == file and found in fault.found for fault in faults), faults


def test_weights_may_move_to_the_hub(base: Path, head: Path) -> None:
    folder = head / "saes/second"
    edit(folder, "sae.hub", {"repo": "owner/name", "revision": "0" * 40})
    for name in ("config.json", "sae.safetensors"):
        (folder / name).unlink()
    assert check(head, base=base).problems == ()


def test_a_withdrawal_stays(base: Path, head: Path) -> None:
    edit(base / "submissions/saes/first", "withdrawn", {"date": "2026-12-01", "reason": "x"})
    (fault,) = check(head, base=base).problems
    assert fault.path == "$.withdrawn"


def test_until_it_is_measured_a_wrong_description_can_be_put_right(base: Path, head: Path) -> None:
    edit(base / "submissions/saes/second", "sae.architecture", "relu")
    edit(base / "submissions/saes/second", "encoder", "dinov2-vit-s-14")
    report = check(head, base=base)
    assert report.problems == ()
    assert [note.path for note in report.notes] == ["$.encoder", "$.sae"]


def test_files_of_a_generator_keep_their_order(tmp_path: Path) -> None:
    hub = {"repo": "owner/faces", "revision": "0" * 40}
    files = [{"path": f"{k}.parquet", "sha256": str(k) * 64} for k in (1, 2)]
    images = {"kind": "images", "files": files, "hub": hub}
    base = tmp_path / "base"
    cases.submission(base / "submissions/generators/drawn", generator=images)
    head = tmp_path / "head"
    folder = cases.submission(head / "generators/drawn", generator=images)
    assert check(head, base=base).problems == ()
    edit(folder, "generator.hub.repo", "owner/moved")
    assert check(head, base=base).problems == ()
    edit(folder, "generator.files", files[::-1])
    (fault,) = check(head, base=base).problems
    assert (fault.path, fault.found) == ("$.generator", "other content than before")


def test_links_among_results_are_never_followed(base: Path, head: Path) -> None:
    target = head / "saes/first/results/synavatars/1.json"
    same = target.read_bytes()
    (head / "copy.json").write_bytes(same)
    target.unlink()
    target.symlink_to("../../../../copy.json")
    faults = check(head, base=base).problems
    assert any(fault.found == "changed by the request" for fault in faults)
    shutil.rmtree(head / "saes/first/results")
    (head / "saes/first/results").symlink_to(base / "submissions/saes/first/results")
    faults = check(head, base=base).problems
    assert any(fault.found == "removed by the request" for fault in faults)


def test_results_deeper_than_python_recurses(base: Path, head: Path) -> None:
    made = [head / "saes/first/results" / "/".join("d" * depth) for depth in range(1, 1200)]
    for folder in made:
        folder.mkdir()
    (made[-1] / "x").touch()
    faults = check(head, base=base).problems
    assert any(fault.found == "added by the request" for fault in faults)
    (made[-1] / "x").unlink()
    for folder in reversed(made):
        folder.rmdir()


def test_the_command_checks_a_change(assay, base: Path, head: Path) -> None:
    given = ("submit", "validate", "--root", head, "--base", base, "--json")
    assert assay(*given)[0] == 0
    write_result(head / "saes/second", make_result("second"))
    code, shown, _ = assay(*given)
    assert code == 1
    assert {each["found"] for each in json.loads(shown)["problems"]} >= {"added by the request"}
