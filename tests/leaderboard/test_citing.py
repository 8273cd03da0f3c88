"""Citations and badges: complete, escaped for where they stand, and about the right number."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from generator_documents import make_generator
from result_records import make_record, score
from site_submissions import sae_submission

from benchmark.errors import UserError
from benchmark.submissions import Submission
from leaderboard.pages.badges import badge
from leaderboard.pages.citing import Citation, Citing, Permalink, cite, latex
from leaderboard.ranking.boards import Board, make_boards
from leaderboard.ranking.entries import Measured, Origin
from leaderboard.ranking.generator_boards import make_generator_boards
from leaderboard.reading.generator_records import GeneratorRecord
from leaderboard.reading.records import Record

BASE = "https://example.org/assay/"
HOSTILE = '\\input{/etc/passwd} $x_1^2$ 50% & #1 {a} ~b~ <i>"q"</i>\u202e'


def board_of(authors: list[str], **changes: Any) -> Board:
    record = make_record()
    record["scores"]["delta_match_score"] = score(0.1234, 0.004)
    record["submission"] |= changes
    named = [{"name": name} for name in authors]
    document = sae_submission(record, authors=named)
    submission = Submission("saes", Path("x"), document) if authors else None
    origin = Origin(submission=submission)
    (board,) = make_boards([Measured(Record(record, Path("a.json")), origin)])
    return board


def cited(board: Board, **options: Any) -> Citation:
    return cite(board, board.entries[0], Citing(**options))


def linked(board: Board, inside: str | None = None, base_url: str | None = BASE) -> Citation:
    entry = board.entries[0]
    link = Permalink("2026.1", "2026-12-01", "r/2026.1/", f"saes/{entry.record.id}.html#x")
    links = {entry.record.sha256: link}
    return cite(board, entry, Citing(base_url, links, inside=inside))


def test_every_style_has_the_number_who_and_where_it_stays() -> None:
    citation = linked(board_of(["Ada Lovelace", "Grace Hopper"]))
    url = f"{BASE}r/2026.1/saes/demo-topk-512-s0.html#x"
    assert citation.permalink == url
    for text in (citation.text, citation.bibtex, citation.csl):
        assert "0.123 [0.119, 0.127]" in text
        for part in ("fingerprint ", "protocol ", "Assay ", "Record "):
            assert part in text
    assert "0.123 (0.119, 0.127)" in citation.apa
    for text in (citation.text, citation.bibtex, citation.apa, citation.csl):
        assert url in text
        assert "release 2026.1" in text
    assert citation.apa.startswith("Ada Lovelace, & Grace Hopper. (2026). TopK 512 (seed 0) on ")
    assert "author = {{Ada Lovelace} and {Grace Hopper}}" in citation.bibtex
    (item,) = json.loads(citation.csl)
    assert item["author"] == [{"literal": "Ada Lovelace"}, {"literal": "Grace Hopper"}]
    assert item["issued"] == {"date-parts": [[2026, 11, 30]]}


def test_without_a_release_the_page_is_cited_and_there_is_no_permalink() -> None:
    citation = cited(board_of([]), base_url=BASE)
    assert citation.permalink is None
    page = f"{BASE}saes/demo-topk-512-s0.html#"
    for text in (citation.text, citation.bibtex, citation.apa, citation.csl):
        assert page in text
    assert citation.apa.startswith("The Assay authors. (2026).")
    assert cited(board_of([])).markdown is None
    assert "URL" not in json.loads(cited(board_of([])).csl)[0]


@pytest.mark.parametrize(("inside", "root"), [(None, BASE), ("2026.1", f"{BASE}r/2026.1/")])
def test_a_badge_for_a_readme_has_whole_addresses(inside: str | None, root: str) -> None:
    found = linked(board_of([]), inside=inside)
    match = re.fullmatch(r"\[!\[Assay: demo-topk-512-s0\]\((.+)\)\]\((.+)\)", found.markdown or "")
    assert match is not None
    assert match[1] == root + found.badge
    assert match[2].startswith(f"{root}saes/demo-topk-512-s0.html#")


def test_apa_has_no_brackets_in_brackets() -> None:
    inner = cited(board_of([])).apa.split("[", 1)[1]
    assert inner.count("[") == 0
    assert inner.count("]") == 1


@pytest.mark.parametrize(("id_", "start"), [("one", "assay-one-"), ("assay-one", "assay-one-")])
def test_a_key_names_the_suite_once(id_: str, start: str) -> None:
    assert cited(board_of([], id=id_)).bibtex.startswith(f"@misc{{{start}")


def test_links_fit_the_page_they_stand_on() -> None:
    board = board_of([])
    path = "saes/demo-topk-512-s0.html#x"
    assert linked(board).href("../") == f"../r/2026.1/{path}"
    assert linked(board, inside="2026.1").href("../") == f"../{path}"
    assert linked(board, base_url=None).permalink == f"r/2026.1/{path}"


def test_many_authors_are_shortened_in_text_only() -> None:
    citation = cited(board_of([f"Author {number}" for number in range(30)]))
    assert "Author 18, . . . Author 29. (2026)" in citation.apa
    assert len(json.loads(citation.csl)[0]["author"]) == 30


def test_hostile_names_are_text_in_latex() -> None:
    citation = cited(board_of([HOSTILE], name=HOSTILE))
    body = citation.bibtex
    assert "\\input" not in body
    assert "\u202e" not in body + citation.apa + citation.text + citation.csl
    plain = re.sub(r"\\text[a-z]+\{\}|\\[$&#_%]|\$\\(Delta|times)\$|\$-\$", "", body)
    assert not set("$&#_%~^\\") & set(plain)
    assert braces_end(body) == len(body.rstrip())
    assert json.loads(citation.csl)[0]["author"][0]["literal"].startswith("\\input")


def braces_end(entry: str) -> int:
    """Where BibTeX ends an entry: it counts every brace, one after a backslash too."""
    depth = 0
    for place, character in enumerate(entry):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "}" and depth == 0:
            return place + 1
    return -1


@pytest.mark.parametrize("name", ["SAE } with", "SAE { with", "}}}", "{{{", "\\}"])
def test_a_brace_in_a_name_does_not_end_its_entry(name: str) -> None:
    body = cited(board_of([name], name=name)).bibtex
    assert braces_end(body) == len(body.rstrip())
    assert {"author", "title", "year", "howpublished", "note"} <= set(
        re.findall(r"^  ([a-z]+) = ", body, re.M)
    )


def test_a_day_that_does_not_exist_is_one_line() -> None:
    board = board_of([])
    board.entries[0].record.document["timing"]["measured_at"] = "2026-13-45T99:99:99Z"
    with pytest.raises(UserError, match=r"measured_at is '2026-13-45T99:99:99Z', which is no time"):
        cited(board)


def test_a_long_name_is_cut() -> None:
    citation = cited(board_of(["x" * 10**6]))
    assert len(citation.bibtex) + len(citation.csl) + len(citation.text) < 10_000


@pytest.mark.parametrize("text", ["a_b", "100%", "{", "}", "\\", "#", "&", "$", "^", "~"])
def test_each_special_character_of_latex_is_escaped(text: str) -> None:
    assert latex(text) != text
    assert not re.search(r"(?<!\\)[%#&$_]", latex(text))


def test_a_badge_is_a_small_picture_of_the_number() -> None:
    board = board_of([])
    root = ET.fromstring(badge(board, board.entries[0]))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = [element.text for element in root.iter() if element.text]
    assert "ΔMATCHScore 0.123 [0.119, 0.127]" in texts
    assert len(badge(board, board.entries[0])) < 2000


def test_a_generator_is_cited_by_its_divergence() -> None:
    (board,) = make_generator_boards([GeneratorRecord(make_generator("one"), Path("g.json"))])
    citation = cite(board, board.entries[0], Citing())
    assert "SaD" in citation.text
    assert "[Measurement of an image generator:" in citation.apa
    assert "SaD" in badge(board, board.entries[0])
