"""What pages say of submissions: who, what is claimed, what was seen, what changed."""

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from generator_documents import make_generator
from hypothesis import given
from hypothesis import strategies as st
from result_records import make_record, score
from site_submissions import (
    ORCID,
    board_page,
    measured,
    sae_submission,
    write_submission,
    write_submissions,
)

import schemas
from benchmark.errors import UserError
from leaderboard import build_site
from leaderboard.definitions import COLUMN
from leaderboard.numbers import number
from leaderboard.pages.history import claim_rows
from leaderboard.ranking.boards import make_boards
from leaderboard.reading.records import Record, Score
from leaderboard.views.board import view_board
from leaderboard.views.columns import column_view
from leaderboard.views.findings import findings

Writer = Callable[..., Path]


def text_of(page: Path) -> str:
    """A page's text without markup."""
    content = re.sub(r"<(script|style).*?</\1>", "", page.read_text(), flags=re.S)
    return " ".join(re.sub(r"<[^>]+>", " ", content).split())


def test_the_documents_of_these_tests_are_valid(tmp_path: Path) -> None:
    root = write_submissions(tmp_path)
    for kind, name in (("saes", "sae"), ("generators", "generator")):
        for folder in sorted((root / kind).iterdir()):
            document = json.loads((folder / "submission.json").read_text())
            schemas.validate(f"submission-{name}", document)
            for result in (folder / "results").rglob("*.json"):
                schemas.validate(f"result-{name}", json.loads(result.read_text()))


def test_a_submission_says_who_made_it_and_how(full_site: Path) -> None:
    page = full_site / "saes" / "exposed-jumprelu.html"
    content, text = page.read_text(), text_of(page)
    assert f'href="https://orcid.org/{ORCID}"' in content
    for address in ("https://example.org/paper", "https://example.org/code"):
        assert f'href="{address}"' in content
    assert 'href="https://spdx.org/licenses/Apache-2.0.html"' in content
    assert "A threshold for each latent." in text
    assert "Trained on synavatars ( match, score )." in text
    assert "training saw score images" in text
    assert "@misc{example, title = {Thresholds}}" in text
    assert "assay submit score exposed-jumprelu --dataset synavatars" in text
    assert f"sae.safetensors {'cd' * 32}" in text
    assert "bare result record" not in text


def test_files_on_the_hub_are_named_with_their_commit(tmp_path: Path) -> None:
    record = measured("far-topk", 3)
    document = sae_submission(record)
    document["sae"]["hub"] = {"repo": "example/saes", "revision": "ab" * 20}
    write_submission(tmp_path / "submissions", "saes", document, record)
    site = build_site(None, tmp_path / "site", submissions=tmp_path / "submissions").parent
    assert f"Hub example/saes at {'ab' * 20}" in text_of(site / "saes" / "far-topk.html")


def test_claimed_numbers_stand_beside_and_never_as_measured(full_site: Path) -> None:
    content = (full_site / "saes" / "exposed-jumprelu.html").read_text()
    table = content.split("Claimed and measured")[1].split("</table>")[0]
    rows = re.findall(r'<tr><th scope="row".*?</tr>', table)
    assert len(rows) == 2
    for row, claim in zip(rows, ("0.910", "0.500"), strict=True):
        (claimed,) = re.findall(r'<td class="num claimed">.*?</td>', row)
        assert claim in claimed
        assert "data-value" not in claimed
    assert "above the interval" in rows[0]
    board = board_page(full_site).read_text()
    assert "0.91" not in re.sub(r'data-value="[^"]*"|title="[^"]*"', "", board)


@given(st.floats(0, 1), st.floats(0.1, 0.9), st.floats(0, 0.1))
def test_a_claim_lies_where_it_lies(claimed: float, value: float, half: float) -> None:
    record = Record({**make_record(), "scores": {"match_score": score(value, half)}}, Path("x"))
    (row,) = claim_rows({"match_score": claimed}, record)
    inside = value - half <= claimed <= value + half
    assert row.verdict == (
        "inside the interval"
        if inside
        else "below the interval"
        if claimed < value
        else "above the interval"
    )


def test_the_history_has_every_measurement(full_site: Path) -> None:
    content = (full_site / "saes" / "exposed-jumprelu.html").read_text()
    table = content.split("History of its numbers")[1].split("</table>")[0]
    rows = [text_of_row(row) for row in re.findall(r"<tr.*?</tr>", table, re.S)[1:]]
    assert [row.split()[0] for row in rows] == ["2", "1"]
    assert "2026-10-02" in rows[1]
    assert "0.31" in rows[1]
    (old,) = re.findall(r'href="\.\./(records/exposed-jumprelu\.synavatars\.1\.json)"', table)
    document = json.loads((full_site / old).read_text())
    assert document["scores"]["match_score"]["value"] == 0.31


