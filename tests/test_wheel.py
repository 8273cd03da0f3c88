"""The built wheel scores outside the clone, in an environment that has never seen it."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

SCORE = """
import json, sys
from pathlib import Path
import numpy as np
import benchmark, generation, leaderboard, schemas

assert not Path(benchmark.__file__).is_relative_to(sys.argv[1]), benchmark.__file__
from benchmark.metrics import match_concepts, match_score
from leaderboard.published import aiu
assert aiu().redundancy
from benchmark.judges.prompts import load_prompts
assert load_prompts().texts["rank.image"]
from benchmark.generative import load_clip
assert load_clip("assay-tiny-clip").grid == (8, 8)
from benchmark.saes import load_sae
from benchmark.saes.training import Recipe
from benchmark.saes.training.store import train_to_folder

rng = np.random.default_rng(0)
x = rng.standard_normal((60, 8)).astype(np.float32)
train_to_folder(Path("sae"), Recipe("topk", 16, k=4, epochs=1), x, {})
codes = load_sae("sae").encode(x)
present = x[:, :2] > 0
print(match_score(codes, present, match_concepts(codes, present)).value)
print(schemas.names())
"""


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """A Python with the wheel and its dependencies, but without the clone."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", place, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = place.glob("*.whl")
    venv.create(place / "venv", with_pip=False)
    python = place / "venv" / "bin" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = place / "venv" / "lib" / version / "site-packages"
    # the dependencies are those of this environment; a plain path in a .pth file brings its
    # packages but not its own .pth files, and so not the editable install of the clone
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps"]
    subprocess.run([*pip, "--no-index", str(wheel)], check=True, capture_output=True)
    return place


def run(place, *command):
    return subprocess.run(
        [place / "venv" / "bin" / command[0], *command[1:]],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "ASSAY_HOME": str(place / "home")},
    )


def test_scores_outside_the_clone(clean):
    done = run(clean, "python", "-c", SCORE, str(ROOT))
    assert done.returncode == 0, done.stderr
    value, names = done.stdout.splitlines()
    assert 0 < float(value) <= 1
    assert "result-sae" in names


def test_the_command_and_the_site_come_with_the_wheel(clean):
    assert run(clean, "assay", "--version").stdout.startswith("assay ")
    done = run(clean, "assay", "site", "build", "--results", "none", "--out", "site")
    assert done.returncode == 2
    done = run(clean, "assay", "generate", "avatars", "--out", "a", "--match", "120", "--score",
               "60", "--pairs", "8")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert run(clean, "assay", "data", "info", "a").returncode == 0
