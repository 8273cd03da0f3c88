"""What the page of one SAE shows: every number of its records, ready for the template."""

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from leaderboard.boards import Board, Entry
from leaderboard.cards import CardView, card_view
from leaderboard.definitions import COLUMN, COLUMNS, Column
from leaderboard.examples import Example, latents, pick_examples
from leaderboard.judged import JudgedView, judged_views
from leaderboard.numbers import MINUS, Number, fixed, number, pad, plain
from leaderboard.pictures import Pictures
from leaderboard.plots import quartile_bars
from leaderboard.plots.bars import f1_bar
from leaderboard.records import Record, Score

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
        return self.column.key in ("delta_match_score", "delta_tapa_score")


@dataclass(frozen=True)
class ConceptRow:
    """One concept: how well its coalition matches and how it follows edits."""

    concept: str
    prevalence: Number
    f1: Number
    f1_in_sample: Number
    bar: Markup
    coalition: str
    delta_add: Number
    n_add: int
    delta_rem: Number
    n_rem: int


@dataclass(frozen=True)
class Measurement:
    """A record on its board, as one section of its SAE's page."""

    board: Board
    entry: Entry
    record_path: str
    scores: tuple[ScoreRow, ...]
    bounds: Mapping[str, Number]
    concepts: tuple[ConceptRow, ...]
    best: tuple[Example, ...]
    worst: tuple[Example, ...]
    pictures_note: str | None
    dominance: Markup | None
    card: CardView | None
    judged: tuple[JudgedView, ...]
    record_sha256: str
    citation: str
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
    """All that the page of ``entry`` shows for its place on ``board``."""
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
        concepts=_concepts(document["per_concept"]),
        best=best,
        worst=worst,
        pictures_note=note if best else None,
        dominance=_bars(key, mass),
        card=card_view(record, judged),
        judged=judged,
        record_sha256=digest,
        citation=_citation(board, record, digest),
        commands=_commands(record),
        settings=tuple(sorted((k, _setting(v)) for k, v in document["protocol"].items())),
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
        untrained=number(record.baseline("untrained", column.key), column.decimals),
        random=number(record.baseline("random_codes", column.key), column.decimals),
        n=None if score is None else score.n,
    )


def _concepts(rows: Sequence[Mapping[str, Any]]) -> tuple[ConceptRow, ...]:
    made = [_concept(row) for row in rows]
    return tuple(
        sorted(
            made,
            key=lambda row: (
                row.f1.value is None,
                -(row.f1.value or 0.0),
                row.concept,
            ),
        )
    )


def _concept(row: Mapping[str, Any]) -> ConceptRow:
    prevalence = row.get("prevalence")
    floor = None if prevalence is None else 2 * prevalence / (1 + prevalence)
    return ConceptRow(
        concept=row["concept"],
        prevalence=plain(prevalence),
        f1=plain(row["f1"]),
        f1_in_sample=plain(row["f1_in_sample"]),
        bar=f1_bar(row["f1"], floor),
        coalition=latents(row["coalition"]),
        delta_add=plain(row["delta_add"]),
        n_add=row["n_add"],
        delta_rem=plain(row["delta_rem"]),
        n_rem=row["n_rem"],
    )


def _setting(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_setting(item) for item in value) or "none"
    if isinstance(value, dict):
        return "; ".join(
            f"{key.replace('_', ' ')}: {_setting(value[key])}" for key in sorted(value)
        )
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:.6g}".replace("-", MINUS) if isinstance(value, float) else fixed(value, 0)
    return "n/a" if value is None else str(value)


def _citation(board: Board, record: Record, digest: str) -> str:
    document = record.document
    dataset, year = document["dataset"], document["timing"]["measured_at"][:4]
    values = []
    for key in ("delta_match_score", "match_score", "tapa_score"):
        shown = number(record.score(key))
        if shown.value is not None:
            interval = f" {shown.interval}" if shown.interval else ""
            values.append(f"{COLUMN[key].head} {shown.text}{interval}")
    return (
        f"Assay {document['environment']['suite_version']} ({year}). {record.name} ({record.id}) "
        f"on {board.title}, {dataset['name']} revision {dataset['revision']}, fingerprint "
        f"{dataset['fingerprint'][:16]}, protocol {document['protocol']['version']}: "
        f"{'; '.join(values) or 'no headline score'} (95 % intervals). Record {digest[:16]}."
    )


def _commands(record: Record) -> tuple[str, ...]:
    document = record.document
    if document["encoder"]["weights_sha256"] is None:
        return ()  # features or codes came from a file that only its maker has
    dataset = ["--dataset", document["dataset"]["name"]]
    if pairs := document.get("pairs_dataset"):
        dataset += ["--pairs", pairs["name"]]
    data = [*dataset, "--encoder", document["encoder"]["name"]]
    score = ["assay", "score", f"saes/{record.id}", *data, "--out", f"results/{record.id}.json"]
    return (shlex.join(score),)
