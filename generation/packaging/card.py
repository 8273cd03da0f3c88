"""The dataset card of a package: what the Hub reads, and what a person should know."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from benchmark.datasets.layout import PAIR_SPLIT
from generation.packaging.columns import typed
from generation.packaging.front_matter import front_matter, yaml_features
from generation.packaging.licences import licence_table
from generation.packaging.markdown import cell
from generation.packaging.sheet import FILE as SHEET
from generation.packaging.statistics import FOLDER as STATISTICS

LICENCE_FILE = "LICENSE.md"
"""Spelt as the Hub looks for it."""

CONFIG = "pairs"
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (10**9, "100K<n<1M"))
_TAGS = (
    "interpretability",
    "sparse-autoencoders",
    "concept-annotations",
    "counterfactual-pairs",
    "synthetic",
    "ai-generated",
)
_PRETTY = {"syncub": "synCUB", "syncoco": "synCOCO"}
_SHOWN_CLASSES = 300

_TEXT = """
# {title}

> **The edited pictures are AI-generated.** A generative model made each of them from a photograph
> of {source_shown}. They show nothing that ever stood before a camera.

{pairs:,} pairs of a photograph and its edit, in which one concept is added, removed or exchanged.
It is made for testing whether the latents of a sparse autoencoder (SAE) follow a concept that
changes while the rest of the picture stays (TAPAScore).

![Some pairs: the photograph on the left, its edit on the right]({sheet})

- {pairs:,} pairs of {base_pictures:,} photographs: {pairs_add:,} add a concept, {pairs_remove:,}
  remove one, {pairs_swap:,} exchange one for another.
- {changed:,} concepts are changed, of {concepts:,} in the vocabulary{of_classes}.
- {review_line}
- {verify_line}

## Load it

```python
from datasets import load_dataset

pairs = load_dataset("path/to/this/folder")             # split {split}

from benchmark.datasets import load_dataset             # the same through Assay

pairs = load_dataset("path/to/this/folder").pairs
```

```bash
assay data check path/to/this/folder
assay score SAE --dataset {source_word} --pairs path/to/this/folder
```

`added` and `removed` are concept ids or null (0-based, names in the features and in
`manifest.json`); `base_concepts` are the source's annotations of the photograph, `edited_concepts`
the same without the removed and with the added concept; `source` is the photograph's id in
{source_shown}. Assay leaves the photographs that pairs were made from out of the pictures that it
matches latents with. The other columns say how each picture was made and checked: `class`,
`attribute_kind`, `prompt`, `references` (photographs the model was shown besides), `model`,
`model_revision`, `seed`, `steps`, `guidance`, `outside_change`, `classifier_agrees`, `accepted_by`.

## How it was made

1. **Plan** ({kind}, seed {seed}): {planned:,} edits of photographs of {source_shown}
   (revision {source_revision}, fingerprint `{source_fingerprint}`). Plan `{plan_hash}`.
2. **Edit**: pictures made by the model{s} below, from the photograph, reference photographs where
   there are any, and a prompt.
3. **Verify**: {verify_text}
4. **Review**: {review_text}

| model | revision | licence | scheduler | precision | steps | guidance | pairs |
|---|---|---|---|---|---|---|---|
{models}

{selection}

Pictures are stored with the bytes that they had: photographs as the source holds them, edits as
the model's output was saved. Nothing is encoded anew.

Fingerprint (SHA-256 over vocabulary, ids, picture bytes, labels and pairs):
`{fingerprint}`

Packaged with {packages}.

## Known limits

{limits}

## Licences

{licences}

## Counts

Tables for a spreadsheet are in `{statistics}/`.

| id | concept | photographs that show it | pairs that add it | pairs that remove it |
|---|---|---|---|---|
{counts}
{classes}
## Cite

Cite the project Assay with the dataset's name, version and fingerprint, and the source:

```bibtex
@misc{{assay-{name},
  title = {{{title} {version}: photographs and edits of one concept}},
  author = {{{{The Assay project}}}},
  note = {{Fingerprint {fingerprint}}}
}}
```

{citation}
"""


def title_of(name: str) -> str:
    """A dataset's name as people write it."""
    return _PRETTY.get(name, name)


