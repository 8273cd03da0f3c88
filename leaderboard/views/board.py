"""What a board shows: on the front page its leaders, on its own page everything."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markupsafe import Markup

from leaderboard.numbers import rounded
from leaderboard.plots import (
    HeatRow,
    gate_panels,
    heat_map,
    quartile_stack,
    scatter,
    sweep_panels,
)
from leaderboard.plots.bars import interval_glyph
from leaderboard.plots.svg import architecture_label
from leaderboard.ranking.boards import HEADLINE, Board, Entry
from leaderboard.reading.records import DAME, Gate, Score
from leaderboard.views.across import AcrossView, across_view
from leaderboard.views.columns import ColumnView, column_view
from leaderboard.views.compare import concept_names
from leaderboard.views.deficit import DeficitView, deficit_views
from leaderboard.views.findings import CHANCE, Finding, findings
from leaderboard.views.rows import QUIET, joined, licence, sae_row

TOP = 20
"""Entries of a board on the front page."""

MAPPED, STACKED = 30, 12
"""Leading entries in the heat map, and in the bars of quartiles."""

CARDS, JUDGES = 4, 2
"""Findings, and columns of judges, on the front page."""

WIDE, NARROW = (860, 500), (350, 400)
_ON_INDEX = (HEADLINE, "match_score", "tapa_score", "delta_stay", "explained_variance", "l0")


@dataclass(frozen=True)
class Sweep:
    """Panels of one score against dictionary size."""

    name: str
    panels: tuple[Markup, ...]


@dataclass(frozen=True)
class BoardView:
    """A board with its rows and figures; what only its own page shows is made when asked for."""

    board: Board
    columns: tuple[ColumnView, ...]
    findings: tuple[Finding, ...]
    glyphs: Mapping[str, Markup]

    @property
    def path(self) -> str:
        """Its own page, from the site's root."""
        return f"boards/{self.board.slug}.html"

    @property
    def n(self) -> int:
        return len(self.board.entries)

    @property
    def n_known(self) -> int:
        """Entries with a ΔMATCHScore."""
        return len(self.board.ranked)

    @property
    def n_above(self) -> int:
        """Entries whose ΔMATCHScore interval lies wholly above 0."""
        scores = [_known(entry, HEADLINE) for entry in self.board.ranked]
        return sum(s is not None and s.low is not None and s.low > 0 for s in scores)

    @property
    def cards(self) -> tuple[Finding, ...]:
        """The findings that the front page has room for."""
        return self.findings[:CARDS]

    @property
    def index_columns(self) -> tuple[ColumnView, ...]:
        """Columns on the front page: few enough to be read without scrolling."""
        judged = [c for c in self.columns if c.key.startswith(DAME) and c.key != DAME + CHANCE]
        kept = {*_ON_INDEX, *(column.key for column in judged[:JUDGES])}
        return tuple(column for column in self.columns if column.key in kept)

    @cached_property
    def top(self) -> Markup:
        """Rows of the leading entries, with links from the site's root."""
        return joined(
            sae_row(entry, self.index_columns, self.glyphs, "", data=False)
            for entry in self.board.entries[:TOP]
        )

    @cached_property
    def rows(self) -> Markup:
        """All rows, for the board's own page."""
        hover = self.n <= QUIET
        return joined(
            sae_row(entry, self.columns, self.glyphs, "../", hover=hover)
            for entry in self.board.entries
        )

    @property
    def older(self) -> tuple[Entry, ...]:
        """Entries measured on an older version of the data."""
        return tuple(getattr(self.board, "older", ()))

    @cached_property
    def older_rows(self) -> Markup:
        return joined(sae_row(entry, self.columns, {}, "../", data=False) for entry in self.older)

    @cached_property
    def wide(self) -> Markup | None:
        return scatter(f"scatter-{self.board.slug}", self.board.records, WIDE)

    @cached_property
    def narrow(self) -> Markup | None:
        return scatter(f"scatter-narrow-{self.board.slug}", self.board.records, NARROW)

    @cached_property
    def sweeps(self) -> tuple[Sweep, ...]:
        names = {"match_score": "MATCHScore, held-out", "tapa_score": "TAPAScore"}
        records, slug = self.board.records, self.board.slug
        found = [
            Sweep(name, tuple(sweep_panels(f"{key}-{slug}", records, key, name)))
            for key, name in names.items()
        ]
        return tuple(sweep for sweep in found if sweep.panels)

    @cached_property
    def concepts(self) -> tuple[str, ...]:
        """The vocabulary of the board's data, in the first entry's order."""
        for entry in self.board.entries:
            return entry.record.concepts.names
        return ()

    @cached_property
    def concept_names(self) -> Markup:
        """The vocabulary as the comparison's scripts have it."""
        return concept_names(self.concepts)

    @cached_property
    def heat(self) -> Markup | None:
        rows = []
        for entry in self.board.entries[:MAPPED]:
            found = entry.record.concepts
            values = dict(zip(found.names, found.f1, strict=True))
            rows.append(HeatRow(entry.record.name, tuple(values.get(c) for c in self.concepts)))
        title = "Held-out F1 of every concept, leading SAEs from the top"
        return heat_map(f"heat-{self.board.slug}", title, rows, self.concepts)

    @property
    def n_mapped(self) -> int:
        return min(self.n, MAPPED)

    @cached_property
    def quartiles(self) -> tuple[Markup, Markup] | None:
        """Bars of dominance quartiles of the leading SAEs, wide and narrow."""
        rows = [(e.record.name, four) for e in self.board.entries if (four := _mass(e))]
        rows = rows[:STACKED]
        wide = quartile_stack(f"quartiles-{self.board.slug}", rows, WIDE[0])
        narrow = quartile_stack(f"quartiles-narrow-{self.board.slug}", rows, NARROW[0])
        return None if wide is None or narrow is None else (wide, narrow)

    @cached_property
    def across(self) -> AcrossView | None:
        return across_view(self.board)

    @cached_property
    def deficits(self) -> tuple[DeficitView, ...]:
        return deficit_views(self.board)

    @cached_property
    def architectures(self) -> tuple[str, ...]:
        return tuple(sorted({r.architecture for r in self.board.records}, key=architecture_label))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(sorted({record.d_sae for record in self.board.records}))

    @cached_property
    def judges(self) -> tuple[str, ...]:
        return tuple(sorted({judge for r in self.board.records for judge in r.judges}))

    @cached_property
    def licences(self) -> tuple[str, ...]:
        return tuple(sorted({name for e in self.board.entries if (name := licence(e))}))

    @property
    def n_exposed(self) -> int:
        """Entries whose training saw score data."""
        return sum(bool(getattr(entry, "exposure", ())) for entry in self.board.entries)


