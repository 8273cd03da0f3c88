"""The YAML block of a dataset card, which the Hub and its ``datasets`` library read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

# a plain scalar that no YAML reader takes for a number, a date, a truth value or null
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}


def front_matter(document: Mapping[str, Any]) -> str:
    """A document of objects, lists, texts, numbers and truth values between two ``---``."""
    return "\n".join(["---", *_lines(document), "---"]) + "\n"


def yaml_features(typed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Features, as an Arrow schema's metadata holds them, in the shorter form of the cards."""
    return [{"name": name, **_feature(kind)} for name, kind in typed.items()]


def _feature(kind: Mapping[str, Any]) -> dict[str, Any]:
    if kind["_type"] == "List":
        return {"list": _item(kind["feature"])}
    return {"dtype": _item(kind)}


def _item(kind: Mapping[str, Any]) -> Any:
    if kind["_type"] == "ClassLabel":
        names = {str(index): name for index, name in enumerate(kind["names"])}
        return {"class_label": {"names": names}}
    return "image" if kind["_type"] == "Image" else kind["dtype"]


def _lines(value: Mapping[str, Any] | Sequence[Any], indent: str = "") -> list[str]:
    lines = []
    if isinstance(value, Mapping):
        for key, each in value.items():
            lines += _entry(f"{indent}{_scalar(key)}:", each, indent)
    else:
        for each in value:
            if isinstance(each, Mapping):
                first, *rest = _lines(each, indent + "  ")
                lines += [f"{indent}- {first.lstrip()}", *rest]
            else:
                lines.append(f"{indent}- {_scalar(each)}")
    return lines


def _entry(head: str, value: Any, indent: str) -> list[str]:
    if isinstance(value, Mapping) and value:
        return [head, *_lines(value, indent + "  ")]
    if isinstance(value, list | tuple) and value:
        return [head, *_lines(value, indent)]
    return [f"{head} {_scalar(value)}"]


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    # JSON is YAML: quoted text, numbers, true, false, null, and what is empty
    return json.dumps(value, ensure_ascii=False)
