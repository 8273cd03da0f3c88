"""Figures as SVG, drawn when the site is built; styled by the site's stylesheet alone."""

from leaderboard.plots.bars import quartile_bars
from leaderboard.plots.gate import gate_panels
from leaderboard.plots.heat import HeatRow, heat_map
from leaderboard.plots.judged import quartile_scores, score_spread
from leaderboard.plots.quartiles import quartile_stack
from leaderboard.plots.scatter import scatter
from leaderboard.plots.sweep import sweep_panels

__all__ = [
    "HeatRow",
    "gate_panels",
    "heat_map",
    "quartile_bars",
    "quartile_scores",
    "quartile_stack",
    "scatter",
    "score_spread",
    "sweep_panels",
]
