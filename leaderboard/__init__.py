"""Leaderboard: turns result records into a static site."""

from leaderboard.building.site import build_site

__all__ = ["build_site"]
