"""Networks that fail, servers that lie, and runs that are killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hub_server import Fault, HubServer
from hub_writes import REPO, TOKEN, HubWrites

from benchmark.datasets import load_dataset
from generation.packaging import Options, package
from generation.publishing import retry
from generation.publishing.retry import shown
from generation.work import Work

Assay = Callable[..., tuple[int, str, str]]
EVERY_STEP = [
    ("GET", r"/whoami-v2$"),
    ("GET", r"/revision/main$"),
    ("GET", r"/tree/"),
    ("GET", r"/refs$"),
    ("POST", r"/repos/create$"),
    ("POST", r"/validate-yaml$"),
    ("POST", r"/preupload/"),
    ("POST", r"/objects/batch$"),
    ("PUT", r"/store/"),
    ("POST", r"/verify$"),
    ("POST", r"/commit/"),
    ("POST", r"/tag/"),
]


def large(folder: Path) -> int:
    """Bytes of the files that go to the store for large ones."""
    paths = [*folder.glob("pairs/*.parquet"), folder / "contact_sheet.webp"]
    return sum(path.stat().st_size for path in paths)


@pytest.mark.usefixtures("here", "waits")
@pytest.mark.parametrize(("method", "pattern"), EVERY_STEP)
def test_a_step_that_fails_for_a_while_is_tried_again(
    packaged: Path,
    hub: HubServer,
    writes: HubWrites,
    assay: Assay,
    method: str,
    pattern: str,
) -> None:
    hub.faults += [
        Fault(method, pattern, status=503),
        Fault(method, pattern, take=7),
        Fault(method, pattern, lost=True),  # done, but nobody is told
    ]
    code, _, err = assay(packaged, "--repo", REPO)
    assert code == 0, err
    assert [fault.times for fault in hub.faults] == [0, 0, 0]
    assert list(writes.tags(REPO)) == ["v1.0"]
    assert set(writes.files(REPO, "v1.0")) == {".gitattributes", *run_files(packaged)}
    assert writes.messages == ["tiny 1.0"]


def run_files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def following(finished: Work, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The next version, with the same pairs."""
    folder = tmp_path_factory.mktemp("following") / "tiny"
    package(finished, folder, Options(version="1.1", shard_bytes=2_700))
    return folder


@pytest.mark.usefixtures("here", "waits")
@pytest.mark.parametrize("method", ["HEAD", "GET"])
@pytest.mark.parametrize("fault", [{"status": 503}, {"take": 0}, {"cut": 100}])
def test_what_a_repository_holds_is_asked_for_again(
    packaged: Path,
    following: Path,
    hub: HubServer,
    writes: HubWrites,
    assay: Assay,
    method: str,
    fault: dict[str, int],
) -> None:
    hub.add(REPO, {name: (packaged / name).read_bytes() for name in run_files(packaged)})
    hub.faults.append(Fault(method, r"/resolve/.*/manifest\.json$", 1, **fault))
    code, out, err = assay(following, "--repo", REPO)
    assert code == 0, err
    assert "holds version 1.0" in out
    assert hub.faults[0].times == 0
    assert writes.put_bytes == 0  # the pairs and the sheet are those of 1.0


@pytest.mark.usefixtures("here")
def test_a_server_that_asks_to_wait_is_obeyed(
    packaged: Path, hub: HubServer, writes: HubWrites, assay: Assay, waits: list[float]
) -> None:
    hub.faults += [
        Fault("POST", r"/repos/create$", status=429, headers={"Retry-After": "41"}),
        Fault("POST", r"/repos/create$", status=429, headers={"RateLimit": '"api";r=0;t=55'}),
        Fault("POST", r"/commit/", status=500),
    ]
    code, _, err = assay(packaged, "--repo", REPO)
    assert code == 0, err
    assert [round(wait) for wait in waits] == [41, 55, 0]
    assert f"creating {REPO}: the Hub answered 429 (told to fail); attempt 2 of 5 follows" in err


@pytest.mark.usefixtures("here")
def test_a_wait_that_is_too_long_ends_the_run(
    packaged: Path, hub: HubServer, writes: HubWrites, assay: Assay, waits: list[float]
) -> None:
    hub.faults.append(Fault("POST", r"/commit/", status=429, headers={"Retry-After": "3600"}))
    code, _, err = assay(packaged, "--repo", REPO)
    assert (code, waits) == (1, [])
    last = err.splitlines()[-1]
    assert "the Hub asks to wait 3,600 s, go on then with: assay generate publish" in last


