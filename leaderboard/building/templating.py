"""The templates' environment."""

from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from leaderboard.definitions import COLUMN, SOURCES
from leaderboard.plots.svg import architecture_label
from leaderboard.text import shown
from leaderboard.views import filters

GENERATOR = "Assay leaderboard"
"""What every page names as its maker, and what an earlier site is known by."""


def make_environment(compiled: Path | None = None) -> jinja2.Environment:
    """Everything escaped, a misspelt name is an error, None is never shown.

    ``compiled`` is a folder that keeps what templates were compiled to.
    """
    bytecode = None
    if compiled is not None:
        compiled.mkdir(parents=True, exist_ok=True)
        bytecode = jinja2.FileSystemBytecodeCache(str(compiled))
    environment = jinja2.Environment(
        bytecode_cache=bytecode,
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
    filters.register(environment)
    return environment


@cache
def bodies_environment(compiled: Path) -> jinja2.Environment:
    """The environment of page parts that know nothing of the site around them."""
    return make_environment(compiled)


def _finalize(value: Any) -> Any:
    if value is None:
        raise ValueError("a template shows None; it must say what is missing")
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
