"""Running PyTorch on one thread, whatever the rest of the process uses."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_lock = threading.Lock()
_inside = 0
_before = 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it, PyTorch calls of this thread use one thread; the setting then comes back.

    The number of threads decides how a kernel splits its sums, hence the last bits of a result.
    PyTorch's setting is shared by the process, so the last of several threads inside restores it.
    """
    global _inside, _before
    with _lock:
        if _inside == 0:
            _before = torch.get_num_threads()
        _inside += 1
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                torch.set_num_threads(_before)
