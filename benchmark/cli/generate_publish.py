"""``assay generate publish``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from generation.publishing import Report


def publish(
    folder: Annotated[Path, typer.Argument(help="Dataset folder made by assay generate package.")],
    repo: Annotated[str, typer.Option(metavar="OWNER/NAME", help="Dataset repository on the Hub.")],
    version: Annotated[
        str | None, typer.Option(help="Version that the folder must have, such as v1.0.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would change; nothing is written.")
    ] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Make the repository private, if it is made.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Put a package on the Hub as a tagged version, and read it back.

    The first time:

    \b
      hf auth login
      assay generate publish FOLDER --repo OWNER/NAME --dry-run
      assay generate publish FOLDER --repo OWNER/NAME

    The first line asks for a token that may write (made on the Hub's page
    Settings, Access Tokens); HF_TOKEN does as well. The second prints what
    the third changes: the repository is made where there is none, its main
    branch becomes the package in one commit, what the package lacks is
    deleted. Then everything is fetched into an empty cache, its fingerprint
    compared, and the version tagged (v1.0). A run that was ended goes on with
    the same command and sends nothing twice. Refused: files changed since
    they were packaged, a version that exists, a licence that nobody states,
    a repository of something else, and verify: report_only anywhere but on a
    test server of this machine (HF_ENDPOINT).
    """
    from benchmark.cli.show import print_json, progress_bar
    from generation.publishing import Options
    from generation.publishing import publish as run

    options = Options(version, private, dry_run)
    with progress_bar("checking") as update:
        report = run(
            folder,
            repo,
            options,
            say=lambda line: typer.echo(line, err=True),
            plan=None if json_ else _plan,
            progress=update,
        )
    if json_:
        print_json(report.as_dict())
    elif report.commit is None:
        typer.echo("dry run: nothing was written")
    else:
        _report(report)


def _plan(report: "Report") -> None:
    from generation.publishing.changes import in_words
    from generation.publishing.retry import shown

    package, state, changes = report.package, report.state, report.changes
    manifest = package.manifest
    typer.echo(
        f"{package.name} {manifest['version']}, {manifest['counts']['pairs']:,} pairs, "
        f"{manifest['review']['state']}: to {report.repo} at {report.endpoint} as "
        f"{report.account}, tag {package.tag}"
    )
    for note in package.notes:
        typer.echo(f"note: {note}")
    seen = "private" if report.private else "public"
    if not state.exists:
        typer.echo(f"repository: made new, {seen}")
    else:
        held = "" if state.holds is None else f", holds version {state.holds.get('version')}"
        typer.echo(f"repository: there, {seen}, main is {state.commit}{held}")
    for word, of in (("add", changes.added), ("change", changes.changed)):
        for each in of:
            before = "" if each.before is None else f" (was {in_words(each.before)})"
            typer.echo(f"  {word:7} {each.path}  {in_words(each.bytes)}{before}")
    for each in changes.deleted:
        typer.echo(f"  delete  {shown(each.path)}  {in_words(each.before or 0)}")
    same = sum(each.bytes for each in changes.unchanged)
    sent = sum(each.bytes for each in changes.sent)
    typer.echo(
        f"{len(changes.sent):,} files to send, {in_words(sent)}; {len(changes.deleted):,} to "
        f"delete; {len(changes.unchanged):,} stay, {in_words(same)}"
    )


def _report(report: "Report") -> None:
    typer.echo(f"{report.repo} {report.package.tag} is commit {report.commit}")
    typer.echo(f"fingerprint {report.fingerprint}, read back from there")
    typer.echo(f"load it with: {report.load_line}")
    typer.echo(f"score with it: --pairs {report.repo}@{report.commit}")
