"""From a comparison to its page."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from benchmark import __version__
from leaderboard.building.templating import GENERATOR, make_environment
from leaderboard.definitions import GENERATOR_COLUMNS
from leaderboard.generative.heat import GROUND, HeatMap, heat_map, scale
from leaderboard.generative.labelled import labelled_sets
from leaderboard.generative.matrix import MOST, null_glyph, pair_matrix
from leaderboard.generative.pictures import mean_ground, mean_picture, showable, thumbnail
from leaderboard.numbers import Number, number, plain
from leaderboard.reading.records import Score

if TYPE_CHECKING:
    from benchmark.generative.compare import Comparison

MAPS_SHOWN = 9
PULLED_SHOWN = 8
_DECIMALS = {column.key: column.decimals for column in GENERATOR_COLUMNS}
QUALITY = {
    "fid": "FID", "kid": "KID", "precision": "Precision", "recall": "Recall",
    "density": "Density", "coverage": "Coverage",
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One attribute in the table."""

    name: str
    real: Number
    generated: Number
    difference: Number
    sad: Number
    floor: Number
    null_mean: Number
    null_q95: Number
    inside: bool | None
    glyph: Markup
    over_null: Number
    over_null_unrefined: Number
    magnitude: Number
    magnitude_unrefined: Number
    clip: tuple[Number, Number]
    hcs: tuple[Number, Number]
    saturated: tuple[Number, Number]


@dataclass(frozen=True)
class Panel:
    """The maps of one attribute."""

    key: str
    name: str
    maps: tuple[HeatMap, HeatMap]


@dataclass(frozen=True)
class Pulled:
    """The images that pull an attribute most, of each set: (picture or nothing, id, score)."""

    name: str
    sides: tuple[tuple[str, tuple[tuple[Markup | None, str, str], ...]], ...]


@dataclass(frozen=True)
class Pair:
    """One pair of attributes with a large PaD."""

    names: tuple[str, str]
    pad: Number
    null_q95: Number
    inside: bool | None


def report_page(comparison: "Comparison", *, pictures: bool | None = None) -> str:
    """The page as HTML: no script, no address but that of comparison.json, a policy.

    Args:
        comparison: a finished one.
        pictures: embed small pictures of single images; None embeds those of folders and of
            datasets whose licence is known to allow it. Mean images are always there.
    """
    document = comparison.document
    order = _order(document)
    rows = {row["attribute"]: row for row in document["attributes"]}
    style = _style()
    environment = make_environment()
    return environment.get_template("images.html.j2").render(
        version=__version__,
        generator=GENERATOR,
        style=Markup(style),
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        document=document,
        rows=_rows(document, order),
        outside=[name for name in order if rows[name]["sad"]["inside_null"] is False],
        means={name: number(Score.read(score)) for name, score in document["means"].items()},
        panels=_panels(document),
        maps_shown=MAPS_SHOWN,
        scale=scale("scale"),
        ground=mean_ground(comparison.real, comparison.generated),
        ground_id=GROUND,
        mean_pictures=[mean_picture(side) for side in (comparison.real, comparison.generated)],
        matrix=pair_matrix("pad", document, order),
        matrix_most=MOST,
        pairs=_pairs(document),
        pulled=_pulled(comparison, [rows[name] for name in order], pictures),
        quality=_quality(document),
        diversity=(diversity := _diversity(document)),
        diversity_there=any(value.value is not None for _, value, _ in diversity),
        labelled=labelled_sets(document),
        saturated=_saturated(document),
        protocol=_protocol(document),
    )


def _style() -> str:
    """The site's stylesheet and what this page adds, as one text."""
    site = resources.files("leaderboard").joinpath("static", "assay.css").read_text("utf-8")
    own = resources.files("leaderboard").joinpath("templates", "images.css").read_text("utf-8")
    return site + own


def _order(document: Mapping[str, Any]) -> list[str]:
    """Attributes by SaD, those without one last."""
    every = [row["attribute"] for row in document["attributes"]]
    return list(dict.fromkeys([*document["rankings"]["sad"], *every]))


def _rows(document: Mapping[str, Any], order: Sequence[str]) -> list[Row]:
    by_name = {row["attribute"]: row for row in document["attributes"]}
    ends = [0.0]
    for row in by_name.values():
        score = row["sad"]["score"]
        ends += [score["value"] or 0.0, row["sad"]["null_q95"] or 0.0, *(score["ci95"] or ())]
    return [_row(by_name[name], max(ends)) for name in order]


