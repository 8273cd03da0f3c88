"""Rules over results: where they lie, whose they are, and that their means follow from rows."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmark.names import slug
from benchmark.submissions.documents import RESULTS, Result, Submission, named, result_files
from benchmark.submissions.folders import Entry, entries, odd_entries
from benchmark.submissions.ids import PLACE
from benchmark.submissions.problems import Problem, problem
from benchmark.submissions.recompute import mean_problems

_MOST_ENTRIES = 1000
_BY_SUITE = "results are written by assay submit score --record alone"


def layout_problems(folder: Path) -> Iterator[Problem]:
    """Names under results/ that are no place, no version, or leave a gap."""
    root = folder / RESULTS
    yield from odd_entries(entries(root))
    for place in entries(root):
        if place.is_file or (place.is_folder and not PLACE.fullmatch(place.path.name)):
            yield problem(named(place.path), "", place.path.name, "a folder DATASET", _BY_SUITE)
        elif place.is_folder:
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


def _versions(place: Entry) -> Iterator[Problem]:
    found = entries(place.path)
    if len(found) > _MOST_ENTRIES:
        yield problem(
            named(place.path), "", f"{len(found)} entries", f"at most {_MOST_ENTRIES}", _BY_SUITE
        )
        return
    yield from odd_entries(found)
    for entry in found:
        if entry.is_folder or (
            entry.is_file and not re.fullmatch(r"[1-9][0-9]{0,5}\.json", entry.path.name)
        ):
            yield problem(named(entry.path), "", entry.path.name, "VERSION.json", _BY_SUITE)


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
            yield problem(where, "$.submission.id", who["id"], folder.name, _BY_SUITE)
        if (place := place_of(record)) != result.place:
            yield problem(where, "", f"in {result.place}", f"in {place}", _BY_SUITE)
        if kind == "saes":
            yield from _sizes(who, document.get("sae", {}), where)
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


def _sizes(who: Mapping[str, Any], sae: Mapping[str, Any], where: str) -> Iterator[Problem]:
    for key in ("d_in", "d_sae"):
        if key in sae and who[key] != sae[key]:
            yield problem(where, f"$.submission.{key}", who[key], str(sae[key]), _BY_SUITE)


def current_fingerprints(
    submissions: Iterable[Submission],
) -> dict[tuple[str, str], tuple[str, ...]]:
    """Kind and place → fingerprints of the data that was measured there last."""
    newest: dict[tuple[str, str], tuple[datetime, tuple[str, ...]]] = {}
    for submission in submissions:
        for result in submission.results:
            at = datetime.fromisoformat(result.document["timing"]["measured_at"])
            found = (at, fingerprints(result.document))
            key = (submission.kind, result.place)
            newest[key] = max(newest.get(key, found), found)
    return {key: found for key, (_, found) in newest.items()}


def fingerprints(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Fingerprint of the scored data, and of the pairs' dataset where that is another one."""
    blocks = (record.get("dataset") or record["real"], record.get("pairs_dataset"))
    return tuple(block["fingerprint"] for block in blocks if block)


def older_data(
    submission: Submission, current: Mapping[tuple[str, str], tuple[str, ...]]
) -> list[Result]:
    """Newest results of a submission that were measured on another version of their data."""
    return [
        result
        for result in submission.newest().values()
        if fingerprints(result.document) != current[submission.kind, result.place]
    ]
