"""Reading judgement documents, and finding the record that each belongs to."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.names import slug
from leaderboard.reading.records import DAME, Record, Score, read

Key = tuple[str, str, str, str | None]


@dataclass(frozen=True)
class Judgement:
    """A valid judgement document: what one judge made of one SAE's latents."""

    document: Mapping[str, Any]
    file: Path

    @property
    def judge(self) -> str:
        return str(self.document["judge"]["name"])

    @property
    def dame(self) -> Score:
        return Score.read(self.document["scores"]["dame"])

    @property
    def is_text(self) -> bool:
        """Whether its examples are token contexts rather than pictures."""
        return bool(self.document["protocol"]["kind"] == "text")

    @cached_property
    def text(self) -> str:
        """The document in the fewest bytes, whatever the layout of its file."""
        return json.dumps(
            self.document,
            sort_keys=True,
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
        )

    @cached_property
    def path(self) -> str:
        """Where the site holds it, under a name made of its content."""
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:12]
        name = f"{self.document['submission']['id']}.{judge_slug(self.judge)}.{digest}.json"
        return f"judgements/{name}"


def judge_slug(judge: str) -> str:
    """A judge's name for file names and anchors; different names never share one."""
    plain = slug(judge, 40)
    if plain == judge:
        return plain
    digest = hashlib.sha256(judge.encode()).hexdigest()[:8]
    return "-".join(filter(None, (plain, digest)))


def load_judgements(folder: Path) -> tuple[Judgement, ...]:
    """All judgement documents in ``folder`` and below, ordered by SAE id, judge, then content.

    Raises ``UserError`` naming the file and every fault in it; also where the folder holds none.
    """
    files = sorted(path for path in folder.rglob("*.json") if not path.name.startswith("."))
    if not files:
        raise UserError(
            f"no judgements (*.json) in {folder}; make some with `assay judge SAE --judge NAME`"
        )
    found = [Judgement(read(path, "judge"), path) for path in files]
    for judgement in found:
        _check(judgement)
    return tuple(
        sorted(found, key=lambda each: (each.document["submission"]["id"], each.judge, each.text))
    )


def attach(
    records: Sequence[Record], judgements: Sequence[Judgement]
) -> tuple[tuple[Record, ...], tuple[Judgement, ...]]:
    """Records with their judgements, and the judgements that belong to none.

    One belongs to every record of its SAE (by id, and by weights where both state them), data (by
    fingerprint) and encoder.

    Raises:
        UserError: two documents of one judge for a record, or a record that carries another DAME
            of that judge than the document.
    """
    by_key: dict[Key, list[Judgement]] = {}
    for judgement in judgements:
        by_key.setdefault(_key(judgement.document), []).append(judgement)
    used: set[Path] = set()
    joined = []
    for record in records:
        own: dict[str, Judgement] = {}
        for judgement in by_key.get(_key(record.document), []):
            if not _same_weights(record, judgement):
                continue
            if twin := own.get(judgement.judge):
                raise UserError(
                    f"{judgement.file}: SAE {record.id!r} is already judged by "
                    f"{judgement.judge!r} in {twin.file}; keep one of the two"
                )
            _check_same(record, judgement)
            own[judgement.judge] = judgement
            used.add(judgement.file)
        joined.append(dataclasses.replace(record, judged=own) if own else record)
    return tuple(joined), tuple(each for each in judgements if each.file not in used)


def _key(document: Mapping[str, Any]) -> Key:
    encoder = document["encoder"]
    return (
        str(document["submission"]["id"]),
        str(document["dataset"]["fingerprint"]),
        str(encoder["name"]),
        encoder["weights_sha256"],
    )


def _same_weights(record: Record, judgement: Judgement) -> bool:
    one, other = (of.document["submission"].get("weights_sha256") for of in (record, judgement))
    return one is None or other is None or one == other


def _check_same(record: Record, judgement: Judgement) -> None:
    carried = record.score(DAME + judgement.judge)
    if carried is not None and carried != judgement.dame:
        raise UserError(
            f"{judgement.file}: DAME {judgement.dame.value} by {judgement.judge!r}, but "
            f"{record.file} carries {carried.value}; write the record again from this judgement, "
            "or remove one of the two"
        )


def _check(judgement: Judgement) -> None:
    """What the schema cannot say: the parts of a document agree with each other."""
    document = judgement.document
    if [quartile["quartile"] for quartile in document["quartiles"]] != [1, 2, 3, 4]:
        raise _contradiction(judgement, "quartiles are not 1, 2, 3, 4")
    if len({latent["latent"] for latent in document["latents"]}) < len(document["latents"]):
        raise _contradiction(judgement, "a latent stands there twice")
    contexts = document.get("contexts", {}) if judgement.is_text else None
    for latent in document["latents"]:
        trials, here = latent["trials"], f"latent {latent['latent']}"
        if any(trial["correct"] != (trial["answer"] == trial["truth"]) for trial in trials):
            raise _contradiction(judgement, f"{here} has a trial whose correct is not its answer's")
        if abs(sum(trial["correct"] for trial in trials) / len(trials) - latent["score"]) > 1e-9:
            raise _contradiction(judgement, f"{here} has a score that is not its trials'")
        for name in latent["strongest"] + [n for trial in trials for n in trial["shown"]]:
            if contexts is not None and name not in contexts:
                raise _contradiction(judgement, f"{here} shows {name!r}, which has no context")


def _contradiction(judgement: Judgement, problem: str) -> UserError:
    return UserError(f"{judgement.file}: {problem}; write the file again with `assay judge`")
