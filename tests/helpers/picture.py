"""Take the README's picture of the board: ``python tests/helpers/picture.py SITE OUT.png``."""

import sys
from pathlib import Path

import browser
from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1280, 1000


def take(page_file: Path, out: Path, width: int = WIDTH, height: int | None = HEIGHT) -> None:
    """Screenshot of a page; its whole length where ``height`` is None."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=browser.find(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = chromium.new_page(viewport={"width": width, "height": height or HEIGHT})
        page.goto(page_file.resolve().as_uri())
        page.screenshot(path=out, full_page=height is None)
        chromium.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]) / "index.html", Path(sys.argv[2]))
