"""``assay images``: compare image sets, and metrics with people."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from benchmark.generative.blocks import Elsewhere
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
    lpips_weights: Annotated[
        str | None,
        typer.Option(
            help="AlexNet's weights for LPIPS; by default those in PyTorch's cache, if there are "
            "any; none leaves LPIPS out. Nothing is fetched."
        ),
    ] = None,
    real_labels: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Which real images show what: a CSV file id,ATTRIBUTE,… of 1, 0 or nothing, a "
            "JSON file {id: {attribute: 1}}, or the word dataset for the dataset's annotations.",
        ),
    ] = None,
    generated_labels: Annotated[
        str | None, typer.Option(metavar="FILE", help="The same for the generated images.")
    ] = None,
    label_names: Annotated[
        Path | None,
        typer.Option(help="JSON file {attribute: what the labels call it}, where that differs."),
    ] = None,
    resize: Annotated[
        ResizePolicy, typer.Option(help="squash keeps the whole image, center_crop its shape.")
    ] = ResizePolicy.squash,
    without: Annotated[
        list[Part] | None, typer.Option(help="Leave a part of RA-CLIPScore out; repeatable.")
    ] = None,
    batch_size: Annotated[int, typer.Option(help="Images a forward pass, at most 1,024.")] = 8,
    resamples: Annotated[int, typer.Option(help="Behind every interval, at most 100,000.")] = 1000,
    permutations: Annotated[int, typer.Option(help="Behind every null, at most 100,000.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of intervals and nulls.")] = 0,
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
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Score on Ray: a cluster's address, auto, or local. The bytes do not change. "
            "OMP_NUM_THREADS=1 gives one process a processor.",
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
    from benchmark.cli.images_show import set_notes, show_comparison
    from benchmark.cli.inputs import check_out
    from benchmark.cli.show import print_json
    from benchmark.encoders import load_encoder
    from benchmark.errors import UserError
    from benchmark.generative.compare import Plan
    from benchmark.generative.compare import compare as run
    from benchmark.generative.diversity import load_lpips
    from benchmark.generative.image_sets import open_set
    from benchmark.generative.labels import OF_DATASET, labels_for, names_notes, read_names
    from schemas import validate

    read = {
        "--attributes": attributes,
        "--real-labels": _file(real_labels, OF_DATASET),
        "--generated-labels": _file(generated_labels, OF_DATASET),
        "--label-names": label_names,
        "--lpips-weights": _file(lpips_weights, "none"),
    }
    for file in [] if out is None else [out / name for name in FILES]:
        check_out(file, read)
    plan = Plan(
        resize=resize.value,
        batch_size=batch_size,
        without=tuple(str(part) for part in without or ()),
        resamples=resamples,
        permutations=permutations,
        seed=seed,
        skip_unreadable=skip_unreadable,
    )
    names = read_attributes(attributes)
    sides = open_set(real, real_split), open_set(generated, generated_split)
    labels = [
        None if choice is None else labels_for(choice, images, option)
        for choice, images, option in (
            (real_labels, sides[0], "--real-labels"),
            (generated_labels, sides[1], "--generated-labels"),
        )
    ]
    if label_names is not None and labels == [None, None]:
        raise UserError("--label-names: there are no labels; give --real-labels as well")
    renamed = None if label_names is None else read_names(label_names)
    for note in [*set_notes(*sides), *names_notes(renamed, names)]:
        typer.echo(f"note: {note}", err=True)
    lpips = None
    if lpips_weights != "none":
        lpips = load_lpips(None if lpips_weights is None else Path(lpips_weights))
    with _elsewhere(ray, model, encoder) as elsewhere, _shown() as update:
        found = run(
            *sides,
            names,
            real_labels=labels[0],
            generated_labels=labels[1],
            label_names=renamed,
            model=model,
            encoder=None if encoder == "none" else load_encoder(encoder),
            lpips=lpips,
            plan=plan,
            progress=update,
            elsewhere=elsewhere,
        )
    validate("images", found.document)
    if out is not None:
        write_both(out, found, pictures=pictures)
    if json_:
        print_json(found.document)
    else:
        show_comparison(found.document)
        for name in FILES if out is not None else ():
            typer.echo(f"{out}/{name}")


@app.command()
def agreement(
    ratings: Annotated[Path, typer.Option(help="CSV file: class,rating or class,rating,rater.")],
    results: Annotated[
        Path, typer.Option(help="Folder of comparisons: CLASS.json or CLASS/comparison.json.")
    ],
    resamples: Annotated[int, typer.Option(help="Behind every interval, at most 100,000.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the intervals.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result here as JSON.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Correlate every metric with human ratings of classes, Pearson and Spearman, with intervals.

    A metric of which less is better agrees with people where its correlation is negative.
    """
    from benchmark.cli.images_show import show_agreement
    from benchmark.cli.inputs import check_out, read_document
    from benchmark.cli.show import print_json
    from benchmark.files import write_json
    from benchmark.generative.compare import Plan
    from benchmark.generative.ratings import agreements, find_comparisons, read_ratings
    from benchmark.records import score_json

    Plan(resamples=resamples, seed=seed)  # for its bounds
    people = read_ratings(ratings)
    places = find_comparisons(results)
    # the folder of results may hold an earlier agreement, which is no class and may go
    kept = {f"--results ({name})": path for name, path in places.items() if not _agrees(path, out)}
    check_out(out, {"--ratings": ratings, **kept})
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
        show_agreement(document)


def _agrees(path: Path, out: Path | None) -> bool:
    """Whether ``path`` is ``out`` and holds what ``agreement`` wrote there before."""
    import json

    if out is None or path.resolve() != out.resolve():
        return False
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and {"raters", "metrics"} <= set(document)


def _file(choice: str | None, word: str) -> Path | None:
    """The file that an option names; None for nothing, or for the word that it takes instead."""
    return None if choice in (None, word) else Path(str(choice))


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


@contextmanager
def _elsewhere(ray: str | None, model: str, encoder: str) -> "Iterator[Elsewhere | None]":
    """Ray where it was asked for, connected."""
    if ray is None:
        yield None
        return
    from benchmark.ray_cluster import connected
    from benchmark.ray_images import ImagesOnRay

    with connected(ray):
        yield ImagesOnRay(model, None if encoder == "none" else encoder)


def _shown() -> Any:
    from benchmark.cli.show import progress_bar

    return progress_bar("comparing")
