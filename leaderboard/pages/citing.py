"""Citations of measured numbers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmark.latex import ESCAPES
from benchmark.states import measured_at
from leaderboard.definitions import INTERVAL, SPREAD
from leaderboard.numbers import visible
from leaderboard.ranking.boards import Board
from leaderboard.ranking.entries import Entry
from leaderboard.ranking.generator_boards import GeneratorBoard, GeneratorEntry

HEADLINES = {
    "saes": ("delta_match_score", "match_score", "tapa_score"),
    "generators": ("sad", "pad", "r_sad"),
}
SUITE = "The Assay authors"
TITLE = "Assay leaderboard"
LONGEST = 300
"""Characters of a name in a citation."""


@dataclass(frozen=True)
class Permalink:
    """Where a release holds a number for good; ``root`` is the release's own, "r/2026.1/"."""

    release: str
    date: str
    root: str
    path: str


@dataclass(frozen=True)
class Citing:
    """What citations need beside the number.

    Attributes:
        base_url: address of the site's root, ending in "/"; None where it is not known.
        permalinks: record's hash → where a release holds it.
        inside: the release that the pages belong to; None on the newest pages.
    """

    base_url: str | None = None
    permalinks: Mapping[str, Permalink] = field(default_factory=dict)
    inside: str | None = None


@dataclass(frozen=True)
class Citation:
    """One number, ready to be cited.

    Attributes:
        text: one sentence with the number and what identifies it.
        bibtex: an entry that LaTeX can set.
        apa: a reference in APA style.
        csl: a CSL-JSON array of one item.
        permalink: as it is shown, a whole address where the site's is known; None where no
            release holds this number.
        badge: path of the badge from the site's root.
        markdown: the badge as a link to the entry; None where the site's address is not known.
    """

    text: str
    bibtex: str
    apa: str
    csl: str
    permalink: str | None
    badge: str
    markdown: str | None = None
    _target: str = ""

    def href(self, root: str) -> str:
        """The permalink as a link from a page whose root is ``root``."""
        return root + self._target


def kind_of(board: Board | GeneratorBoard) -> str:
    """ "saes" or "generators"."""
    return "saes" if isinstance(board, Board) else "generators"


def page_path(board: Board | GeneratorBoard, entry: Entry | GeneratorEntry) -> str:
    """The section of an entry's page that belongs to a board, from the site's root."""
    return f"{kind_of(board)}/{entry.record.id}.html#{board.slug}"


def badge_path(board: Board | GeneratorBoard, entry: Entry | GeneratorEntry) -> str:
    """The entry's badge, from the site's root."""
    return f"badges/{entry.record.id}.{board.slug}.svg"


def cite(board: Board | GeneratorBoard, entry: Entry | GeneratorEntry, citing: Citing) -> Citation:
    """How to cite the numbers of ``entry`` on ``board``."""
    link = citing.permalinks.get(entry.record.sha256)
    facts = _Facts.of(board, entry, link, citing.base_url)
    target = "" if link is None else link.path if citing.inside else link.root + link.path
    return Citation(
        text=_text(facts),
        bibtex=_bibtex(facts),
        apa=_apa(facts),
        csl=_csl(facts),
        permalink=None if link is None else facts.url,
        badge=badge_path(board, entry),
        markdown=_markdown(board, entry, citing),
        _target=target,
    )


def _markdown(
    board: Board | GeneratorBoard, entry: Entry | GeneratorEntry, citing: Citing
) -> str | None:
    if citing.base_url is None:
        return None
    root = citing.base_url + (f"r/{citing.inside}/" if citing.inside else "")
    picture, page = root + badge_path(board, entry), root + page_path(board, entry)
    return f"[![Assay: {entry.record.id}]({picture})]({page})"


def headline(entry: Entry | GeneratorEntry, board: Board | GeneratorBoard) -> list[str]:
    """The headline numbers, each with its name and interval, as they stand on the board."""
    shown = []
    columns = {column.key: column for column in board.columns}
    for key in HEADLINES[kind_of(board)]:
        cell, column = entry.cells[key], columns[key]
        if cell.value is not None:
            named = ", spread" if column.ends == SPREAD else ""
            ends = f"{named} {cell.interval}" if cell.interval else ""
            shown.append(f"{column.head} {cell.text}{ends}")
    return shown


