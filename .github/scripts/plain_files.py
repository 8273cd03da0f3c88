"""Whether a request's submissions are ordinary files in git; exit 1 where one is something else.

On the disk a link to another repository is an empty folder, and a link may be a file. Argument: a
file with the entries, each ended by a NUL, as ``git ls-tree -r -z`` writes.
"""

import sys
from pathlib import Path

KINDS = {"100755": "an executable file", "120000": "a link", "160000": "another repository"}
PLAIN = "100644"
SHOWN = 20


def odd(listing: bytes) -> list[str]:
    """Path and kind of every entry that is no ordinary file, in the order given."""
    found = []
    for entry in filter(None, listing.split(b"\0")):
        about, _, name = entry.decode("utf-8", "replace").partition("\t")
        mode = about.partition(" ")[0]
        if mode != PLAIN:
            found.append(f"{name[:200]!a}: {KINDS.get(mode, 'something odd')}")
    return found


def main(listing: Path) -> int:
    """Print what is odd; the exit code."""
    entries = listing.read_bytes()
    faults = odd(entries) if entries else ["'submissions': nothing"]
    for fault in faults[:SHOWN]:
        print(f"{fault}; a submission holds ordinary files only")
    if len(faults) > SHOWN:
        print(f"{len(faults) - SHOWN} more")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
