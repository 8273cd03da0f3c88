"""Datasets of the Hub, against a stand-in server."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from foreign_folders import coco_document, pairs_files, syncoco_rows, syncub_rows
from hub_server import HubServer
from huggingface_hub import constants

from benchmark.datasets import load_dataset
from benchmark.datasets.coco import CLASSES
from benchmark.datasets.syncub import PAIRS
from benchmark.errors import UserError

BIRDS = syncub_rows([([0, 2, 5], 2, 3), ([1, 3], 3, 2)])
FILES = pairs_files(BIRDS)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_PROGRESS_BARS", True)
    with HubServer() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        yield server


def go_offline(monkeypatch: pytest.MonkeyPatch, hub: HubServer) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    hub.repos.clear()


def test_fetch_pins_a_tag_by_its_full_hash(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = {"syncub_dataset.py": b"raise SystemExit('run')", "images/evil.py": b"x"}
    commit = hub.add("jokl/syncub", FILES | script, tags=["v1.0"])
    text = PAIRS.fetch()
    assert f"jokl/syncub v1.0, commit {commit}" in text
    record = json.loads((tmp_path / "home/datasets/hub/jokl--syncub.json").read_text())
    assert record == {"repo": "jokl/syncub", "commits": {"v1.0": commit}}
    assert not list((tmp_path / "cache").rglob("*.py"))
    asked = len(hub.log)
    dataset = load_dataset("syncub")
    assert (dataset.name, dataset.revision) == ("syncub", commit)
    assert dataset.pairs is not None
    assert dataset.pairs.edited.encoded(1) == FILES["images/000001_syn.png"]
    assert len(hub.log) == asked
    again = load_dataset("jokl/syncub", revision="v1.0")
    assert (again.name, again.revision, again.fingerprint) == (
        "syncub",
        commit,
        dataset.fingerprint,
    )
    # the same without a network, by tag and by hash
    go_offline(monkeypatch, hub)
    for name, revision in [
        ("syncub", None),
        ("syncub@v1.0", None),
        ("syncub", commit),
        (f"jokl/syncub@{commit}", None),
    ]:
        assert load_dataset(name, revision=revision).fingerprint == dataset.fingerprint


def test_a_revision_that_is_not_there_is_an_error_whatever_is_cached(hub: HubServer) -> None:
    hub.add("jokl/syncub", FILES, tags=["v1.0"])
    load_dataset("syncub", revision="v1.0")
    with pytest.raises(UserError, match=r"jokl/syncub has no revision v9\.9 on the Hub"):
        load_dataset("syncub", revision="v9.9")
    with pytest.raises(UserError, match="has no revision 0000"):
        load_dataset("syncub", revision="0" * 40)
    with pytest.raises(UserError, match="is not on the Hub, or not open to you"):
        load_dataset("jokl/nothing", revision="v1.0")


def test_offline_nothing_stands_in_for_another_revision(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add("jokl/syncub", FILES, tags=["v1.0"])
    load_dataset("syncub", revision="v1.0")
    go_offline(monkeypatch, hub)
    for revision in ("v2.0", "main", "0" * 40):
        with pytest.raises(UserError, match=f"{revision} is not here and cannot be fetched"):
            load_dataset("syncub", revision=revision)


def test_a_tag_that_moved_is_noticed(hub: HubServer) -> None:
    first = hub.add("jokl/syncub", FILES, tags=["v1.0"])
    PAIRS.fetch()
    second = hub.add("jokl/syncub", pairs_files(BIRDS[:1]), tags=["v1.0"])
    # what is pinned stays
    assert load_dataset("syncub").revision == first
    from benchmark.datasets import hub as module

    with pytest.raises(UserError, match=f"v1.0 was commit {first} and is {second} now"):
        module.ask("jokl/syncub", "v1.0")
    moved = load_dataset("syncub", revision=second)
    assert moved.revision == second
    assert moved.pairs is not None
    assert len(moved.pairs) == 1


def test_a_download_that_broke_off_is_not_taken_for_whole(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = hub.add("jokl/syncub", FILES, tags=["v1.0"])
    hub.failing.add("images/000001_syn.png")
    with pytest.raises(UserError, match="cannot be fetched"):
        load_dataset("syncub", revision=commit)
    with pytest.raises(UserError, match="assay data fetch syncub"):
        load_dataset("syncub")
    hub.failing.clear()
    assert load_dataset("syncub", revision=commit).revision == commit


def test_other_repositories_in_known_layouts(hub: HubServer) -> None:
    commit = hub.add("someone/objects", pairs_files(syncoco_rows([([0, 5], 5, 3)], CLASSES), None))
    dataset = load_dataset(f"someone/objects@{commit}")
    assert (dataset.name, dataset.revision) == ("someone/objects", commit)
    assert dataset.concepts == CLASSES
    commit = hub.add("someone/else", {"README.md": b"", "annotations.json": b"{}"})
    assert coco_document([], [], {})["images"] == []
    with pytest.raises(UserError, match="is not a dataset folder"):
        load_dataset("someone/else", revision=commit)
    with pytest.raises(UserError, match="for a Hub repository: someone/else@REVISION"):
        load_dataset("someone/else")


def test_damaged_record_is_said(hub: HubServer, tmp_path: Path) -> None:
    hub.add("jokl/syncub", FILES, tags=["v1.0"])
    PAIRS.fetch()
    (tmp_path / "home/datasets/hub/jokl--syncub.json").write_text('{"commits": {"v1.0": "x"}}')
    with pytest.raises(UserError, match="is damaged"):
        load_dataset("syncub")
