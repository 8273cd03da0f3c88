"""Pictures as a network takes them, decoded in threads while the batch before is worked on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    import torch

THREADS = 4
_MEAN = (0.485, 0.456, 0.406)
_SPREAD = (0.229, 0.224, 0.225)

Load = Callable[[int], Image.Image]


def squashed(image: Image.Image, size: int) -> np.ndarray:
    """uint8 (size, size, 3): an RGB picture resampled by Pillow's bicubic filter, nothing cropped.

    An object that the edit touches may stand at the border, and a base picture and its edit may
    differ a little in shape: squashing keeps both whole.
    """
    return np.asarray(image.resize((size, size), Image.Resampling.BICUBIC))


def batches(load: Load, rows: Iterable[np.ndarray], size: int) -> Iterator[np.ndarray]:
    """uint8 (n, size, size, 3) for every array of n row numbers, one batch ahead."""
    with ThreadPoolExecutor(THREADS) as pool:
        waiting: deque[list[Future[np.ndarray]]] = deque()
        try:
            for batch in rows:
                waiting.append(
                    [pool.submit(lambda row: squashed(load(row), size), int(row)) for row in batch]
                )
                if len(waiting) > 1:
                    yield np.stack([each.result() for each in waiting.popleft()])
            while waiting:
                yield np.stack([each.result() for each in waiting.popleft()])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def normalised(pixels: np.ndarray, device: torch.device) -> torch.Tensor:
    """float32 (n, 3, size, size), standardised as ImageNet's pictures are."""
    import torch

    values = torch.from_numpy(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2)))
    mean, spread = (torch.tensor(each).view(1, 3, 1, 1) for each in (_MEAN, _SPREAD))
    return ((values.float() / 255 - mean) / spread).to(device)


def parts(rows: np.ndarray, batch_size: int) -> list[np.ndarray]:
    """Rows in batches of nearly equal size, none above ``batch_size``: no batch of a single row."""
    return np.array_split(rows, -(-len(rows) // batch_size)) if len(rows) else []
