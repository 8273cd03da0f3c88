"""A judgement as a document of its own, and its place in a result record."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.errors import UserError
from benchmark.judges.base import Judge
from benchmark.judges.questions import Judged
from benchmark.judges.run import Judgement
from benchmark.judges.sources import ExampleSource
from benchmark.names import slug
from benchmark.records import environment, score_json, timing

QUARTILES = (1, 2, 3, 4)


def judgement_document(
    judgement: Judgement,
    judge: Judge,
    source: ExampleSource,
    *,
    kind: str,
    submission: Mapping[str, Any],
    dataset: Mapping[str, Any],
    encoder: Mapping[str, Any],
    started: float,
) -> dict[str, Any]:
    """The judgement as JSON, valid under ``schemas/judge.schema.json``.

    Args:
        judgement: what ``judge_latents`` found.
        judge, source: as asked.
        kind: ``"image"`` or ``"text"``.
        submission, dataset, encoder: as in result records.
        started: ``time.time()`` before the judgement.
    """
    document: dict[str, Any] = {
        "schema_version": 1,
        "submission": dict(submission),
        "dataset": dict(dataset),
        "encoder": dict(encoder),
        "judge": {"name": judge.name, **judge.identity()},
        "protocol": {**judgement.protocol.as_dict(), "kind": kind},
        "scores": {name: score_json(score) for name, score in judgement.scores.items()},
        "quartiles": [_quartile(judgement, q) for q in QUARTILES],
        "latents": [_latent(one, judgement, source.ids) for one in judgement.judged],
        "counts": dict(judgement.counts),
        "environment": environment(),
        "timing": timing(started),
    }
    if kind == "text":
        document["contexts"] = _contexts(judgement, source)
    return document


def _quartile(judgement: Judgement, number: int) -> dict[str, Any]:
    sample, own = judgement.sample, judgement.quartile_score(number)
    inside = sample.quartile == number
    return {
        "quartile": number,
        "alive": int(inside.sum()),
        "eligible": sample.eligible(number),
        "ineligible": sample.ineligible(number),
        "scored": own.n,
        "mean": own.value,
        "ci95": None if own.ci95 is None else list(own.ci95),
        "detection": _mean(judgement, number, "detection"),
        "amplitude": _mean(judgement, number, "amplitude"),
        "mass": float(sample.dominance[inside].sum()),
    }


def _mean(judgement: Judgement, quartile: int, name: str) -> float | None:
    own = [one for one in judgement.judged if judgement.sample.quartile[one.latent] == quartile]
    values = [getattr(one, name) for one in own if getattr(one, name) is not None]
    return sum(values) / len(values) if values else None


def _latent(one: Judged, judgement: Judgement, ids: Sequence[str]) -> dict[str, Any]:
    sample = judgement.sample
    return {
        "latent": one.latent,
        "quartile": int(sample.quartile[one.latent]),
        "dominance": float(sample.dominance[one.latent]),
        "score": one.score,
        "explanation": one.explanation,
        "explanation_cut": one.cut,
        "detection": one.detection,
        "amplitude": one.amplitude,
        "strongest": [ids[row] for row in one.selection.explain],
        "trials": [
            {
                "shown": [ids[row] for row in answer.trial.rows],
                "truth": list(answer.trial.truth),
                "answer": None if answer.order is None else list(answer.order),
                "correct": answer.correct,
            }
            for answer in one.answers
        ],
    }


def _contexts(judgement: Judgement, source: ExampleSource) -> dict[str, str]:
    rows = {row for one in judgement.judged for row in one.selection.activation}
    examples = [source.example(row) for row in sorted(rows)]
    return {example.id: example.text or "" for example in examples}


def file_name(identifier: str, judge: str) -> str:
    """Name of a judgement's file, made of the SAE's id and the judge; no two judges share one."""
    plain = slug(judge, 40)
    if plain != judge:
        plain = "-".join(filter(None, (plain, hashlib.sha256(judge.encode()).hexdigest()[:8])))
    return f"{identifier}.{plain}.json"


def join(record: Mapping[str, Any], judgement: Mapping[str, Any]) -> dict[str, Any]:
    """A result record with a judgement in it; what other judges found stays beside it.

    Args:
        record: valid under ``schemas/result-sae.schema.json``; it is left as it was.
        judgement: valid under ``schemas/judge.schema.json``.

    Raises:
        UserError: they are of different SAEs, datasets or encoders.
    """
    check_same(record, judgement)
    name, score = judgement["judge"]["name"], judgement["scores"]["dame"]
    scores = dict(record["scores"])
    scores["dame"] = {**(scores.get("dame") or {}), name: score}
    joined = {
        **record,
        "scores": scores,
        "dame": {**record.get("dame", {}), name: _summary(judgement)},
    }
    if "card" in record:
        joined["card"] = with_c3(record["card"], judgement)
    return joined


def with_c3(card: Mapping[str, Any], judgement: Mapping[str, Any]) -> dict[str, Any]:
    """A report card whose C3 has a judge's DAME."""
    name, score = judgement["judge"]["name"], judgement["scores"]["dame"]
    return {**card, "c3": {"dame": {**(card["c3"]["dame"] or {}), name: score}, "reason": None}}


def _summary(judgement: Mapping[str, Any]) -> dict[str, Any]:
    quartiles, prompts = judgement["quartiles"], judgement["judge"]["prompts"]
    return {
        "quartile_means": [one["mean"] for one in quartiles],
        "eligible": [one["eligible"] for one in quartiles],
        "alive": [one["alive"] for one in quartiles],
        "q1_deficit": judgement["scores"]["q1_deficit"],
        "prompts_sha256": None if prompts is None else prompts["sha256"],
        "protocol_version": judgement["protocol"]["version"],
    }


_SAME = (
    ("SAE", "submission", "weights_sha256"),
    ("dataset", "dataset", "fingerprint"),
    ("encoder", "encoder", "name"),
    ("encoder's weights", "encoder", "weights_sha256"),
)


def check_same(document: Mapping[str, Any], judgement: Mapping[str, Any]) -> None:
    """Refuse a judgement of another SAE, dataset or encoder than a record's or card's.

    Raises:
        UserError: naming what differs.
    """
    judge = judgement["judge"]["name"]
    for what, part, key in _SAME:
        here, there = document[part].get(key), judgement[part].get(key)
        if here != there or (here is None and part == "submission"):
            raise UserError(
                f"the judgement by {judge} is of another {what}: {part}.{key} is {there}, expected "
                f"{here}; judge this SAE with the same --dataset and --encoder"
            )
