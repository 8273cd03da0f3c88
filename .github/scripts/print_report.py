"""Print a report in the log; exit 1 where it is none. Argument: the report."""

import sys
from pathlib import Path

from reports import lines, read_report

from benchmark.errors import UserError


def main(path: Path) -> int:
    """Print every fault and note; the exit code."""
    try:
        report = read_report(path)
    except UserError as error:
        print(error)
        return 1
    print("\n".join([*lines(report["problems"]), *lines(report["notes"])]))
    print(f"{report['checked']} submissions, {len(report['problems'])} problems")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
