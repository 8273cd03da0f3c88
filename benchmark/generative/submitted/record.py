"""The result of a submitted generator, as ``schemas/result-generator.schema.json`` describes it.

It is made from a finished comparison; nothing is measured here.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.generative.divergence import Divergence
from benchmark.generative.regional import RegionalDivergence
from benchmark.metrics.score import Score, make_score
from benchmark.records import score_json

if TYPE_CHECKING:
    from benchmark.generative.compare import Comparison, Measured

VERSION = 1
QUALITY = ("fid", "kid", "precision", "recall", "density", "coverage")
MEANS = ("sad", "pad", "r_sad", "r_sad_unrefined")

_ROW_KEYS = ("attribute", "ra_clip_score", "saturated", "sad", "r_sad", "r_sad_unrefined")


def result_document(
    found: "Comparison",
    *,
    submission: Mapping[str, Any],
    real: Mapping[str, Any],
    attributes: Mapping[str, Any],
) -> dict[str, Any]:
    """The result of a comparison.

    Args:
        found: the comparison, with an encoder.
        submission: ``id``, ``name``, ``kind`` and what is known of where the images are from.
        real: ``name``, ``revision``, ``fingerprint``, ``split`` and ``selection``.
        attributes: name, hash and length of the list of attributes.
    """
    document, measured = found.document, found.measured
    left, right = document["real"], document["generated"]
    protocol = dict(document["protocol"])
    quality = document["quality"]
    return {
        "schema_version": VERSION,
        "submission": {
            **submission,
            "images_sha256": right["sha256"],
            "n": right["n"],
            "duplicates": right["duplicates"],
            "shared_images": document["shared_images"],
            "width": right["width"],
            "height": right["height"],
        },
        "real": {**real, "n": left["n"], "sha256": left["sha256"]},
        "model": {"name": protocol["model"], "weights_sha256": protocol["weights_sha256"]},
        "encoder": quality["encoder"],
        "protocol": {
            **protocol,
            "attributes": dict(attributes),
            "quality": {name: quality["protocol"][name] for name in ("nearest", "kid")},
        },
        "scores": _scores(found),
        "null": {
            name: mean_null(entries, document["means"][name]["value"])
            for name, entries in _entries(measured).items()
        },
        "per_attribute": [{key: row[key] for key in _ROW_KEYS} for row in document["attributes"]],
        "pairs": {
            "values": [entry.score.value for entry in measured.attributes.pad],
            "null_q95": [e.null.q95 if e.null else None for e in measured.attributes.pad],
            "count": document["pairs"]["count"],
            "outside_null": document["pairs"]["outside_null"],
        },
        "maps": {"unrefined": document["maps"]["unrefined"]["values"]},
        "environment": document["environment"],
        "timing": document["timing"],
    }


def _entries(measured: "Measured") -> dict[str, Sequence[Divergence]]:
    """What each mean in ``MEANS`` is over."""
    return {
        "sad": measured.attributes.sad,
        "pad": measured.attributes.pad,
        "r_sad": measured.regions.magnitude,
        "r_sad_unrefined": measured.regions_unrefined.magnitude,
    }


def _scores(found: "Comparison") -> dict[str, Any]:
    means, quality = found.document["means"], found.document["quality"]["scores"]
    return {
        **{name: means[name] for name in MEANS},
        "r_sad_over_null": score_json(mean_over_null(found.measured.regions)),
        **{name: quality[name] for name in QUALITY},
    }


def mean_over_null(found: RegionalDivergence) -> Score:
    """Mean over attributes of R-SaD divided by the mean of its null; 1 is no difference."""
    values, samples, missing = [], [], 0
    for entry, ratio in zip(found.magnitude, found.over_null, strict=True):
        if not np.isfinite(ratio) or entry.null is None or entry.score.samples is None:
            missing += 1
            continue
        values.append(float(ratio))
        samples.append(entry.score.samples / entry.null.mean)
    reasons = {"no null, or a null of 0": missing} if missing else None
    if not values:
        return make_score(None, 0, None, reasons)
    return make_score(
        float(np.mean(values)), len(values), np.mean(np.stack(samples), axis=0), reasons
    )


def mean_null(entries: Sequence[Divergence], value: float | None) -> dict[str, Any] | None:
    """Permutation null of a mean over attributes or pairs: averaged inside each relabelling.

    Real and generated images are relabelled once for all attributes, so that what attributes have
    in common stays in.
    """
    columns = [entry.null.samples for entry in entries if entry.null is not None]
    if value is None or not columns:
        return None
    table = np.stack(columns)
    finite = np.isfinite(table)
    count = finite.sum(axis=0)
    total = np.where(finite, table, 0).sum(axis=0)
    drawn = total[count > 0] / count[count > 0]
    if not drawn.size:
        return None
    high = float(np.percentile(drawn, 95))
    return {"mean": float(drawn.mean()), "q95": high, "inside": value <= high}
