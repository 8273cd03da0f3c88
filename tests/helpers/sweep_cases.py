"""A sweep that takes seconds: planted activations, three sizes, few epochs."""

import json
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from benchmark.sweep.executors import call

DATASET = "planted:features=8,width=12,sparsity=2,match=120,score=80,pairs=40"
TEXT = f"""
name = "small"
architectures = ["topk", "batchtopk", "matryoshka", "jumprelu"]
dict_sizes = [8, 12, 24]
encoders = ["none"]
k = 3
epochs = 3
bootstrap_resamples = 20
sanity_subsamples = 3
twin_seeds = [0]

[[datasets]]
name = "{DATASET}"

[[matchers]]

[[matchers]]
matcher = "one_to_one"

[[matchers]]
matcher = "nn_omp"

[k_sweep]
dict_sizes = [12]
k = [1, 3, 6]
"""
SMALLEST = (
    TEXT[: TEXT.index("[[matchers]]")]
    .replace(', "batchtopk", "matryoshka", "jumprelu"', "")
    .replace("[8, 12, 24]", "[8, 12]")
    .replace("sanity_sub", "sanity = false\nsanity_sub")
)
"""Two SAEs, nothing else."""

SAES = 12 + 2
MEASUREMENTS = SAES + 2 * 12 + 1


def write_config(folder: Path, text: str = TEXT) -> Path:
    """The configuration as a file."""
    path = folder / "small.toml"
    path.write_text(text)
    return path


class Inline:
    """Runs a task at once in this process: the same calls, without starting others."""

    slots = 1
    tries = 1

    def __init__(self) -> None:
        self.prepared: dict[Any, Any] = {}

    def add(self, setting: Any, prepared: Any) -> None:
        self.prepared[setting] = prepared

    def submit(self, setting: Any, work: Any, argument: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(call(lambda: self.prepared[setting], work, argument))
        return future

    def crashed(self, error: BaseException) -> str | None:
        return None

    def close(self) -> None:
        self.prepared.clear()


def run(config: Path, out: Path, workers: int | None = None) -> tuple[Any, dict[str, Any]]:
    """Run a sweep in that many processes of this machine, or in this one."""
    from benchmark.cli.sweep import executor_for, run_config
    from benchmark.sweep import load_config

    if workers is None:
        return run_config(load_config(config), out, Inline())
    with executor_for(None, workers) as executor:
        return run_config(load_config(config), out, executor)


def contents(out: Path) -> dict[str, Any]:
    """Everything a sweep wrote, without when and on what: bytes, and documents for JSON."""
    found: dict[str, Any] = {}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if not path.is_file() or name.startswith("site/"):
            continue
        if path.suffix == ".json":
            document = json.loads(path.read_bytes())
            found[name] = {k: v for k, v in document.items() if k not in ("timing", "environment")}
        else:
            found[name] = path.read_bytes()
    return found
