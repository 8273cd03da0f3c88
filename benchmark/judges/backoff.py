"""How long to wait before a failed request is sent again."""

import math
import random
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
LONGEST_ASKED_WAIT = 300.0
"""A server that asks for a longer wait ends the run instead."""


class Backoff:
    """Waits that double, with jitter, or as long as the server asks.

    Args:
        sleep, draw: of tests; ``draw`` gives a number in [0, 1).
    """

    def __init__(
        self,
        sleep: Callable[[float], object] = time.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._sleep, self._draw = sleep, draw

    def wait(self, failed: int, asked: float | None = None) -> None:
        """Wait after the ``failed``-th failure in a row; ``asked`` seconds are kept to."""
        # half of the wait is drawn, so that requests that failed together come back apart
        spread = 0.5 + self._draw() / 2
        own = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(failed - 1, 10)) * spread
        self._sleep(own if asked is None else asked + own / 10)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait: ``retry-after-ms``, ``retry-after`` as a number or date.

    >>> asked_wait({"retry-after": "2"})
    2.0
    """
    for name, unit in ("retry-after-ms", 1000.0), ("retry-after", 1.0):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
