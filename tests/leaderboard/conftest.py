"""A dataset to show pairs of, sites made of synthetic records, and a browser."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import find
from PIL import Image, ImageDraw
from result_records import FINGERPRINT, make_gate, make_records, make_sanity


class Drawn:
    """A sequence of small drawings, one colour per row."""

    def __init__(self, count: int, edited: bool) -> None:
        self.count, self.edited = count, edited

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Image.Image:
        image = Image.new("RGB", (64, 64), "white")
        draw = ImageDraw.Draw(image)
        draw.ellipse((12, 12, 52, 52), fill=(index * 37 % 256, index * 91 % 256, 150))
        if self.edited:
            draw.rectangle((18, 24, 46, 32), fill="black")
        return image


class FakePairs:
    def __init__(self, count: int = 40) -> None:
        self.ids = tuple(f"pair-{index:04d}" for index in range(count))
        self.base, self.edited = Drawn(count, False), Drawn(count, True)


class FakeDataset:
    """The part of a dataset that the site reads."""

    def __init__(self, name: str = "synavatars", fingerprint: str = FINGERPRINT) -> None:
        self.name, self.fingerprint, self.pairs = name, fingerprint, FakePairs()


Writer = Callable[..., Path]


@pytest.fixture
def write_results(tmp_path: Path) -> Writer:
    """Writes records to a fresh folder of results, named in the order given."""

    def write(records: list[dict[str, Any]], folder: str = "results") -> Path:
        target = tmp_path / folder
        target.mkdir()
        for index, record in enumerate(records):
            (target / f"{index:03d}.json").write_text(json.dumps(record))
        return target

    return write


@pytest.fixture(scope="session")
def fake_dataset() -> FakeDataset:
    return FakeDataset()


@pytest.fixture(scope="session")
def demo_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site like that of a demo run, built once; tests only read it."""
    from leaderboard import build_site

    root = tmp_path_factory.mktemp("demo")
    (root / "results").mkdir()
    for record in make_records():
        name = record["submission"]["id"]
        (root / "results" / f"{name}.json").write_text(json.dumps(record))
    (root / "gate.json").write_text(json.dumps(make_gate()))
    (root / "sanity.json").write_text(json.dumps(make_sanity()))
    dataset: Any = FakeDataset()
    build_site(
        root / "results",
        root / "site",
        dataset=dataset,
        gate=root / "gate.json",
        sanity=root / "sanity.json",
    )
    return root / "site"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium; fails where none is installed, as ``make test`` installs one."""
    from playwright.sync_api import sync_playwright

    path = find()
    if path is None:
        pytest.fail("no Chromium or Chrome for the site's tests; `make browser` installs one")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()
