"""The styles of the mixture; a new one is a module and a line here."""

from generation.avatars.peeps import PEEPS
from generation.avatars.pixel import PIXEL
from generation.avatars.space import StyleSpec
from generation.avatars.voxel import VOXEL

STYLES: dict[str, StyleSpec] = {spec.label: spec for spec in (VOXEL, PIXEL, PEEPS)}
