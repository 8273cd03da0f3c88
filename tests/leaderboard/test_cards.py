"""The report card on an SAE's page, and what a board's SAEs say together."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from result_cards import make_card
from result_records import make_record, make_records
from site_submissions import board_page

import schemas
from benchmark.errors import UserError
from leaderboard import build_site
from leaderboard.definitions import BY_ANCHOR
from leaderboard.published import aiu
from leaderboard.ranking.boards import make_boards
from leaderboard.reading.records import Record
from leaderboard.views.across import across_view, p_text
from leaderboard.views.deficit import published_deficit

Writer = Callable[..., Path]


def carded(architecture: str = "topk", d_sae: int = 512, **options: Any) -> dict[str, Any]:
    record = make_record(architecture, d_sae)
    record["card"] = make_card(d_sae, random.Random(f"{architecture}{d_sae}"), **options)
    return record


def page(write_results: Writer, record: dict[str, Any]) -> str:
    results = write_results([record])
    index = build_site(results, results.parent / "site")
    return (index.parent / "saes" / f"{record['submission']['id']}.html").read_text()


def rows(text: str) -> list[list[str]]:
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in text.split("<tr")]
    return [[" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in row] for row in cells]


def test_every_criterion_stands_with_value_and_interval(write_results: Writer) -> None:
    record = carded()
    schemas.validate("result-sae", record)
    record["card"]["c2"]["complete_fraction"] |= {"value": 0.4615, "ci95": [0.41, 0.53]}
    table = {row[1]: row for row in rows(page(write_results, record)) if len(row) == 5}
    assert table["C2 completeness Concepts found (F₁ ≥ 0.5) ↑"][2:] == [
        "0.462",
        "[0.410, 0.530]",
        "27",
    ]
    assert table["C1 non-redundancy Redundant pairs ↓"][2] == "17"
    assert table["Pairs inside Q1 / Q2 / Q3 / Q4"][2] == "10 / 3 / 2 / 2"
    assert table["C3 monosemanticity DAME ↑"][2:4] == ["n/a", "needs a judge"]
    assert "C4 living latents Dead latents ↓" in table
    assert "Inputs with L0 ≤ 64 ↑" in table
    assert "Geometry Encoder angle, degrees" in table


def test_sharded_pairs_stand_with_their_evidence(write_results: Writer) -> None:
    record = carded(pairs=30, sharded=5)
    text = page(write_results, record)
    assert "the strongest 5 of 5" in text
    pair = record["card"]["c1"]["sharding"]["pairs"][0]
    latents = " and ".join(map(str, pair["latents"]))
    assert [latents, f"{pair['decoder_cosine']:.3f}", "0.207", "0.019"] in rows(text)
    assert "The strongest 20 of 30." in text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"pairs": 0, "sharded": 0}, "No two alive latents write nearly the same direction"),
        ({"pairs": 1, "sharded": 0}, "None of the 1 redundant pair is sharded"),
        ({"pairs": 9, "sharded": 0}, "None of the 9 redundant pairs is sharded"),
    ],
)
def test_where_nothing_is_sharded_the_page_says_so(
    write_results: Writer, options: dict[str, int], sentence: str
) -> None:
    text = page(write_results, carded(**options))
    assert sentence in text
    assert ("not applicable: no redundant pairs" in text) == (options["pairs"] == 0)


def test_without_encoder_rows_sharding_is_not_measured(write_results: Writer) -> None:
    record = carded()
    sharding = {"n_pairs": None, "reason": "the SAE has no encoder rows", "pairs": []}
    record["card"]["c1"] |= {"sharding": sharding, "zero_rows": 1}
    text = page(write_results, record)
    assert "Not measured: the SAE has no encoder rows." in text
    assert "1 alive latent has a zero decoder row" in text


def test_a_record_without_card_has_no_section(write_results: Writer) -> None:
    record = make_record()
    del record["card"]
    assert "AIU report card" not in page(write_results, record)


def test_a_broken_card_is_refused(write_results: Writer) -> None:
    record = carded()
    record["card"]["c2"]["complete_fraction"]["value"] = 46.2
    results = write_results([record])
    with pytest.raises(UserError, match=r"card\.c2\.complete_fraction\.value: found 46\.2"):
        build_site(results, results.parent / "site")


def view(records: list[dict[str, Any]]) -> Any:
    (board,) = make_boards([Record(record, Path("x.json")) for record in records])
    return across_view(board)


def test_fewer_than_six_cards_say_nothing_together() -> None:
    sizes = [128, 256, 384, 512, 640, 768]
    assert view([carded(d_sae=size) for size in sizes[:5]]) is None
    assert view([carded(d_sae=size) for size in sizes]).n == 6


def test_ours_stands_beside_the_papers() -> None:
    sizes = [128, 256, 384, 512, 640, 768]
    records = [carded(d_sae=size) for size in sizes]
    records += [carded("relu", size, pairs=0, sharded=0) for size in sizes]
    found = view(records)
    assert (found.n, found.n_with_pairs) == (12, 6)
    groups = {group.label: group.rows for group in found.groups}
    here, paper = groups["TopK"]
    assert here.saes == "6 of 6 (102)"
    assert [number.text for number in here.quartiles] == ["58.8", "17.6", "11.8", "11.8"]
    assert here.p == "0.031"
    assert [number.text for number in paper.quartiles] == ["77.2", "10.3", "3.1", "9.4"]
    assert paper.p == "1.7e-11"
    silent, _ = groups["ReLU"]
    assert silent.saes == "0 of 6"
    assert {number.text for number in silent.quartiles} == {"n/a"}
    assert silent.p == silent.d == "n/a"
    assert groups["Gated"][0].saes == "none"
    assert groups["All"][0].saes == "6 of 12 (102)"
    assert groups["All"][1].p == "2.2e-57"
    assert found.enriched.endswith("of 6")


def test_the_board_shows_it(demo_site: Path) -> None:
    text = board_page(demo_site).read_text()
    assert "Across SAEs" in text
    assert "redundant pairs inside a quartile" in text
    assert f"{len(make_records())} of {len(make_records())} SAEs" in text
    assert "94 % of GPT-2 configurations" in text
    for anchor in ("q1-redundancy", "sparsity-trap"):
        assert f"metrics.html#{anchor}" in text
        assert anchor in BY_ANCHOR


def test_p_values_are_short() -> None:
    assert [p_text(p) for p in (None, 1.0, 0.0312, 0.001, 3.04e-29)] == [
        "n/a", "1.000", "0.031", "0.001", "3.0e-29",
    ]  # fmt: skip


def test_the_published_table_holds_its_own_sums() -> None:
    assert len(aiu().redundancy) == len(aiu().deficit) == 7
    for row in aiu().redundancy:
        assert sum(row.within_quartile) == pytest.approx(100, abs=0.02)
    contradicted = {row.architecture for row in aiu().deficit if row.note}
    assert contradicted == {"gated", "jumprelu"}
    for row in aiu().deficit:
        sign = -1 if row.architecture in contradicted else 1
        assert row.difference == pytest.approx(sign * row.difference_printed, abs=0.11)
    facts = aiu().document["facts"]
    assert {name for name, fact in facts.items() if fact["approximate"]} == {
        "saes",
        "encoder_angle",
    }


def test_the_methods_page_shows_both_signs(demo_site: Path) -> None:
    shown = {row.label: (row.printed.text, row.recomputed.text) for row in published_deficit()}
    assert shown["Gated"] == ("−1.7", "1.7")
    assert shown["JumpReLU"] == ("−1.1", "1.1")
    table = {row[0]: row for row in rows((demo_site / "methods.html").read_text()) if len(row) == 9}
    assert table["Gated"][5:7] == ["−1.7", "1.7 (sign differs)"]
    assert table["TopK"][5:7] == ["−5.1", "−5.1"]


def test_the_published_data_is_json_with_its_source() -> None:
    document = json.loads(json.dumps(aiu().document, allow_nan=False))
    assert document["source"]["url"] == "https://arxiv.org/abs/2610.30474"
    assert document["unit"]
