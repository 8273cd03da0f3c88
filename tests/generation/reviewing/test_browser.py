"""The review in a real browser: keys, views, a killed server, phones, dark rooms, no script."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from edit_work import edited_work
from playwright.sync_api import expect

from generation.work import Work


@contextmanager
def opened(
    browser: Any, width: int = 1280, height: int = 800, *, dying: bool = False, **options: Any
) -> Iterator[Any]:
    """A page that fails on any message in the console, and on any request off this machine.

    ``dying``: the server is killed meanwhile, so that requests may fail.
    """
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith("http://127.0.0.1:") else complaints.append(request.url)
        ),
    )
    yield page
    context.close()
    assert [text for text in complaints if not (dying and "net::ERR_" in text)] == []


def at(page: Any) -> str:
    """The pair that is shown."""
    return str(page.url.partition("/pair/")[2].partition("?")[0])


def press(page: Any, key: str) -> None:
    """A key that leads to another page."""
    with page.expect_navigation(wait_until="domcontentloaded"):
        page.keyboard.press(key)


def follow(page: Any, role: str, name: str) -> None:
    """A link or button that leads to another page."""
    with page.expect_navigation(wait_until="domcontentloaded"):
        page.get_by_role(role, name=name).click()


def decisions(work: Work, name: str) -> list[tuple[str, str]]:
    return [(line.id, line.decision) for line in work.review_log(name)]


def test_fifty_pairs_by_keyboard_with_the_server_killed_in_the_middle(
    browser: Any, started: Callable[..., Any], tmp_path: Path
) -> None:
    work = edited_work(tmp_path, 50, count=180)
    ids = [edit.id for edit in work.plan.edits]
    words = {edit: "aru"[place % 3] for place, edit in enumerate(ids)}
    process = started(work.root, "--reviewer", "ann")
    assert process.line.startswith("0 of 50 pairs decided; open http://127.0.0.1:")
    with opened(browser, dying=True) as page:
        page.goto(process.address)
        for place in range(23):
            assert at(page) == ids[place]
            press(page, words[ids[place]])
        # decided, and on disk before the next page was there
        assert len(decisions(work, "ann")) == 23
        # killed while the next one is on its way: it is there whole or not at all
        page.keyboard.press(words[ids[23]])
        process.kill()
    done = len(decisions(work, "ann"))
    assert done in (23, 24)
    process = started(work.root, "--reviewer", "ann")
    assert process.line.startswith(f"{done} of 50 pairs decided")
    with opened(browser) as page:
        page.goto(process.address)
        assert page.locator("#done").inner_text() == f"{done} of 50"
        for place in range(done, 50):
            assert at(page) == ids[place]
            press(page, words[ids[place]])
        assert page.locator("h1").inner_text() == "All 50 pairs are decided"
    name = {"a": "accept", "r": "reject", "u": "unsure"}
    assert decisions(work, "ann") == [(edit, name[words[edit]]) for edit in ids]
    assert set(Counter(edit for edit, _ in decisions(work, "ann")).values()) == {1}
    code, out = process.interrupt()
    assert code == 0
    assert out.strip() == "50 of 50 pairs decided"


def test_keys_notes_undo_and_views(browser: Any, serve: Any, work: Work) -> None:
    with serve(work, "keys") as live, opened(browser) as page:
        ids = live.session.queue.ids
        page.goto(f"http://127.0.0.1:{live.port}/")
        shown = page.locator("main.pair")
        # views: at once, without another page, and kept over the next pair
        assert page.locator("figure:visible").count() == 2
        page.keyboard.press("d")
        expect(page.locator(".difference img")).not_to_have_js_property("naturalWidth", 0)
        assert page.locator("figure:visible").count() == 1
        page.keyboard.press("f")
        assert shown.get_attribute("data-view") == "flicker"
        boxes = [page.locator(f"figure.{side} svg").bounding_box() for side in ("base", "edited")]
        assert boxes[0] == boxes[1]
        page.keyboard.press(" ")
        assert not page.locator("figure.edited").is_visible()
        page.keyboard.press(" ")
        assert page.locator("figure.edited").is_visible()
        page.keyboard.press("?")
        assert page.locator("#help dl").is_visible()
        # in a note the keys are letters
        page.keyboard.press("n")
        page.keyboard.type("a rare bird <b>?")
        page.keyboard.press("Escape")
        assert decisions(work, "keys") == []
        press(page, "u")
        assert at(page) == ids[1]
        assert shown.get_attribute("data-view") == "flicker"
        assert work.reviews()["keys"][ids[0]].note == "a rare bird <b>?"
        # a key pressed twice decides once
        with page.expect_navigation(wait_until="domcontentloaded"):
            page.evaluate(
                "for (let n = 0; n < 2; n++)"
                " document.dispatchEvent(new KeyboardEvent('keydown', { key: 'a' }))"
            )
        assert decisions(work, "keys") == [(ids[0], "unsure"), (ids[1], "accept")]
        press(page, "z")
        assert at(page) == ids[1]
        press(page, "z")
        assert at(page) == ids[0]
        assert page.locator("textarea").input_value() == ""
        press(page, "ArrowRight")
        press(page, "ArrowRight")
        assert at(page) == ids[2]
        press(page, "ArrowLeft")
        assert at(page) == ids[1]
        # combinations belong to the browser
        page.keyboard.press("Control+a")
        assert [word for _, word in decisions(work, "keys")] == ["unsure", "accept", "undo", "undo"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit(browser: Any, serve: Any, work: Work, width: int, scheme: str) -> None:
    name = f"fit-{scheme}-{width}"
    with serve(work, name) as live, opened(browser, width, 844, color_scheme=scheme) as page:
        address = f"http://127.0.0.1:{live.port}"
        edit = live.session.queue.ids[0]
        for path in (*(f"/pair/{edit}?view={v}" for v in ("side", "flicker")), "/pairs"):
            page.goto(address + path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.goto(address)
        ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
        # what decides is in sight without scrolling, on a phone too
        for word in ("accept", "reject", "unsure"):
            box = page.locator(f"button.{word}").bounding_box()
            assert box["y"] + box["height"] <= 844
            assert box["height"] >= 40


def test_it_works_without_script(browser: Any, serve: Any, work: Work) -> None:
    with serve(work, "plain") as live, opened(browser, java_script_enabled=False) as page:
        ids = live.session.queue.ids
        page.goto(f"http://127.0.0.1:{live.port}/")
        follow(page, "link", "Difference")
        assert page.locator("figure:visible").count() == 1
        page.locator("textarea").fill("by mouse")
        follow(page, "button", "Reject")
        assert at(page) == ids[1]
        follow(page, "button", "Undo")
        assert at(page) == ids[0]
    assert decisions(work, "plain") == [(ids[0], "reject"), (ids[0], "undo")]


def test_another_site_cannot_decide(browser: Any, serve: Any, work: Work) -> None:
    with serve(work, "victim") as live:
        edit = live.session.queue.ids[0]
        sha256 = live.session.queue.items[edit].sha256
        context = browser.new_context()
        page = context.new_page()
        form = (
            f"<form method=post action='http://127.0.0.1:{live.port}/pair/{edit}'>"
            f"<input name=token value='{live.session.token}'><input name=sha256 value='{sha256}'>"
            "<button name=decision value=accept>win a prize</button></form>"
            f"<img src='http://127.0.0.1:{live.port}/picture/{edit}/base'>"
        )
        # even knowing the token
        page.route(
            "http://evil.example/",
            lambda route: route.fulfill(body=form, content_type="text/html"),
        )
        page.goto("http://evil.example/")
        page.wait_for_function("document.images[0].complete")
        assert page.evaluate("document.images[0].naturalWidth") == 0
        follow(page, "button", "win a prize")
        assert "refused: sent by a page of another site" in page.content()
        context.close()
        assert decisions(work, "victim") == []


def test_adjudication_shows_what_reviewers_said(browser: Any, serve: Any, tmp_path: Path) -> None:
    work = edited_work(tmp_path, 2)
    for name, word in (("ann", "accept"), ("bob", "reject")):
        with serve(work, name) as live:
            queue = live.session.queue
            queue.decide(queue.ids[0], word, f"{name} says so", queue.items[queue.ids[0]].sha256)
    with serve(work, "eve", adjudicate=True) as live, opened(browser) as page:
        page.goto(f"http://127.0.0.1:{live.port}/")
        others = page.locator(".others li").all_inner_texts()
        assert [" ".join(text.split()) for text in others] == [
            "ann: accept ann says so",
            "bob: reject bob says so",
        ]
        press(page, "r")
        assert page.locator("h1").inner_text() == "All 1 pairs are decided"
    assert work.adjudications()[queue.ids[0]].reviewer == "eve"
