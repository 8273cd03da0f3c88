"""A pull request on this machine: repositories, checkouts as the workflow asks for, its own steps.

No step has a network, a secret, or a package that the workflow does not install.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"
SCRIPTS = ROOT / ".github" / "scripts"
REQUIREMENTS = ROOT / ".github" / "reading-requirements.txt"
_CODE = ("benchmark", "schemas", ".github")
# weights and pictures that no rule reads: they only slow git down
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*_cache", "tiny_clip", "*.png")
_IDENTITY = ("-c", "user.name=Someone", "-c", "user.email=someone@example.org")

Change = Callable[[Path], None]


def workflow(name: str) -> dict[str, Any]:
    """A workflow as the runner reads it."""
    document: dict[str, Any] = yaml.safe_load((WORKFLOWS / name).read_text(encoding="utf-8"))
    return document


def script(name: str) -> Any:
    """One of the workflows' scripts as a module: quicker than a process a case."""
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(SCRIPTS))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(SCRIPTS))
    return module


def git(place: Path, *arguments: str) -> str:
    """What git says, in a place, under no one's settings."""
    clean = {"PATH": os.environ["PATH"], "HOME": str(place), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *_IDENTITY, "-C", str(place), *arguments],
        env=clean,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def commit(place: Path, change: Change) -> str:
    """Make a change and commit it."""
    change(place)
    git(place, "add", "--all", "--force")
    git(place, "commit", "--quiet", "--allow-empty", "--message", "a change")
    return git(place, "rev-parse", "HEAD")


def main_repository(place: Path, submissions: Path) -> Path:
    """A repository with this code on its main branch, and some submissions."""
    place.mkdir()
    for name in _CODE:
        shutil.copytree(ROOT / name, place / name, ignore=_LEFT_OUT)
    shutil.copytree(submissions, place / "submissions")
    git(place, "init", "--quiet", "--initial-branch=main")
    for name in ("core.compression", "pack.window"):
        git(place, "config", name, "0")
    git(place, "config", "uploadpack.allowAnySHA1InWant", "true")
    commit(place, lambda _: None)
    return place


def merged(main: Path, request: Change, meanwhile: Change | None = None) -> str:
    """The merge commit of a request, made where main stood before ``meanwhile``."""
    git(main, "checkout", "--quiet", "-b", "request")
    commit(main, request)
    git(main, "checkout", "--quiet", "main")
    if meanwhile is not None:
        commit(main, meanwhile)
    git(main, "checkout", "--quiet", "-b", "merge")
    git(main, "merge", "--quiet", "--no-ff", "--message", "merge", "request")
    found = git(main, "rev-parse", "HEAD")
    git(main, "checkout", "--quiet", "main")
    return found


@dataclass(frozen=True)
class Outcome:
    """How the workflow's steps ended.

    Attributes:
        code: exit code of the step "Check".
        log: what all steps printed.
        report: the report that would be uploaded; None where there is none.
        workspace: where they ran.
    """

    code: int
    log: str = field(repr=False)
    report: dict[str, Any] | None
    workspace: Path

    def faults(self) -> list[str]:
        """Each as "file path found"."""
        assert self.report is not None, self.log
        return [f"{p['file']} {p['path']} {p['found']}" for p in self.report["problems"]]


def run_workflow(workspace: Path, main: Path, merge: str, *, whole: bool = False) -> Outcome:
    """Do what submission.yml does for a merge commit.

    Args:
        workspace: an empty folder for it.
        main: the repository.
        merge: commit of ``merged``.
        whole: check the request's code out too, which the workflow does not.
    """
    temporary = workspace / "tmp"
    temporary.mkdir(parents=True)
    outputs: dict[str, str] = {}
    log, code = "", 0
    for step in workflow("submission.yml")["jobs"]["validate"]["steps"]:
        action = step.get("uses", "").partition("@")[0]
        if action == "actions/checkout":
            options = {key: _filled(str(value), outputs) for key, value in step["with"].items()}
            _checkout(workspace, main, options, merge, whole=whole)
        elif "pip install" in step.get("run", ""):
            assert f"base/{REQUIREMENTS.relative_to(ROOT)}" in step["run"]
        elif "run" in step:
            done = run_step(workspace, temporary, step["run"])
            outputs = _outputs(temporary / "output", step.get("id"), outputs)
            log += done.stdout + done.stderr
            code = done.returncode
            if code:
                break
    file = temporary / "report" / "report.json"
    try:
        report = json.loads(file.read_bytes())
    except (OSError, ValueError):
        report = None
    return Outcome(code, log, report, workspace)


