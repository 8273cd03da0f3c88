"""``assay images``: compare image sets, and metrics with people."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from benchmark.generative.compare import Comparison

app = typer.Typer(no_args_is_help=True, add_completion=False)

FILES = ("comparison.json", "report.html")
"""What a comparison leaves in its folder."""

_MOST_BYTES = 2**20


class ResizePolicy(StrEnum):
    """How an image comes to the model's size."""

    squash = "squash"
    center_crop = "center_crop"


class Part(StrEnum):
    """Parts of RA-CLIPScore that can be left out."""

    dual_prompts = "dual_prompts"
    local_tokens = "local_tokens"
    global_token = "global_token"


@app.callback()
def _root() -> None:
    """Evaluate image generators: which attributes and which places went wrong."""


@app.command()
def compare(
    real: Annotated[str, typer.Argument(help="Folder of real images, or a dataset.")],
    generated: Annotated[str, typer.Argument(help="Folder of generated images, or a dataset.")],
    attributes: Annotated[
        Path, typer.Option(help="Text file of attributes, one a line: eyeglasses, a red hat …")
    ],
    model: Annotated[
        str,
        typer.Option(
            help="CLIP model: open_clip:ARCHITECTURE:WEIGHTS, transformers:FOLDER, assay-tiny-clip."
        ),
    ],
    real_split: Annotated[
        str | None, typer.Option(help="Split of the real dataset; base or edited for its pairs.")
    ] = None,
    generated_split: Annotated[
        str | None, typer.Option(help="Split of the generated dataset.")
    ] = None,
    encoder: Annotated[
        str, typer.Option(help="Encoder of FID, KID and the like; none leaves them out.")
    ] = "efficientnet-lite0",
    resize: Annotated[
        ResizePolicy, typer.Option(help="squash keeps the whole image, center_crop its shape.")
    ] = ResizePolicy.squash,
    without: Annotated[
        list[Part] | None, typer.Option(help="Leave a part of RA-CLIPScore out; repeatable.")
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Images a forward pass.")] = 8,
    resamples: Annotated[int, typer.Option(min=1, help="Behind every interval.")] = 1000,
    permutations: Annotated[int, typer.Option(min=1, help="Behind every null.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of intervals and nulls.")] = 0,
    skip_unreadable: Annotated[
        bool, typer.Option("--skip-unreadable", help="Leave broken images out and count them.")
    ] = False,
    pictures: Annotated[
        bool | None,
        typer.Option(
            "--pictures/--no-pictures",
            help="Embed small pictures in the report; by default for folders and CC0 datasets.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for comparison.json and report.html.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the document as JSON.")] = False,
) -> None:
    """Compare generated with real images: RA-CLIPScore, SaD, PaD, R-SaD and the older metrics.

    Scores of images are kept: a stopped run goes on, and no image is scored twice.
    """
    from benchmark.cli.show import print_json
    from benchmark.encoders import load_encoder
    from benchmark.files import check_target
    from benchmark.generative.compare import Plan
    from benchmark.generative.compare import compare as run
    from benchmark.generative.image_sets import open_set
    from schemas import validate

    for file in [] if out is None else [out / name for name in FILES]:
        check_target(file)
    names = read_attributes(attributes)
    sides = open_set(real, real_split), open_set(generated, generated_split)
    plan = Plan(
        resize=resize.value,
        batch_size=batch_size,
        without=tuple(str(part) for part in without or ()),
        resamples=resamples,
        permutations=permutations,
        seed=seed,
        skip_unreadable=skip_unreadable,
    )
    with _shown() as update:
        found = run(
            *sides,
            names,
            model=model,
            encoder=None if encoder == "none" else load_encoder(encoder),
            plan=plan,
            progress=update,
        )
    validate("images", found.document)
    if out is not None:
        write_both(out, found, pictures=pictures)
    if json_:
        print_json(found.document)
    else:
        _report(found.document)
        for name in FILES if out is not None else ():
            typer.echo(f"{out}/{name}")


@app.command()
def agreement(
    ratings: Annotated[Path, typer.Option(help="CSV file: class,rating or class,rating,rater.")],
    results: Annotated[
        Path, typer.Option(help="Folder of comparisons: CLASS.json or CLASS/comparison.json.")
    ],
    resamples: Annotated[int, typer.Option(min=1, help="Behind every interval.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the intervals.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result here as JSON.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Correlate every metric with human ratings of classes, Pearson and Spearman, with intervals.

    A metric of which less is better agrees with people where its correlation is negative.
    """
    from benchmark.cli.inputs import read_document
    from benchmark.cli.show import print_json
    from benchmark.files import check_target, write_json
    from benchmark.generative.ratings import agreements, find_comparisons, read_ratings
    from benchmark.records import score_json

    if out is not None:
        check_target(out)
    people = read_ratings(ratings)
    places = find_comparisons(results)
    documents = {
        name: read_document(path, "images") for name, path in places.items() if name in people.mean
    }
    found = agreements(people, documents, resamples=resamples, seed=seed)
    document = {
        "classes": sorted(people.mean),
        "ratings": sum(people.counts.values()),
        "raters": len(people.raters),
        "not_rated": sorted(set(places) - set(people.mean)),
        "bootstrap": {"resamples": resamples, "seed": seed},
        "metrics": {
            name: {"pearson": score_json(one.pearson), "spearman": score_json(one.spearman)}
            for name, one in found.items()
        },
    }
    if out is not None:
        write_json(out, document)
    if json_:
        print_json(document)
    else:
        _show_agreement(document)


def write_both(out: Path, found: "Comparison", *, pictures: bool | None = None) -> None:
    """Write the document and the report of a comparison into the folder ``out``."""
    from benchmark.files import write_bytes, write_json
    from leaderboard.generative import report_page

    write_json(out / FILES[0], found.document)
    write_bytes(out / FILES[1], report_page(found, pictures=pictures).encode())


def read_attributes(path: Path) -> list[str]:
    """Attributes from a text file, one a line; blank lines at its end do not count.

    Raises:
        UserError: no such file, too large, not text in UTF-8, or empty.
    """
    from benchmark.errors import UserError

    if not path.is_file():
        raise UserError(f"{path}: no such file; expected a text file with one attribute a line")
    if path.stat().st_size > _MOST_BYTES:
        raise UserError(
            f"{path}: larger than {_MOST_BYTES >> 20} MiB; expected one attribute a line"
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{path}: not text in UTF-8; expected one attribute a line") from None
    lines = text.rstrip().splitlines()
    if not lines:
        raise UserError(f"{path}: no attributes; expected one a line")
    return lines


def _shown() -> Any:
    from benchmark.cli.show import progress_bar

    return progress_bar("comparing")


def _report(document: Mapping[str, Any]) -> None:
    from benchmark.cli.show import cell, plain_table, wide_console

    sides = [document["real"], document["generated"]]
    title = " against ".join(f"{side['name']} ({side['n']:,} images)" for side in sides)
    table = plain_table(
        f"{title} [95 % interval]",
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
    for note in notes(document):
        console.print(f"note: {note}")


def _kid(score: Mapping[str, Any]) -> str:
    """KID is small: more decimals than other scores."""
    return "n/a" if score["value"] is None else f"{score['value']:.5f}"


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
    return found


def _show_agreement(document: Mapping[str, Any]) -> None:
    from benchmark.cli.show import cell, plain_table, wide_console

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
