"""Making the edits of a plan with FLUX.2."""

from generation.editing.models import DEFAULT, KNOWN, Model, locate
from generation.editing.pipeline import Editor, Settings
from generation.editing.run import EditReport, here, make_edits, when_needed

__all__ = [
    "DEFAULT",
    "KNOWN",
    "EditReport",
    "Editor",
    "Model",
    "Settings",
    "here",
    "locate",
    "make_edits",
    "when_needed",
]
