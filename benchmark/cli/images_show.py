"""What ``assay images`` prints: tables of a comparison and of agreement."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from benchmark.cli.show import cell, plain_table, wide_console

if TYPE_CHECKING:
    from benchmark.generative.image_sets import ImageSet

NO_MEANS = "labels: no attribute for which every score has all statistics"
STATISTICS = {"auc": 3, "cohens_d": 2, "hellinger": 3, "one_minus_ovl": 3, "saturated": 3}
"""Statistic → decimals."""


def show_comparison(document: Mapping[str, Any]) -> None:
    """The table of attributes, the older metrics, and what a reader must know of the sets."""
    sides = [document["real"], document["generated"]]
    title = " against ".join(f"{side['name']} ({side['n']:,} images)" for side in sides)
    table = plain_table(
        f"{title} [95 % resampling spread]",
        ["attribute", "RA real", "RA generated", "SaD", "null 95 %", "", "R-SaD / null"],
    )
    rows = {row["attribute"]: row for row in document["attributes"]}
    order = [*document["rankings"]["sad"], *rows]
    for name in dict.fromkeys(order):
        row = rows[name]
        sad, ratio = row["sad"], row["r_sad"]["over_null"]
        table.add_row(
            name,
            *(cell(row["ra_clip_score"][side], False) for side in ("real", "generated")),
            cell(sad["score"]),
            "n/a" if sad["null_q95"] is None else f"{sad['null_q95']:.3f}",
            {True: "inside", False: "OUTSIDE", None: ""}[sad["inside_null"]],
            "n/a" if ratio is None else f"{ratio:.2f}",
        )
    console = wide_console()
    console.print(table)
    means, pairs = document["means"], document["pairs"]
    console.print(
        f"mean SaD {cell(means['sad'])}, mean PaD {cell(means['pad'])}, "
        f"{pairs['outside_null']} of {pairs['count']} pairs outside their null"
    )
    if document["quality"] is not None:
        quality = document["quality"]
        shown = [
            f"{name} {cell(score) if name != 'kid' else _kid(score)}"
            for name, score in quality["scores"].items()
        ]
        console.print(f"on {quality['encoder']['name']}: {', '.join(shown)}")
    if document.get("diversity") is not None:
        console.print(f"LPIPS {_lpips(document['diversity']['scores'])}")
    for label, found in (document.get("separation") or {}).items():
        if found is not None:
            console.print(_separation(label, found) if found["means"]["n"] else NO_MEANS)
    for note in notes(document):
        console.print(f"note: {note}")


def _kid(score: Mapping[str, Any]) -> str:
    """KID is small: more decimals than other scores."""
    return "n/a" if score["value"] is None else f"{score['value']:.5f}"


def _lpips(scores: Mapping[str, Any]) -> str:
    """Of both sets, or why there is none."""
    if not any(score["value"] is not None for score in scores.values()):
        return f"n/a: {next(iter(scores['real']['not_applicable']))}"
    return ", ".join(f"{label} {cell(score)}" for label, score in scores.items())


def _separation(label: str, found: Mapping[str, Any]) -> Any:
    """Means over the labelled attributes, one row a score."""
    from benchmark.generative.labelled import LABELS

    means = found["means"]
    table = plain_table(
        f"{label} images by their labels, mean of {means['n']} attributes",
        ["score", "AUC", "Cohen's d", "Hellinger", "1-OVL", "saturated"],
    )
    for name, values in means["scores"].items():
        table.add_row(
            LABELS[name],
            *(
                "n/a" if (value := values[key]) is None else f"{value:.{decimals}f}"
                for key, decimals in STATISTICS.items()
            ),
        )
    return table


def notes(document: Mapping[str, Any]) -> list[str]:
    """What a reader must know of the sets, one sentence each."""
    found = []
    if document["identical"]:
        found.append("both sets hold the same images")
    elif document["shared_images"]:
        found.append(f"{document['shared_images']:,} generated images are also in the real set")
    for label in ("real", "generated"):
        side = document[label]
        for count, what in (
            (side["duplicates"], "copies of other images in it"),
            (len(side["unreadable"]), "left out, unreadable"),
            (
                side.get("left_out", {}).get("other_files", 0),
                "other files left out for their ending",
            ),
        ):
            if count:
                found.append(f"{label} set: {count:,} {what}")
        found += label_notes(label, (document.get("separation") or {}).get(label))
    return found


def set_notes(real: "ImageSet", generated: "ImageSet") -> list[str]:
    """What of the sets a document has no place for."""
    counts = {"real": getattr(real, "linked", 0), "generated": getattr(generated, "linked", 0)}
    return [
        f"{label} set: {count:,} links to folders left out, they are not followed"
        for label, count in counts.items()
        if count
    ]


def label_notes(label: str, found: Mapping[str, Any] | None) -> list[str]:
    """What did not match between labels, images and attributes."""
    if found is None:
        return []
    told = []
    if found["unlabelled"]:
        total = found["unlabelled"] + found["images"]
        told.append(f"{label} set: {found['unlabelled']:,} of {total:,} images have no label")
    if count := found["unmatched"]["count"]:
        first = ", ".join(found["unmatched"]["examples"][:2])
        told.append(f"{label} labels: {count:,} of ids that no image has, such as {first}")
    if found["not_labelled"]:
        told.append(f"{label} labels: none for {', '.join(found['not_labelled'])}")
    if found["not_asked_for"]:
        told.append(f"{label} labels: {found['not_asked_for']:,} of attributes not asked for")
    return told


def show_agreement(document: Mapping[str, Any]) -> None:
    """The correlation of every metric with the ratings."""
    table = plain_table(
        f"Agreement with {document['ratings']} ratings of {len(document['classes'])} classes "
        "[95 % interval]",
        ["metric", "Pearson", "Spearman", "classes"],
    )
    for name, one in document["metrics"].items():
        table.add_row(name, cell(one["pearson"]), cell(one["spearman"]), str(one["pearson"]["n"]))
    console = wide_console()
    console.print(table)
    if document["not_rated"]:
        console.print(f"not rated, left out: {', '.join(document['not_rated'])}")
