"""A board as rows of plain values, the same in every format."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from leaderboard.definitions import Column
from leaderboard.pages.citing import kind_of, page_path
from leaderboard.ranking.boards import Board
from leaderboard.ranking.generator_boards import GeneratorBoard
from leaderboard.reading.generator_records import GeneratorRecord
from leaderboard.reading.records import Score

if TYPE_CHECKING:
    from leaderboard.building.bodies import AnyBoard, AnyEntry

Value = str | int | float | None
OLDER, CURRENT = "older data version", "current"


def record_path(board: "AnyBoard", entry: "AnyEntry") -> str:
    """The record behind an entry, from the site's root."""
    return f"records/{entry.record.id}.{board.slug}.json"


def board_rows(board: "AnyBoard") -> list[dict[str, Value]]:
    """One row an entry, best first; those of an older state of the data at the end, unranked."""
    return [entry_row(board, entry) for entry in (*board.entries, *board.older)]


def entry_row(board: "AnyBoard", entry: "AnyEntry") -> dict[str, Value]:
    """Who an entry is, its rank, and every score of the board with interval and count."""
    rank, submission, record = entry.rank, entry.submission, entry.record
    row: dict[str, Value] = {
        "id": record.id,
        "name": record.name,
        "status": OLDER if entry.older_data else CURRENT,
        "rank": None if rank is None else rank.place,
        "rank_best": None if rank is None else rank.best,
        "rank_worst": None if rank is None else rank.worst,
        **_what(entry),
    }
    for column in board.columns:
        row |= score_cells(column, record.score(column.key))
    return row | {
        "licence": None if submission is None else submission.licence,
        "exposure": "; ".join(entry.exposure) if submission is not None else None,
        "version": entry.version,
        "measured_at": record.document["timing"]["measured_at"],
        "page": page_path(board, entry),
        "record": record_path(board, entry),
        "record_sha256": record.sha256,
    }


def score_cells(column: Column, score: Score | None) -> dict[str, Value]:
    """Value, ends of the interval or spread and count; all None where it was not measured."""
    key, low, high = column.key, None, None
    ends = f"{key}_spread" if column.kind == "spread" else key
    if score is not None and score.ci95 is not None:
        low, high = score.ci95
    return {
        key: None if score is None else score.value,
        f"{ends}_low": low,
        f"{ends}_high": high,
        f"{key}_n": None if score is None else score.n,
    }


def _what(entry: "AnyEntry") -> dict[str, Value]:
    record = entry.record
    if isinstance(record, GeneratorRecord):
        return {"kind": record.kind, "images": record.n}
    return {"architecture": record.architecture, "d_sae": record.d_sae, "seed": record.seed}


def about(board: "AnyBoard") -> dict[str, Any]:
    """What the rows of a board have in common, and what its columns mean."""
    data: Mapping[str, Any]
    if isinstance(board, GeneratorBoard):
        data = {"real": board.real, "model": board.model}
    else:
        assert isinstance(board, Board)
        data = {
            "dataset": board.dataset,
            "pairs_dataset": board.pairs_dataset,
            "encoder": board.encoder,
        }
    return {
        "slug": board.slug,
        "title": board.title,
        "kind": kind_of(board),
        "page": f"boards/{board.slug}.html",
        "protocol": board.protocol,
        "columns": [
            {
                "key": column.key,
                "label": column.head,
                "direction": column.definition.direction,
                "range": column.definition.range,
                "kind": column.kind,
                "meaning": column.definition.short,
                "definition": f"metrics.html#{column.definition.anchor}",
            }
            for column in board.columns
        ],
        **data,
    }
