"""Run a language model over a corpus and keep its activations as a dataset."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from benchmark import files
from benchmark.errors import UserError
from benchmark.feature_store import Work
from benchmark.text.contexts import Contexts
from benchmark.text.corpus import Corpus
from benchmark.text.dataset import TextDataset, open_text_folder
from benchmark.text.hook import Hook
from benchmark.text.manifest import KIND, VERSION, is_text_folder
from benchmark.text.model import (
    ATTENTION,
    ModelFiles,
    load_network,
    load_tokenizer,
    runtime,
)
from benchmark.text.table import contexts_sha256
from benchmark.text.tokens import Context, contexts_of, ordered, split_documents
from benchmark.text.write import write_folder

BLOCK_ROWS = 1024
"""Rows between two entries of the journal: a few seconds of work are lost by a kill."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class TextRecipe:
    """How activations are collected.

    Attributes:
        hook: path of the module whose output is read.
        tokens: how many; None for all of the corpus.
        context_length: tokens of an input, special tokens included.
        batch_size: inputs of every forward pass; the last batch is padded up to it.
        seed: of the order in which documents are used.
        match_share: share of the tokens in the match split.
    """

    hook: str
    tokens: int | None = None
    context_length: int = 64
    batch_size: int = 16
    seed: int = 0
    match_share: float = 0.6

    def __post_init__(self) -> None:
        for name in ("tokens", "context_length", "batch_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UserError(f"{name} is {value}; expected at least 1")
        if not 0 < self.match_share < 1:
            raise UserError(f"match share is {self.match_share}; expected a number between 0 and 1")


@dataclass(frozen=True)
class _Plan:
    """What is to be done, worked out before the first forward pass."""

    recipe: TextRecipe
    network: Any
    hook: Hook
    contexts: Contexts
    splits: dict[str, str]
    width: int

    @property
    def rows(self) -> int:
        return int(self.contexts.first[-1])


def collect(
    model: ModelFiles,
    corpus: Corpus,
    recipe: TextRecipe,
    out: Path,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
    overwrite: bool = False,
) -> TextDataset:
    """Write a folder of activations, or open it where the same one is there already.

    A killed run is resumed and then gives the same bytes, for any number of workers.

    Args:
        model: the files of a model.
        corpus: what it reads.
        recipe: how.
        out: the folder.
        name: of the dataset; by default the corpus'.
        progress: called with (rows done, rows).
        workers: threads that run the model, by default one per processor.
        overwrite: replace a folder made in another way.

    Raises:
        UserError: an unknown hook, a model or tokenizer that cannot be used, activations that are
            not finite, or a folder that holds something else. What was there stays as it was.
    """
    made = _made_from(model, corpus, recipe, name or corpus.name)
    if out.exists():
        if (found := _same(out, made)) is not None:
            return found
        if not (overwrite and (is_text_folder(out) or not any(out.iterdir()))):
            raise UserError(
                f"{out}: holds something else; choose another --out"
                + (" or give --overwrite" if is_text_folder(out) else "")
            )
    plan = _plan(model, corpus, recipe)
    key = {**made, "contexts": contexts_sha256(plan.contexts.contexts, _splits(plan))}
    text = json.dumps(key, sort_keys=True)
    place = files.home() / "text" / hashlib.sha256(text.encode()).hexdigest()[:32]
    place.mkdir(parents=True, exist_ok=True)
    with FileLock(place.with_suffix(".lock")):
        work = Work(place / "work", plan.rows, plan.width, BLOCK_ROWS, runtime())
        _run(plan, work, progress, workers or _processors())
        kind = type(plan.network).__name__
        manifest = {**made, "model": {**made["model"], "class": kind}, "runtime": runtime()}
        write_folder(out, manifest, plan.contexts, plan.splits, work.rows())
        shutil.rmtree(place)
    return open_text_folder(out)


def _made_from(model: ModelFiles, corpus: Corpus, recipe: TextRecipe, name: str) -> dict[str, Any]:
    settings = asdict(recipe)
    hook = settings.pop("hook")
    return {
        "schema_version": VERSION,
        "kind": KIND,
        "name": name,
        "revision": corpus.revision,
        "licence": corpus.licence,
        "model": model.as_dict(),
        "hook": hook,
        "corpus": corpus.as_dict(),
        "recipe": {**settings, "attention": ATTENTION, "padding": "right"},
    }


def _same(out: Path, made: dict[str, Any]) -> TextDataset | None:
    if not is_text_folder(out):
        return None
    found = open_text_folder(out)
    parts = [key for key in made["model"] if key != "source"]  # where it lies does not matter
    there, wanted = (
        {**document, "model": [document["model"].get(part) for part in parts]}
        for document in (found.manifest, made)
    )
    return found if all(there.get(key) == wanted[key] for key in wanted) else None


def _plan(model: ModelFiles, corpus: Corpus, recipe: TextRecipe) -> _Plan:
    tokenizer, network = load_tokenizer(model), load_network(model)
    hook = Hook(network, recipe.hook)
    most = getattr(network.config, "max_position_embeddings", None)
    if isinstance(most, int) and recipe.context_length > most:
        raise UserError(
            f"a context of {recipe.context_length} is longer than the {most} positions of the model"
        )
    contexts = contexts_of(
        ordered(corpus.documents, recipe.seed),
        tokenizer,
        length=recipe.context_length,
        tokens=recipe.tokens,
    )
    splits = split_documents(contexts, recipe.match_share)
    known = network.get_input_embeddings().weight.shape[0]
    largest = max(int(one.input_ids.max()) for one in contexts)
    if largest >= known:
        raise UserError(
            f"{model.source}: its tokenizer gives token {largest}, its model knows {known}"
        )
    width = hook.probe(*batch_of(contexts[: recipe.batch_size], recipe))
    return _Plan(recipe, network, hook, Contexts(contexts), splits, width)


def batch_of(contexts: Sequence[Context], recipe: Any) -> tuple[np.ndarray, np.ndarray]:
    """Ids and mask, int64 (batch_size, context_length), padded to the right.

    Padding to the right moves no position, and a causal model never sees it. Rows beyond the
    contexts repeat the last one, so that every forward pass has one shape.
    """
    shape = (recipe.batch_size, recipe.context_length)
    ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row in range(shape[0]):
        own = contexts[min(row, len(contexts) - 1)].input_ids
        ids[row, : len(own)] = own
        mask[row, : len(own)] = 1
    return ids, mask


def _run(plan: _Plan, work: Work, progress: Progress | None, workers: int) -> None:
    todo = [block for block in range(work.blocks) if block not in work.done]
    if progress is not None:
        progress(work.rows_done(), plan.rows)
    if not todo:
        return
    row = work.span(todo[0])[0]
    buffer = np.empty((0, plan.width), np.float32)
    block = todo[0]
    for part in _activations(plan, row, workers):
        buffer = np.concatenate([buffer, part])
        while block < work.blocks and len(buffer) >= (size := _size(work, block)):
            work.add(block, buffer[:size])
            buffer, block = buffer[size:], block + 1
            if progress is not None:
                progress(work.rows_done(), plan.rows)


def _size(work: Work, block: int) -> int:
    start, stop = work.span(block)
    return stop - start


def _activations(plan: _Plan, row: int, workers: int) -> Iterator[np.ndarray]:
    """Activations of the tokens that count, from a row on, batch by batch in order."""
    size, number = plan.recipe.batch_size, plan.contexts.find(row)[0]
    start = number // size * size
    surplus = row - int(plan.contexts.first[start])
    waiting: deque[Future[np.ndarray]] = deque()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="collect")
    try:
        for first in range(start, len(plan.contexts.contexts), size):
            waiting.append(pool.submit(_one_batch, plan, first))
            if len(waiting) > workers:  # one more than workers keeps them busy
                yield waiting.popleft().result()[surplus:]
                surplus = 0
        for future in waiting:
            yield future.result()[surplus:]
            surplus = 0
    finally:
        pool.shutdown(cancel_futures=True)


def _one_batch(plan: _Plan, first: int) -> np.ndarray:
    contexts = plan.contexts.contexts[first : first + plan.recipe.batch_size]
    found = plan.hook.read(*batch_of(contexts, plan.recipe))
    rows = np.concatenate([found[i, one.places] for i, one in enumerate(contexts)])
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        row = int(plan.contexts.first[first]) + int(finite.argmin())
        where = plan.contexts.marked(row)
        raise UserError(f"{plan.recipe.hook} gives NaN or infinity at token {row:,}: {where[:200]}")
    return np.asarray(rows, np.float32)


def _splits(plan: _Plan) -> list[str]:
    return [plan.splits[one.document] for one in plan.contexts.contexts]


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
