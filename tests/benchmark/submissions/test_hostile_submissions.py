"""Submissions made to break something: refused in one line each, or harmless."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

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

import schemas
from benchmark.errors import UserError
from benchmark.submissions import load_submission
from benchmark.submissions.check import check

MARKUP = '<script>alert(1)</script><img src=x onerror="alert(1)">{{ 7 * 7 }}\'"`&'
LONG = "x" * 10**6


def raw(text: str) -> Callable[[Path], object]:
    """Replace the document's name by JSON text."""

    def change(folder: Path) -> None:
        file = folder / "submission.json"
        file.write_text(file.read_text().replace('"The first one"', text, 1))

    return change


def put_in(path: str, value: Any) -> Callable[[Path], object]:
    return lambda folder: edit(folder, path, value)


def header_of_2_gb(folder: Path) -> None:
    (folder / "sae.safetensors").write_bytes((2 << 30).to_bytes(8, "little") + b"{}" + b" " * 64)


def shape_of_2_gb(folder: Path) -> None:
    header = {"W": {"dtype": "F32", "shape": [2**15, 2**14], "data_offsets": [0, 2**31]}}
    text = json.dumps(header).encode()
    (folder / "sae.safetensors").write_bytes(len(text).to_bytes(8, "little") + text)


def deep_header(folder: Path) -> None:
    text = b'{"a":' * 50_000
    (folder / "sae.safetensors").write_bytes(len(text).to_bytes(8, "little") + text)


def sparse_giant(folder: Path) -> None:
    with (folder / "sae.safetensors").open("r+b") as stream:
        stream.truncate(2 << 30)


