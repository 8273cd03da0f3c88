"""The text that a request gets about its check, as one line for ``$GITHUB_OUTPUT``.

Arguments: the report (untrusted, perhaps missing) and how the check ended. The text is made here
from the report's values; they stand in a fence that they cannot close, where nothing is a link, a
mention or markup. It is JSON, so that it stays one line, and short enough to be handed on in a
process's environment, which holds 128 KiB a value, and to be a comment, which holds 65,536
characters.
"""

import json
import re
import sys
from pathlib import Path

from reports import lines, read_report

from benchmark.errors import UserError

SHOWN = 30
MAX_BYTES = 24_000
"""Of either list, as JSON."""


def text(path: Path, conclusion: str) -> str:
    """Markdown of the comment."""
    try:
        report = read_report(path)
    except UserError as error:
        return f"### The check did not finish\n\nIt ended with {_word(conclusion)}, and {error}."
    problems, notes = report["problems"], report["notes"]
    parts = [f"### {_headline(len(problems), conclusion)}"]
    if problems:
        parts += _listed(problems)
        parts.append("The same list: `assay submit validate`.")
    elif conclusion != "success":
        parts.append("The log says what else is wrong with the request.")
    else:
        parts.append("A maintainer looks at it next; numbers are measured after the merge.")
    if notes:
        parts += ["Worth knowing:", *_listed(notes)]
    return "\n\n".join(parts)


def _headline(problems: int, conclusion: str) -> str:
    if problems:
        return f"{problems} {'problem' if problems == 1 else 'problems'} in this submission"
    return "This submission is valid" if conclusion == "success" else "The check failed"


def _listed(rows: list[dict[str, str]]) -> list[str]:
    """As many rows as fit, and how many do not."""
    shown: list[str] = []
    count, left = 0, MAX_BYTES
    for row in rows[:SHOWN]:
        three = lines([row])
        left -= len(_as_json("\n".join(three)))
        if left < 0:
            break
        shown += three
        count += 1
    fenced = [_fenced("\n".join(shown))] if shown else []
    return [*fenced, f"The log has {len(rows) - count} more."] if count < len(rows) else fenced


def _fenced(shown: str) -> str:
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"


def _as_json(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode()


def _word(conclusion: str) -> str:
    return conclusion if re.fullmatch("[a-z_]{1,30}", conclusion) else "no result"


if __name__ == "__main__":
    sys.stdout.buffer.write(b"text=%s\n" % _as_json(text(Path(sys.argv[1]), sys.argv[2])))
