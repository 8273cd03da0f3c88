"""Writing files: whole or not at all, through links, and never over what is no ordinary file."""

import json
import os
from contextlib import suppress

import pytest

from benchmark.errors import UserError
from benchmark.files import check_target, replacing, replacing_dir, write_json


def test_a_failed_write_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, {"a": float("nan")})
    with suppress(RuntimeError), replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert json.loads(path.read_text()) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real" / "file.json")
    write_json(link, [1])
    assert link.is_symlink()
    assert json.loads((tmp_path / "real" / "file.json").read_text()) == [1]
    folder = tmp_path / "folder"
    folder.symlink_to(tmp_path / "real")
    with replacing_dir(folder) as temporary:
        (temporary / "new").touch()
    assert folder.is_symlink()
    assert [item.name for item in (tmp_path / "real").iterdir()] == ["new"]


def test_what_a_killed_run_left_is_cleared_after_a_day(tmp_path):
    old, new, other = (tmp_path / name for name in (".a.1.tmp", ".a.2.tmp", ".b.1.tmp"))
    for folder in (old, new, other):
        folder.mkdir()
    yesterday = old.stat().st_mtime - 25 * 3600
    for folder in (old, other):
        os.utime(folder, (yesterday, yesterday))
    with replacing_dir(tmp_path / "a"):
        pass
    assert {item.name for item in tmp_path.iterdir()} == {".a.2.tmp", ".b.1.tmp", "a"}


def test_a_long_name_can_be_written(tmp_path):
    write_json(tmp_path / ("n" * 250), {})
    assert (tmp_path / ("n" * 250)).is_file()


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_no_ordinary_file_is_refused(tmp_path, make):
    make(tmp_path / "x")
    with pytest.raises(UserError, match=f"{tmp_path}/x: is"):
        write_json(tmp_path / "x", {})
    assert [item.name for item in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("path", ["", "file/below.json", "file/deep/below.json"])
def test_a_place_that_cannot_be_is_named(tmp_path, path, monkeypatch):
    from pathlib import Path

    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="expected a"):
        check_target(Path(path))
