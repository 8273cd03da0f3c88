"""Every rule over folders, and that one run names every problem."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from submission_cases import (
    edit,
    make_document,
    make_result,
    put,
    write_folder,
    write_result,
    write_sae,
)

from benchmark.errors import UserError
from benchmark.saes.formats import FORMATS
from benchmark.saes.formats.files import SaeFiles
from benchmark.submissions.check import check
from benchmark.submissions.ids import RESERVED, skeleton
from benchmark.submissions.measured import is_encoder
from benchmark.submissions.problems import Problem
from benchmark.submissions.weights import MARKS
from benchmark.tensors import read_tensors, write_tensors


def only(root: Path, folder: Path | None = None) -> Problem:
    """The one problem there is."""
    report = check(root, None if folder is None else [folder])
    assert len(report.problems) == 1, report.problems
    return report.problems[0]


def test_a_good_folder_has_no_problem(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    write_result(folder, make_result())
    write_folder(tmp_path, make_document("on-the-hub"))
    report = check(tmp_path)
    assert report.problems == report.notes == ()
    assert report.checked == 2


DOCUMENT = [
    ("id", "second", "$.id", "second", "first, the folder's name"),
    ("licence", "Apache 2", "$.licence", "Apache 2", "an SPDX licence expression"),
    ("licence", "apache-2.0", "$.licence", "apache-2.0", "Apache-2.0"),
    ("licence", "LicenseRef-mine", "$.licence", "LicenseRef-mine", "an SPDX"),
    ("authors.0.orcid", "0000-0002-1825-0098", "$.authors[0].orcid", "0098", "last digit fits"),
    ("authors.0.url", "http://example.org", "$.authors[0].url", "http:", "an https:// address"),
    ("links.paper", "javascript:alert(1)", "$.links.paper", "javascript", "an https:// address"),
    ("links.blog", "https://example.org", "$.links.blog", "unknown key", "only code, model"),
    ("withdrawn", {"date": "2026-02-30", "reason": "x"}, "$.withdrawn.date", "02-30", "a day as"),
    ("verified", True, "$.verified", "unknown key", "only authors"),
    ("claimed.synavatars.verified", True, "$.claimed.synavatars.verified", "unknown", "only d"),
    (
        "claimed.synavatars.match_score",
        53,
        "$.claimed.synavatars.match_score",
        "53",
        "not per cent",
    ),
    (
        "claimed.synavatars.match_score",
        "0.5",
        "$.claimed.synavatars.match_score",
        '"0.5"',
        "finite",
    ),
    ("claimed", {"imagenet": {"l0": 3}}, "$.claimed.imagenet", "imagenet", "cub, planted"),
    ("name", " padded", "$.name", '" padded"', "without space around"),
    ("name", "turned\u202earound", "$.name", "turned\\u202earound", "zero-width or direction"),
    ("name", "zero\u200bwidth", "$.name", "zero\\u200bwidth", "zero-width or direction"),
    ("name", "no\ufffecharacter", "$.name", "no\\ufffecharacter", "zero-width or direction"),
    ("name", "none\ufdd0", "$.name", "none\\ufdd0", "zero-width or direction"),
    ("withdrawn", {"date": "9999-01-01", "reason": "x"}, "$.withdrawn.date", "9999", "has come"),
    ("name", "two\nlines", "$.name", "two\\u000alines", "zero-width or direction"),
    ("name", "blank\u3164", "$.name", "blank\\u3164", "zero-width or direction"),
    ("name", "a" + "\u0301" * 9, "$.name", "a\u0301", "combining marks"),
    ("name", "", "$.name", '""', "at least 1 character see docs/schemas/submission-sae.md"),
    ("training_data", [], "$.training_data", "[]", "at least 1"),
    ("encoder", "resnet-9000", "$.encoder", "resnet-9000", "one of clip-vit-l-14"),
    ("sae.k", 41, "$.sae.k", "41", "at most d_sae, 40"),
    ("sae.d_in", 13, "", "decoder [40, 12]", "d_sae × d_in, 40 × 13"),
    ("schema_version", 2, "$.schema_version", "schema_version 2", "a known version"),
    ("sae.files.1.sha256", "0" * 64, "$.sae.files[1].sha256", "0000", "the hash of sae.safe"),
    (
        "sae.files.1.path",
        "../x.safetensors",
        "$.sae.files[1].path",
        '"../x',
        "name without folders",
    ),
]


@pytest.mark.parametrize(("path", "value", "place", "found", "expected"), DOCUMENT)
def test_a_fault_of_the_document_is_named(
    tmp_path: Path, path: str, value: Any, place: str, found: str, expected: str
) -> None:
    folder = write_sae(tmp_path)
    edit(folder, path, value)
    faults = check(tmp_path).problems
    # a file that is no longer named, or sizes that the settings contradict, are said besides
    (fault,) = [each for each in faults if each.path == place and found in each.found]
    assert expected in each_text(fault)
    assert fault.file.startswith("saes/first/")
    assert fault.fix
    assert len(faults) == 1 or path in ("sae.d_in", "sae.files.1.path")


def each_text(fault: Problem) -> str:
    return f"{fault.expected} {fault.fix}"


def plant(name: str, data: bytes = b"{}") -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(data)


FOLDER: list[tuple[Callable[[Path], object], str, str, str]] = [
    (plant("notes.txt"), "notes.txt", "does not name", "only config.json, sae.safetensors"),
    (plant(".hidden"), ".hidden", "a hidden file", "no hidden files"),
    (plant("big.bin", b"0" * (4 << 20)), "", "bytes", "at most 4,194,304 bytes"),
    (lambda folder: (folder / "more").mkdir(), "more", "a folder", "no folder but results/"),
    (lambda folder: (folder / "sae.safetensors").chmod(0o755), "sae.safetensors", "executable", ""),
    (lambda folder: (folder / "config.json").unlink(), "submission.json", "not there", "a file"),
    (lambda folder: (folder / "results").mkdir() or (folder / "results/x").touch(), "results/x",
     "x", "a folder DATASET"),
    (lambda folder: (folder / "results/A b").mkdir(parents=True), "results/A b", "A b", "DATASET"),
    (lambda folder: (folder / "results").mkdir(), "results", "an empty folder", "or no folder"),
    (lambda folder: (folder / "results/cub").mkdir(parents=True), "results/cub", "an empty folder",
     "or no folder"),
    (plant("aux.safetensors"), "aux.safetensors", "aux.safe", "every system can store"),
    (plant("NUL.parquet"), "NUL.parquet", "NUL.parquet", "every system can store"),
    (plant("dot."), "dot.", "dot.", "every system can store"),
    (plant("Config.json"), "config.json", "config.json", "differs from Config.json by more"),
    (lambda folder: write_result(folder, {}, version=0), "results/synavatars/0.json", "0.json",
     "VERSION.json"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "file", "found", "expected"), FOLDER)
def test_a_fault_of_the_folder_is_named(
    tmp_path: Path, change: Callable[[Path], object], file: str, found: str, expected: str
) -> None:
    folder = write_sae(tmp_path)
    change(folder)
    faults = [
        each
        for each in check(tmp_path).problems
        if each.file == f"saes/first/{file}".rstrip("/") and found in each.found
    ]
    assert len(faults) == 1
    assert expected in faults[0].expected


def test_weights_are_looked_at_by_their_header(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    weights = folder / "sae.safetensors"
    whole = weights.read_bytes()
    for data, text in (
        (whole[:-1], "tensors hold"),
        ((1 << 31).to_bytes(8, "little") + whole[8:], "cut short: "),
        ((9).to_bytes(8, "little") + b"[1, 2, 3]", "expected an object"),
        (b"", "0 bytes"),
        (whole.replace(b'"F32"', b'"F99"', 1), "has type 'F99'"),
    ):
        weights.write_bytes(data)
        faults = [each for each in check(tmp_path).problems if each.file.endswith("tensors")]
        assert len(faults) == 1
        assert text in faults[0].found
    names = ("encoder", "encoder_bias", "decoder", "decoder_bias")
    write_tensors(weights, {name: np.zeros((12, 40), np.int64) for name in names}, {})
    faults = [each for each in check(tmp_path).problems if each.file.endswith("tensors")]
    assert [(each.path, each.found) for each in faults] == [
        (f"tensor {name}", "dtype I64") for name in sorted(names)
    ]


def test_headers_that_no_format_has(tmp_path: Path) -> None:
    weights = write_sae(tmp_path) / "sae.safetensors"
    write_tensors(weights, {"junk": np.zeros((12, 40), np.float32)}, {})
    found = [each for each in check(tmp_path).problems if each.file.endswith("tensors")]
    assert [(each.found, each.path) for each in found] == [("junk", "")]
    assert "sparsify" in found[0].expected
    entry = '"encoder": {"dtype": "F32", "shape": [12, 40], "data_offsets": [0, 1920]}'
    for header, text in (
        (f"{{{entry}}}".encode("utf-16"), "'utf-8' codec"),
        (b"\xef\xbb\xbf" + f"{{{entry}}}".encode(), "BOM"),
        (f"{{{entry}}}".replace("12", f"{2**63}").encode(), "lists of integers"),
        (f"{{{entry}}}".replace("40", "40" + ", 1" * 63).encode(), "lists of integers"),
    ):
        weights.write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 1920)
        (fault,) = [each for each in check(tmp_path).problems if each.file.endswith("tensors")]
        assert text in fault.found


def test_every_format_with_safetensors_has_marks() -> None:
    assert set(MARKS) == set(FORMATS.entries) - {"gemma_scope"}  # that one is npz alone
    for name, marks in MARKS.items():
        settings = {"format": "assay-sae"} if name == "assay" else {}
        for mark in marks:
            tensors = dict.fromkeys((*mark, "b_dec"), np.zeros(1))
            files = SaeFiles(Path("x.safetensors"), tensors, settings)
            assert any(FORMATS.load(each).matches(files) for each in FORMATS.entries)


def test_only_safetensors_are_weights(tmp_path: Path) -> None:
    document = make_document()
    document["sae"]["files"][0]["path"] = "ae.pt"
    write_folder(tmp_path, document)
    paths = {each.path: each for each in check(tmp_path).problems}
    assert set(paths) == {"$.sae.files", "$.sae.files[0].path"}
    assert paths["$.sae.files[0].path"].fix == "save the weights as safetensors"


def test_with_a_hub_place_no_file_lies_in_the_folder(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    edit(folder, "sae.hub", {"repo": "o/n", "revision": "main"})
    *files, fault = check(tmp_path).problems
    assert (fault.path, fault.found) == ("$.sae.hub.revision", '"main"')
    edit(folder, "sae.hub.revision", "0" * 40)
    assert check(tmp_path).problems == tuple(files)
    assert [each.file for each in files] == [
        "saes/first/config.json",
        "saes/first/sae.safetensors",
    ]


def test_every_problem_is_found_at_once(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    edit(folder, "licence", "GPL")
    edit(folder, "verified", True)
    edit(folder, "authors.0.name", 7)
    edit(folder, "sae.files.0.sha256", "1" * 64)
    edit(folder, "encoder", "none such")
    (folder / "notes.txt").touch()
    write_result(folder, make_result("other"), version=2)
    assert {(each.file.removeprefix("saes/first/"), each.path) for each in
            check(tmp_path).problems} == {
        ("submission.json", "$.licence"),
        ("submission.json", "$.verified"),
        ("submission.json", "$.authors[0].name"),
        ("submission.json", "$.sae.files[0].sha256"),
        ("submission.json", "$.encoder"),
        ("notes.txt", ""),
        ("results/synavatars", ""),
        ("results/synavatars/2.json", "$.submission.id"),
        ("results/synavatars/2.json", "$.encoder.name"),
    }  # fmt: skip


def test_rules_look_at_what_is_sound_beside_a_fault(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    edit(folder, "withdrawn", {"date": "2026-13-01", "by": "me"})
    edit(folder, "claimed", {"cubb": {"l0": 3, "l1": 3}, "A!": {}, "synavatars": {"l0": -1}})
    edit(folder, "authors", [{"name": 7, "orcid": "0000-0002-1825-0098"}, "Ada", {"name": " b"}])
    edit(folder, "sae.files.0.sha256", "no hash")
    edit(folder, "sae.files.1.sha256", "1" * 64)
    edit(folder, "sae.d_in", "12")
    edit(folder, "sae.k", 41)
    assert {each.path for each in check(tmp_path).problems} == {
        "$.withdrawn.date",
        "$.withdrawn.by",
        "$.withdrawn.reason",
        "$.claimed.cubb",
        "$.claimed.cubb.l1",
        '$.claimed["A!"]',
        "$.claimed.synavatars.l0",
        "$.authors[0].name",
        "$.authors[0].orcid",
        "$.authors[1]",
        "$.authors[2].name",
        "$.sae.files[0].sha256",
        "$.sae.files[1].sha256",
        "$.sae.d_in",
        "$.sae.k",
    }
    edit(folder, "sae", {"files": [{"path": "gone.pt"}, 3, {"sha256": "2" * 64}], "hub": 7})
    assert {each.path for each in check(tmp_path).problems} >= {
        "$.sae.files[0].path",
        "$.sae.files[0].sha256",
        "$.sae.files[1]",
        "$.sae.files[2].path",
        "$.sae.architecture",
        "$.sae.hub",
    }


RESULTS = [
    ("submission.id", "second", "$.submission.id"),
    ("submission.d_sae", 41, "$.submission.d_sae"),
    ("submission.architecture", "gated", "$.submission.architecture"),
    ("encoder.name", "dinov2-vit-s-14", "$.encoder.name"),
    ("timing.measured_at", "2026-13-45T99:99:99Z", "$.timing.measured_at"),
    ("timing.measured_at", "2026-12-01T00:00:00+99:99", "$.timing.measured_at"),
    ("timing.measured_at", "0001-01-01T00:00:00+14:00", "$.timing.measured_at"),
    ("submission.weights_sha256", None, "$.submission.weights_sha256"),
    ("scores.match_score.value", 0.5, "$.scores.match_score.value"),
    ("scores.match_score.value", 1.5, "$.scores.match_score.value"),
    ("scores.match_score.ci95", [0.6, 0.4], "$.scores.match_score.ci95"),
    ("scores.match_score_in_sample.value", 0.5, "$.scores.match_score_in_sample.value"),
    ("scores.tapa_score.value", 0.5, "$.scores.tapa_score.value"),
    ("scores.delta_tapa_score.value", 0.0, "$.scores.delta_tapa_score.value"),
    ("scores.delta_match_score.value", 0.0, "$.scores.delta_match_score.value"),
    ("dataset.name", "cub", ""),
    ("verified", True, "$.verified"),
]


@pytest.mark.parametrize(("path", "value", "place"), RESULTS)
def test_a_result_that_does_not_follow_is_named(
    tmp_path: Path, path: str, value: Any, place: str
) -> None:
    folder = write_sae(tmp_path)
    record = make_result()
    put(record, path, value)
    write_result(folder, record)
    faults = check(tmp_path).problems
    # a mean that moved moves its Δ as well
    followers = [f"$.scores.delta_{path.split('.')[1]}.value"] if value == 0.5 else []
    assert [each.path for each in faults if each.path not in followers] == [place]
    assert all(each.file.startswith("saes/first/results") for each in faults)


def test_a_moved_row_moves_the_mean(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    record = make_result()
    record["per_concept"][3]["f1"] += 1e-6
    write_result(folder, record)
    assert "$.scores.match_score.value" in {each.path for each in check(tmp_path).problems}


def test_versions_have_no_gap_and_weights_stay(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    write_result(folder, make_result())
    other = make_result()
    other["submission"]["weights_sha256"] = "1" * 64
    write_result(folder, other, version=3)
    weights, gap = check(tmp_path).problems
    assert (gap.found, gap.expected) == ("versions 1, 3", "1 to 2 without a gap")
    assert weights.expected == "one hash in all results"


def test_older_data_is_a_note(tmp_path: Path) -> None:
    for name, digit, day in (("first", "1", "01"), ("second", "2", "02")):
        folder = write_sae(tmp_path, name, seed=int(digit))
        at = {"measured_at": f"2026-12-{day}T00:00:00Z"}
        record = make_result(name, dataset={"fingerprint": digit * 64}, timing=at)
        record["submission"]["weights_sha256"] = digit * 64
        write_result(folder, record)
    report = check(tmp_path)
    assert report.problems == ()
    assert [note.file for note in report.notes] == ["saes/first/results/synavatars/1.json"]
    assert check(tmp_path, [tmp_path / "saes/second"]).notes == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [("topk-10", "topk-1o"), ("a-b", "ab"), ("modern", "modem"), ("sae-1", "sae-l"), ("ai", "al")],
)
def test_ids_that_look_alike(tmp_path: Path, one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)
    first, second = sorted((one, other))
    write_folder(tmp_path, make_document(one))
    write_folder(tmp_path, make_document(other))
    fault = only(tmp_path)
    assert fault.found == second
    assert first in fault.expected
    assert only(tmp_path, tmp_path / "saes" / second) == fault
    assert check(tmp_path, [tmp_path / "saes" / first]).problems == ()


def test_ids_of_the_repository_differ() -> None:
    names = [f"assay-{name}-256" for name in ("topk", "batchtopk", "relu", "gated", "p-anneal")]
    assert len({skeleton(name) for name in names}) == len(names)


@pytest.mark.parametrize("name", ["con", "com1", "index", "r", "results", "api"])
def test_reserved_ids(tmp_path: Path, name: str) -> None:
    assert name in RESERVED
    write_folder(tmp_path, make_document(name))
    assert only(tmp_path).expected == "no reserved name"


def test_one_weights_file_is_one_submission(tmp_path: Path) -> None:
    write_sae(tmp_path, "first", seed=3)
    write_sae(tmp_path, "second", seed=3)
    fault = only(tmp_path)
    assert "the same content as first" in fault.found


def test_one_content_is_one_submission_whatever_its_file_looks_like(tmp_path: Path) -> None:
    write_sae(tmp_path, "first", seed=3)
    folder = write_sae(tmp_path, "second", seed=3)
    weights = folder / "sae.safetensors"
    whole = weights.read_bytes()
    length = int.from_bytes(whole[:8], "little")
    spaced = (length + 8).to_bytes(8, "little") + whole[8 : 8 + length] + b" " * 8
    tensors = {f"state_dict.{name}": array for name, array in read_tensors(weights)[0].items()}
    write_tensors(weights, tensors, {"note": "mine"})
    for data in (spaced + whole[8 + length :], weights.read_bytes()):
        weights.write_bytes(data)
        edit(folder, "sae.files.1.sha256", hashlib.sha256(data).hexdigest())
        assert only(tmp_path, folder).found.startswith("the same content as first (tensors:")
    tensors["state_dict.decoder"] = tensors["state_dict.decoder"] + np.float32(1)
    write_tensors(weights, tensors, {})
    edit(folder, "sae.files.1.sha256", hashlib.sha256(weights.read_bytes()).hexdigest())
    assert check(tmp_path).problems == ()


@pytest.mark.parametrize(
    ("recorded", "declared", "same"),
    [
        ("efficientnet-lite0", "efficientnet-lite0", True),
        ("dinov2-vit-s-14", "dinov2-vit-s-14:batch=4,device=cpu,dtype=float32", True),
        ("dinov2-vit-s-14:token=mean,layer=9", "dinov2-vit-s-14:layer=9,token=mean", True),
        ("dinov2-vit-s-14", "dinov2-vit-s-14:token=cls", True),
        ("timm:vit_small", "timm:owner/vit_small@0123", True),
        ("dinov2-vit-s-14", "efficientnet-lite0", False),
        ("dinov2-vit-s-14", "dinov2-vit-s-14:layer=9", False),
        ("dinov2-vit-s-14", "dinov2-vit-s-14:dtype=bf16", False),
        ("dinov2-vit-s-14:token=mean", "dinov2-vit-s-14", False),
        ("timm:vit_large", "timm:vit_small", False),
        ("timm:vit_small", "timm:", False),
    ],
)
def test_a_record_names_its_encoder_in_full(recorded: str, declared: str, same: bool) -> None:
    assert is_encoder(recorded, declared) is same


def test_the_same_weights_in_other_files_show_in_the_results(tmp_path: Path) -> None:
    for number, name in enumerate(("first", "second")):
        write_result(write_sae(tmp_path, name, seed=number), make_result(name))
    assert "the same content as first (sae:" in only(tmp_path).found


def test_the_root_holds_submissions_alone(tmp_path: Path) -> None:
    write_sae(tmp_path)
    (tmp_path / "README.md").touch()
    (tmp_path / "setup.py").touch()
    (tmp_path / "other").mkdir()
    (tmp_path / "saes" / "file.txt").touch()
    files = {each.file for each in check(tmp_path).problems}
    assert files == {"setup.py", "other", "saes/file.txt"}
    (tmp_path / "README.md").write_bytes(b"x" * 100_000)
    assert "README.md" in {each.file for each in check(tmp_path).problems}


def test_a_root_or_folder_that_is_none(tmp_path: Path) -> None:
    folder = write_sae(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "saes").symlink_to("../real/saes")
    for root in ("link", "inner"):
        with pytest.raises(UserError, match="is a link"):
            check(tmp_path / root)
    with pytest.raises(UserError, match="no such folder"):
        check(tmp_path / "none")
    with pytest.raises(UserError, match="no submission; expected a folder saes/ID"):
        check(tmp_path / "real", [folder.parent])


def test_the_command_prints_each_problem_and_exits_1(assay, tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    assert assay("submit", "validate", folder) == (0, "1 checked: valid\n", "")
    edit(folder, "licence", "GPL")
    code, shown, complaint = assay("submit", "validate", folder)
    assert (code, complaint) == (1, "")
    assert "problem: saes/first/submission.json $.licence\n    found     GPL\n" in shown
    assert shown.endswith("1 checked: 1 problem\n")
    code, shown, _ = assay("submit", "validate", "--root", tmp_path, "--json")
    assert code == 1
    report = json.loads(shown)
    assert (report["schema_version"], report["checked"], report["notes"]) == (1, 1, [])
    assert set(report["problems"][0]) == {"file", "path", "found", "expected", "fix"}
    code, _, complaint = assay("submit", "validate", tmp_path / "saes" / "none")
    assert code == 2
    assert complaint.startswith("error: ")


def test_validation_loads_no_model_library(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    write_result(folder, make_result())
    code = (
        "import sys; from benchmark.cli import main\n"
        f"sys.argv = ['assay', 'submit', 'validate', {str(folder)!r}]\n"
        "try: main()\n"
        "finally: print([m for m in ('torch', 'scipy', 'sklearn', 'transformers', 'diffusers',"
        " 'huggingface_hub', 'rich', 'benchmark.saes') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == "1 checked: valid\n"
    assert done.stderr == "[]\n"


def test_a_report_is_cut_where_it_would_be_endless(tmp_path: Path) -> None:
    for number in range(40):
        folder = write_folder(tmp_path, make_document(f"s{number:03d}x"))
        for extra in range(30):
            (folder / f"extra{extra}.txt").touch()
    report = check(tmp_path).as_dict()
    assert len(report["problems"]) == 1001
    assert report["problems"][-1]["found"] == "200 more problems"
    shutil.rmtree(tmp_path / "saes" / "s000x")
    folder = write_folder(tmp_path, make_document("s000x"))
    for extra in range(70):
        (folder / f"extra{extra}.txt").touch()
    assert only(tmp_path, folder).found == "71 entries"
