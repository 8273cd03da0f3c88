"""The work folder of a dataset in the making: its files, read and written by every stage."""

from generation.work.folder import ADJUDICATION, Work, read_plan, write_plan
from generation.work.formats import (
    Check,
    Decision,
    DeclaredConcept,
    EditRecord,
    Plan,
    PlannedEdit,
    PlanSource,
    Verdict,
)
from generation.work.journal import Journal
from generation.work.pictures import base_bytes, open_source
from generation.work.selection import Dropped, Selection, select
from generation.work.standing import standing, take

__all__ = [
    "ADJUDICATION",
    "Check",
    "Decision",
    "DeclaredConcept",
    "Dropped",
    "EditRecord",
    "Journal",
    "Plan",
    "PlanSource",
    "PlannedEdit",
    "Selection",
    "Verdict",
    "Work",
    "base_bytes",
    "open_source",
    "read_plan",
    "select",
    "standing",
    "take",
    "write_plan",
]
