"""A submission's folder made from an SAE: read what can be read, take the rest from its owner."""

import itertools
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.errors import UserError
from benchmark.files import file_sha256, replacing_dir, write_json
from benchmark.names import ID
from benchmark.submissions.convert import check_size, convert
from benchmark.submissions.documents import DOCUMENT, RESULTS, WEIGHTS, examined
from benchmark.submissions.problems import refuse, visible
from benchmark.submissions.stated import contradictions, stated
from benchmark.submissions.weights import SETTINGS, encoder_problems

if TYPE_CHECKING:
    from benchmark.saes import Sae
    from benchmark.saes.formats.files import SaeFiles

_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,95}")
_HUB = re.compile(r"(?P<repo>[^/@]+/[^/@]+)(?:/(?P<folder>[^@]+))?@(?P<revision>[0-9a-f]{40})")
_AUTHOR = re.compile(r"\s*(?P<name>[^<>]+?)\s*(?:<(?P<more>[^<>]+)>)?\s*")
_ORCID = re.compile(r"(?:https://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])")


@dataclass(frozen=True)
class Answers:
    """What only the owner of an SAE knows; None or () where it is not yet known.

    Attributes:
        id, name, licence, encoder: as in the document.
        authors: each ``NAME``, ``NAME <https://…>`` or ``NAME <ORCID>``.
        trained_on: each ``DATASET:SPLIT[,SPLIT…]``.
    """

    id: str | None = None
    name: str | None = None
    licence: str | None = None
    encoder: str | None = None
    authors: tuple[str, ...] = ()
    trained_on: tuple[str, ...] = ()

    def missing(self) -> list[str]:
        """Names of the fields without an answer."""
        return [name for name in self.__dataclass_fields__ if not getattr(self, name)]


@dataclass(frozen=True)
class Source:
    """An SAE as it was found.

    Attributes:
        sae: as the suite reads it.
        files: where it was read from.
        block: ``sae`` of the document, without ``files``.
    """

    sae: "Sae" = field(repr=False)
    files: "SaeFiles" = field(repr=False)
    block: Mapping[str, Any]


def read_source(text: str, *, k: int | None = None, architecture: str | None = None) -> Source:
    """An SAE by folder, file or Hub ``owner/name[/folder]@revision``; faults as in ``load_sae``."""
    from benchmark.saes import load_sae
    from benchmark.saes.formats.files import open_files
    from benchmark.saes.hub import fetch, is_hub_id

    at_hub = is_hub_id(text)
    place = fetch(text) if at_hub else Path(text)
    try:
        sae = load_sae(place, k=k, architecture=architecture)
    except UserError as error:
        if "no weights here" in str(error) and (inside := _weights_inside(place)):
            raise UserError(
                f"{place}: no weights here, but in {inside}; give that folder"
            ) from None
        raise
    _agree("--architecture", architecture, sae.architecture, place)
    _agree("--k", k, getattr(sae.activation, "k", None), place)
    block: dict[str, Any] = {
        "architecture": sae.architecture,
        "d_in": sae.d_in,
        "d_sae": sae.d_sae,
    }
    if isinstance(found := getattr(sae.activation, "k", k), int):
        block["k"] = found
    if at_hub:
        match = _HUB.fullmatch(text)
        if match is None:
            raise UserError(f"{text}: expected owner/name[/folder]@revision")
        block["hub"] = {key: value for key, value in match.groupdict().items() if value}
    return Source(sae, open_files(place), block)


def _agree(option: str, given: Any, found: Any, place: Path) -> None:
    """Refuse an option that the file has an answer to, and another one."""
    if None not in (given, found) and given != found:
        raise UserError(f"{option} {given}: {place} says {found}; leave {option} out")


def _weights_inside(place: Path) -> str:
    """The folders in ``place`` that hold a file of tensors, at most three; "" if none does."""
    folders = [each for each in itertools.islice(place.iterdir(), 1000) if each.is_dir()]
    found = sorted(str(each) for each in folders if any(map(_is_weights, each.iterdir())))
    return ", ".join(found[:3])


def _is_weights(file: Path) -> bool:
    return file.suffix in (WEIGHTS, ".pt", ".pth", ".npz")


def filled_in(answers: Answers, source: Source) -> Answers:
    """Answers, with what the SAE's own file says where nothing was said."""
    from benchmark.encoders import ENCODERS

    training = source.sae.metadata.get("training")
    training = training if isinstance(training, Mapping) else {}
    found: dict[str, Any] = {}
    encoder, data = training.get("encoder"), training.get("dataset")
    if not answers.encoder and isinstance(encoder, Mapping):
        name = str(encoder.get("name"))
        if name.partition(":")[0] in ENCODERS.entries:
            found["encoder"] = name
    if not answers.trained_on and isinstance(data, Mapping) and "split" in training:
        found["trained_on"] = (f"{data.get('name')}:{training['split']}",)
    return replace(answers, **found)


