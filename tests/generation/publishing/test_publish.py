"""From a package to a version on the Hub that reads back as it was."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hub_server import HubServer
from hub_writes import ATTRIBUTES, REPO, TOKEN, HubWrites
from package_work import finished_work

from benchmark.datasets import load_dataset
from generation.packaging import Options, package, read_package
from generation.work import Work

Assay = Callable[..., tuple[int, str, str]]
WRITING = {"POST", "PUT", "DELETE", "PATCH"}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_package_becomes_a_tagged_version(
    packaged: Path, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    code, out, err = assay(packaged, "--repo", REPO, "--version", "v1.0")
    assert code == 0, err
    assert writes.files(REPO) == {**contents(packaged), ".gitattributes": ATTRIBUTES}
    commit = writes.tags(REPO)["v1.0"]
    assert writes.messages == ["tiny 1.0"]
    fingerprint = load_dataset(packaged).fingerprint
    assert f"{REPO} v1.0 is commit {commit}\nfingerprint {fingerprint}" in out
    line = next(text for text in out.splitlines() if text.startswith("load it with: "))
    loaded = eval(line.removeprefix("load it with: "), {"load_dataset": load_dataset})
    assert (loaded.name, loaded.revision) == ("tiny", commit)
    assert loaded.fingerprint == fingerprint
    assert load_dataset(REPO, revision="v1.0").revision == commit


@pytest.mark.usefixtures("here")
def test_the_datasets_library_loads_it_from_there(
    packaged: Path, tmp_path: Path, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    pytest.importorskip("datasets", reason="the library of the Hub is not installed")
    assert assay(packaged, "--repo", REPO)[0] == 0
    program = (
        "import datasets, json, sys\n"
        "rows = datasets.load_dataset(sys.argv[1], revision='v1.0')['test']\n"
        "print(json.dumps([list(rows['id']), rows[0]['base'].size, rows.features['added'].names]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, REPO],
        env={**os.environ, "HF_HOME": str(tmp_path / "hf")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ids, size, names = json.loads(done.stdout)
    mine = load_dataset(packaged)
    assert mine.pairs is not None
    assert (tuple(ids), tuple(names)) == (mine.pairs.ids, mine.concepts)
    assert size == [64, 64]


def test_a_dry_run_only_looks(
    packaged: Path, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    code, out, _ = assay(packaged, "--repo", REPO, "--dry-run")
    assert code == 0
    assert "repository: made new, public" in out
    for name, data in contents(packaged).items():
        assert f"  add     {name}  " in out
        assert len(data) > 0
    assert out.endswith("dry run: nothing was written\n")
    code, out, err = assay(packaged, "--repo", REPO, "--dry-run", "--private", "--json")
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert (report["created"], report["private"], report["commit"]) == (True, True, None)
    sizes = {name: len(data) for name, data in contents(packaged).items()}
    assert {each["path"]: each["bytes"] for each in report["added"]} == sizes
    assert not {method for method, _ in hub.log} & WRITING
    assert hub.repos == {}


@pytest.mark.usefixtures("here")
def test_the_next_version_changes_what_is_other(
    finished: Work, packaged: Path, tmp_path: Path, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    assert assay(packaged, "--repo", REPO)[0] == 0
    first, sent = writes.tags(REPO)["v1.0"], writes.put_bytes
    following = tmp_path / "tiny"
    package(finished, following, Options(version="1.1", shard_bytes=10**6))
    code, out, err = assay(following, "--repo", REPO, "--dry-run", "--json")
    assert code == 0, err
    plan = json.loads(out)
    paths = {key: {each["path"] for each in plan[key]} for key in ("added", "deleted", "unchanged")}
    assert paths["added"] == {"pairs/test-00000-of-00001.parquet"}
    assert paths["deleted"] == {f"pairs/test-0000{n}-of-00003.parquet" for n in range(3)}
    assert {"contact_sheet.webp", "statistics/concepts.csv"} <= paths["unchanged"]
    before = next(each for each in plan["changed"] if each["path"] == "README.md")["bytes_before"]
    assert before == (packaged / "README.md").stat().st_size
    code, out, err = assay(following, "--repo", REPO)
    assert code == 0, err
    assert f"main is {first}, holds version 1.0" in out
    assert "  delete  pairs/test-00002-of-00003.parquet" in out
    assert writes.files(REPO) == {**contents(following), ".gitattributes": ATTRIBUTES}
    data = following / "pairs" / "test-00000-of-00001.parquet"
    assert writes.put_bytes - sent == data.stat().st_size
    # the old version is what it was, and the pairs are the same
    tags = writes.tags(REPO)
    assert tags["v1.0"] == first != tags["v1.1"]
    assert writes.files(REPO, "v1.0") == {**contents(packaged), ".gitattributes": ATTRIBUTES}
    old, new = (load_dataset(REPO, revision=tag) for tag in ("v1.0", "v1.1"))
    assert old.fingerprint == new.fingerprint


def test_a_token_of_a_file_and_a_private_repository(
    packaged: Path,
    tmp_path: Path,
    hub: HubServer,
    writes: HubWrites,
    assay: Assay,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from huggingface_hub import constants

    file = tmp_path / "token"
    file.write_text(TOKEN)
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setenv("HF_TOKEN_PATH", str(file))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(file))
    code, out, err = assay(packaged, "--repo", REPO, "--private", "--json")
    assert code == 0, err
    report = json.loads(out)
    assert report["private"]
    assert writes.private == {REPO}
    assert report["commit"] == writes.tags(REPO)["v1.0"]
    assert report["fingerprint"] == report["package_fingerprint"]


def test_what_a_system_leaves_in_a_folder_is_not_sent(
    packaged: Path, tmp_path: Path, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    folder = shutil.copytree(packaged, tmp_path / "copy")
    (folder / ".DS_Store").write_bytes(b"x")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "note").write_bytes(b"x")
    (folder / ".cache" / "link").symlink_to("/etc/passwd")
    code, out, _ = assay(folder, "--repo", REPO, "--dry-run", "--json")
    assert code == 0
    assert {each["path"] for each in json.loads(out)["added"]} == set(contents(packaged))


@pytest.mark.usefixtures("here")
def test_a_repository_with_only_its_first_files_is_taken(
    packaged: Path, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    hub.add(REPO, {".gitattributes": ATTRIBUTES, "README.md": b"made on the site"})
    code, out, err = assay(packaged, "--repo", REPO)
    assert code == 0, err
    assert "change  README.md" in out
    assert not [path for method, path in hub.log if path == "/api/repos/create"]


def test_what_nobody_reviewed_or_checked_is_said(
    tmp_path: Path, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    work = finished_work(tmp_path / "made", verify="report_only")
    (work.review / "ann.jsonl").unlink()
    package(work, tmp_path / "tiny", Options(unreviewed=True))
    assert read_package(tmp_path / "tiny")["review"]["state"] == "unreviewed"
    code, out, err = assay(tmp_path / "tiny", "--repo", REPO, "--dry-run")
    assert code == 0, err
    assert "note: nobody reviewed these pairs; the card says so" in out
    assert "note: the classifier's opinion dropped no pair; for a test server only" in out


def test_help_says_what_to_type(assay: Assay) -> None:
    code, out, _ = assay("--help")
    assert code == 0
    for line in (
        "hf auth login",
        "assay generate publish FOLDER --repo OWNER/NAME --dry-run",
        "assay generate publish FOLDER --repo OWNER/NAME",
    ):
        assert line in [each.strip() for each in out.splitlines()]
