"""R-SaD: where in the picture the sets differ, with its permutation null, §5.2.

Source: "RA-CLIPScore: Making Generative Model Evaluation More Interpretable"; the null and the
ranking over it are this suite's additions.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmark.generative.divergence import PERMUTATIONS, Divergence, Null
from benchmark.generative.maps import MapSums, maps_checked
from benchmark.metrics.arrays import FloatArray, InputError
from benchmark.metrics.score import RESAMPLES, make_score, replicates, resample_weights

_BLOCK_ELEMENTS = 1 << 23


@dataclass(frozen=True)
class RegionalDivergence:
    """R-SaD of every attribute.

    Attributes:
        maps: float64 (A, H, W), mean map of the real set minus that of the generated set; above 0
            where the real set has more of the attribute.
        cell_null95: float64 (A, H, W), 95 % point of ``|maps|`` under relabelling, cell by cell;
            None with fewer than two images in a set.
        magnitude: mean of ``|maps|`` over cells, one entry an attribute, with interval and null.
        over_null: magnitude divided by the mean of its null, float64 (A,); 1 is no difference.
            NaN without a null or where the null is 0. Large areas are not favoured.
        n_real, n_generated: images.
        block_sizes: images in a block of the resampling; 1 where images are redrawn one by one.
    """

    maps: FloatArray = field(repr=False)
    cell_null95: FloatArray | None = field(repr=False)
    magnitude: tuple[Divergence, ...]
    over_null: FloatArray
    n_real: int
    n_generated: int
    block_size: int

    def ranking(self) -> list[int]:
        """Attributes by magnitude, largest first: the paper's order."""
        return ranked([entry.score.value for entry in self.magnitude])

    def ranking_over_null(self) -> list[int]:
        """Attributes by magnitude over its null, largest first."""
        return ranked(self.over_null)


def ranked(values: Sequence[float | None] | FloatArray) -> list[int]:
    """Indices by value, largest first; ties by index, those without a value last."""
    keys = np.array([np.nan if value is None else value for value in values], np.float64)
    order = np.lexsort([np.arange(len(keys)), -np.nan_to_num(keys, nan=0), np.isnan(keys)])
    return [int(index) for index in order]


def regional_divergence(real_maps: Any, generated_maps: Any) -> FloatArray:
    """R-SaD: ``mean real map − mean generated map`` of each attribute.

    Args:
        real_maps, generated_maps: patch maps (N, A, H, W) and (M, A, H, W), finite.

    Returns:
        float64 (A, H, W), signed: above 0 where the real set has more.

    Raises:
        InputError: shapes that disagree, an empty set, values that are not finite.

    >>> import numpy as np
    >>> regional_divergence(np.ones((2, 1, 1, 2)), np.zeros((3, 1, 1, 2))).tolist()
    [[[1.0, 1.0]]]
    """
    real, generated = maps_checked(real_maps, "real"), maps_checked(generated_maps, "generated")
    _same_shape(real.shape[1:], generated.shape[1:])
    return _mean_map(real) - _mean_map(generated)


def _mean_map(maps: np.ndarray) -> FloatArray:
    """Mean over images; sorted terms, so that the order of the images cannot move the last bit."""
    count = maps.shape[1]
    columns = (np.sort(maps[:, a].astype(np.float64), axis=0) for a in range(count))
    return np.stack([column.mean(axis=0) for column in columns])


def _same_shape(real: Sequence[int], generated: Sequence[int]) -> None:
    if tuple(real) != tuple(generated):
        raise InputError(
            f"real maps have shape {tuple(real)} but generated maps have {tuple(generated)}"
        )


