"""Badges: a measured number as a small picture for a README."""

import re

from leaderboard.pages.citing import headline
from leaderboard.plots.svg import tag, text_width
from leaderboard.ranking.boards import Board
from leaderboard.ranking.entries import Entry
from leaderboard.ranking.generator_boards import GeneratorBoard, GeneratorEntry

_HEIGHT, _SIDE = 20, 6


def badge(board: Board | GeneratorBoard, entry: Entry | GeneratorEntry) -> str:
    """A small SVG with the entry's first headline number and its interval."""
    shown = headline(entry, board)[:1] or [f"{board.columns[0].head} n/a"]
    right = re.sub(r"\s+", " ", shown[0])
    left = "Assay"
    widths = [text_width(text, 11) + 2 * _SIDE for text in (left, right)]
    total = sum(widths)

    def part(x: float, width: float, fill: str, text: str) -> str:
        box = tag("rect", x=x, y=0.0, width=width, height=float(_HEIGHT), fill=fill)
        word = tag(
            "text", text, x=x + width / 2, y=14.0, fill="#ffffff", text_anchor="middle",
            font_family="system-ui, sans-serif", font_size="11",
        )  # fmt: skip
        return str(box + word)

    body = part(0.0, widths[0], "#333333", left) + part(widths[0], widths[1], "#0060a0", right)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:.0f}" height="{_HEIGHT}" '
        f'viewBox="0 0 {total:.0f} {_HEIGHT}" role="img">'
        f"{tag('title', f'{left}: {right}')}{body}</svg>\n"
    )
