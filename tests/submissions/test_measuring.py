"""Measuring on main: what is measured, what is offered, and that nothing else is pushed."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from github_scripts import Ran, run_script
from hub_server import HubServer, Request, Response
from huggingface_hub import constants
from requests_case import SCRIPTS, git, script, workflow

from benchmark.errors import UserError
from benchmark.submissions import Result, Submission

NOW, OLD = "a" * 64, "b" * 64


@pytest.fixture(scope="module")
def pending() -> Any:
    return script("pending")


OWN = {"kind": "images", "files": [{"path": "a.parquet"}]}
ON_HUB = {"hub": {"repo": "o/r", "revision": "1" * 40}, "files": [{"path": "a.x"}, {"path": "b.x"}]}


def submission(name: str, *fingerprints: str, kind: str = "saes", **more: Any) -> Submission:
    """A submission with a result a fingerprint, the newest last."""
    more = {"sae": {"files": []}} | more
    key = "dataset" if kind == "saes" else "real"
    results = tuple(
        Result("synavatars", version, Path("x"), {key: {"fingerprint": each}})
        for version, each in enumerate(fingerprints, 1)
    )
    return Submission(kind, Path(name), {"id": name, **more}, results)


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Images by folder of a submission; the files are none."""
    from benchmark.submissions.generators_images import ImageFile

    known: dict[str, int] = {}
    monkeypatch.setattr(ImageFile, "of", lambda path: ImageFile(path, "", known[path.parent.name]))
    return known


def test_what_has_no_current_result_is_measured(pending, rows, capsys):
    rows["pictures"] = 10_000
    gone = {"withdrawn": {"date": "2026-01-01", "reason": "wrong"}}
    submissions = [
        submission("new"),
        submission("current", NOW),
        submission("outdated", OLD),
        submission("again", OLD, NOW),
        submission("back", NOW, OLD),
        submission("withdrawn", **gone),
        submission("pictures", kind="generators", real="synavatars", generator=OWN),
        submission("measured", NOW, kind="generators", real="synavatars", generator=OWN),
        submission("birds", kind="generators", real="cub", generator=OWN),
    ]
    assert pending.pending(submissions, NOW) == ["new", "outdated", "back", "pictures"]
    assert "birds: compared with other data" in capsys.readouterr().err


def test_what_is_too_much_for_this_machine_is_left_to_people(pending, rows, monkeypatch, capsys):
    def size(_: Any, kind: str) -> int | None:
        return {"model": 2 * 2**30, "dataset": 2 * 2**30 + 1}[kind]

    monkeypatch.setattr(pending, "size_on_hub", size)
    rows["many"] = 10_001
    drawn = {"kind": "diffusers"}
    on_hub = {"kind": "images", **ON_HUB}
    submissions = [
        submission("many", kind="generators", real="synavatars", generator=OWN),
        submission("drawn", kind="generators", real="synavatars", generator=drawn),
        submission("huge", kind="generators", real="synavatars", generator=on_hub),
        submission("fits", sae=ON_HUB),
    ]
    assert pending.pending(submissions, NOW) == ["fits"]
    assert capsys.readouterr().err.splitlines() == [
        "many: 10,001 images; measure it by hand",
        "drawn: a model that draws its images; measure it by hand",
        "huge: 2,147,483,649 bytes on the Hub; measure it by hand",
    ]
    assert pending.chosen(submissions, ["drawn"]) == ["drawn"]


def test_images_that_cannot_be_counted_keep_no_other_back(pending, capsys):
    broken = submission("broken", kind="generators", real="synavatars", generator=OWN)
    assert pending.pending([broken, submission("one")], NOW) == ["one"]
    assert "broken: a.parquet: found no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "files", "expected"),
    [
        ("models", {"in/a.x": 3, "in/b.x": 4, "c": 1000}, 7),
        ("datasets", {"in/a.x": 3, "in/b.x": 4}, 7),
        ("models", {"in/a.x": 3}, None),
        ("models", {}, None),
    ],
)
def test_the_hub_is_asked_how_large_files_are(pending, monkeypatch, kind, files, expected):
    asked = []

    def answer(_: HubServer, request: Request) -> Response:
        asked.append(request.path)
        names = parse_qs(request.body.decode())["paths"]
        found = [
            {"type": "file", "path": n, "size": files[n], "oid": "1"} for n in names if n in files
        ]
        return Response.of_json(found) if files else Response.missing("RepoNotFound")

    block = {**ON_HUB, "hub": {**ON_HUB["hub"], "folder": "in"}}
    with HubServer() as hub:
        hub.routes.append(("POST", re.compile(".*/paths-info/.*"), answer))
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        assert pending.size_on_hub(block, kind.removesuffix("s")) == expected
    assert asked == [f"/api/{kind}/o/r/paths-info/{'1' * 40}"]


def test_a_maintainer_may_name_what_is_measured(pending):
    submissions = [submission("one", NOW), submission("two"), submission("old", withdrawn={"x": 1})]
    assert pending.chosen(submissions, ["one", "one"]) == ["one"]
    assert pending.chosen(submissions, []) == []


