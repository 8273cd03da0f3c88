"""What was published, as somebody else gets it: the suite's own loader and an empty cache.

It runs in a process of its own, whose environment names caches that hold nothing yet.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmark import files
from benchmark.errors import CheckFailed, UserError
from generation.publishing.retry import Retry, Transient, shown

_PREFIX = ".read-back."
_DAY = 24 * 3600.0
_PROGRAM = "from generation.publishing.read_back import main; main()"


def read_back(repo: str, commit: str, endpoint: str, retry: Retry) -> str:
    """Fingerprint of a dataset at a full commit, everything of it fetched anew.

    Raises:
        CheckFailed: it could not be fetched, or is broken.
    """
    with _empty_cache() as cache:
        return retry(f"reading {repo} back", lambda: _loaded(repo, commit, endpoint, cache))


def check_space(size: int) -> None:
    """Refuse where what is read back would not fit; ``size`` in bytes."""
    home = files.home()
    home.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(home).free
    if free < size:
        raise UserError(
            f"{home}: {free:,} bytes are free, but {size:,} are needed to read the dataset back; "
            "make room, or set ASSAY_HOME to another place"
        )


def _loaded(repo: str, commit: str, endpoint: str, cache: Path) -> str:
    own = {
        "ASSAY_HOME": str(cache / "assay"),
        "HF_HUB_CACHE": str(cache / "hub"),
        "HF_XET_CACHE": str(cache / "xet"),
        "HF_ENDPOINT": endpoint,
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, repo, commit],
        env={**os.environ, **own},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        raise Transient(f"exit {done.returncode} ({shown(last)})") from None
    if "unreached" in answer:
        raise Transient(shown(answer["unreached"]))
    if "broken" in answer:
        # without the place in a cache that is about to go
        fault = shown(re.sub(rf"\S*/{commit}/", "", answer["broken"]))
        raise CheckFailed(f"{repo} at {commit} reads back broken: {fault}; no version was tagged")
    return str(answer["fingerprint"])


def main() -> None:
    """Print the fingerprint of a repository at a commit, or why there is none, as JSON."""
    from benchmark.datasets import hub, load_dataset
    from benchmark.processes import end_with_parent

    end_with_parent()
    repo, commit = sys.argv[1:]
    kind = "unreached"
    try:
        hub.fetch(repo, commit)
        kind = "broken"
        answer = {"fingerprint": load_dataset(repo, revision=commit).fingerprint}
    except UserError as error:
        answer = {kind: str(error)}
    print(json.dumps(answer))


@contextmanager
def _empty_cache() -> Iterator[Path]:
    """A new folder on the disk of ``home()``, gone afterwards, as are those of killed runs."""
    home = files.home()
    home.mkdir(parents=True, exist_ok=True)
    for left in home.glob(f"{_PREFIX}*"):
        if time.time() - left.stat().st_mtime > _DAY:
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(
        prefix=_PREFIX, dir=home, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)
