"""The heavy part of an entry's page: what rests on its own record and submission alone.

Other entries come and go without changing it, so it is made once, in parallel, and kept.
"""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from leaderboard.building.cache import Cache, key_of
from leaderboard.building.pool import Pool
from leaderboard.building.templating import bodies_environment
from leaderboard.definitions import COLUMNS, judge_column
from leaderboard.pages.generator import measure_generator
from leaderboard.pages.pictures import NoPictures, Pictures
from leaderboard.pages.sae import Measurement, measure
from leaderboard.ranking.boards import Board
from leaderboard.ranking.entries import Entry, Origin
from leaderboard.ranking.generator_boards import GeneratorBoard, GeneratorEntry
from leaderboard.reading.generator_records import GeneratorRecord
from leaderboard.reading.records import Record
from leaderboard.reading.slim import AnyRecord, File, whole, whole_text
from leaderboard.views.compare import concept_script

ROOT = "../"
"""From a page of an entry to the site's root."""

AnyBoard = Board | GeneratorBoard
AnyEntry = Entry | GeneratorEntry


_PLAIN = tuple(
    field.name
    for field in dataclasses.fields(Origin)
    if field.name not in ("submission", "history")
)
"""Parts of an origin that are written as JSON as they are."""


@dataclass(frozen=True)
class Body:
    """One body to be made; small, for it goes to other processes.

    Attributes:
        board: without entries: nothing that another entry can change.
        entry: without rank, its record empty.
        key: equal where the finished body is equal.
        record: hash of the whole record.
        no_pictures: why it has none; None where it shows some.
    """

    board: AnyBoard
    entry: AnyEntry
    key: str
    record: str
    file: File
    cache: Cache
    no_pictures: str | None

    @classmethod
    def of(
        cls, board: AnyBoard, entry: AnyEntry, file: File, cache: Cache, pictures: Pictures
    ) -> "Body":
        """The body of ``entry`` on ``board``, whose record is in ``file``."""
        origin, record = entry.origin, entry.record
        document = None if origin.submission is None else origin.submission.document
        rest = {name: getattr(origin, name) for name in _PLAIN}
        rest["history"] = [dataclasses.asdict(past) for past in origin.history]
        judged = record.judged if isinstance(record, Record) else {}
        texts = {name: judgement.path for name, judgement in judged.items()}
        source = record.document.get("pairs_dataset") or record.document.get("dataset")
        why = pictures.why_not(source) if source else "A generator's page shows none."
        key = key_of([board.slug, board.title, record.sha256, document, rest, texts, why])
        return cls(_head(board, entry), _empty(entry), key, record.sha256, file, cache, why)

    @property
    def is_apart(self) -> bool:
        """Whether it is made in this process: with pictures, or with galleries beside it."""
        record = self.entry.record
        return self.no_pictures is None or (isinstance(record, Record) and bool(record.judged))


def make_bodies(bodies: Sequence[Body], pool: Pool) -> None:
    """See that the cache holds every body that other processes may make."""
    pool.map(
        _make,
        [body for body in bodies if not body.is_apart and not body.cache.has("body", body.key)],
    )


def body_of(body: Body, pictures: Pictures) -> str:
    """The finished body, with its pictures in their folder; made now where it is not kept."""
    if body.no_pictures is not None:
        return (body.cache.read("body", body.key) or _make(body)).decode()
    return _kept_with_pictures(body, pictures) or _make_with_pictures(body, pictures)


def script_of(body: Body) -> bytes:
    """What comparing an SAE with others needs of its record; made now where it is not kept."""
    return body.cache.read("script", body.key) or _script(body, whole_record(body))


def record_text(body: Body) -> bytes:
    """The whole record, as the site holds it."""
    return whole_text(body.file, body.record, body.cache)


def whole_record(body: Body) -> AnyRecord:
    """The whole record, with its judgements."""
    return whole(body.entry.record, record_text(body))


def measured(body: Body, pictures: Pictures) -> Measurement:
    """What the body of an SAE shows."""
    record = whole_record(body)
    assert isinstance(body.board, Board)
    assert isinstance(body.entry, Entry)
    assert isinstance(record, Record)
    return measure(body.board, replace(body.entry, record=record), pictures)


def _render(body: Body, record: AnyRecord, pictures: Pictures) -> str:
    environment = bodies_environment(body.cache.templates)
    if isinstance(body.board, GeneratorBoard):
        assert isinstance(body.entry, GeneratorEntry)
        assert isinstance(record, GeneratorRecord)
        generator = measure_generator(body.board, replace(body.entry, record=record))
        template = environment.get_template("generator_measurement.html.j2")
        return template.render(x=generator, root=ROOT)
    assert isinstance(body.entry, Entry)
    assert isinstance(record, Record)
    measurement = measure(body.board, replace(body.entry, record=record), pictures)
    return environment.get_template("measurement.html.j2").render(x=measurement, root=ROOT)


def _make(body: Body) -> bytes:
    record = whole_record(body)
    html = _render(body, record, NoPictures(body.no_pictures or "")).encode()
    body.cache.write("body", body.key, html)
    if isinstance(record, Record):
        body.cache.write("script", body.key, _script(body, record))
    return html


def _make_with_pictures(body: Body, pictures: Pictures) -> str:
    pictures.used.clear()
    html = _render(body, whole_record(body), pictures)
    for name in pictures.used:
        if not body.cache.has("img", name):
            body.cache.write("img", name, (pictures.folder / name).read_bytes())
    kept = {"html": html, "img": sorted(pictures.used)}
    body.cache.write("pictured", body.key, json.dumps(kept).encode())
    return html


def _kept_with_pictures(body: Body, pictures: Pictures) -> str | None:
    content = body.cache.read("pictured", body.key)
    if content is None:
        return None
    kept = json.loads(content)
    for name in kept["img"]:
        if (pictures.folder / name).exists():
            continue
        if (data := body.cache.read("img", name)) is None:
            return None
        pictures.folder.mkdir(exist_ok=True)
        (pictures.folder / name).write_bytes(data)
    html: str = kept["html"]
    return html


def _script(body: Body, record: AnyRecord) -> bytes:
    assert isinstance(body.entry, Entry)
    assert isinstance(record, Record)
    return concept_script(body.board, replace(body.entry, record=record)).encode()


def _head(board: AnyBoard, entry: AnyEntry) -> AnyBoard:
    document = entry.record.document
    if isinstance(board, GeneratorBoard):
        return replace(board.head(), real=document["real"])
    assert isinstance(entry, Entry)
    return replace(
        board.head(),
        columns=(*COLUMNS, *map(judge_column, entry.record.judges)),
        dataset=document["dataset"],
        pairs_dataset=document.get("pairs_dataset"),
        encoder=document["encoder"],
    )


def _empty(entry: AnyEntry) -> AnyEntry:
    if isinstance(entry, GeneratorEntry):
        generator = GeneratorRecord({}, entry.record.file, called=entry.record.called)
        return replace(entry, rank=None, record=generator)
    record = Record({}, entry.record.file, entry.record.judged, called=entry.record.called)
    return replace(entry, rank=None, record=record)