def compare_regions(
    real: MapSums,
    generated: MapSums,
    attributes: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> RegionalDivergence:
    """R-SaD of two sets with intervals and permutation nulls.

    Both resample blocks of images (``MapSums``): with up to ``MAX_BLOCKS`` images a set a block is
    one image. The interval of a mean of absolute values lies high where the sets hardly differ;
    the null is the test.

    Args:
        real, generated: sums over all images of a set.
        attributes: A names; by default ``attribute 0`` and so on.
        resamples, permutations, seed: as ``compare_attributes``.

    Raises:
        InputError: another shape on the other side, a set without images.
    """
    _same_shape(real.shape, generated.shape)
    names = _names(attributes, real.shape[0])
    for sums, label in ((real, "real"), (generated, "generated")):
        if not sums.seen:
            raise InputError(f"{label} set has no images")
    maps = real.mean() - generated.mean()
    size = max(real.block_size, generated.block_size)
    enough = min(real.seen, generated.seen) >= 2
    plans = _plans(real, generated, size, resamples, permutations, seed) if enough else None
    entries, cells, ratios = [], [], []
    for a, name in enumerate(names):
        value = float(np.abs(maps[a]).mean())
        samples, null = None, None
        if plans is not None:
            samples = np.concatenate([part.mean(axis=1) for part in plans[0].sizes(a)])
            dealt = np.concatenate(list(plans[1].sizes(a)))
            under = dealt.mean(axis=1)
            null = Null(float(under.mean()), float(np.percentile(under, 95)), under)
            cells.append(np.percentile(dealt, 95, axis=0).reshape(real.shape[1:]))
        score = make_score(value, real.seen + generated.seen, samples)
        entries.append(Divergence((name,), score, None, null))
        ratios.append(value / null.mean if null is not None and null.mean > 0 else np.nan)
    return RegionalDivergence(
        maps, np.stack(cells) if cells else None, tuple(entries), np.array(ratios),
        real.seen, generated.seen, size,
    )  # fmt: skip


def _names(attributes: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if attributes is None:
        return tuple(f"attribute {k}" for k in range(count))
    if len(attributes) != count:
        raise InputError(f"{len(attributes)} attribute names for maps of {count} attributes")
    return tuple(attributes)


@dataclass(frozen=True)
class _Plan:
    """Weights of the blocks of both sets, pooled, on the two sides of each resample.

    ``weights`` (R, G) are small whole numbers of any type; ``sides`` splits them, some rows at a
    time, into those of the left and of the right side.
    """

    sums: FloatArray  # (G, A, H * W)
    counts: FloatArray  # (G,)
    weights: np.ndarray
    sides: Callable[[FloatArray], tuple[FloatArray, FloatArray]]

    def sizes(self, attribute: int) -> Iterator[FloatArray]:
        """Size of the difference of the two sides' mean maps, (R, H * W) in blocks of rows."""
        sums = self.sums[:, attribute]
        rows = max(1, _BLOCK_ELEMENTS // max(sums.shape))
        for start in range(0, len(self.weights), rows):
            left, right = self.sides(self.weights[start : start + rows].astype(np.float64))
            yield np.abs(
                (left @ sums) / (left @ self.counts)[:, None]
                - (right @ sums) / (right @ self.counts)[:, None]
            )


def _plans(
    real: MapSums, generated: MapSums, size: int, resamples: int, permutations: int, seed: int
) -> tuple[_Plan, _Plan]:
    """The bootstrap within sets and the relabelling across them."""
    sides = [sums.blocks(size) for sums in (real, generated)]
    sums = np.concatenate([side[0] for side in sides]).reshape(-1, real.shape[0], _cells(real))
    counts = np.concatenate([side[1] for side in sides]).astype(np.float64)
    first = len(sides[0][1])
    labels = np.repeat([0, 1], [first, len(counts) - first])
    replicates(resamples)
    drawn = np.empty((resamples, len(labels)), np.float32)
    for rows, weights in resample_weights(len(labels), resamples, seed, labels):
        drawn[rows] = weights
    replicates(permutations)
    generator = np.random.default_rng([seed, 2])
    dealt = np.zeros((permutations, len(labels)), np.int8)
    for row in dealt:
        row[generator.choice(len(labels), first, replace=False, shuffle=False)] = 1
    return (
        _Plan(sums, counts, drawn, lambda some: (some * (labels == 0), some * (labels == 1))),
        _Plan(sums, counts, dealt, lambda some: (some, 1 - some)),
    )


def _cells(sums: MapSums) -> int:
    return sums.shape[1] * sums.shape[2]