def _row(row: Mapping[str, Any], largest: float) -> Row:
    real, generated = (Score.read(row["ra_clip_score"][side]) for side in ("real", "generated"))
    sad, regional, unrefined = row["sad"], row["r_sad"], row["r_sad_unrefined"]
    assert real.value is not None
    assert generated.value is not None
    return Row(
        name=row["attribute"],
        real=number(real),
        generated=number(generated),
        difference=plain(generated.value - real.value),
        sad=number(Score.read(sad["score"])),
        floor=plain(sad["floor"]),
        null_mean=plain(sad["null_mean"]),
        null_q95=plain(sad["null_q95"]),
        inside=sad["inside_null"],
        glyph=null_glyph(row, largest),
        over_null=plain(regional["over_null"], 1),
        over_null_unrefined=plain(unrefined["over_null"], 1),
        magnitude=number(
            Score.read(regional["score"]),
        ),
        magnitude_unrefined=number(Score.read(unrefined["score"])),
        clip=_both(row["clip_score"]),
        hcs=_both(row["hcs"]),
        saturated=(plain(row["saturated"]["real"]), plain(row["saturated"]["generated"])),
    )


def _both(sides: Mapping[str, Any]) -> tuple[Number, Number]:
    return number(Score.read(sides["real"])), number(Score.read(sides["generated"]))


def _panels(document: Mapping[str, Any]) -> list[Panel]:
    """Maps of all attributes, by R-SaD over its null, the better of refined and unrefined."""
    arrays = {}
    for kind, found in document["maps"].items():
        null = found["cell_null_q95"]
        arrays[kind] = np.array(found["values"]), None if null is None else np.array(null)

    def ratio(k: int) -> tuple[float, int]:
        row = document["attributes"][k]
        both = [row[kind]["over_null"] or 0.0 for kind in ("r_sad", "r_sad_unrefined")]
        return (-max(both), k)

    panels = []
    for k in sorted(range(len(document["attributes"])), key=ratio):
        row = document["attributes"][k]
        made = []
        for kind in ("refined", "unrefined"):
            values, null = arrays[kind]
            made.append(
                heat_map(f"map-{k}", kind, row, values[k], None if null is None else null[k])
            )
        panels.append(Panel(f"map-{k}", row["attribute"], (made[0], made[1])))
    return panels


def _pairs(document: Mapping[str, Any]) -> list[Pair]:
    return [
        Pair(
            (pair["attributes"][0], pair["attributes"][1]),
            number(Score.read(pair["score"])),
            plain(pair["null_q95"]),
            pair["inside_null"],
        )
        for pair in document["pairs"]["top"]
    ]


def _pulled(
    comparison: "Comparison", rows: Sequence[Mapping[str, Any]], pictures: bool | None
) -> list[Pulled]:
    """Of the attributes outside their null: inside it, single images pull by chance."""
    chosen = [row for row in rows if row["sad"]["inside_null"] is False][:PULLED_SHOWN]
    found = []
    for row in chosen:
        sides = []
        for label in ("generated", "real"):
            side = comparison.generated if label == "generated" else comparison.real
            shown = showable(side) if pictures is None else pictures
            place = {name: k for k, name in enumerate(side.images.ids)}
            entries = tuple(
                (
                    thumbnail(side, place[one["id"]]) if shown else None,
                    one["id"],
                    f"{one['score']:.2f}",
                )
                for one in row["pulls"][label]
            )
            sides.append((label, entries))
        found.append(Pulled(row["attribute"], tuple(sides)))
    return found


def _quality(document: Mapping[str, Any]) -> list[tuple[str, Number, str]] | None:
    """(name, value, why there is none) of the older metrics."""
    if document["quality"] is None:
        return None
    scores = document["quality"]["scores"]
    return [
        (
            label,
            number(Score.read(scores[name]), _DECIMALS[name]),
            ", ".join(scores[name]["not_applicable"]),
        )
        for name, label in QUALITY.items()
    ]


def _diversity(document: Mapping[str, Any]) -> list[tuple[str, Number, str]]:
    """(name, value, why there is none) of LPIPS; nothing where it was not asked for."""
    found = document.get("diversity")
    if found is None:
        return []
    return [
        (
            f"LPIPS diversity, {label}",
            number(Score.read(score)),
            ", ".join(score["not_applicable"]),
        )
        for label in ("real", "generated")
        for score in [found["scores"][label]]
    ]


def _saturated(document: Mapping[str, Any]) -> Number:
    """Share of saturated scores over both sets and all attributes."""
    values = [value for row in document["attributes"] for value in row["saturated"].values()]
    there = [value for value in values if value is not None]
    return plain(float(np.mean(there)) if there else None)


def _protocol(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    def text(value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list):
            return " · ".join(map(str, value))
        return "the model's own" if value is None else str(value)

    facts = [(key.replace("_", " "), text(v)) for key, v in sorted(document["protocol"].items())]
    around = document["environment"]
    packages = ", ".join(f"{name} {found}" for name, found in sorted(around["packages"].items()))
    return [
        *facts,
        ("suite", f"{around['suite_version']}, {around['commit'] or 'no commit known'}"),
        ("packages", packages),
        ("measured", f"{document['timing']['measured_at']}, {document['timing']['seconds']} s"),
    ]
