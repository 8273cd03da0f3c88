"""The dataset card: YAML that the Hub reads, then what a person wants to know."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchmark.datasets.layout import IMAGE_COLUMNS, PAIR_COLUMNS, PAIR_SPLIT, PICTURES, SPLITS

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (10**9, "100K<n<1M"))
_TAGS = (
    "interpretability",
    "sparse-autoencoders",
    "concept-annotations",
    "counterfactual-pairs",
    "synthetic",
    "avatars",
)

_TEXT = """
# synAvatars

Drawn avatars with exact concept annotations, and pairs of avatars that differ in exactly one
attribute. It is the embedded dataset of Assay, a benchmark of sparse autoencoders (SAEs): small
enough to be built and scored in minutes, and correct by construction, since what is labelled is
what was drawn.

- `images`: {match:,} pictures in the split `match` (where latents are matched with concepts) and
  {score:,} in `score` (where they are scored), {concepts} concepts in {groups} groups.
- `pairs`: {pairs:,} pairs of a picture and its edit: {pairs_add:,} add a concept (no glasses to
  glasses), {pairs_remove:,} remove one, {pairs_swap:,} swap one for another of its group.

All pictures are PNG, 224 x 224, RGB. No two of them are alike, in any split or pair.

## Load it

```python
from datasets import load_dataset

images = load_dataset("path/to/this/folder")            # splits match and score
pairs = load_dataset("path/to/this/folder", "pairs")    # split test

from benchmark.datasets import load_dataset             # the same through Assay

dataset = load_dataset("path/to/this/folder")
```

`concepts` are sorted concept ids (0-based, names in the features and in `manifest.json`); `added`
and `removed` are concept ids or null; `base_concepts` and `edited_concepts` differ in exactly
these. `assay data check FOLDER` proves this and the rest from the files alone.

## How it was made

DiceBear draws each avatar from options of an attribute space, resvg rasterises it on white. One
identity fixes every option; an edit changes the options of one group, so a pair is pixel-identical
outside the edited part. Pictures and pairs come from different random identities. Each picture is
drawn around one concept, taken in turn, so that no concept is too rare; the rest is chance.

- A concept that cannot be seen is labelled absent (hair colour under a hat), and no edit changes
  what can be seen of another group. Values that would hide each other are never drawn together
  (closed eyes with glasses, a mask with a beard). Colours that a style shares between parts (hair
  and beard, clothing and turban) are separated. Tests hold all this by pixel differences.
- Rejected and drawn anew: edits that change fewer than 30 pixels visibly, and duplicates by the
  hash of their pixels.
- Style is labelled and never edited.

Made with seed {seed} and {packages}. The same versions and seed give the same bytes.

Fingerprint (SHA-256 over vocabulary, ids, picture bytes, labels and pairs):
`{fingerprint}`

## What raw pixels give

| predictor | mean F1 on `score` |
|---|---|
| every concept everywhere, 2p / (1 + p) | {prevalence_f1:.3f} |
| raw pixels, 32 x 32 RGB: logistic regression per concept | {raw_pixels_f1:.3f} |

The second reduces the pixels to 256 principal components and fits components, weights (L2, C = 1)
and one threshold per concept on `match`. Drawings are that regular: a score on this data says how
an SAE organises what an encoder sees, not that the task is hard for vision.

## Known limits

- Three drawing styles, frontal portraits, no pose, scale or light: easier than photographs.
- Not every style has every group: facial hair is in voxel and peeps, hair colour and outfits in
  voxel and pixel, eyes in voxel, earrings in pixel, masks in peeps. These concepts go together
  with their style.
- Some values exclude each other (see above), which leaves weak dependencies between groups.
- Long hair covers part of the background, glasses part of an expression; at least a third of every
  labelled part stays in sight.
- Skin, hair and headwear are drawing options. They say nothing about people and must not be used
  to learn anything about them.

## Licences of the styles

All styles are dedicated to the public domain, and so is this dataset (CC0 1.0).

| concept | style | drawn by | licence |
|---|---|---|---|
{styles}

## Counts

| id | concept | match | score | pairs that add it | pairs that remove it |
|---|---|---|---|---|---|
{counts}

## Cite

Cite the project Assay, with the dataset's name, version and fingerprint:

```bibtex
@misc{{assay-synavatars,
  title = {{synAvatars {version}: annotated avatars and single-attribute edits}},
  author = {{{{The Assay project}}}},
  note = {{Fingerprint {fingerprint}}}
}}
```
"""


def card(manifest: dict[str, Any], statistics: Sequence[dict[str, Any]]) -> str:
    """README.md of the dataset folder."""
    counts = manifest["counts"]
    return _front_matter(manifest) + _TEXT.format(
        **counts,
        **manifest["probes"],
        groups=len({concept["group"] for concept in manifest["concepts"]}),
        seed=manifest["seed"],
        version=manifest["version"],
        fingerprint=manifest["fingerprint"],
        packages=", ".join(f"{name} {number}" for name, number in manifest["packages"].items()),
        styles="\n".join(_style_row(style) for style in manifest["styles"]),
        counts="\n".join(_count_row(index, row) for index, row in enumerate(statistics)),
    )


def _style_row(style: dict[str, str]) -> str:
    return (
        f"| style: {style['label']} | [{style['title']}]({style['source']}) (`{style['style']}`) "
        f"| [{style['creator']}]({style['creator_url']}) "
        f"| [{style['licence']}]({style['licence_url']}) |"
    )


def _count_row(index: int, row: dict[str, Any]) -> str:
    return (
        f"| {index} | {row['concept']} | {row['match']} | {row['score']} "
        f"| {row['added'] or '–'} | {row['removed'] or '–'} |"
    )


def _front_matter(manifest: dict[str, Any]) -> str:
    counts = manifest["counts"]
    rows = sum(counts[key] for key in (*SPLITS, "pairs"))
    size = next(name for limit, name in _SIZES if rows < limit)
    names = [concept["name"] for concept in manifest["concepts"]]
    lines = [
        "---",
        "license: cc0-1.0",
        "pretty_name: synAvatars",
        "size_categories:",
        f"- {size}",
        "task_categories:",
        "- image-classification",
        "tags:",
        *(f"- {tag}" for tag in _TAGS),
        "configs:",
        "- config_name: images",
        "  default: true",
        "  data_files:",
        *(
            line
            for split in SPLITS
            for line in (f"  - split: {split}", f"    path: images/{split}-*.parquet")
        ),
        "- config_name: pairs",
        "  data_files:",
        f"  - split: {PAIR_SPLIT}",
        f"    path: pairs/{PAIR_SPLIT}-*.parquet",
        "dataset_info:",
        "- config_name: images",
        "  features:",
        *_features(list(IMAGE_COLUMNS), names),
        "- config_name: pairs",
        "  features:",
        *_features(list(PAIR_COLUMNS), names),
        "---",
    ]
    return "\n".join(lines) + "\n"


def _features(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    label = [
        "      class_label:",
        "        names:",
        *(f"          '{index}': {json.dumps(name)}" for index, name in enumerate(names)),
    ]
    lines = []
    for column in columns:
        lines.append(f"  - name: {column}")
        if column in PICTURES:
            lines.append("    dtype: image")
        elif column.endswith("concepts"):
            lines += ["    list:", *label]
        elif column in ("added", "removed"):
            lines += ["    dtype:", *label]
        else:
            lines.append("    dtype: string")
    return lines
