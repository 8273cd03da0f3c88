"""Directions between packages, and what may not be imported at the start."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("benchmark", "generation", "leaderboard", "schemas")
FORBIDDEN = {
    "benchmark": {"generation", "leaderboard"},
    "generation": {"leaderboard"},
    "leaderboard": {"generation"},
    "schemas": {"generation", "leaderboard"},
}
HEAVY = ("torch", "scipy", "pyarrow", "sklearn", "jinja2", "datasets", "transformers")


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def modules(package: str) -> list[Path]:
    found = sorted((ROOT / package).rglob("*.py"))
    assert found
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_depend_in_one_direction(package):
    for path in modules(package):
        if package == "benchmark" and "cli" in path.relative_to(ROOT).parts:
            continue
        tops = {name.split(".")[0] for name in imported(path)}
        assert not tops & FORBIDDEN[package], path


def test_metrics_import_nothing_from_the_rest():
    for path in modules("benchmark/metrics"):
        for name in imported(path):
            top = name.split(".")[0]
            assert top not in {"torch", "pathlib", "json", "rich", "typer"}, (path, name)
            if top in PACKAGES:
                assert name.startswith("benchmark.metrics"), (path, name)


def test_commands_load_their_package_when_called():
    for path in modules("benchmark/cli"):
        tree = ast.parse(path.read_text())
        top = ast.Module([n for n in tree.body if not isinstance(n, ast.If)], [])
        names = [
            alias.name if isinstance(node, ast.Import) else node.module
            for node in top.body
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        ]
        assert not {str(name).split(".")[0] for name in names} & {"generation", "leaderboard"}, path


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["score", "--help"]])
def test_help_loads_nothing_heavy(arguments):
    code = (
        "import sys; from benchmark.cli import main; sys.argv = ['assay', *sys.argv[1:]]\n"
        "try: main()\n"
        f"finally: print('heavy:', [m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "heavy: []" in done.stderr
