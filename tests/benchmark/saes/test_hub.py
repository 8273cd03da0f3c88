"""SAEs from Hub repositories, read from the client's own cache layout without a network."""

import shutil
import subprocess
import sys

import pytest
from small_saes import build, rules

from benchmark.errors import UserError
from benchmark.saes import load_sae
from benchmark.saes.formats.assay import FORMAT

REVISION = "0123456789abcdef0123456789abcdef01234567"

CODE = """
import sys
from benchmark.errors import UserError
from benchmark.saes import load_sae
try:
    print(load_sae(sys.argv[1]).d_sae)
except UserError as error:
    print("refused:", error)
"""


@pytest.fixture
def cache(tmp_path):
    """A cached snapshot with an SAE at its root and one in a folder."""
    snapshot = tmp_path / "hub" / "models--owner--name" / "snapshots" / REVISION
    FORMAT.save(build(rules()["topk"]), tmp_path / "sae", {})
    shutil.copytree(tmp_path / "sae", snapshot)
    shutil.copytree(tmp_path / "sae", snapshot / "layer.3" / "sae_1")
    return tmp_path


def load_offline(cache, text):
    # the client reads its settings when it is imported, so it gets a process of its own
    done = subprocess.run(
        [sys.executable, "-c", CODE, text],
        env={"HF_HOME": str(cache), "HF_HUB_OFFLINE": "1", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("folder", ["", "/layer.3/sae_1"])
def test_a_snapshot_at_a_full_revision_loads(cache, folder):
    assert load_offline(cache, f"owner/name{folder}@{REVISION}") == "40"


@pytest.mark.parametrize(
    "text",
    [f"owner/other@{REVISION}", f"owner/name@{REVISION[::-1]}", f"owner/name/none@{REVISION}"],
)
def test_what_is_not_there_is_one_line(cache, text):
    out = load_offline(cache, text)
    assert out.startswith("refused: owner/")
    assert len(out.splitlines()) == 1


@pytest.mark.parametrize("revision", ["main", "v1.0", REVISION[:12], REVISION.upper()])
def test_a_revision_that_can_move_is_refused(revision):
    with pytest.raises(UserError, match="expected the full 40-digit commit hash"):
        load_sae(f"owner/name@{revision}")


@pytest.mark.parametrize("text", ["../name@" + REVISION, "owner/..@" + REVISION, "a/b/../c@main"])
def test_a_path_out_of_the_repository_is_no_hub_id(text):
    with pytest.raises(UserError, match="no such file or folder"):
        load_sae(text)
