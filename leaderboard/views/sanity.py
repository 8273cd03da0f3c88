"""What the front page shows of the sanity check."""

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from leaderboard.definitions import BY_ANCHOR, Definition
from leaderboard.numbers import Number, number, pad, rounded
from leaderboard.plots.bars import three_bars
from leaderboard.plots.svg import architecture_label
from leaderboard.reading.records import SANITY_KINDS, Sanity, SanityRow

_ANCHORS = {
    "match_score": "match-score",
    "match_score_in_sample": "match-score-in-sample",
    "match_score_one_to_one": "one-to-one",
    "tapa_score": "tapa-score",
    "fms": "fms",
    "ms": "ms",
    "cknna": "cknna",
}
_NO_VALUE = "n/a"


@dataclass(frozen=True)
class MetricView:
    """One metric of the check, ready for its row."""

    definition: Definition
    own: bool
    numbers: tuple[Number, ...]
    glyph: Markup
    passed: bool


@dataclass(frozen=True)
class ConfigurationView:
    """One SAE of the check: the value of every metric, with its twin's and its random codes'."""

    label: str
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SanityView:
    """The check's verdict, its table and the values it is a mean of."""

    title: str
    metrics: tuple[MetricView, ...]
    configurations: tuple[ConfigurationView, ...]
    twin_seeds: int

    @property
    def failed_own(self) -> list[MetricView]:
        """Metrics of the suite itself that do not pass."""
        return [metric for metric in self.metrics if metric.own and not metric.passed]

    @property
    def failed_baselines(self) -> list[MetricView]:
        """Baseline metrics that do not pass."""
        return [metric for metric in self.metrics if not metric.own and not metric.passed]

    def pad(self, shown: Number) -> str:
        """Class that brings a number's decimal point under those of the others."""
        return pad(shown, max(n.decimals for metric in self.metrics for n in metric.numbers))


def sanity_view(sanity: Sanity | None) -> SanityView | None:
    """The check ready to be shown; None where none was run."""
    if sanity is None:
        return None
    document = sanity.document
    found = document["configurations"]
    return SanityView(
        title=f"{document['dataset']['name']} × {document['encoder']['name']}",
        metrics=tuple(_metric(row) for row in sanity.rows),
        configurations=tuple(
            ConfigurationView(
                f"{architecture_label(one['architecture'])} {one['d_sae']:,}",
                tuple(_cell(row.values[index]) for row in sanity.rows),
            )
            for index, one in enumerate(found)
        ),
        twin_seeds=len(document["protocol"]["twin_seeds"] or ()),
    )


def _metric(row: SanityRow) -> MetricView:
    scores = [row.means[kind] for kind in SANITY_KINDS]
    return MetricView(
        definition=BY_ANCHOR[_ANCHORS[row.metric]],
        own=row.own,
        numbers=tuple(number(score) for score in scores),
        glyph=three_bars(scores),
        passed=row.passed,
    )


def _cell(values: Mapping[str, float | None]) -> tuple[str, str]:
    trained, untrained, random = (
        _NO_VALUE if values[kind] is None else rounded(values[kind] or 0.0) for kind in SANITY_KINDS
    )
    return trained, f"{untrained} · {random}"
