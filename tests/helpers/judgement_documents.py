"""Judgement documents that look like those of ``assay judge``."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

Document = dict[str, Any]

WORDS = ("round", "dark", "glasses", "beard", "smile", "hat", "green", "curly", "pale", "open")
KINDS = ("annotations", "random", "openai", "transformers")
IDS = tuple(f"score-{row:05d}" for row in range(60))
MASS = (0.62, 0.22, 0.11, 0.05)
PROSE = "The keeper of the old lighthouse wrote down every ship that passed before the storm came"


def score(value: float | None, half: float, n: int, least: float = 0) -> Document:
    if value is None:
        return {"value": None, "ci95": None, "n": 0, "not_applicable": {"no scored latents": 4}}
    ci95 = [max(least, value - half), min(1, value + half)]
    return {"value": value, "ci95": ci95, "n": n, "not_applicable": {}}


def make_judgement(
    record: Mapping[str, Any],
    judge: str = "annotations",
    *,
    per_quartile: int = 6,
    trials: int = 10,
    ids: Sequence[str] = IDS,
    skill: Sequence[float] = (0.45, 0.55, 0.6, 0.65),
    text: bool = False,
) -> Document:
    """A valid document about the SAE of ``record``.

    Args:
        record: a result record.
        judge: its name.
        per_quartile: judged latents of each quartile.
        trials: of each latent.
        ids: names of the rows that examples are drawn from.
        skill: chance of a trial to be ordered rightly, by quartile.
        text: whether examples are token contexts.
    """
    draw = random.Random(f"{record['submission']['id']}-{judge}")
    latents = [
        _latent(draw, latent, quartile, skill[quartile - 1], trials, ids)
        for quartile in (1, 2, 3, 4)
        for latent in sorted(draw.sample(range((quartile - 1) * 100, quartile * 100), per_quartile))
    ]
    means = [_mean([one["score"] for one in latents if one["quartile"] == q]) for q in (1, 2, 3, 4)]
    known = [one["score"] for one in latents if one["quartile"] > 1]
    deficit = None if means[0] is None else means[0] - sum(known) / len(known)
    values = [mean for mean in means if mean is not None]
    total = None if not values else sum(values) / len(values)
    chat = judge not in ("annotations", "random")
    document: Document = {
        "schema_version": 1,
        "submission": dict(record["submission"]),
        "dataset": dict(record["dataset"]),
        "encoder": dict(record["encoder"]),
        "judge": {
            "name": judge,
            "kind": judge.partition("/")[0] if judge.partition("/")[0] in KINDS else "openai",
            "model": judge.partition("/")[2] or "a-model" if chat else None,
            "settings": {"temperature": 0.0} if chat else {},
            "prompts": {"version": 1, "sha256": "ab" * 32} if chat else None,
        },
        "protocol": {
            "version": 1, "kind": "text" if text else "image", "per_quartile": 50, "explain": 10,
            "trials": trials, "least": 5, "max_words": 15, "seed": 0,
            "also": ["detection", "amplitude"],
            "bootstrap_resamples": 1000, "bootstrap_seed": 0,
        },
        "scores": {
            "dame": score(total, 0.03, len(latents)),
            "q1_deficit": score(deficit, 0.06, len(latents), -1),
            "detection": score(0.71, 0.02, len(latents)),
            "amplitude": score(0.42, 0.03, len(latents), -1),
        },
        "quartiles": [
            {
                "quartile": quartile, "alive": 120, "eligible": 118 - 20 * quartile,
                "ineligible": {"too few examples to explain": 2 + 20 * quartile},
                "scored": per_quartile, "mean": mean,
                "ci95": None if mean is None else [max(0, mean - 0.05), min(1, mean + 0.05)],
                "detection": 0.7, "amplitude": 0.4, "mass": mass,
            }
            for quartile, (mean, mass) in enumerate(zip(means, MASS, strict=True), start=1)
        ],
        "latents": latents,
        "counts": {"explanations cut": 3, "unusable rankings": 1},
        "environment": dict(record["environment"]),
        "timing": {"seconds": 3.5, "measured_at": "2026-11-30T19:00:00Z"},
    }  # fmt: skip
    if text:
        document["contexts"] = {name: _context(draw) for name in ids}
    return document


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _latent(
    draw: random.Random, latent: int, quartile: int, skill: float, trials: int, ids: Sequence[str]
) -> Document:
    strongest = draw.sample(range(len(ids)), 10)
    rest = [row for row in range(len(ids)) if row not in strongest]
    asked = [_trial(draw, [ids[row] for row in draw.sample(rest, 3)], skill) for _ in range(trials)]
    return {
        "latent": latent,
        "quartile": quartile,
        "dominance": 0.02 / quartile + draw.uniform(0, 0.001),
        "score": sum(trial["correct"] for trial in asked) / trials,
        "explanation": "a face with " + " and ".join(draw.sample(WORDS, 3)),
        "explanation_cut": draw.random() < 0.1,
        "detection": draw.uniform(0.5, 0.9),
        "amplitude": draw.uniform(0.1, 0.7),
        "strongest": [ids[row] for row in strongest],
        "trials": asked,
    }


def _trial(draw: random.Random, shown: list[str], skill: float) -> Document:
    truth = draw.sample(range(3), 3)
    answer: list[int] | None = list(truth)
    if draw.random() > skill:
        wrong = [truth[1], truth[0], truth[2]]
        answer = draw.choice([wrong, wrong[::-1], truth[::-1], None])
    return {"shown": shown, "truth": truth, "answer": answer, "correct": answer == truth}


def _context(draw: random.Random) -> str:
    words = [draw.choice(PROSE.split()) for _ in range(60)]
    words[draw.randrange(60)] = f"«{draw.choice(WORDS)}»"
    return " ".join(words)
