"""Features of a dataset's pictures, worked out once and kept (``embed``)."""

import hashlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmark import files
from benchmark.codes import Array, write_arrays
from benchmark.datasets import Dataset, ImageSequence
from benchmark.encoders import Encoder, EncoderInfo
from benchmark.errors import UserError
from benchmark.feature_store import TABLES, FeatureStore
from benchmark.images import read_image

# Rows between two entries of the journal: less than a second of work is lost by a kill.
BLOCK_ROWS = 64


@dataclass(frozen=True, eq=False)
class Features:
    """Features of a dataset: read-only arrays, memory-mapped."""

    images: np.ndarray
    """float32 (N, D): row i belongs to picture i of the dataset."""
    base: np.ndarray
    """float32 (P, D): the base pictures of the pairs; no rows where there are no pairs."""
    edited: np.ndarray
    """float32 (P, D): the edited pictures of the pairs."""
    fingerprint: str
    """Fingerprint of the dataset."""
    encoder: EncoderInfo
    """What they were made with."""
    folder: Path
    """Where they are kept."""


@dataclass(frozen=True)
class Progress:
    """How far ``embed`` is, in distinct pictures."""

    done: int
    total: int
    per_second: float
    """Pictures a second in this run; 0 at its start."""
    seconds_left: float | None
    """None while the speed is unknown."""


@dataclass(frozen=True)
class Block:
    """Pictures that are encoded together: their number as a block, and (table, row) of each."""

    number: int
    places: tuple[tuple[str, int], ...]


BlockEncoder = Callable[[Sequence[Block]], Iterator[tuple[int, np.ndarray]]]
"""Gives the features of blocks, each with its number, in any order."""


@dataclass(frozen=True)
class _Plan:
    """Each distinct picture once: where it is, and which rows of the tables it gives."""

    dataset: Dataset
    first: list[tuple[str, int]]
    rows_of: Mapping[str, np.ndarray]


def embed(
    dataset: Dataset,
    encoder: Encoder,
    *,
    home: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    workers: int | None = None,
    elsewhere: BlockEncoder | None = None,
) -> Features:
    """Features of all pictures of ``dataset``, from the cache or made now.

    Pictures with equal bytes are embedded once. A killed run is resumed; the result has the same
    bytes then, and for any number of workers. Where another process is embedding the same thing,
    this one waits for it.

    Args:
        dataset: pictures, and pairs where there are any.
        encoder: makes the features.
        home: cache folder, by default ``benchmark.files.home()``.
        progress: called from time to time while features are made, not when they are in the cache.
        workers: threads that decode and encode, by default one per processor.
        elsewhere: encodes in place of these threads, with the same encoder.

    Raises:
        UserError: a picture that cannot be decoded, a feature that is NaN or infinite (naming the
            row), or a cache folder that cannot be written.
    """
    if workers is not None and workers < 1:
        raise UserError(f"workers is {workers}; expected at least 1")
    if dataset.activations is not None:
        raise UserError(
            f"dataset {dataset.name} holds activations, not pictures; there is nothing to embed"
        )
    info = EncoderInfo.of(encoder)
    store = FeatureStore(home or files.home(), _key(dataset, info))
    arrays = store.read()
    if arrays is None:
        with store.locked():
            arrays = store.read()
            if arrays is None:
                local = partial(_encoded_blocks, dataset, encoder, workers or _processors())
                _make(store, _plan(dataset), encoder, progress, elsewhere or local)
                arrays = store.read()
    if arrays is None:
        raise UserError(
            f"the feature cache {store.folder} changed while it was written; run again, or set "
            "ASSAY_HOME to a folder on another disk"
        )
    return Features(**arrays, fingerprint=dataset.fingerprint, encoder=info, folder=store.folder)


def write_features(
    path: Path,
    dataset: Dataset,
    features: Features,
    *,
    pairs: tuple[Dataset, Features] | None = None,
) -> None:
    """Write features as a file for ``--features`` (format: ``benchmark.codes``).

    ``pairs`` gives the edit pairs of another dataset, which then stand in the file for its own.
    """
    arrays: dict[str, Array] = {
        split: features.images[dataset.split(split)] for split in ("match", "score")
    }
    sides = features if pairs is None else pairs[1]
    if len(sides.base):
        arrays |= {"base": sides.base, "edited": sides.edited}
    encoder = {key: str(value) for key, value in features.encoder.as_dict().items()}
    metadata = {"fingerprint": features.fingerprint, "dataset": dataset.name}
    if pairs is not None:
        metadata |= {"pairs_fingerprint": sides.fingerprint, "pairs_dataset": pairs[0].name}
    metadata |= {f"encoder.{key}": value for key, value in encoder.items()}
    write_arrays(path, arrays, metadata)


