import os
from pathlib import Path

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Nets this small are fastest on one."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def own_home(home, monkeypatch):
    monkeypatch.setenv("ASSAY_HOME", str(home))


@pytest.fixture(scope="session")
def klein(tmp_path_factory) -> Path:
    from flux_models import write_klein

    return write_klein(tmp_path_factory.mktemp("models") / "klein")


@pytest.fixture(scope="session")
def base_klein(tmp_path_factory) -> Path:
    from flux_models import write_klein

    return write_klein(tmp_path_factory.mktemp("models") / "base", distilled=False)


@pytest.fixture(scope="session")
def silent_klein(tmp_path_factory) -> Path:
    """The same weights as ``klein`` without its text encoder."""
    from flux_models import write_klein

    return write_klein(tmp_path_factory.mktemp("models") / "silent", text_encoder=False)


@pytest.fixture(scope="session")
def dev(tmp_path_factory) -> Path:
    from flux_models import write_dev

    return write_dev(tmp_path_factory.mktemp("models") / "dev")
