"""Reading result records and the gate file, checked before anything is shown."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import schemas
from benchmark.errors import UserError
from leaderboard.reading.concepts import Concepts

if TYPE_CHECKING:
    from leaderboard.reading.judgements import Judgement

MAX_BYTES = 32 * 2**20

DAME = "dame/"
"""What the key of a judge's DAME begins with; the judge's name follows."""


@dataclass(frozen=True)
class Score:
    """One number of a record: value, 95 % interval, count and why it may be missing."""

    value: float | None
    ci95: tuple[float, float] | None
    n: int
    not_applicable: Mapping[str, int]

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "Score":
        bounds = document["ci95"]
        return cls(
            value=document["value"],
            ci95=(bounds[0], bounds[1]) if bounds is not None else None,
            n=document["n"],
            not_applicable=document["not_applicable"],
        )

    @property
    def low(self) -> float | None:
        """Lower end of the interval; the value itself where there is none."""
        return self.ci95[0] if self.ci95 else self.value

    @property
    def high(self) -> float | None:
        """Upper end of the interval; the value itself where there is none."""
        return self.ci95[1] if self.ci95 else self.value


BULKY = ("per_concept", "pair_examples")
"""Parts that no board needs: thousands of whole records do not fit in memory."""


@dataclass(frozen=True)
class Slim:
    """What stands for a record's bulky parts.

    Attributes:
        sha256: of the whole record's file on the site.
        packed: its per-concept numbers, read when they are wanted.
    """

    sha256: str
    packed: Callable[[], bytes]


@dataclass(frozen=True)
class Named:
    """A valid result record of an SAE or a generator, and what it is called.

    Attributes:
        document: its JSON.
        file: where it came from.
        called: name of its submission, which may have changed since; None where it lies alone.
    """

    document: Mapping[str, Any]
    file: Path
    called: str | None = field(default=None, kw_only=True)

    @property
    def id(self) -> str:
        return str(self.document["submission"]["id"])

    @property
    def name(self) -> str:
        """What it is called everywhere on the site."""
        return str(self.called or self.document["submission"]["name"])


@dataclass(frozen=True)
class Record(Named):
    """A valid result record of an SAE.

    Attributes:
        document: without ``per_concept`` and ``pair_examples`` where it is ``slim``.
        judged: the judgement documents that belong to it, by judge.
        slim: what stands for the parts that are left out; None where nothing is.
    """

    judged: Mapping[str, "Judgement"] = field(default_factory=dict)
    slim: "Slim | None" = None

    @cached_property
    def text(self) -> str:
        """The whole record in the fewest bytes, whatever the layout of its file."""
        if self.slim is not None:
            raise ValueError(f"{self.file}: the record is not whole")
        return compact(self.document)

    @cached_property
    def sha256(self) -> str:
        """Of the record's file on the site."""
        return self.slim.sha256 if self.slim else hashlib.sha256(self.text.encode()).hexdigest()

    @cached_property
    def concepts(self) -> Concepts:
        """Its per-concept numbers."""
        if self.slim is not None:
            return Concepts.read(self.slim.packed())
        return Concepts.of(self.document["per_concept"])

    @property
    def architecture(self) -> str:
        return str(self.document["submission"]["architecture"])

    @property
    def d_sae(self) -> int:
        return int(self.document["submission"]["d_sae"])

    @property
    def seed(self) -> int | None:
        seed = self.document["submission"].get("seed")
        return None if seed is None else int(seed)

    @property
    def judges(self) -> list[str]:
        """Names of the judges that gave it a DAME, sorted."""
        return sorted({*self.document["scores"].get("dame", {}), *self.judged})

    def score(self, key: str) -> Score | None:
        """The score called ``key``, or None where it was not measured.

        ``dame/JUDGE`` is the DAME of one judge, from the judgement document where the record does
        not carry it.
        """
        if key not in self._read:
            found = _score(self.document["scores"], key)
            judgement = self.judged.get(key.removeprefix(DAME)) if key.startswith(DAME) else None
            self._read[key] = judgement.dame if found is None and judgement else found
        return self._read[key]

    @cached_property
    def _read(self) -> dict[str, Score | None]:
        """Scores that were asked for already."""
        return {}

    def baseline(self, name: str, key: str) -> Score | None:
        """The same score of the baseline ``name`` ("untrained" or "random_codes")."""
        return _score(self.document["baselines"].get(name, {}), key)

    def bound(self, name: str) -> Score | None:
        """The bound ``name`` ("prevalence" or "linear_probe") on MATCHScore."""
        return _score(self.document.get("bounds", {}), name)


@dataclass(frozen=True)
class GateRow:
    """One comparison of the gate: an architecture on one score."""

    architecture: str
    metric: str
    trained: Score
    untrained: Score
    trained_seeds: tuple[float, ...]
    untrained_seeds: tuple[float, ...]
    passed: bool


