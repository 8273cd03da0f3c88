"""Find a Chromium or Chrome for the browser tests; as a script, install one if none is there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find() -> str | None:
    """Path of a browser: the system's, else the one Playwright downloaded."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def install() -> None:
    """Debian's package as root where apt-get is there, Playwright's own download elsewhere."""
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        quiet = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run([*quiet, "update"], check=True, env=environment)
        command = [*quiet, "install", "-y", "--no-install-recommends", "chromium"]
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


if __name__ == "__main__":
    if find() is None:
        print("no Chromium or Chrome found; installing one for the browser tests")
        install()
    if find() is None:
        sys.exit("error: no Chromium or Chrome, and installing one did not help; install chromium")
