"""The page of a comparison of image sets: one file that needs nothing beside it."""

from leaderboard.generative.page import report_page

__all__ = ["report_page"]
