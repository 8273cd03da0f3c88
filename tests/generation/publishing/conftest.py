"""A package in several files, a Hub stand-in that takes it, and the command."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hub_server import HubServer
from hub_writes import TOKEN, HubWrites, point_at
from package_work import finished_work

from benchmark.cli import main
from benchmark.datasets import load_dataset
from benchmark.judges.backoff import Backoff
from generation.packaging import Options, package
from generation.publishing import retry, run
from generation.work import Work

Assay = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Work:
    return finished_work(tmp_path_factory.mktemp("finished"))


@pytest.fixture(scope="session")
def packaged(finished: Work, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Version 1.0 of a package whose pairs are in three files; nobody changes it."""
    folder = tmp_path_factory.mktemp("packaged") / "tiny"
    package(finished, folder, Options(shard_bytes=2_700))
    assert len(list(folder.glob("pairs/*.parquet"))) == 3
    return folder


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    with HubServer() as server:
        point_at(server, tmp_path, monkeypatch)
        yield server


@pytest.fixture
def writes(hub: HubServer) -> HubWrites:
    return HubWrites(hub)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds between attempts, which nobody waits for; those of the client are left out."""
    seconds: list[float] = []
    calm = SimpleNamespace(sleep=lambda _: None)
    monkeypatch.setattr("huggingface_hub.utils._http.time", calm)
    monkeypatch.setattr(retry, "Backoff", lambda: Backoff(seconds.append, lambda: 0.0))
    return seconds


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading back in this process, through the same loader, for speed."""

    def read(repo: str, commit: str, endpoint: str, _: retry.Retry) -> str:
        return load_dataset(repo, revision=commit).fingerprint

    monkeypatch.setattr(run, "read_back", read)


@pytest.fixture
def assay(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Assay:
    """Runs ``assay generate publish``; nothing that it prints may give a secret away."""

    def command(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["assay", "generate", "publish", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capfd.readouterr()
        for secret in (TOKEN, "signature", "Traceback"):
            assert secret not in captured.out + captured.err
        return int(stopped.value.code or 0), captured.out, captured.err

    return command
