"""The ``assay`` command: one module a sub-command, loaded when it is called."""

import importlib
import os
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from benchmark import __version__
from benchmark.errors import CheckFailed, UserError

COMMANDS = {
    "demo": "benchmark.cli.demo",
    "data": "benchmark.cli.data",
    "generate": "benchmark.cli.generate",
    "embed": "benchmark.cli.embed",
    "text": "benchmark.cli.text",
    "train": "benchmark.cli.train",
    "score": "benchmark.cli.score",
    "card": "benchmark.cli.card",
    "judge": "benchmark.cli.judge",
    "images": "benchmark.cli.images",
    "sanity": "benchmark.cli.sanity",
    "sweep": "benchmark.cli.sweep",
    "submit": "benchmark.cli.submit",
    "site": "benchmark.cli.site",
}


class _Lazy(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        command = typer.main.get_command(importlib.import_module(COMMANDS[cmd_name]).app)
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=_Lazy,
    name="assay",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"assay {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Find out what sparse autoencoders and image generators really learned."""


def main() -> None:
    """Entry point: exit 0 ok, 1 failed check, 2 wrong use."""
    # torch's threads spin while they wait; on a busy machine that costs more than it saves
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        sys.exit(_run())
    except CheckFailed as error:
        _stop(str(error), 1)
    except (KeyboardInterrupt, typer.Abort):
        _stop("stopped; run the same command again to go on", 130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        _stop(f"{error.filename or 'file system'}: {error.strerror or error}", 2)
    except (ValueError, RuntimeError) as error:
        if type(error).__name__ == "BrokenProcessPool":
            _stop("a worker process was ended from outside (out of memory?); run again to go on", 1)
        if not isinstance(error, ValueError) or not _by_user(error):
            raise
        _stop(str(error), 2)


def _run() -> int:
    """Run the command; wrong use is one line instead of the framework's box."""
    try:
        code = app(standalone_mode=False)
        if code == 130:  # what typer makes of an interrupt
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except Exception as error:
        if not hasattr(error, "format_message") or not hasattr(error, "exit_code"):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            return 0
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "assay"
        raise UserError(f"{error.format_message().rstrip('.')}; see: {command} --help") from None


def _by_user(error: ValueError) -> bool:
    if isinstance(error, UserError):
        return True
    metrics = sys.modules.get("benchmark.metrics")
    return metrics is not None and isinstance(error, metrics.InputError)


def _stop(message: str, code: int) -> NoReturn:
    line = "error: " + " ".join(message.split())
    print(line.encode("utf-8", "replace").decode(), file=sys.stderr)
    sys.exit(code)
