"""Which of the data behind a score the training had seen."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

SCORE_IMAGES = "score images"
EDIT_PAIRS = "edit pairs"

_ALIASES = {
    "cub": ("cub200", "cub2002011", "cub200birds", "caltechucsdbirds", "caltechucsdbirds2002011"),
    "coco": ("mscoco", "coco2017", "mscoco2017"),
}
_MATCH = frozenset(("match", "train", "training", "train2017"))
_SCORED = frozenset(("score", "test", "val", "val2017"))
_PAIRS = frozenset(("pairs", "pair", "base", "edited", "edits", "editpairs"))


_SPLITS = _MATCH | _SCORED | _PAIRS
_VERSION = re.compile(r"[\s_.-]+v?\d+(\.\d+)*$", re.IGNORECASE)


def exposure(document: Mapping[str, Any], result_document: Mapping[str, Any]) -> tuple[str, ...]:
    """Parts of a result's score data that the submission's training data name.

    A part of the scored dataset that is not known to be its match split counts as seen. A
    generator's result has no edit pairs.

    Returns:
        Some of "score images" and "edit pairs", in this order; () if none.
    """
    scored = result_document.get("dataset") or result_document.get("real") or {}
    pairs = result_document.get("pairs_dataset")
    match = {_key(str((result_document.get("protocol") or {}).get("match_split", "match")))}
    own_pairs = pairs is None and bool(result_document.get("dataset"))
    seen: set[str] = set()
    for entry in document.get("training_data", ()):
        names, part = _names(entry["dataset"])
        splits = {_key(split) for split in entry["splits"]} | part
        if pairs is not None and _usual(pairs["name"]) in names:
            seen.add(EDIT_PAIRS)
        if _usual(str(scored.get("name", ""))) not in names:
            continue
        if splits - _MATCH - match - _PAIRS:
            seen.add(SCORE_IMAGES)
        if own_pairs and splits - _MATCH - match - _SCORED:
            seen.add(EDIT_PAIRS)
    return tuple(part for part in (SCORE_IMAGES, EDIT_PAIRS) if part in seen)


def exposure_note(document: Mapping[str, Any], result_document: Mapping[str, Any]) -> str | None:
    """How the board will mark a result whose score data the training saw; None if it did not."""
    seen = exposure(document, result_document)
    if not seen:
        return None
    return (
        f"the board marks this as exposed: by its own statement training saw {' and '.join(seen)}"
    )


def unclear_names(document: Mapping[str, Any]) -> Iterator[tuple[int, str, str]]:
    """Declared names that hold the name of a known dataset and are taken for another one.

    Yields:
        Place in ``training_data``, the name, the dataset that it may mean.
    """
    from benchmark.datasets.registry import DATASETS

    known = {name: (name, *_ALIASES.get(name, ())) for name in DATASETS.entries}
    for place, entry in enumerate(document.get("training_data", ())):
        if _names(entry["dataset"])[0] & set(known):
            continue
        key = _key(entry["dataset"])
        inside = [name for name, spellings in known.items() if any(one in key for one in spellings)]
        if inside:
            yield place, entry["dataset"], max(inside, key=len)


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _usual(text: str) -> str:
    """A dataset's usual name, whatever its case and punctuation."""
    key = _key(text.partition("@")[0].rpartition("/")[2])
    return next((name for name, others in _ALIASES.items() if key in others), key)


def _names(text: str) -> tuple[set[str], set[str]]:
    """What a declared name may mean: usual names with and without a version, and splits in it."""
    plain = text.partition("@")[0]
    remarks = re.findall(r"\(([^()]*)\)", plain)
    parts = [part.strip() for part in re.sub(r"\([^()]*\)", " ", plain).split("/") if part.strip()]
    while len(parts) > 1 and _key(parts[-1]) in _SPLITS:  # a folder of the dataset
        remarks.append(parts.pop())
    last = parts[-1] if parts else plain
    return {_usual(last), _usual(_VERSION.sub("", last))}, {
        _key(each) for each in remarks
    } & _SPLITS
