"""What the page of one SAE shows: every number of its records, ready for the template.

A page is a head, which names the submission and its ranks, and for each board a body, which rests
on the entry's own records alone: other entries come and go without changing it.
"""

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from leaderboard.definitions import COLUMNS, DELTAS, Column
from leaderboard.numbers import ITSELF, MINUS, Number, fixed, number, pad
from leaderboard.pages.cards import CardView, card_view
from leaderboard.pages.concept_table import concept_rows
from leaderboard.pages.examples import Example, pick_examples
from leaderboard.pages.history import ClaimRow, HistoryView, claim_rows, history_view
from leaderboard.pages.identity import Identity, identity
from leaderboard.pages.judged import JudgedView, judged_views
from leaderboard.pages.pictures import Pictures
from leaderboard.plots import quartile_bars
from leaderboard.ranking.boards import Board, Entry
from leaderboard.reading.records import Record, Score

__all__ = ["SPLIT", "Identity", "Measurement", "ScoreRow", "identity", "measure", "setting"]

SPLIT = True
"""The page of an entry is a head with ready bodies."""

HEADLINES = ("delta_match_score", "match_score", "tapa_score", "delta_stay")


@dataclass(frozen=True)
class ScoreRow:
    """One score beside its baselines."""

    column: Column
    own: Number
    untrained: Number
    random: Number
    n: int | None

    @property
    def is_delta(self) -> bool:
        """Whether the score already is a difference to the untrained twin."""
        return self.column.key in DELTAS


@dataclass(frozen=True)
class Measurement:
    """A record on its board, as the body of one section of its SAE's page."""

    board: Board
    entry: Entry
    record_path: str
    scores: tuple[ScoreRow, ...]
    bounds: Mapping[str, Number]
    claims: tuple[ClaimRow, ...]
    history: HistoryView | None
    concepts: Markup
    n_concepts: int
    best: tuple[Example, ...]
    worst: tuple[Example, ...]
    pictures_note: str | None
    dominance: Markup | None
    card: CardView | None
    judged: tuple[JudgedView, ...]
    record_sha256: str
    commands: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]

    @property
    def record(self) -> Record:
        return self.entry.record

    def pad(self, number: Number) -> str:
        """Class that brings a number's decimal point under those of the other scores."""
        shown = [n for row in self.scores for n in (row.own, row.untrained, row.random)]
        return pad(number, max(n.decimals for n in shown))

    @property
    def headlines(self) -> list[ScoreRow]:
        return [row for row in self.scores if row.column.key in HEADLINES]


def measure(board: Board, entry: Entry, pictures: Pictures) -> Measurement:
    """All that the page of ``entry`` shows for its place on ``board``.

    Of ``board`` it reads what every entry shares: data, encoder, columns.
    """
    record, document = entry.record, entry.record.document
    note = pictures.why_not(document.get("pairs_dataset") or document["dataset"])
    best, worst = pick_examples(document, pictures if note is None else None)
    mass = document.get("dominance", {}).get("quartile_mass")
    key = f"dominance-{board.slug}"
    digest = hashlib.sha256(record.text.encode()).hexdigest()
    judged = judged_views(record, board.slug)
    return Measurement(
        board=board,
        entry=entry,
        record_path=f"records/{record.id}.{board.slug}.json",
        scores=tuple(_score_row(record, column) for column in _columns(board, record)),
        bounds={
            name: number(bound)
            for name in ("prevalence", "linear_probe")
            if (bound := record.bound(name)) is not None
        },
        claims=claim_rows(getattr(entry, "claimed", {}), record),
        history=history_view(entry, [c for c in _columns(board, record) if c.key in HEADLINES]),
        concepts=concept_rows(document["per_concept"]),
        n_concepts=len(document["per_concept"]),
        best=best,
        worst=worst,
        pictures_note=note if best else None,
        dominance=_bars(key, mass),
        card=card_view(record, judged),
        judged=judged,
        record_sha256=digest,
        commands=_commands(entry),
        settings=tuple(sorted((k, setting(v)) for k, v in document["protocol"].items())),
    )


def _bars(key: str, mass: Any) -> Markup | None:
    return None if mass is None else quartile_bars(key, [Score.read(s) for s in mass])


def _columns(board: Board, record: Record) -> list[Column]:
    """Those of the board, without judges that did not judge this SAE."""
    return [c for c in board.columns if c in COLUMNS or record.score(c.key) is not None]


def _score_row(record: Record, column: Column) -> ScoreRow:
    score = record.score(column.key)
    return ScoreRow(
        column=column,
        own=number(score, column.decimals),
        untrained=_twin(record, column),
        random=number(record.baseline("random_codes", column.key), column.decimals),
        n=None if score is None else score.n,
    )


def _twin(record: Record, column: Column) -> Number:
    if column.key in DELTAS:
        return Number(None, ITSELF, None, 0, "0 by definition: the twin minus itself")
    return number(record.baseline("untrained", column.key), column.decimals)


def setting(value: Any) -> str:
    """A value of a protocol as text."""
    if isinstance(value, list):
        return ", ".join(setting(item) for item in value) or "none"
    if isinstance(value, dict):
        return "; ".join(f"{key.replace('_', ' ')}: {setting(value[key])}" for key in sorted(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:.6g}".replace("-", MINUS) if isinstance(value, float) else fixed(value, 0)
    return "n/a" if value is None else str(value)


def _commands(entry: Entry) -> tuple[str, ...]:
    """What measures the entry again: of a submission by its id, of a bare record by its weights."""
    record = entry.record
    document = record.document
    if document["encoder"]["weights_sha256"] is None:
        return ()  # features or codes came from a file that only its maker has
    data = ["--dataset", document["dataset"]["name"]]
    if pairs := document.get("pairs_dataset"):
        data += ["--pairs", pairs["name"]]
    if getattr(entry, "submission", None) is not None:
        return (shlex.join(["assay", "submit", "score", record.id, *data]),)
    data += ["--encoder", document["encoder"]["name"]]
    score = ["assay", "score", f"saes/{record.id}", *data, "--out", f"results/{record.id}.json"]
    return (shlex.join(score),)
