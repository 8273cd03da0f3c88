"""The site of thousands of submissions: from nothing, and after one more measurement."""

import gzip
import json
import multiprocessing
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.many import write_submission, write_submissions

COUNT, CONCEPTS = 2000, 312
_SUBMISSIONS = Path("submissions/saes")


def run() -> dict[str, Any]:
    """Seconds and memory of both builds, and the size of the front page."""
    pattern = json.loads(min(_SUBMISSIONS.glob("*/results/*/1.json")).read_bytes())
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as temporary:
        root = Path(temporary)
        write_submissions(root / "submissions", pattern, count=COUNT, concepts=CONCEPTS)
        first, peak = _timed(root)
        write_submission(root / "submissions", pattern, COUNT // 2, concepts=CONCEPTS, version=2)
        again, _ = _timed(root)
        index = (root / "site" / "index.html").read_bytes()
        size = sum(path.stat().st_size for path in (root / "site").rglob("*") if path.is_file())
    return {
        "site": {
            "what": f"site of {COUNT:,} submissions, {CONCEPTS} concepts each",
            "seconds": first,
            "seconds_after_one_change": again,
            "peak_bytes": peak,
            "index_gzip_bytes": len(gzip.compress(index)),
            "bytes": size,
        }
    }


def _timed(root: Path) -> tuple[float, int]:
    """Seconds from the start of a process to its end, and its memory with that of its workers."""
    os.sync()  # what was written before is not the build's to wait for
    start = time.perf_counter()
    process = multiprocessing.get_context("spawn").Process(target=_build, args=(str(root),))
    process.start()
    process.join()
    if process.exitcode != 0:
        raise RuntimeError("the site could not be built")
    return time.perf_counter() - start, int((root / "peak").read_text())


def _build(root: str) -> None:
    from leaderboard import build_site

    place, workers = Path(root), os.cpu_count() or 1
    build_site(
        None,
        place / "site",
        submissions=place / "submissions",
        cache=place / "cache",
        workers=workers,
    )
    own, largest = (
        resource.getrusage(who).ru_maxrss * 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    (place / "peak").write_text(str(own + workers * largest))
