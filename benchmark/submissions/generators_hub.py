"""Files of Hub datasets as a submission names them: at a full commit, with their hashes."""

import os
import re
from pathlib import Path

from benchmark.errors import UserError
from benchmark.files import file_sha256, home

_PLACE = re.compile(
    r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?P<folder>(?:/[\w][\w.-]*)*)@(?P<revision>\S+)"
)
_MOST_FILES = 256


def place_of(text: str) -> tuple[str, str, str]:
    """Repository, folder ("" for the root) and full commit of OWNER/NAME[/FOLDER]@REVISION."""
    match = _PLACE.fullmatch(text)
    if match is None:
        raise UserError(f"{text}: expected OWNER/NAME@REVISION")
    if not re.fullmatch(r"[0-9a-f]{40}", match["revision"]):
        raise UserError(
            f"{text}: revision {match['revision']!r}; expected the full 40-digit commit hash, "
            "because a branch or tag can move"
        )
    return match["repo"], match["folder"].strip("/"), match["revision"]


def parquet_files(repo: str, revision: str) -> dict[str, str]:
    """SHA-256 of every Parquet file of a dataset by its path; the Hub says it, or it is fetched.

    Raises:
        UserError: it is not there, not open, cannot be reached, or holds too many files.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT"), library_name="concept-assay")
    try:
        listed = api.list_repo_tree(repo, repo_type="dataset", revision=revision, recursive=True)
        found = [f for f in listed if isinstance(f, RepoFile) and f.path.endswith(".parquet")]
        if len(found) > _MOST_FILES:
            raise UserError(f"{repo}: {len(found):,} Parquet files; expected at most {_MOST_FILES}")
        hashes = {}
        for file in found:
            if file.lfs is not None:
                hashes[file.path] = file.lfs.sha256
            else:
                hashes[file.path] = _fetched(repo, revision, file.path)
        return hashes
    except UserError:
        raise
    # the client lets errors of its transport through, whatever library that is
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"dataset {repo} at {revision} cannot be read: {reason}") from None


def _fetched(repo: str, revision: str, path: str) -> str:
    """Hash of a small file that the Hub keeps without one."""
    from huggingface_hub import hf_hub_download

    local = hf_hub_download(
        repo,
        path,
        repo_type="dataset",
        revision=revision,
        cache_dir=home() / "submissions" / "hub",
        endpoint=os.environ.get("HF_ENDPOINT"),
    )
    return file_sha256(Path(local))