@pytest.mark.parametrize("name", ["three", "old", "../one", "--help", "*", "one\n", "$(id)"])
def test_an_id_that_is_none_is_refused(pending, name):
    with pytest.raises(UserError, match="no submission"):
        pending.chosen([submission("one"), submission("old", withdrawn={"x": 1})], ["one", name])


ASSAY = """#!/bin/sh
echo "$@" >> "$LOG"
case "$2 $3" in
  "score bad") echo "::add-path::evil"; echo "error: broken" >&2; exit 1 ;;
  "score same") echo "nothing changed" ;;
  "score slow") exec sleep 60 ;;
  "score half") mkdir -p submissions/saes/half; echo > submissions/saes/half/1.new; exit 1 ;;
  "score "*)
    mkdir -p "submissions/saes/$3/results/synavatars"
    echo '{}' > "submissions/saes/$3/results/synavatars/1.json" ;;
  "validate ") [ ! -e "submissions/saes/${UNSOUND:-none}/results" ] ;;
esac
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with the measuring script, an ``assay`` and a list of ids that are made up."""
    place = tmp_path / "clone"
    scripts = place / ".github" / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "measure").write_bytes((SCRIPTS / "measure").read_bytes())
    (scripts / "pending.py").write_text(
        "import sys\n"
        "if 'unknown' in sys.argv: sys.exit('error: no submission')\n"
        "print('\\n'.join(sys.argv[1:] or ['all']))\n"
    )
    (place / "submissions" / "saes").mkdir(parents=True)
    git(place, "init", "--quiet")
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", "start")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "assay").write_text(ASSAY)
    (tools / "assay").chmod(0o755)
    (tools / "python").symlink_to(sys.executable)
    return place