def card(manifest: Mapping[str, Any], statistics: Mapping[str, Any], citation: str | None) -> str:
    """README.md of the package.

    Args:
        manifest: everything but its hashes.
        statistics: as ``packaging.statistics`` gives them.
        citation: of the source; None where it is not known.
    """
    making, review = manifest["generation"], manifest["review"]
    source = making["source"]
    return front_matter(_header(manifest)) + _TEXT.format(
        **manifest["counts"],
        title=title_of(manifest["name"]),
        name=manifest["name"],
        version=manifest["version"],
        fingerprint=manifest["fingerprint"],
        seed=manifest["seed"],
        kind=making["kind"],
        plan_hash=making["plan_hash"],
        planned=making["planned"],
        source_shown=cell(source["name"]),
        source_word=shlex.quote(" ".join(source["name"].split())),
        source_revision=cell(source["revision"]),
        source_fingerprint=source["fingerprint"],
        base_pictures=statistics["base_pictures"],
        changed=sum(concept["editable"] for concept in manifest["concepts"]),
        of_classes=_of_classes(statistics),
        split=PAIR_SPLIT,
        sheet=SHEET,
        statistics=STATISTICS,
        verify_line=_verify_line(making["verify"], statistics),
        verify_text=_verify_text(making, statistics),
        review_line=_review_line(review, manifest["counts"]["pairs"]),
        review_text=_review_text(review),
        s="" if len(making["models"]) == 1 else "s",
        models="\n".join(map(_model_row, making["models"])),
        selection=_selection(statistics),
        limits="\n".join(f"- {limit}" for limit in _limits(manifest, statistics)),
        licences=licence_table(manifest["licences"], source["name"]),
        counts="\n".join(map(_count_row, count(), statistics["concepts"])),
        classes=_classes(statistics["classes"]),
        citation=f"The source: {citation}" if citation else "The source names no citation.",
        packages=", ".join(
            f"{name} {cell(number)}" for name, number in manifest["packages"].items()
        ),
    )


def _header(manifest: Mapping[str, Any]) -> dict[str, Any]:
    pairs = manifest["counts"]["pairs"]
    names = [concept["name"] for concept in manifest["concepts"]]
    licence = manifest["licences"]["package"]
    terms: dict[str, Any] = {"license": licence}
    if licence == "other":
        terms |= {"license_name": "several-see-file", "license_link": LICENCE_FILE}
    data_files = [{"split": PAIR_SPLIT, "path": f"{CONFIG}/{PAIR_SPLIT}-*.parquet"}]
    return {
        **terms,
        "pretty_name": title_of(manifest["name"]),
        "size_categories": [next(name for limit, name in _SIZES if pairs < limit)],
        "task_categories": ["image-classification"],
        "annotations_creators": ["machine-generated"],
        "source_datasets": ["extended"],
        "tags": list(_TAGS),
        "configs": [{"config_name": CONFIG, "default": True, "data_files": data_files}],
        "dataset_info": [{"config_name": CONFIG, "features": yaml_features(typed(names))}],
    }


def _of_classes(statistics: Mapping[str, Any]) -> str:
    count = len(statistics["classes"])
    return f"; the photographs are of {count:,} classes" if count else ""


def _verify_line(mode: str, statistics: Mapping[str, Any]) -> str:
    said = statistics["classifier"]
    if mode == "filter":
        return "Every pair passed a classifier trained on the source's annotations."
    return (
        f"**Not filtered** (`verify: report_only`): a classifier agrees with {said['agrees']:,} "
        f"pairs, disagrees with {said['disagrees']:,} and cannot judge {said['no_opinion']:,}; "
        "all of them are here."
    )


def _verify_text(making: Mapping[str, Any], statistics: Mapping[str, Any]) -> str:
    text = (
        "a classifier trained on the source's annotations looks for every changed concept in both "
        "pictures, at a threshold validated for each concept."
    )
    if making["verify"] == "filter":
        text += " Only pairs that it sees right on both sides are kept."
    else:
        text += " `verify: report_only`: its opinion is recorded and drops nothing."
    change = statistics["outside_change"]
    if change is not None:
        text += (
            " Measured besides: the share of the pixels outside the edited part that changed all "
            f"the same (`outside_change`; median {change['median']:.3f}, nine of ten pairs at most "
            f"{change['p90']:.3f})."
        )
    return text


def _review_line(review: Mapping[str, Any], pairs: int) -> str:
    if review["state"] == "reviewed":
        return "Every pair was looked at and accepted by a person."
    if review["state"] == "partly":
        return (
            f"**Reviewed in part**: {review['reviewed']:,} of {pairs:,} pairs were looked at and "
            "accepted by a person."
        )
    return "**Not reviewed**: no person has looked at these pairs."


