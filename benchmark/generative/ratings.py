"""Agreement of every metric with human ratings of classes, from comparison documents, §5.3."""

import csv
import io
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.generative.agreement import Agreement, agreement
from benchmark.metrics.score import RESAMPLES

COMPARISON = "comparison.json"
"""A document of this name stands for the class that its folder is called after."""

LARGEST = 1e12
"""Most that a rating may be, either way."""

_MOST_BYTES = 16 * 2**20
_COLUMNS = ("class", "rating", "rater")


@dataclass(frozen=True)
class Ratings:
    """Ratings of classes.

    Attributes:
        mean: class → mean over its ratings.
        counts: class → number of ratings.
        raters: names of raters, empty where the file has none.
    """

    mean: Mapping[str, float]
    counts: Mapping[str, int]
    raters: tuple[str, ...]


def read_ratings(path: Path) -> Ratings:
    """Ratings from a CSV file with a head ``class,rating`` or ``class,rating,rater``.

    Raises:
        UserError: no such file, another head, a line with a blank class, a rating that is no
            number from −``LARGEST`` to ``LARGEST``, or a second rating of one class (by one
            rater); file and line are named.
    """
    values: dict[str, list[float]] = defaultdict(list)
    seen: dict[tuple[str, str], int] = {}
    for line, row in _rows(path):
        name, rater = row["class"].strip(), row.get("rater", "").strip()
        if not name:
            raise UserError(f"{path} line {line}: a blank class; expected its name")
        rating = _number(row["rating"])
        if rating is None:
            raise UserError(
                f"{path} line {line}: rating {row['rating'][:40]!r}; expected a number from "
                f"{-LARGEST:g} to {LARGEST:g}"
            )
        first = seen.setdefault((name, rater), line)
        if first != line:
            who = f" by {rater!r}" if rater else ""
            raise UserError(
                f"{path} line {line}: class {name!r} was rated{who} in line {first} already; "
                "expected one line each, with a column rater where several people rated"
            )
        values[name].append(rating)
    if not values:
        raise UserError(f"{path}: no ratings; expected lines under the head class,rating[,rater]")
    return Ratings(
        {name: math.fsum(found) / len(found) for name, found in values.items()},
        {name: len(found) for name, found in values.items()},
        tuple(sorted({rater for _, rater in seen if rater})),
    )


def _number(text: str) -> float | None:
    """A rating; None for what Python reads as a number but people do not write as one."""
    try:
        value = float(text)
    except ValueError:
        return None
    plain = text.isascii() and "_" not in text
    return value if plain and abs(value) <= LARGEST else None


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """(number of its last line, row) of every line under the head."""
    if not path.is_file():
        raise UserError(f"{path}: no such file; expected a CSV file with class,rating[,rater]")
    if path.stat().st_size > _MOST_BYTES:
        raise UserError(f"{path}: larger than {_MOST_BYTES >> 20} MiB; expected a file of ratings")
    try:
        text = path.read_text(encoding="utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        head = [name.strip() for name in reader.fieldnames or ()]
        if sorted(head) not in (sorted(_COLUMNS), sorted(_COLUMNS[:2])):
            raise UserError(
                f"{path} line 1: columns {', '.join(head) or 'none'}; expected class,rating or "
                "class,rating,rater"
            )
        reader.fieldnames = head
        rows = [(reader.line_num, row) for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a CSV file in UTF-8 ({error}); write it again") from None
    for line, row in rows:
        if None in row or None in row.values():
            raise UserError(f"{path} line {line}: expected {len(head)} columns")
    return rows


def find_comparisons(folder: Path) -> dict[str, Path]:
    """Class → document: ``CLASS.json``, or ``comparison.json`` in a folder called ``CLASS``.

    Raises:
        UserError: no such folder, none in it, or two for one class.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; expected one with a comparison for each class")
    found: dict[str, Path] = {}
    for path in sorted([*folder.glob("*.json"), *folder.glob(f"*/{COMPARISON}")]):
        name = path.parent.name if path.parent != folder else path.stem
        if name in found:
            raise UserError(f"{folder}: class {name!r} has two documents, {found[name]} and {path}")
        found[name] = path
    if not found:
        raise UserError(
            f"{folder}: no comparison; expected CLASS.json or CLASS/{COMPARISON} for each class"
        )
    return found


def metrics_of(document: Mapping[str, Any]) -> dict[str, float | None]:
    """One number a metric of a comparison: RA-CLIPScore and the like are means over attributes."""

    def mean(key: str) -> float | None:
        values = [row[key]["generated"]["value"] for row in document["attributes"]]
        there = [value for value in values if value is not None]
        return math.fsum(there) / len(there) if there else None

    found = {
        **{name: document["means"][name]["value"] for name in document["means"]},
        **{name: mean(name) for name in ("ra_clip_score", "clip_score", "hcs")},
    }
    if document.get("diversity") is not None:
        found["lpips"] = document["diversity"]["scores"]["generated"]["value"]
    if document["quality"] is not None:
        found |= {name: one["value"] for name, one in document["quality"]["scores"].items()}
    return found


def agreements(
    ratings: Ratings,
    documents: Mapping[str, Mapping[str, Any]],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Agreement]:
    """Correlation of every metric with the mean ratings, over the rated classes.

    Args:
        ratings: of classes, each of which must have a document.
        documents: class → comparison; those that are not rated are left out.
        resamples, seed: of the bootstrap over classes.

    Raises:
        UserError: a rated class without a document, documents that were not made alike.
    """
    missing = sorted(set(ratings.mean) - set(documents))
    if missing:
        raise UserError(
            f"no comparison for {len(missing)} of {len(ratings.mean)} rated classes: "
            + ", ".join(map(repr, missing[:10]))
        )
    classes = sorted(ratings.mean)
    _check_alike(classes, documents)
    found = [metrics_of(documents[name]) for name in classes]
    people = [ratings.mean[name] for name in classes]
    names = list(dict.fromkeys(metric for row in found for metric in row))
    return {
        name: agreement(
            [math.nan if (v := row.get(name)) is None else v for row in found],
            people,
            resamples=resamples,
            seed=seed,
        )
        for name in names
    }


def _check_alike(classes: Sequence[str], documents: Mapping[str, Mapping[str, Any]]) -> None:
    def made(document: Mapping[str, Any]) -> dict[str, Any]:
        quality, diversity = document["quality"], document.get("diversity") or {}
        return {
            **document["protocol"],
            "attributes": [row["attribute"] for row in document["attributes"]],
            "encoder": None if quality is None else quality["encoder"],
            "lpips_weights": diversity.get("weights_sha256"),
        }

    first = made(documents[classes[0]])
    for name in classes[1:]:
        other = made(documents[name])
        apart = [key for key in {**first, **other} if first.get(key) != other.get(key)]
        if apart:
            raise UserError(
                f"the comparisons of {classes[0]!r} and {name!r} differ in {apart[0]}; make all "
                "with the same model, attributes and options"
            )
