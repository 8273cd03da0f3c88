"""Rules over results: where they lie, whose they are, and that their means follow from rows."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.names import slug
from benchmark.states import State, newest_states, state_of
from benchmark.submissions.documents import RESULTS, Result, Submission, named, result_files
from benchmark.submissions.folders import Entry, entries, odd_entries
from benchmark.submissions.ids import PLACE
from benchmark.submissions.problems import Problem, problem
from benchmark.submissions.recompute import mean_problems

_MOST_ENTRIES = 1000
LIBRARIES = ("open_clip", "timm", "transformers")
"""Encoders whose name is followed by a model."""
BY_SUITE = "results are written by assay submit score --record alone"


def layout_problems(folder: Path) -> Iterator[Problem]:
    """Names under results/ that are no place, no version, or leave a gap."""
    root = folder / RESULTS
    yield from odd_entries(entries(root))
    yield from _emptiness(root)
    for place in entries(root):
        if place.is_file or (place.is_folder and not PLACE.fullmatch(place.path.name)):
            yield problem(named(place.path), "", place.path.name, "a folder DATASET", BY_SUITE)
        elif place.is_folder:
            yield from _emptiness(place.path)
            yield from _versions(place)
    numbers: dict[str, list[int]] = {}
    for name, version, _ in result_files(folder):
        numbers.setdefault(name, []).append(version)
    for name, found in numbers.items():
        if found != list(range(1, len(found) + 1)):
            yield problem(
                named(root / name),
                "",
                f"versions {', '.join(map(str, found))}",
                f"1 to {len(found)} without a gap",
                "put back the one that is missing",
            )


def _emptiness(folder: Path) -> Iterator[Problem]:
    """A folder without content, which may be the place of another repository."""
    if folder.is_dir() and not folder.is_symlink() and not entries(folder):
        yield problem(named(folder), "", "an empty folder", "results, or no folder", "delete it")


def _versions(place: Entry) -> Iterator[Problem]:
    found = entries(place.path)
    if len(found) > _MOST_ENTRIES:
        yield problem(
            named(place.path), "", f"{len(found)} entries", f"at most {_MOST_ENTRIES}", BY_SUITE
        )
        return
    yield from odd_entries(found)
    for entry in found:
        if entry.is_folder or (
            entry.is_file and not re.fullmatch(r"[1-9][0-9]{0,5}\.json", entry.path.name)
        ):
            yield problem(named(entry.path), "", entry.path.name, "VERSION.json", BY_SUITE)


def place_of(record: Mapping[str, Any]) -> str:
    """Name of the results folder that a record belongs in."""
    scored = record.get("dataset") or record["real"]
    pairs = record.get("pairs_dataset")
    return slug(scored["name"]) + (f"+{slug(pairs['name'])}" if pairs else "")


def result_problems(
    results: Sequence[Result], document: Mapping[str, Any], folder: Path, kind: str
) -> Iterator[Problem]:
    """Results of one submission that are somebody else's, misplaced, or inconsistent."""
    seen: set[str] = set()
    for result in results:
        where, record = named(result.file), result.document
        who = record["submission"]
        if who["id"] != folder.name:
            yield problem(where, "$.submission.id", who["id"], folder.name, BY_SUITE)
        if (place := place_of(record)) != result.place:
            yield problem(where, "", f"in {result.place}", f"in {place}", BY_SUITE)
        if kind == "saes":
            yield from _described(who, document.get("sae", {}), where)
            yield from _encoder(record["encoder"]["name"], document.get("encoder"), where)
            yield from mean_problems(record, where)
            seen.add(str(who.get("weights_sha256")))
    if len(seen) > 1 or "None" in seen:
        yield problem(
            named(folder / RESULTS),
            "$.submission.weights_sha256",
            ", ".join(sorted(seen)),
            "one hash in all results",
            "submit other weights under another id",
        )


def _described(who: Mapping[str, Any], sae: Mapping[str, Any], where: str) -> Iterator[Problem]:
    for key in ("architecture", "d_in", "d_sae"):
        if key in sae and who[key] != sae[key]:
            yield problem(where, f"$.submission.{key}", who[key], str(sae[key]), BY_SUITE)


def _encoder(recorded: str, declared: str | None, where: str) -> Iterator[Problem]:
    if declared not in (None, "none") and not is_encoder(recorded, str(declared)):
        expected = f"{declared}, the encoder of the submission"
        yield problem(where, "$.encoder.name", recorded, expected, BY_SUITE)


def is_encoder(recorded: str, declared: str) -> bool:
    """Whether a record's encoder is the one that a submission declares.

    A record leaves out a model's owner and revision, the batch, the device, and a token that is
    the model's usual one.
    """
    from benchmark.encoders.choice import parse

    family, _, options = declared.partition(":")
    measured, _, found = recorded.partition(":")
    if family != measured:
        return False
    if not options and not found:
        return True
    takes_model = family in LIBRARIES
    try:
        wanted_model, wanted = parse(family, options, takes_model=takes_model)
        model, choice = parse(family, found, takes_model=takes_model)
    except UserError:
        return False
    place = wanted_model.partition("@")[0].rstrip("/")
    same_model = model == place or place.endswith(f"/{model}")
    same_token = choice.token in (None, wanted.token)
    return (
        same_model
        and same_token
        and (choice.layer, choice.dtype)
        == (
            wanted.layer,
            wanted.dtype,
        )
    )


def current_fingerprints(submissions: Iterable[Submission]) -> dict[tuple[str, str], State]:
    """Kind and place → the state of the data that was measured there last."""
    return newest_states(
        ((submission.kind, result.place), result.document)
        for submission in submissions
        for result in submission.results
    )


def older_data(submission: Submission, current: Mapping[tuple[str, str], State]) -> list[Result]:
    """Newest results of a submission that were measured on another version of their data."""
    return [
        result
        for result in submission.newest().values()
        if state_of(result.document) != current[submission.kind, result.place]
    ]
