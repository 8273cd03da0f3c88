"""Entries side by side, in a browser and in the scripts that carry their concepts."""

import html
import json
import re
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from result_records import make_record
from site_browser import follow, opened
from site_submissions import board_page

from leaderboard.views.compare import concept_names, script_json

PAIR = ("exposed-jumprelu", "plain-topk")


def pick(page: Any, *names: str) -> None:
    for name in names:
        page.get_by_role("checkbox", name=f"Compare {name}", exact=True).check()


def lines(page: Any, caption: str) -> list[list[str]]:
    """Rows of the table with that caption, cell by cell."""
    rows = page.locator("#compare table", has_text=caption).locator("tbody tr")
    return [
        [" ".join(text.split()) for text in row.locator("th, td").all_inner_texts()]
        for row in rows.all()
    ]


def test_two_side_by_side_with_their_difference(browser: Any, full_site: Path) -> None:
    with opened(browser) as page:
        page.goto(board_page(full_site).as_uri())
        assert page.locator("#compare").is_hidden()
        pick(page, "Exposed jumprelu")
        assert page.get_by_role("button", name="Compare", exact=True).is_disabled()
        pick(page, "Plain topk")
        page.get_by_role("button", name="Compare", exact=True).click()
        page.locator("#compare h3").wait_for()
        scores = {row[0]: row[1:] for row in lines(page, "Bold")}
        concepts = {row[0]: row[1:] for row in lines(page, "differ most")}
        url = page.url
    records = {name: record_of(full_site, name) for name in PAIR}
    held_out = [records[name]["scores"]["match_score"]["value"] for name in PAIR]
    assert scores["MATCHScore held-out"][0].startswith(f"{held_out[0]:.3f}")
    assert scores["MATCHScore held-out"][2].split()[0] == signed(held_out[0] - held_out[1])
    rows = {
        row["concept"]: [row["f1"]] for name in PAIR[:1] for row in records[name]["per_concept"]
    }
    for row in records[PAIR[1]]["per_concept"]:
        rows[row["concept"]].append(row["f1"])
    assert concepts == {
        concept: [f"{one:.3f}", f"{other:.3f}", signed(one - other)]
        for concept, (one, other) in rows.items()
    }
    assert url.endswith("#compare=exposed-jumprelu,plain-topk")


def test_bold_is_what_intervals_tell_apart(browser: Any, full_site: Path) -> None:
    with opened(browser) as page:
        page.goto(board_page(full_site).as_uri() + f"#compare={','.join(PAIR)}")
        page.locator("#compare h3").wait_for()
        told = page.locator("#compare-scores").inner_text()
        rows = page.locator("#compare table.side tbody tr")
        shown = {
            row.locator("th").inner_text(): [
                "best" in (cell.get_attribute("class") or "")
                for cell in row.locator("td").all()[:2]
            ]
            for row in rows.all()
        }
        position = page.locator("[data-tray]").evaluate("tray => getComputedStyle(tray).position")
        page.locator("table.leader .pick input").nth(5).check()
        page.locator("#compare table.side thead th:nth-child(4)").wait_for()
        assert "the best value" in page.locator("#compare-scores").inner_text()
    assert "the better value" in told
    assert "nothing is bold where the order is not settled" in told
    assert position == "static"  # it covers nothing of the comparison
    scores = [record_of(full_site, name)["scores"] for name in PAIR]
    for head, key in (("MATCHScore held-out", "match_score"), ("TAPAScore", "tapa_score")):
        (low, high), (other_low, other_high) = (each[key]["ci95"] for each in scores)
        assert shown[head] == [low > other_high, other_low > high]


def record_of(site: Path, name: str) -> dict[str, Any]:
    (path,) = (site / "records").glob(f"{name}.synavatars-efficientnet*.json")
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def signed(value: float) -> str:
    text = f"{value:.3f}".replace("-", "−")
    return text.lstrip("−") if not text.strip("−0.") else text


def test_an_address_opens_a_comparison(browser: Any, full_site: Path) -> None:
    with opened(browser) as page:
        page.goto(board_page(full_site).as_uri() + f"#compare={','.join(PAIR)}")
        page.locator("#compare h3").wait_for()
        assert page.locator("#compare table").first.locator("thead a").all_inner_texts() == [
            "Exposed jumprelu",
            "Plain topk",
        ]
        page.get_by_label("Number").select_option("add")
        assert any(row[1] == "n/a" for row in lines(page, "differ most"))
        page.get_by_role("button", name="Clear").click()
        assert page.locator("#compare").is_hidden()
        assert "compare" not in page.url


def test_four_at_most(browser: Any, full_site: Path) -> None:
    with opened(browser) as page:
        page.goto(board_page(full_site).as_uri())
        boxes = page.locator("table.leader .pick input")
        for index in range(4):
            boxes.nth(index).check()
        assert boxes.nth(4).is_disabled()
        page.get_by_role("button", name="Compare", exact=True).click()
        page.locator("#compare h3").wait_for()
        assert len(lines(page, "differ most")[0]) == 6
        boxes.nth(0).uncheck()
        assert boxes.nth(4).is_enabled()
        page.locator("#compare thead th:nth-child(5)").first.wait_for()
        assert len(lines(page, "Bold")[0]) == 4


def test_without_script_there_are_links_instead(browser: Any, full_site: Path) -> None:
    with opened(browser, java_script_enabled=False) as page:
        page.goto(board_page(full_site).as_uri())
        assert page.get_by_text("need JavaScript").is_visible()
        assert page.locator(".tray, #compare, .pick").locator("visible=true").count() == 0
        follow(page, page.locator("table.leader tbody th.name a").first)
        assert page.locator("table.concepts tbody tr").count() > 20


def test_every_entry_has_its_script_in_the_order_of_the_page(full_site: Path) -> None:
    board = board_page(full_site)
    text = board.read_text()
    ids = re.findall(r'<tr data-id="([^"]+)"', text)
    found = re.search(r'data-concepts="([^"]*)"', text)
    assert found is not None
    names = json.loads(html.unescape(found[1]))
    assert names == sorted({row["concept"] for row in make_record()["per_concept"]})
    for sae in ids:
        script = full_site / "compare" / board.stem / f"{sae}.js"
        document = json.loads(script.read_text().removeprefix("assayConcepts(").rstrip(");\n"))
        record = {row["concept"]: row for row in record_of(full_site, sae)["per_concept"]}
        assert document["id"] == sae
        assert document["f1"] == [round(record[name]["f1"], 5) for name in names]


@given(st.text(max_size=60))
def test_no_text_ends_a_script(text: str) -> None:
    found = script_json({"id": text})
    assert not set("<>&\u2028\u2029") & set(found)
    assert json.loads(found) == {"id": text}


def test_a_large_vocabulary_fits_an_attribute() -> None:
    names = tuple(f"has wing pattern: number {index} of <many> & more" for index in range(400))
    assert json.loads(html.unescape(concept_names(names))) == sorted(names)
    assert json.loads(html.unescape(concept_names(("a\u202e" + "b" * 500,))))[0].startswith(
        "a\ufffd"
    )
