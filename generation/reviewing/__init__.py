"""Reviewing edits: a page on this machine, a file of decisions per reviewer, agreement."""

from generation.reviewing.agreement import (
    Agreement,
    agreement_document,
    agreements,
    cohen_kappa,
    disagreements,
)
from generation.reviewing.queue import Queue, current, reviewable

__all__ = [
    "Agreement",
    "Queue",
    "agreement_document",
    "agreements",
    "cohen_kappa",
    "current",
    "disagreements",
    "reviewable",
]
