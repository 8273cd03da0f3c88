"""One CLIP model and a list of attributes, ready to score batches of images, §5.1."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import PIL
from PIL import Image
from torch import Tensor

from benchmark.errors import UserError
from benchmark.generative.attributes import WITH, WITHOUT, checked_attributes, without
from benchmark.generative.dense.base import OPENAI_MEAN, OPENAI_STD, DenseClip
from benchmark.generative.ra_clip import BATCH_SIZE, MOST_BATCH_SIZE
from benchmark.generative.refine import Options, Scored, score_tokens
from benchmark.generative.resize import POLICIES, Resize, resized
from benchmark.images import read_image
from benchmark.metrics.arrays import whole_number


class RaScorer:
    """Scores images for attributes; the texts are encoded once.

    Args:
        attributes: A names.
        model: the CLIP model.
        resize: ``squash`` or ``center_crop``.
        options: choices and ablations.
        batch_size: images a pass.
        ablations: also score without each part of RA-CLIPScore, where no part is left out.

    Attributes:
        names: A names as they went into the prompts.
        texts: unit embeddings of the claiming prompts, float32 (A, D).
        protocol: every choice and the model's identity, JSON values.

    Raises:
        UserError: blank, repeated or over-long attributes, an unknown resize policy, a batch size
            below 1 or above ``MOST_BATCH_SIZE``.
    """

    def __init__(
        self,
        attributes: Sequence[str],
        model: DenseClip,
        *,
        resize: Resize = "squash",
        options: Options | None = None,
        batch_size: int = BATCH_SIZE,
        ablations: bool = False,
    ) -> None:
        if resize not in POLICIES:
            raise UserError(f"resize is {resize!r}; expected one of {', '.join(POLICIES)}")
        rows = whole_number(batch_size)
        if rows is None or not 1 <= rows <= MOST_BATCH_SIZE:
            raise UserError(
                f"batch_size is {batch_size!r}; expected a whole number from 1 to "
                f"{MOST_BATCH_SIZE:,}"
            )
        self.model = model
        self.resize: Resize = resize
        self.options = options or Options()
        self.batch_size = rows
        self.ablations = ablations and self.options.whole
        self.names = checked_attributes(attributes, model)
        claims, denials = [WITH.format(name) for name in self.names], [*map(without, self.names)]
        self._claiming, self._denying = model.encode_text(claims), model.encode_text(denials)
        self._token_ids = [model.token_ids(texts) for texts in (claims, denials)]
        self.texts: np.ndarray = self._claiming.cpu().numpy()

    @property
    def shape(self) -> tuple[int, int, int]:
        """(A, H, W) of an image's maps."""
        return (len(self.names), *self.model.grid)

    @property
    def protocol(self) -> dict[str, Any]:
        """Every choice and the model's identity, JSON values.

        Statistics of pixels are in it where neither the model's name stands for them nor are they
        those of OpenAI's models.
        """
        mean, std = self.model.mean, self.model.std
        usual = self.model.statistics_fixed or (mean, std) == (OPENAI_MEAN, OPENAI_STD)
        return {
            **({} if usual else {"pixel_mean": list(mean), "pixel_std": list(std)}),
            "model": self.model.name,
            "weights_sha256": self.model.weights_sha256,
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "input_size": list(self.model.size),
            "grid": list(self.model.grid),
            "logit_scale": self.model.logit_scale,
            "prompts": [WITH, WITHOUT],
            "resize": self.resize,
            "batch_size": self.batch_size,
            **self.options.as_dict(),
        }

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides every bit of a score, JSON values.

        Beside names and protocol that is what the text tower is given, the model's settings, the
        device that it runs on, and versions.
        """
        ids = json.dumps(self._token_ids).encode()
        return {
            "attributes": list(self.names),
            **self.protocol,
            "token_ids_sha256": hashlib.sha256(ids).hexdigest(),
            "settings_sha256": self.model.settings_sha256,
            "runtime": f"{self.model.runtime}, pillow {PIL.__version__}",
        }

    def batches(self, images: Sequence[Any]) -> Iterator[tuple[int, int, Scored, Tensor]]:
        """Score images batch by batch, each read when its batch is due.

        Yields:
            (index of the first image, number of images, scores of the batch, unit embeddings of
            the class token); rows after that number are padding.

        Raises:
            UserError: an image that cannot be read; its file or place is named.
        """
        for start in range(0, len(images), self.batch_size):
            stop = min(start + self.batch_size, len(images))
            pixels = np.zeros((self.batch_size, *self.model.size, 3), np.uint8)
            for row, index in enumerate(range(start, stop)):
                image = _opened(images[index], index)
                pixels[row] = np.asarray(resized(image, self.model.size, self.resize))
            tokens = self.model.dense(
                self.model.pixels(pixels), renormalize=self.options.renormalize
            )
            scored = score_tokens(
                tokens,
                self._claiming,
                self._denying,
                self.model.logit_scale,
                self.options,
                ablations=self.ablations,
            )
            yield start, stop - start, scored, tokens.cls

    def maps(self, values: Tensor, count: int) -> np.ndarray:
        """Patch scores (B, P, A) of a batch as maps of its first images, (count, A, H, W)."""
        flat = values[:count].transpose(1, 2).cpu().numpy()
        return flat.reshape(count, *self.shape)


def _opened(source: Any, index: int) -> Image.Image:
    if isinstance(source, Image.Image):
        if source.mode != "RGB":
            raise UserError(
                f"image {index} has mode {source.mode}; expected RGB, as "
                "benchmark.images.read_image gives"
            )
        return source
    if isinstance(source, bytes):
        return read_image(source, name=f"image {index}")
    if isinstance(source, str | os.PathLike):
        return read_image(source)
    raise UserError(
        f"image {index} is of type {type(source).__name__}; expected a path, bytes or an image"
    )
