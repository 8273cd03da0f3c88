"""How an image is brought to the size that a model takes, §5.1."""

from typing import Literal

from PIL import Image

Resize = Literal["squash", "center_crop"]
POLICIES: tuple[Resize, ...] = ("squash", "center_crop")


def resized(image: Image.Image, size: tuple[int, int], policy: Resize) -> Image.Image:
    """An RGB image at ``size`` (height, width), with Pillow's bicubic filter.

    ``squash`` keeps the whole picture and lets its proportions go; ``center_crop`` keeps the
    proportions and the largest central part that has those of ``size``. An image of that very
    size is returned as it is.

    Raises:
        ValueError: another mode than RGB (``benchmark.images.read_image`` converts), or policy.
    """
    if image.mode != "RGB":
        raise ValueError(f"expected an RGB image, not mode {image.mode}; see read_image")
    if policy not in POLICIES:
        raise ValueError(f"resize is {policy!r}; expected one of {', '.join(POLICIES)}")
    height, width = size
    if image.size == (width, height):
        return image
    if policy == "squash":
        return image.resize((width, height), Image.Resampling.BICUBIC)
    scale = min(image.width / width, image.height / height)
    left = (image.width - scale * width) / 2
    top = (image.height - scale * height) / 2
    # resampling the box alone bounds the memory for a long thin image
    box = (left, top, left + scale * width, top + scale * height)
    return image.resize((width, height), Image.Resampling.BICUBIC, box=box)
