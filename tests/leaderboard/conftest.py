"""A dataset to show pairs of, and sites made of synthetic records."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judgement_documents import make_judgement
from PIL import Image, ImageDraw
from result_records import FINGERPRINT, make_gate, make_records, make_sanity
from site_submissions import write_submissions


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
        self.ids = tuple(f"score-{row:05d}" for row in range(60))
        self.images = Drawn(60, True)


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


@pytest.fixture
def write_judgements(tmp_path: Path) -> Writer:
    """Writes judgement documents to a fresh folder, named in the order given."""

    def write(documents: list[dict[str, Any]], folder: str = "judgements") -> Path:
        target = tmp_path / folder
        target.mkdir()
        for index, document in enumerate(documents):
            (target / f"{index:03d}.json").write_text(json.dumps(document))
        return target

    return write


@pytest.fixture(scope="session")
def fake_dataset() -> FakeDataset:
    return FakeDataset()


def judges_of(index: int, record: dict[str, Any]) -> list[str]:
    """All TopK and one BatchTopK by annotations; TopK 512 by two others as well."""
    architecture = record["submission"]["architecture"]
    judges = ["annotations"] if architecture == "topk" or index == 5 else []
    if record["submission"]["id"] == "demo-topk-512-s0":
        judges += ["random", "openai/a-model"]
    return judges


@pytest.fixture(scope="session")
def demo_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site like that of a demo run, built once; tests only read it."""
    from leaderboard import build_site

    root = tmp_path_factory.mktemp("demo")
    (root / "results").mkdir()
    for record in make_records():
        name = record["submission"]["id"]
        (root / "results" / f"{name}.json").write_text(json.dumps(record))
    (root / "judgements").mkdir()
    for index, record in enumerate(make_records()):
        for judge in judges_of(index, record):
            path = root / "judgements" / f"{index}-{judge.replace('/', '-')}.json"
            path.write_text(json.dumps(make_judgement(record, judge)))
    (root / "gate.json").write_text(json.dumps(make_gate()))
    (root / "sanity.json").write_text(json.dumps(make_sanity()))
    dataset: Any = FakeDataset()
    build_site(
        root / "results",
        root / "site",
        dataset=dataset,
        gate=root / "gate.json",
        sanity=root / "sanity.json",
        judgements=root / "judgements",
    )
    return root / "site"


@pytest.fixture(scope="session")
def full_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of bare records and of submissions of every kind; tests only read it."""
    from leaderboard import build_site

    root = tmp_path_factory.mktemp("full")
    (root / "results").mkdir()
    for index, record in enumerate(make_records()[:6]):
        (root / "results" / f"{index}.json").write_text(json.dumps(record))
    (root / "judgements").mkdir()
    judgement = make_judgement(make_records()[0], "annotations")
    (root / "judgements" / "0.json").write_text(json.dumps(judgement))
    (root / "sanity.json").write_text(json.dumps(make_sanity()))
    dataset: Any = FakeDataset()
    build_site(
        root / "results",
        root / "site",
        submissions=write_submissions(root / "submissions"),
        dataset=dataset,
        judgements=root / "judgements",
        sanity=root / "sanity.json",
    )
    return root / "site"
