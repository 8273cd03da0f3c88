"""The figures of a sweep, for its page and as files of their own."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from markupsafe import Markup

from benchmark.files import write_bytes
from benchmark.names import slug
from leaderboard.plots import scatter
from leaderboard.plots.lines import Line, Point, Reference, lines_panel
from leaderboard.reading.records import load_records

Rows = Sequence[Mapping[str, Any]]
# seven marks and colours that are told apart; matchers borrow them in order
_SHAPES = ("topk", "batchtopk", "matryoshka", "jumprelu", "relu", "gated", "panneal")
_NAMES = {
    "match_score": "MATCHScore, held-out",
    "delta_match_score": "ΔMATCHScore",
    "tapa_score": "TAPAScore",
}
_SIZE = "dictionary size"


@dataclass(frozen=True)
class Figure:
    """A figure: its file name without suffix, what it shows, and the SVG."""

    name: str
    heading: str
    svg: Markup


@dataclass(frozen=True)
class Place:
    """One dataset and encoder of a sweep, with its figures."""

    title: str
    figures: tuple[Figure, ...]


def sweep_places(document: Mapping[str, Any]) -> tuple[Place, ...]:
    """Every dataset and encoder of a sweep document, with the figures its tables give."""
    tables = {table["name"]: table["rows"] for table in document["tables"]}
    places = dict.fromkeys((row["dataset"], row["encoder"]) for row in tables.get("results", ()))
    return tuple(
        Place(
            f"{dataset} × {encoder}",
            tuple(_figures(_prefix(dataset, encoder), tables, (dataset, encoder))),
        )
        for dataset, encoder in places
    )


def write_figures(folder: Path, document: Mapping[str, Any], results: Path) -> list[Path]:
    """Write every figure as an SVG that brings its style; earlier ones no longer made go.

    Args:
        folder: where to.
        document: the sweep's.
        results: folder of its result records, for TAPAScore against MATCHScore.
    """
    figures = [one for place in sweep_places(document) for one in place.figures]
    figures += _scatters(document, results)
    written = []
    for one in figures:
        path = folder / f"{one.name}.svg"
        write_bytes(path, standalone(one.svg).encode())
        written.append(path)
    for old in folder.glob("*.svg"):
        if old not in written:
            old.unlink()
    return written


def standalone(svg: Markup) -> str:
    """A figure as a file: with its name space and the rules of the site's style that it needs."""
    css = resources.files("leaderboard").joinpath("static/assay.css").read_text("utf-8")
    colours = css[css.index(":root") : css.index("* { box-sizing")]
    rules = css[css.index(".figure text") : css.index(".gate-trained {")]
    head, rest = str(svg).split(">", 1)
    ground = '<rect width="100%" height="100%" fill="var(--ground)"/>'
    style = f"<style>{colours}{rules}</style>"
    return f'{head} xmlns="http://www.w3.org/2000/svg">{style}{ground}{rest}\n'


def _prefix(dataset: str, encoder: str) -> str:
    return slug(f"{dataset}-{encoder}", 80)


def _figures(prefix: str, tables: Mapping[str, Rows], place: tuple[str, str]) -> Iterable[Figure]:
    def here(name: str) -> list[Mapping[str, Any]]:
        return [row for row in tables.get(name, ()) if (row["dataset"], row["encoder"]) == place]

    main = here("results")
    found: list[tuple[str, str, Markup | None]] = []
    for metric in ("match_score", "delta_match_score", "tapa_score"):
        references = _references(here("best")) if metric == "delta_match_score" else []
        key = f"{prefix}-{metric.replace('_', '-')}-by-size"
        title = f"{_NAMES[metric]} against {_SIZE}"
        lines = _by_architecture(main, metric)
        found.append((key, title, lines_panel(key, title, _SIZE, lines, references)))
    for architecture in dict.fromkeys(row["architecture"] for row in main):
        key = f"{prefix}-divergence-{slug(architecture)}"
        title = f"{architecture}: does TAPAScore follow?"
        rows = [row for row in main if row["architecture"] == architecture]
        found.append((key, title, lines_panel(key, title, _SIZE, _metric_lines(rows, "d_sae"))))
    for metric in ("match_score", "delta_match_score", "tapa_score"):
        key = f"{prefix}-matchers-{metric.replace('_', '-')}"
        title = f"{_NAMES[metric]} by matcher, mean"
        lines = _by_matcher(here("matchers_by_sae"), metric)
        found.append((key, title, lines_panel(key, title, _SIZE, lines)))
    for (architecture, size), rows in _grouped(here("k"), "architecture", "d_sae").items():
        key = f"{prefix}-k-{slug(architecture)}-{size}"
        title = f"{architecture} {size:,}: active latents K"
        found.append((key, title, lines_panel(key, title, "K", _metric_lines(rows, "k"))))
    return [Figure(key, title, svg) for key, title, svg in found if svg is not None]


def _grouped(rows: Rows, *keys: str) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        found[tuple(row[key] for key in keys)].append(row)
    return dict(found)


def _points(rows: Rows, across: str, metric: str) -> tuple[Point, ...]:
    """Means at every size; the interval where one row alone is there."""
    points = []
    for (x,), many in sorted(_grouped(rows, across).items()):
        scores = [row[metric] for row in many if row[metric] and row[metric]["value"] is not None]
        if scores and len(scores) == len(many):
            mean = sum(score["value"] for score in scores) / len(scores)
            ends = scores[0]["ci95"] if len(scores) == 1 else None
            points.append(Point(x, mean, (ends[0], ends[1]) if ends else None))
    return tuple(points)


def _by_architecture(rows: Rows, metric: str) -> list[Line]:
    return [
        Line(name, name, _points(many, "d_sae", metric))
        for (name,), many in _grouped(rows, "architecture").items()
    ]


def _by_matcher(rows: Rows, metric: str) -> list[Line]:
    return [
        Line(name, shape, _points(many, "d_sae", metric))
        for ((name,), many), shape in zip(_grouped(rows, "matcher").items(), _SHAPES, strict=False)
    ]


def _metric_lines(rows: Rows, across: str) -> list[Line]:
    shapes = zip(_NAMES, _SHAPES, strict=False)
    return [
        Line(_NAMES[metric].partition(",")[0], shape, _points(rows, across, metric))
        for metric, shape in shapes
    ]


def _references(best: Rows) -> list[Reference]:
    """The paper's values that are numbers, at the size it names."""
    found = []
    for row in best:
        score, size = row.get("paper_delta_match_score"), row.get("paper_d_sae")
        if score and size and score["value"] is not None and size["value"] is not None:
            text = f"paper, {row['architecture']} {score['printed']}"
            found.append(Reference(size["value"], score["value"], text))
    return found


def _scatters(document: Mapping[str, Any], results: Path) -> list[Figure]:
    tables = {table["name"]: table["rows"] for table in document["tables"]}
    wanted = {
        row["id"]: _prefix(row["dataset"], row["encoder"]) for row in tables.get("results", ())
    }
    if not wanted:
        return []
    groups = defaultdict(list)
    for record in load_records(results):
        if record.id in wanted:
            groups[wanted[record.id]].append(record)
    drawn: Callable[..., Any] = scatter
    found = []
    for prefix, records in sorted(groups.items()):
        key = f"{prefix}-tapa-score-by-match-score"
        svg = drawn(key, records, (860, 500))
        if svg is not None:
            found.append(Figure(key, "TAPAScore against held-out MATCHScore", svg))
    return found
