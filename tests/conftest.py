"""Fixtures that several folders share: a small synAvatars and a home that is not the user's."""

import os
from pathlib import Path

import pytest

# torch's waiting threads spin unless told not to before it starts
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@pytest.fixture(scope="session")
def home(tmp_path_factory) -> Path:
    """``$ASSAY_HOME`` of the session; set it with ``monkeypatch`` where a test needs it."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def avatars(home) -> Path:
    """A small synAvatars where ``load_dataset`` looks for it under ``home``."""
    from generation.avatars import build

    folder = home / "datasets" / "synavatars"
    build(folder, match=160, score=80, pairs=60, workers=2)
    return folder
