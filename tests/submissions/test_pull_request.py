"""A pull request, checked by the steps of the workflow: the base's code, the request's data."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from requests_case import (
    REQUIREMENTS,
    ROOT,
    git,
    main_repository,
    merged,
    run_step,
    run_workflow,
    script,
)
from small_saes import build, rules

_PWNED = "import pathlib; pathlib.Path({mark!r}).touch()\n"
_EVIL = (
    "sitecustomize.py",
    "usercustomize.py",
    "conftest.py",
    "typer.py",
    "benchmark/__init__.py",
    "benchmark/submissions/check.py",
    "schemas/__init__.py",
    ".github/scripts/changed_files.py",
    ".github/scripts/reports.py",
    "submissions/__init__.py",
    "submissions/sitecustomize.py",
    "submissions/benchmark/__init__.py",
    "submissions/saes/evil/sitecustomize.py",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three valid submissions: saes/first, saes/second and saes/third."""
    from benchmark.saes.formats.assay import FORMAT
    from benchmark.submissions.make import Answers, make_submission, read_source

    root = tmp_path_factory.mktemp("made") / "submissions"
    for seed, name in enumerate(("first", "second", "third")):
        folder = root.parent / name
        FORMAT.save(build(rules()["topk"], seed=seed), folder, {})
        answers = Answers(
            id=name,
            name=f"The {name} one",
            licence="CC0-1.0",
            encoder="efficientnet-lite0",
            authors=("Someone",),
            trained_on=("synavatars:match",),
        )
        make_submission(read_source(str(folder)), answers, root)
    return root / "saes"


@pytest.fixture(scope="module")
def add(made: Path) -> Callable[[Path, str], None]:
    """Copy one of the submissions into a clone."""

    def copy(place: Path, name: str) -> None:
        shutil.copytree(made / name, place / "submissions" / "saes" / name)

    return copy


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory, add) -> Path:
    """A repository whose main branch has the submissions "first" and "third"."""
    root = tmp_path_factory.mktemp("started")
    for name in ("first", "third"):
        add(root / "start", name)
    return main_repository(root / "main", root / "start" / "submissions")


