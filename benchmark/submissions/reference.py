"""The reference submissions from nothing: ``python -m benchmark.submissions.reference``.

Seven trained architectures and an untrained twin, 256 latents on synAvatars. Same code and data,
same files; ``assay submit score ID --record`` then measures each.
"""

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.submissions.make import Answers, filled_in, make_submission, read_source

if TYPE_CHECKING:
    from benchmark.runs import Prepared

DATASET = "synavatars"
D_SAE = 256
K = 32
TWIN_SEED = 1000
"""Not one of those that the protocol's own twins are drawn with."""

_AUTHORS = ("The Assay authors",)
_LICENCE = "Apache-2.0"
_TITLES = {
    "topk": "TopK",
    "batchtopk": "BatchTopK",
    "matryoshka": "Matryoshka BatchTopK",
    "jumprelu": "JumpReLU",
    "relu": "ReLU",
    "gated": "Gated",
    "p_anneal": "P-anneal",
}


def make_references(
    root: Path, prepared: "Prepared", *, d_sae: int = D_SAE, epochs: int = 50, force: bool = False
) -> Iterator[Path]:
    """Train, and write the folders under ``root`` one by one.

    Raises:
        UserError: a folder that is there already, unless ``force``; one with results never goes.
    """
    from benchmark.saes.training import ARCHITECTURES, Recipe
    from benchmark.saes.training.store import train_to_folder

    features = prepared.features["match"]
    with tempfile.TemporaryDirectory(prefix="assay-") as name:
        for architecture in ARCHITECTURES:
            folder = Path(name) / architecture
            recipe = Recipe(architecture, d_sae, k=min(K, d_sae), epochs=epochs)
            train_to_folder(folder, recipe, features, prepared.origin)
            yield _make(
                folder,
                f"assay-{architecture.replace('_', '-')}-{d_sae}",
                f"{_TITLES[architecture]}, {d_sae} latents",
                {
                    "description": "Trained by assay train with its default settings: "
                    f"{epochs} passes over the match split, seed 0."
                },
                root,
                force,
            )
        yield _twin(Path(name), prepared, root, d_sae, force)


def _twin(work: Path, prepared: "Prepared", root: Path, d_sae: int, force: bool) -> Path:
    from benchmark.saes import load_sae
    from benchmark.saes.baselines import untrained_twin
    from benchmark.saes.formats.assay import FORMAT

    twin = untrained_twin(
        load_sae(work / "topk"), prepared.features["match"], target_l0=K, seed=TWIN_SEED
    )
    origin = {key: prepared.origin[key] for key in ("dataset", "encoder", "split")}
    FORMAT.save(twin, work / "untrained", {**origin, "epochs": 0, "seed": TWIN_SEED})
    note = "The mean of the normalised features is its decoder bias; nothing else was learned."
    more = {
        "description": "TopK with random weights: what any trained SAE has to beat.",
        "training_data": [{"dataset": prepared.dataset.name, "splits": ["match"], "note": note}],
    }
    title = f"Untrained TopK, {d_sae} latents"
    return _make(work / "untrained", f"assay-untrained-{d_sae}", title, more, root, force)


def _make(
    folder: Path, identifier: str, title: str, more: Mapping[str, Any], root: Path, force: bool
) -> Path:
    source = read_source(str(folder))
    answers = filled_in(Answers(identifier, title, _LICENCE, authors=_AUTHORS), source)
    return make_submission(source, answers, root, force=force, more=more)[0]


def main() -> None:
    """Write all reference submissions and name them."""
    from benchmark.runs import prepare_by_name

    parser = argparse.ArgumentParser(description="Make the reference submissions again.")
    parser.add_argument("--root", type=Path, default=Path("submissions"))
    parser.add_argument("--force", action="store_true", help="replace those without results")
    options = parser.parse_args()
    prepared = prepare_by_name(DATASET, None, None)
    for folder in make_references(options.root, prepared, force=options.force):
        print(folder, flush=True)


if __name__ == "__main__":
    main()
