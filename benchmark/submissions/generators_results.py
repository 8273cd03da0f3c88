"""Rules for results of generators: whose they are, and that their means follow from their rows."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.submissions.documents import RESULTS, Result, named
from benchmark.submissions.measured import BY_SUITE
from benchmark.submissions.problems import Problem, problem

_TOLERANCE = 1e-9


def generator_result_problems(
    results: Sequence[Result],
    document: Mapping[str, Any],
    folder: Path,
    images_sha256: str | None = None,
) -> Iterator[Problem]:
    """Results that are not of this generator, or whose means do not follow from their rows.

    Args:
        results: of the submission.
        document: its ``submission.json``.
        folder: where it lies.
        images_sha256: of its images, where they are here.
    """
    generator = document["generator"]
    seen = {images_sha256} - {None}
    for result in results:
        where, record = named(result.file), result.document
        who = record["submission"]
        if result.place != document["real"]:
            yield problem(where, "", f"in {result.place}", f"in {document['real']}", BY_SUITE)
        if who["kind"] != generator["kind"]:
            yield problem(where, "$.submission.kind", who["kind"], generator["kind"], BY_SUITE)
        source = generator if generator["kind"] == "diffusers" else generator.get("hub", {})
        for key in ("repo", "revision"):
            if key in source and who.get(key) != source[key]:
                yield problem(where, f"$.submission.{key}", who.get(key), source[key], BY_SUITE)
        if generator["kind"] == "images":
            seen.add(who["images_sha256"])
        yield from _means(record, where)
    if len(seen) > 1:
        yield problem(
            named(folder / RESULTS),
            "$.submission.images_sha256",
            ", ".join(sorted(map(str, seen))),
            "the hash of its images in all results",
            "submit other images under another id",
        )


def _means(record: Mapping[str, Any], where: str) -> Iterator[Problem]:
    """Scores that do not follow from rows, pairs and maps."""
    rows, pairs = record["per_attribute"], record["pairs"]
    count = len(rows) * (len(rows) - 1) // 2
    listed = record["protocol"]["attributes"]["n"]
    for path, found, wanted in (
        ("$.protocol.attributes.n", listed, len(rows)),
        ("$.pairs.count", pairs["count"], count),
        ("$.pairs.values", len(pairs["values"]), count),
        ("$.pairs.null_q95", len(pairs["null_q95"]), count),
        ("$.maps.unrefined", len(record["maps"]["unrefined"]), len(rows)),
    ):
        if found != wanted:
            yield problem(where, path, found, f"{wanted}, what its rows give", BY_SUITE)
    for name, (value, n) in recomputed(record).items():
        score = record["scores"][name]
        if not _same(score["value"], value):
            expected = f"{value}, what its rows give"
            yield problem(where, f"$.scores.{name}.value", score["value"], expected, BY_SUITE)
        if score["n"] != n:
            expected = f"{n}, what its rows give"
            yield problem(where, f"$.scores.{name}.n", score["n"], expected, BY_SUITE)
    for name, null in record["null"].items():
        value = record["scores"][name]["value"]
        if null is not None and null["inside"] != (value is not None and value <= null["q95"]):
            yield problem(
                where, f"$.null.{name}.inside", null["inside"], "score at most q95", BY_SUITE
            )


def recomputed(document: Mapping[str, Any]) -> dict[str, tuple[float | None, int]]:
    """Value and count of every mean of a result, from its rows and pairs alone."""
    rows = document["per_attribute"]
    found = {
        name: _mean(row[name]["score"]["value"] for row in rows)
        for name in ("sad", "r_sad", "r_sad_unrefined")
    }
    found["r_sad_over_null"] = _mean(row["r_sad"]["over_null"] for row in rows)
    found["pad"] = _mean(document["pairs"]["values"])
    return found


def _mean(values: Iterable[float | None]) -> tuple[float | None, int]:
    known = [value for value in values if value is not None]
    return (math.fsum(known) / len(known) if known else None), len(known)


def _same(left: float | None, right: float | None) -> bool:
    if left is None or right is None:
        return left is right
    return math.isclose(left, right, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
