"""Looking at a built site in a browser, from file:// and under its own security policy."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def opened(browser: Any, width: int = 1280, **options: Any) -> Iterator[Any]:
    """A page that fails on any console message of its own, and on any request off the site."""
    context = browser.new_context(viewport={"width": width, "height": 844}, **options)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.on(
        "request",
        lambda request: None if request.url.startswith("file:") else complaints.append(request.url),
    )
    yield page
    context.close()
    assert complaints == []


def names(page: Any) -> list[str]:
    rows = page.locator("table.leader tbody tr:visible th.name a")
    return [text.strip() for text in rows.all_inner_texts()]


def column(page: Any, index: int) -> list[float | None]:
    cells = page.locator(f"table.leader tbody tr > :nth-child({index})")
    values = cells.evaluate_all("cells => cells.map(cell => cell.dataset.value ?? null)")
    return [None if value is None else float(value) for value in values]