@pytest.mark.usefixtures("here", "waits")
def test_what_was_sent_is_not_sent_again(
    packaged: Path, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    hub.faults.append(Fault("PUT", r"/store/", 1000, after=2, status=500))
    code, _, err = assay(packaged, "--repo", REPO, "--version", "1.0")
    assert code == 1
    last = err.splitlines()[-1]
    assert last.startswith("error: sending pairs/test-00002-of-00003.parquet failed 5 times")
    command = f"assay generate publish {packaged} --repo {REPO} --version 1.0"
    assert last.endswith(f"the Hub answered 500 (told to fail); go on with: {command}")
    assert len(writes.objects) == 2
    assert writes.files(REPO).keys() == {".gitattributes"}  # not half a dataset
    assert writes.tags(REPO) == {}
    hub.faults.clear()
    hub.received.clear()
    code, _, err = assay(*command.split()[3:])
    assert code == 0, err
    sent = large(packaged) - sum(
        (packaged / "pairs" / f"test-0000{n}-of-00003.parquet").stat().st_size for n in (0, 1)
    )
    assert writes.put_bytes == sent


@pytest.mark.usefixtures("here", "waits")
@pytest.mark.parametrize("where", [r"/commit/", r"/tag/"])
def test_a_run_that_ends_late_has_nothing_left_to_send(
    packaged: Path, hub: HubServer, writes: HubWrites, assay: Assay, where: str
) -> None:
    hub.faults.append(Fault("POST", where, 1000, status=502))
    assert assay(packaged, "--repo", REPO)[0] == 1
    assert writes.tags(REPO) == {}
    hub.faults.clear()
    hub.received.clear()
    code, _, err = assay(packaged, "--repo", REPO)
    assert code == 0, err
    assert writes.put_bytes == 0
    assert len(writes.messages) == 1
    assert list(writes.tags(REPO)) == ["v1.0"]
    assert (f"main of {REPO} holds all files" in err) == (where == r"/tag/")


@pytest.mark.usefixtures("here", "waits")
def test_somebody_else_commits_meanwhile(
    packaged: Path, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    def meddle() -> None:
        hub.add(REPO, {**writes.files(REPO), "other.txt": b"x"})

    hub.faults.append(Fault("PUT", r"/store/", take=None, then=meddle))
    code, _, err = assay(packaged, "--repo", REPO)
    assert code == 1
    assert f"{REPO}: somebody else committed to main meanwhile" in err.splitlines()[-1]
    assert "other.txt" in writes.files(REPO)
    assert writes.tags(REPO) == {}


@pytest.mark.usefixtures("here", "waits")
def test_somebody_else_takes_the_tag_meanwhile(
    packaged: Path, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    before: list[str] = []

    def meddle() -> None:
        repo = writes.repo(REPO)
        before.append(next(iter(repo.commits)))
        repo.refs["v1.0"] = before[0]

    hub.faults.append(Fault("POST", r"/tag/", then=meddle))
    code, _, err = assay(packaged, "--repo", REPO)
    assert code == 1
    assert f"tag v1.0 is on commit {before[0]}, not on" in err.splitlines()[-1]


@pytest.mark.usefixtures("waits")
def test_what_reads_back_otherwise_gets_no_tag(
    packaged: Path, tmp_path: Path, finished: Work, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    """A server that keeps other bytes than it says: only reading them shows it."""
    first = min(packaged.glob("pairs/*.parquet"))
    mine = load_dataset(packaged).fingerprint
    package(finished, tmp_path / "other", Options(unreviewed=True))
    (whole,) = (tmp_path / "other").glob("pairs/*.parquet")
    writes.twisted[f"pairs/{first.name}"] = _renamed(whole, tmp_path / "half.parquet")
    code, _, err = assay(packaged, "--repo", REPO)
    assert code == 1
    last = err.splitlines()[-1]
    assert f"{REPO} at {writes.repo(REPO).refs['main']} reads back with fingerprint " in last
    assert f"the package has {mine}; no version was tagged" in last
    assert writes.tags(REPO) == {}


def _renamed(whole: Path, part: Path) -> bytes:
    """The first three rows with their ids in capitals: readable, and other content."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(whole)
    rows = table.slice(0, 3)
    names = [name.upper() for name in rows["id"].to_pylist()]
    rows = rows.set_column(0, "id", pa.array(names))
    pq.write_table(rows.replace_schema_metadata(table.schema.metadata), part)
    return part.read_bytes()


@pytest.mark.usefixtures("waits")
def test_what_cannot_be_read_back_gets_no_tag(
    packaged: Path,
    hub: HubServer,
    writes: HubWrites,
    assay: Assay,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writes.twisted["manifest.json"] = b"[1]"
    code, _, err = assay(packaged, "--repo", REPO)
    assert code == 1
    assert "reads back broken: " in err.splitlines()[-1]
    assert "expected a JSON object, found list; no version was tagged" in err.splitlines()[-1]
    writes.twisted.clear()
    hub.failing.add("pairs/test-00000-of-00003.parquet")
    monkeypatch.setattr(retry, "ATTEMPTS", 2)
    code, _, err = assay(packaged, "--repo", REPO)
    assert code == 1
    assert f"reading {REPO} back failed 2 times, at last: " in err.splitlines()[-1]
    assert writes.tags(REPO) == {}


@pytest.mark.usefixtures("waits")
def test_a_hub_that_is_not_there(
    packaged: Path, hub: HubServer, assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    code, _, err = assay(packaged, "--repo", REPO)
    assert code == 1
    assert "logging in failed 5 times, at last: ConnectError" in err.splitlines()[-1]


def test_a_killed_process_goes_on(
    packaged: Path, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    """Killed in the middle of the second file: it is sent again, the first is not."""
    running: list[subprocess.Popen[str]] = []
    hub.faults.append(Fault("PUT", r"/store/", after=1, take=999, then=lambda: running[0].kill()))
    words = ["-m", "benchmark", "generate", "publish", str(packaged), "--repo", REPO]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running.append(subprocess.Popen([sys.executable, *words], env=dict(os.environ), **pipes))
    out, err = running[0].communicate(timeout=120)
    assert running[0].returncode == -signal.SIGKILL
    assert TOKEN not in out + err
    assert len(writes.objects) == 1
    assert writes.tags(REPO) == {}
    code, _, err = assay(packaged, "--repo", REPO)
    assert code == 0, err
    assert writes.put_bytes == large(packaged) + 999
    assert load_dataset(REPO, revision="v1.0").fingerprint == load_dataset(packaged).fingerprint


def test_texts_of_others_are_shown_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "plainsecret")
    text = "no\nplainsecret hf_abcDEF123 http://x/y?X-Amz-Signature=123 " + "z" * 500
    line = shown(text)
    assert line.startswith("no … … http://x/y zzz")
    assert len(line) == 200
