"""Everything a site shows, read and checked, before a page is written."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from leaderboard.building.cache import Cache
from leaderboard.building.pool import Pool
from leaderboard.ranking.boards import Board, make_boards
from leaderboard.ranking.finding import find, with_judgements, without_repeats
from leaderboard.ranking.generator_boards import GeneratorBoard, make_generator_boards
from leaderboard.reading.judgements import Judgement, load_judgements
from leaderboard.reading.records import Gate, Sanity, load_gate, load_sanity
from leaderboard.reading.slim import File
from leaderboard.views.sweep_page import SweepView, load_sweep

if TYPE_CHECKING:
    from leaderboard.building.bodies import AnyBoard, AnyEntry

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Sources:
    """Where everything is read from; None: not there."""

    results: Path | None = None
    submissions: Path | None = None
    gate: Path | None = None
    sanity: Path | None = None
    judgements: Path | None = None
    sweep: Path | None = None
    images: Path | None = None


@dataclass(frozen=True)
class Content:
    """What a site shows.

    Attributes:
        files: the file of every record and of every earlier one, by the record's hash.
        images: folder of a comparison of images.
        waiting: names of submissions that were never measured, by kind.
    """

    boards: tuple[Board, ...]
    generators: tuple[GeneratorBoard, ...]
    files: Mapping[str, File] = field(repr=False)
    gate: Gate | None = None
    sanity: Sanity | None = None
    sweep: SweepView | None = None
    images: Path | None = None
    waiting: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def all_boards(self) -> tuple["AnyBoard", ...]:
        return (*self.boards, *self.generators)

    def each(self) -> Iterator[tuple["AnyBoard", "AnyEntry"]]:
        """Every entry that has a page, on its board."""
        for board in self.all_boards:
            for entry in board.all:
                yield board, entry


def read_content(sources: Sources, cache: Cache, pool: Pool, tell: Tell | None = None) -> Content:
    """All of ``sources``, checked.

    Args:
        tell: called with one line where judgements or records are left out, and why.

    Raises:
        UserError: a file that is absent or breaks its schema, and what contradicts each other.
    """
    found = find(sources.results, sources.submissions, cache, pool)
    if sources.judgements is not None:
        found, stray = with_judgements(found, load_judgements(sources.judgements))
        if stray and tell is not None:
            tell(_left_out(stray))
    found, repeats = without_repeats(found)
    if repeats and tell is not None:
        tell(_repeated(repeats))
    return Content(
        boards=make_boards(found.saes),
        generators=make_generator_boards(found.generators),
        files=found.files,
        gate=load_gate(sources.gate) if sources.gate is not None else None,
        sanity=load_sanity(sources.sanity) if sources.sanity is not None else None,
        sweep=load_sweep(sources.sweep) if sources.sweep is not None else None,
        images=sources.images,
        waiting={
            kind: [each.name for each in found.waiting if each.kind == kind]
            for kind in ("saes", "generators")
        },
    )


def _repeated(repeats: Sequence[tuple[str, str]]) -> str:
    shown = ", ".join(f"{name} ({submission})" for name, submission in repeats[:3])
    more = f" and {len(repeats) - 3} more" if len(repeats) > 3 else ""
    what = "1 record is" if len(repeats) == 1 else f"{len(repeats)} records are"
    whose = "its weights are" if len(repeats) == 1 else "their weights are"
    return (
        f"{what} left out: {whose} those of a submission measured on the same data with the same "
        f"encoder: {shown}{more}"
    )


def _left_out(stray: Sequence[Judgement]) -> str:
    shown = ", ".join(judgement.file.name for judgement in stray[:3])
    more = f" and {len(stray) - 3} more" if len(stray) > 3 else ""
    files = "1 judgement belongs" if len(stray) == 1 else f"{len(stray)} judgements belong"
    return f"{files} to no record by SAE, data fingerprint and encoder, left out: {shown}{more}"