def text_of_row(row: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", row).split())


def test_a_withdrawn_entry_has_its_page_and_no_place_on_a_board(full_site: Path) -> None:
    text = text_of(full_site / "saes" / "gone-relu.html")
    assert "Withdrawn on 2026-12-01. Trained on the score images by mistake." in text
    assert "no longer ranked" in text
    for page in (full_site / "index.html", board_page(full_site)):
        assert "gone-relu" not in page.read_text()


def test_exposed_entries_are_marked_on_the_board(full_site: Path) -> None:
    rows = re.findall(r'<tr data-id="([^"]+)".*?</tr>', board_page(full_site).read_text(), re.S)
    marked = re.findall(
        r'<tr data-id="([^"]+)"[^>]*data-exposure="exposed"', board_page(full_site).read_text()
    )
    assert marked == ["exposed-jumprelu"]
    assert len(rows) == 8


def test_generators_stand_beside_their_null(full_site: Path) -> None:
    (board,) = (full_site / "boards").glob("generators*.html")
    text = board.read_text()
    same, more, many = re.findall(r'<tr data-id="[^"]+".*?</tr>', text, re.S)
    assert "demo-same" in same
    assert "null 0.016, inside" in same
    assert "null 0.016, outside" in more
    assert "demo-many-glasses" in many
    page = text_of(full_site / "generators" / "demo-more-glasses.html")
    assert "outside its null" in page
    assert "1 of 7 attributes lies outside its null" in page
    assert "Claimed and measured" in page
    assert "glasses and sunglasses" in page


def test_rank_is_a_range(full_site: Path) -> None:
    text = text_of(full_site / "saes" / "plain-topk.html")
    assert re.search(r"Rank \d+–\d+ of 8 by ΔMATCHScore: place \d+ by value", text)


def test_a_column_pads_to_its_longest_number() -> None:
    shown = [number(Score(value, None, 9, {})) for value in (0.12, 0.5, 0.00004)]
    view = column_view(COLUMN["match_score"], shown)
    assert [view.pad(each) for each in shown] == [" pad2", " pad2", ""]


def board_of(values: list[tuple[float, float]]) -> Any:
    records = []
    for index, (value, half) in enumerate(values):
        record = make_record("topk", 256, index)
        record["scores"]["delta_match_score"] = score(value, half)
        records.append(Record(record, Path(f"{index}.json")))
    (board,) = make_boards(records)
    return view_board(board)


@pytest.mark.parametrize(
    ("values", "sure"),
    [
        ([(0.2, 0.01)], "the only one measured"),
        ([(0.2, 0.01), (0.1, 0.01)], "clear of all others"),
        ([(0.2, 0.01), (0.19, 0.01)], "not settled: the intervals of 1 other reach it"),
        ([(0.2, 0.01), (0.2, 0.01), (0.1, 0.01)], "together with one other"),
    ],
)
def test_a_leader_comes_with_how_sure_it_is(values: list[tuple[float, float]], sure: str) -> None:
    finding = board_of(values).findings[0]
    assert finding.question == "Finds named concepts"
    assert finding.number.value == 0.2
    assert finding.sure == sure


def test_where_less_is_better_the_smallest_leads() -> None:
    view = board_of([(0.2, 0.01), (0.1, 0.01)])
    column = view.columns[0]
    lower = dataclasses.replace(column.column.definition, direction="Lower is better")
    turned = dataclasses.replace(
        column, column=dataclasses.replace(column.column, definition=lower)
    )
    assert findings(view.board.entries, [turned])[0].number.value == 0.1


def test_the_front_page_stays_small_and_names_its_rest(
    write_results: Writer, tmp_path: Path
) -> None:
    records = [make_record("topk", 256, seed) for seed in range(23)]
    results = write_results(records)
    site = build_site(results, tmp_path / "site").parent
    text = (site / "index.html").read_text()
    assert text.count('<th scope="row" class="name"><a href="saes/') == 20
    assert "The leading 20 of 23 SAEs" in text
    assert "All 23 SAEs" in text
    assert board_page(site).read_text().count("<tr data-id=") == 23


def test_older_data_stands_apart(tmp_path: Path) -> None:
    new, old = measured("new-topk", 1), measured("old-topk", 2)
    old["dataset"]["fingerprint"] = "0f" * 32
    old["timing"]["measured_at"] = "2026-01-02T10:00:00Z"
    for record in (new, old):
        write_submission(tmp_path / "submissions", "saes", sae_submission(record), record)
    site = build_site(None, tmp_path / "site", submissions=tmp_path / "submissions").parent
    text = board_page(site).read_text()
    assert "Measured on older data" in text
    assert re.findall(r'<tr data-id="([^"]+)"', text) == ["new-topk"]
    assert "old-topk" in text.split("Measured on older data")[1]
    assert "older version of the data" in text_of(site / "saes" / "old-topk.html")


def test_a_broken_submission_is_named(tmp_path: Path) -> None:
    record = measured("new-topk", 1)
    document = sae_submission(record, verified=True)
    write_submission(tmp_path / "submissions", "saes", document, record)
    with pytest.raises(UserError, match=r"new-topk.*verified"):
        build_site(None, tmp_path / "site", submissions=tmp_path / "submissions")


def test_a_generator_without_maps_or_pairs_still_has_its_page(tmp_path: Path) -> None:
    from leaderboard.pages.generator import measure_generator
    from leaderboard.ranking.generator_boards import make_generator_boards
    from leaderboard.reading.generator_records import GeneratorRecord

    document = make_generator()
    document["maps"], document["pairs"]["values"] = {}, []
    (board,) = make_generator_boards([GeneratorRecord(document, Path("x.json"))])
    found = measure_generator(board, board.entries[0])
    assert found.maps == ()
    assert found.pairs == ()
    assert found.n_outside == 1
