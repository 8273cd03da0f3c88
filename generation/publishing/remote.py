"""A dataset repository on the Hub: what is there, and what is sent.

Large files are handed over one by one before the commit, where the Hub keeps them by their hash;
so a run that was ended sends none of them again, and the branch moves once, from the whole old
version to the whole new one.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.datasets.layout import CARD, MANIFEST, MAX_MANIFEST_BYTES
from benchmark.errors import CheckFailed, UserError
from generation.publishing.address import check_repo_id
from generation.publishing.changes import KEPT, Changes, RemoteFile, compare, in_words
from generation.publishing.local import Package
from generation.publishing.retry import Refused, Retry, Unexpected, shown

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

BRANCH = "main"
_KIND = "dataset"
_BY_ITSELF = ".parquet"
_FIRST_FILES = {KEPT, CARD}
_COMMIT = re.compile("[0-9a-f]{40}")


@dataclass(frozen=True)
class State:
    """What a repository holds.

    Attributes:
        exists: whether it is there; one that the token may not see counts as not there.
        private: whether only some may see it.
        commit: full hash of what its main branch is, None where there is no commit yet.
        files: of that commit.
        tags, branches: commit by name.
        holds: "name" and "version" of the package that the main branch holds, fit to be shown; None
            where it holds none.
    """

    exists: bool = False
    private: bool = False
    commit: str | None = None
    files: Mapping[str, RemoteFile] = field(default_factory=dict, repr=False)
    tags: Mapping[str, str] = field(default_factory=dict)
    branches: Mapping[str, str] = field(default_factory=dict)
    holds: Mapping[str, str] | None = field(default=None, repr=False)

    @property
    def is_new(self) -> bool:
        """Whether there is nothing in it yet that a person put there."""
        return set(self.files) <= _FIRST_FILES


class Repository:
    """A dataset repository.

    Args:
        repo: ``owner/name``.
        endpoint: address of the Hub.
        retry: runs the requests.
    """

    def __init__(self, repo: str, endpoint: str, retry: Retry) -> None:
        from huggingface_hub import HfApi

        check_repo_id(repo)
        self.repo = repo
        self.retry = retry
        self._api: HfApi = HfApi(endpoint=endpoint, library_name="concept-assay")

    def log_in(self) -> str:
        """Name of the account that the client's token is of.

        Raises:
            UserError: no token, one that the Hub does not know, or one that may only read.
        """
        from huggingface_hub import get_token
        from huggingface_hub.errors import OIDCError

        try:
            token = get_token()
        except OIDCError:
            raise UserError(
                "HF_OIDC_RESOURCE is set, but no token could be had with it; unset it, or log in "
                "with: hf auth login"
            ) from None
        if token is None:
            raise UserError("there is no token for the Hub; log in with: hf auth login")
        return self.retry("logging in", self._who)

    def _who(self) -> str:
        who: object = self._api.whoami()
        if not isinstance(who, dict) or not isinstance(who.get("name"), str):
            raise Unexpected("no account")
        access = (who.get("auth") or {}).get("accessToken") or {}
        if access.get("role") == "read":
            raise UserError(
                "the token may only read; make one that may write, and: hf auth login --force"
            )
        return shown(who["name"])

    def look(self) -> State:
        """What is there now."""
        return self.retry(f"looking at {self.repo}", self._look)

    def _look(self) -> State:
        from huggingface_hub import errors

        try:
            info = self._api.dataset_info(self.repo, revision=BRANCH)
            private, commit = bool(info.private), _full(info.sha)
        except errors.RevisionNotFoundError:
            private, commit = bool(self._api.dataset_info(self.repo).private), None
        except errors.GatedRepoError:
            raise UserError(f"{self.repo} is gated and not open to you") from None
        except errors.RepositoryNotFoundError:
            return State()
        files = {} if commit is None else self.files(commit)
        tags, branches = self._refs()
        holds = None if commit is None else self._manifest(commit, files)
        return State(True, private, commit, files, tags, branches, holds)

    def _refs(self) -> tuple[dict[str, str], dict[str, str]]:
        """Commit of every tag and of every branch."""
        refs = self._api.list_repo_refs(self.repo, repo_type=_KIND)
        tags, branches = (
            {_text(each.name): _text(each.target_commit) for each in of}
            for of in (refs.tags, refs.branches)
        )
        return tags, branches

    def files(self, commit: str) -> dict[str, RemoteFile]:
        """Files of a commit by path."""
        from huggingface_hub.hf_api import RepoFile

        entries = self._api.list_repo_tree(
            self.repo, recursive=True, revision=commit, repo_type=_KIND
        )
        return {
            _text(each.path): RemoteFile(
                int(each.size), None if each.lfs is None else each.lfs.sha256, each.blob_id
            )
            for each in entries
            if isinstance(each, RepoFile)
        }

    def _manifest(self, commit: str, files: Mapping[str, RemoteFile]) -> dict[str, str] | None:
        if MANIFEST not in files or files[MANIFEST].bytes > MAX_MANIFEST_BYTES:
            return None
        with tempfile.TemporaryDirectory() as folder:
            path = self._api.hf_hub_download(
                self.repo, MANIFEST, repo_type=_KIND, revision=commit, local_dir=folder
            )
            text = Path(path).read_bytes()
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(document, dict) or "seal" not in document:
            return None
        return {key: _as_is(document.get(key)) for key in ("name", "version")}

    def create(self, private: bool) -> None:
        """Make the repository; one that is there is left as it is."""
        self.retry(
            f"creating {self.repo}",
            lambda: self._api.create_repo(
                self.repo, repo_type=_KIND, private=private, exist_ok=True
            ),
        )

    def send(
        self, package: Package, changes: Changes, parent: str | None, say: Callable[[str], object]
    ) -> str:
        """Send what is new and make it one commit; its full hash.

        Args:
            package: its files.
            changes: what is not as in the package.
            parent: commit that the branch must still be.
            say: told what is sent.

        Raises:
            CheckFailed: the branch moved meanwhile, or the network fails for long.
        """
        from huggingface_hub import CommitOperationAdd

        adding = {
            each.path: CommitOperationAdd(each.path, package.files[each.path].path)
            for each in changes.sent
        }
        alone = [each for each in changes.sent if each.path.endswith(_BY_ITSELF)]
        for number, each in enumerate(alone, start=1):
            say(f"sending {each.path}, {in_words(each.bytes)} ({number} of {len(alone)})")
            self._hand_over(each.path, adding[each.path])
        say(f"committing {len(adding):,} files to {self.repo}")
        return self._commit(package, changes, adding, parent)

    def _hand_over(self, path: str, operation: CommitOperationAdd) -> None:
        """Send a large file ahead of its commit, unless the Hub has it."""
        self.retry(
            f"sending {path}",
            lambda: self._api.preupload_lfs_files(
                self.repo, [operation], repo_type=_KIND, revision=BRANCH, free_memory=False
            ),
        )

    def _commit(
        self,
        package: Package,
        changes: Changes,
        adding: Mapping[str, CommitOperationAdd],
        parent: str | None,
    ) -> str:
        from huggingface_hub import CommitOperationDelete

        counts = package.manifest["counts"]
        operations: list[CommitOperationAdd | CommitOperationDelete] = [
            *adding.values(),
            *(CommitOperationDelete(each.path, is_folder=False) for each in changes.deleted),
        ]

        def commit() -> str:
            made = self._api.create_commit(
                self.repo,
                operations,
                commit_message=f"{package.name} {package.manifest['version']}",
                commit_description=f"{counts['pairs']} pairs, fingerprint {package.fingerprint}",
                repo_type=_KIND,
                revision=BRANCH,
                parent_commit=parent,
            )
            return _full(made.oid)

        try:
            return self.retry(f"committing to {self.repo}", commit, expected=(412,))
        except Refused:
            return self._meanwhile(package)

    def _meanwhile(self, package: Package) -> str:
        """The commit that is there though ours was refused: ours, if its answer was lost."""
        now = self.look()
        if now.commit is None or compare(package.files, now.files):
            raise CheckFailed(
                f"{self.repo}: somebody else committed to {BRANCH} meanwhile; look at what came "
                f"in, then go on with: {self.retry.again}"
            )
        return now.commit

    def tag(self, tag: str, commit: str, message: str) -> None:
        """Tag a commit.

        Raises:
            CheckFailed: the tag is there already, on another commit.
        """
        # refused because it is there: of an attempt whose answer was lost, or of somebody else
        with suppress(Refused):
            self.retry(
                f"tagging {self.repo}",
                lambda: self._api.create_tag(
                    self.repo, tag=tag, tag_message=message, revision=commit, repo_type=_KIND
                ),
                expected=(409,),
            )
        found = self.retry(f"looking at {self.repo}", self._refs)[0].get(tag)
        if found != commit:
            raise CheckFailed(
                f"{self.repo}: tag {tag} is on commit {found}, not on {commit}, which was sent; "
                "package it as another version"
            )


def _full(commit: object) -> str:
    """A commit that the Hub names, known to be a full hash."""
    if not _COMMIT.fullmatch(_text(commit)):
        raise Unexpected(f"commit {shown(str(commit))}")
    return str(commit)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Unexpected(f"{type(value).__name__} where a text belongs")
    return value


def _as_is(value: object) -> str:
    """A text of others that can be shown as it is, or a mark for any other value."""
    return value if isinstance(value, str) and value == shown(value) else "?"
