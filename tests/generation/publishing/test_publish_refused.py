"""What is not published: one line, exit 2, and nothing written."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hub_server import HubServer
from hub_writes import ATTRIBUTES, REPO, HubWrites
from package_work import finished_work

from benchmark.errors import UserError
from generation.packaging import Options, package
from generation.packaging.manifest import _seal
from generation.publishing import address, open_package, read_back

Assay = Callable[..., tuple[int, str, str]]
WRITING = {"POST", "PUT", "DELETE", "PATCH"}
LOOPBACK = "http://127.0.0.1:1"


@pytest.fixture
def refused(hub: HubServer, writes: HubWrites, assay: Assay) -> Callable[..., str]:
    """Runs the command, which must refuse without having written; the line that it printed."""

    def run(*words: object, repo: str = REPO) -> str:
        code, _, err = assay(*words, "--repo", repo)
        assert code == 2, err
        *_, line = err.splitlines()
        assert line.startswith("error: ")
        assert not {method for method, _ in hub.log} & WRITING
        return line

    return run


@pytest.fixture
def copy(packaged: Path, tmp_path: Path) -> Path:
    return shutil.copytree(packaged, tmp_path / "copy")


def reseal(folder: Path, change: Callable[[dict], object]) -> None:
    """Change the manifest and seal it again, as somebody could who knows how."""
    path = folder / "manifest.json"
    document = json.loads(path.read_bytes())
    change(document)
    document["seal"] = _seal(document)
    path.write_text(json.dumps(document))


def edited_file(folder: Path) -> None:
    path = folder / "README.md"
    path.write_text(path.read_text() + "better")


def swapped_bytes(folder: Path) -> None:
    path = next(folder.glob("pairs/*.parquet"))
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)


def new_version(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"version": "1.0"', '"version": "1.1"'))


def fewer_pairs(document: dict) -> None:
    document["counts"]["pairs"] = 7


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (edited_file, r"README\.md: changed since it was packaged"),
        (swapped_bytes, r"test-0000.*\.parquet: changed since it was packaged"),
        (new_version, r"manifest\.json: changed since it was written"),
        (lambda folder: (folder / "LICENSE.md").unlink(), r"LICENSE\.md is missing"),
        (lambda folder: (folder / "extra.parquet").write_bytes(b""), r"extra\.parquet is new"),
        (lambda folder: (folder / ".hidden").write_bytes(b""), r"\.hidden is new"),
        (lambda folder: (folder / "l").symlink_to("README.md"), "is a link"),
        (lambda folder: (folder / "d").symlink_to("/etc"), "is a link"),
        (lambda folder: os.mkfifo(folder / "pipe"), "pipe is no ordinary file"),
        (lambda folder: reseal(folder, fewer_pairs), "is not sound: counts: .*; package it again"),
        (
            lambda folder: reseal(folder, lambda made: made.update(fingerprint="0" * 64)),
            "is not sound: fingerprint",
        ),
        (
            lambda folder: reseal(folder, lambda made: made["files"].update({"../x": {}})),
            "package it again",
        ),
    ],
)
def test_a_dirty_package(
    copy: Path, refused: Callable[..., str], spoil: Callable[[Path], object], said: str
) -> None:
    spoil(copy)
    line = refused(copy)

    assert re.search(said, line), line


def test_no_package_at_all(tmp_path: Path, refused: Callable[..., str]) -> None:
    assert "is not a dataset folder" in refused(tmp_path / "nothing")


def test_a_missing_licence(copy: Path, refused: Callable[..., str]) -> None:
    reseal(copy, lambda made: made["licences"].update(photographs=None))
    line = refused(copy)
    assert "no licence is stated for photographs" in line
    assert "package it again with --photographs-licence" in line
    reseal(
        copy, lambda made: made["licences"].update(photographs="x", models={"folder:tiny": None})
    )
    assert "no licence is stated for model folder:tiny; state it with" in refused(copy)


def test_another_version_than_asked_for(packaged: Path, refused: Callable[..., str]) -> None:
    assert "is version 1.0, not v1.1; package it again" in refused(packaged, "--version", "v1.1")
    assert "not ../x" in refused(packaged, "--version", "../x")


@pytest.mark.usefixtures("here")
def test_a_version_that_exists(
    packaged: Path, copy: Path, writes: HubWrites, assay: Assay, hub: HubServer
) -> None:
    assert assay(packaged, "--repo", REPO)[0] == 0
    commit = writes.tags(REPO)["v1.0"]
    hub.log.clear()
    code, _, err = assay(packaged, "--repo", REPO)
    assert code == 2
    assert f"{REPO} v1.0 exists, commit {commit}, and holds this very package" in err
    reseal(copy, lambda made: made.update(seed=7))
    for words in ([], ["--dry-run"]):
        code, _, err = assay(copy, "--repo", REPO, *words)
        assert code == 2
        assert "versions do not change; package another version" in err
    assert not {method for method, _ in hub.log} & WRITING
    assert writes.tags(REPO) == {"v1.0": commit}


def test_a_repository_of_something_else(
    packaged: Path, hub: HubServer, refused: Callable[..., str]
) -> None:
    hub.add(REPO, {".gitattributes": ATTRIBUTES, "thesis.tex": b"years of work"})
    assert "holds something else than a package of tiny, which would be deleted" in refused(
        packaged
    )
    other = json.dumps({"seal": "x", "name": "other"}).encode()
    hub.add(REPO, {"manifest.json": other})
    assert "(one of other), which would be deleted" in refused(packaged)
    for broken in (b"{", b"[]", b"9" * (5 * 2**20)):
        hub.add(REPO, {"manifest.json": broken})
        assert "holds something else" in refused(packaged)


def test_private_for_a_public_repository(
    packaged: Path, hub: HubServer, refused: Callable[..., str]
) -> None:
    hub.add(REPO, {".gitattributes": ATTRIBUTES})
    assert "is there and public" in refused(packaged, "--private")


def test_a_report_only_package_stays_on_this_machine(
    tmp_path: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch, hub: HubServer
) -> None:
    package(finished_work(tmp_path / "made", verify="report_only"), tmp_path / "tiny")
    for far in ("https://hub.example", "http://127.0.0.1@hub.example", "http://localhost.example"):
        monkeypatch.setenv("HF_ENDPOINT", far)
        assert "verify: report_only" in refused(tmp_path / "tiny")
    for near in (LOOPBACK, "http://localhost:80", "http://[::1]:5"):
        assert open_package(tmp_path / "tiny", near).tag == "v1.0"
    assert hub.log == []


def test_tokens_that_do_not_do(
    packaged: Path,
    tmp_path: Path,
    hub: HubServer,
    writes: HubWrites,
    refused: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from huggingface_hub import constants

    writes.role = "read"
    assert "the token may only read" in refused(packaged)
    monkeypatch.setenv("HF_TOKEN", "hf_somebodyElse")
    line = refused(packaged)
    assert "logging in: the Hub answered 401" in line
    assert "hf auth login" in line
    assert "somebodyElse" not in line
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "absent"))
    assert "there is no token for the Hub; log in with: hf auth login" in refused(packaged)


def test_an_owner_that_is_not_yours(packaged: Path, writes: HubWrites, assay: Assay) -> None:
    code, _, err = assay(packaged, "--repo", "forbidden/tiny")
    assert code == 2
    last = err.splitlines()[-1]
    assert "creating forbidden/tiny: the Hub answered 403 (You don't have the rights)" in last
    assert "must be allowed to write there" in last


@pytest.mark.parametrize(
    "repo", ["tiny", "a/b/c", "../x", "a/..", "a/b--c", "a/b.git", "", "a b/c", f"a/{'b' * 99}"]
)
def test_names_that_are_none(packaged: Path, refused: Callable[..., str], repo: str) -> None:
    assert "expected owner/name" in refused(packaged, repo=repo)


@pytest.mark.parametrize("text", ["ftp://x", "nonsense", "http://", "http://[::1"])
def test_an_endpoint_that_is_none(
    packaged: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", text)
    assert "HF_ENDPOINT is" in refused(packaged)


def test_offline(
    packaged: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE is set" in refused(packaged)


def test_a_full_disk(
    packaged: Path, hub: HubServer, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = read_back.shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(read_back.shutil, "disk_usage", lambda _: usage)
    assert "1,000 bytes are free" in refused(packaged)


def test_loopback_addresses() -> None:
    assert address.is_loopback("http://127.8.0.1:9/")
    assert not address.is_loopback("http://0.0.0.0:9")
    assert not address.is_loopback("nonsense")
    with pytest.raises(UserError, match="expected owner/name"):
        address.check_repo_id("owner")


def test_options_of_the_package_are_named(tmp_path: Path, refused: Callable[..., str]) -> None:
    work = finished_work(tmp_path / "made")
    package(work, tmp_path / "tiny", Options(version="2.3"))
    assert "is version 2.3, not 2.4" in refused(tmp_path / "tiny", "--version", "2.4")
