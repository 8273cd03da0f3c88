"""The two sides of a comparison: images of a folder, or of a dataset's split."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from benchmark.datasets.base import Dataset, ImageSequence
from benchmark.errors import UserError
from benchmark.images import ImageReadError, read_file

ENDINGS = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
"""Endings, in whatever case, of the files of a folder that count as images."""

SIDES = ("base", "edited")
"""Names that take the place of a split for one side of a dataset's edit pairs."""


class ImageSet(Protocol):
    """Images in a fixed order, read when they are asked for."""

    @property
    def name(self) -> str:
        """What the report calls it."""
        ...

    @property
    def ids(self) -> Sequence[str]:
        """One stable name an image, all different, in ascending order of the files or rows."""
        ...

    @property
    def about(self) -> Mapping[str, Any]:
        """Where the images are from, JSON values."""
        ...

    def encoded(self, index: int) -> bytes:
        """The bytes of an image's file; ``ImageReadError`` where they cannot be read."""
        ...

    def describe(self, index: int) -> str:
        """What to call an image in a message."""
        ...


@dataclass(frozen=True, eq=False)
class FolderSet:
    """The image files below a folder, in all its sub-folders.

    An id is the path below the folder, with ``/``: files of one name in two sub-folders are two
    images. Ids are sorted as text. Hidden files and folders and files with other endings than
    ``ENDINGS`` are left out and counted, and so are links to folders; links to files are followed.

    Attributes:
        root: the folder.
        ids: of the images.
        others: files left out for their ending.
        hidden: files and folders left out because their name begins with a dot.
        linked: links to folders, left out.
    """

    root: Path
    ids: tuple[str, ...]
    others: int
    hidden: int
    linked: int = 0
    _paths: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, root: Path) -> "FolderSet":
        """All images below ``root``.

        Raises:
            UserError: no such folder, one that cannot be listed, or one without images.
        """
        if not root.is_dir():
            what = "is a file" if root.exists() else "no such folder"
            raise UserError(f"{root}: {what}; expected a folder of images or a dataset")
        paths: dict[str, str] = {}
        others = hidden = linked = 0
        for folder, folders, files in os.walk(root, onerror=_stop):
            hidden += sum(name.startswith(".") for name in [*folders, *files])
            folders[:] = [name for name in folders if not name.startswith(".")]
            linked += sum(Path(folder, name).is_symlink() for name in folders)
            for name in files:
                if name.startswith("."):
                    continue
                if not name.lower().endswith(ENDINGS):
                    others += 1
                    continue
                path = Path(folder, name)
                key = _printable(path.relative_to(root).as_posix())
                if paths.setdefault(key, str(path)) != str(path):
                    raise UserError(f"{root}: two files would both be called {key!r}; rename one")
        if not paths:
            counts = (others, "other files"), (linked, "links to folders, which are not followed")
            told = ", ".join(f"{count} {what}" for count, what in counts if count)
            left = f" ({told})" if told else ""
            raise UserError(
                f"{root}: no images{left}; expected files that end in {', '.join(ENDINGS)}, or "
                "give the split to read if it is the folder of a dataset"
            )
        return cls(root, tuple(sorted(paths)), others, hidden, linked, _paths=paths)

    @property
    def name(self) -> str:
        """The folder's own name."""
        return _printable(self.root.resolve().name) or "/"

    @property
    def about(self) -> dict[str, Any]:
        """Kind, name and what was left out."""
        return {
            "kind": "folder",
            "name": self.name,
            "left_out": {"other_files": self.others, "hidden": self.hidden},
        }

    def encoded(self, index: int) -> bytes:
        """The file's bytes."""
        return read_file(self.describe(index))

    def describe(self, index: int) -> str:
        """The file's path."""
        return self._paths[self.ids[index]]


@dataclass(frozen=True, eq=False)
class DatasetSet:
    """Some rows of a dataset, or one side of its edit pairs.

    Attributes:
        dataset: where they are from.
        ids: names of the images.
        rows: their rows in ``images``.
        images: the pictures.
        split: a split's name, ``base`` or ``edited``, or None for all pictures.
        label: what the report calls the set; by default the dataset and its split.
    """

    dataset: Dataset
    ids: tuple[str, ...]
    rows: tuple[int, ...]
    images: ImageSequence
    split: str | None = None
    label: str | None = None

    @classmethod
    def of(
        cls, dataset: Dataset, split: str | None = None, *, label: str | None = None
    ) -> "DatasetSet":
        """All pictures of a dataset, of one split, or of one side of its pairs.

        Raises:
            UserError: a dataset without pictures, an unknown split.
        """
        if dataset.activations is not None:
            raise UserError(f"dataset {dataset.name} holds activations, not images")
        pairs = dataset.pairs
        if split in SIDES and pairs is not None:
            images = pairs.base if split == "base" else pairs.edited
            return cls(dataset, pairs.ids, tuple(range(len(pairs))), images, split, label)
        if split is None:
            rows = list(range(len(dataset.ids)))
        elif dataset.splits or pairs is None:
            rows = sorted(dataset.split(split).tolist())
        else:
            raise UserError(
                f"dataset {dataset.name} holds edit pairs only and has no split {split!r}; "
                f"expected one of {', '.join(SIDES)}"
            )
        if not len(rows):
            hint = f"; give the split {' or '.join(SIDES)}" if pairs is not None else ""
            raise UserError(f"dataset {dataset.name} has no images of its own{hint}")
        ids = tuple(dataset.ids[row] for row in rows)
        return cls(dataset, ids, tuple(rows), dataset.images, split, label)

    def only(self, rows: Sequence[int], label: str) -> "DatasetSet":
        """The images at these places of ``ids``, under another label."""
        return DatasetSet(
            self.dataset,
            tuple(self.ids[row] for row in rows),
            tuple(self.rows[row] for row in rows),
            self.images,
            self.split,
            label,
        )

    @property
    def name(self) -> str:
        """The label, else the dataset and its split."""
        return self.label or " ".join(filter(None, [self.dataset.name, self.split]))

    @property
    def about(self) -> dict[str, Any]:
        """Kind, dataset, revision and split."""
        return {
            "kind": "dataset",
            "name": self.name,
            "dataset": self.dataset.name,
            "revision": self.dataset.revision,
            "split": self.split,
        }

    def encoded(self, index: int) -> bytes:
        """The bytes that the dataset holds."""
        try:
            return self.images.encoded(self.rows[index])
        except ImageReadError:
            raise
        except UserError as error:
            raise ImageReadError(str(error)) from error

    def describe(self, index: int) -> str:
        """Dataset and id."""
        return f"{self.name}: {self.ids[index]}"


def open_set(name: str, split: str | None = None, revision: str | None = None) -> ImageSet:
    """One side of a comparison by name.

    Args:
        name: a folder of images, the name or folder of a dataset, or ``OWNER/NAME@REVISION`` of
            the Hub. A folder is one of images unless a split is given.
        split: a split of the dataset, or ``base`` or ``edited`` for a side of its pairs.
        revision: of the dataset.

    Raises:
        UserError: neither, or one without images.
    """
    from benchmark.datasets import load_dataset

    path = Path(name)
    if not name:
        raise UserError("an empty name was given; expected a folder of images or a dataset")
    if split is None and revision is None and path.exists():
        return FolderSet.of(path)
    return DatasetSet.of(load_dataset(name, revision=revision), split)


def _stop(error: OSError) -> None:
    raise UserError(f"{error.filename}: {error.strerror}; expected a folder that can be listed")


def _printable(text: str) -> str:
    """A file's name as text that can be written as UTF-8, whatever its bytes."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")
