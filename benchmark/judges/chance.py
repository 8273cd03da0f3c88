"""Chance that depends on the content of a question, and on nothing asked before."""

import hashlib
from collections.abc import Sequence

from benchmark.judges.base import Example


def number(seed: int, *parts: str) -> int:
    """A whole number below 2^256, as good as random, the same for the same seed and parts."""
    digest = hashlib.sha256(str(seed).encode())
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(f"\0{len(data)}:".encode())
        digest.update(data)
    return int.from_bytes(digest.digest())


def lots(seed: int, explanation: str, examples: Sequence[Example]) -> list[int]:
    """One lot for each example, whatever the order in which they are shown."""
    ids = sorted(example.id for example in examples)
    return [number(seed, "rank", explanation, *ids, example.id) for example in examples]
