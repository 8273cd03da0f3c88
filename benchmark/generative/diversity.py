"""How much the images of a set differ from each other: mean LPIPS over pairs, §5.3.

Source: Zhang et al., "The Unreasonable Effectiveness of Deep Features as a Perceptual Metric"
(CVPR 2018). Its linear layers come with torchmetrics; the weights of AlexNet must be on the
machine: nothing is fetched.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.errors import UserError
from benchmark.files import file_sha256
from benchmark.generative.image_sets import ImageSet
from benchmark.generative.resize import Resize, resized
from benchmark.images import read_image
from benchmark.metrics.arrays import FloatArray
from benchmark.metrics.score import Score, make_score, mean_score

PAIRS = 500
"""Most pairs of a set."""

SIDE = 256
"""Images are brought to this height and width **[choice]**."""

_ROWS = 8
_MOST_BYTES = 2**30
_FETCH = "python -c \"import torchvision; torchvision.models.alexnet(weights='DEFAULT')\""
_EXTRA = "LPIPS needs torchvision: pip install 'concept-assay[encoders]'"


@dataclass(frozen=True)
class Diversity:
    """LPIPS between images of one set, for both sets.

    Attributes:
        scores: ``real`` and ``generated``; ``n`` is the number of pairs.
        weights_sha256: of the file of the backbone; None where there is none.
        protocol: JSON values.
    """

    scores: Mapping[str, Score]
    weights_sha256: str | None
    protocol: Mapping[str, Any]


@dataclass(frozen=True)
class Lpips:
    """LPIPS on AlexNet, in evaluation mode."""

    network: Any = field(repr=False)
    weights_sha256: str

    def distances(self, first: np.ndarray, second: np.ndarray) -> FloatArray:
        """Distances of images uint8 (B, SIDE, SIDE, 3), row by row: float64 (B,), each ≥ 0."""
        import torch

        def pixels(images: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(images).permute(0, 3, 1, 2).float() / 127.5 - 1

        with torch.inference_mode():
            found = self.network(pixels(first), pixels(second))
        return np.asarray(found.reshape(-1).double().numpy())


def load_lpips(path: Path | None = None) -> Lpips | str:
    """The network, or why there is none.

    Args:
        path: AlexNet's weights as torchvision names them, safetensors or a PyTorch file (which is
            read as tensors only); by default the file in PyTorch's own cache.

    Raises:
        UserError: a file that was named, or one in the cache, that is not AlexNet's weights.
    """
    try:
        import torchvision
    except ImportError:
        if path is not None:
            raise UserError(_EXTRA) from None
        return _EXTRA
    if path is not None:
        return _loaded(path)
    import torch

    name = torchvision.models.AlexNet_Weights.DEFAULT.url.rpartition("/")[2]
    path = Path(torch.hub.get_dir(), "checkpoints", name)
    if not path.is_file():
        return f"the weights of AlexNet are not on this machine; {_FETCH} fetches them"
    found = _loaded(path)
    start = Path(name).stem.rpartition("-")[2]  # torchvision names a file after its hash
    if not found.weights_sha256.startswith(start):
        raise UserError(
            f"{path}: SHA-256 {found.weights_sha256}, expected {start}…; delete it, then {_FETCH}"
        )
    return found


def _loaded(path: Path) -> Lpips:
    # the public function of torchmetrics fetches a backbone and takes none that is at hand
    from torchmetrics.functional.image.lpips import _NoTrainLpips

    state = {
        key.removeprefix("features."): value
        for key, value in _tensors(path).items()
        if key.startswith("features.")
    }
    network = _NoTrainLpips(net="alex", pnet_rand=True)
    # slices of torchvision's features, layers by their numbers there
    wanted = {key: key.partition(".")[2] for key in network.net.state_dict()}
    try:
        network.net.load_state_dict({key: state[name] for key, name in wanted.items()})
    except (KeyError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{path}: not the weights of torchvision's AlexNet ({reason})") from None
    return Lpips(network, file_sha256(path))


def _tensors(path: Path) -> Mapping[str, Any]:
    import pickle

    import torch

    from benchmark.tensors import read_tensors

    if not path.is_file():
        raise UserError(f"{path}: no such file; expected the weights of torchvision's AlexNet")
    if path.stat().st_size > _MOST_BYTES:
        raise UserError(f"{path}: larger than 1 GiB; expected the weights of torchvision's AlexNet")
    if path.suffix == ".safetensors":
        return {k: torch.from_numpy(np.array(v)) for k, v in read_tensors(path)[0].items()}
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, OSError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise UserError(f"{path}: not a PyTorch file of tensors alone ({reason})") from None
    if not isinstance(state, Mapping) or not all(torch.is_tensor(v) for v in state.values()):
        raise UserError(f"{path}: holds no tensors by name; expected torchvision's AlexNet")
    return {str(key): value for key, value in state.items()}


def drawn_pairs(images: int, seed: int = 0, most: int = PAIRS) -> list[tuple[int, int]]:
    """Seeded random pairs of places, no image in two, so that distances are independent."""
    order = np.random.default_rng([seed, images]).permutation(images).tolist()
    return [(order[2 * k], order[2 * k + 1]) for k in range(min(most, images // 2))]


def diversity(
    sets: Sequence[tuple[ImageSet, np.ndarray]],
    network: Lpips | str,
    *,
    resize: Resize = "squash",
    seed: int = 0,
    resamples: int,
    progress: Callable[[int, int], None] | None = None,
) -> Diversity:
    """Mean LPIPS of random pairs of each set, with the interval over its pairs.

    Args:
        sets: the real and the generated images, each with the places of the readable ones.
        network: of ``load_lpips``; where it is a reason, that is why there are no values.
        resize: how images come to ``SIDE`` × ``SIDE``.
        seed: of pairs and interval.
        resamples: behind the interval; one pair has none.
        progress: called with images done and all.
    """
    protocol = {"backbone": "alexnet", "side": SIDE, "most_pairs": PAIRS, "resize": resize}
    if isinstance(network, str):
        absent = make_score(None, 0, None, {network: 1})
        return Diversity({"real": absent, "generated": absent}, None, protocol)
    plans = [drawn_pairs(len(places), seed) for _, places in sets]
    done, total = 0, 2 * sum(map(len, plans))
    scores = {}
    for label, (images, places), pairs in zip(("real", "generated"), sets, plans, strict=True):
        found: list[float] = []
        for start in range(0, len(pairs), _ROWS):
            block = pairs[start : start + _ROWS]
            pixels = np.zeros((2, _ROWS, SIDE, SIDE, 3), np.uint8)
            for row, pair in enumerate(block):
                for which, place in enumerate(pair):
                    pixels[which, row] = _pixels(images, int(places[place]), resize)
            found += network.distances(pixels[0], pixels[1])[: len(block)].tolist()
            done += 2 * len(block)
            if progress is not None:
                progress(done, total)
        scores[label] = _mean(np.array(found), resamples, seed)
    return Diversity(scores, network.weights_sha256, protocol)


def _mean(distances: FloatArray, resamples: int, seed: int) -> Score:
    if not len(distances):
        return make_score(None, 0, None, {"one image; expected at least 2": 1})
    if len(distances) == 1:
        return make_score(float(distances[0]), 1)
    return mean_score(distances, resamples=resamples, seed=seed)


def _pixels(images: ImageSet, place: int, resize: Resize) -> np.ndarray:
    image = read_image(images.encoded(place), name=images.describe(place))
    return np.asarray(resized(image, (SIDE, SIDE), resize))
