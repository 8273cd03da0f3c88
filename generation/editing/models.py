"""Which model edits: a folder or a Hub repository at a full revision, and its licence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmark import files
from benchmark.datasets.hub import is_dataset_id, is_full_hash
from benchmark.errors import UserError
from generation.editing.licences import CARD, settle, stated_in
from generation.editing.parts import NOTHING, read_index

DEFAULT = "klein-4b"
_NON_COMMERCIAL = "FLUX Non-Commercial License (non-commercial)"


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
        licence: of a model that does not state one; the same one where it does.
        used: commit by repository of models that were used before, which is taken again where no
            revision is given.

    Raises:
        UserError: no such model, one of another kind, or one whose licence nobody states or the
            argument contradicts.
    """
    name, _, revision = text.partition("@")
    if name in KNOWN:
        name = KNOWN[name].repo
    if Path(text).is_dir():
        folder = Path(text).resolve()
        label, commit, stated = f"folder:{folder.name}", None, stated_in(folder / CARD)
    elif is_dataset_id(name):
        folder, commit, stated = _fetch(name, revision or (used or {}).get(name, "main"))
        label = name
    else:
        raise UserError(
            f"--model {text!r}: no such folder; expected one, {', '.join(KNOWN)}, or owner/name "
            "of a Hub repository, with @REVISION for a certain version"
        )
    if not label.isprintable():
        raise UserError(
            f"--model {text!r}: the folder's name goes into every dataset made with it; give it "
            "one of printable characters"
        )
    index = read_index(folder)
    terms = settle(text, stated, licence)
    pipeline = index["_class_name"]
    return Model(
        label,
        commit or folder_sha256(folder),
        terms,
        folder,
        pipeline,
        pipeline == "Flux2KleinPipeline" and index.get("is_distilled") is True,
        index["text_encoder"] != NOTHING,
    )


def _fetch(repo: str, revision: str) -> tuple[Path, str, str | None]:
    """A repository's folder in the cache, its full commit, and the licence that it states."""
    from huggingface_hub import HfApi

    commit = revision
    try:
        if not is_full_hash(revision):
            commit = HfApi().model_info(repo, revision=revision).sha or ""
        if not is_full_hash(commit):
            raise UserError(f"--model {repo}@{revision}: the Hub gave no full commit hash")
        from diffusers import DiffusionPipeline

        folder = Path(DiffusionPipeline.download(repo, revision=commit, use_safetensors=True))
        return folder, commit, _known(repo) or stated_in(_card(repo, commit))
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


def _known(repo: str) -> str | None:
    """The licence of a known model's repository; the Hub takes its name in any case."""
    names = {each.repo.lower(): each.licence for each in KNOWN.values()}
    return names.get(repo.lower())


def _card(repo: str, commit: str) -> Path | None:
    """A repository's model card in the cache; None where it has none."""
    from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache
    from huggingface_hub.errors import LocalEntryNotFoundError, RemoteEntryNotFoundError

    if not isinstance(try_to_load_from_cache(repo, CARD, revision=commit), str | None):
        return None  # known not to be there
    try:
        return Path(hf_hub_download(repo, CARD, revision=commit))
    except RemoteEntryNotFoundError:
        return None
    except LocalEntryNotFoundError:
        if constants.HF_HUB_OFFLINE:
            return None
        raise


def needs_extra(error: ImportError) -> UserError:
    """What to say where a library is missing."""
    return UserError(f"editing needs {error.name}: pip install 'concept-assay[flux]'")


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
