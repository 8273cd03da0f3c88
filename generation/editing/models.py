"""Which model edits: a folder or a Hub repository at a full revision, and its licence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark import files
from benchmark.datasets.hub import is_dataset_id, is_full_hash
from benchmark.errors import UserError

DEFAULT = "klein-4b"
PIPELINES = ("Flux2KleinPipeline", "Flux2Pipeline")
_NON_COMMERCIAL = "FLUX Non-Commercial License (non-commercial)"
_LIBRARIES = ("diffusers", "transformers")
_INDEX = "model_index.json"


@dataclass(frozen=True)
class Known:
    """A model known by a short name."""

    repo: str
    licence: str


KNOWN = {
    "klein-4b": Known("black-forest-labs/FLUX.2-klein-4B", "Apache-2.0"),
    "klein-9b": Known("black-forest-labs/FLUX.2-klein-9B", _NON_COMMERCIAL),
    "dev": Known("black-forest-labs/FLUX.2-dev", _NON_COMMERCIAL),
}


@dataclass(frozen=True)
class Model:
    """A model on this machine.

    Attributes:
        name: Hub id, or ``folder:NAME``.
        revision: full commit, or SHA-256 over the folder's files.
        licence: its licence.
        folder: where it lies.
        pipeline: ``"Flux2Pipeline"`` or ``"Flux2KleinPipeline"``.
        distilled: whether guidance has no effect.
        text_encoder: whether it can read prompts.
    """

    name: str
    revision: str
    licence: str
    folder: Path
    pipeline: str
    distilled: bool
    text_encoder: bool


def locate(
    text: str, *, licence: str | None = None, used: Mapping[str, str] | None = None
) -> Model:
    """The model that a short name, a folder, or ``owner/name@REVISION`` stands for.

    A repository is downloaded where it is not in the cache. Without a revision, or with a branch
    or tag, the commit it stands for now is asked for.

    Args:
        text: name, folder or repository.
        licence: of a model that does not state one.
        used: commit by repository of models that were used before, which is taken again where no
            revision is given.

    Raises:
        UserError: no such model, one of another kind, or one whose licence nobody states.
    """
    name, _, revision = text.partition("@")
    if name in KNOWN:
        name = KNOWN[name].repo
    if Path(text).is_dir():
        folder = Path(text).resolve()
        label, commit = f"folder:{folder.name}", None
    elif is_dataset_id(name):
        folder, commit = _fetch(name, revision or (used or {}).get(name, "main"))
        label = name
    else:
        raise UserError(
            f"--model {text!r}: no such folder; expected one, {', '.join(KNOWN)}, or owner/name "
            "of a Hub repository, with @REVISION for a certain version"
        )
    index = _read_index(folder)
    known = next((each.licence for each in KNOWN.values() if each.repo == name), None)
    stated = licence or known or _stated_licence(folder)
    if not stated:
        raise UserError(
            f"model {text} does not state its licence, which goes into every dataset made with it; "
            "give it: --licence 'Apache-2.0'"
        )
    pipeline = index["_class_name"]
    return Model(
        label,
        commit or folder_sha256(folder),
        stated,
        folder,
        pipeline,
        pipeline == "Flux2KleinPipeline" and index.get("is_distilled") is True,
        index.get("text_encoder", [None])[0] is not None,
    )


def _fetch(repo: str, revision: str) -> tuple[Path, str]:
    """A repository's folder in the cache and its full commit."""
    from huggingface_hub import HfApi

    commit = revision
    try:
        if not is_full_hash(revision):
            commit = HfApi().model_info(repo, revision=revision).sha or ""
        if not is_full_hash(commit):
            raise UserError(f"--model {repo}@{revision}: the Hub gave no full commit hash")
        from diffusers import DiffusionPipeline

        return Path(DiffusionPipeline.download(repo, revision=commit, use_safetensors=True)), commit
    except UserError:
        raise
    except ImportError as error:
        raise needs_extra(error) from error
    # the client lets errors of its transport through, whatever library that is
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"--model {repo}@{revision} cannot be had ({reason}); a gated model asks you to accept "
            "its licence on its page and to log in: hf auth login"
        ) from None


def needs_extra(error: ImportError) -> UserError:
    """What to say where a library is missing."""
    return UserError(f"editing needs {error.name}: pip install 'concept-assay[flux]'")


def _read_index(folder: Path) -> dict[str, Any]:
    """``model_index.json``; only the two pipelines, made of known libraries' classes, pass."""
    path = folder / _INDEX
    try:
        index = json.loads(path.read_bytes())
    except OSError as error:
        raise UserError(
            f"cannot read {path}: {error.strerror or error}; expected a pipeline's folder"
        ) from None
    except (ValueError, RecursionError):
        raise UserError(f"{path}: not JSON") from None
    kind = index.get("_class_name") if isinstance(index, dict) else None
    if kind not in PIPELINES:
        raise UserError(f"{path}: is a {kind!r}; expected one of {', '.join(PIPELINES)}")
    for part, entry in index.items():
        if isinstance(entry, list) and (len(entry) != 2 or entry[0] not in (*_LIBRARIES, None)):
            raise UserError(
                f"{path}: {part} is {entry}; expected a class of diffusers or transformers"
            )
    assert isinstance(index, dict)
    return index


def _stated_licence(folder: Path) -> str | None:
    """What the front matter of README.md says: ``license_name``, else ``license``."""
    try:
        text = (folder / "README.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    front = text.split("---")[1] if text.startswith("---") else ""
    found = {}
    for line in front.splitlines():
        key, colon, value = line.partition(":")
        if colon and value.strip():
            found[key.strip()] = value.strip().strip("\"'")
    return found.get("license_name") or found.get("license")


def folder_sha256(folder: Path) -> str:
    """SHA-256 over names and contents of a folder's files, hidden ones left out.

    Kept under ``home()/models`` by path, size and time of last change of every file.
    """
    paths = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in _inner(path, folder))
    )
    stamps = [
        ["/".join(_inner(path, folder)), path.stat().st_size, path.stat().st_mtime_ns]
        for path in paths
    ]
    key = hashlib.sha256(json.dumps([str(folder), stamps]).encode()).hexdigest()
    kept = files.home() / "models" / f"{key}.json"
    try:
        found = json.loads(kept.read_bytes())["sha256"]
        if isinstance(found, str) and len(found) == 64:
            return found
    except (OSError, ValueError, KeyError, TypeError):
        pass
    contents = [
        [stamp[0], files.file_sha256(path)] for stamp, path in zip(stamps, paths, strict=True)
    ]
    found = hashlib.sha256(json.dumps(contents).encode()).hexdigest()
    files.write_json(kept, {"sha256": found})
    return found


def _inner(path: Path, folder: Path) -> tuple[str, ...]:
    return path.relative_to(folder).parts