@dataclass(frozen=True)
class GateView:
    """The gate's verdict and figure, and what L0 its SAEs and their twins have."""

    d_sae: int
    passed: bool
    panels: tuple[Markup, ...]
    sparsity: str


def view_board(board: Board) -> BoardView:
    """The board ready to be shown; figures are drawn in two widths where they cannot shrink."""
    columns = tuple(
        column_view(column, (entry.cells[column.key] for entry in board.entries))
        for column in board.columns
    )
    return BoardView(board, columns, findings(board.entries, columns), _glyphs(board.entries))


def gate_view(gate: Gate | None, boards: Sequence[Board]) -> GateView | None:
    """The gate ready to be shown; None where none was run."""
    if gate is None:
        return None
    panels = tuple(gate_panels("gate", gate))
    return GateView(gate.d_sae, gate.passed, panels, _sparsity(gate, boards))


def _sparsity(gate: Gate, boards: Sequence[Board]) -> str:
    """Mean L0 of the gate's SAEs and of their twins, by architecture, where their records lie."""
    own = [e.record for board in boards for e in board.entries if e.submission is None]
    told = []
    for name in dict.fromkeys(row.architecture for row in gate.rows):
        pairs = [
            (sae.value, twin.value)
            for record in own
            if (record.architecture, record.d_sae) == (name, gate.d_sae)
            and (sae := record.score("l0")) is not None
            and (twin := record.baseline("untrained", "l0")) is not None
            and sae.value is not None
            and twin.value is not None
        ]
        if pairs:
            own_l0, twin_l0 = (rounded(statistics.mean(s), 1) for s in zip(*pairs, strict=True))
            told.append(f"{architecture_label(name)} {own_l0}, twins {twin_l0}")
    return "; ".join(told)


def _glyphs(entries: Sequence[Entry]) -> Mapping[str, Markup]:
    scores = {e.record.id: score for e in entries if (score := _known(e, HEADLINE))}
    ends = [0.0]
    for score in scores.values():
        ends += [end for end in (score.low, score.high, score.value) if end is not None]
    low, high = min(ends), max(ends)
    if low == high:
        high = low + 1
    return {
        sae: interval_glyph(score.value, score.ci95, low, high)
        for sae, score in scores.items()
        if score.value is not None
    }


def _known(entry: Entry, key: str) -> Score | None:
    score = entry.record.score(key)
    return score if score is not None and score.value is not None else None


def _mass(entry: Entry) -> list[float] | None:
    mass: Any = entry.record.document.get("dominance", {}).get("quartile_mass")
    values = None if mass is None else [score["value"] for score in mass]
    return None if values is None or any(value is None for value in values) else values
