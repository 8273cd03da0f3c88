import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dataset_cases import content, manifest, write

from benchmark.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def assay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Run:
    """Runs ``assay`` in this process with a home of its own: (exit code, stdout, stderr)."""
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["assay", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "tiny", content())


ALL = ["coco", "cub", "planted", "synavatars", "syncoco", "syncub"]


def test_list(assay: Run) -> None:
    code, out, _ = assay("data", "list")
    assert code == 0
    assert [line.partition(":")[0] for line in out.splitlines()] == ALL
    assert "cc0-1.0" in out
    listed = json.loads(assay("data", "list", "--json")[1])
    assert [each["name"] for each in listed] == ALL
    assert set(listed[0]) == {"name", "summary", "licence", "citation"}


def test_info(assay: Run, folder: Path) -> None:
    code, out, _ = assay("data", "info", str(folder))
    assert code == 0
    assert "7 match, 5 score, 3 pairs, 4 concepts, 3 groups" in out
    assert "glasses: clear" in out
    document = json.loads(assay("data", "info", str(folder), "--json")[1])
    assert document["fingerprint"] == manifest(content())["fingerprint"]
    assert document["concepts"][2] == {
        "concept": "glasses: clear",
        "group": "glasses",
        "positives": {"match": 3, "score": 2},
        "prevalence": 0.4167,
        "pairs_adding": 1,
        "pairs_removing": 1,
    }


def test_info_of_a_registered_dataset_says_licence_and_citation(assay: Run, tmp_path: Path) -> None:
    rows = content()
    place = tmp_path / "home" / "datasets" / "synavatars"
    write(place, rows, manifest(rows) | {"name": "synavatars"})
    out = assay("data", "info", "synavatars")[1]
    assert "licence: cc0-1.0" in out
    assert "cite: Cite the project Assay" in out
    assert assay("data", "fetch", "synavatars")[1] == f"synavatars is at {place}\n"


def test_fetch_names_the_command_in_one_line(assay: Run, tmp_path: Path) -> None:
    code, out, _ = assay("data", "fetch", "synavatars")
    place = tmp_path / "home" / "datasets" / "synavatars"
    assert code == 0
    assert out == (
        f"synavatars is built here, not downloaded; run: assay generate avatars --out {place}\n"
    )


def test_check_of_a_sound_folder(assay: Run, folder: Path) -> None:
    code, out, err = assay("data", "check", str(folder))
    assert (code, err) == (0, "")
    assert out.startswith("tiny is sound: 7 match, 5 score, 3 pairs, 4 concepts; fingerprint ")
    assert json.loads(assay("data", "check", str(folder), "--json")[1])["problems"] == []


def test_check_prints_every_problem_and_exits_1(assay: Run, tmp_path: Path) -> None:
    rows = content()
    rows["test"][0]["edited_concepts"] = [3]
    rows["match"][0]["image"]["path"] = "/tmp/0.png"
    folder = write(tmp_path / "tiny", rows)
    code, out, err = assay("data", "check", str(folder))
    assert code == 1
    assert len(out.splitlines()) == 2
    assert err == f"error: {folder}: 2 problems\n"
    code, out, _ = assay("data", "check", str(folder), "--json")
    assert code == 1
    assert len(json.loads(out)["problems"]) == 2


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("info", "sinavatars"),
            f"unknown dataset 'sinavatars'; known: {', '.join(ALL)}.",
        ),
        (("fetch", "cub2"), "error: unknown dataset 'cub2'; known: coco, cub, planted"),
        (("info", "synavatars"), "build it with: assay generate avatars --out"),
        (("check", "nowhere"), "error: no folder nowhere"),
        (("info", "./nowhere"), "error: no dataset folder ./nowhere"),
    ],
)
def test_wrong_use_is_one_line_and_exit_2(
    assay: Run, arguments: tuple[str, ...], expected: str
) -> None:
    code, out, err = assay("data", *arguments)
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1


def test_generate_builds_what_load_dataset_finds(assay: Run, tmp_path: Path) -> None:
    from benchmark.datasets import load_dataset

    sizes = ("--match", "52", "--score", "52", "--pairs", "4", "--workers", "1")
    code, out, _ = assay("generate", "avatars", *sizes, "--json")
    assert code == 0
    report = json.loads(out)
    assert report["folder"] == str(tmp_path / "home" / "datasets" / "synavatars")
    dataset = load_dataset("synavatars")
    assert dataset.fingerprint == report["fingerprint"]
    assert assay("data", "check", report["folder"])[0] == 0
    code, out, _ = assay("generate", "avatars", "--out", str(tmp_path / "again"), *sizes)
    assert code == 0
    assert f"fingerprint {dataset.fingerprint}" in out


def test_generate_with_wrong_sizes(assay: Run) -> None:
    code, _, err = assay("generate", "avatars", "--match", "3")
    assert code == 2
    assert err.strip() == "error: match is 3, expected 52..1,000,000"


def test_generate_without_its_packages_names_the_extra(
    assay: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("generation")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dicebear", None)
    code, _, err = assay("generate", "avatars")
    assert code == 2
    assert "pip install 'concept-assay[generation]'" in err


def test_the_modules_are_light_to_import() -> None:
    import subprocess

    script = (
        "import sys, benchmark.cli.data, benchmark.cli.generate\n"
        "print([m for m in ('numpy', 'pyarrow', 'PIL', 'dicebear', 'rich.progress', 'sklearn')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