@pytest.fixture
def main(tmp_path: Path, started: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(started, tmp_path / "main")


def test_a_new_submission_passes_whatever_main_gained_meanwhile(tmp_path, main, add):
    result = "submissions/saes/third/results/synavatars/note.txt"

    def meanwhile(place: Path) -> None:
        _write(place / result, "added to main by a maintainer")
        shutil.rmtree(place / "submissions" / "saes" / "first")

    merge = merged(main, lambda place: add(place, "second"), meanwhile)
    outcome = run_workflow(tmp_path / "work", main, merge)
    # the note is no result, which is main's fault; neither it nor the deletion is the request's
    assert outcome.faults() == ["saes/third/results/synavatars/note.txt  note.txt"]
    # of the request, only its data is on the disk
    assert {path.name for path in (outcome.workspace / "head").iterdir()} == {".git", "submissions"}


def test_a_new_submission_passes(tmp_path, main, add):
    outcome = run_workflow(tmp_path / "work", main, merged(main, lambda p: add(p, "second")))
    assert outcome.code == 0, outcome.log
    assert outcome.report == {"schema_version": 1, "checked": 3, "problems": [], "notes": []}


def test_all_that_a_request_may_not_do_is_named_at_once(tmp_path, main, add, made):
    secret = tmp_path / "secret.json"
    secret.write_text('{"token": "s3cr3t-value"}')

    def change(place: Path) -> None:
        saes = place / "submissions" / "saes"
        add(place, "second")
        for name in ("1.json", "note.txt"):
            _write(saes / "second" / "results" / "synavatars" / name, "{}")
        document = json.loads((saes / "second" / "submission.json").read_text())
        _write(saes / "second" / "submission.json", json.dumps({**document, "verified": True}))
        shutil.rmtree(saes / "first")
        other = json.loads((made / "first" / "submission.json").read_text())
        for file in other["sae"]["files"]:
            shutil.copyfile(made / "first" / file["path"], saes / "third" / file["path"])
        document = json.loads((saes / "third" / "submission.json").read_text())
        _write(saes / "third" / "submission.json", json.dumps({**document, "sae": other["sae"]}))
        (saes / "linked").mkdir()
        (saes / "linked" / "submission.json").symlink_to(secret)

    outcome = run_workflow(tmp_path / "work", main, merged(main, change))
    assert outcome.code == 1
    faults = outcome.faults()
    assert "saes/second/results/synavatars/1.json  added by the request" in faults
    assert "saes/second/results/synavatars/note.txt  added by the request" in faults
    assert any(fault.startswith("saes/second/submission.json $.verified ") for fault in faults)
    assert "saes/first  nothing" in faults
    assert any(fault.startswith("saes/third/submission.json $.sae") for fault in faults)
    assert any(fault.startswith("saes/linked/submission.json ") for fault in faults)
    assert "s3cr3t" not in outcome.log + json.dumps(outcome.report)


def test_code_of_the_request_is_refused_and_never_runs(tmp_path, main, add):
    """Not even where all of it is on the disk, which the workflow does not ask for."""
    mark = tmp_path / "pwned"

    def change(place: Path) -> None:
        add(place, "second")
        for name in _EVIL:
            _write(place / name, _PWNED.format(mark=str(mark)))
        _write(place / ".github" / "scripts" / "check_request", f"touch {mark}; exit 0\n")
        _write(place / ".github" / "reading-requirements.txt", "evil\n")

    outcome = run_workflow(tmp_path / "work", main, merged(main, change), whole=True)
    assert not mark.exists()
    assert outcome.code == 1
    assert "outside submissions/: 'benchmark/submissions/check.py'" in outcome.log
    assert any(fault.startswith("saes/evil/") for fault in outcome.faults())


def test_the_marks_of_the_test_above_would_be_seen(tmp_path):
    mark = tmp_path / "pwned"
    _write(tmp_path / "code" / "benchmark" / "__init__.py", _PWNED.format(mark=str(mark)))
    subprocess.run(
        [sys.executable, "-c", "import benchmark"], cwd=tmp_path / "code", check=True, timeout=60
    )
    assert mark.exists()


def test_a_request_of_code_alone_is_no_submission_and_names_are_no_commands(tmp_path, main):
    def change(place: Path) -> None:
        _write(place / "benchmark" / "x\n::add-path::evil", "1")
        _write(place / "submissions" / "saes" / "x\n::add-path::evil" / "submission.json", "{}")

    outcome = run_workflow(tmp_path / "work", main, merged(main, change))
    assert outcome.code == 1
    assert "outside submissions/: 'benchmark/x\\n::add-path::evil'" in outcome.log
    first, *others = [row for row in outcome.log.splitlines() if row.startswith("::")]
    assert re.fullmatch("::stop-commands::[0-9a-f]{32}", first)
    assert others == []


def test_another_repository_inside_a_submission_is_refused(tmp_path, main):
    """On the disk it is an empty folder, in which nobody could keep a result."""
    path = "submissions/saes/first/results/cub"

    def change(place: Path) -> None:
        (place / path).mkdir(parents=True)
        git(place / path, "init", "--quiet")
        git(place / path, "commit", "--quiet", "--allow-empty", "--message", "inner")

    outcome = run_workflow(tmp_path / "work", main, merged(main, change))
    assert outcome.code == 1
    assert f"'{path}': another repository; a submission holds ordinary files only" in outcome.log


def test_only_ordinary_files_are_plain():
    plain = script("plain_files")
    rows = [b"100644 blob 1\ta", b"120000 blob 1\tb\n", b"100755 blob 1\tc", b"160000 commit 1\td"]
    assert plain.odd(b"\0".join(rows) + b"\0") == [
        "'b\\n': a link",
        "'c': an executable file",
        "'d': another repository",
    ]


def test_a_folder_of_submissions_that_is_a_link_fails(tmp_path, main):
    def change(place: Path) -> None:
        shutil.rmtree(place / "submissions")
        (place / "submissions").symlink_to("../base/submissions")

    outcome = run_workflow(tmp_path / "work", main, merged(main, change), whole=True)
    assert outcome.code == 1
    assert outcome.report is None


def test_the_light_requirements_are_those_of_the_project():
    with (ROOT / "pyproject.toml").open("rb") as stream:
        known = tomllib.load(stream)["project"]["dependencies"]
    rows = REQUIREMENTS.read_text().splitlines()
    assert {row for row in rows if row and not row.startswith("#")} <= set(known)


def test_steps_have_no_network_and_no_heavy_package(tmp_path):
    code = "import socket; socket.getaddrinfo('example.org', 80)"
    assert "no network here" in run_step(tmp_path, tmp_path, f'python -c "{code}"').stderr
    done = run_step(tmp_path, tmp_path, 'python -c "import torch"')
    assert "torch is not installed here" in done.stderr


def test_the_light_requirements_are_enough_for_what_the_repository_holds(tmp_path):
    done = run_step(ROOT, tmp_path, "python -m benchmark submit validate --json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["problems"] == []


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
