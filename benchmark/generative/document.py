"""The document of a comparison, as ``schemas/images.schema.json`` describes it."""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.generative.divergence import Divergence
from benchmark.generative.labelled import separation_json
from benchmark.generative.pulls import pulls, strongest
from benchmark.generative.regional import RegionalDivergence, ranked
from benchmark.generative.separation import SATURATED
from benchmark.generative.similarity import embedding_centre, heterogeneous_clip_score
from benchmark.metrics.arrays import FloatArray
from benchmark.metrics.score import make_score, mean_score
from benchmark.records import environment, number, score_json, timing

if TYPE_CHECKING:
    from benchmark.encoders import Encoder
    from benchmark.generative.compare import Measured, Plan, Side
    from benchmark.generative.scorer import RaScorer

SCHEMA = "images"
VERSION = 1
TOP_PAIRS = 20
TOP_PULLS = 5
_DIGITS = 6
_PACKAGES = ("torchmetrics", "open_clip_torch", "transformers", "scikit-learn")


def document_of(
    measured: "Measured",
    scorer: "RaScorer",
    encoder: "Encoder | None",
    plan: "Plan",
    started: float,
) -> dict[str, Any]:
    """The whole document; ``started`` is ``time.time()`` at the start."""
    around = environment()
    around["packages"] |= {name: found for name in _PACKAGES if (found := _version(name))}
    divergences, centred = measured.attributes, _centred(measured, scorer)
    return {
        "schema_version": VERSION,
        "real": _side(measured.real),
        "generated": _side(measured.generated),
        "shared_images": _shared(measured),
        "identical": measured.identical,
        "protocol": _protocol(scorer, plan),
        "attributes": _attributes(measured, centred, plan),
        "means": {
            "sad": score_json(divergences.sad_mean),
            "pad": score_json(divergences.pad_mean),
            "r_sad": _mean_magnitude(measured.regions),
            "r_sad_unrefined": _mean_magnitude(measured.regions_unrefined),
        },
        "pairs": _pairs(measured),
        "maps": {
            "refined": _maps(measured.regions),
            "unrefined": _maps(measured.regions_unrefined),
        },
        "rankings": _rankings(measured),
        "quality": _quality(measured, encoder),
        "diversity": _diversity(measured),
        "separation": _separation(measured, centred, plan),
        "environment": around,
        "timing": timing(started),
    }


def _side(side: "Side") -> dict[str, Any]:
    scores = side.scores
    names = [side.images.ids[place] for place in scores.places.tolist()]
    return {
        **side.images.about,
        "n": len(scores.digests),
        "sha256": content_sha256(names, scores.digests),
        "duplicates": scores.duplicates,
        "unreadable": [{"id": name, "reason": reason} for name, reason in scores.unreadable],
        "width": list(scores.widths),
        "height": list(scores.heights),
    }


def content_sha256(ids: Sequence[str], digests: Sequence[bytes]) -> str:
    """Hash over the id and the SHA-256 of the bytes of every image, in order."""
    content = hashlib.sha256()
    for name, digest in zip(ids, digests, strict=True):
        content.update(name.encode() + b"\0" + digest)
    return content.hexdigest()


def _shared(measured: "Measured") -> int:
    """Generated images whose bytes are in the real set."""
    real = set(measured.real.scores.digests)
    return sum(digest in real for digest in measured.generated.scores.digests)


def _protocol(scorer: "RaScorer", plan: "Plan") -> dict[str, Any]:
    return {
        "version": VERSION,
        **scorer.protocol,
        "bootstrap_resamples": plan.resamples,
        "permutations": plan.permutations,
        "seed": plan.seed,
        "skip_unreadable": plan.skip_unreadable,
    }


def divergence_json(found: Divergence) -> dict[str, Any]:
    """A divergence with what it is to be read against."""
    null = found.null
    return {
        "score": score_json(found.score),
        "floor": found.floor,
        "null_mean": None if null is None else null.mean,
        "null_q95": None if null is None else null.q95,
        "inside_null": found.inside_null,
    }


def _sides(measured: "Measured") -> dict[str, "Side"]:
    return {"real": measured.real, "generated": measured.generated}


def _centred(measured: "Measured", scorer: "RaScorer") -> dict[str, FloatArray]:
    """HCS of both sides."""
    centre = embedding_centre(measured.real.scores.embeddings)
    return {
        label: heterogeneous_clip_score(side.scores.embeddings, scorer.texts, image_centre=centre)
        for label, side in _sides(measured).items()
    }


def _attributes(
    measured: "Measured", centred: dict[str, FloatArray], plan: "Plan"
) -> list[dict[str, Any]]:
    sides = _sides(measured)
    pulled = dict(zip(sides, pulls(*(side.scores.image for side in sides.values())), strict=True))
    rows = []
    for a, name in enumerate(measured.names):
        columns = {label: side.scores.image[:, a] for label, side in sides.items()}
        rows.append({
            "attribute": name,
            "ra_clip_score": {k: _mean(v, plan) for k, v in columns.items()},
            "saturated": {k: _saturated(v, plan) for k, v in columns.items()},
            "clip_score": {k: _mean(s.scores.clip[:, a], plan) for k, s in sides.items()},
            "hcs": {k: _mean(v[:, a], plan) for k, v in centred.items()},
            "sad": divergence_json(measured.attributes.sad[a]),
            "r_sad": _regional(measured.regions, a),
            "r_sad_unrefined": _regional(measured.regions_unrefined, a),
            "pulls": {k: _pulls(side, pulled[k][:, a], a) for k, side in sides.items()},
        })  # fmt: skip
    return rows


