"""Rendering the site from result records."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from benchmark import __version__
from benchmark.errors import UserError
from benchmark.files import replacing_dir
from leaderboard.across import published_deficit
from leaderboard.boards import Board, make_boards
from leaderboard.definitions import COLUMN, COLUMNS, GROUPS, SOURCES
from leaderboard.numbers import visible
from leaderboard.pages import Measurement, measure
from leaderboard.pictures import Pictures
from leaderboard.plots.svg import architecture_label
from leaderboard.records import Gate, Record, Sanity, load_gate, load_records, load_sanity
from leaderboard.sanity import sanity_view
from leaderboard.views import BoardView, gate_view, view_board

if TYPE_CHECKING:
    from benchmark.datasets import Dataset

GENERATOR = "Assay leaderboard"


@dataclass(frozen=True)
class _Site:
    """What every page needs beside its own content."""

    version: str
    n_records: int


def build_site(
    results: Path,
    out: Path,
    *,
    dataset: "Dataset | None" = None,
    gate: Path | None = None,
    sanity: Path | None = None,
) -> Path:
    """Write the whole site to ``out`` from the records in ``results``; returns its index page.

    ``dataset`` gives the pictures of edit pairs, where its licence and fingerprint allow it;
    ``gate`` is the gate file of a demo run, ``sanity`` a file that `assay sanity` wrote. The same
    input gives the same bytes. ``out`` is replaced as a whole, and only if it is absent, empty or
    an earlier site. Raises ``UserError`` for a record, gate or sanity file that is absent or
    breaks its schema.
    """
    results, out = Path(results), Path(out)
    _check_out(results, out)
    records = load_records(results)
    boards = make_boards(records)
    loaded_gate = load_gate(Path(gate)) if gate is not None else None
    loaded_sanity = load_sanity(Path(sanity)) if sanity is not None else None
    with replacing_dir(out) as folder:
        _write(folder, records, boards, dataset, loaded_gate, loaded_sanity)
    return out / "index.html"


def _check_out(results: Path, out: Path) -> None:
    inside, whole = results.resolve(), out.resolve()
    if inside == whole or whole in inside.parents:
        raise UserError(f"--out {out} holds the results in {results}; choose another folder")
    if not out.exists():
        return
    if not out.is_dir():
        raise UserError(f"--out {out} is a file; choose a folder")
    index = out / "index.html"
    if any(out.iterdir()) and not (
        index.is_file() and f'content="{GENERATOR}' in index.read_text("utf-8", "replace")[:4000]
    ):
        raise UserError(
            f"--out {out} is not empty and holds no site made by this command; "
            "it would be replaced: choose another folder or empty it"
        )


def _write(
    folder: Path,
    records: Sequence[Record],
    boards: Sequence[Board],
    dataset: "Dataset | None",
    gate: Gate | None,
    sanity: Sanity | None,
) -> None:
    environment = make_environment()
    environment.globals["site"] = _Site(__version__, len(records))
    pictures = Pictures(dataset, folder / "img")
    for name in ("saes", "records", "static"):
        (folder / name).mkdir()
    for asset in sorted(resources.files("leaderboard").joinpath("static").iterdir(), key=str):
        (folder / "static" / asset.name).write_bytes(asset.read_bytes())

    def page(path: str, template: str, **context: Any) -> None:
        root = "../" * path.count("/")
        html = environment.get_template(template).render(root=root, page=path, **context)
        (folder / path).write_bytes(html.encode())

    views: list[BoardView] = [view_board(board) for board in boards]
    checks = {"gate": gate_view(gate), "sanity": sanity_view(sanity)}
    page("index.html", "index.html.j2", boards=views, **checks)
    page("metrics.html", "metrics.html.j2", groups=GROUPS, sources=list(SOURCES.values()))
    page("methods.html", "methods.html.j2", boards=views, deficit=published_deficit())
    for sae, measurements in _by_sae(boards, pictures).items():
        for measurement in measurements:
            text = measurement.record.text.encode()
            (folder / measurement.record_path).write_bytes(text)
        page(f"saes/{sae}.html", "sae.html.j2", measurements=measurements)


def _by_sae(boards: Sequence[Board], pictures: Pictures) -> Mapping[str, list[Measurement]]:
    pages: dict[str, list[Measurement]] = defaultdict(list)
    for board in boards:
        for entry in board.entries:
            pages[entry.record.id].append(measure(board, entry, pictures))
    return pages


def make_environment() -> jinja2.Environment:
    """The templates' environment: everything escaped, a misspelt name is an error."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("leaderboard", "templates"),
        # Not select_autoescape: it does not see *.html.j2 as HTML.
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["architecture"] = architecture_label
    environment.globals |= {
        "columns": COLUMNS,
        "column": COLUMN,
        "generator": GENERATOR,
        "sources": SOURCES,
    }
    return environment


def _finalize(value: Any) -> Any:
    if value is None:
        raise ValueError("a template shows None; it must say what is missing")
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
