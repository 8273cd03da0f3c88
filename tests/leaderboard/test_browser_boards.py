"""A board's own page in a browser: filters, columns, the address, citations, phones."""

import shutil
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from result_records import make_record
from site_browser import column, names, opened
from site_submissions import board_page

from leaderboard.building.templating import make_environment
from leaderboard.ranking.boards import make_boards
from leaderboard.reading.records import Record
from leaderboard.views.board import view_board


def choose(page: Any, label: str, value: str) -> None:
    page.get_by_role("combobox", name=label, exact=True).select_option(value)


def test_filters_of_submissions(browser: Any, full_site: Path) -> None:
    with opened(browser) as page:
        page.goto(board_page(full_site).as_uri())
        everything = names(page)
        assert len(everything) == 8
        choose(page, "Licence", "MIT")
        assert names(page) == ["Plain topk"]
        choose(page, "Licence", "")
        choose(page, "Score data", "exposed")
        assert names(page) == ["Exposed jumprelu"]
        choose(page, "Score data", "")
        choose(page, "Judge", "annotations")
        assert names(page) == ["TopK 128 (seed 0)"]
        page.get_by_role("button", name="Reset").click()
        assert names(page) == everything
        assert page.get_by_role("status").first.inner_text() == ""


def test_the_address_holds_what_the_reader_chose(browser: Any, full_site: Path) -> None:
    with opened(browser) as page:
        page.goto(board_page(full_site).as_uri())
        page.get_by_role("button", name="Sort by TAPAScore", exact=True).click()
        page.get_by_role("searchbox", name="Search").fill("topk")
        choose(page, "Dictionary size", "256")
        page.locator(".picker summary").click()
        page.get_by_role("checkbox", name="L0").uncheck()
        chosen, url = names(page), page.url
    assert "sort=tapa-score:desc" in url
    assert "hide=l0" in url
    with opened(browser) as page:
        page.goto(url)
        assert names(page) == chosen
        assert page.get_by_role("searchbox", name="Search").input_value() == "topk"
        assert page.locator("th[aria-sort]").get_attribute("data-key") == "tapa-score"
        assert not page.locator("th[data-key=l0]").is_visible()
        page.get_by_role("button", name="Reset").click()
        assert len(names(page)) == 8
        assert "=" not in page.url
        assert page.locator("th[data-key=l0]").is_visible()
        assert page.locator("th[aria-sort]").get_attribute("data-key") == "delta-match-score"


def test_a_strange_address_changes_nothing(browser: Any, full_site: Path) -> None:
    with opened(browser) as page:
        page.goto(board_page(full_site).as_uri())
        everything = names(page)
    with opened(browser) as page:
        strange = "#sort=nothing:asc&architecture=%3Cimg%3E&hide=rank,__proto__&compare=a,b,%22"
        page.goto(board_page(full_site).as_uri() + strange)
        assert names(page) == everything
        assert page.locator("#compare").is_hidden()


def test_columns_can_be_taken_away(browser: Any, full_site: Path) -> None:
    with opened(browser) as page:
        page.goto(board_page(full_site).as_uri())
        page.locator(".picker summary").click()
        boxes = page.locator(".choices input")
        boxes.evaluate_all("all => all.forEach((box) => box.click())")
        assert page.locator("table.leader thead th:visible").count() == 2
        shown = page.locator("table.leader tr:visible").evaluate_all(
            "rows => rows.map(row => [...row.cells].filter(c => c.checkVisibility()).length)"
        )
        assert len(shown) > 8
        assert set(shown) == {2}
        boxes.first.check()
        assert page.locator("table.leader thead th:visible").count() == 3


def test_the_smallest_stands_first_where_less_is_better(browser: Any, full_site: Path) -> None:
    with opened(browser) as page:
        page.goto(board_page(full_site).as_uri())
        page.get_by_role("button", name="Sort by Δstay", exact=True).click()
        at = page.locator("table.leader thead th").evaluate_all(
            "all => all.findIndex(th => th.dataset.key === 'delta-stay') + 1"
        )
        values = column(page, at)
        assert values == sorted(values)


def test_citations_are_copied(browser: Any, full_site: Path) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    with opened(browser, permissions=permissions) as page:
        page.goto((full_site / "saes" / "exposed-jumprelu.html").as_uri())
        seen = set()
        for label in ("Text", "APA", "BibTeX", "CSL-JSON"):
            block = page.locator(f'.copyable[data-copy="{label}"]')
            if label != "Text":
                page.locator("summary", has_text=label).click()
            page.get_by_role("button", name=f"Copy {label}", exact=True).click()
            page.locator(".copy:focus", has_text="Copied").wait_for()
            copied = page.evaluate("navigator.clipboard.readText()")
            assert copied.strip() == block.locator("code").inner_text().strip()
            assert "xposed jumprelu" in copied or "exposed-jumprelu" in copied
            seen.add(copied)
        assert len(seen) == 4


