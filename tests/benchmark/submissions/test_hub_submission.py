"""A submission whose weights stay on the Hub, from the client's own cache without a network."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.datasets.planted import Recipe, plant
from benchmark.saes.faults import true_sae
from benchmark.saes.formats.assay import FORMAT

REVISION = "0123456789abcdef0123456789abcdef01234567"
PLANTED = "planted:features=20,width=24,sparsity=4,noise=0,match=300,score=200,pairs=60"
SOURCE = f"owner/name/layer.3@{REVISION}"
FLAGS = ("--id", "far-away", "--name", "Far away", "--author", "Ada", "--licence", "MIT",
         "--encoder", "none", "--trained-on", "planted:match")  # fmt: skip


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """The cached snapshot's folder with the SAE, and other weights beside it."""
    folder = tmp_path / "hf/hub/models--owner--name/snapshots" / REVISION / "layer.3"
    recipe = Recipe.parse(PLANTED.partition(":")[2])
    FORMAT.save(true_sae(plant(recipe).dictionary, sparsity=4), folder, {})
    return folder


CODE = """
import shutil, sys
from benchmark.cli import main
def assay(*arguments):
    sys.argv = ["assay", "submit", *arguments]
    try: main()
    except SystemExit as stopped: assert not stopped.code, stopped.code
source, settings, dataset, *flags = sys.argv[1:]
assay("init", source, *flags)
# what is not declared is not read: two settings in one folder would be refused
shutil.copy(settings, settings.replace("config.json", "cfg.json"))
assay("score", "far-away", "--dataset", dataset, "--out", "result.json")
"""


def test_from_the_hub_to_a_score(tmp_path: Path, snapshot: Path) -> None:
    # the client reads its settings when it is imported, so it gets a process of its own
    settings = {
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_OFFLINE": "1",
        "ASSAY_HOME": str(tmp_path / "home"),
    }
    done = subprocess.run(
        [sys.executable, "-c", CODE, SOURCE, str(snapshot / "config.json"), PLANTED, *FLAGS],
        env={**os.environ, **settings},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "submissions/saes/far-away"
    assert [path.name for path in folder.iterdir()] == ["submission.json"]
    block = json.loads((folder / "submission.json").read_bytes())["sae"]
    assert block["hub"] == {"repo": "owner/name", "revision": REVISION, "folder": "layer.3"}
    record = json.loads((tmp_path / "result.json").read_bytes())
    assert record["submission"]["id"] == "far-away"
    assert record["scores"]["match_score"]["value"] > 0.9
