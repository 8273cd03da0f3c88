"""Fixtures that several folders share: a small synAvatars, a home not the user's, a browser."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import find
from hypothesis import settings

# a failing assert of a helper shows its values, as one of a test does
HELPERS = {path.stem for path in Path(__file__).with_name("helpers").glob("*.py")}
pytest.register_assert_rewrite(*(HELPERS - sys.modules.keys()))

# torch's waiting threads spin unless told not to before it starts
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# on a busy machine a step takes many times as long; a test that is too slow shows in the whole
settings.register_profile("assay", deadline=None)
settings.load_profile("assay")


@pytest.fixture(scope="session")
def home(tmp_path_factory) -> Path:
    """``$ASSAY_HOME`` of the session; set it with ``monkeypatch`` where a test needs it."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT interrupts, though a shell starts what runs in its background without it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def avatars(home) -> Path:
    """A small synAvatars where ``load_dataset`` looks for it under ``home``."""
    from generation.avatars import build

    folder = home / "datasets" / "synavatars"
    build(folder, match=160, score=80, pairs=60, workers=2)
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium; fails where none is installed, as ``make test`` installs one."""
    from playwright.sync_api import sync_playwright

    path = find()
    if path is None:
        pytest.fail("no Chromium or Chrome for the browser tests; `make browser` installs one")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()
