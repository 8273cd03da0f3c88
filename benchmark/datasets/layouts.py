"""A dataset from a folder in any layout known here, told apart by the files in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmark.datasets.base import Dataset
from benchmark.datasets.layout import MANIFEST
from benchmark.errors import UserError


def open_any(folder: Path) -> Dataset:
    """Open a folder with a manifest (ours), a table of pairs (the paper's), of CUB or of COCO.

    Raises:
        UserError: none of them, or a broken one.
    """
    from benchmark.datasets import coco, cub, parquet, published
    from benchmark.text.manifest import is_text_folder

    if is_text_folder(folder):
        from benchmark.text.dataset import open_text_folder

        return open_text_folder(folder)
    if (folder / MANIFEST).is_file():
        return parquet.open_folder(folder)
    if (folder / published.TABLE).is_file():
        return _open_pairs(folder)
    if found := cub.find(folder):
        return cub.open_cub(found)
    if found := coco.find(folder):
        return coco.open_coco(found)
    raise UserError(
        f"{folder} is not a dataset folder: it has no {MANIFEST}, no {published.TABLE}, no "
        f"{cub.LIST} of CUB and no instances_train2017.json of COCO"
    )


def _open_pairs(folder: Path) -> Dataset:
    from benchmark.datasets import syncoco, syncub
    from benchmark.datasets.published import TABLE, table_header

    header = table_header(folder)
    known = {syncub: syncub.COLUMNS.telling, syncoco: syncoco.COLUMNS.telling}
    fitting = [module for module, columns in known.items() if columns & header]
    if len(fitting) != 1:
        wanted = " or ".join(", ".join(sorted(columns)) for columns in known.values())
        raise UserError(
            f"{folder / TABLE}: columns of {'both' if fitting else 'no'} known tables of pairs; "
            f"expected {wanted}"
        )
    return fitting[0].PAIRS.open(folder)


def open_hub(repo: str, revision: str) -> Dataset:
    """Open a Hub dataset in one of these layouts, downloaded where it is not in the cache.

    Its name is the manifest's, else that of a known repository, else the repository's; its revision
    is the full commit hash.
    """
    from benchmark.datasets import hub, syncoco, syncub

    folder, commit = hub.fetch(repo, revision)
    known = {one.repo: one.name for one in (syncub.PAIRS, syncoco.PAIRS)}
    dataset = open_any(folder)
    name = dataset.name if (folder / MANIFEST).is_file() else known.get(repo, repo)
    return replace(dataset, name=name, revision=commit)