def test_without_the_clipboard_the_text_is_selected(browser: Any, full_site: Path) -> None:
    with opened(browser) as page:
        page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        page.goto((full_site / "saes" / "exposed-jumprelu.html").as_uri())
        page.get_by_role("button", name="Copy Text", exact=True).click()
        page.locator(".copy", has_text="Selected").wait_for()
        assert "exposed-jumprelu" in page.evaluate("getSelection().toString()")


def test_a_phone_has_all_of_it(browser: Any, full_site: Path) -> None:
    with opened(browser, 390, has_touch=True) as page:
        page.goto(board_page(full_site).as_uri())
        choose(page, "Architecture", "jumprelu")
        assert names(page) == ["Exposed jumprelu"]
        page.get_by_role("checkbox", name="Compare Exposed jumprelu").tap()
        choose(page, "Architecture", "")
        page.get_by_role("checkbox", name="Compare Plain topk").tap()
        page.get_by_role("button", name="Compare", exact=True).tap()
        page.locator("#compare h3").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_keyboard_is_enough(browser: Any, full_site: Path) -> None:
    with opened(browser) as page:
        page.goto(board_page(full_site).as_uri())
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.get_by_role("searchbox", name="Search").focus()
        page.keyboard.type("plain")
        page.get_by_role("checkbox", name="Compare Plain topk").focus()
        page.keyboard.press("Space")
        assert page.locator(".tray").is_visible()
        page.locator(".scroller").first.focus()
        before = page.locator(".scroller").first.evaluate("e => e.scrollLeft")
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(300)
        assert page.locator(".scroller").first.evaluate("e => e.scrollLeft") > before


def test_a_board_of_generators_sorts_and_compares(browser: Any, full_site: Path) -> None:
    with opened(browser) as page:
        page.goto(min(full_site.glob("boards/generators*.html")).as_uri())
        assert names(page)[0] == "Demo same"
        page.get_by_role("button", name="Sort by PaD", exact=True).click()
        page.get_by_role("button", name="Sort by PaD", exact=True).click()
        assert names(page)[0] == "Demo many glasses"
        for name in ("Demo same", "Demo more glasses"):
            page.get_by_role("checkbox", name=f"Compare {name}", exact=True).check()
        page.get_by_role("button", name="Compare", exact=True).click()
        assert page.locator("#compare tbody tr", has_text="SaD").first.is_visible()
        said = page.locator("#compare").inner_text()
        assert "ranges meet" in said or "ranges apart" in said
        assert "interval" not in said


def test_paper_shows_what_is_folded_in_and_no_controls(browser: Any, full_site: Path) -> None:
    with opened(browser) as page:
        page.goto(board_page(full_site).as_uri())
        page.emulate_media(media="print")
        assert page.locator(".tools:visible, .sorter:visible, .pick:visible").count() == 0
        assert page.locator("table.leader tbody tr:visible").count() >= 8


@pytest.fixture(scope="module")
def long_board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a board of 203 SAEs, without the pages it leads to."""
    root = tmp_path_factory.mktemp("long")
    records = [Record(make_record("topk", 256, seed), Path("x.json")) for seed in range(203)]
    (board,) = make_boards(records)
    environment = make_environment()
    environment.globals["site"] = SimpleNamespace(version="0", has_sweep=False, has_images=False)
    html = environment.get_template("board.html.j2").render(
        view=view_board(board), root="../", page="boards/long.html"
    )
    (root / "boards").mkdir()
    (root / "boards" / "long.html").write_text(html)
    shutil.copytree(str(resources.files("leaderboard") / "static"), root / "static")
    return root / "boards" / "long.html"


def test_a_long_board_shows_its_first_rows_and_all_when_asked(
    browser: Any, long_board: Path
) -> None:
    with opened(browser) as page:
        page.goto(long_board.as_uri())
        assert len(names(page)) == 200
        page.get_by_role("searchbox", name="Search").fill("seed 20")
        assert len(names(page)) == 4
        page.get_by_role("searchbox", name="Search").fill("")
        page.get_by_role("button", name="Sort by TAPAScore", exact=True).click()
        first = names(page)
        assert len(first) == 200
        page.get_by_role("button", name="Show all 203").click()
        assert len(names(page)) == 203
        assert names(page)[:200] == first
    with opened(browser, java_script_enabled=False) as page:
        page.goto(long_board.as_uri())
        assert page.locator("table.leader tbody tr:visible").count() == 203


@pytest.mark.parametrize("width", [1280, 390])
def test_a_wide_table_shows_at_its_edge_that_there_is_more(
    browser: Any, full_site: Path, width: int
) -> None:
    with opened(browser, width) as page:
        page.goto(board_page(full_site).as_uri())
        page.locator(".scroller.more-right").first.wait_for()
        for scroller in page.locator(".scroller").all():
            hidden = scroller.evaluate("s => s.scrollWidth - s.clientWidth")
            marked = "more-right" in (scroller.get_attribute("class") or "")
            assert marked == (hidden > 2)
        first = page.locator(".scroller.more-right").first
        first.evaluate("s => { s.scrollLeft = s.scrollWidth; }")
        page.locator(".scroller:not(.more-right) table.leader").wait_for()
