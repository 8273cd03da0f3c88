"""What the built pages hold, and that they hold it for good."""

import html
import json
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from result_records import make_gate, make_record, make_records, score
from site_submissions import board_page

from benchmark.errors import UserError
from leaderboard import build_site

Writer = Callable[..., Path]
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7*7 }}&amp;\u202e"


class Page(HTMLParser):
    """Tags with attributes, and rows of cell texts."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self._open = False
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
            self._open = True

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._open:
            self.rows[-1][-1] += data


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_the_same_records_give_the_same_bytes(write_results: Writer, fake_dataset: Any) -> None:
    records = make_records()[:4]
    first = write_results(records, "first")
    second = write_results(records[::-1], "second")
    gate = first.parent / "gate.json"
    gate.write_text(json.dumps(make_gate()))
    built = [
        files(build_site(r, r.parent / f"{r.name}-site", dataset=fake_dataset, gate=gate).parent)
        for r in (first, second)
    ]
    assert built[0] == built[1]


def test_pages_of_a_demo(demo_site: Path) -> None:
    names = {str(page.relative_to(demo_site)) for page in pages(demo_site)}
    assert {"index.html", "metrics.html", "methods.html"} <= names
    assert len([n for n in names if re.fullmatch("saes/[^/]+", n)]) == len(make_records())


def test_every_link_leads_somewhere(demo_site: Path) -> None:
    for page in pages(demo_site):
        for tag, attributes in Page(page).tags:
            target = attributes.get("href" if tag in ("a", "link") else "src")
            if target is None:
                continue
            if target.startswith("https://arxiv.org/"):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path) if path else page
            assert file.is_file(), f"{page.name}: {target}"
            if anchor:
                assert f'id="{anchor}"' in file.read_text(), f"{page.name}: {target}"


def test_pages_hold_nothing_inline(demo_site: Path) -> None:
    for page in pages(demo_site):
        text = page.read_text()
        assert text.count('http-equiv="Content-Security-Policy"') == 1
        for tag, attributes in Page(page).tags:
            assert tag not in ("style", "iframe", "object", "base", "form"), page
            assert tag != "script" or attributes.get("src"), page
            assert not [name for name in attributes if name == "style" or name.startswith("on")]


def test_ids_are_unique(demo_site: Path) -> None:
    for page in pages(demo_site):
        ids = [attributes["id"] for _, attributes in Page(page).tags if "id" in attributes]
        assert len(ids) == len(set(ids)), page


def test_figures_have_a_text_alternative(demo_site: Path) -> None:
    text = (demo_site / "index.html").read_text() + board_page(demo_site).read_text()
    figures = re.findall(r"<svg[^>]*role=\"img\".*?</svg>", text, re.S)
    assert len(figures) >= 12
    for figure in figures:
        assert re.search(r"<title id=\"[^\"]+\">[^<]+</title>", figure)
        assert re.search(r"<desc id=\"[^\"]+\">[^<]{20,}</desc>", figure)


def test_column_headers_lead_to_their_definitions(demo_site: Path) -> None:
    anchors = [
        str(attributes["href"]).removeprefix("../metrics.html#")
        for tag, attributes in Page(board_page(demo_site)).tags
        if tag == "a" and attributes.get("class") == "def" and attributes.get("title")
    ]
    assert {"delta-match-score", "tapa-score", "enrichment-q1", "rank"} <= set(anchors)


def test_missing_scores_are_na_and_last(write_results: Writer) -> None:
    records = [make_record("topk", 512, seed) for seed in range(3)]
    del records[0]["scores"]["delta_match_score"]
    records[1]["scores"]["tapa_score"] = score(None)
    site = build_site(write_results(records), write_results([], "x") / "site").parent
    rows = [row for row in Page(board_page(site)).rows if row and "seed" in "".join(row)]
    assert [row[0].split() for row in rows][-1] == ["n/a"]
    assert "seed 0" in rows[-1][1]
    assert rows[-1][4].strip() == "n/a"
    without = next(row for row in rows if "seed 1" in row[1])
    assert without[7].strip() == "n/a"
    assert "nan" not in (site / "index.html").read_text().lower().split()


def test_ties_share_a_rank(write_results: Writer) -> None:
    records = [make_record("topk", 512, seed) for seed in range(3)]
    for record, value in zip(records, (0.1, 0.2, 0.2), strict=True):
        record["scores"]["delta_match_score"] = score(value, 0.001)
    site = build_site(write_results(records), write_results([], "x") / "site").parent
    rows = [row for row in Page(board_page(site)).rows if row and "seed" in "".join(row)]
    assert [row[0].split()[0] for row in rows] == ["1", "1", "3"]
    assert [row[0].split()[1] for row in rows] == ["1–2", "1–2", "3"]


def test_boards_of_different_data_are_apart(write_results: Writer) -> None:
    other = make_record("topk", 512, 1, dataset={"fingerprint": "ab" * 32})
    again = make_record("topk", 512, 0, dataset={"fingerprint": "ab" * 32})
    results = write_results([make_record(), other, again])
    site = build_site(results, results.parent / "site").parent
    assert (site / "index.html").read_text().count('<section class="board"') == 2
    text = (site / "saes" / "demo-topk-512-s0.html").read_text()
    assert text.count("<h3>All scores</h3>") == 2
    assert len(list((site / "records").iterdir())) == 3


def hostile_record() -> dict[str, Any]:
    record = make_record("topk")
    record["submission"] |= {"name": HOSTILE, "architecture": HOSTILE[:60]}
    record["dataset"] |= {"name": HOSTILE, "revision": HOSTILE}
    record["encoder"] |= {"name": HOSTILE, "preprocessing": HOSTILE}
    record["environment"] |= {"platform": HOSTILE, "packages": {HOSTILE: HOSTILE[:60]}}
    record["protocol"] |= {"matcher": HOSTILE[:60], "note": HOSTILE}
    record["per_concept"][0]["concept"] = HOSTILE
    record["per_concept"][1]["concept"] = "javascript:alert(3)"
    record["pair_examples"][0] |= {"pair_id": HOSTILE, "added": HOSTILE}
    record["scores"]["tapa_score"] = score(None, None, 0, **{HOSTILE: 2})
    return record


def test_hostile_text_stays_text(write_results: Writer) -> None:
    results = write_results([hostile_record(), make_record("topk", 256)])
    site = build_site(results, results.parent / "site").parent
    for page in pages(site):
        text = page.read_text()
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "49" not in re.findall(r"onerror=alert\(2\)&gt;(\d+)", text)
        assert "\u202e" not in text
        for tag, attributes in Page(page).tags:
            for name in ("href", "src"):
                assert not str(attributes.get(name, "")).startswith("javascript:"), tag
    sae = (site / "saes" / "demo-topk-512-s0.html").read_text()
    assert html.escape("<script>alert(1)</script>") in sae
    assert "{{ 7*7 }}" in sae


def test_pictures_are_shown_once_each(demo_site: Path) -> None:
    images = list((demo_site / "img").iterdir())
    assert images
    assert len({path.read_bytes() for path in images}) == len(images)
    text = (demo_site / "saes" / "demo-topk-512-s0.html").read_text()
    assert text.count('<img src="../img/') >= 12
    assert "numbers only" not in text


@pytest.mark.parametrize(
    ("name", "fingerprint", "reason"),
    [
        ("synavatars", "00" * 32, "fingerprints differ"),
        ("other", None, "Built without|fingerprints differ"),
        (None, None, "Built without the dataset"),
    ],
)
def test_without_the_right_pictures_numbers_only(
    write_results: Writer,
    fake_dataset: Any,
    name: str | None,
    fingerprint: str | None,
    reason: str,
) -> None:
    dataset = None
    if name is not None:
        dataset = type(fake_dataset)(name, fingerprint or fake_dataset.fingerprint)
    results = write_results([make_record()])
    site = build_site(results, results.parent / "site", dataset=dataset).parent
    text = (site / "saes" / "demo-topk-512-s0.html").read_text()
    assert "/img/" not in text
    assert re.search(reason, text)
    assert not (site / "img").exists()


def test_pictures_of_other_datasets_are_not_published(
    write_results: Writer, fake_dataset: Any
) -> None:
    record = make_record(dataset={"name": "cub"})
    results = write_results([record])
    dataset = type(fake_dataset)("cub")
    site = build_site(results, results.parent / "site", dataset=dataset).parent
    assert not (site / "img").exists()
    assert "licence" in (site / "saes" / "demo-topk-512-s0.html").read_text()


def test_a_record_without_pairs_or_details_still_has_its_page(write_results: Writer) -> None:
    record = make_record()
    for key in ("bounds", "counts", "dominance", "redundancy", "pair_examples"):
        del record[key]
    record["scores"] = {"match_score": score(0.4), "l0": score(32.0, None)}
    record["baselines"] = {}
    results = write_results([record])
    site = build_site(results, results.parent / "site").parent
    text = (site / "saes" / "demo-topk-512-s0.html").read_text()
    assert "Not ranked: ΔMATCHScore is n/a." in text
    assert "<h3>Concept by concept</h3>" in text
    assert "Edits it follows" not in text


def test_the_record_beside_the_page_is_the_record(demo_site: Path) -> None:
    (path,) = (demo_site / "records").glob("demo-topk-512-s0.*.json")
    assert json.loads(path.read_text()) == make_record()


def test_only_an_earlier_site_is_replaced(write_results: Writer) -> None:
    results = write_results([make_record()])
    out = results.parent / "out"
    out.mkdir()
    build_site(results, out)
    (out / "stale.html").write_text("old")
    build_site(results, out)
    assert not (out / "stale.html").exists()
    shutil.rmtree(out)
    out.mkdir()
    (out / "thesis.tex").write_text("precious")
    with pytest.raises(UserError, match="not empty"):
        build_site(results, out)
    assert (out / "thesis.tex").read_text() == "precious"
    for holds in (results, results.parent):
        with pytest.raises(UserError, match="holds the results"):
            build_site(results, holds)


def test_a_failed_build_leaves_the_old_site(write_results: Writer) -> None:
    results = write_results([make_record()])
    index = build_site(results, results.parent / "site")
    before = files(index.parent)
    (results / "broken.json").write_text("{")
    with pytest.raises(UserError, match=r"broken\.json"):
        build_site(results, index.parent)
    assert files(index.parent) == before
    assert not [p for p in results.parent.iterdir() if p.name.endswith((".tmp", ".old"))]


def test_a_broken_gate_is_named(write_results: Writer) -> None:
    results = write_results([make_record()])
    gate = results.parent / "gate.json"
    gate.write_text(json.dumps(make_gate() | {"passed": "yes"}))
    with pytest.raises(UserError, match=r"gate\.json: 1 problem.*passed: found \"yes\""):
        build_site(results, results.parent / "site", gate=gate)
