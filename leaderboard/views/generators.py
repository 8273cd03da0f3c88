"""What a board of image generators shows: on the front page its leaders, on its own page all."""

from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from leaderboard.plots.nulls import NullRow, null_bars
from leaderboard.ranking.generator_boards import HEADLINE, GeneratorBoard, GeneratorEntry
from leaderboard.views.board import CARDS, NARROW, TOP, WIDE
from leaderboard.views.columns import ColumnView, column_view
from leaderboard.views.findings import Finding, findings
from leaderboard.views.rows import QUIET, generator_row, joined, licence

_ON_INDEX = (HEADLINE, "pad", "r_sad", "fid", "precision", "recall")


@dataclass(frozen=True)
class GeneratorView:
    """A board of generators with its rows and figure."""

    board: GeneratorBoard
    columns: tuple[ColumnView, ...]
    findings: tuple[Finding, ...]

    @property
    def path(self) -> str:
        """Its own page, from the site's root."""
        return f"boards/{self.board.slug}.html"

    @property
    def n(self) -> int:
        return len(self.board.entries)

    @property
    def n_inside(self) -> int:
        """Ranked entries that cannot be told from the real images by single attributes."""
        return sum(entry.record.inside_null(HEADLINE) is True for entry in self.board.ranked)

    @property
    def cards(self) -> tuple[Finding, ...]:
        """The findings that the front page has room for."""
        return self.findings[:CARDS]

    @property
    def index_columns(self) -> tuple[ColumnView, ...]:
        return tuple(column for column in self.columns if column.key in _ON_INDEX)

    @cached_property
    def top(self) -> Markup:
        """Rows of the leading entries, with links from the site's root."""
        return joined(
            generator_row(entry, self.index_columns, "", data=False)
            for entry in self.board.entries[:TOP]
        )

    @cached_property
    def rows(self) -> Markup:
        """All rows, for the board's own page."""
        hover = self.n <= QUIET
        return joined(
            generator_row(entry, self.columns, "../", hover=hover) for entry in self.board.entries
        )

    @property
    def older(self) -> tuple[GeneratorEntry, ...]:
        """Entries compared with an older state of the real set."""
        return self.board.older

    @cached_property
    def older_rows(self) -> Markup:
        return joined(generator_row(entry, self.columns, "../", data=False) for entry in self.older)

    @cached_property
    def figures(self) -> tuple[Markup, Markup] | None:
        """SaD of the leading entries beside their nulls, wide and narrow."""
        rows = []
        for entry in self.board.ranked[:TOP]:
            score, null = entry.record.score(HEADLINE), entry.record.null(HEADLINE)
            if score is not None:
                rows.append(NullRow(entry.record.name, score, null[1] if null else None))
        wide = null_bars(f"nulls-{self.board.slug}", "Mean SaD", rows, WIDE[0])
        narrow = null_bars(f"nulls-narrow-{self.board.slug}", "Mean SaD", rows, NARROW[0])
        return None if wide is None or narrow is None else (wide, narrow)

    @cached_property
    def licences(self) -> tuple[str, ...]:
        return tuple(sorted({name for e in self.board.entries if (name := licence(e))}))

    @property
    def n_copies(self) -> int:
        """Entries that hand in images of the real set."""
        return sum(entry.record.copies for entry in self.board.entries)

    @property
    def n_exposed(self) -> int:
        """Entries whose training saw the real images."""
        return sum(bool(entry.exposure) for entry in self.board.entries)


def view_generators(board: GeneratorBoard) -> GeneratorView:
    """The board ready to be shown."""
    columns = tuple(
        column_view(column, (entry.cells[column.key] for entry in board.entries))
        for column in board.columns
    )
    fair = [entry for entry in board.entries if not entry.record.copies]
    return GeneratorView(board, columns, findings(fair, columns))
