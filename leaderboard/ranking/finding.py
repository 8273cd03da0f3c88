"""What stands on the boards: records that lie alone, and those of submissions."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.errors import UserError
from benchmark.states import measured_at, state_of
from leaderboard.building.cache import Cache, key_of
from leaderboard.building.pool import Pool
from leaderboard.definitions import COLUMNS, GENERATOR_COLUMNS
from leaderboard.ranking.boards import board_key
from leaderboard.ranking.entries import Measured, Origin, Past
from leaderboard.ranking.generator_boards import MeasuredGenerator
from leaderboard.ranking.grouping import newest_by_place
from leaderboard.reading.judgements import Judgement, attach
from leaderboard.reading.records import DAME, Record, compact, read_bytes, record_files
from leaderboard.reading.slim import GENERATOR, SAE, AnyRecord, File, hashed, read_slim

if TYPE_CHECKING:
    from benchmark.submissions import Problem, Submission

AnyMeasured = Measured | MeasuredGenerator


@dataclass(frozen=True)
class Found:
    """Records with their origins, ordered by id, then by content.

    ``files``: the file of every record and of every earlier measurement, by the record's hash.
    ``waiting``: submissions that were never measured and not taken back.
    """

    saes: tuple[Measured, ...]
    generators: tuple[MeasuredGenerator, ...]
    files: Mapping[str, File]
    waiting: "tuple[Submission, ...]" = ()


@dataclass(frozen=True)
class _Folder:
    """A submission, and place, version and file of each of its results."""

    submission: "Submission"
    results: tuple[tuple[str, int, Path], ...]


def find(results: Path | None, submissions: Path | None, cache: Cache, pool: Pool) -> Found:
    """Records in ``results`` and below, and those of ``submissions``; either may be None.

    The newest record of a submission at a place counts; earlier ones are its history.

    Raises:
        UserError: naming the file and its faults, or that there is nothing.
    """
    alone = record_files(results) if results is not None else []
    folders = _folders(submissions, cache) if submissions is not None else []
    if not alone and not any(folder.results for folder in folders):
        raise UserError(
            f"no measured submissions in {submissions}; expected folders like "
            f"{submissions}/saes/ID with a submission.json and results/"
        )
    wanted = [(path, SAE) for path in alone]
    for folder in folders:
        schema = SAE if folder.submission.kind == "saes" else GENERATOR
        wanted += [(path, schema) for _, _, path in folder.results]
    files = hashed(wanted)
    records = dict(zip((f.path for f in files), read_slim(files, cache, pool), strict=True))
    measured: list[AnyMeasured] = [_measured(records[path], Origin()) for path in alone]
    for folder in folders:
        measured += _newest(folder, records)
    measured = _with_states(measured, records)
    # Not by file name: a record moved to another file must not change a page.
    measured.sort(key=lambda each: (each.record.id, each.record.sha256))
    return Found(
        tuple(each for each in measured if isinstance(each, Measured)),
        tuple(each for each in measured if isinstance(each, MeasuredGenerator)),
        {records[file.path].sha256: file for file in files},
        tuple(
            folder.submission
            for folder in folders
            if not folder.results and folder.submission.withdrawn is None
        ),
    )


def without_repeats(found: Found) -> tuple[Found, list[tuple[str, str]]]:
    """Without records that lie alone and measure what a submission on their board does.

    Also gives the ids of each and of its submission.
    """
    alone = [each for each in found.saes if each.origin.submission is None]
    submitted = {
        _same(each.record): each.record.id
        for each in found.saes
        if alone and each.origin.submission is not None and not each.origin.withdrawn
    }
    submitted.pop(None, None)
    repeats = {
        each.record.sha256: (each.record.id, submission)
        for each in alone
        if (submission := submitted.get(_same(each.record))) is not None
    }
    kept = (
        each
        for each in found.saes
        if each.origin.submission is not None or each.record.sha256 not in repeats
    )
    return replace(found, saes=tuple(kept)), list(repeats.values())


def _same(record: Record) -> Any:
    """Weights and board of a record; None where its weights are not stated."""
    weights = record.document["submission"].get("weights_sha256")
    return None if weights is None else (weights, board_key(record, state_of(record.document)))


def with_judgements(
    found: Found, judgements: Sequence[Judgement]
) -> tuple[Found, tuple[Judgement, ...]]:
    """SAEs with their judgements, and the judgements that belong to none."""
    records, stray = attach([each.record for each in found.saes], judgements)
    saes = tuple(replace(m, record=r) for m, r in zip(found.saes, records, strict=True))
    return replace(found, saes=saes), stray


def _folders(root: Path, cache: Cache) -> list[_Folder]:
    from benchmark.submissions import KINDS, Problem, Submission
    from benchmark.submissions.documents import result_files, submission_folders
    from benchmark.submissions.problems import refuse

    if not root.is_dir():
        raise UserError(f"no folder {root}; expected one with saes/ and generators/")
    found: list[_Folder] = []
    problems: list[Problem] = []
    for kind in KINDS:
        for folder in submission_folders(root, kind):
            if not folder.is_dir():
                continue  # a read-me beside the folders
            document, faults = _document(folder, kind, cache)
            problems += faults
            if document is not None:
                submission = Submission(kind, folder, document)
                found.append(_Folder(submission, tuple(result_files(folder))))
    refuse(problems)
    return found


def _document(
    folder: Path, kind: str, cache: Cache
) -> tuple[Mapping[str, Any] | None, list["Problem"]]:
    """The document of a submission and its faults; what was found sound is not checked again."""
    from benchmark.submissions.documents import DOCUMENT, read_document
    from benchmark.submissions.reading import MAX_DOCUMENT

    file = folder / DOCUMENT
    plain = file.is_file() and not file.is_symlink() and not folder.is_symlink()
    if not plain or file.stat().st_size > MAX_DOCUMENT:
        return read_document(folder, kind)
    key = key_of([kind, folder.name, hashlib.sha256(read_bytes(file)).hexdigest()])
    if (content := cache.read("submission", key)) is not None:
        return json.loads(content), []
    document, problems = read_document(folder, kind)
    if document is not None:
        cache.write("submission", key, compact(document).encode())
    return document, problems


def _measured(record: AnyRecord, origin: Origin) -> AnyMeasured:
    if isinstance(record, Record):
        return Measured(record, origin)
    return MeasuredGenerator(record, origin)


def _newest(folder: _Folder, records: Mapping[Path, AnyRecord]) -> list[AnyMeasured]:
    from benchmark.submissions import exposure

    submission, found = folder.submission, []
    places = sorted({place for place, _, _ in folder.results})
    for place in places:
        versions = [(v, records[path]) for at, v, path in folder.results if at == place]
        for _, record in versions:
            if record.id != submission.id:
                raise UserError(
                    f"{record.file}: a measurement of {record.id!r} in the folder of "
                    f"{submission.id!r}; move it or measure again with `assay submit score`"
                )
        version, record = versions[-1]
        past = tuple(_past(number, each, place) for number, each in versions[-2::-1])
        origin = Origin(
            submission=submission,
            place=place,
            version=version,
            exposure=exposure(submission.document, record.document),
            history=past,
        )
        found.append(_measured(replace(record, called=submission.name), origin))
    return found


def _past(version: int, record: AnyRecord, place: str) -> Past:
    if isinstance(record, Record):
        keys = [*(c.key for c in COLUMNS), *(DAME + judge for judge in record.judges)]
    else:
        keys = [column.key for column in GENERATOR_COLUMNS]
    return Past(
        version=version,
        date=measured_at(record.document).date().isoformat(),
        older_data=False,
        values={key: score for key in keys if (score := record.score(key)) is not None},
        sha256=record.sha256,
        path=f"records/{record.id}.{place}.{version}.json",
    )


def _with_states(
    measured: Sequence[AnyMeasured], records: Mapping[Path, AnyRecord]
) -> list[AnyMeasured]:
    """The same, with earlier measurements marked that were made on an older state of the data."""
    newest = newest_by_place(measured)
    data = {record.sha256: state_of(record.document) for record in records.values()}
    found: list[AnyMeasured] = []
    for each in measured:
        if each.origin.history:
            now = newest[str(each.origin.place)]
            history = tuple(
                replace(past, older_data=data[past.sha256] != now) for past in each.origin.history
            )
            each = replace(each, origin=replace(each.origin, history=history))
        found.append(each)
    return found
