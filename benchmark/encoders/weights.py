"""Where a model's files are: a folder, or the local cache of the Hugging Face Hub.

Nothing is downloaded here: what is missing is an error that names the command which fetches it.
Weights are safetensors files; a pickle is never read.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.files import file_sha256, json_text

_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_MOVING = {"transformers_version", "_name_or_path"}


@dataclass(frozen=True)
class Pin:
    """A model of the Hub, fixed to a commit and the hash of its weights."""

    model: str
    """As it stands after the family's name."""
    revision: str
    sha256: str


@dataclass(frozen=True)
class Place:
    """A folder with a model's files."""

    folder: Path
    label: str
    """What to call it in a name that is read on another machine."""
    revision: str | None
    """Commit of the Hub repository; None for an ordinary folder."""
    fetch: str | None
    """Command that fetches the files; None for an ordinary folder."""

    def read_json(self, name: str) -> dict[str, Any]:
        """A settings file; ``UserError`` where it is missing or no JSON object."""
        path = self.require(name)
        try:
            document = json.loads(path.read_bytes())
        except ValueError as error:
            raise UserError(f"{path}: is no JSON ({error})") from None
        if not isinstance(document, dict):
            raise UserError(f"{path}: expected a JSON object")
        return document

    def require(self, name: str) -> Path:
        """The file called ``name``, which has to be there."""
        path = self.folder / name
        if path.is_file():
            return path
        raise UserError(f"{self.label}: {self._lacks(name)}")

    def _lacks(self, name: str) -> str:
        if self.fetch:
            return f"{name} is not on this machine; fetch it: {self.fetch}"
        return f"no file {name} in folder {self.folder}"

    def weights(self, stem: str) -> tuple[Path, ...]:
        """``stem.safetensors``, or the parts that ``stem.safetensors.index.json`` names."""
        whole, index = self.folder / f"{stem}.safetensors", f"{stem}.safetensors.index.json"
        if whole.is_file() or not (self.folder / index).is_file():
            if not whole.is_file() and (found := self._pickles()):
                raise UserError(
                    f"{self.label}: weights are in {found}, which is a pickle and not read; "
                    f"expected {whole.name}"
                )
            return (self.require(whole.name),)
        names = self.read_json(index).get("weight_map")
        parts = sorted(set(names.values())) if isinstance(names, dict) else []
        if not parts or any(Path(str(part)).name != part for part in parts):
            raise UserError(f"{self.folder / index}: expected a weight_map of file names")
        return tuple(self.require(part) for part in parts)

    def _pickles(self) -> str | None:
        found = sorted(
            p.name for kind in ("bin", "pt", "pth") for p in self.folder.glob(f"*.{kind}")
        )
        return found[0] if found else None


def is_folder(model: str) -> bool:
    """Whether ``model`` is written as a path, or is one."""
    return model.startswith(("/", "./", "../", "~")) or Path(model).is_dir()


def find(model: str, files: Sequence[str], *, pin: Pin | None = None) -> Place:
    """The files of ``model``: a folder's path, or ``owner/name`` or ``owner/name@revision``.

    Raises:
        UserError: no such folder, no such form of a name, or not in the Hub's local cache (with
            the command that fetches ``files``).
    """
    if is_folder(model):
        folder = Path(model).expanduser()
        if not folder.is_dir():
            raise UserError(f"no model folder {model}")
        return Place(folder, f"./{folder.resolve().name}", None, None)
    repo, _, revision = model.partition("@")
    if not _REPO.fullmatch(repo):
        raise UserError(
            f"model {model!r}; expected a folder's path (./NAME), owner/name, or "
            "owner/name@revision"
        )
    return _cached(repo, pin.revision if pin else revision, files)


def _cached(repo: str, revision: str, files: Sequence[str]) -> Place:
    from huggingface_hub import snapshot_download

    fetch = f"hf download {repo} {' '.join(files)}"
    if revision:
        fetch += f" --revision {revision}"
    try:
        folder = Path(snapshot_download(repo, revision=revision or None, local_files_only=True))
    except (OSError, ValueError):  # every error of the Hub client is one of these
        where = f" at revision {revision}" if revision else ""
        raise UserError(f"model {repo}{where} is not on this machine; fetch it: {fetch}") from None
    commit = folder.name if _COMMIT.fullmatch(folder.name) else None
    return Place(folder, repo, commit, fetch)


def weights_sha256(files: Sequence[Path], *, place: Place, pin: Pin | None = None) -> str:
    """Hash of the weights: the file's SHA-256; of several, that of their ``sha256sum`` listing.

    Raises:
        UserError: other weights than ``pin`` says.
    """
    if len(files) == 1:
        digest = _hashed(files[0])
    else:
        listing = "".join(f"{_hashed(path)}  {path.name}\n" for path in files)
        digest = hashlib.sha256(listing.encode()).hexdigest()
    if pin is not None and digest != pin.sha256:
        raise UserError(
            f"{place.label}: weights have SHA-256 {digest}, expected {pin.sha256}; fetch them "
            f"again: {place.fetch} --force-download"
        )
    return digest


def config_sha256(config: Any) -> str:
    """Hash of a model's settings, without what a library writes of itself."""
    if isinstance(config, dict):
        config = {key: value for key, value in config.items() if key not in _MOVING}
    return hashlib.sha256(json_text(config).encode()).hexdigest()


def _hashed(path: Path) -> str:
    status = path.stat()
    return _remembered(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _remembered(path: Path, size: int, changed: int) -> str:
    """The hash of a file of that size and time, worked out once a process."""
    return file_sha256(path)
