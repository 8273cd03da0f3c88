"""Embedding on Ray Data: blocks of pictures go to a pool of actors, each with its own encoder.

A block's features do not depend on where it is encoded, so the cache holds the same bytes.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmark.datasets import Dataset, load_dataset
from benchmark.encoders import Encoder, EncoderInfo, load_encoder
from benchmark.errors import UserError
from benchmark.features import Block, BlockEncoder, embed, encode_block, pictures_of
from benchmark.runs import ShowProgress
from benchmark.workers import Setting

Open = Callable[[], Dataset]
"""Opens the dataset in any process; its files must be where every node finds them."""


def blocks_on_ray(
    open_dataset: Open, encoder_name: str, encoder: Encoder, actors: int
) -> BlockEncoder:
    """What ``features.embed`` takes as ``elsewhere``; Ray must be connected.

    Args:
        open_dataset: opens the dataset on a node.
        encoder_name: by which ``load_encoder`` gives ``encoder`` on a node.
        encoder: the same one here; a node with other weights or another runtime is refused.
        actors: at most this many processes encode.

    Raises:
        UserError: while blocks are made: what ``encode_block`` raises, or a node that differs.
    """
    identity = _identity(encoder)

    def encode(todo: Sequence[Block]) -> Iterator[tuple[int, np.ndarray]]:
        import ray
        from ray.data import ActorPoolStrategy, DataContext

        if not todo:
            return
        context = DataContext.get_current()
        context.enable_progress_bars = context.print_on_execution_start = False
        # every block is small and its own task: a lost actor costs one
        rows = [{"block": one.number, "places": _packed(one)} for one in todo]
        made = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            _BlockActor,
            fn_constructor_args=(open_dataset, encoder_name, identity),
            batch_size=1,
            compute=ActorPoolStrategy(min_size=1, max_size=max(1, min(actors, len(rows)))),
            num_cpus=1,
        )
        for row in made.iter_rows():
            if row["error"]:
                raise UserError(row["error"])
            features = np.frombuffer(row["features"], "<f4").reshape(-1, encoder.dim)
            yield int(row["block"]), features

    return encode


def _identity(encoder: Encoder) -> dict[str, Any]:
    return {**EncoderInfo.of(encoder).as_dict(), "runtime": encoder.runtime}


def _packed(block: Block) -> str:
    return ";".join(f"{table}:{row}" for table, row in block.places)


class _BlockActor:
    """A process with the dataset and the encoder open."""

    def __init__(self, open_dataset: Open, encoder_name: str, identity: dict[str, Any]) -> None:
        self._error = ""
        try:
            self._dataset = open_dataset()
            self._encoder = load_encoder(encoder_name)
            self._pictures = pictures_of(self._dataset)
        except (UserError, OSError) as error:
            self._error = f"on node {os.uname().nodename}: {error}"
            return
        found = _identity(self._encoder)
        differ = sorted(key for key in identity if found.get(key) != identity[key])
        if differ:
            self._error = (
                f"on node {os.uname().nodename} the encoder differs in {', '.join(differ)}; its "
                "features would not be the same: use nodes of one kind"
            )

    def __call__(self, batch: dict[str, np.ndarray]) -> dict[str, list[Any]]:
        number = int(batch["block"][0])
        error, features = self._error, b""
        if not error:
            places = [place.rpartition(":") for place in str(batch["places"][0]).split(";")]
            block = Block(number, tuple((table, int(row)) for table, _, row in places))
            try:
                encoded = [self._pictures[table].encoded(row) for table, row in block.places]
                made = encode_block(self._dataset, self._encoder, block, encoded)
                features = np.ascontiguousarray(made, "<f4").tobytes()
            except (UserError, OSError) as fault:
                error = str(fault)
        return {"block": [number], "features": [features], "error": [error]}


def embed_setting(setting: Setting, progress: ShowProgress | None = None) -> None:
    """Put the features of a setting into the cache, made on the connected Ray."""
    for name in filter(None, (setting.dataset, setting.pairs)):
        dataset = load_dataset(name)
        if dataset.activations is None:
            encoder = load_encoder(setting.encoder)
            opened = partial(load_dataset, name)
            elsewhere = blocks_on_ray(opened, setting.encoder, encoder, _processors())
            embed(dataset, encoder, progress=progress, elsewhere=elsewhere)


def _processors() -> int:
    import ray

    return int(ray.cluster_resources().get("CPU", 1))
