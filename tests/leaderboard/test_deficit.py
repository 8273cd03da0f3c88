"""What Q1 lacks over a board's SAEs, beside the paper."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judgement_documents import make_judgement
from result_records import make_record
from scipy.stats import wilcoxon
from site_submissions import board_page

from leaderboard.ranking.boards import make_boards
from leaderboard.reading.judgements import Judgement, attach
from leaderboard.reading.records import Record
from leaderboard.views.deficit import deficit_views, quartile_means


def board_of(means: dict[tuple[str, int], list[float | None]], judge: str = "annotations") -> Any:
    records, judgements = [], []
    for (architecture, d_sae), four in means.items():
        record = make_record(architecture, d_sae)
        document = make_judgement(record, judge)
        for quartile, mean in zip(document["quartiles"], four, strict=True):
            quartile["mean"] = mean
        records.append(Record(record, Path("r.json")))
        name = f"{architecture}{d_sae}.json"
        judgements.append(Judgement(document, Path(name)))
    joined, stray = attach(records, judgements)
    assert not stray
    (board,) = make_boards(joined)
    return board


SIX = {("topk", 128 * n): [0.3 + 0.02 * n, 0.5, 0.6, 0.55 + 0.01 * n] for n in range(1, 7)}


def rows_of(view: Any) -> dict[str, Any]:
    return {(group.label, row.source): row for group in view.groups for row in group.rows}


def test_ours_stands_beside_the_papers() -> None:
    (view,) = deficit_views(board_of({**SIX, ("relu", 512): [0.6, 0.5, 0.5, 0.5]}))
    rows = rows_of(view)
    table = np.array(list(SIX.values()), float)
    apart = table[:, 0] - table[:, 1:].mean(axis=1)
    ours = rows["TopK", "here"]
    assert ours.saes == "6 of 6"
    assert [n.value for n in ours.quartiles] == pytest.approx(100 * table.mean(axis=0))
    assert ours.difference.value == pytest.approx(100 * apart.mean())
    assert ours.difference.interval is not None
    assert ours.p == f"{wilcoxon(apart).pvalue:.3f}"
    assert float(ours.d.replace("−", "-")) == pytest.approx(
        apart.mean() / apart.std(ddof=1), abs=0.005
    )
    assert (view.n, view.below, view.published) == (7, "6 of 7", "65.2 %")
    paper = rows["TopK", "paper"]
    assert [n.text for n in paper.quartiles] == ["59.2", "64.4", "64.0", "64.6"]
    assert (paper.difference.text, paper.p, paper.d) == ("−5.1", "3.5e-8", "−0.78")


def test_too_few_saes_are_na_with_the_reason() -> None:
    (view,) = deficit_views(board_of({("relu", 512): [0.6, 0.5, 0.5, 0.5]}))
    rows = rows_of(view)
    row = rows["ReLU", "here"]
    assert (row.p, row.d) == ("n/a", "n/a")
    assert row.p_note == "not applicable: needs 6 SAEs, there are 1"
    assert row.d_note == "not applicable: needs 2 SAEs, there are 1"
    assert row.difference.text == "10.0"
    assert row.difference.interval is None
    assert view.too_few is not None
    assert rows["TopK", "here"].saes == "none"


def test_a_quartile_without_judged_latents_is_counted() -> None:
    (view,) = deficit_views(board_of({**SIX, ("topk", 2048): [0.5, 0.5, 0.5, None]}))
    row = rows_of(view)["TopK", "here"]
    assert row.saes == "6 of 7"
    assert "a quartile without judged latents (1)" in row.difference.note


def test_gated_and_jumprelu_have_the_recomputed_sign_and_say_so() -> None:
    (view,) = deficit_views(board_of(SIX))
    rows = rows_of(view)
    for label, printed, again in (("Gated", "−1.7", "1.7"), ("JumpReLU", "−1.1", "1.1")):
        row = rows[label, "paper"]
        assert row.difference.text == again
        assert f"prints {printed} for {label}" in row.note
        assert f"give {again}" in row.note
    assert rows["All", "paper"].difference.text == "−2.3"
    assert "64.1" in rows["All", "paper"].note


def test_judges_are_tested_apart() -> None:
    records = [make_record("topk", 512)]
    pair = [Judgement(make_judgement(records[0], j), Path(f"{j}.json")) for j in ("b", "a")]
    joined, _ = attach([Record(records[0], Path("r.json"))], pair)
    (board,) = make_boards(joined)
    assert [view.judge for view in deficit_views(board)] == ["a", "b"]


def test_means_come_from_the_record_where_no_document_is_at_hand() -> None:
    record = make_record()
    record["dame"] = {"a": {"quartile_means": [0.1, 0.2, 0.3, 0.4]}}
    assert quartile_means(Record(record, Path("r.json")), "a") == [0.1, 0.2, 0.3, 0.4]
    assert quartile_means(Record(record, Path("r.json")), "b") is None


def test_the_board_shows_it(demo_site: Path) -> None:
    text = board_page(demo_site).read_text()
    assert text.count("What Q1 lacks, by the judge") == 3
    assert "A p-value needs 6 such SAEs of one architecture" in text
    assert "The paper prints −1.7 for Gated; its own four numbers give 1.7" in text
    heads = re.findall(r'data-name="(DAME [^"]+)"', text)
    assert heads == ["DAME (annotations)", "DAME (openai/a-model)", "DAME (random)"]
