"""Rules over a change: what a request may do to submissions that are there already."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.files import file_sha256
from benchmark.submissions.documents import DOCUMENT, RESULTS, named
from benchmark.submissions.problems import Problem, problem
from benchmark.submissions.reading import MAX_RESULT
from benchmark.submissions.repository import Subject

_ASK = {
    "authors": "ask those who were named before",
    "sae": "say why; look at where its files lie now",
    "generator": "say why; look at where its files lie now",
    "training_data": "say why; it decides the marks on the board",
    "withdrawn": "ask its authors; it takes the entry off the board for good",
}
_BOARD = ("encoder", "real")
"""What decides the board that an entry is on."""
_DESCRIBED = ("architecture", "d_in", "d_sae")
"""What a document says of its weights."""
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
    """What a reviewer should look at: every part of a document that is not what it was."""
    before = {(each.kind, each.folder.name): each for each in base}
    for new in head:
        old = before.get((new.kind, new.folder.name))
        if old is None or old.faults or new.faults:
            continue
        for key in sorted({*old.document, *new.document}):
            if old.document.get(key) == new.document.get(key):
                continue
            what = "another value than before"
            if key not in old.document or key not in new.document:
                what = "added" if key in new.document else "taken away"
            yield problem(
                named(new.folder / DOCUMENT),
                f"$.{key}",
                what,
                "a change that its authors agree to",
                _ASK.get(key, "say why in the request"),
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
    measured = bool(old.results)
    for name in (key, *(_BOARD if measured else ())):
        was, now = old.document.get(name), new.document.get(name)
        if was is None or now is None:  # absent from this kind, or a fault that is said already
            continue
        if name == key:
            was, now = (_content(block, new.kind, measured) for block in (was, now))
        if was != now:
            yield problem(
                where,
                f"$.{name}",
                "other content than before" if name == key else now,
                f"what {new.folder.name} has always been" if name == key else f"{was}, as before",
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


def _content(block: Mapping[str, Any], kind: str, measured: bool) -> dict[str, Any]:
    """What makes a submission itself; where its files lie and what they are called may change.

    What a first measurement may find to be wrong can be put right until then.
    """
    free = ("files", "hub") if measured else ("files", "hub", *_DESCRIBED)
    content = {name: value for name, value in block.items() if name not in free}
    hashes = [each["sha256"] for each in block.get("files", ())]
    # pictures are numbered through the files in their order
    return {**content, "files": hashes if kind == "generators" else sorted(hashes)}
