"""How the activation of several SAEs divides over dominance quartiles: one bar each."""

from collections.abc import Sequence

from markupsafe import Markup

from leaderboard.numbers import rounded
from leaderboard.plots.svg import figure, label, name_width, short, tag

_ROW, _THICK, _TOP, _CHARS = 22, 14, 22, 26


def quartile_stack(
    key: str, rows: Sequence[tuple[str, Sequence[float]]], width: float
) -> Markup | None:
    """One bar an SAE with the mass of Q1 to Q4 from the left; None without rows.

    Args:
        key: prefix of the ids in the SVG.
        rows: name and four shares that sum to 1.
        width: of the figure, px.
    """
    if not rows:
        return None
    chars = _CHARS if width > 500 else 16
    left = max(name_width(short(name, chars)) for name, _ in rows) + 10
    room = width - left - 44
    body: list[Markup] = []
    at = left
    for index, share in enumerate(rows[0][1]):
        if share * room > 24:
            body.append(label(at + 2, 12, f"Q{index + 1}", "tick"))
        at += share * room
    for index, (name, shares) in enumerate(rows):
        y = _TOP + index * _ROW
        body.append(label(left - 10, y + 12, short(name, chars), "name", "end"))
        x = left
        for quartile, share in enumerate(shares, start=1):
            body.append(
                tag("rect", x=x, y=float(y), width=max(0.0, share * room - 1), height=_THICK,
                    cls=f"bar q{quartile}")
            )  # fmt: skip
            x += share * room
        body.append(label(width, y + 12, rounded(shares[0]), "value", "end"))
    title = "Share of all activation held by each dominance quartile, by SAE"
    text = "; ".join(
        f"{short(name, 40)} {', '.join(f'Q{q} {rounded(v)}' for q, v in enumerate(shares, 1))}"
        for name, shares in rows
    )
    return figure(key, (width, _TOP + len(rows) * _ROW), title, f"Stacked bars: {text}.", body)