def _mean(values: FloatArray, plan: "Plan") -> dict[str, Any]:
    """Mean over images with its interval; their order cannot move the mean's last bit."""
    finite = values[np.isfinite(values)]
    missing = {"image or text at its centre": len(values) - len(finite)}
    if len(finite) < 2:
        score = make_score(float(finite[0]) if len(finite) else None, len(finite), None, missing)
    else:
        score = mean_score(
            finite, resamples=plan.resamples, seed=plan.seed, not_applicable=_some(missing)
        )
        score = replace(score, value=math.fsum(finite.tolist()) / len(finite))
    return score_json(score)


def _some(reasons: dict[str, int]) -> dict[str, int]:
    return {reason: count for reason, count in reasons.items() if count}


def _saturated(values: FloatArray, plan: "Plan") -> float | None:
    """Share of saturated scores; None for scores that are cosines."""
    if "dual_prompts" in plan.without:
        return None
    return float(((values < SATURATED[0]) | (values > SATURATED[1])).mean())


def _regional(found: RegionalDivergence, a: int) -> dict[str, Any]:
    return {
        **divergence_json(found.magnitude[a]),
        "over_null": number(found.over_null[a]),
    }


def _pulls(side: "Side", values: FloatArray, a: int) -> list[dict[str, Any]]:
    scores = side.scores
    return [
        {
            "id": side.images.ids[scores.places[place]],
            "pull": float(values[place]),
            "score": float(scores.image[place, a]),
        }
        for place in strongest(values, scores.digests, TOP_PULLS)
    ]


def _mean_magnitude(found: RegionalDivergence) -> dict[str, Any]:
    """Mean over attributes of mean |R-SaD|, averaged inside each resample."""
    scores = [entry.score for entry in found.magnitude]
    values = [score.value for score in scores if score.value is not None]
    samples = [score.samples for score in scores if score.samples is not None]
    spread = np.mean(np.stack(samples), axis=0) if len(samples) == len(scores) else None
    return score_json(make_score(float(np.mean(values)), len(values), spread))


def _pairs(measured: "Measured") -> dict[str, Any]:
    found = measured.attributes.pad
    order = ranked([entry.score.value for entry in found])
    missing = Counter[str]()
    for entry in found:
        missing.update(entry.score.not_applicable)
    top = [found[k] for k in order if found[k].score.value is not None][:TOP_PAIRS]
    return {
        "values": _square(measured, [entry.score.value for entry in found]),
        "null_q95": _square(measured, [e.null.q95 if e.null else None for e in found]),
        "top": [{"attributes": list(e.attributes), **divergence_json(e)} for e in top],
        "count": len(found),
        "outside_null": sum(entry.inside_null is False for entry in found),
        "not_applicable": dict(missing),
    }


def _square(measured: "Measured", values: Sequence[float | None]) -> list[list[float | None]]:
    """Values of pairs i < j as a symmetric matrix with an empty diagonal."""
    count = len(measured.names)
    matrix: list[list[float | None]] = [[None] * count for _ in range(count)]
    for i, j, value in zip(*np.triu_indices(count, 1), values, strict=True):
        matrix[i][j] = matrix[j][i] = None if value is None else _short(value)
    return matrix


def _maps(found: RegionalDivergence) -> dict[str, Any]:
    cells = found.cell_null95
    return {
        "values": [[[_short(v) for v in row] for row in one] for one in found.maps],
        "cell_null_q95": (
            None if cells is None else [[[_short(v) for v in row] for row in one] for one in cells]
        ),
        "block_size": found.block_size,
    }


def _rankings(measured: "Measured") -> dict[str, list[str]]:
    sad = ranked([entry.score.value for entry in measured.attributes.sad])
    orders = {
        "sad": [k for k in sad if measured.attributes.sad[k].score.value is not None],
        "r_sad": measured.regions.ranking(),
        "r_sad_over_null": _with_ratio(measured.regions),
        "r_sad_unrefined": measured.regions_unrefined.ranking(),
        "r_sad_unrefined_over_null": _with_ratio(measured.regions_unrefined),
    }
    return {name: [measured.names[k] for k in order] for name, order in orders.items()}


def _with_ratio(found: RegionalDivergence) -> list[int]:
    return [k for k in found.ranking_over_null() if np.isfinite(found.over_null[k])]


def _quality(measured: "Measured", encoder: "Encoder | None") -> dict[str, Any] | None:
    if measured.quality is None or encoder is None:
        return None
    from benchmark.encoders import EncoderInfo

    return {
        "encoder": EncoderInfo.of(encoder).as_dict(),
        "protocol": dict(measured.quality.protocol),
        "scores": {name: score_json(score) for name, score in measured.quality.scores.items()},
    }


def _diversity(measured: "Measured") -> dict[str, Any] | None:
    found = measured.diversity
    if found is None:
        return None
    return {
        "weights_sha256": found.weights_sha256,
        "protocol": dict(found.protocol),
        "scores": {label: score_json(score) for label, score in found.scores.items()},
    }


def _separation(
    measured: "Measured", centred: dict[str, FloatArray], plan: "Plan"
) -> dict[str, Any] | None:
    dual = "dual_prompts" not in plan.without
    found = {
        label: separation_json(side, measured.names, centred[label], dual=dual)
        for label, side in _sides(measured).items()
    }
    return found if any(found.values()) else None


def _short(value: float) -> float:
    """To six significant digits: maps and matrices are for the eye."""
    return float(f"{value:.{_DIGITS}g}")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
