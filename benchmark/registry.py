"""Named things, loaded when they are first asked for."""

import importlib
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from benchmark.errors import UserError


class Registry:
    """Maps a name to ``module:attribute``; the module is imported only when the name is used."""

    def __init__(self, kind: str, entries: Mapping[str, str]) -> None:
        self.kind = kind
        self.entries = dict(entries)

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def names(self) -> list[str]:
        return sorted(self.entries)

    def load(self, name: str) -> Any:
        """The object registered under ``name``; an unknown name is a ``UserError`` listing all."""
        if name not in self.entries:
            close = get_close_matches(name, self.entries, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            known = ", ".join(self.names())
            raise UserError(f"unknown {self.kind} {name!r}; known: {known}.{hint}")
        module, _, attribute = self.entries[name].partition(":")
        return getattr(importlib.import_module(module), attribute)
