"""Ids that cannot be taken for another one, nor for a name that means something elsewhere."""

import re

_NAMES = """
about aix all api assets badges board boards card cards cite compare css data
definitions entries entry example examples feed font fonts generator generators history icon
images index js judge latest latents main media methods metrics new none null pages r
random releases result results robots sae saes search sitemap static submission submissions
sweep undefined untrained
"""
DEVICES = frozenset(("aux", "con", "nul", "prn")) | {
    f"{port}{number}" for port in ("com", "lpt") for number in range(10)
}
"""Names of files that Windows takes for a device, whatever they end in."""
RESERVED = frozenset(_NAMES.split()) | DEVICES
"""Folders and pages of the site, words that programs read as nothing, names of devices."""

_PAIRS = (("rn", "m"), ("vv", "w"))
_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "-": None, "_": None, ".": None})
PLACE = re.compile(r"[a-z0-9][a-z0-9-]{0,62}(\+[a-z0-9][a-z0-9-]{0,62})?")
"""Name of a results folder: a dataset, and the dataset of its pairs where that is another one."""


def skeleton(identifier: str) -> str:
    """What an id looks like at a glance; two ids with one skeleton are easily confused."""
    text = identifier.lower()
    for pair, single in _PAIRS:
        text = text.replace(pair, single)
    return text.translate(_ALIKE)
