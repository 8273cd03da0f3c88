"""Reading a dataset folder: columns at once, pictures one row group at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmark.datasets.base import Dataset, PairSequence
from benchmark.datasets.layout import (
    IMAGE_COLUMNS,
    MAX_CELLS,
    PAIR_COLUMNS,
    PAIR_SPLIT,
    PICTURES,
    SOURCE,
    SPLITS,
)
from benchmark.datasets.manifest import Manifest, read_manifest
from benchmark.datasets.pictures import ParquetImages, open_parquet, read_columns
from benchmark.errors import UserError


@dataclass(frozen=True)
class Shard:
    """The files of one split and every column of theirs but the pictures."""

    where: str
    files: tuple[Path, ...]
    table: pa.Table

    def strings(self, column: str) -> list[str]:
        return [str(value) for value in self.table[column].to_pylist()]


def open_folder(folder: Path) -> Dataset:
    """Open a dataset folder; the first fault found is raised as a ``UserError``."""
    dataset, faults = read_folder(folder)
    if dataset is None:
        more = f" (and {len(faults) - 1} more; see: assay data check)" if len(faults) > 1 else ""
        raise UserError(faults[0] + more)
    return dataset


def read_folder(folder: Path) -> tuple[Dataset | None, list[str]]:
    """The dataset, or None and every fault that stops it from being read."""
    try:
        manifest = read_manifest(folder)
    except UserError as error:
        return None, [str(error)]
    shards: dict[str, Shard] = {}
    faults: list[str] = []
    for split in _stated(manifest):
        try:
            shards[split] = _read_shard(folder, split, manifest)
        except UserError as error:
            faults.append(str(error))
    for split in shards:
        faults += _label_faults(shards[split], manifest, pairs=split == PAIR_SPLIT)
    if faults:
        return None, faults
    images = [shards[split] for split in SPLITS if split in shards]
    faults = _id_faults(images) + _id_faults(
        [shards[split] for split in (PAIR_SPLIT,) if split in shards]
    )
    return (None, faults) if faults else (_dataset(manifest, shards), [])


def _stated(manifest: Manifest) -> tuple[str, ...]:
    """The splits that the manifest counts; a folder may hold pictures or pairs only."""
    held = SPLITS if any(manifest.counts.get(split) != 0 for split in SPLITS) else ()
    pairs = (PAIR_SPLIT,) if manifest.counts.get("pairs") != 0 or not held else ()
    return (*held, *pairs)


def _read_shard(folder: Path, split: str, manifest: Manifest) -> Shard:
    config = "pairs" if split == PAIR_SPLIT else "images"
    paths = tuple(sorted((folder / config).glob(f"{split}-*.parquet")))
    if not paths:
        raise UserError(f"{folder}: no {config}/{split}-*.parquet")
    columns = PAIR_COLUMNS if split == PAIR_SPLIT else IMAGE_COLUMNS
    tables = []
    for path in paths:
        with open_parquet(path) as file:
            found = columns
            if split == PAIR_SPLIT and SOURCE in file.schema_arrow.names:
                found = columns | {SOURCE: pa.string()}
            _check_schema(file.schema_arrow, found, path)
        schema = pa.schema([(name, kind) for name, kind in found.items() if name not in PICTURES])
        tables.append(read_columns(path, schema.names, schema))
    if len({tuple(table.column_names) for table in tables}) > 1:
        raise UserError(f"{folder}: column {SOURCE!r} is in some files of the pairs only")
    table = pa.concat_tables(tables)
    if table.num_rows * len(manifest.concepts) > MAX_CELLS:
        raise UserError(f"{folder}: {table.num_rows:,} rows of {split} are more than can be held")
    return Shard(f"{folder.name}/{config}/{split}", paths, table)


def _check_schema(found: pa.Schema, expected: dict[str, pa.DataType], path: Path) -> None:
    missing = [name for name in expected if name not in found.names]
    if missing:
        raise UserError(
            f"{path}: no column {missing[0]!r}; expected {', '.join(expected)}, "
            f"found {', '.join(found.names) or 'none'}"
        )
    for name, kind in expected.items():
        actual = found.field(name).type
        if not _same_kind(actual, kind):
            raise UserError(f"{path}: column {name!r} is {actual}, expected {kind}")


def _same_kind(actual: pa.DataType, expected: pa.DataType) -> bool:
    """Whether a column can be read as expected: the width of offsets and integers is free."""
    types = pa.types
    if types.is_struct(expected):
        return bool(types.is_struct(actual)) and _is_picture(actual)
    if types.is_list(expected):
        listed = types.is_list(actual) or types.is_large_list(actual)
        return bool(listed and types.is_integer(actual.value_type))
    if types.is_integer(expected):
        return bool(types.is_integer(actual))
    return bool(types.is_string(actual) or types.is_large_string(actual))


def _is_picture(actual: pa.StructType) -> bool:
    types = pa.types
    kinds = {
        actual.field(place).name: actual.field(place).type for place in range(actual.num_fields)
    }
    if set(kinds) != {"bytes", "path"}:
        return False
    data, path = kinds["bytes"], kinds["path"]
    held = types.is_binary(data) or types.is_large_binary(data)
    named = types.is_string(path) or types.is_large_string(path) or types.is_null(path)
    return bool(held and named)


def _label_faults(shard: Shard, manifest: Manifest, *, pairs: bool) -> list[str]:
    faults = []
    ids = shard.strings("id")
    for column in ("base_concepts", "edited_concepts") if pairs else ("concepts",):
        for row, labels in enumerate(shard.table[column].to_pylist()):
            fault = _list_fault(labels, len(manifest.concepts))
            if fault:
                faults.append(f"{shard.where}: row {row} ({ids[row]}): {column} {fault}")
    for column in ("added", "removed") if pairs else ():
        for row, label in enumerate(shard.table[column].to_pylist()):
            if label is not None and not 0 <= label < len(manifest.concepts):
                faults.append(
                    f"{shard.where}: row {row} ({ids[row]}): {column} is {label}, "
                    f"expected 0..{len(manifest.concepts) - 1}"
                )
    return faults


def _list_fault(labels: Any, size: int) -> str | None:
    if labels is None or any(label is None for label in labels):
        return "is or holds null, expected a list of concept numbers"
    outside = [label for label in labels if not 0 <= label < size]
    if outside:
        return f"holds {outside[0]}, expected 0..{size - 1}"
    if sorted(set(labels)) != labels:
        return "is not sorted without repeats"
    return None


def _id_faults(shards: Sequence[Shard]) -> list[str]:
    faults = []
    seen: dict[str, str] = {}
    for shard in shards:
        for row, value in enumerate(shard.table["id"].to_pylist()):
            if not value:
                faults.append(f"{shard.where}: row {row} has no id")
            elif value in seen:
                faults.append(f"{shard.where}: row {row}: id {value!r} is also in {seen[value]}")
            else:
                seen[value] = shard.where
    return faults


def _dataset(manifest: Manifest, shards: dict[str, Shard]) -> Dataset:
    held = [split for split in SPLITS if split in shards]
    images = [shards[split] for split in held]
    bounds = np.cumsum([0, *(shard.table.num_rows for shard in images)])
    splits = {
        split: np.arange(bounds[place], bounds[place + 1], dtype=np.int64)
        for place, split in enumerate(held)
    }
    size = len(manifest.concepts)
    return Dataset(
        name=manifest.name,
        revision=manifest.version,
        concepts=manifest.concepts,
        groups=manifest.groups,
        ids=tuple(value for shard in images for value in shard.strings("id")),
        annotations=np.concatenate(
            [np.zeros((0, size), bool), *(_matrix(shard, "concepts", size) for shard in images)]
        ),
        images=ParquetImages([path for shard in images for path in shard.files], "image"),
        splits=splits,
        pairs=_pairs(shards[PAIR_SPLIT], size) if PAIR_SPLIT in shards else None,
    )


def _pairs(shard: Shard, size: int) -> PairSequence:
    return PairSequence(
        ids=tuple(shard.strings("id")),
        base=ParquetImages(shard.files, "base"),
        edited=ParquetImages(shard.files, "edited"),
        added=tuple(shard.table["added"].to_pylist()),
        removed=tuple(shard.table["removed"].to_pylist()),
        present=_matrix(shard, "base_concepts", size),
        sources=tuple(shard.table[SOURCE].to_pylist())
        if SOURCE in shard.table.column_names
        else (),
    )


def _matrix(shard: Shard, column: str, size: int) -> np.ndarray:
    """bool (rows, size) from a column of lists of indices."""
    lists = shard.table[column].to_pylist()
    matrix = np.zeros((len(lists), size), dtype=bool)
    for row, labels in enumerate(lists):
        matrix[row, labels] = True
    return matrix


def pair_column(folder: Path, column: str) -> Iterator[Any]:
    """Values of a column of the pairs, in the order of ``Dataset.pairs``."""
    for path in sorted((folder / "pairs").glob(f"{PAIR_SPLIT}-*.parquet")):
        yield from read_columns(path, [column])[column].to_pylist()


def schema_of(path: Path) -> pa.Schema:
    """A file's Arrow schema with its metadata."""
    return pq.read_schema(path)
