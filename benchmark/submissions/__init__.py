"""Submissions of SAEs and generators: their documents, the rules over them, and their results."""

from benchmark.submissions.documents import (
    KINDS,
    Result,
    Submission,
    load_submission,
    load_submissions,
)
from benchmark.submissions.exposure import exposure
from benchmark.submissions.problems import Problem

__all__ = [
    "KINDS",
    "Problem",
    "Result",
    "Submission",
    "exposure",
    "load_submission",
    "load_submissions",
]
