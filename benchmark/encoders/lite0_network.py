"""The network of EfficientNet-Lite0 up to its pooled features, for inference on a processor.

EfficientNet-B0 (Tan and Le 2019, arXiv 1905.11946, table 1) without squeeze-and-excitation and
with ReLU6. Batch norms are folded into the convolutions and memory is channels-last.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmark.torch_threads import one_thread

BATCH_NORM_EPSILON = 1e-3
# (repeats, stride of the first, expansion, channels in, channels out); kernels as in the weights.
STAGES = (
    (1, 1, 1, 32, 16),
    (2, 2, 6, 16, 24),
    (2, 2, 6, 24, 40),
    (3, 2, 6, 40, 80),
    (3, 1, 6, 80, 112),
    (4, 2, 6, 112, 192),
    (1, 1, 6, 192, 320),
)

StateDict = dict[str, Tensor]


def fold(state: StateDict, conv: str, norm: str) -> tuple[Tensor, Tensor]:
    """Weight and bias of a convolution with the batch norm after it, in evaluation mode."""
    weight, gamma, beta, mean, variance = (
        state[key].double()
        for key in (
            f"{conv}.weight",
            f"{norm}.weight",
            f"{norm}.bias",
            f"{norm}.running_mean",
            f"{norm}.running_var",
        )
    )
    scale = gamma / torch.sqrt(variance + BATCH_NORM_EPSILON)
    return (weight * scale[:, None, None, None]).float(), (beta - mean * scale).float()


class Conv(nn.Module):
    """Convolution with TensorFlow's "same" padding, batch norm folded in, then ReLU6 or nothing."""

    def __init__(
        self, state: StateDict, conv: str, norm: str, *, stride: int = 1, relu: bool = True
    ) -> None:
        super().__init__()
        weight, bias = fold(state, conv, norm)
        outputs, inputs, kernel, _ = weight.shape
        groups = outputs if conv.endswith("_depthwise_conv") else 1
        padding = (kernel - 1) // 2
        if stride == 2:
            # On even sizes "same" pads one pixel less above and left than below and right. A row
            # and a column of zero weights there has that effect without a padded copy of x.
            weight = functional.pad(weight, (1, 0, 1, 0))
            kernel += 1
        self.conv = nn.Conv2d(inputs * groups, outputs, kernel, stride, padding, groups=groups)
        self.conv.weight = nn.Parameter(weight)
        self.conv.bias = nn.Parameter(bias)
        self.relu = relu

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.conv(x)
        return functional.hardtanh(y, 0.0, 6.0, inplace=True) if self.relu else y


class Block(nn.Module):
    """Inverted residual: expand, depthwise, project; plus its input where ``skip``."""

    def __init__(
        self, state: StateDict, index: int, *, stride: int, expand: bool, skip: bool
    ) -> None:
        super().__init__()
        name = f"_blocks.{index}."
        layers = [Conv(state, f"{name}_expand_conv", f"{name}_bn0")] if expand else []
        layers.append(Conv(state, f"{name}_depthwise_conv", f"{name}_bn1", stride=stride))
        layers.append(Conv(state, f"{name}_project_conv", f"{name}_bn2", relu=False))
        self.layers = nn.Sequential(*layers)
        self.skip = skip

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.layers(x)
        return y.add_(x) if self.skip else y


class Lite0(nn.Module):
    """Normalised images (B, 3, 224, 224) to pooled features (B, 1280)."""

    def __init__(self, state: StateDict) -> None:
        super().__init__()
        blocks: list[Block] = []
        for repeats, first_stride, expansion, inputs, outputs in STAGES:
            for repeat in range(repeats):
                stride = first_stride if repeat == 0 else 1
                skip = stride == 1 and (repeat > 0 or inputs == outputs)
                expand = expansion > 1
                blocks.append(Block(state, len(blocks), stride=stride, expand=expand, skip=skip))
        self.layers = nn.Sequential(
            Conv(state, "_conv_stem", "_bn0", stride=2),
            *blocks,
            Conv(state, "_conv_head", "_bn1"),
        )
        self.requires_grad_(False)

    @classmethod
    def from_file(cls, path: Path) -> "Lite0":
        """The network with the weights of a PyTorch state dict, ready for inference."""
        state: StateDict = torch.load(path, map_location="cpu", weights_only=True)
        return cls(state).eval().to(memory_format=torch.channels_last)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.layers(x)
        return y.mean((2, 3))

    @torch.inference_mode()
    def pooled(self, pixels: np.ndarray) -> np.ndarray:
        """Features float32 (B, 1280) of RGB pixels uint8 (B, 224, 224, 3), on one thread."""
        with one_thread():
            # Seen as (B, C, H, W) such an array is channels-last already.
            x = torch.from_numpy(pixels).permute(0, 3, 1, 2).float().sub_(127).div_(128)
            features: np.ndarray = self(x).numpy()
        return features