def _review_text(review: Mapping[str, Any]) -> str:
    if review["reviewers"] == 0 and review["adjudicated"] == 0:
        return "none; packaged with `--unreviewed`."
    people = "person" if review["reviewers"] == 1 else "people"
    text = f"{review['reviewers']:,} {people} accepted or rejected pairs one by one"
    if review["state"] == "partly":
        text += ", not all of them (packaged with `--unreviewed`)"
    if review["adjudicated"]:
        text += f"; {review['adjudicated']:,} pairs were settled by adjudication"
    if not review["agreement"]:
        return text + ". No edit was looked at by two people, so there is no agreement to report."
    return f"{text}. Agreement of every two people: {'; '.join(map(_agreed, review['agreement']))}."


def _agreed(two: Mapping[str, Any]) -> str:
    kappa = "undefined" if two["kappa"] is None else f"{two['kappa']:.2f}"
    return (
        f"{two['both']:,} edits in common, {two['same']:.2f} decided alike, Cohen's kappa {kappa}"
    )


def _model_row(model: Mapping[str, Any]) -> str:
    guidance = "–" if model["guidance"] is None else f"{model['guidance']:g}"
    return (
        f"| {cell(model['model'])} | `{model['model_revision']}` "
        f"| {cell(model['licence'] or 'not stated')} | {cell(model['scheduler'])} "
        f"| {cell(model['precision'])} | {model['steps']} | {guidance} "
        f"| {model['pairs']:,} |"
    )


def _selection(statistics: Mapping[str, Any]) -> str:
    if not statistics["selection"]:
        return "No planned edit fell out."
    rows = [
        f"| {row['stage']} | {cell(row['reason'])} | {row['edits']:,} |"
        for row in statistics["selection"]
    ]
    head = [
        f"Of {statistics['planned']:,} planned edits {statistics['pairs']:,} are here; the others:",
        "",
        "| fell out at | reason | edits |",
        "|---|---|---|",
    ]
    return "\n".join(head + rows)


def _limits(manifest: Mapping[str, Any], statistics: Mapping[str, Any]) -> list[str]:
    """What a user of this very package should know, the less usual last."""
    making = manifest["generation"]
    limits = [
        "An edit may change more than the concept it is named for: light, texture, background, "
        "size. Read a score beside Δstay and `outside_change`.",
        "Labels are those of the photograph with the one change applied; what else an edit changed "
        "is labelled nowhere.",
        "Annotations of photographs hold mistakes, and so do the classifier that learned from them "
        "and the labels here.",
        "Pictures of a generative model have its own look. A latent may fire on that look instead "
        "of the concept.",
        "Use only photographs outside the pairs to find what a latent means.",
    ]
    if making["verify"] == "report_only":
        limits.append("Nothing was filtered: some edits may not show what they are labelled with.")
    if manifest["review"]["state"] != "reviewed":
        limits.append("Not every pair was looked at by a person.")
    rare = sum(0 < row["added"] + row["removed"] < 10 for row in statistics["concepts"])
    if rare:
        limits.append(f"{rare:,} of the changed concepts have fewer than 10 pairs.")
    declared = making["declared"]
    if declared:
        limits.append(
            f"The source has no annotations of {', '.join(map(cell, declared))}: outside the pairs "
            "that change them they count as absent, no classifier judges them, and scoring beside "
            f"{cell(making['source']['name'])} needs pairs without them."
        )
    return limits


def _count_row(index: int, row: Mapping[str, Any]) -> str:
    return (
        f"| {index} | {cell(row['concept'])} | {row['in_base']:,} | {row['added'] or '–'} "
        f"| {row['removed'] or '–'} |"
    )


def _classes(classes: Sequence[Mapping[str, Any]]) -> str:
    if not classes:
        return ""
    rows = [f"| {cell(row['class'])} | {row['pairs']:,} |" for row in classes[:_SHOWN_CLASSES]]
    if len(classes) > _SHOWN_CLASSES:
        rows.append(f"| {len(classes) - _SHOWN_CLASSES:,} more, see `{STATISTICS}/classes.csv` | |")
    return "\n".join(["", "| class of the photograph | pairs |", "|---|---|", *rows, ""])
