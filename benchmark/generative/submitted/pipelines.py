"""Text-to-image models of the diffusers library that a submission may name, loaded as data only.

Weights are safetensors, classes are those of diffusers and transformers, and no code of a
repository is run.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.errors import UserError
from benchmark.files import file_sha256
from benchmark.submissions.generators_known import PIPELINES

if TYPE_CHECKING:
    from PIL import Image

_INDEX = "model_index.json"
_MOST_INDEX_BYTES = 2**20
_LIBRARIES = ("diffusers", "transformers")

Fetch = Callable[[str, str, Path], Path]
"""Repository, full revision, place of the cache → folder of the model."""


@dataclass(frozen=True)
class Model:
    """A model on this machine.

    Attributes:
        folder: where it lies.
        pipeline: class that loads it, of ``PIPELINES``.
        weights_sha256: as ``folder_sha256``.
    """

    folder: Path
    pipeline: str
    weights_sha256: str


def fetch(repo: str, revision: str, place: Path) -> Path:
    """Download a model repository at a full commit; only what its pipeline reads.

    Raises:
        UserError: it is not there, not open, without safetensors, or cannot be reached.
    """
    try:
        from diffusers import DiffusionPipeline

        found = DiffusionPipeline.download(
            repo,
            revision=revision,
            cache_dir=place,
            use_safetensors=True,
            trust_remote_code=False,
        )
    except ImportError as error:
        raise _needs_extra(error) from error
    # the client lets errors of its transport through, whatever library that is
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"model {repo} at {revision} cannot be had: {reason}") from None
    return Path(found)


def located(generator: Mapping[str, Any], place: Path, get: Fetch = fetch) -> Model:
    """The model of a submission of kind diffusers, its parts checked before anything is loaded.

    Args:
        generator: as ``submission.json`` holds it.
        place: cache of model repositories.
        get: what brings the repository.

    Raises:
        UserError: as ``fetch``; a pipeline or part that is not of the known libraries.
    """
    folder = get(generator["repo"], generator["revision"], place)
    named = generator["repo"]
    index = _read_index(folder / _INDEX, named)
    own = index.get("_class_name")
    chosen = generator.get("pipeline", own)
    if chosen not in PIPELINES:
        raise UserError(
            f"model {named}: pipeline {str(chosen)[:60]!r}; expected one of {', '.join(PIPELINES)}"
        )
    for part, entry in index.items():
        if not part.startswith("_") and isinstance(entry, list):
            _check_part(named, part, entry)
    return Model(folder, chosen, folder_sha256(folder))


def folder_sha256(folder: Path) -> str:
    """SHA-256 over names and contents of what a pipeline reads: its index and its parts' folders.

    Hidden files, and others beside the index (README.md), do not count.
    """
    content = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder)
        beside = len(name.parts) == 1 and name.name != _INDEX
        if not beside and not any(part.startswith(".") for part in name.parts):
            content.update(f"{name.as_posix()}\0{file_sha256(path)}\n".encode())
    return content.hexdigest()


class Painter:
    """Draws one picture at a time with a model, which is loaded for the first one.

    Attributes:
        drawn_on: device and number format.
    """

    def __init__(self, model: Model) -> None:
        import torch

        self._model = model
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._dtype = torch.bfloat16 if self._device == "cuda" else torch.float32
        self.drawn_on = f"{self._device} {str(self._dtype).removeprefix('torch.')}"

    @cached_property
    def _pipeline(self) -> Any:
        try:
            import diffusers
            import transformers
        except ImportError as error:
            raise _needs_extra(error) from error
        model = self._model
        for library in (diffusers, transformers):  # their bars would run through the suite's own
            library.utils.logging.disable_progress_bar()
        try:
            loaded = getattr(diffusers, model.pipeline).from_pretrained(
                os.fspath(model.folder),
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
                dtype=self._dtype,
            )
            loaded.to(self._device)
        # what a folder of foreign settings makes a library stumble over is open
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(
                f"{model.folder} cannot be loaded as {model.pipeline}: {reason}"
            ) from None
        loaded.set_progress_bar_config(disable=True)
        return loaded

    def draw(self, prompt: str, seed: int, settings: Mapping[str, Any]) -> "Image.Image":
        """One RGB picture; the same arguments give the same one, whatever was drawn before.

        Raises:
            UserError: the model refuses the settings, or draws another size.
        """
        import torch

        pipeline = self._pipeline
        try:
            made = pipeline(
                prompt=prompt,
                num_inference_steps=settings["steps"],
                guidance_scale=settings["guidance"],
                width=settings["width"],
                height=settings["height"],
                generator=torch.Generator("cpu").manual_seed(seed),
                output_type="pil",
            )
        except (ValueError, TypeError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(
                f"the model refuses {prompt[:60]!r} with {dict(settings)}: {reason}"
            ) from None
        picture: Image.Image = made.images[0].convert("RGB")
        asked = settings["width"], settings["height"]
        if picture.size != asked:
            raise UserError(
                f"the model draws {picture.width} x {picture.height} pixels where settings ask for "
                f"{asked[0]} x {asked[1]}; write the size that it draws"
            )
        return picture


def _read_index(path: Path, named: str) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST_INDEX_BYTES:
            raise UserError(f"model {named}: {_INDEX} is larger than {_MOST_INDEX_BYTES:,} bytes")
        index = json.loads(path.read_bytes())
    except OSError as error:
        raise UserError(
            f"model {named}: no {_INDEX} ({error.strerror}); expected a pipeline of diffusers"
        ) from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"model {named}: {_INDEX} is not JSON") from None
    if not isinstance(index, dict):
        raise UserError(f"model {named}: {_INDEX} is no object")
    return index


def _check_part(named: str, part: str, entry: list[Any]) -> None:
    """A part is a class of diffusers, of one of its pipelines' folders, or of transformers."""
    from importlib.util import find_spec

    library = entry[0] if len(entry) == 2 else ""
    if library is None or library in _LIBRARIES:
        return
    if isinstance(library, str) and library.isidentifier():
        try:
            if find_spec(f"diffusers.pipelines.{library}") is not None:
                return
        except ImportError as error:
            raise _needs_extra(error) from error
    raise UserError(
        f"model {named}: part {part[:60]!r} is of {str(library)[:60]!r}; expected classes of "
        f"{' and '.join(_LIBRARIES)} only, since no code of a repository is run"
    )


def _needs_extra(error: ImportError) -> UserError:
    return UserError(
        f"drawing with diffusers needs {error.name}: pip install 'concept-assay[flux]'"
    )
