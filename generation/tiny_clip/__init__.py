"""Making ``assay-tiny-clip``: captioned avatars, true region masks, a seeded training loop.

``python -m generation.tiny_clip --out FILE`` trains it; ``phrases`` says what it can be asked.
"""

from generation.tiny_clip.phrases import PHRASES

__all__ = ["PHRASES"]
