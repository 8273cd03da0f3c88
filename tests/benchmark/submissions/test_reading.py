"""Foreign JSON: what is refused, in which words; versions of documents."""

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmark.errors import UserError
from benchmark.submissions.problems import visible
from benchmark.submissions.reading import MAX_DOCUMENT, JsonProblem, parse_object, read_object
from benchmark.submissions.versions import upgraded

REFUSED = {
    b'{"a": 1, "b": {"c": 1, "c": 2}}': 'key "c" twice',
    b'{"a": NaN}': "NaN",
    b'{"a": -Infinity}': "-Infinity",
    b'{"a": 1e999}': "1e999",
    b'{"a": ' + b"9" * 5000 + b"}": "a whole number of thousands of digits",
    b"[" * 100_000: "nested too deeply",
    b'{"a":' * 33 + b"1" + b"}" * 33: "nested too deeply",
    b'{"a": "\xff"}': "byte 7 that is not UTF-8",
    b"\xef\xbb\xbf{}": "a byte order mark",
    "{}".encode("utf-16"): "a byte order mark",
    b"[]": "a JSON list",
    b"null": "a JSON NoneType",
    b'{"a": }': "at line 1 column 7",
    b"": "at line 1 column 1",
    b'{"a": 1} {"b": 2}': "extra data",
    b'{"a": "' + b"x" * MAX_DOCUMENT + b'"}': f"{MAX_DOCUMENT + 9:,} bytes",
}


@pytest.mark.parametrize(("data", "found"), REFUSED.items(), ids=range(len(REFUSED)))
def test_unclean_json_is_refused_in_one_line(tmp_path: Path, data: bytes, found: str) -> None:
    file = tmp_path / "submission.json"
    file.write_bytes(data)
    with pytest.raises(JsonProblem) as caught:
        read_object(file)
    assert found in caught.value.found
    text = str(caught.value)
    assert str(file) in text
    assert "\n" not in text
    assert len(text) < 400


def test_clean_json_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"a": [1, -2.5e3, true, null, "ü\\n"], "b": ' + "[" * 31 + "]" * 31 + "}")
    assert read_object(file)["a"] == [1, -2500.0, True, None, "ü\n"]


def test_finding_a_key_twice_costs_no_look_at_all_others() -> None:
    names = ",".join(f'"k{number}": 0' for number in range(2000))
    calls: Counter[str] = Counter()
    sys.setprofile(lambda frame, event, function: calls.update([event]))
    try:
        with pytest.raises(ValueError, match='key "k1999" twice'):
            parse_object(f'{{{names}, "k1999": 0}}'.encode())
    finally:
        sys.setprofile(None)
    assert calls["c_call"] < 200


def test_only_ordinary_files_are_opened(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("{}")
    (tmp_path / "link").symlink_to("real")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "."):
        with pytest.raises(JsonProblem, match="expected an ordinary file"):
            read_object(tmp_path / name)
    with pytest.raises(JsonProblem, match="found no such file"):
        read_object(tmp_path / "none")


def test_foreign_text_is_quoted_short_and_visible() -> None:
    assert visible("plain ü") == "plain ü"
    assert visible("a\u202eb\u200bc\x1b[31m\n") == "a\\u202eb\\u200bc\\u001b[31m\\u000a"
    assert len(visible("\u202e" * 10**6)) == 60
    assert visible("x" * 61) == "x" * 59 + "…"


def test_an_old_version_is_brought_up_step_by_step() -> None:
    steps = {
        0: lambda old: {"schema_version": 0, "id": old["name"]},
        1: lambda old: {**old, "extra": True},
    }
    document = {"schema_version": 0, "name": "x"}
    assert upgraded(document, newest=2, steps=steps) == {
        "schema_version": 2,
        "id": "x",
        "extra": True,
    }
    assert upgraded({"id": "x"}) == {"id": "x"}  # the schema asks for a version


@pytest.mark.parametrize("version", [0, 2, "1", 1.0, True, None, [1]])
def test_an_unknown_version_says_which_are_known(version: object) -> None:
    with pytest.raises(UserError, match=r"this suite knows 1$"):
        upgraded({"schema_version": version})