def _checkout(
    workspace: Path, main: Path, options: Mapping[str, str], merge: str, *, whole: bool
) -> None:
    place = workspace / options["path"]
    place.mkdir()
    git(place, "init", "--quiet")
    git(place, "remote", "add", "origin", main.as_uri())
    if "sparse-checkout" in options and not whole:
        git(place, "sparse-checkout", "set", "--no-cone", options["sparse-checkout"])
    depth = options.get("fetch-depth", "1")
    wanted = options.get("ref", merge)
    git(place, "fetch", "--quiet", f"--depth={depth}", "origin", wanted)
    git(place, "checkout", "--quiet", "--detach", wanted)


def _filled(text: str, outputs: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        return outputs[match[1]]

    return re.sub(r"\$\{\{ steps\.(\w+\.outputs\.\w+) \}\}", value, text)


def _outputs(file: Path, step: str | None, before: Mapping[str, str]) -> dict[str, str]:
    rows = file.read_text().splitlines() if file.exists() else []
    file.unlink(missing_ok=True)
    pairs = (row.partition("=") for row in rows)
    return {**before, **{f"{step}.outputs.{key}": value for key, _, value in pairs}}


def run_step(workspace: Path, temporary: Path, script: str) -> subprocess.CompletedProcess[str]:
    """A step as the runner starts it, in an environment with nothing of ours.

    Args:
        workspace: where it runs.
        temporary: the runner's folder for what it throws away.
        script: its text.
    """
    return subprocess.run(
        [*_without_network(), "bash", "--noprofile", "--norc", "-e", "-c", script],
        cwd=workspace,
        env={
            "PATH": f"{guarded_python(temporary)}:/usr/bin:/bin",
            "HOME": str(temporary),
            "RUNNER_TEMP": str(temporary),
            "GITHUB_OUTPUT": str(temporary / "output"),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )


@cache
def _without_network() -> tuple[str, ...]:
    """A prefix that takes the network away, where the system lets us."""
    prefix = ("unshare", "--user", "--map-root-user", "--net")
    try:
        done = subprocess.run([*prefix, "true"], capture_output=True)
    except OSError:
        return ()
    return prefix if done.returncode == 0 else ()


def guarded_python(folder: Path) -> Path:
    """A folder with a ``python`` that has only the workflow's packages, and no sockets."""
    place = folder / "bin"
    if place.exists():
        return place
    place.mkdir()
    guard = place / "guard.py"
    guard.write_text(_GUARD.replace("BLOCKED", repr(sorted(_blocked()))))
    start = place / "python"
    start.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{guard}" "$@"\n')
    start.chmod(0o755)
    return place


_GUARD = """
import runpy, socket, sys
from pathlib import Path

blocked = set(BLOCKED)


class Guard:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"{name} is not installed here", name=name)


def refuse(*_, **__):
    raise OSError("no network here")


sys.path[:] = [each for each in sys.path[1:] if not (Path(each) / "benchmark").is_dir()]
sys.meta_path.insert(0, Guard())
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
import os
sys.path[:0] = [each for each in os.environ.get("PYTHONPATH", "").split(":") if each]
kind, *sys.argv = sys.argv[1:]
if kind == "-c":
    code, *rest = sys.argv
    sys.argv = ["-c", *rest]
    exec(code)
elif kind == "-m":
    sys.path.insert(0, os.getcwd())
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
else:
    sys.argv = [kind, *sys.argv]
    sys.path.insert(0, str(Path(kind).resolve().parent))
    runpy.run_path(kind, run_name="__main__")
"""


@cache
def _blocked() -> frozenset[str]:
    """Top-level modules of the packages that the requirements do not bring."""
    installed = set(_closure(_requirements()))
    return frozenset(
        module
        for module, owners in metadata.packages_distributions().items()
        if not {_plain(owner) for owner in owners} & {*installed, "concept-assay"}
    )


def _requirements() -> list[str]:
    rows = REQUIREMENTS.read_text().splitlines()
    return [row for row in rows if row and not row.startswith("#")]


def _closure(requirements: list[str]) -> Iterator[str]:
    from packaging.requirements import Requirement

    waiting, seen = list(requirements), set()
    while waiting:
        needed = Requirement(waiting.pop())
        name = _plain(needed.name)
        if name in seen or (needed.marker and not needed.marker.evaluate({"extra": ""})):
            continue
        seen.add(name)
        yield name
        waiting += metadata.requires(name) or []


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
