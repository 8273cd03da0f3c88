"""Releases: states of all boards that never change again."""

from leaderboard.frozen.freezing import freeze
from leaderboard.frozen.reading import Frozen, load_releases

__all__ = ["Frozen", "freeze", "load_releases"]
