"""Processes that share one prepared dataset; results never depend on their number."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from benchmark.processes import end_with_parent
from benchmark.runs import Prepared, ShowProgress, prepare_by_name


@dataclass(frozen=True)
class Setting:
    """What every process prepares once, by name.

    Attributes:
        dataset, encoder: names; ``none`` is the encoder of a dataset of activations.
        pairs: the dataset of the edit pairs, where it is another one.
    """

    dataset: str
    encoder: str
    pairs: str | None = None


# the latest alone: features of several large datasets would fill the memory
_prepared: dict[Setting | None, Prepared] = {}
_setting: Setting | None = None


def start_pool(setting: Setting | None = None, workers: int | None = None) -> ProcessPoolExecutor:
    """Processes of one torch thread each, one a core unless ``workers`` says otherwise."""
    return ProcessPoolExecutor(
        max_workers=workers or os.cpu_count() or 1,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(setting,),
    )


def prepared_here() -> Prepared:
    """The prepared dataset of this process, which ``start_pool`` must have started for one."""
    assert _setting is not None
    return prepared_for(_setting)


def prepared_for(setting: Setting) -> Prepared:
    """Dataset and features of a setting, kept in this process until another one is asked for."""
    if setting not in _prepared:
        _prepared.clear()
        _prepared[setting] = prepare_setting(setting)
    return _prepared[setting]


def prepare_setting(setting: Setting, progress: ShowProgress | None = None) -> Prepared:
    """Dataset and features of a setting, through the cache."""
    return prepare_by_name(setting.dataset, setting.encoder, None, progress, pairs=setting.pairs)


def _start(setting: Setting | None) -> None:
    import torch

    global _setting
    end_with_parent()
    torch.set_num_threads(1)
    _setting = setting
    if setting is not None:
        prepared_for(setting)
