"""Figures as SVG, drawn when the site is built; styled by the site's stylesheet alone."""

from leaderboard.plots.bars import quartile_bars
from leaderboard.plots.gate import gate_panels
from leaderboard.plots.judged import quartile_scores, score_spread
from leaderboard.plots.scatter import scatter
from leaderboard.plots.sweep import sweep_panels

__all__ = [
    "gate_panels",
    "quartile_bars",
    "quartile_scores",
    "scatter",
    "score_spread",
    "sweep_panels",
]
