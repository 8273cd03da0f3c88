from pathlib import Path

import pytest

from generation.avatars import BuildReport, build


@pytest.fixture(scope="session")
def small_build(tmp_path_factory: pytest.TempPathFactory) -> BuildReport:
    """A small synAvatars, big enough that every concept is in both splits."""
    folder: Path = tmp_path_factory.mktemp("avatars") / "synavatars"
    return build(folder, seed=3, match=120, score=104, pairs=48, workers=1)
