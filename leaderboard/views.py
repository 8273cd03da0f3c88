"""What a board's section of the front page shows beside its table."""

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from leaderboard.across import AcrossView, across_view
from leaderboard.boards import HEADLINE, Board, Entry
from leaderboard.deficit import DeficitView, deficit_views
from leaderboard.definitions import COLUMNS
from leaderboard.numbers import Number, pad
from leaderboard.plots import gate_panels, scatter, sweep_panels
from leaderboard.plots.bars import interval_glyph
from leaderboard.plots.svg import architecture_label
from leaderboard.records import Gate, Record, Score

LED = (HEADLINE, "tapa_score")
WIDE, NARROW = (860, 500), (350, 400)


@dataclass(frozen=True)
class Sweep:
    """Panels of one score against dictionary size."""

    name: str
    panels: tuple[Markup, ...]


@dataclass(frozen=True)
class Finding:
    """Who leads one column, and how many cannot be told from it."""

    label: str
    entry: Entry
    number: Number
    rivals: int
    alone: bool


@dataclass(frozen=True)
class BoardView:
    """A board with its figures."""

    board: Board
    glyphs: Mapping[str, Markup]
    pads: Mapping[str, int]
    findings: tuple[Finding, ...]
    wide: Markup | None
    narrow: Markup | None
    sweeps: tuple[Sweep, ...]
    across: AcrossView | None
    deficits: tuple[DeficitView, ...]
    architectures: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def n_known(self) -> int:
        """Entries with a ΔMATCHScore."""
        return len(self.board.ranked)

    @property
    def n_above(self) -> int:
        """Entries whose ΔMATCHScore interval lies wholly above 0."""
        scores = [_known(entry.record, HEADLINE) for entry in self.board.ranked]
        return sum(s is not None and s.low is not None and s.low > 0 for s in scores)

    def glyph(self, sae: str) -> Markup:
        """The interval of an SAE's ΔMATCHScore on the axis all rows share."""
        return self.glyphs.get(sae, Markup(""))

    def pad(self, key: str, number: Number) -> str:
        """Class that brings a number's decimal point under the others' of its column."""
        return pad(number, self.pads[key])


@dataclass(frozen=True)
class GateView:
    """The gate's verdict and figure."""

    d_sae: int
    passed: bool
    panels: tuple[Markup, ...]


def view_board(board: Board) -> BoardView:
    """The board with its figures, drawn in two widths where they cannot just shrink."""
    records = board.records
    names = {"match_score": "MATCHScore, held-out", "tapa_score": "TAPAScore"}
    sweeps = [
        Sweep(name, tuple(sweep_panels(f"{key}-{board.slug}", records, key, name)))
        for key, name in names.items()
    ]
    return BoardView(
        board=board,
        glyphs=_glyphs(board),
        pads={
            c.key: max((e.cells[c.key].decimals for e in board.entries), default=0)
            for c in board.columns
        },
        findings=_findings(board),
        wide=scatter(f"scatter-{board.slug}", records, WIDE),
        narrow=scatter(f"scatter-narrow-{board.slug}", records, NARROW),
        sweeps=tuple(sweep for sweep in sweeps if sweep.panels),
        across=across_view(board),
        deficits=deficit_views(board),
        architectures=tuple(sorted({r.architecture for r in records}, key=architecture_label)),
        sizes=tuple(sorted({record.d_sae for record in records})),
    )


def gate_view(gate: Gate | None) -> GateView | None:
    """The gate ready to be shown; None where none was run."""
    if gate is None:
        return None
    return GateView(gate.d_sae, gate.passed, tuple(gate_panels("gate", gate)))


def _glyphs(board: Board) -> Mapping[str, Markup]:
    scores = {record.id: score for record in board.records if (score := _known(record, HEADLINE))}
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


def _findings(board: Board) -> tuple[Finding, ...]:
    found = []
    for column in COLUMNS:
        if column.key not in LED:
            continue
        scores = {e.record.id: s for e in board.entries if (s := _known(e.record, column.key))}
        if not scores:
            continue
        leader = max(scores, key=lambda sae, of=scores: of[sae].value or 0.0)  # type: ignore[misc]
        entry = next(e for e in board.entries if e.record.id == leader)
        rivals = sum(
            _overlap(scores[leader], score) for sae, score in scores.items() if sae != leader
        )
        found.append(
            Finding(
                label=f"Highest {column.head}",
                entry=entry,
                number=entry.cells[column.key],
                rivals=rivals,
                alone=len(scores) == 1,
            )
        )
    return tuple(found)


def _known(record: Record, key: str) -> Score | None:
    score = record.score(key)
    return score if score is not None and score.value is not None else None


def _overlap(one: Score, other: Score) -> bool:
    ends = (one.low, one.high, other.low, other.high)
    if any(end is None for end in ends):
        return False
    low, high, other_low, other_high = (end for end in ends if end is not None)
    return low <= other_high and other_low <= high
