"""The comment on a request: what it says of a report nobody trusts, and where it is written."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from github_scripts import Ran, run_script
from requests_case import ROOT, SCRIPTS, script, workflow

SHA = "5" * 40


def report_of(*problems: dict[str, str], notes: tuple[dict[str, str], ...] = ()) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "checked": 1,
        "problems": list(problems),
        "notes": list(notes),
    }


def problem(**values: str) -> dict[str, str]:
    row = {"file": "saes/x/submission.json", "path": "$.k", "found": "0", "expected": "1"}
    return {**row, "fix": "write 1", **values}


def text_of(file: Path, conclusion: str = "failure") -> str:
    """What the script of the workflow makes of a file."""
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "comment.py"), str(file), conclusion],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={"PATH": os.environ["PATH"], "LC_ALL": "C", "PYTHONPATH": str(ROOT)},
        check=True,
        timeout=60,
    )
    (line,) = done.stdout.removesuffix("\n").split("\n")
    assert line.startswith("text=")
    return str(json.loads(line.removeprefix("text=")))


@pytest.fixture(scope="module")
def comment() -> Any:
    return script("comment")


def written(tmp_path: Path, report: Any) -> Path:
    file = tmp_path / "report.json"
    file.write_text(report if isinstance(report, str) else json.dumps(report))
    return file


def test_every_problem_is_shown(tmp_path, comment):
    text = comment.text(written(tmp_path, report_of(problem(), problem(path="$.d"))), "failure")
    assert "2 problems in this submission" in text
    assert "saes/x/submission.json $.k\n  found 0; expected 1\n  write 1\n" in text


def test_a_valid_submission_is_said_to_be_one(tmp_path):
    text = text_of(written(tmp_path, report_of()), "success")
    assert text.startswith("### This submission is valid")


def test_a_failed_check_without_problems_is_no_success(tmp_path, comment):
    assert "The check failed" in comment.text(written(tmp_path, report_of()), "failure")


def test_notes_are_shown_apart(tmp_path, comment):
    text = comment.text(written(tmp_path, report_of(notes=(problem(found="old"),))), "success")
    assert "valid" in text
    assert "Worth knowing" in text
    assert "found old" in text


HOSTILE = [
    "@everyone look",
    "```\n@team\n```",
    "`````````` closes",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](https://example.org/track.png)",
    "fixes #1",
    "a\n\n# heading",
    "\u202eesrever",
    "\u200bzero",
    "<!-- assay-submission -->",
    "::add-mask::x",
    "\x1b[31mred",
    "Z" + "\u0301" * 300,
]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("key", ["file", "path", "found", "expected", "fix"])
def test_nothing_of_the_report_leaves_its_fence(tmp_path, comment, key, value):
    text = comment.text(written(tmp_path, report_of(problem(**{key: value}))), "failure")
    match = re.fullmatch(
        r"### 1 problem in this submission\n\n(`{3,})text\n(.*)\n(`{3,})\n\n.*", text, re.DOTALL
    )
    assert match, text
    assert match[1] == match[3]
    inside = match[2]
    assert len(inside.splitlines()) == 3
    assert match[1] not in inside
    assert all(character == "\n" or character.isprintable() for character in inside)
    outside = text.replace(inside, "")
    assert not re.search(r"[@#<\[\]]", outside.replace("### ", ""))


@pytest.mark.parametrize(
    "report",
    [
        "",
        "null",
        "[]",
        "[" * 100_000,
        '{"schema_version": 1}',
        json.dumps(report_of() | {"verified": True}),
        json.dumps(report_of(problem(found="x" * 401))),
        json.dumps(report_of(problem()) | {"checked": float("nan")}),
        json.dumps(report_of(problem() | {"more": "x"})),
        json.dumps(report_of() | {"problems": [problem()] * 1002}),
        " " * (4 * 2**20 + 1),
        "\ud800",
    ],
)
def test_a_report_that_is_none_is_not_quoted(tmp_path, comment, report):
    file = tmp_path / "report.json"
    file.write_bytes(report.encode("utf-8", "surrogatepass"))
    text = comment.text(file, "failure")
    assert text.startswith("### The check did not finish\n\nIt ended with failure, and the report ")
    assert len(text) < 200


@pytest.mark.parametrize("kind", ["missing", "link", "folder", "fifo"])
def test_a_report_that_is_no_file_is_not_read(tmp_path, comment, kind):
    file = tmp_path / "report.json"
    if kind == "link":
        (tmp_path / "secret").write_text(json.dumps(report_of(problem(found="s3cr3t"))))
        file.symlink_to(tmp_path / "secret")
    elif kind == "folder":
        file.mkdir()
    elif kind == "fifo":
        os.mkfifo(file)
    text = comment.text(file, "failure")
    assert text.startswith("### The check did not finish")
    assert "s3cr3t" not in text


LETTERS = ("`", "x", "\U0001d400", "\u0301", "\U000e0001", "\\", '"')


@pytest.mark.parametrize("letter", LETTERS)
def test_a_text_fits_into_an_environment_and_a_comment(tmp_path, letter):
    long = problem(**dict.fromkeys(problem(), letter * 399))
    file = written(tmp_path, report_of(*[long] * 50, notes=(long,) * 50))
    text = text_of(file)
    assert len(text) < 60_000
    # as the job that posts gets it: one value holds 131,072 bytes
    value = json.dumps(text, ensure_ascii=False)
    assert len(value.encode()) < 60_000
    subprocess.run(["true"], env={"TEXT": value}, check=True)
    shown = text.count("\n  found ")
    assert 2 <= shown <= 60
    left = sum(int(each) for each in re.findall(r"The log has (\d+) more\.", text))
    assert shown + left == 100
    assert len(re.findall(r"^`{3,}(?:text)?$", text, re.MULTILINE)) == 4


def test_letters_stay_letters(tmp_path):
    file = written(tmp_path, report_of(problem(found="Größe 𝐀")))
    assert "found Größe 𝐀; expected" in text_of(file)


RUN = {
    "id": 7,
    "head_sha": SHA,
    "head_branch": "mine",
    "head_repository": {"id": 20, "owner": {"login": "someone"}},
    "html_url": "https://github.com/o/r/actions/runs/7",
}


def pull(**values: Any) -> dict[str, Any]:
    return {
        "number": 3,
        "head": {"sha": SHA, "repo": {"id": 20}},
        "base": {"ref": "main", "repo": {"id": 10}},
        **values,
    }


def post(
    pulls: list[Any],
    files: list[Any] | None = None,
    comments: list[Any] | None = None,
    text: str = "hello",
) -> Ran:
    return run_script(
        "comment.yml",
        "post",
        "Write or renew the comment",
        context={
            "repo": {"owner": "o", "repo": "r"},
            "payload": {
                "workflow_run": RUN,
                "repository": {"id": 10, "default_branch": "main"},
            },
        },
        answers={
            "pulls.list": pulls,
            "pulls.listFiles": [{"filename": "submissions/saes/x/submission.json"}]
            if files is None
            else files,
            "issues.listComments": comments or [],
        },
        env={"TEXT": text and json.dumps(text)},
    )


def test_the_request_is_found_by_its_commit():
    ran = post([pull(number=2, head={"sha": "6" * 40, "repo": {"id": 20}}), pull()])
    assert ran.error is None
    (asked,) = ran.of("pulls.list")
    assert asked["head"] == "someone:mine"
    (made,) = ran.of("issues.createComment")
    assert made["issue_number"] == 3
    assert made["body"].startswith("<!-- assay-submission -->\n\nhello\n\n")
    assert f"Commit {SHA}" in made["body"]
    assert "proves nothing" not in made["body"]


@pytest.mark.parametrize(
    "pulls",
    [
        [],
        [pull(head={"sha": "6" * 40, "repo": {"id": 20}})],
        [pull(head={"sha": SHA, "repo": {"id": 21}})],
        [pull(head={"sha": SHA, "repo": None})],
        [pull(base={"ref": "main", "repo": {"id": 11}})],
        [pull(base={"ref": "other", "repo": {"id": 10}})],
        [pull(), pull(number=4)],
    ],
)
def test_without_exactly_one_request_nothing_is_written(pulls):
    ran = post(pulls)
    assert ran.error is None
    assert ran.notices
    assert [name for name, _ in ran.calls] == ["pulls.list"]


@pytest.mark.parametrize(
    "files",
    [
        [{"filename": ".github/workflows/submission.yml"}],
        [{"filename": "submissions/x", "previous_filename": "benchmark/x"}],
        [{"filename": "submissions-x/y"}],
    ],
)
def test_a_request_that_could_change_its_own_check_is_called_so(files):
    (made,) = post([pull()], files).of("issues.createComment")
    assert "**1 changed file lies outside submissions/.**" in made["body"]
    assert "proves nothing" in made["body"]
    assert made["body"].index("proves nothing") < made["body"].index("hello")


def test_the_warning_is_given_even_where_no_report_could_be_read():
    (made,) = post([pull()], [{"filename": "benchmark/x"}], text="").of("issues.createComment")
    assert "proves nothing" in made["body"]
    assert "### The report of the check could not be read" in made["body"]
    condition = workflow("comment.yml")["jobs"]["post"]["if"]
    assert condition == "${{ !cancelled() && needs.write.result != 'skipped' }}"


def test_the_largest_text_makes_a_comment_that_is_allowed():
    (made,) = post([pull()], [{"filename": "benchmark/x"}], text="x" * 70_000).of(
        "issues.createComment"
    )
    assert 60_000 < len(made["body"]) < 65_536


def test_the_one_comment_is_renewed_and_no_other_touched():
    mark = "<!-- assay-submission -->"
    comments = [
        {"id": 1, "user": {"login": "someone"}, "body": f"{mark} mine"},
        {"id": 2, "user": {"login": "github-actions[bot]"}, "body": f"said {mark}"},
        {"id": 3, "user": {"login": "github-actions[bot]"}, "body": f"{mark}\n\nold"},
    ]
    ran = post([pull()], comments=comments)
    (renewed,) = ran.of("issues.updateComment")
    assert renewed["comment_id"] == 3
    assert ran.of("issues.createComment") == []


@pytest.mark.parametrize(
    ("artifacts", "expected"),
    [
        ([{"id": 5, "size_in_bytes": 1000}], "5"),
        ([{"id": 5, "size_in_bytes": 200_000}], ""),
        ([{"id": 5, "size_in_bytes": 10}, {"id": 6, "size_in_bytes": 10}], ""),
        ([], ""),
    ],
)
def test_only_one_small_artifact_is_fetched(artifacts, expected):
    ran = run_script(
        "comment.yml",
        "write",
        "Find the report",
        context={"repo": {"owner": "o", "repo": "r"}, "payload": {"workflow_run": RUN}},
        answers={"actions.listWorkflowRunArtifacts": {"artifacts": artifacts}},
    )
    assert ran.outputs == {"id": expected}
