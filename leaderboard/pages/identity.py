"""Who and what a submission is: the head of its page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.plots.svg import architecture_label
from leaderboard.text import LONG, cut, orcid_address, web_address

AUTHORS, FILES = 20, 16
"""Authors and files that are listed; the document has all."""

_LINKS = (("paper", "Paper"), ("code", "Code"), ("model", "Model"))


@dataclass(frozen=True)
class Author:
    """A name with the pages it leads to, where it has some."""

    name: str
    orcid: str | None
    url: str | None


@dataclass(frozen=True)
class Training:
    """A dataset that training saw."""

    dataset: str
    splits: str
    revision: str
    note: str


@dataclass(frozen=True)
class Identity:
    """The submission as its own document states it; empty where a bare record has none.

    Attributes:
        facts: label and text of what it is, in the order shown.
        files: name and SHA-256 of every file that is read.
        hub: repository and full commit where they lie, if not in the submission's folder.
        n_authors: all of them, of whom ``authors`` are the first.
        exposure: which score data its training saw, over all boards.
        withdrawn: date and reason where it was taken back.
    """

    kind: str
    id: str
    name: str
    submitted: bool
    facts: tuple[tuple[str, str], ...]
    licence: str
    licence_url: str | None
    authors: tuple[Author, ...]
    n_authors: int
    description: str
    links: tuple[tuple[str, str], ...]
    training: tuple[Training, ...]
    exposure: tuple[str, ...]
    files: tuple[tuple[str, str], ...]
    hub: tuple[str, str] | None
    bibtex: str
    withdrawn: tuple[str, str] | None


def identity(sections: Sequence[Any]) -> Identity:
    """The identity that the ``sections`` of one page share.

    Args:
        sections: at least one object with an ``entry``: a board's entry, with its record and
            submission.
    """
    entry = sections[0].entry
    submission = getattr(entry, "submission", None)
    document: Mapping[str, Any] = {} if submission is None else submission.document
    seen = {part for section in sections for part in getattr(section.entry, "exposure", ())}
    kind = "generators" if "generator" in document or "d_sae" not in _measured(entry) else "saes"
    licence = cut(document.get("licence", ""), 80)
    authors = document.get("authors", ())
    return Identity(
        kind=kind,
        id=entry.record.id,
        name=cut(entry.record.name),
        submitted=submission is not None,
        facts=tuple(_sae_facts(entry) if kind == "saes" else _generator_facts(entry, document)),
        licence=licence,
        licence_url=_licence_url(licence),
        authors=tuple(_author(author) for author in authors[:AUTHORS]),
        n_authors=len(authors),
        description=cut(document.get("description", ""), LONG),
        links=tuple(
            (label, url)
            for key, label in _LINKS
            if (url := web_address(document.get("links", {}).get(key))) is not None
        ),
        training=tuple(_training(part) for part in document.get("training_data", ())[:AUTHORS]),
        exposure=tuple(sorted(seen)),
        files=_files(document),
        hub=_hub(document),
        bibtex=cut(document.get("bibtex", ""), 5 * LONG),
        withdrawn=_withdrawn(entry, document),
    )


def _measured(entry: Any) -> Mapping[str, Any]:
    submission: Mapping[str, Any] = entry.record.document["submission"]
    return submission


def _sae_facts(entry: Any) -> list[tuple[str, str]]:
    own, encoder = _measured(entry), entry.record.document["encoder"]["name"]
    width = own.get("d_in")
    facts = [
        ("Architecture", cut(architecture_label(own["architecture"]), 60)),
        ("Dictionary size", f"{own['d_sae']:,}"),
        ("Reads", f"{'' if width is None else f'{width:,} '}features of {cut(encoder, 60)}"),
    ]
    if own.get("seed") is not None:
        facts.append(("Training seed", str(own["seed"])))
    return facts


def _generator_facts(entry: Any, document: Mapping[str, Any]) -> list[tuple[str, str]]:
    own = _measured(entry)
    facts = [
        ("Kind", "images given" if own.get("kind") == "images" else "model run by the suite"),
        ("Images", f"{own['n']:,}"),
    ]
    if own.get("repo"):
        facts.append(("From", f"{cut(own['repo'], 100)} at {cut(own.get('revision', ''), 12)}"))
    if own.get("pipeline"):
        facts.append(("Pipeline", cut(own["pipeline"], 60)))
    sizes = [own.get(side) for side in ("width", "height")]
    if all(sizes):
        facts.append(("Size, px", " × ".join(_span(size) for size in sizes if size)))
    return facts


def _span(size: Sequence[int]) -> str:
    low, high = size
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def _author(author: Mapping[str, Any]) -> Author:
    orcid = author.get("orcid")
    return Author(
        cut(author["name"]),
        None if orcid is None else orcid_address(orcid),
        web_address(author.get("url")),
    )


def _training(part: Mapping[str, Any]) -> Training:
    return Training(
        dataset=cut(part["dataset"]),
        splits=cut(", ".join(str(split) for split in part["splits"])),
        revision=cut(part.get("revision", ""), 60),
        note=cut(part.get("note", ""), 400).rstrip("."),
    )


def _block(document: Mapping[str, Any]) -> Mapping[str, Any]:
    block: Mapping[str, Any] = document.get("sae") or document.get("generator") or {}
    return block


def _hub(document: Mapping[str, Any]) -> tuple[str, str] | None:
    block = _block(document)
    place = block.get("hub") or (block if "repo" in block else None)
    return None if place is None else (cut(place["repo"]), cut(place["revision"], 60))


def _files(document: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    block = _block(document)
    found = [(cut(each["path"], 100), each["sha256"]) for each in block.get("files", ())[:FILES]]
    return tuple(found)


def _licence_url(licence: str) -> str | None:
    """The SPDX page of a single licence identifier; None for an expression of several."""
    plain = licence.replace("-", "").replace(".", "").isalnum() and licence.isascii()
    return f"https://spdx.org/licenses/{licence}.html" if licence and plain else None


def _withdrawn(entry: Any, document: Mapping[str, Any]) -> tuple[str, str] | None:
    block = getattr(entry, "withdrawn", None) or document.get("withdrawn")
    return None if block is None else (cut(block["date"], 20), cut(block["reason"], 600))