@dataclass(frozen=True)
class Gate:
    """Trained SAEs against their untrained twins at one dictionary size."""

    d_sae: int
    passed: bool
    rows: tuple[GateRow, ...]


@dataclass(frozen=True)
class SanityRow:
    """One metric of the sanity check; ``values`` by configuration, each by kind."""

    metric: str
    own: bool
    means: Mapping[str, Score]
    passed: bool
    values: tuple[Mapping[str, float | None], ...]


@dataclass(frozen=True)
class Sanity:
    """The sanity check: which metrics tell trained SAEs from untrained twins and from chance."""

    document: Mapping[str, Any]
    rows: tuple[SanityRow, ...]


SANITY_KINDS = ("trained", "untrained", "random_codes")


def load_records(folder: Path) -> tuple[Record, ...]:
    """All records in ``folder`` and below, ordered by SAE id, then by content.

    Raises ``UserError`` naming the file and every fault in it; also where the folder holds none.
    """
    records = [Record(read(path, "result-sae"), path) for path in record_files(folder)]
    # Not by file name: a record moved to another file must not change a page.
    return tuple(sorted(records, key=lambda record: (record.id, record.sha256)))


def record_files(folder: Path) -> list[Path]:
    """Every record file in ``folder`` and below; a ``UserError`` where there is none."""
    files = sorted(path for path in folder.rglob("*.json") if not path.name.startswith("."))
    if not files:
        raise UserError(
            f"no result records (*.json) in {folder}; make some with `assay demo` "
            f"or `assay score SAE --dataset NAME --out {folder}/ID.json`"
        )
    return files


def load_gate(path: Path) -> Gate:
    """The gate file; ``UserError`` where it is absent or breaks its schema."""
    document = read(path, "gate")
    rows = tuple(
        GateRow(
            architecture=row["architecture"],
            metric=row["metric"],
            trained=Score.read(row["trained"]),
            untrained=Score.read(row["untrained"]),
            trained_seeds=tuple(row["trained_seeds"]),
            untrained_seeds=tuple(row["untrained_seeds"]),
            passed=row["passed"],
        )
        for row in document["rows"]
    )
    return Gate(d_sae=document["d_sae"], passed=document["passed"], rows=rows)


def load_sanity(path: Path) -> Sanity:
    """The sanity file; ``UserError`` where it is absent or breaks its schema."""
    document = read(path, "sanity")
    expected = len(document["configurations"])
    for row in document["rows"]:
        if len(row["values"]) != expected:
            raise UserError(
                f"{path}: {row['metric']} has {len(row['values'])} values for {expected} "
                "configurations; write the file again with: assay sanity"
            )
    rows = tuple(
        SanityRow(
            metric=row["metric"],
            own=row["own"],
            means={kind: Score.read(row[kind]) for kind in SANITY_KINDS},
            passed=row["passed"],
            values=tuple(row["values"]),
        )
        for row in document["rows"]
    )
    return Sanity(document, rows)


def compact(document: Mapping[str, Any]) -> str:
    """A document in the fewest bytes: sorted keys, no space, final line feed."""
    text = json.dumps(
        document, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return text + "\n"


def _score(scores: Mapping[str, Any], key: str) -> Score | None:
    if key.startswith(DAME):
        scores, key = scores.get("dame", {}), key.removeprefix(DAME)
    return Score.read(scores[key]) if key in scores else None


def read(path: Path, schema: str) -> Mapping[str, Any]:
    """The document in a file, checked against a schema; ``UserError`` naming every fault."""
    return parse(path, read_bytes(path), schema)


def read_bytes(path: Path) -> bytes:
    """The content of a file that is not too large; ``UserError`` where it cannot be read."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _refused(path, f"larger than {MAX_BYTES >> 20} MiB")
        return path.read_bytes()
    except OSError as error:
        raise _refused(path, f"cannot be read ({error.strerror})") from error


def parse(path: Path, data: bytes, schema: str) -> Mapping[str, Any]:
    """The document in the content of the file ``path``, checked against a schema."""
    try:
        document = json.loads(data.decode())
    except UnicodeDecodeError as error:
        raise _refused(path, f"not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _refused(path, f"not JSON: {error.msg} at {place}") from error
    except (RecursionError, ValueError) as error:
        raise _refused(path, f"not JSON that can be read: {type(error).__name__}") from error
    try:
        schemas.validate(schema, document)
    except schemas.SchemaError as error:
        raise UserError(f"{path}: {error}") from error
    result: Mapping[str, Any] = document
    return result


def _refused(path: Path, problem: str) -> UserError:
    return UserError(f"{path}: {problem}; write the file again or remove it")
