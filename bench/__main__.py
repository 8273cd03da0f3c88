"""``make bench``: prints every figure and writes ``bench/latest.json``."""

import json
import os
import platform
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from bench import baselines, dense, divergence, encoders, geometry, loading, matching, pairs
from benchmark.files import write_json
from benchmark.records import environment

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
)


def _show(figures: dict[str, Any]) -> None:
    for name, value in figures.items():
        for row in value if isinstance(value, list) else [value]:
            print(f"{name}: {row['what']}")
            for key, number in row.items():
                if key != "what":
                    print(f"    {key:34} {number:,.4g}")


def _targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for name, key, relation, target in TARGETS:
        found = figures[name][key]
        reached = found <= target if relation == "<=" else found >= target
        rows.append({"figure": f"{name}.{key}", "found": found, "target": target, "ok": reached})
        mark = "ok  " if reached else "MISS"
        print(f"{mark} {name}.{key} = {found:,.4g} (wanted {relation} {target:,.4g})")
    return rows


def main() -> None:
    """Run every benchmark."""
    figures: dict[str, Any] = {}
    for part in (matching, pairs, baselines, geometry, loading, divergence, dense, encoders):
        found = part.run()
        _show(found)
        figures |= found
    document = {
        "figures": figures,
        "targets": _targets(figures),
        "environment": {**environment(), "cores": os.cpu_count(), "machine": platform.machine()},
    }
    out = Path(__file__).parent / "latest.json"
    write_json(out, json.loads(json.dumps(document)))
    print(out)


if __name__ == "__main__":
    main()
