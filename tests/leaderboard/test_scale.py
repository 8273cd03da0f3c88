"""Many entries: equal bytes however they are built, little work where little changed."""

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from generator_documents import make_generator
from result_records import make_record
from site_submissions import generator_submission, write_submission

from bench.many import write_submission as write_made_up
from bench.many import write_submissions
from benchmark.errors import UserError
from leaderboard import build_site
from leaderboard.building import bodies, cache, pool
from leaderboard.reading import slim

COUNT, CONCEPTS = 60, 312


@pytest.fixture(scope="module")
def submissions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("many") / "submissions"
    write_submissions(root, make_record(), count=COUNT, concepts=CONCEPTS)
    document = make_generator("painter")
    write_submission(root, "generators", generator_submission(document), document)
    return root


@pytest.fixture
def copied(submissions: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(submissions, tmp_path / "submissions"))


def build(submissions: Path, out: Path, **options: Any) -> dict[str, bytes]:
    options = {"workers": 1, "base_url": "https://example.org"} | options
    site = build_site(None, out, submissions=submissions, **options).parent
    return {str(p.relative_to(site)): p.read_bytes() for p in site.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def fresh(submissions: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Built by one process that knows nothing."""
    return build(submissions, tmp_path_factory.mktemp("fresh") / "site")


def change(root: Path) -> None:
    """A second measurement of one entry."""
    write_made_up(root, make_record(), COUNT // 2, concepts=CONCEPTS, version=2)


def test_processes_change_nothing(
    submissions: Path, tmp_path: Path, fresh: dict[str, bytes]
) -> None:
    assert COUNT >= pool.FEW
    assert build(submissions, tmp_path / "site", workers=2) == fresh


def test_the_order_of_files_changes_nothing(
    copied: Path, tmp_path: Path, fresh: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    backwards = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda self: iter(sorted(backwards(self), reverse=True)))
    assert build(copied, tmp_path / "site") == fresh


def test_what_is_kept_changes_nothing_and_saves_the_work(
    copied: Path, tmp_path: Path, fresh: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "cache"
    assert build(copied, tmp_path / "site", cache=kept) == fresh
    made: list[str] = []
    for module in (bodies, slim):
        own = module._make

        def counted(job: Any, own: Any = own, name: str = module.__name__) -> Any:
            made.append(name)
            return own(job)

        monkeypatch.setattr(module, "_make", counted)
    assert build(copied, tmp_path / "site", cache=kept) == fresh
    assert build(copied, tmp_path / "elsewhere", cache=kept) == fresh
    assert made == []
    change(copied)
    quick = build(copied, tmp_path / "site", cache=kept)
    assert sorted(made) == ["leaderboard.building.bodies", "leaderboard.reading.slim"]
    assert quick == build(copied, tmp_path / "whole")
    assert quick != fresh


def test_unchanged_files_are_taken_over(copied: Path, tmp_path: Path) -> None:
    kept, site = tmp_path / "cache", tmp_path / "site"
    build(copied, site, cache=kept)
    name = "records/sae-0003.*.json"
    (before,) = site.glob(name)
    inode = before.stat().st_ino
    change(copied)
    build(copied, site, cache=kept)
    (after,) = site.glob(name)
    assert after.stat().st_ino == inode


@pytest.mark.parametrize("keep_time", [False, True])
def test_a_page_that_somebody_edited_is_made_again(
    copied: Path, tmp_path: Path, fresh: dict[str, bytes], keep_time: bool
) -> None:
    kept, site = tmp_path / "cache", tmp_path / "site"
    build(copied, site, cache=kept)
    page = site / "saes" / "sae-0003.html"
    times = page.stat()
    page.write_text("edited")
    if keep_time:
        os.utime(page, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert build(copied, site, cache=kept) == fresh


def test_a_damaged_cache_is_as_if_empty(
    copied: Path, tmp_path: Path, fresh: dict[str, bytes]
) -> None:
    kept = tmp_path / "cache"
    build(copied, tmp_path / "site", cache=kept)
    files = [path for path in kept.rglob("*") if path.is_file()]
    assert {path.parent.parent.name for path in files} >= {"slim", "text", "body", "submission"}
    for place, path in enumerate(files):
        data = path.read_bytes()
        cut, flipped = data[: len(data) // 2], bytes([data[0] ^ 1]) + data[1:]
        path.write_bytes((b"", cut, flipped)[place % 3])
    assert build(copied, tmp_path / "other", cache=kept) == fresh


def test_other_code_reads_nothing_of_the_cache(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = cache.Cache(tmp_path / "cache")
    first.write("body", "ab" * 32, b"x")
    assert cache.Cache(tmp_path / "cache").read("body", "ab" * 32) == b"x"
    monkeypatch.setattr(cache, "code_sha256", lambda: "f" * 64)
    assert cache.Cache(tmp_path / "cache").read("body", "ab" * 32) is None


def test_many_processes_name_a_broken_record_as_one_does(copied: Path, tmp_path: Path) -> None:
    for number in (41, 17):
        (file,) = (copied / "saes" / f"sae-{number:04d}").glob("results/*/1.json")
        record = json.loads(file.read_text())
        record["scores"]["l0"]["value"] = "many"
        file.write_text(json.dumps(record))
    said = set()
    for workers in (1, 2):
        with pytest.raises(UserError, match=r"sae-0017/results/synavatars/1\.json") as caught:
            build(copied, tmp_path / "site", workers=workers)
        said.add(str(caught.value))
    assert len(said) == 1
    assert "$.scores.l0.value" in said.pop()
    assert not (tmp_path / "site").exists()


def test_the_front_page_does_not_grow_with_the_entries(fresh: dict[str, bytes]) -> None:
    index = fresh["index.html"]
    assert len(gzip.compress(index, mtime=0)) < 60_000
    assert index.count(b'href="saes/') < COUNT
    board = next(page for path, page in fresh.items() if path.startswith("boards/synavatars"))
    for number in range(COUNT):
        assert f'href="../saes/sae-{number:04d}.html"'.encode() in board


def test_board_records_do_not_hold_their_concepts_as_rows(
    submissions: Path, tmp_path: Path
) -> None:
    with pool.Pool(1) as processes:
        store = cache.Cache(tmp_path)
        found = slim.hashed(
            (path, slim.SAE) for path in sorted((submissions / "saes").glob("*/results/*/*.json"))
        )
        (record, *_) = slim.read_slim(found, store, processes)
    whole = json.loads(found[0].path.read_bytes())
    assert "per_concept" not in record.document
    assert record.concepts.names == tuple(row["concept"] for row in whole["per_concept"])
    assert record.concepts.f1 == tuple(row["f1"] for row in whole["per_concept"])
