"""synAvatars: annotated avatars and single-attribute edits, drawn with exact labels.

The attribute space is in ``space`` and one module per style; ``sample`` draws from it, ``work``
renders, ``build`` rejects and puts together, ``write`` and ``card`` make the dataset folder.
"""

from generation.avatars.build import BuildReport, build

__all__ = ["BuildReport", "build"]
