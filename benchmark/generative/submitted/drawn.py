"""Images that the suite draws with a submitted model: one seed an image, kept, gone on with.

Below ``home()/submissions/drawn/KEY``, where KEY stands for everything that decides the pictures:

- ``000000.png`` and so on, in the order of the prompts;
- ``drawn.jsonl``: one line a finished picture, written after the picture is on disk.
"""

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock

from benchmark.errors import UserError
from benchmark.files import check_target, file_sha256, write_bytes, write_json
from benchmark.generative.submitted.pipelines import Model, Painter
from benchmark.images import read_file
from benchmark.submissions.generators_known import prompts_of

FORMAT = 1
PACKAGES = ("diffusers", "transformers", "torch")

Progress = Callable[[int, int], None]


class DrawnSet:
    """The finished pictures of a model as one set.

    Attributes:
        name: what reports call it.
        ids: running numbers.
        black: pictures of black pixels only, as a safety checker leaves them.
        drawn_on: device and number format.
    """

    def __init__(
        self, name: str, folder: Path, lines: Mapping[int, Mapping[str, Any]], drawn_on: str
    ) -> None:
        self.name, self._folder, self.drawn_on = name, folder, drawn_on
        self.ids = tuple(f"{place:06d}" for place in range(len(lines)))
        self.black = sum(bool(line["black"]) for line in lines.values())

    @property
    def about(self) -> dict[str, Any]:
        """Kind and name."""
        return {"kind": "folder", "name": self.name}

    def encoded(self, index: int) -> bytes:
        """The picture's PNG file."""
        return read_file(self._folder / f"{self.ids[index]}.png", name=self.describe(index))

    def describe(self, index: int) -> str:
        """Submission and number."""
        return f"{self.name}: image {self.ids[index]}"


def settings_sha256(generator: Mapping[str, Any]) -> str:
    """SHA-256 over prompts, counts, seed and settings."""
    chosen = {name: generator[name] for name in ("prompts", "seed", "settings")}
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()


def draw(
    document: Mapping[str, Any],
    model: Model,
    home: Path,
    *,
    progress: Progress | None = None,
    painter: Callable[[Model], Painter] = Painter,
) -> DrawnSet:
    """Draw every image of a submission of kind diffusers, or the ones that are not there yet.

    Args:
        document: its ``submission.json``.
        model: as ``located`` found it.
        home: pictures are kept below it.
        progress: called with pictures there and all.
        painter: what loads the model.

    Raises:
        UserError: as ``prompts_of``, ``Painter``; a place that cannot be written.
    """
    generator = document["generator"]
    prompts = prompts_of(generator)
    brush = painter(model)
    key = {
        "format": FORMAT,
        "weights_sha256": model.weights_sha256,
        "pipeline": model.pipeline,
        "settings_sha256": settings_sha256(generator),
        "drawn_on": brush.drawn_on,
        "packages": {name: version(name) for name in PACKAGES},
    }
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:32]
    folder = home / "submissions" / "drawn" / digest
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            write_json(folder / "key.json", key)
            done = dict(_finished(folder, len(prompts)))
            for place, prompt in enumerate(prompts):
                if place not in done:
                    picture = brush.draw(prompt, generator["seed"] + place, generator["settings"])
                    done[place] = _keep(folder, place, picture)
                if progress is not None:
                    progress(place + 1, len(prompts))
    except OSError as error:
        raise UserError(
            f"{folder}: {error.strerror or error}; set ASSAY_HOME to a folder that can be written"
        ) from error
    return DrawnSet(document["name"], folder, done, brush.drawn_on)


def _keep(folder: Path, place: int, picture: Any) -> dict[str, Any]:
    """Write a picture, then its line."""
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    data = stream.getvalue()
    write_bytes(folder / f"{place:06d}.png", data)
    line = {
        "image": place,
        "sha256": hashlib.sha256(data).hexdigest(),
        "black": picture.getbbox() is None,
    }
    with check_target(folder / "drawn.jsonl").open("ab") as journal:
        # a line feed first: a torn line before this one then stays one bad line
        journal.write(b"\n" + json.dumps(line, sort_keys=True).encode() + b"\n")
        journal.flush()
        os.fsync(journal.fileno())
    return line


def _finished(folder: Path, count: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Lines of the journal whose picture is there as it was written."""
    path = folder / "drawn.jsonl"
    lines = path.read_bytes().splitlines() if path.is_file() else []
    for text in lines:
        try:
            line = json.loads(text)
            place, digest = int(line["image"]), line["sha256"]
            picture = folder / f"{place:06d}.png"
            if 0 <= place < count and file_sha256(picture) == digest and "black" in line:
                yield place, line
        except (ValueError, KeyError, TypeError, OSError):
            continue