def replaced_by(name: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        (folder / name).unlink()
        make(folder / name)

    return change


def device(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes device files")
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero: endless
    except PermissionError:
        pytest.skip("this machine allows no device files")


def results_link(folder: Path) -> None:
    (folder / "results").symlink_to("/etc")


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "javascript link": (put_in("links.code", "javascript:alert(1)"), "$.links.code"),
    "javascript author": (put_in("authors.0.url", "JaVaScRiPt:alert(1)"), "$.authors[0].url"),
    "data link": (put_in("links.model", "data:text/html,<script>"), "$.links.model"),
    "markup in a link": (put_in("links.paper", 'https://a"><script>\n'), "$.links.paper"),
    "space in a link": (put_in("links.paper", "https://a b"), "$.links.paper"),
    "bidi": (put_in("name", "good\u202etxt.exe"), "zero-width or direction"),
    "isolates": (put_in("authors.0.name", "\u2066a\u2069"), "zero-width or direction"),
    "terminal colours": (put_in("description", "\x1b[2J\x1b[31mvalid"), "zero-width or direction"),
    "lone surrogate": (raw('"\\ud800"'), "$.name"),
    "null byte": (put_in("name", "a\0b"), "zero-width or direction"),
    "long name": (put_in("name", LONG), "at most 262,144 bytes"),
    "long name within the cap": (put_in("name", LONG[:200_000]), "at most 200 characters"),
    "long key": (put_in(LONG[:200_000], 1), "unknown key"),
    "many keys": (lambda f: [edit(f, f"k{n}", 1) for n in range(300)], "unknown key"),
    "many authors": (put_in("authors", [{"name": "a"}] * 101), "at most 100 items"),
    "NaN": (put_in("claimed.synavatars.match_score", float("nan")), "NaN"),
    "Infinity": (put_in("claimed.synavatars.match_score", float("inf")), "Infinity"),
    "1e999": (raw('"a", "b": 1e999'), "1e999"),
    "duplicate key": (raw('"a", "name": "b"'), 'key "name" twice'),
    "duplicate inner key": (raw('"a", "links": {"code": "https://a", "code": "x"}'), "twice"),
    "deep nesting": (raw("[" * 100_000 + "]" * 100_000), "nested too deeply"),
    "deep nesting within the parser": (raw("[" * 400 + "]" * 400), "nested too deeply"),
    "number as text": (put_in("sae.d_in", "12"), "expected integer"),
    "true as a number": (put_in("sae.k", True), "expected integer"),
    "number as a fraction": (put_in("sae.d_sae", 40.5), "expected integer"),
    "float as an integer": (put_in("sae.d_sae", 40.0), "expected integer"),
    "huge integer": (raw('"a", "x": ' + "9" * 10_000), "thousands of digits"),
    "large integer": (raw('"a", "x": ' + "9" * 4_000), "unknown key"),
    "large number": (put_in("sae.d_in", 10**4000), "expected"),
    "verified": (put_in("verified", True), "unknown key"),
    "verified claim": (put_in("claimed.synavatars.verified", True), "unknown key"),
    "scores in the document": (put_in("results", {"match_score": 1}), "unknown key"),
    "__proto__": (put_in("__proto__", {"a": 1}), "unknown key"),
    "path upwards": (put_in("sae.files.0.path", "../../secret"), "without folders"),
    "absolute path": (put_in("sae.files.0.path", "/etc/passwd"), "without folders"),
    "path in a claim": (put_in("claimed", {"../../x": {"l0": 1}}), "$.claimed"),
    "Hub folder upwards": (put_in("sae.hub", {"repo": "a/b", "revision": "0" * 40,
                                              "folder": "../x"}), "$.sae.hub.folder"),
    "Hub elsewhere": (put_in("sae.hub", {"repo": "https://evil/a", "revision": "0" * 40}),
                      "$.sae.hub.repo"),
    "Hub branch": (put_in("sae.hub", {"repo": "a/b", "revision": "main"}), "$.sae.hub.revision"),
    "encoder that is a path": (put_in("encoder", "../evil.py"), "one of clip-vit-l-14"),
    "licence that is code": (put_in("licence", "__import__('os').system('true')"), "SPDX"),
    "licence of brackets": (put_in("licence", "(" * 100), "SPDX"),
    "id of another": (put_in("id", "second"), "first, the folder's name"),
    "id upwards": (put_in("id", "../first"), "$.id"),
    "claimed 2 GB header": (header_of_2_gb, "cut short"),
    "claimed 2 GB tensor": (shape_of_2_gb, "tensors hold"),
    "deep header": (deep_header, "not a valid safetensors header"),
    "2 GB of nothing": (sparse_giant, "put the files on the Hub"),
    "link": (replaced_by("sae.safetensors", lambda p: p.symlink_to("/dev/zero")), "a link"),
    "dangling link": (replaced_by("config.json", lambda p: p.symlink_to("nowhere")), "a link"),
    "link to a secret": (replaced_by("submission.json", lambda p: p.symlink_to("/etc/passwd")),
                         "an ordinary file"),
    "pipe": (replaced_by("sae.safetensors", os.mkfifo), "a named pipe"),
    "document that is a pipe": (replaced_by("submission.json", os.mkfifo), "an ordinary file"),
    "device": (replaced_by("sae.safetensors", device), "a device"),
    "document that is a folder": (replaced_by("submission.json", Path.mkdir), "an ordinary file"),
    "results that are a link": (results_link, "a link"),
    "pickle": (lambda f: (f / "x.pkl").write_bytes(b"\x80\x04."), "does not name"),
    "code": (lambda f: (f / "conftest.py").write_text("raise SystemExit"), "does not name"),
    "byte order mark": (lambda f: (f / "submission.json").write_bytes(
        b"\xef\xbb\xbf" + (f / "submission.json").read_bytes()), "byte order mark"),
    "UTF-16": (lambda f: (f / "submission.json").write_bytes("{}".encode("utf-16")), "mark"),
    "settings that are deep": (lambda f: (f / "config.json").write_text("[" * 10**5), "deeply"),
}  # fmt: skip


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pattern")
    write_sae(root)
    return root


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_submission_is_refused(
    assay: Any, tmp_path: Path, pattern: Path, name: str
) -> None:
    change, expected = HOSTILE[name]
    root = tmp_path / "submissions"
    shutil.copytree(pattern, root)
    change(root / "saes" / "first")
    code, shown, complaint = assay("submit", "validate", "--root", root)
    assert code == 1, (shown, complaint)
    assert complaint == ""
    faults = check(root).problems
    assert any(expected in str(fault) for fault in faults), faults
    for fault in faults:
        assert str(fault).isprintable()
        assert len(str(fault)) < 1200
    code, _, complaint = assay("submit", "score", root / "saes" / "first")
    assert code in (1, 2)
    assert complaint.startswith("error: ")
    assert complaint.count("\n") == 1


TEXTS = ("name", "authors.0.name", "description", "bibtex", "training_data.0.dataset",
         "training_data.0.splits.0", "training_data.0.revision")  # fmt: skip


@pytest.mark.parametrize("path", TEXTS)
def test_markup_in_text_is_text(tmp_path: Path, path: str) -> None:
    document = make_document()
    put(document, path, MARKUP)
    folder = write_folder(tmp_path, document)
    assert check(tmp_path).problems == ()
    assert load_submission(folder, kind="saes").document == document


def strings(node: Any, path: str = "") -> list[str]:
    """Paths of every text of a document."""
    if isinstance(node, str):
        return [path]
    items = node.items() if isinstance(node, dict) else enumerate(node)
    inner = [(key, value) for key, value in items if isinstance(value, str | dict | list)]
    return [at for key, value in inner for at in strings(value, f"{path}.{key}".lstrip("."))]


def test_markup_is_refused_in_every_other_text(tmp_path: Path) -> None:
    paths = strings(make_document())
    assert set(TEXTS) < set(paths)
    for number, path in enumerate(sorted(set(paths) - set(TEXTS))):
        root = tmp_path / str(number)
        document = make_document()
        put(document, path, MARKUP)
        write_folder(root, document, folder="first")
        assert check(root).problems, path


def test_a_twin_that_differs_in_case_only(tmp_path: Path) -> None:
    write_sae(tmp_path)
    write_folder(tmp_path, make_document("First"))
    faults = check(tmp_path).problems
    assert {fault.file for fault in faults} == {"saes/First", "saes/First/submission.json"}
    assert any("taken for first" in fault.expected for fault in faults)


def test_hostile_names_are_quoted_visibly(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    for name in ("a\nb", "c\u202ed", "@everyone](x)", "e" * 200, "\x1b[2J", "\udcff"):
        (folder / name).touch()
        (tmp_path / "saes" / name).mkdir()
        (tmp_path / name).touch()
    base = tmp_path / "base"
    shutil.copytree(tmp_path / "saes", base / "submissions" / "saes")
    shutil.rmtree(tmp_path / "saes" / "a\nb")
    report = check(tmp_path, base=base)
    assert len(report.problems) > 18
    for each in report.as_dict()["problems"]:
        for text in each.values():
            assert text.isprintable()
            assert len(text) <= 300
    json.dumps(report.as_dict(), ensure_ascii=False).encode()


def test_a_folder_that_is_a_link(tmp_path: Path) -> None:
    write_sae(tmp_path)
    (tmp_path / "saes" / "second").symlink_to("first")
    assert [fault.file for fault in check(tmp_path).problems] == ["saes/second"]


def test_a_hostile_result_is_refused(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    file = write_result(folder, make_result())
    text = file.read_text()
    for old, new in (
        ('"n": 800', '"n": 1e999'),
        ('"schema_version": 1', '"schema_version": 1, "schema_version": 1'),
        ('"schema_version": 1', '"schema_version": 1, "verified": true'),
        ('"schema_version": 1', '"schema_version": 1, "x": ' + "[" * 900 + "]" * 900),
        ('"value": ', '"value": "0.5", "was": '),
    ):
        assert old in text
        file.write_text(text.replace(old, new, 1))
        (fault,) = {each.file for each in check(tmp_path).problems}
        assert fault == "saes/first/results/synavatars/1.json"
        with pytest.raises(UserError):
            load_submission(folder, kind="saes")
    file.unlink()
    file.symlink_to("/dev/zero")
    assert {each.file for each in check(tmp_path).problems} == {fault}


def test_what_the_schema_takes_from_a_person_has_an_end() -> None:
    """Every text, list and open object of the document has a limit."""

    def unbounded(node: Any, path: str) -> list[str]:
        if not isinstance(node, dict):
            return []
        found = [path] if node.get("type") == "array" and "maxItems" not in node else []
        if node.get("type") == "string" and "maxLength" not in node:
            found += [] if node.get("pattern", "").endswith("}$") or "pattern" in node else [path]
        if node.get("type") == "object" and node.get("additionalProperties") is not False:
            found += [] if "maxProperties" in node else [path]
        children = {**node.get("properties", {}), "[]": node.get("items")}
        children["*"] = node.get("additionalProperties")
        return found + [at for key, child in children.items() for at in
                        unbounded(child, f"{path}.{key}")]  # fmt: skip

    assert unbounded(schemas.load("submission-sae"), "$") == []
