"""Pictures of a built site for the README: wide and narrow, light and dark.

python tests/helpers/screenshots.py SITE FOLDER
"""

import io
import sys
from pathlib import Path
from typing import Any

from browser import find
from PIL import Image

VIEWS = {"board": (1280, 1120), "phone": (390, 844)}
COLOURS = 128
SCHEMES = {"": "light", "-dark": "dark"}


def take(site: Path, out: Path) -> list[Path]:
    """Write ``board.png``, ``board-dark.png``, ``phone.png`` and ``phone-dark.png``."""
    from playwright.sync_api import sync_playwright

    made = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=["--no-sandbox"])
        for name, (width, height) in VIEWS.items():
            for ending, scheme in SCHEMES.items():
                path = out / f"{name}{ending}.png"
                _shoot(browser, site / "index.html", path, width, height, scheme)
                made.append(path)
        browser.close()
    return made


def _shoot(browser: Any, page_file: Path, out: Path, width: int, height: int, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=1,
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(page_file.resolve().as_uri())
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    context.close()
    # pages are flat: a palette looks the same in a third of the bytes
    shot.quantize(COLOURS, dither=Image.Dither.NONE).save(out, optimize=True)


if __name__ == "__main__":
    if len(sys.argv) != 3 or not (Path(sys.argv[1]) / "index.html").is_file():
        sys.exit("usage: python tests/helpers/screenshots.py SITE FOLDER (SITE holds index.html)")
    for path in take(Path(sys.argv[1]), Path(sys.argv[2])):
        print(path)
