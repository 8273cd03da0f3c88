"""``make bench``: prints figures and writes ``bench/latest.json``.

``python -m bench dense encoders`` runs these parts alone; the figures of the others stay, each part
with the time and the commit of its own run.
"""

import argparse
import json
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from benchmark.files import write_json
from benchmark.records import environment

PARTS = (
    "matching", "pairs", "baselines", "geometry", "loading", "divergence", "dense", "encoders",
    "site",
)  # fmt: skip
"""Modules of this package, each with a function ``run``."""

OUT = Path(__file__).parent / "latest.json"

TARGETS = (
    ("fbmp_cub", "seconds", "<=", 0.12),
    ("fbmp_cub", "speed_up", ">=", 25_000),
    ("fbmp_cub", "peak_bytes", "<=", 1.5e9),
    ("fbmp_coco", "seconds", "<=", 0.4),
    ("fbmp_coco", "peak_bytes", "<=", 1.5e9),
    ("match_score_bootstrap", "seconds", "<=", 3),
    ("tapa", "seconds", "<=", 0.5),
    ("ms", "peak_bytes", "<=", 4e9),
    ("redundancy", "peak_bytes_at_65536", "<=", 4e9),
    ("load_sae", "peak_over_weights", "<=", 2),
    ("divergence", "seconds", "<=", 10),
    ("dense_vit_b_16", "over_plain_forward", "<=", 1.25),
    ("dense_vit_l_14", "over_plain_forward", "<=", 1.25),
    ("embed", "over_bare_forward", "<=", 1.1),
    ("site", "seconds", "<=", 60),
    ("site", "seconds_after_one_change", "<=", 5),
    ("site", "peak_bytes", "<=", 1.5e9),
    ("site", "index_gzip_bytes", "<=", 300e3),
)


def _show(figures: Mapping[str, Any]) -> None:
    for name, value in figures.items():
        for row in value if isinstance(value, list) else [value]:
            print(f"{name}: {row['what']}")
            for key, number in row.items():
                if key != "what":
                    print(f"    {key:34} {number:,.4g}")


def targets(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The targets of these figures: what was found, what was wanted, and whether it was reached."""
    rows = []
    for name, key, relation, target in TARGETS:
        if name in figures:
            found = figures[name][key]
            reached = found <= target if relation == "<=" else found >= target
            row = {"figure": f"{name}.{key}", "found": found, "target": target, "ok": reached}
            rows.append(row)
            mark = "ok  " if reached else "MISS"
            print(f"{mark} {name}.{key} = {found:,.4g} (wanted {relation} {target:,.4g})")
    return rows


def merged(before: Any, parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The document with these parts in place of what it had of them.

    Args:
        before: an earlier document, or anything else, which counts as none.
        parts: part → its ``figures``, ``targets``, ``environment`` and ``measured_at``.
    """
    kept = before.get("parts") if isinstance(before, dict) else None
    known = {name: kept[name] for name in PARTS if name in kept} if isinstance(kept, dict) else {}
    return {"parts": {**known, **parts}}


def main() -> None:
    """Run the parts that are named, all of them if none is."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    chosen = parser.parse_args().parts
    if unknown := [name for name in chosen if name not in PARTS]:
        parser.error(f"no part {unknown[0]!r}; expected one of {', '.join(PARTS)}")
    for name in dict.fromkeys(chosen or PARTS):
        figures = import_module(f"bench.{name}").run()
        _show(figures)
        around = {**environment(), "cores": os.cpu_count(), "machine": platform.machine()}
        part = {
            "figures": figures,
            "targets": targets(figures),
            "environment": around,
            "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        try:
            before = json.loads(OUT.read_bytes())
        except (OSError, ValueError):
            before = None
        # after each part, so that a stopped run keeps what it measured
        write_json(OUT, merged(before, {name: json.loads(json.dumps(part))}))
    print(OUT)


if __name__ == "__main__":
    main()
