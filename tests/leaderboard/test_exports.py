"""Tables, API, feed and map: the same numbers to the last digit, and harmless in a spreadsheet."""

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow.parquet as pq
import pytest
from generator_documents import make_generator
from result_records import make_record, score
from site_submissions import (
    board_page,
    generator_submission,
    measured,
    sae_submission,
    write_submission,
)

from leaderboard import build_site
from leaderboard.definitions import COLUMNS, GENERATOR_COLUMNS
from leaderboard.exports.tables import unformula
from leaderboard.reading.concepts import COLUMNS as CONCEPT_COLUMNS

BASE = "https://example.org/assay/"
FORMULA = '=HYPERLINK("https://example.org";"x")'
Rows = dict[str, dict[str, float | None]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Awkward numbers and names, on a board of SAEs and one of generators."""
    root = tmp_path_factory.mktemp("exports")
    for index, value in enumerate((0.1 + 0.2, 1e-7, 0.07000000000000001, 1 / 3)):
        record = measured(f"sae-{index}", index)
        record["scores"]["delta_match_score"] = score(value, 0.0123456789012345)
        record["scores"]["tapa_score"] = score(None) if index == 2 else score(value / 7)
        record["scores"]["l0"] = score(32, None)
        record["per_concept"][0]["concept"] = "+1 concept"
        record["submission"]["name"] = FORMULA if index == 1 else f"-{index}"
        submission = sae_submission(record)
        write_submission(root / "submissions", "saes", submission, record)
    for document in (make_generator("one", 0.3), make_generator("two", 0.1)):
        write_submission(
            root / "submissions", "generators", generator_submission(document), document
        )
    out = root / "site"
    build_site(None, out, submissions=root / "submissions", base_url=BASE, workers=1)
    return out


class _Table(HTMLParser):
    """``data-value`` of the cells of the board's rows, by the id their link leads to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.rows: list[tuple[str, list[str | None]]] = []
        self._cells: list[str | None] = []
        self._id = ""
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "tr":
            self._cells, self._id = [], ""
        elif tag == "td" and "num" in str(found.get("class", "")).split():
            self._cells.append(found.get("data-value"))
        elif tag == "a" and not self._id:
            link = re.match(r"\.\./(?:saes|generators)/([^.]+)\.html", str(found.get("href")))
            self._id = link[1] if link else ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "tr" and self._id and self._cells:
            self.rows.append((self._id, self._cells))


def keys(generators: bool) -> list[str]:
    return [column.key for column in (GENERATOR_COLUMNS if generators else COLUMNS)]


def from_table(page: Path, generators: bool) -> Rows:
    wanted, rows = keys(generators), {}
    for name, cells in _Table(page).rows:
        values = cells[-len(wanted) :]
        numbers = [None if value is None else float(value) for value in values]
        rows.setdefault(name, dict(zip(wanted, numbers, strict=True)))
    return rows


def from_csv(path: Path, generators: bool) -> Rows:
    with path.open(newline="", encoding="utf-8") as stream:
        return {
            row["id"]: {key: float(row[key]) if row[key] else None for key in keys(generators)}
            for row in csv.DictReader(stream)
        }


def picked(rows: list[dict[str, Any]], generators: bool) -> Rows:
    return {row["id"]: {key: row[key] for key in keys(generators)} for row in rows}


@pytest.mark.parametrize("generators", [False, True])
def test_all_five_formats_hold_the_same_numbers(site: Path, generators: bool) -> None:
    pages = sorted((site / "boards").glob("*.html"))
    page = next(p for p in pages if p.name.startswith("generators") == generators)
    table = from_table(page, generators)
    data = site / "data" / page.stem
    text = json.loads(data.with_suffix(".json").read_text())
    parquet = pq.read_table(data.with_suffix(".parquet")).to_pylist()
    api = json.loads((site / "api" / "v1" / "boards" / f"{page.stem}.json").read_text())
    from_api = {
        entry["id"]: {
            key: entry["scores"].get(key, {"value": None})["value"] for key in keys(generators)
        }
        for entry in api["entries"]
    }
    records = {
        path.name.partition(".")[0]: json.loads(path.read_text())["scores"]
        for path in (site / "records").glob(f"*.{page.stem}.json")
    }
    assert len(table) == (2 if generators else 4)
    assert from_csv(data.with_suffix(".csv"), generators) == table
    assert picked(text["rows"], generators) == table
    assert picked(parquet, generators) == table
    assert from_api == table
    for name, row in table.items():
        for key, value in row.items():
            assert records[name].get(key, {"value": None})["value"] == value


def test_intervals_counts_and_ranks_are_exported(site: Path) -> None:
    page = board_page(site)
    (first, *_) = json.loads((site / "data" / f"{page.stem}.json").read_text())["rows"]
    assert first["rank"] == 1
    own = json.loads((site / first["record"]).read_text())["scores"]["delta_match_score"]
    low, high = own["ci95"]
    assert [first[f"delta_match_score{end}"] for end in ("_low", "_high", "_n")] == [low, high, 800]
    assert (site / first["page"].partition("#")[0]).is_file()


def test_concepts_are_those_of_the_records(site: Path) -> None:
    stem = board_page(site).stem
    table = pq.read_table(site / "data" / f"{stem}.concepts.parquet").to_pylist()
    with (site / "data" / f"{stem}.concepts.csv").open(newline="", encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    assert len(table) == len(lines) == 4 * len(make_record()["per_concept"])
    record = json.loads((site / "records" / f"sae-0.{stem}.json").read_text())
    own = [row for row in table if row["id"] == "sae-0"]
    for row, line, found in zip(
        own, [x for x in lines if x["id"] == "sae-0"], record["per_concept"], strict=True
    ):
        assert row["concept"] == found["concept"]
        for name in CONCEPT_COLUMNS:
            assert row[name] == found[name]
            assert (float(line[name]) if line[name] else None) == found[name]


def test_no_cell_begins_a_formula(site: Path) -> None:
    for path in sorted((site / "data").glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as stream:
            for row in csv.reader(stream):
                for cell in row:
                    if cell.startswith(("=", "+", "-", "@", "\t", "\r")):
                        float(cell)  # only numbers may
    stem = board_page(site).stem
    lines = (site / "data" / f"{stem}.csv").read_text()
    assert "'=HYPERLINK" in lines
    assert "'-0" in lines
    rows = json.loads((site / "data" / f"{stem}.json").read_text())["rows"]
    assert FORMULA in [row["name"] for row in rows]


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\tx", "\rx", "\n=1"])
def test_text_like_a_formula_is_marked(text: str) -> None:
    assert unformula(text) == f"'{text}"


@pytest.mark.parametrize("value", [-1, -0.5, None, "a=1", "", "'=1"])
def test_other_values_stay(value: Any) -> None:
    assert unformula(value) == value


def test_the_api_leads_from_its_index_to_everything(site: Path) -> None:
    index = json.loads((site / "api" / "v1" / "index.json").read_text())
    assert len(index["boards"]) == 2
    assert len(index["entries"]) == 6
    for item in (*index["boards"], *index["entries"]):
        assert json.loads((site / item["api"]).read_text())["api_version"] == 1
    entry = json.loads((site / "api" / "v1" / "entries" / "sae-0.json").read_text())
    assert entry["submission"]["licence"] == "Apache-2.0"
    (place,) = entry["boards"]
    for key in ("badge", "record"):
        assert (site / place[key]).is_file()


def test_the_map_holds_every_page_and_the_feed_every_entry(site: Path) -> None:
    names = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "a": "http://www.w3.org/2005/Atom"}
    found = ET.parse(site / "sitemap.xml").findall("s:url/s:loc", names)
    pages = {BASE + path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert {element.text for element in found} == pages
    entries = ET.parse(site / "feed.xml").findall("a:entry", names)
    assert len(entries) == 6
    for entry in entries:
        link = entry.find("a:link", names)
        assert link is not None
        path = link.attrib["href"].removeprefix(BASE).partition("#")[0]
        assert (site / path).is_file()
        assert entry.findtext("a:updated", "", names).endswith("Z")
    assert 'href="feed.xml"' in (site / "index.html").read_text()


def test_without_an_address_there_is_no_map_and_no_feed(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "a.json").write_text(json.dumps(make_record()))
    site = build_site(tmp_path / "results", tmp_path / "site").parent
    assert not (site / "sitemap.xml").exists()
    assert not (site / "feed.xml").exists()
    assert "feed.xml" not in (site / "index.html").read_text()
