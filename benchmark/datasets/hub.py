"""Datasets in Hub repositories, always at a full revision; nothing in a repository is run.

A tag or branch can move, so it is resolved once: the commit it stood for is written down in
``home()/datasets/hub`` and used from then on, also without a network. What was not written down
has to be asked for; a copy of another revision in the cache is no substitute. Being told another
commit for the same tag later is an error.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark import files
from benchmark.errors import UserError

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_HASH = re.compile(r"[0-9a-f]{40}")
_PICTURES = ("jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff")
_WANTED = [
    "README.md",
    "manifest.json",
    "metadata.csv",
    "attributes.txt",
    "*.parquet",
    *(f"images/*.{ending}" for ending in _PICTURES),
]


def is_dataset_id(text: str) -> bool:
    """Whether ``text`` reads as ``owner/name``."""
    return _ID.fullmatch(text) is not None


def is_full_hash(text: str) -> bool:
    """Whether a revision is a commit's full hash, which cannot move."""
    return _HASH.fullmatch(text) is not None


def recorded(repo: str, revision: str) -> str | None:
    """The commit that a revision was found to be earlier; a full hash is itself."""
    return revision if is_full_hash(revision) else _records(repo).get(revision)


def ask(repo: str, revision: str) -> str:
    """The commit that a tag or branch is on the Hub now, written down.

    Raises:
        UserError: no such repository or revision, no network, or it was another commit before.
    """
    with _explained(repo, revision):
        commit = _api().dataset_info(repo, revision=revision).sha
    if commit is None or not is_full_hash(commit):
        raise UserError(f"{repo} at {revision}: the Hub gave {commit!r}, no full commit hash")
    known = _records(repo)
    before = known.get(revision, commit)
    if before != commit:
        raise UserError(
            f"{repo}: {revision} was commit {before} and is {commit} now; results of the two "
            f"cannot be compared. Name the one you want: {repo}@{before} or {repo}@{commit}"
        )
    files.write_json(_record_path(repo), {"repo": repo, "commits": {**known, revision: commit}})
    return commit


def fetch(repo: str, revision: str) -> tuple[Path, str]:
    """Download a dataset's data files; its local folder and the full commit hash.

    What is complete in the cache is not downloaded again, and needs no network.

    Raises:
        UserError: a repository or revision that is not there or cannot be reached.
    """
    commit = recorded(repo, revision) or ask(repo, revision)
    with _explained(repo, revision):
        return _snapshot(repo, commit, local=False), commit


def cached(repo: str, revision: str) -> tuple[Path, str] | None:
    """A dataset that is already here, complete, at a revision that is known; else None."""
    commit = recorded(repo, revision)
    if commit is None:
        return None
    try:
        return _snapshot(repo, commit, local=True), commit
    except (OSError, ValueError):
        return None


def _snapshot(repo: str, commit: str, *, local: bool) -> Path:
    return Path(
        _api().snapshot_download(
            repo,
            repo_type="dataset",
            revision=commit,
            allow_patterns=_WANTED,
            local_files_only=local,
        )
    )


def _api() -> HfApi:
    from huggingface_hub import HfApi

    return HfApi(endpoint=os.environ.get("HF_ENDPOINT"), library_name="concept-assay")


@contextmanager
def _explained(repo: str, revision: str) -> Iterator[None]:
    from huggingface_hub import errors

    try:
        yield
    except UserError:
        raise
    except errors.RevisionNotFoundError:
        raise UserError(f"dataset {repo} has no revision {revision} on the Hub") from None
    except (errors.GatedRepoError, errors.RepositoryNotFoundError):
        raise UserError(f"dataset {repo} is not on the Hub, or not open to you") from None
    # the client lets errors of its transport through, whatever library that is
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"{repo} at {revision} is not here and cannot be fetched: {reason}"
        ) from None


def _record_path(repo: str) -> Path:
    return files.home() / "datasets" / "hub" / f"{repo.replace('/', '--')}.json"


def _records(repo: str) -> dict[str, str]:
    path = _record_path(repo)
    try:
        known = json.loads(path.read_bytes())["commits"]
        if all(is_full_hash(commit) for commit in known.values()):
            return dict(known)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise UserError(f"{path} is damaged; expected the commits of {repo} by tag; delete it")
