"""Writing a folder of text activations, at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmark import files
from benchmark.datasets.layout import CARD, MANIFEST
from benchmark.tensors import write_tensors
from benchmark.text.contexts import Contexts
from benchmark.text.dataset import ACTIVATIONS, TENSOR, fingerprint
from benchmark.text.table import FILE, write_contexts
from benchmark.text.tokens import SPLITS

_NORM_CHUNK = 1 << 14


def write_folder(
    out: Path,
    made: Mapping[str, Any],
    tokens: Contexts,
    splits: Mapping[str, str],
    rows: np.ndarray,
) -> None:
    """Write contexts, activations, a card for people, and the manifest with the fingerprint.

    Args:
        out: the folder; it appears when all of it is there.
        made: how it was made, the first part of the manifest.
        tokens: the contexts.
        splits: split of every document.
        rows: float32 (N, D), the activations.
    """
    contexts = tokens.contexts
    sizes = dict.fromkeys(SPLITS, 0)
    for one in contexts:
        sizes[splits[one.document]] += len(one.places)
    manifest = {
        **made,
        "counts": {
            "tokens": len(rows),
            "contexts": len(contexts),
            "documents": len(splits),
            **sizes,
            "width": rows.shape[1],
        },
        "tokens_wanted": made["recipe"]["tokens"],
        "tokens_found": len(rows),
        "norm": norms(rows),
    }
    placed = [splits[one.document] for one in contexts]
    manifest["fingerprint"] = fingerprint(manifest, tokens, placed, rows)
    with files.replacing_dir(out) as folder:
        write_contexts(folder / FILE, contexts, splits)
        write_tensors(folder / ACTIVATIONS, {TENSOR: rows}, {})
        files.write_bytes(folder / CARD, _card(manifest).encode())
        files.write_json(folder / MANIFEST, manifest)


def _card(manifest: dict[str, Any]) -> str:
    model, corpus, counts = manifest["model"], manifest["corpus"], manifest["counts"]
    return f"""# {manifest["name"]}: activations of a language model

- Model: {model["name"]}, revision {model["revision"]}, weights SHA-256 {model["weights_sha256"]}
- Read at: output of `{manifest["hook"]}`, float32, {counts["width"]} numbers a token
- Text: {corpus["name"]} {corpus["revision"]}, licence {corpus["licence"]}
- Tokens: {counts["tokens"]:,} in {counts["contexts"]:,} contexts, without special tokens
- Splits by whole document: {counts["match"]:,} tokens match, {counts["score"]:,} score
- Licence of the activations: that of the text, and whatever the model's licence asks
- Cite the model, the text, the project Assay and the fingerprint {manifest["fingerprint"]}

`activations.safetensors` has a row a token, in the order of `contexts.parquet`.
"""


def norms(rows: np.ndarray) -> dict[str, float]:
    """Mean, median and greatest Euclidean norm of activations (N, D)."""
    found = np.concatenate(
        [
            np.sqrt((np.asarray(rows[start : start + _NORM_CHUNK], np.float64) ** 2).sum(axis=1))
            for start in range(0, len(rows), _NORM_CHUNK)
        ]
    )
    return {
        "mean": float(found.mean()),
        "median": float(np.median(found)),
        "max": float(found.max()),
    }
