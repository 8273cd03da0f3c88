"""Rules over a change: what a request may do to submissions that are there already."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.files import file_sha256
from benchmark.submissions.documents import DOCUMENT, RESULTS, named
from benchmark.submissions.problems import Problem, problem
from benchmark.submissions.reading import MAX_RESULT
from benchmark.submissions.repository import Subject

_SUITE = "take it out of the request; results are measured after it is merged"


def change_problems(base: Sequence[Subject], head: Sequence[Subject]) -> Iterator[Problem]:
    """Faults of a request: results touched, submissions deleted, ids taken over.

    Args:
        base: all submissions as they stand.
        head: all submissions as the request would leave them.
    """
    before = {(each.kind, each.folder.name): each for each in base}
    after = {(each.kind, each.folder.name): each for each in head}
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        yield from _results(old, new)
        if old is not None and new is None:
            yield problem(
                "/".join(key),
                "",
                "nothing",
                "the submission that was there",
                'put it back; to take it off the board, add "withdrawn" with date and reason',
            )
        if old is not None and new is not None and old.document and new.document:
            yield from _taken_over(old, new)


def change_notes(base: Sequence[Subject], head: Sequence[Subject]) -> Iterator[Problem]:
    """What a reviewer should look at: declared training data that changed."""
    before = {(each.kind, each.folder.name): each for each in base}
    for new in head:
        old = before.get((new.kind, new.folder.name))
        if old is None or not new.document:
            continue
        parts = old.document.get("training_data"), new.document.get("training_data")
        if old.results and parts[0] != parts[1]:
            yield problem(
                named(new.folder / DOCUMENT),
                "$.training_data",
                "another declaration than before",
                "a reason in the request",
                "say why; it decides the marks on the board",
            )


def _results(old: Subject | None, new: Subject | None) -> Iterator[Problem]:
    was, now = _files(old), _files(new)
    for name in sorted({*was, *now}):
        if was.get(name) == now.get(name) or new is None:
            continue
        what = "removed" if name not in now else "changed" if name in was else "added"
        path = named(new.folder / RESULTS / name)
        yield problem(path, "", f"{what} by the request", "results as they were", _SUITE)


def _files(subject: Subject | None) -> dict[str, str]:
    """Hash of every file under results/ by its name there; links count by their target."""
    if subject is None:
        return {}
    root = subject.folder / RESULTS
    if root.is_symlink():
        return {".": f"link {root.readlink()}"}
    return {path.relative_to(root).as_posix(): _mark(path) for path in _walk(root)}


def _walk(folder: Path) -> Iterator[Path]:
    """Everything below a folder but folders; links are not followed, no depth is too deep."""
    waiting = [folder] if folder.is_dir() else []
    while waiting:
        for path in waiting.pop().iterdir():
            if path.is_dir() and not path.is_symlink():
                waiting.append(path)
            else:
                yield path


def _mark(path: Path) -> str:
    if path.is_symlink():
        return f"link {path.readlink()}"
    if not path.is_file():
        return "no file"
    size = path.stat().st_size  # too large for a result, whatever is in it
    return file_sha256(path) if size <= MAX_RESULT else f"{size} bytes"


def _taken_over(old: Subject, new: Subject) -> Iterator[Problem]:
    where = named(new.folder / DOCUMENT)
    key = "sae" if new.kind == "saes" else "generator"
    if _content(old.document, key) != _content(new.document, key):
        yield problem(
            where,
            f"$.{key}",
            "other content than before",
            f"what {new.folder.name} has always been",
            "hand it in under another id",
        )
    if old.document.get("withdrawn") and not new.document.get("withdrawn"):
        yield problem(
            where,
            "$.withdrawn",
            "nothing",
            "the withdrawal that was there",
            "leave it; a mended entry gets another id",
        )


def _content(document: Mapping[str, Any], key: str) -> Any:
    """What makes a submission itself; where its files lie may change."""
    block = document.get(key, {})
    if block.get("files"):
        return sorted(each["sha256"] for each in block["files"]), block.get("k")
    return {name: value for name, value in block.items() if name != "hub"}
