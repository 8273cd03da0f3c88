"""The table of an SAE's concepts as finished markup: hundreds of rows on thousands of pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from leaderboard.numbers import MISSING, rounded
from leaderboard.pages.examples import latents
from leaderboard.text import bdi, cut


def concept_rows(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """Rows by falling held-out F1, missing ones last; bars are drawn by classes of the stylesheet.

    The record beside the page holds the numbers in full.
    """
    ordered = sorted(rows, key=lambda row: (row["f1"] is None, -(row["f1"] or 0.0), row["concept"]))
    return Markup("".join(_row(row) for row in ordered))


def _row(row: Mapping[str, Any]) -> str:
    prevalence = row.get("prevalence")
    return (
        f'<tr><th scope="row" class="name">{bdi(row["concept"])}</th>'
        f"<td>{_text(prevalence)}</td><td>{_bar(row['f1'], prevalence)}{_text(row['f1'])}</td>"
        f"<td>{_text(row['f1_in_sample'])}</td><td>{cut(latents(row['coalition']), 200)}</td>"
        f"<td>{_text(row['delta_add'])}</td><td>{row['n_add']}</td>"
        f"<td>{_text(row['delta_rem'])}</td><td>{row['n_rem']}</td></tr>\n"
    )


def _text(value: float | None) -> str:
    return MISSING if value is None else rounded(value)


def _bar(f1: float | None, prevalence: float | None) -> str:
    """A bar of F1 with a stroke at the F1 of always answering yes, in per cent of its width."""
    if f1 is None:
        return ""
    always = None if prevalence is None else 2 * prevalence / (1 + prevalence)
    stroke = "" if always is None else f'<i class="t{_percent(always)}"></i>'
    return f'<i class="fill w{_percent(f1)}">{stroke}</i>'


def _percent(value: float) -> int:
    return min(100, max(0, round(100 * value)))
