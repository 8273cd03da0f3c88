"""The built site in a real browser, from file:// and under its own security policy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judgement_documents import make_judgement
from result_records import make_record, score
from site_browser import column, follow, names, opened
from site_submissions import board_page

from leaderboard import build_site

PAGES = (
    "index.html",
    "boards/*.html",
    "metrics.html",
    "methods.html",
    "saes/demo-topk-512-s0.html",
    "saes/*/latents-annotations-*",
)

LOADED = """all => Promise.all(
    all.map(i => i.complete || new Promise(done => { i.onload = i.onerror = done }))
)"""


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_are_quiet_and_fit(
    browser: Any, demo_site: Path, name: str, scheme: str, width: int
) -> None:
    with opened(browser, width, color_scheme=scheme) as page:
        page.goto(min(demo_site.glob(name)).as_uri())
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width
        ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
        # Pictures far down the page, or in closed details, load when they come near.
        page.locator("details").evaluate_all("all => all.forEach(d => { d.open = true })")
        page.locator("img").evaluate_all("all => all.forEach(i => { i.loading = 'eager' })")
        # not wait_for_function, whose polling the page's own policy forbids
        page.locator("img").evaluate_all(LOADED)
        assert page.locator("img").evaluate_all("all => all.every(i => i.naturalWidth > 0)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_sorting_both_ways_keeps_missing_last(
    browser: Any, write_results: Callable[..., Path]
) -> None:
    records = [make_record("topk", d) for d in (128, 256, 512, 1024)]
    records[1]["scores"]["tapa_score"] = score(None)
    results = write_results(records)
    index = build_site(results, results.parent / "site")
    with opened(browser) as page:
        page.goto(board_page(index.parent).as_uri())
        button = page.get_by_role("button", name="Sort by TAPAScore", exact=True)
        head = page.locator("th", has=button)
        button.click()
        assert head.get_attribute("aria-sort") == "descending"
        down = column(page, 8)
        button.focus()
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "ascending"
        up = column(page, 8)
        assert down[-1] is None
        assert up[-1] is None
        assert down[:-1] == sorted(up[:-1], key=lambda value: -(value or 0.0))
        assert page.locator("th[aria-sort]").count() == 1


def test_filter_and_search(browser: Any, demo_site: Path) -> None:
    with opened(browser) as page:
        page.goto(board_page(demo_site).as_uri())
        everything = names(page)
        page.get_by_role("combobox", name="Architecture").select_option("topk")
        page.get_by_role("combobox", name="Dictionary size").select_option("512")
        assert sorted(names(page)) == [f"TopK 512 (seed {seed})" for seed in range(3)]
        assert page.get_by_role("status").inner_text() == f"3 of {len(everything)} shown"
        page.get_by_role("searchbox", name="Search").fill("SEED 2")
        assert names(page) == ["TopK 512 (seed 2)"]
        for label in ("Architecture", "Dictionary size"):
            page.get_by_role("combobox", name=label).select_option("")
        page.get_by_role("searchbox", name="Search").fill("")
        assert names(page) == everything


def test_reads_without_script(browser: Any, demo_site: Path) -> None:
    with opened(browser, java_script_enabled=False) as page:
        page.goto(board_page(demo_site).as_uri())
        assert page.locator("table.leader tbody tr").count() == 19
        assert not page.locator(".tools").first.is_visible()
        assert page.locator("svg[role=img]:visible").count() >= 5
        follow(page, page.locator("table.leader tbody th.name a").first)
        assert page.locator("h1").inner_text() != ""
        assert page.locator("table.concepts tbody tr").count() > 20


def test_links_lead_from_board_to_definition(browser: Any, demo_site: Path) -> None:
    with opened(browser) as page:
        page.goto(board_page(demo_site).as_uri())
        follow(page, page.locator("table.leader thead").get_by_role("link", name="Δstay"))
        assert page.url.endswith("metrics.html#delta-stay")
        page.locator("#delta-stay h3").wait_for()


def test_the_name_stays_in_sight_while_the_table_scrolls(browser: Any, demo_site: Path) -> None:
    with opened(browser, 390) as page:
        page.goto(board_page(demo_site).as_uri())
        scroller = page.locator(".board .scroller").first
        scroller.evaluate("element => { element.scrollLeft = 400 }")
        assert scroller.evaluate("element => element.scrollLeft") == 400
        box = page.locator("table.leader tbody th.name").first.bounding_box()
        assert 0 <= box["x"] < 60


def test_hostile_records_do_nothing(
    browser: Any, write_results: Callable[..., Path], write_judgements: Callable[..., Path]
) -> None:
    hostile = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'" + "W" * 130 + "\u202e"
    record = make_record(submission={"name": hostile, "architecture": hostile[:64]})
    record["dataset"]["name"] = record["encoder"]["name"] = hostile
    for index, row in enumerate(record["per_concept"]):
        row["concept"] = f"{hostile}{index}"
    for pair in record["pair_examples"]:
        pair |= {"added": f"{hostile}0", "delta_add": 1, "removed": None, "delta_rem": None}
    judgement = make_judgement(record, f"openai/{hostile}"[:200], per_quartile=2, text=True)
    judgement["contexts"] = dict.fromkeys(judgement["contexts"], f"{hostile}«{hostile}»")
    for latent in judgement["latents"]:
        latent["explanation"] = hostile[:200]
    results = write_results([record, make_record("relu", 256)])
    folder = write_judgements([judgement])
    index = build_site(results, results.parent / "site", judgements=folder)
    pages = index.parent / "saes"
    for path in (index, *pages.glob("demo-topk-512-s0.html"), *pages.glob("*/latents-*.html")):
        with opened(browser, 390) as page:
            page.goto(path.as_uri())
            assert page.locator("img[src=x]").count() == 0
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
