"""Planning a dataset of edits: which picture, which change, which reference, which words."""

from generation.planning.build import Planned, make_plan
from generation.planning.request import Request, Rule, make_request

__all__ = ["Planned", "Request", "Rule", "make_plan", "make_request"]
