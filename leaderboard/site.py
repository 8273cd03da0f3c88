"""Rendering the site from result records."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from benchmark import __version__
from benchmark.errors import UserError
from benchmark.files import replacing_dir
from leaderboard.boards import Board, make_boards
from leaderboard.comparison import copy_comparison
from leaderboard.deficit import published_deficit
from leaderboard.definitions import COLUMN, GROUPS, SOURCES
from leaderboard.gallery import PER_QUARTILE, STRONGEST, gallery_view
from leaderboard.judgements import Judgement, attach, load_judgements
from leaderboard.numbers import visible
from leaderboard.pages import Measurement, measure
from leaderboard.pictures import Pictures
from leaderboard.plots.svg import architecture_label
from leaderboard.records import Gate, Sanity, load_gate, load_records, load_sanity
from leaderboard.sanity import sanity_view
from leaderboard.sweep_page import SweepView, load_sweep
from leaderboard.views import BoardView, gate_view, view_board

if TYPE_CHECKING:
    from benchmark.datasets import Dataset

GENERATOR = "Assay leaderboard"


@dataclass(frozen=True)
class _Site:
    """What every page needs beside its own content."""

    version: str
    n_records: int
    has_sweep: bool = False
    has_images: bool = False


def build_site(
    results: Path,
    out: Path,
    *,
    dataset: "Dataset | None" = None,
    gate: Path | None = None,
    sanity: Path | None = None,
    judgements: Path | None = None,
    sweep: Path | None = None,
    images: Path | None = None,
    tell: Callable[[str], None] | None = None,
) -> Path:
    """Write the whole site to ``out`` from the records in ``results``; returns its index page.

    ``dataset`` gives the pictures of edit pairs, where its licence and fingerprint allow it;
    ``gate`` is the gate file of a demo run, ``sanity`` a file that `assay sanity` wrote,
    ``judgements`` a folder of documents that `assay judge` wrote, ``sweep`` the file of tables
    that `assay sweep` wrote, ``images`` the folder of a comparison that `assay images compare`
    wrote; ``tell`` is called with one line
    where some of these belong to no record, which are left out. The same input gives the same
    bytes. ``out`` is replaced as a whole, and only if it is absent, empty or an earlier site.
    Raises ``UserError`` for a record, gate, sanity or judgement file that is absent or breaks its
    schema, and for judgements that contradict each other or their record.
    """
    results, out = Path(results), Path(out)
    _check_out(results, out)
    records = load_records(results)
    if judgements is not None:
        records, stray = attach(records, load_judgements(Path(judgements)))
        if stray and tell is not None:
            tell(_left_out(stray))
    boards = make_boards(records)
    loaded_gate = load_gate(Path(gate)) if gate is not None else None
    loaded_sanity = load_sanity(Path(sanity)) if sanity is not None else None
    loaded_sweep = load_sweep(Path(sweep)) if sweep is not None else None
    with replacing_dir(out) as folder:
        if images is not None:
            copy_comparison(Path(images), folder / "images")
        site = _Site(__version__, len(records), loaded_sweep is not None, images is not None)
        _write(folder, site, boards, dataset, loaded_gate, loaded_sanity, loaded_sweep)
    return out / "index.html"


def _left_out(stray: Sequence[Judgement]) -> str:
    shown = ", ".join(judgement.file.name for judgement in stray[:3])
    more = f" and {len(stray) - 3} more" if len(stray) > 3 else ""
    files = "1 judgement belongs" if len(stray) == 1 else f"{len(stray)} judgements belong"
    return f"{files} to no record by SAE, data fingerprint and encoder, left out: {shown}{more}"


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
    site: _Site,
    boards: Sequence[Board],
    dataset: "Dataset | None",
    gate: Gate | None,
    sanity: Sanity | None,
    sweep: SweepView | None,
) -> None:
    environment = make_environment()
    environment.globals["site"] = site
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
    page(
        "methods.html",
        "methods.html.j2",
        boards=views,
        deficit=published_deficit(),
        judged=any(view.deficits for view in views),
    )
    if sweep is not None:
        page("sweep.html", "sweep.html.j2", sweep=sweep)
    for sae, measurements in _by_sae(boards, pictures).items():
        for measurement in measurements:
            text = measurement.record.text.encode()
            (folder / measurement.record_path).write_bytes(text)
            _write_galleries(folder, page, measurement, pictures)
        page(f"saes/{sae}.html", "sae.html.j2", measurements=measurements)


def _write_galleries(
    folder: Path, page: Callable[..., None], measurement: Measurement, pictures: Pictures
) -> None:
    record = measurement.record
    for judged in measurement.judged:
        if judged.gallery is None:
            continue
        judgement = record.judged[judged.judge]
        (folder / "saes" / record.id).mkdir(exist_ok=True)
        (folder / "judgements").mkdir(exist_ok=True)
        (folder / judgement.path).write_bytes(judgement.text.encode())
        page(
            judged.gallery,
            "latents.html.j2",
            record=record,
            title=measurement.board.title,
            document=judgement.document,
            judged=judged,
            view=gallery_view(f"spread-{judged.key}", judgement, pictures),
            per_quartile=PER_QUARTILE,
            strongest=STRONGEST,
        )


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
        "column": COLUMN,
        "generator": GENERATOR,
        "sources": SOURCES,
    }
    return environment


def _finalize(value: Any) -> Any:
    if value is None:
        raise ValueError("a template shows None; it must say what is missing")
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
