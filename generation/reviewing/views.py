"""What the pages show, as plain data, and the templates' environment."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import jinja2

from benchmark.datasets import Dataset
from generation.reviewing.pictures import base_picture
from generation.reviewing.queue import Item, Queue
from generation.verifying import REPAINTED, Change, change, edited_picture
from generation.verifying.verdicts import is_check
from generation.work import Decision, Work

VIEWS = ("side", "flicker", "difference")
LABELS = {"accept": "Accept", "reject": "Reject", "unsure": "Unsure"}


@dataclass(frozen=True)
class Opinion:
    """One line of what the classifier says."""

    concept: str
    side: str
    wanted: bool
    probability: float
    threshold: float
    right: bool


@dataclass(frozen=True)
class PairView:
    """Everything on the page of one pair.

    Attributes:
        number: place in the queue, from 1.
        version: stands in the pictures' addresses, so that a new picture is not an old one's copy.
        size: width and height of the base picture: the edited one is shown in the same shape.
        opinions: None where the classifier was not asked.
        reasons: why the classifier had no opinion, and what else speaks against the pair.
        change: None for an edit of the whole picture.
        repainted: whether more than the edited region changed.
        others: what reviewers said, by name; empty while they should not see it.
    """

    item: Item
    number: int
    version: str
    size: tuple[int, int]
    opinions: Sequence[Opinion] | None
    reasons: Sequence[str]
    change: Change | None
    repainted: bool
    decision: Decision | None
    before: str | None
    after: str | None
    others: Mapping[str, Decision]


class Viewer:
    """Looks pairs up for the pages."""

    def __init__(
        self,
        work: Work,
        source: Dataset,
        queue: Queue,
        others: Mapping[str, Mapping[str, Decision]],
    ) -> None:
        self._work = work
        self._source = source
        self._queue = queue
        self._others = others
        # looking at a pair means decoding two pictures
        self._look = lru_cache(maxsize=256)(self._measured)

    def _measured(self, edit: str) -> tuple[Change | None, tuple[int, int]]:
        item = self._queue.items[edit]
        base, edited = base_picture(self._source, item), edited_picture(self._work, item.record)
        return change(base, edited, item.edit.attribute_kind), base.size

    def pair(self, edit: str) -> PairView:
        """The page of a pair; ``KeyError`` where there is none."""
        item = self._queue.items[edit]
        before, after = self._queue.beside(edit)
        found, size = self._look(edit)
        verdict = item.verdict
        return PairView(
            item,
            self._queue.ids.index(edit) + 1,
            self.version(edit),
            size,
            None if verdict is None else [Opinion(**vars(check)) for check in verdict.checks],
            () if verdict is None else [each for each in verdict.reasons if not is_check(each)],
            found,
            found is not None and found.outside >= REPAINTED,
            self._queue.decisions.get(edit),
            before,
            after,
            self._others.get(edit, {}),
        )

    def version(self, edit: str) -> str:
        """Short, another one for another picture."""
        return f"{self._work.plan.hash[:8]}{self._queue.items[edit].sha256[:12]}"


@cache
def static_file(name: str) -> bytes:
    """A file of the folder ``static``."""
    return resources.files("generation.reviewing").joinpath("static", name).read_bytes()


def static_address(name: str) -> str:
    """Where the pages find it: another address for another content."""
    return f"/static/{name}?v={hashlib.sha256(static_file(name)).hexdigest()[:12]}"


def make_environment() -> jinja2.Environment:
    """Everything escaped, a misspelt name is an error."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("generation.reviewing", "templates"),
        # not select_autoescape: it does not see *.html.j2 as HTML
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"labels": LABELS, "static": static_address}
    environment.filters["percent"] = percent
    return environment


def percent(share: float) -> str:
    """A share for reading: never rounded to nothing."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def summary(queue: Queue) -> dict[str, Any]:
    """Progress, for the head of every page."""
    return {"done": queue.done, "all": len(queue.ids), "counts": queue.counts}
