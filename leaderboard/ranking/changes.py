"""What the newest boards have otherwise than a release."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leaderboard.definitions import Column
from leaderboard.numbers import MISSING, Number, fixed, number
from leaderboard.pages.citing import kind_of, page_path
from leaderboard.reading.records import Score

if TYPE_CHECKING:
    from leaderboard.building.bodies import AnyBoard, AnyEntry
    from leaderboard.building.content import Content
    from leaderboard.frozen.reading import Frozen

OLDER = "measured on an older data version"


@dataclass(frozen=True)
class Change:
    """One entry; texts are as shown, ranks as spans, empty where there is none.

    Attributes:
        path: its page, from the site's root; None where it has none any more.
        reason: why it is gone.
        column: the score that moved.
    """

    id: str
    name: str
    path: str | None
    reason: str = ""
    column: str = ""
    old: str = ""
    new: str = ""
    old_rank: str = ""
    new_rank: str = ""


@dataclass(frozen=True)
class Changes:
    """One board against the release."""

    release: str
    date: str
    board_slug: str
    board_title: str
    new: tuple[Change, ...]
    gone: tuple[Change, ...]
    moved: tuple[Change, ...]


def changes_since(release: "Frozen", content: "Content") -> tuple[Changes, ...]:
    """What every board has otherwise than ``release``, boards in their order.

    A board that is not in the release is compared with the one there of the same kind and title,
    which is the same board on an earlier state of the data.
    """
    frozen = list(release.document["boards"])
    boards = [board for board in content.all_boards if board.entries or board.older]
    pairs = {board.slug: _take(frozen, lambda old, b=board: old["slug"] == b.slug)
             for board in boards}  # fmt: skip
    for board in boards:
        if pairs[board.slug] is None:
            pairs[board.slug] = _take(
                frozen, lambda old, b=board: (old["kind"], old["title"]) == (kind_of(b), b.title)
            )
    withdrawn = {
        (kind_of(board), entry.record.id): (entry.record.name, entry.withdrawn["reason"])
        for board, entry in content.each()
        if entry.withdrawn
    }
    found = [_compare(release, board, pairs[board.slug], withdrawn) for board in boards]
    return (*found, *(_gone(release, old, withdrawn) for old in frozen))


Withdrawn = Mapping[tuple[str, str], tuple[str, str]]
"""Kind and id → name and the reason of the withdrawal."""


def _take(boards: list[Mapping[str, Any]], wanted: Any) -> Mapping[str, Any] | None:
    for place, board in enumerate(boards):
        if wanted(board):
            return boards.pop(place)
    return None


def _compare(
    release: "Frozen", board: "AnyBoard", frozen: Mapping[str, Any] | None, withdrawn: Withdrawn
) -> Changes:
    old = {} if frozen is None else {entry["id"]: entry for entry in frozen["entries"]}
    now = {entry.record.id: entry for entry in (*board.entries, *board.older)}
    new: list[Change] = []
    gone: list[Change] = []
    moved: list[Change] = []
    ranked: list[Change] = []
    for name, entry in now.items():
        before = old.get(name)
        if before is None:
            new.append(_new(board, entry))
        elif entry.older_data and not before["older_data"]:
            gone.append(_left(before, entry.record.name, page_path(board, entry), OLDER))
        else:
            changes = list(_moved(board, entry, before))
            (moved if changes and changes[0].column else ranked).extend(changes)
    for name, before in old.items():
        if name not in now:
            gone.append(_left(before, *_why(kind_of(board), before, withdrawn)))
    return Changes(
        release=release.name,
        date=release.date,
        board_slug=board.slug,
        board_title=board.title,
        new=tuple(new),
        gone=tuple(gone),
        moved=(*moved, *ranked),
    )


def _gone(release: "Frozen", frozen: Mapping[str, Any], withdrawn: Withdrawn) -> Changes:
    """A board of the release that there is no more."""
    left = [_left(entry, *_why(frozen["kind"], entry, withdrawn)) for entry in frozen["entries"]]
    return Changes(release.name, release.date, frozen["slug"], frozen["title"], (), tuple(left), ())


def _why(kind: str, frozen: Mapping[str, Any], withdrawn: Withdrawn) -> tuple[str, str | None, str]:
    """Name and page of an entry that is gone, and why."""
    found = withdrawn.get((kind, frozen["id"]))
    if found is None:
        return frozen["name"], None, ""
    name, reason = found
    return name, f"{kind}/{frozen['id']}.html", f"withdrawn: {reason}"


def _new(board: "AnyBoard", entry: "AnyEntry") -> Change:
    headline = board.columns[0]
    return Change(
        id=entry.record.id,
        name=entry.record.name,
        path=page_path(board, entry),
        column=headline.head,
        new=_shown(entry.cells[headline.key]),
        new_rank="" if entry.rank is None else entry.rank.span,
    )


def _left(frozen: Mapping[str, Any], name: str, path: str | None, reason: str) -> Change:
    return Change(
        id=frozen["id"],
        name=name,
        path=path,
        reason=reason,
        old_rank=_span(frozen["rank"]),
    )


def _moved(board: "AnyBoard", entry: "AnyEntry", frozen: Mapping[str, Any]) -> Iterator[Change]:
    """One change a score that moved, the first with the ranks; one without a score for a rank."""
    ranks = _span(frozen["rank"]), "" if entry.rank is None else entry.rank.span
    shown = {"id": entry.record.id, "name": entry.record.name, "path": page_path(board, entry)}
    scores = []
    for column in board.columns:
        cell, before = entry.cells[column.key], frozen["values"].get(column.key)
        old, new = frozen_text(before, column), _shown(cell)
        if old == new and before is not None and cell.value is not None:
            old, new = _apart(before["value"], cell.value, old)
        if old != new:
            scores.append((column.head, old, new))
    if not scores and ranks[0] != ranks[1]:
        scores.append(("", "", ""))
    for place, (head, old, new) in enumerate(scores):
        old_rank, new_rank = ranks if place == 0 else ("", "")
        yield Change(**shown, column=head, old=old, new=new, old_rank=old_rank, new_rank=new_rank)


def _apart(old: float, new: float, text: str) -> tuple[str, str]:
    """Both as they are shown, or with more digits where only these tell them apart."""
    return (text, text) if old == new else (fixed(old, 9), fixed(new, 9))


def _shown(cell: Number) -> str:
    return f"{cell.text} {cell.interval}" if cell.interval else cell.text


def frozen_text(value: Mapping[str, Any] | None, column: Column) -> str:
    """As today's rule rounds it: a release may have been frozen under another."""
    if value is None:
        return MISSING
    return _shown(number(Score.read({**value, "not_applicable": {}}), column.decimals))


def _span(rank: Mapping[str, int] | None) -> str:
    if rank is None:
        return ""
    best, worst = rank["best"], rank["worst"]
    return str(best) if best == worst else f"{best}–{worst}"
