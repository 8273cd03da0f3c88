"""``assay sweep``."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from benchmark.runs import Prepared
    from benchmark.sweep import Executor, Report, SweepConfig, Table
    from benchmark.workers import Setting

app = typer.Typer(add_completion=False)


@app.command()
def sweep(
    config: Annotated[
        str, typer.Argument(help="TOML file, or a grid that comes along: paper, synavatars.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for saes/, results/, tables/, figures/ and site/."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes; one a core by default. Results do not change."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Run on Ray: a cluster's address, auto, or local. Results do not change.",
        ),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")] = False,
) -> None:
    """Train, score and compare a whole grid of SAEs.

    What is there already with the same configuration is kept; a run that was stopped goes on.
    What fails is listed at the end and stops nothing else.
    """
    from benchmark.cli.show import print_json
    from benchmark.errors import CheckFailed, UserError
    from benchmark.sweep import ConfigError, find_config, load_config

    try:
        read = load_config(find_config(config))
    except ConfigError as error:
        for fault in error.faults:
            typer.echo(f"error: {fault}", err=True)
        raise typer.Exit(2) from None
    place = out or read.out
    if place is None:
        raise UserError("no folder for the results; give --out, or the key out in the file")
    with executor_for(ray, workers) as executor:
        report, document = run_config(read, place, executor, on_ray=ray is not None)
    if json_:
        print_json(document)
    else:
        _report(place, report, document)
    for failure in report.failures:
        typer.echo(f"failed: {failure.what}: {failure.line}", err=True)
    if report.failures:
        raise CheckFailed(
            f"{len(report.failures)} of the sweep's tasks failed; tracebacks are in "
            f"{place / 'failures.json'}; run the same command again to try them again"
        )


@contextmanager
def executor_for(ray: str | None, workers: int | None) -> "Iterator[Executor]":
    """Local processes, or Ray at an address."""
    from benchmark.sweep import LocalExecutor

    if ray is None:
        local = LocalExecutor(workers)
        try:
            yield local
        finally:
            local.close()
        return
    from benchmark.ray_cluster import connected
    from benchmark.sweep.ray_executor import RayExecutor

    with connected(ray, workers) as processors:
        remote = RayExecutor(workers or processors)
        try:
            yield remote
        finally:
            remote.close()


def run_config(
    config: "SweepConfig", out: Path, executor: "Executor", *, on_ray: bool = False
) -> "tuple[Report, dict[str, Any]]":
    """Every stage of a sweep; returns what was done and the document that the site shows."""
    from dataclasses import replace

    from benchmark.cli.show import progress_bar
    from benchmark.files import check_target, write_json
    from benchmark.sweep import jobs_of, make_tables, run_sweep
    from benchmark.sweep.run import log_failures, read_records
    from benchmark.sweep.table_text import write_tables
    from leaderboard.published.ca import best_of

    check_target(out / "sweep.json")
    jobs = jobs_of(config)
    ready: dict[Setting, Prepared] = {}

    def prepare(setting: "Setting") -> "tuple[Prepared, Mapping[str, Any]]":
        prepared, probe = _prepare(config, setting, on_ray)
        # the features are the executor's; what follows needs names and pictures alone
        ready[setting] = replace(prepared, features={})
        return prepared, probe

    with progress_bar("training and scoring SAEs") as update:
        report = run_sweep(jobs, out, executor, prepare, update)
    checks = _checks(config, out, executor, ready, report)
    found = read_records(jobs, out, report)
    tables = make_tables(config, found, checks, best_of)
    document = _document(config, tables)
    write_json(out / "sweep.json", document)
    write_tables(out / "tables", tables)
    log_failures(out / "failures.json", report.failures)
    _draw(out, document, ready)
    return report, document


def _prepare(
    config: "SweepConfig", setting: "Setting", on_ray: bool
) -> "tuple[Prepared, Mapping[str, Any]]":
    from benchmark.cli.embed import shown_progress
    from benchmark.probe_bound import probe_bound
    from benchmark.ray_embed import embed_setting
    from benchmark.workers import prepare_setting

    with shown_progress(f"embedding {setting.dataset}") as update:
        if on_ray:
            embed_setting(setting, update)
        prepared = prepare_setting(setting, update)
    labels = prepared.labels
    # once here, before every worker would need it
    return prepared, probe_bound(prepared.source, prepared.features, labels, config.protocol())


def _checks(
    config: "SweepConfig",
    out: Path,
    executor: "Executor",
    ready: "Mapping[Setting, Prepared]",
    report: "Report",
) -> "dict[Setting, Mapping[str, Any]]":
    import json

    from benchmark.cli.show import progress_bar
    from benchmark.sweep import jobs_of
    from benchmark.sweep.checks import check_setting
    from benchmark.sweep.plan import setting_slug

    found: dict[Setting, Mapping[str, Any]] = {}
    for setting, prepared in ready.items() if config.sanity else ():
        jobs = [job for job in jobs_of(config) if job.setting == setting]
        name = setting_slug(config, setting)
        with progress_bar("checking metrics") as update:
            path = check_setting(config, jobs, out, name, executor, prepared, report, update)
        if path is not None:
            found[setting] = json.loads(path.read_bytes())
    return found


def _document(config: "SweepConfig", tables: "list[Table]") -> dict[str, Any]:
    return {
        "schema_version": 1,
        "name": config.name,
        "k": config.k,
        "tables": [table.as_dict() for table in tables],
    }


def _draw(out: Path, document: Mapping[str, Any], ready: "Mapping[Setting, Prepared]") -> None:
    """Figures and site; nothing where not one SAE could be scored."""
    from benchmark.sweep.plan import RESULTS, SANITY
    from leaderboard import build_site
    from leaderboard.views.sweep_figures import write_figures

    write_figures(out / "figures", document, out / RESULTS)
    if not any((out / RESULTS).glob("*.json")):
        return
    checks = sorted((out / SANITY).glob("*.json"))
    build_site(
        out / RESULTS,
        out / "site",
        dataset=next(iter(ready.values())).dataset if len(ready) == 1 else None,
        sanity=checks[0] if len(checks) == 1 else None,
        sweep=out / "sweep.json",
    )


def _report(out: Path, report: "Report", document: Mapping[str, Any]) -> None:
    from benchmark.cli.show import plain_table, wide_console
    from benchmark.sweep.plan import RESULTS
    from benchmark.sweep.rows import Column
    from benchmark.sweep.table_text import shown

    console = wide_console()
    console.width = max(console.width, 200)
    for table in document["tables"]:
        if table["name"] in ("best", "matchers", "sanity"):
            columns = [Column(**one) for one in table["columns"]]
            drawn = plain_table(table["title"], [one.head for one in columns])
            for row in table["rows"]:
                cells = (shown(one, row[one.key]) for one in columns)
                drawn.add_row(*(" ".join(filter(None, cell)) for cell in cells))
            console.print(drawn)
    typer.echo(
        f"{report.trained} SAEs trained, {report.measured} measurements made, "
        f"{report.kept} kept as they were"
    )
    other = {*(out / RESULTS).glob("*.json")} - report.records
    if other:
        typer.echo(
            f"note: {len(other)} records in {out / RESULTS} are not of this sweep; the site shows "
            "them, its tables and figures do not",
            err=True,
        )
    typer.echo(f"{out}: tables/, figures/ and site/index.html")