def measure(clone: Path, ids: str = "", **env: str) -> tuple[int, str, str]:
    """Exit code, log and outputs of the script."""
    tmp = clone.parent
    done = subprocess.run(
        ["bash", ".github/scripts/measure", str(tmp / "measured")],
        cwd=clone,
        env={
            "PATH": f"{tmp / 'bin'}:/usr/bin:/bin",
            "HOME": str(tmp),
            "IDS": ids,
            "LOG": str(tmp / "log"),
            "GITHUB_OUTPUT": str(tmp / "output"),
            **env,
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    output = tmp / "output"
    return done.returncode, done.stdout, output.read_text() if output.exists() else ""


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_new_results_and_transcripts_are_collected(clone):
    code, _, output = measure(clone, "one two")
    assert (code, output) == (0, "recorded=yes\n")
    assert (clone.parent / "log").read_text().splitlines() == [
        "submit score one --record",
        "submit validate",
        "submit score two --record",
        "submit validate",
    ]
    assert files(clone.parent / "measured") == {
        "transcripts/one.txt",
        "transcripts/two.txt",
        "submissions/saes/one/results/synavatars/1.json",
        "submissions/saes/two/results/synavatars/1.json",
    }


def test_one_that_fails_does_not_keep_the_others_back(clone):
    code, log, output = measure(clone, "bad one")
    assert (code, output) == (1, "recorded=yes\n")
    assert "error: broken" in (clone.parent / "measured" / "transcripts" / "bad.txt").read_text()
    # what it printed comes after the runner was told to take no commands
    rows = [row for row in log.splitlines() if row.startswith("::")]
    assert rows[0].startswith("::stop-commands::")


def test_without_a_new_result_nothing_is_offered(clone):
    assert measure(clone, "same")[::2] == (0, "")


ONE = {"transcripts/one.txt", "submissions/saes/one/results/synavatars/1.json"}


@pytest.mark.parametrize("ids", ["bad one", "one bad"])
def test_a_result_that_makes_the_repository_unsound_keeps_no_other_back(clone, ids):
    code, _, output = measure(clone, ids.replace("bad", "twin"), UNSOUND="twin")
    assert (code, output) == (1, "recorded=yes\n")
    assert files(clone.parent / "measured") == {*ONE, "transcripts/twin.txt"}
    assert files(clone / "submissions") == {"saes/one/results/synavatars/1.json"}


def test_one_that_takes_too_long_is_stopped_and_what_was_measured_is_there(clone):
    code, log, output = measure(clone, "one slow", EACH="1")
    assert (code, output) == (1, "recorded=yes\n")
    assert "stopped after 1 s: measure it by hand" in log
    assert files(clone.parent / "measured") == {*ONE, "transcripts/slow.txt"}


def test_what_a_failed_measurement_leaves_is_not_offered(clone):
    assert measure(clone, "half one")[::2] == (1, "recorded=yes\n")
    assert files(clone.parent / "measured") == {*ONE, "transcripts/half.txt"}
    assert files(clone / "submissions") == {"saes/one/results/synavatars/1.json"}


def test_without_time_nothing_more_is_begun(clone):
    code, log, output = measure(clone, "one", ALL="0")
    assert (code, output) == (1, "")
    assert "no time is left for one: start the workflow again" in log
    assert not (clone.parent / "log").exists()


def test_the_limits_fit_into_each_other():
    """One that begins at the last moment still ends before its step, and that before its job."""
    text = (SCRIPTS / "measure").read_text()
    found = dict(re.findall(r"^(\w+)=\$\{[A-Z]+:-(\d+)\}$", text, re.MULTILINE))
    job = workflow("measure.yml")["jobs"]["measure"]
    (step,) = [each for each in job["steps"] if each.get("id") == "measure"]
    kept = [each.get("uses", "").partition("@")[0] for each in job["steps"]][-1]
    assert int(found["each"]) < int(found["all"]) < 60 * (step["timeout-minutes"] - 10)
    assert step["timeout-minutes"] <= job["timeout-minutes"] - 30
    assert kept == "actions/upload-artifact"


def test_an_unknown_id_stops_before_anything_is_measured(clone):
    assert measure(clone, "one unknown")[::2] == (1, "")
    assert not (clone.parent / "log").exists()


def test_ids_are_words_and_never_patterns(clone):
    (clone / "x.json").write_text("")
    measure(clone, "*")
    assert (clone.parent / "log").read_text().startswith("submit score * --record")


RESULT = "submissions/saes/one/results/synavatars/2.json"


def offer(tmp_path: Path, there: list[str] | None = None) -> Ran:
    answers = [{"by": "path", "when": name, "data": {"sha": "1"}} for name in there or []]
    return run_script(
        "measure.yml",
        "offer",
        "Open a request",
        context={
            "repo": {"owner": "o", "repo": "r"},
            "sha": "5" * 40,
            "runId": 12,
            "serverUrl": "https://github.com",
        },
        answers={
            "repos.getContent": answers or [{"by": "path", "when": "none", "data": {}}],
            "git.getCommit": {"tree": {"sha": "6" * 40}},
            "git.createTree": {"sha": "7" * 40},
            "git.createCommit": {"sha": "8" * 40},
        },
        env={"GITHUB_RUN_ATTEMPT": "1"},
        folder=tmp_path,
    )


def put(tmp_path: Path, name: str, text: str = "{}") -> Path:
    file = tmp_path / "measured" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    "name",
    [RESULT, "submissions/generators/g-1/results/cub+syncub/1.json"],
)
def test_a_new_result_becomes_a_request(tmp_path, name):
    put(tmp_path, name, '{"a": 1}')
    put(tmp_path, "transcripts/one.txt", "hello")
    ran = offer(tmp_path)
    assert ran.error is None
    (tree,) = ran.of("git.createTree")
    assert tree["base_tree"] == "6" * 40
    assert tree["tree"] == [{"path": name, "mode": "100644", "type": "blob", "content": '{"a": 1}'}]
    (commit,) = ran.of("git.createCommit")
    assert commit["parents"] == ["5" * 40]
    (branch,) = ran.of("git.createRef")
    assert branch["ref"] == "refs/heads/results/12-1"
    (request,) = ran.of("pulls.create")
    assert (request["head"], request["base"]) == ("results/12-1", "main")
    assert "actions/runs/12" in request["body"]
    assert name in request["body"]


@pytest.mark.parametrize(
    "name",
    [
        "submissions/saes/one/submission.json",
        "submissions/saes/one/results/synavatars/0.json",
        "submissions/saes/one/results/synavatars/1.json.yml",
        "submissions/saes/One/results/synavatars/1.json",
        "submissions/other/one/results/synavatars/1.json",
        "submissions/saes/one/results/a/b/1.json",
        "submissions/.github/workflows/x.yml",
    ],
)
def test_anything_else_pushes_nothing(tmp_path, name):
    put(tmp_path, RESULT)
    put(tmp_path, name)
    ran = offer(tmp_path)
    assert ran.error is not None
    assert "nothing was pushed" in ran.error
    assert {called for called, _ in ran.calls} <= {"repos.getContent"}


def test_a_result_that_is_there_is_never_replaced(tmp_path):
    put(tmp_path, RESULT)
    ran = offer(tmp_path, there=[RESULT])
    assert ran.error == f"{RESULT} is there already; nothing was pushed"
    assert ran.of("git.createTree") == []


@pytest.mark.parametrize("kind", ["link", "fifo", "large", "broken"])
def test_a_result_that_is_no_plain_json_file_pushes_nothing(tmp_path, kind):
    file = put(tmp_path, RESULT)
    if kind == "broken":
        file.write_text("{")
    elif kind == "large":
        file.write_text(" " * (8 * 2**20 + 1))
    else:
        file.unlink()
        (tmp_path / "secret").write_text("{}")
        os.mkfifo(file) if kind == "fifo" else file.symlink_to(tmp_path / "secret")
    ran = offer(tmp_path)
    assert ran.error is not None
    assert ran.of("git.createTree") == []


def test_no_results_make_no_request(tmp_path):
    (tmp_path / "measured" / "submissions").mkdir(parents=True)
    assert offer(tmp_path).error == "no results to offer"
