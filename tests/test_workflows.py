"""The workflows keep to the rules that make requests of strangers safe to check."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = ROOT / ".github" / "workflows"
NAMES = sorted(path.name for path in WORKFLOWS.iterdir())

WRITING = {
    ("comment.yml", "post"): {"pull-requests"},
    ("measure.yml", "offer"): {"contents", "pull-requests"},
    ("site.yml", "deploy"): {"pages", "id-token"},
}
"""The only jobs that may write, and what."""


def problems(name: str, text: str) -> list[str]:
    """Every broken rule of one workflow."""
    document = yaml.safe_load(text)
    return [
        *_of_the_whole(name, document),
        *_pins(text),
        *(fault for job, body in document["jobs"].items() for fault in _of_a_job(name, job, body)),
    ]


def _of_the_whole(name: str, document: dict[Any, Any]) -> Iterator[str]:
    events = document[True]  # YAML reads the key "on" as a truth value
    kinds = {events} if isinstance(events, str) else set(events)
    if "pull_request_target" in kinds:
        yield "pull_request_target"
    if "workflow_run" in kinds and name != "comment.yml":
        yield "workflow_run"
    if "permissions" not in document:
        yield "no permissions"
    elif _written(document["permissions"]):
        yield "a right to write for all jobs"
    if "concurrency" not in document:
        yield "no concurrency"
    if re.search(r"\bsecrets\b", str(document)):
        yield "a secret"


def _of_a_job(name: str, job: str, body: dict[str, Any]) -> Iterator[str]:
    written = _written(body.get("permissions", {}))
    if written - WRITING.get((name, job), set()):
        yield f"{job} may write {', '.join(sorted(written))}"
    if not isinstance(body.get("timeout-minutes"), int):
        yield f"{job} has no timeout"
    for step in body["steps"]:
        used = step.get("uses", "").partition("@")[0]
        options = step.get("with", {})
        if "${{" in step.get("run", "") or "${{" in options.get("script", ""):
            yield f"{job} puts an expression into code"
        if written and ("run" in step or used == "actions/checkout"):
            yield f"{job} may write and has code of a checkout"
        if used == "actions/checkout":
            yield from _of_a_checkout(name, job, options)
        if "cache" in options or used == "actions/cache":
            yield f"{job} shares a cache"


def _of_a_checkout(name: str, job: str, options: dict[str, Any]) -> Iterator[str]:
    if options.get("persist-credentials") is not False:
        yield f"{job} keeps credentials"
    if name != "submission.yml" and {"ref", "repository"} & set(options):
        yield f"{job} checks out something else"
    if "allow-unsafe-pr-checkout" in options:
        yield f"{job} checks out what is unsafe"
    # in the check of a request, what is not the base is data and nothing else
    if (
        name == "submission.yml"
        and options.get("path") != "base"
        and options.get("sparse-checkout") != "/submissions/"
    ):
        yield f"{job} checks out the request's code"


def _pins(text: str) -> Iterator[str]:
    for line in text.splitlines():
        match = re.match(r"\s*(?:- )?uses:\s*(\S+)(.*)", line)
        if match is None:
            continue
        pinned = re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", match[1])
        if not pinned or not re.fullmatch(r" # v\d+\.\d+\.\d+", match[2]):
            yield f"{match[1]} is not pinned"


def _written(permissions: Any) -> set[str]:
    if isinstance(permissions, str):
        return {permissions} - {"read-all"}
    return {key for key, value in permissions.items() if value not in ("read", "none")}


@pytest.mark.parametrize("name", NAMES)
def test_a_workflow_keeps_the_rules(name: str) -> None:
    assert problems(name, (WORKFLOWS / name).read_text(encoding="utf-8")) == []


def test_one_action_has_one_pin() -> None:
    texts = "".join((WORKFLOWS / name).read_text(encoding="utf-8") for name in NAMES)
    uses = set(re.findall(r"uses: (\S+)@(\S+ # \S+)", texts))
    assert len(uses) == len({action for action, _ in uses}) >= 8


def test_every_job_that_may_write_is_there() -> None:
    for name, job in WRITING:
        document = yaml.safe_load((WORKFLOWS / name).read_text(encoding="utf-8"))
        assert _written(document["jobs"][job]["permissions"]) == WRITING[name, job]


def test_the_check_runs_nothing_of_the_request() -> None:
    document = yaml.safe_load((WORKFLOWS / "submission.yml").read_text(encoding="utf-8"))
    (job,) = document["jobs"].values()
    lines = [step["run"] for step in job["steps"] if "run" in step]
    assert [line for line in lines if "head" in line.replace("git -C head rev-parse", "")] == []
    assert document[True]["pull_request"]["paths"] == ["submissions/**"]


SHA = "3d3c42e5aac5ba805825da76410c181273ba90b1"


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("submission.yml", f"@{SHA}", "@v7", "actions/checkout@v7 is not pinned"),
        ("submission.yml", " # v7.0.1", "", f"actions/checkout@{SHA} is not pinned"),
        ("submission.yml", "  pull_request:", "  pull_request_target:", "pull_request_target"),
        ("submission.yml", "persist-credentials: false", "lfs: true", "validate keeps credentials"),
        (
            "submission.yml",
            "sparse-checkout: /submissions/",
            "sparse-checkout: /",
            "validate checks out the request's code",
        ),
        (
            "submission.yml",
            "      contents: read",
            "      contents: write",
            "validate may write contents",
        ),
        ("submission.yml", "timeout-minutes: 10", "continue-on-error: true", "validate has no tim"),
        ("submission.yml", 'python-version: "3.11"', "cache: pip", "validate shares a cache"),
        (
            "submission.yml",
            'check_request "$',
            'check_request "${{ github.event.pull_request.title }}$',
            "validate puts an expression into code",
        ),
        ("comment.yml", "permissions: {}\n", "", "no permissions"),
        ("comment.yml", "permissions: {}", "permissions: write-all", "a right to write for all"),
        ("comment.yml", "github.token", "secrets.OTHER", "a secret"),
        ("comment.yml", "const mark = '", "const mark = '${{ github.actor }}", "post puts an expr"),
        (
            "comment.yml",
            "          persist-credentials: false",
            "          persist-credentials: false\n          ref: x",
            "write checks out something else",
        ),
        (
            "measure.yml",
            "      - name: Fetch the results\n",
            "      - run: make\n      - name: Fetch the results\n",
            "offer may write and has code of a checkout",
        ),
        ("site.yml", "pages: read", "pages: write", "build may write pages"),
        ("tests.yml", "  pull_request:", "  workflow_run:", "workflow_run"),
        ("tests.yml", "concurrency:", "env:", "no concurrency"),
    ],
)
def test_a_broken_rule_is_seen(name: str, old: str, new: str, expected: str) -> None:
    text = (WORKFLOWS / name).read_text(encoding="utf-8")
    assert old in text
    found = problems(name, text.replace(old, new))
    assert any(fault.startswith(expected) for fault in found), found


LINTER = Path(sys.executable).with_name("zizmor")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """What ``make lint`` runs over the workflows, on a copy of them."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (line,) = re.findall(r"^\t\$\(BIN\)/zizmor (.*)$", makefile, re.MULTILINE)
    return subprocess.run(
        [str(LINTER), *line.split()], cwd=folder, capture_output=True, text=True, timeout=60
    )


