"""Which of the data behind a score the training had seen."""

import re
from collections.abc import Mapping
from typing import Any

SCORE_IMAGES = "score images"
EDIT_PAIRS = "edit pairs"

_ALIASES = {
    "cub": ("cub200", "cub2002011", "cub200birds", "caltechucsdbirds", "caltechucsdbirds2002011"),
    "coco": ("mscoco", "coco2017", "mscoco2017"),
}
_MATCH = frozenset(("match", "train", "training", "train2017"))
_PAIRS = frozenset(("pairs", "pair", "base", "edited", "edits", "editpairs"))


def exposure(document: Mapping[str, Any], result_document: Mapping[str, Any]) -> tuple[str, ...]:
    """Parts of a result's score data that the submission's training data name.

    A part of the scored dataset that is not known to be its match split counts as seen.

    Returns:
        Some of "score images" and "edit pairs", in this order; () if none.
    """
    scored = result_document.get("dataset") or result_document.get("real") or {}
    pairs = result_document.get("pairs_dataset")
    match = {_key(str((result_document.get("protocol") or {}).get("match_split", "match")))}
    seen: set[str] = set()
    for entry in document.get("training_data", ()):
        name = _name(entry["dataset"])
        splits = {_key(split) for split in entry["splits"]}
        if pairs is not None and name == _name(pairs["name"]):
            seen.add(EDIT_PAIRS)
        if name != _name(str(scored.get("name", ""))):
            continue
        if splits - _MATCH - match - _PAIRS:
            seen.add(SCORE_IMAGES)
        if pairs is None and splits - _MATCH - match - {"score", "test", "val", "val2017"}:
            seen.add(EDIT_PAIRS)
    return tuple(part for part in (SCORE_IMAGES, EDIT_PAIRS) if part in seen)


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _name(text: str) -> str:
    """A dataset's name without owner, revision, case and punctuation, by its usual name."""
    key = _key(text.partition("@")[0].rpartition("/")[2])
    return next((name for name, others in _ALIASES.items() if key in others), key)
