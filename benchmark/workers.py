"""Processes that share one prepared dataset; results never depend on their number."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from benchmark.datasets import load_dataset
from benchmark.encoders import load_encoder
from benchmark.processes import end_with_parent
from benchmark.runs import Prepared, prepare


@dataclass(frozen=True)
class Setting:
    """What every process prepares once: a dataset and an encoder, by name."""

    dataset: str
    encoder: str


_prepared: dict[str, Prepared] = {}


def start_pool(setting: Setting, workers: int | None = None) -> ProcessPoolExecutor:
    """Processes of one torch thread each, one a core unless ``workers`` says otherwise."""
    return ProcessPoolExecutor(
        max_workers=workers or os.cpu_count() or 1,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(setting,),
    )


def prepared_here() -> Prepared:
    """The prepared dataset of this process, which ``start_pool`` must have started."""
    return _prepared["here"]


def _start(setting: Setting) -> None:
    import torch

    end_with_parent()
    torch.set_num_threads(1)
    _prepared["here"] = prepare(load_dataset(setting.dataset), load_encoder(setting.encoder))