def _key(dataset: Dataset, info: EncoderInfo) -> dict[str, object]:
    # Layouts that share a fingerprint may order their rows differently; a cached array may not.
    order = hashlib.sha256(repr((dataset.ids, _pair_ids(dataset))).encode()).hexdigest()
    return {"dataset": dataset.fingerprint, "order": order, "encoder": info.as_dict()}


def _pair_ids(dataset: Dataset) -> tuple[str, ...]:
    return () if dataset.pairs is None else dataset.pairs.ids


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pictures_of(dataset: Dataset) -> dict[str, ImageSequence]:
    """The pictures of a dataset by table: ``images``, and ``base``, ``edited`` of pairs."""
    sources: dict[str, ImageSequence] = {"images": dataset.images}
    if dataset.pairs is not None:
        sources |= {"base": dataset.pairs.base, "edited": dataset.pairs.edited}
    return sources


def _plan(dataset: Dataset) -> _Plan:
    sources = pictures_of(dataset)
    first: list[tuple[str, int]] = []
    seen: dict[bytes, int] = {}
    rows_of = {}
    for table in TABLES:
        source = sources.get(table)
        rows = np.empty(0 if source is None else len(source), dtype=np.int64)
        for row in range(len(rows)):
            assert source is not None
            digest = hashlib.sha256(source.encoded(row)).digest()
            if digest not in seen:
                seen[digest] = len(first)
                first.append((table, row))
            rows[row] = seen[digest]
        rows_of[table] = rows
    return _Plan(dataset, first, rows_of)


def _make(
    store: FeatureStore,
    plan: _Plan,
    encoder: Encoder,
    progress: Callable[[Progress], None] | None,
    encode: BlockEncoder,
) -> None:
    # Whole batches, so that only the very last one is padded.
    block_rows = -(-BLOCK_ROWS // encoder.batch_size) * encoder.batch_size
    total = len(plan.first)
    work = store.work(rows=total, dim=encoder.dim, block_rows=block_rows, runtime=encoder.runtime)
    before, start = work.rows_done(), time.monotonic()

    def report() -> None:
        if progress is not None:
            done = work.rows_done()
            speed = (done - before) / max(time.monotonic() - start, 1e-9)
            left = (total - done) / speed if speed else None
            progress(Progress(done, total, speed, left))

    report()
    todo = [
        Block(number, tuple(plan.first[slice(*work.span(number))]))
        for number in range(work.blocks)
        if number not in work.done
    ]
    for number, features in encode(todo):
        work.add(number, features)
        report()
    store.finish(work, plan.rows_of)


def _encoded_blocks(
    dataset: Dataset, encoder: Encoder, workers: int, todo: Sequence[Block]
) -> Iterator[tuple[int, np.ndarray]]:
    """The blocks in order: so the first faulty picture is the one reported."""
    waiting: deque[tuple[int, Future[np.ndarray]]] = deque()
    sources = pictures_of(dataset)
    pool = ThreadPoolExecutor(workers, thread_name_prefix="embed")
    try:
        for block in todo:
            # Read here: a dataset need not be safe to read from several threads.
            encoded = [sources[table].encoded(row) for table, row in block.places]
            future = pool.submit(encode_block, dataset, encoder, block, encoded)
            waiting.append((block.number, future))
            # One block more than workers keeps them busy and bounds the memory.
            if len(waiting) > workers:
                ready, future = waiting.popleft()
                yield ready, future.result()
        for ready, future in waiting:
            yield ready, future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def encode_block(
    dataset: Dataset, encoder: Encoder, block: Block, encoded: Sequence[bytes]
) -> np.ndarray:
    """Features of a block's pictures, float32 (len(encoded), D), checked.

    Raises:
        UserError: a picture that cannot be decoded, or a feature that is NaN or infinite.
    """
    names = [_label(dataset, *place) for place in block.places]
    images = [read_image(data, name=name) for name, data in zip(names, encoded, strict=True)]
    features = encoder.encode(images)
    if features.shape != (len(images), encoder.dim) or features.dtype != np.float32:
        raise TypeError(
            f"encoder {encoder.name} gave {features.dtype} {features.shape}, expected float32 "
            f"{(len(images), encoder.dim)}"
        )
    finite = np.isfinite(features).all(axis=1)
    if not finite.all():
        name = names[int(finite.argmin())]
        raise UserError(
            f"encoder {encoder.name} gave NaN or infinity for {name}; check that picture"
        )
    return features


def _label(dataset: Dataset, table: str, row: int) -> str:
    """What to call a picture in an error."""
    ids = dataset.ids if table == "images" else _pair_ids(dataset)
    return f"{dataset.name}: {table} row {row} ({ids[row]})"