def test_the_linter_finds_nothing_but_what_is_planted(tmp_path: Path) -> None:
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    done = lint(tmp_path)
    assert done.returncode == 0, done.stdout
    file = tmp_path / ".github" / "workflows" / "tests.yml"
    title = "echo ${{ github.event.pull_request.title }}"
    file.write_text(file.read_text().replace(".ci/run", title))
    done = lint(tmp_path)
    assert done.returncode != 0
    assert "template-injection" in done.stdout


def test_every_ignored_finding_says_why() -> None:
    texts = [path.read_text(encoding="utf-8") for path in WORKFLOWS.iterdir()]
    ignored = [line for text in texts for line in text.splitlines() if "zizmor: ignore" in line]
    assert len(ignored) == 1
    assert all(re.search(r"zizmor: ignore\[[a-z-]+\] \w+ \w+", line) for line in ignored)


def test_the_form_for_a_wrong_number_is_well_formed() -> None:
    path = ROOT / ".github" / "ISSUE_TEMPLATE" / "number-is-wrong.yml"
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form)
    fields = [each for each in form["body"] if each["type"] != "markdown"]
    names = [each["id"] for each in fields]
    assert len(set(names)) == len(names)
    assert all(each["attributes"]["label"] for each in fields)
    assert all(each["attributes"]["options"] for each in fields if "options" in each["attributes"])
    required = {each["id"] for each in fields if each.get("validations", {}).get("required")}
    assert {"address", "entry", "expected"} <= required


def test_the_template_names_commands_that_there_are() -> None:
    from benchmark.cli import COMMANDS

    text = (ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"`make (\w+)`", text)
    assert targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    commands = re.findall(r"`assay (\w+)", text)
    assert commands
    assert set(commands) <= set(COMMANDS)


def _lines_of_code() -> Iterator[tuple[str, str]]:
    """Where, and each line that a workflow, a script or the documentation would have typed."""
    for name in NAMES:
        document = yaml.safe_load((WORKFLOWS / name).read_text(encoding="utf-8"))
        for job in document["jobs"].values():
            for step in job["steps"]:
                yield from ((name, line) for line in step.get("run", "").splitlines())
    for path in sorted((ROOT / ".github" / "scripts").iterdir()):
        if path.is_file() and not path.suffix:
            yield from ((path.name, line) for line in path.read_text().splitlines())
    for path in (ROOT / "CONTRIBUTING.md", ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md"):
        text = path.read_text(encoding="utf-8")
        quoted = re.findall(r"`(assay [^`]+)`", text) + re.findall(r"^ {4}(assay .+)$", text, re.M)
        yield from ((path.name, " ".join(line.split())) for line in quoted)


def _commands() -> Iterator[tuple[str, list[str]]]:
    for where, line in _lines_of_code():
        for match in re.finditer(
            r"(?:^\s*|[;&(] ?|python -m |timeout [^;&|]*)(?:assay|benchmark) ([^;&|>#]+)", line
        ):
            yield where, match[1].split()


def test_every_command_that_is_named_has_its_options() -> None:
    from typer.main import get_command

    from benchmark.cli import app

    checked, seen = 0, set()
    for where, words in _commands():
        command: Any = get_command(app)
        while hasattr(command, "get_command") and words:
            word = words.pop(0)
            inner = command.get_command(None, word)
            assert inner is not None, f"{where}: assay has no {word}"
            command = inner
        known = {option for each in command.params for option in each.opts} | {"--help"}
        options = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert options <= known, f"{where}: {sorted(options - known)}"
        checked += 1
        seen.add((where, *options))
    assert checked >= 8
    assert ("measure", "--record") in seen
