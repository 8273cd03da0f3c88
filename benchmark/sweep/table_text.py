"""Tables as Markdown and LaTeX for readers, as CSV and JSON with every digit."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.files import write_bytes, write_json
from benchmark.latex import ESCAPES
from benchmark.sweep.rows import Column, Table

MISSING = "n/a"
_LATEX = ESCAPES | {"{": r"\{", "}": r"\}", "≈": r"$\approx$"}


def write_tables(folder: Path, tables: Sequence[Table]) -> list[Path]:
    """Write every table in four formats; those of an earlier run that are no longer made go."""
    written = []
    for table in tables:
        for suffix, text in (
            ("md", markdown(table)),
            ("tex", latex(table)),
            ("csv", csv_text(table)),
        ):
            path = folder / f"{table.name}.{suffix}"
            write_bytes(path, text.encode())
            written.append(path)
        write_json(folder / f"{table.name}.json", table.as_dict())
        written.append(folder / f"{table.name}.json")
    for old in folder.glob("*.*") if folder.is_dir() else ():
        if old.suffix in (".md", ".tex", ".csv", ".json") and old not in written:
            old.unlink()
    return written


def shown(column: Column, value: Any) -> tuple[str, str]:
    """A value for readers, and its interval or nothing; no more digits than that supports."""
    if value is None:
        return MISSING, ""
    if column.kind == "score":
        return _score(value, 1 if column.key == "l0" else 3)
    if column.kind == "published":
        return str(value["printed"]), ""
    if column.kind == "number":
        return _fixed(value, 3), ""
    return (f"{value:,}" if column.kind == "int" else str(value)), ""


def _score(score: Mapping[str, Any], decimals: int) -> tuple[str, str]:
    if score["value"] is None:
        return MISSING, ""
    if score["ci95"] is None:
        return _fixed(score["value"], decimals), ""
    low, high = score["ci95"]
    return _fixed(score["value"], decimals), f"[{_fixed(low, decimals)}, {_fixed(high, decimals)}]"


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    if not text.startswith("-"):
        return text
    return "−" + text[1:] if text.strip("-0.") else text[1:]


def markdown(table: Table) -> str:
    """A table as Markdown, numbers to the right."""
    heads = [one.head.replace("|", r"\|") for one in table.columns]
    rules = ["---" if one.kind == "text" else "---:" for one in table.columns]
    lines = [f"## {table.title}", "", _line(heads), _line(rules)]
    for row in table.rows:
        cells = (shown(one, row[one.key]) for one in table.columns)
        lines.append(_line([" ".join(filter(None, cell)).replace("|", r"\|") for cell in cells]))
    if table.note:
        lines += ["", table.note]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def latex(table: Table) -> str:
    """A table as LaTeX with booktabs rules, to be put into a document by ``\\input``."""
    align = "".join("l" if one.kind == "text" else "r" for one in table.columns)
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        f"\\caption{{{_tex(table.title)}.{' ' if table.note else ''}{_tex(table.note)}}}",
        f"\\label{{tab:{table.name.replace('_', '-')}}}",
        f"\\begin{{tabular}}{{{align}}}",
        "\\toprule",
        " & ".join(_tex(one.head) for one in table.columns) + r" \\",
        "\\midrule",
    ]
    for row in table.rows:
        cells = [shown(one, row[one.key]) for one in table.columns]
        parts = [
            _tex(text) + (f" {{\\scriptsize {_tex(interval)}}}" if interval else "")
            for text, interval in cells
        ]
        lines.append(" & ".join(parts) + r" \\")
    lines += ["\\bottomrule", "\\end{tabular}", "\\end{table}"]
    return "\n".join(lines) + "\n"


def _tex(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in text)


def csv_text(table: Table) -> str:
    """A table as CSV: numbers as JSON writes them, so that they read back to the same bits.

    A score has four columns: its value, both ends of its interval and n; what is missing is empty.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([head for one in table.columns for head in _csv_heads(one)])
    for row in table.rows:
        writer.writerow([cell for one in table.columns for cell in _csv_cells(one, row[one.key])])
    return out.getvalue()


def _csv_heads(column: Column) -> list[str]:
    if column.kind == "score":
        return [column.key, *(f"{column.key}_{part}" for part in ("low", "high", "n"))]
    if column.kind == "published":
        return [column.key, f"{column.key}_approximate"]
    return [column.key]


def _csv_cells(column: Column, value: Any) -> list[str]:
    if column.kind == "score":
        if value is None:
            return [""] * 4
        low, high = value["ci95"] or (None, None)
        return [_plain(one) for one in (value["value"], low, high, value["n"])]
    if column.kind == "published":
        if value is None:
            return ["", ""]
        number = value["value"]
        return [
            value["printed"] if number is None else _plain(number),
            "yes" if value["approximate"] else "no",
        ]
    return [_plain(value)]


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, int | float) else str(value)
