"""Whether a request changes submissions and nothing else; exit 1 where it mixes.

Argument: a file with the changed paths, each ended by a NUL, as ``git diff --name-only -z`` writes.
"""

import sys
from pathlib import Path

FOLDER = "submissions/"
SHOWN = 20


def outside(listing: bytes) -> list[str]:
    """Changed paths that do not lie under submissions/, sorted."""
    names = (name.decode("utf-8", "replace") for name in listing.split(b"\0") if name)
    return sorted(name for name in names if not name.startswith(FOLDER))


def main(listing: Path) -> int:
    """Print what lies outside; the exit code."""
    others = outside(listing.read_bytes())
    for name in others[:SHOWN]:
        print(f"outside {FOLDER}: {name[:200]!a}")
    if len(others) > SHOWN:
        print(f"outside {FOLDER}: {len(others) - SHOWN} more")
    if others:
        print("a submission comes in a request of its own: move the other changes to another one")
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
