"""What each concept of a voxel-art avatar is called in a prompt."""

from generation.avatars.space import CONCEPTS
from generation.avatars.styles import STYLES

STYLE = "voxel"

_OWN = {
    "glasses: clear": "eyeglasses",
    "glasses: sunglasses": "sunglasses",
    "facial hair: beard": "a beard",
    "facial hair: moustache": "a moustache",
    "expression: smile": "a smile",
    "expression: frown": "a frown",
    "expression: teeth": "visible teeth",
    "expression: open mouth": "an open mouth",
    "eyes: closed": "closed eyes",
    "eyes: star": "star eyes",
    "top: short": "short hair",
    "top: long": "long hair",
    "top: bob": "a bob",
    "top: curly": "curly hair",
    "top: mohawk": "a mohawk",
    "top: bun": "a bun",
    "top: tails": "pigtails",
    "top: bald": "a bald head",
    "top: hat": "a hat",
    "top: animal ears": "animal ears",
    "outfit: striped": "stripes",
    "outfit: tie": "a tie",
    "outfit: hoodie": "a hoodie",
}
_BY_GROUP = {
    "hair colour": "{} hair",
    "skin": "{} skin",
    "clothing": "{} clothes",
    "background": "a {} background",
}


def _phrase(concept: str) -> str:
    group, _, value = concept.partition(": ")
    return _OWN.get(concept) or _BY_GROUP[group].format(value)


PHRASES: dict[str, str] = {
    concept: _phrase(concept) for concept in CONCEPTS if STYLES[STYLE].has(*concept.split(": "))
}
"""Concept of synAvatars → phrase, for all that the style draws."""
