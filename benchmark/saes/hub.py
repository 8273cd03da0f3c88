"""SAEs in Hub repositories, always at a full revision."""

import re
from collections.abc import Sequence
from pathlib import Path

from benchmark.errors import UserError

_SPEC = re.compile(
    r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?P<folder>(?:/[\w][\w.-]*)*)@(?P<revision>\S+)"
)
_REVISION = re.compile(r"[0-9a-f]{40}")
_PATTERNS = ("*.safetensors", "*.pt", "*.pth", "*.npz", "config.json", "cfg.json")


def is_hub_id(text: str) -> bool:
    """Whether ``text`` reads as ``owner/name@revision`` and is no local path."""
    return _SPEC.fullmatch(text) is not None and not Path(text).exists()


def fetch(text: str, names: Sequence[str] = _PATTERNS) -> Path:
    """Download ``owner/name[/folder]@revision``; its local folder.

    Args:
        text: which repository, folder and full revision.
        names: files of the folder, or patterns; weights and settings by default.

    Raises:
        UserError: a revision that is not a full commit hash, or a repository, revision or folder
            that is not there or cannot be reached.
    """
    match = _SPEC.fullmatch(text)
    if match is None:
        raise UserError(f"{text}: expected owner/name@revision")
    repo, folder, revision = match["repo"], match["folder"].strip("/"), match["revision"]
    if not _REVISION.fullmatch(revision):
        raise UserError(
            f"{text}: revision {revision!r}; expected the full 40-digit commit hash, because a "
            "branch or tag can move"
        )
    from huggingface_hub import snapshot_download

    prefix = f"{folder}/" if folder else ""
    try:
        root = snapshot_download(
            repo,
            revision=revision,
            allow_patterns=[prefix + name for name in names],
        )
    except (OSError, ValueError) as error:  # every error of the Hub client is one of these
        reason = " ".join(str(error).split())[:300]
        raise UserError(f"{repo} at {revision}: cannot be fetched ({reason})") from None
    found = Path(root) / folder
    if not found.is_dir() or not any(found.iterdir()):
        raise UserError(f"{text}: no weights or settings in folder {folder or '/'!r}")
    return found