def make_submission(
    source: Source,
    answers: Answers,
    root: Path,
    *,
    force: bool = False,
    more: Mapping[str, Any] | None = None,
) -> tuple[Path, list[str]]:
    """Write ``root/saes/<id>`` at once.

    Args:
        source: the SAE.
        answers: complete.
        root: folder of all submissions.
        force: replace a folder that is there; one with results never is.
        more: further parts of the document; they go before answers.

    Returns:
        The folder, and what its owner should know, one sentence each.

    Raises:
        UserError: answers that the rules refuse, a folder that is there, or weights too large for
            it. Nothing is written.
    """
    identifier = str(answers.id)
    folder = new_folder(root, "saes", identifier, force=force)
    document = {**_document(source, answers), **(more or {})}
    with replacing_dir(folder) as temporary:
        files, notes = _put_files(source, temporary)
        document["sae"]["files"] = files
        _check(document, identifier, source)
        write_json(temporary / DOCUMENT, document)
    return folder, notes


def new_folder(root: Path, kind: str, identifier: str, *, force: bool) -> Path:
    """Where a new submission goes; refused where that would take something away."""
    if not ID.fullmatch(identifier):
        raise UserError(
            f"id {visible(identifier)!r}: expected lower-case letters, digits and dashes, at most "
            "63, beginning with a letter or digit; choose one with --id"
        )
    folder = root / kind / identifier
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UserError(f"{folder}: is no folder; choose another --id")
    if folder.exists() and not force:
        raise UserError(f"{folder}: is there already; choose another --id or give --force")
    if (folder / RESULTS).exists():
        raise UserError(
            f"{folder}: has results, which stay with their weights; choose another --id"
        )
    return folder


def _document(source: Source, answers: Answers) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "id": answers.id,
        "name": answers.name,
        "authors": [author_of(text) for text in answers.authors],
        "licence": answers.licence,
        "sae": dict(source.block),
        "encoder": answers.encoder,
        "training_data": [training_of(text) for text in answers.trained_on],
    }


def author_of(text: str) -> dict[str, str]:
    """An author from ``NAME``, ``NAME <https://…>`` or ``NAME <ORCID>``."""
    match = _AUTHOR.fullmatch(text)
    if match is None:
        raise UserError(
            f"--author {visible(text)!r}: expected NAME, NAME <https://…> or NAME <ORCID>"
        )
    author = {"name": match["name"]}
    if match["more"] is not None:
        orcid = _ORCID.fullmatch(match["more"].strip())
        author |= {"orcid": orcid[1]} if orcid else {"url": match["more"].strip()}
    return author


def training_of(text: str) -> dict[str, Any]:
    """Training data from ``DATASET:SPLIT[,SPLIT…]``."""
    dataset, _, splits = text.rpartition(":")
    names = [split.strip() for split in splits.split(",")]
    if not dataset.strip() or not all(names):
        raise UserError(
            f"--trained-on {visible(text)!r}: expected DATASET:SPLIT[,SPLIT…], synavatars:match"
        )
    return {"dataset": dataset.strip(), "splits": names}


def _put_files(source: Source, folder: Path) -> tuple[list[dict[str, str]], list[str]]:
    """Copy or convert what is read into ``folder``; what it is called, and notes."""
    weights, settings = source.files.weights, source.files.config_path
    read = [weights] if settings is None else [weights, settings]
    if "hub" in source.block:
        if weights.suffix != WEIGHTS:
            raise UserError(
                f"{weights.name} at {source.block['hub']['repo']}: submissions are safetensors "
                "only; save it so on the Hub, or hand in a small one from a local folder"
            )
        return [{"path": file.name, "sha256": file_sha256(file)} for file in read], []
    notes = []
    if weights.suffix == WEIGHTS:
        size = sum(file.stat().st_size for file in read)
        check_size(size, weights)
        for file in read:
            shutil.copyfile(file, folder / _name(file))
    else:
        form = convert(source, folder)
        notes.append(f"{weights.name} was converted to safetensors, in {form} format")
    names = sorted(item.name for item in folder.iterdir())
    return [{"path": name, "sha256": file_sha256(folder / name)} for name in names], notes


def _name(file: Path) -> str:
    if file.name in SETTINGS or _FILE.fullmatch(file.name):
        return file.name
    return f"sae{WEIGHTS}"


def _check(document: dict[str, Any], identifier: str, source: Source) -> None:
    """Refuse what the rules would refuse."""
    found = list(examined(document, "saes", identifier, DOCUMENT).problems)
    found += encoder_problems(document["encoder"], DOCUMENT)
    if source.files.weights.suffix == WEIGHTS:  # others are written anew, as they were read
        weights = source.files.weights.name
        own = stated(weights, source.files.tensors, source.files.config)
        found += contradictions(document["sae"], own, DOCUMENT)
    refuse(found)
