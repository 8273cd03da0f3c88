"""The stage as a whole: from a package to a tagged version that reads back as it was."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.errors import CheckFailed, UserError
from benchmark.judges.backoff import Backoff
from generation.publishing.address import check_repo_id, endpoint_now
from generation.publishing.changes import Changes, compare
from generation.publishing.local import Package, Progress, open_package
from generation.publishing.read_back import check_space, read_back
from generation.publishing.remote import BRANCH, Repository, State
from generation.publishing.retry import Retry, Say, quiet, shown


@dataclass(frozen=True)
class Options:
    """How to publish.

    Attributes:
        version: that the package must have.
        private: of a repository that is made.
        dry_run: only find out what would change.
    """

    version: str | None = None
    private: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class Report:
    """What was published, or would be.

    Attributes:
        package: what was published.
        repo, endpoint, account: where and as whom.
        state: the repository before.
        private: whether only some may see it.
        changes: of its main branch.
        commit: that was tagged; None after a dry run.
        fingerprint: as it was read back at this commit; None after a dry run.
    """

    package: Package
    repo: str
    endpoint: str
    account: str
    state: State = field(repr=False)
    private: bool
    changes: Changes = field(repr=False)
    commit: str | None = None
    fingerprint: str | None = None

    @property
    def load_line(self) -> str | None:
        """Python that loads what was published."""
        if self.commit is None:
            return None
        return f'load_dataset("{self.repo}", revision="{self.commit}")'

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON."""
        manifest = self.package.manifest
        return {
            "folder": str(self.package.folder),
            "name": self.package.name,
            "version": manifest["version"],
            "repo": self.repo,
            "endpoint": self.endpoint,
            "account": self.account,
            "created": not self.state.exists,
            "private": self.private,
            "tag": self.package.tag,
            "dry_run": self.commit is None,
            "commit": self.commit,
            "commit_before": self.state.commit,
            "package_fingerprint": self.package.fingerprint,
            "fingerprint": self.fingerprint,
            "review": manifest["review"]["state"],
            "verify": manifest["generation"]["verify"],
            "notes": self.package.notes,
            "load": self.load_line,
            **self.changes.as_dict(),
        }


def publish(
    folder: Path,
    repo: str,
    options: Options | None = None,
    *,
    say: Say = print,
    plan: Callable[[Report], object] | None = None,
    progress: Progress | None = None,
    backoff: Backoff | None = None,
) -> Report:
    """Make a dataset repository hold a package, read it back, and tag it.

    The tag comes last: a version that is there was read back, and has this fingerprint. A run that
    was ended goes on with the same call.

    Args:
        folder: what ``assay generate package`` made.
        repo: ``owner/name``.
        options: how.
        say: told what is done, a line each.
        plan: called with the report of what is about to be changed, before it is.
        progress: called with (what, done, total).
        backoff: of failed requests.

    Raises:
        UserError: before anything is sent: a package that may not be published, no token, a
            version that exists, or a repository of something else.
        CheckFailed: the network failed for long, or what was published reads back otherwise.
    """
    options = options or Options()
    endpoint = endpoint_now()
    check_repo_id(repo)
    package = open_package(folder, endpoint, version=options.version, progress=progress)
    retry = Retry(command(folder, repo, options), say, backoff)
    with quiet():
        place = Repository(repo, endpoint, retry)
        account = place.log_in()
        state = place.look()
        changes = compare(package.files, state.files)
        _check_state(package, repo, options, state, changes)
        private = state.private if state.exists else options.private
        report = Report(package, repo, endpoint, account, state, private, changes)
        if plan is not None:
            plan(report)
        if options.dry_run:
            return report
        check_space(package.bytes)
        commit = _upload(place, package, state, changes, options, say)
        found = _confirmed(place, package, commit, endpoint, say)
        place.tag(package.tag, commit, f"{package.name}, fingerprint {package.fingerprint}")
    return Report(package, repo, endpoint, account, state, private, changes, commit, found)


def command(folder: Path, repo: str, options: Options) -> str:
    """What to type to publish, or to go on with it."""
    words = ["assay", "generate", "publish", str(folder), "--repo", repo]
    words += [] if options.version is None else ["--version", options.version]
    words += ["--private"] if options.private else []
    return shlex.join(words)


def _check_state(
    package: Package, repo: str, options: Options, state: State, changes: Changes
) -> None:
    tag = package.tag
    if tag in state.tags:
        commit = state.tags[tag]
        here = state.commit == commit and not changes
        about = "and holds this very package" if here else "and versions do not change"
        how = f'load_dataset("{repo}", revision="{commit}")' if here else "package another version"
        raise UserError(f"{repo} {tag} exists, commit {commit}, {about}; {how}")
    if tag in state.branches:
        raise UserError(f"{repo} has a branch {tag}, so no tag can be called that; delete it")
    held = None if state.holds is None else state.holds.get("name")
    if not state.is_new and held != package.name:
        raise UserError(
            f"{repo} holds something else than a package of {package.name}"
            + (f" (one of {held[:63]})" if held else "")
            + ", which would be deleted; choose another --repo"
        )
    if options.private and state.exists and not state.private:
        raise UserError(
            f"{repo} is there and public; --private is for one that is made, change it on its page"
        )


def _upload(
    place: Repository,
    package: Package,
    state: State,
    changes: Changes,
    options: Options,
    say: Say,
) -> str:
    """Make the main branch hold the package; its commit."""
    if not state.exists:
        say(f"creating {place.repo}")
        place.create(options.private)
        state = place.look()
        changes = compare(package.files, state.files)
    if not changes:
        assert state.commit is not None
        say(f"{BRANCH} of {place.repo} holds all files")
        return state.commit
    return place.send(package, changes, state.commit, say)


def _confirmed(place: Repository, package: Package, commit: str, endpoint: str, say: Say) -> str:
    """The fingerprint read back, known to be the package's."""
    there = place.retry(f"looking at {place.repo}", lambda: place.files(commit))
    if differing := compare(package.files, there):
        names = ", ".join(each.path for each in (*differing.sent, *differing.deleted)[:3])
        raise CheckFailed(
            f"{place.repo} at {commit} is not as the package: {shown(names)}; no version "
            f"was tagged, go on with: {place.retry.again}"
        )
    say(f"reading {place.repo} back at {commit}")
    found = read_back(place.repo, commit, endpoint, place.retry)
    if found != package.fingerprint:
        raise CheckFailed(
            f"{place.repo} at {commit} reads back with fingerprint {found}, the package has "
            f"{package.fingerprint}; no version was tagged"
        )
    return found
