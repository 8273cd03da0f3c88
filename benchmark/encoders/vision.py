"""Encoders whose network a library builds: one class for open_clip, transformers and timm."""

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from benchmark.encoders.choice import Choice, full_name, parse
from benchmark.encoders.preprocessing import Preprocessing
from benchmark.encoders.weights import Pin, Place, config_sha256, weights_sha256
from benchmark.errors import UserError

if TYPE_CHECKING:
    import torch

    from benchmark.encoders.network import Network, Reader

# A suggested batch leaves this much of the free memory alone.
_SPARE = 0.5
_MOST_SUGGESTED = 1024


@dataclass(frozen=True)
class Blueprint:
    """What a library's module knows of a model before its weights are read."""

    library: str
    """Distribution whose version may change the last bits."""
    place: Place
    weights: tuple[Path, ...]
    config: Any
    """The model's settings, JSON values: with the weights they say what is computed."""
    preprocessing: Preprocessing
    build: "Callable[[], Network]"
    """The network with weights that nobody set."""
    load: "Callable[[], Network]"
    """The network with its weights, float32 on the processor."""
    label: str = ""
    """How the model is named; by default the place's name."""


@dataclass(frozen=True)
class Family:
    """A registered name that takes options, and a model where none is pinned."""

    name: str
    read: Callable[[str, Pin | None], Blueprint]
    """``UserError`` for a model that is not there, or not what it says."""
    pin: Pin | None = None

    def open(self, text: str) -> "VisionEncoder":
        """The encoder that ``text``, what stands after ``name:``, describes."""
        model, choice = parse(self.name, text, takes_model=self.pin is None)
        try:
            blueprint = self.read(self.pin.model if self.pin else model, self.pin)
        except ImportError as error:
            raise UserError(
                f"encoder {self.name} needs package {error.name}: "
                "pip install 'concept-assay[encoders]'"
            ) from None
        return VisionEncoder(self.name, blueprint, choice, self.pin)


class VisionEncoder:
    """An image model with a token and a layer chosen; its weights are read when first used."""

    def __init__(
        self, family: str, blueprint: Blueprint, choice: Choice, pin: Pin | None = None
    ) -> None:
        from benchmark.encoders.network import dry_run

        self._blueprint, self._choice = blueprint, choice
        label = blueprint.label or blueprint.place.label
        try:
            self.dim, self._picture_bytes, usual = dry_run(
                blueprint.build, choice, blueprint.preprocessing.crop
            )
        except (ValueError, TypeError, AssertionError, RuntimeError) as error:
            # settings that make no model, as each library says it
            raise UserError(f"encoder {family}: model {label} {_line(error)}") from None
        self.name = full_name(family, "" if pin else label, choice, usual=usual)
        self.weights_sha256 = weights_sha256(blueprint.weights, place=blueprint.place, pin=pin)
        self.config_sha256 = config_sha256(blueprint.config)
        self.revision = blueprint.place.revision
        self.preprocessing = str(blueprint.preprocessing)
        self.batch_size = choice.batch
        self._device = _device(choice.device)
        self._loading = threading.Lock()
        self._running = threading.Lock()
        self._reader: Reader | None = None

    @property
    def runtime(self) -> str:
        """Device and versions, which may change the last bits."""
        import torch

        library = self._blueprint.library
        where = torch.backends.cpu.get_cpu_capability()
        if self._device.type == "cuda":
            where = f"cuda {torch.version.cuda}, {torch.cuda.get_device_name(self._device)}"
        elif self._device.type != "cpu":
            where = self._device.type
        return f"torch {torch.__version__}, {where}, {library} {version(library)}"

    def encode(self, images: Sequence[Image.Image]) -> np.ndarray:
        """Features of RGB images: float32 (len(images), D)."""
        reader = self._load()
        features = np.empty((len(images), self.dim), dtype=np.float32)
        side = self._blueprint.preprocessing.crop
        for start in range(0, len(images), self.batch_size):
            batch = images[start : start + self.batch_size]
            pixels = np.zeros((self.batch_size, 3, side, side), dtype=np.float32)
            for row, image in enumerate(batch):
                pixels[row] = self._blueprint.preprocessing.pixels(image)
            features[start : start + len(batch)] = self._forward(reader, pixels)[: len(batch)]
        return features

    def suggested_batch(self, workers: int = 1) -> int:
        """The largest power of two that free memory seems to allow; an estimate, only advice.

        Args:
            workers: forward passes at once; on a GPU there is one at a time.
        """
        import torch

        if self._device.type == "cuda":
            free = torch.cuda.mem_get_info(self._device)[0]
        else:
            free = _free_bytes() // workers
        fits = int(free * _SPARE) // max(self._picture_bytes, 1)
        return min(1 << (fits.bit_length() - 1), _MOST_SUGGESTED) if fits else 1

    def _forward(self, reader: "Reader", pixels: np.ndarray) -> np.ndarray:
        import torch

        try:
            with self._turn(), torch.inference_mode():
                x = torch.from_numpy(pixels).to(self._device, self._dtype)
                features: np.ndarray = reader(x).cpu().numpy()
        except torch.OutOfMemoryError:
            raise UserError(
                f"encoder {self.name}: a batch of {self.batch_size} does not fit in the memory of "
                f"{self._device}; give it batch={max(self.batch_size // 2, 1)}"
            ) from None
        return features

    def _turn(self) -> AbstractContextManager[Any]:
        """On a processor each thread runs alone with one thread; a GPU takes one at a time."""
        if self._device.type != "cpu":
            return self._running
        from benchmark.torch_threads import one_thread

        return one_thread()

    def _load(self) -> "Reader":
        with self._loading:
            if self._reader is None:
                from safetensors import SafetensorError

                from benchmark.encoders.network import Reader

                if self._device.type != "cpu":
                    _full_precision()
                try:
                    network = self._blueprint.load()
                    network.model.requires_grad_(False).eval().to(self._device, self._dtype)
                except (OSError, ValueError, RuntimeError, SafetensorError) as error:
                    if isinstance(error, UserError):
                        raise
                    raise UserError(
                        f"encoder {self.name}: its weights cannot be loaded ({_line(error)})"
                    ) from None
                self._reader = Reader(network, self._choice)
            return self._reader

    @property
    def _dtype(self) -> "torch.dtype":
        import torch

        return torch.bfloat16 if self._choice.dtype == "bf16" else torch.float32


def _line(error: Exception) -> str:
    """An error of a library on one line of bearable length."""
    return " ".join(str(error).split())[:300]


def _full_precision() -> None:
    """No TF32 and no timing-dependent choice of kernels on a GPU, for the whole process."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False


def _device(chosen: str | None) -> "torch.device":
    import torch

    if chosen is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device = torch.device(chosen)
    there = {"cpu": True, "mps": torch.backends.mps.is_available()}
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if not there.get(device.type, (device.index or 0) < count):
        raise UserError(f"device {chosen} is not on this machine; expected device=cpu")
    return device


def _free_bytes() -> int:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):  # not every system says
        return 4 << 30