@dataclass(frozen=True)
class _Facts:
    """What every style of citation says."""

    key: str
    authors: tuple[str, ...]
    name: str
    id: str
    kind: str
    board: str
    numbers: str
    ends: str
    data: str
    suite: str
    day: tuple[int, int, int]
    record: str
    release: str | None
    url: str | None

    @classmethod
    def of(
        cls,
        board: Board | GeneratorBoard,
        entry: Entry | GeneratorEntry,
        link: Permalink | None,
        base_url: str | None,
    ) -> "_Facts":
        record, submission = entry.record, entry.submission
        document = record.document
        dataset = document.get("dataset") or document["real"]
        day = measured_at(document)
        names = [] if submission is None else [_plain(a["name"]) for a in submission.authors]
        url: str | None
        if link is not None:
            url = (base_url or "") + link.root + link.path
        else:
            url = None if base_url is None else base_url + page_path(board, entry)
        return cls(
            key=f"assay-{record.id.removeprefix('assay-')}-{board.slug.rpartition('-')[2]}",
            authors=tuple(names) or (SUITE,),
            name=_plain(record.name if submission is None else submission.name),
            id=record.id,
            kind="sparse autoencoder" if kind_of(board) == "saes" else "image generator",
            board=_plain(board.title),
            numbers="; ".join(headline(entry, board)) or "no headline score",
            ends=f"{INTERVAL if kind_of(board) == 'saes' else SPREAD}s",
            data=(
                f"{_plain(dataset['name'])} revision {_plain(dataset['revision'])}, fingerprint "
                f"{dataset['fingerprint'][:16]}, protocol {document['protocol']['version']}"
            ),
            suite=_plain(document["environment"]["suite_version"]),
            day=(day.year, day.month, day.day),
            record=record.sha256[:16],
            release=None if link is None else link.release,
            url=url,
        )

    @property
    def place(self) -> str:
        return TITLE if self.release is None else f"{TITLE}, release {self.release}"

    @property
    def note(self) -> str:
        return (
            f"{self.numbers} ({self.ends}). Assay {self.suite}, {self.data}. Record {self.record}"
        )


def _plain(text: Any) -> str:
    """One line of visible text of bounded length."""
    whole = " ".join(visible(str(text)[:LONGEST]).split())
    return whole if len(str(text)) <= LONGEST else whole + "…"


def _text(facts: _Facts) -> str:
    end = f" {facts.url}" if facts.url else ""
    return (
        f"{facts.name} ({facts.id}) on {facts.board}: {facts.numbers} ({facts.ends}). "
        f"{facts.place}, Assay {facts.suite}, measured {_iso(facts.day)} on {facts.data}. "
        f"Record {facts.record}.{end}"
    )


def _apa(facts: _Facts) -> str:
    end = f" {facts.url}" if facts.url else ""
    by = _list(facts.authors)
    numbers = facts.numbers.replace("[", "(").replace("]", ")")  # brackets hold them already
    return (
        f"{by}{'' if by.endswith('.') else '.'} ({facts.day[0]}). {facts.name} on {facts.board} "
        f"[Measurement of a {facts.kind}: {numbers}]. {facts.place}.{end}"
    ).replace("of a image", "of an image")


def _list(names: Sequence[str]) -> str:
    """Names as APA lists them: up to 20 all, of more the first 19 and the last."""
    if len(names) > 20:
        return f"{', '.join(names[:19])}, . . . {names[-1]}"
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])}, & {names[-1]}"


def _bibtex(facts: _Facts) -> str:
    rows = {
        "author": " and ".join(f"{{{latex(name)}}}" for name in facts.authors),
        "title": f"{{{latex(facts.name)} on {latex(facts.board)}}}",
        "year": str(facts.day[0]),
        "howpublished": latex(facts.place),
        "note": latex(facts.note),
    }
    if facts.url:
        rows["url"] = facts.url
    fields = ",\n".join(f"  {name} = {{{value}}}" for name, value in rows.items())
    return f"@misc{{{facts.key},\n{fields}\n}}\n"


_LATEX = str.maketrans(ESCAPES | {
    # not a backslash and the brace: BibTeX would count it
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "×": r"$\times$",
    "–": "--",
    "…": r"\ldots{}",
})  # fmt: skip


def latex(text: str) -> str:
    """Text that LaTeX sets as it stands; characters it does not know stay for a UTF-8 engine."""
    return text.translate(_LATEX)


def _csl(facts: _Facts) -> str:
    item: dict[str, Any] = {
        "id": facts.key,
        "type": "dataset",
        "title": f"{facts.name} on {facts.board}",
        "author": [{"literal": name} for name in facts.authors],
        "issued": {"date-parts": [list(facts.day)]},
        "container-title": facts.place,
        "publisher": "Assay",
        "version": facts.suite,
        "note": facts.note,
    }
    if facts.url:
        item["URL"] = facts.url
    return json.dumps([item], ensure_ascii=False, indent=1, sort_keys=True)


def _iso(day: tuple[int, int, int]) -> str:
    return "{:04d}-{:02d}-{:02d}".format(*day)
