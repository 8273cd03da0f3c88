"""Means of an SAE's result record, computed again from its rows a concept."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmark.submissions.problems import Problem, problem

TOLERANCE = 1e-9
_DELTAS = {"delta_match_score": "match_score", "delta_tapa_score": "tapa_score"}


def mean_problems(record: Mapping[str, Any], where: str) -> Iterator[Problem]:
    """Scores of a record that do not follow from its own rows and baselines."""
    scores, rows = record["scores"], record["per_concept"]
    for name, column in (("match_score", "f1"), ("match_score_in_sample", "f1_in_sample")):
        yield from _compare(scores, name, _mean(row[column] for row in rows), where)
    yield from _compare(scores, "tapa_score", _tapa(rows), where)
    untrained = record["baselines"].get("untrained", {})
    for delta, name in _DELTAS.items():
        parts = [side.get(name, {}).get("value") for side in (scores, untrained)]
        wanted = None if None in parts else parts[0] - parts[1]
        yield from _compare(scores, delta, wanted, where)
    for path, score in _scores(record):
        low, high = score["ci95"] or (None, None)
        if low is not None and not low <= high:
            yield problem(where, f"{path}.ci95", score["ci95"], "the lower bound first", _FIX)


_FIX = "measure again with the suite; nobody writes results by hand"


def _compare(
    scores: Mapping[str, Any], name: str, wanted: float | None, where: str
) -> Iterator[Problem]:
    if name not in scores:
        return
    value = scores[name]["value"]
    if value is None and wanted is None:
        return
    if value is None or wanted is None or not math.isclose(value, wanted, abs_tol=TOLERANCE):
        expected = f"{wanted}, what its rows give"
        yield problem(where, f"$.scores.{name}.value", value, expected, _FIX)


def _mean(values: Iterable[float | None]) -> float | None:
    """Plain mean over what is applicable."""
    found = [value for value in values if value is not None]
    return math.fsum(found) / len(found) if found else None


def _tapa(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """Mean over pairs that add minus mean over pairs that remove, from the rows a concept."""
    sides = []
    for delta, count in (("delta_add", "n_add"), ("delta_rem", "n_rem")):
        kept = [row for row in rows if row[delta] is not None]
        pairs = sum(row[count] for row in kept)
        sides.append(math.fsum(row[delta] * row[count] for row in kept) / pairs if pairs else None)
    add, remove = sides
    return None if add is None and remove is None else (add or 0.0) - (remove or 0.0)


def _scores(record: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    blocks = {
        "$.scores": record["scores"],
        **{f"$.baselines.{name}": block for name, block in record["baselines"].items()},
    }
    for path, block in blocks.items():
        for name, score in block.items():
            if "value" in score:
                yield f"{path}.{name}", score
