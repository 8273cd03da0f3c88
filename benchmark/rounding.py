"""How many digits of a number its interval supports."""

import math

MOST_DECIMALS = 4


def decimals_for(low: float, high: float, default: int) -> int:
    """Decimals at which the interval's half-width has one significant digit.

    ±0.006 supports three (0.503), ±0.02 two (0.50); an interval of width 0 (an exact count, say)
    supports ``default``.
    """
    half = (high - low) / 2
    if half <= 0:
        return default
    return min(MOST_DECIMALS, max(0, -math.floor(math.log10(half))))
