"""The three commands for a generator, as CONTRIBUTING.md has them."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from benchmark.datasets import load_dataset
from benchmark.submissions import load_submission

GUIDE = Path(__file__).parents[3] / "CONTRIBUTING.md"


def commands() -> list[list[str]]:
    """The indented ``assay`` lines of the section on generators."""
    section = GUIDE.read_text().split("\n## Submit a generator\n")[1].split("\n## ")[0]
    lines = re.findall(r"^    (assay .*)$", section, re.MULTILINE)
    return [shlex.split(line)[1:] for line in lines]


def test_three_commands_from_a_folder_of_pictures_to_a_kept_result(
    assay: Any, avatars: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(home))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    init, validate, score = commands()
    assert [line[1] for line in (init, validate, score)] == ["init-generator", "validate", "score"]
    dataset = load_dataset(avatars)
    voxel = dataset.annotations[:, dataset.concepts.index("style: voxel")]
    rows = [row for row in dataset.split("match").tolist() if voxel[row]][:12]
    pictures = tmp_path / init[2]
    pictures.mkdir(parents=True)
    for row in rows:
        (pictures / f"{row}.png").write_bytes(dataset.images.encoded(row))
    code, shown, complaint = assay(*init)
    assert (code, complaint) == (0, ""), complaint
    assert assay(*validate) == (0, "1 checked: valid\n", "")
    code, shown, complaint = assay(*score)
    assert code == 0, complaint
    assert "my-generator (12 images) against synavatars" in shown
    assert "furthest off in SaD" in shown
    assert "report/report.html" in complaint
    assert (tmp_path / "report" / "report.html").stat().st_size > 10_000
    assert load_submission(tmp_path / validate[2], kind="generators").results == ()
    code, _, complaint = assay("submit", "score", "my-generator", "--record", "--out", "out.json")
    assert (code, "recorded:" in complaint) == (0, True), complaint
    (result,) = load_submission(tmp_path / validate[2], kind="generators").results
    assert (result.place, result.version) == ("synavatars", 1)
    assert result.document == json.loads((tmp_path / "out.json").read_text())
    code, _, complaint = assay("submit", "score", "my-generator", "--record")
    assert (code, "nothing changed" in complaint) == (0, True), complaint
    for wrong in (["--dataset", "cub"], ["--pairs", "syncub"]):
        code, _, complaint = assay("submit", "score", "my-generator", *wrong)
        assert (code, "leave --dataset" in complaint) == (2, True)
    assert assay("submit", "validate") == (0, "1 checked: valid\n", "")
