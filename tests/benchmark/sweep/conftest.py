"""A finished small sweep, shared by the tests of this folder."""

import pytest
from sweep_cases import run, write_config


@pytest.fixture(scope="session")
def swept(home, tmp_path_factory):
    """Configuration, output folder, report and document of a sweep by two processes."""
    folder = tmp_path_factory.mktemp("sweep")
    config = write_config(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_HOME", str(home))
        report, document = run(config, folder / "out", workers=2)
    return config, folder / "out", report, document
