"""Looking at a built site in a browser, from file:// and under its own security policy."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def opened(browser: Any, width: int = 1280, **options: Any) -> Iterator[Any]:
    """A page that fails on any console message of its own, and on any request off the site.

    A request that the browser gives up itself, as it does with the icon of a page it leaves, is
    no fault of the site: a file that is missing or refused ends with another error.
    """
    context = browser.new_context(viewport={"width": width, "height": 844}, **options)
    page = context.new_page()
    complaints: list[str] = []

    def failed(request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":
            complaints.append(f"{request.failure}: {request.url}")

    def asked(request: Any) -> None:
        if not request.url.startswith("file:"):
            complaints.append(f"off the site: {request.url}")

    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("requestfailed", failed)
    page.on("request", asked)
    yield page
    context.close()
    assert complaints == []


def follow(page: Any, link: Any) -> None:
    """Click on what leads to another page, and be there."""
    with page.expect_navigation():
        link.click()


def names(page: Any) -> list[str]:
    rows = page.locator("table.leader tbody tr:visible th.name a")
    return [text.strip() for text in rows.all_inner_texts()]


def column(page: Any, index: int) -> list[float | None]:
    cells = page.locator(f"table.leader tbody tr > :nth-child({index})")
    values = cells.evaluate_all("cells => cells.map(cell => cell.dataset.value ?? null)")
    return [None if value is None else float(value) for value in values]
