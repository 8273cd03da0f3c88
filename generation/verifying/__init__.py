"""Verifying edits: a classifier's opinion of every pair, and how much changed around the edit."""

from generation.verifying.classifier import Classifier, read_record
from generation.verifying.lesson import Options
from generation.verifying.outside import REPAINTED, Change, change
from generation.verifying.recipe import Recipe
from generation.verifying.run import Report, edited_picture, report_on, verify

__all__ = [
    "REPAINTED",
    "Change",
    "Classifier",
    "Options",
    "Recipe",
    "Report",
    "change",
    "edited_picture",
    "read_record",
    "report_on",
    "verify",
]
