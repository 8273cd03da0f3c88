"""Tables: exact in CSV and JSON, rounded for readers, and true to the records."""

import csv
import json

import pytest

from benchmark.sweep.rows import Column, Table
from benchmark.sweep.table_text import csv_text, latex, markdown, shown
from benchmark.sweep.tables import over_seeds
from leaderboard.published.ca import best_of, ca


def rows_of(out, name):
    with (out / "tables" / f"{name}.csv").open() as stream:
        written = list(csv.DictReader(stream))
    return written, json.loads((out / "tables" / f"{name}.json").read_bytes())


@pytest.mark.parametrize("name", ["best", "results", "matchers", "matchers_by_sae", "k", "sanity"])
def test_csv_agrees_with_json_to_the_last_digit(swept, name):
    written, table = rows_of(swept[1], name)
    assert len(written) == len(table["rows"])
    numbers = 0
    for text, row in zip(written, table["rows"], strict=True):
        for column in table["columns"]:
            key, value = column["key"], row[column["key"]]
            if value is None:
                assert text[key] == ""
            elif column["kind"] == "score":
                low, high = value["ci95"] or (None, None)
                for suffix, part in (("", value["value"]), ("_low", low), ("_high", high)):
                    cell = text[key + suffix]
                    assert (None if cell == "" else float(cell)) == part
                    numbers += 1
                assert int(text[f"{key}_n"]) == value["n"]
            elif column["kind"] == "number":
                assert float(text[key]) == value
            else:
                assert text[key] == str(value)
    assert numbers > 0 or name == "matchers"


def test_rows_are_the_records_scores(swept):
    _, out, _, _ = swept
    _, table = rows_of(out, "results")
    assert len(table["rows"]) == 12
    for row in table["rows"]:
        record = json.loads((out / "results" / f"{row['id']}.json").read_bytes())
        for key in ("match_score", "delta_match_score", "tapa_score", "l0", "delta_stay"):
            assert row[key] == record["scores"][key]
        assert row["d_sae"] == record["submission"]["d_sae"]


def test_the_best_size_is_the_best(swept):
    _, out, _, _ = swept
    results = rows_of(out, "results")[1]["rows"]
    for row in rows_of(out, "best")[1]["rows"]:
        for key in ("delta_match_score", "tapa_score"):
            values = {
                one["d_sae"]: one[key]["value"]
                for one in results
                if one["architecture"] == row["architecture"]
            }
            assert len(values) == 3
            assert row[key]["value"] == max(values.values())
            assert values[row[f"{key}_d_sae"]] == max(values.values())


def test_the_matcher_table_is_the_mean_of_its_rows(swept):
    _, out, _, _ = swept
    single = rows_of(out, "matchers_by_sae")[1]["rows"]
    table = rows_of(out, "matchers")[1]["rows"]
    assert [row["matcher"] for row in table] == ["FBMP F_0.5", "one-to-one", "NN-OMP"]
    for row in table:
        values = [one["match_score"]["value"] for one in single if one["matcher"] == row["matcher"]]
        assert row["saes"] == len(values) == 12
        assert row["match_score"] == pytest.approx(sum(values) / 12, abs=1e-12)


def test_the_k_table_has_every_k_once(swept):
    rows = rows_of(swept[1], "k")[1]["rows"]
    assert [(row["k"], row["d_sae"]) for row in rows] == [(1, 12), (3, 12), (6, 12)]
    assert [row["l0"]["value"] for row in rows] == sorted(row["l0"]["value"] for row in rows)


SCORE = {"value": -0.12345678901234567, "ci95": [-0.2, 0.01], "n": 7, "not_applicable": {}}
TABLE = Table(
    "odd_one",
    "50 % of α & β",
    (
        Column("what", "text", "What|ever"),
        Column("x", "score", "ΔX"),
        Column("n", "int", "n_1"),
        Column("paper", "published", "Paper"),
    ),
    (
        {
            "what": 'a|b, "c" & d_e',
            "x": SCORE,
            "n": 4096,
            "paper": {"printed": "≈ .45", "value": 0.45, "approximate": True},
        },
        {"what": "plain", "x": None, "n": None, "paper": None},
    ),
    "100 %",
)


def test_markdown_and_latex_escape_and_round():
    text = markdown(TABLE)
    assert r'| a\|b, "c" & d_e | −0.123 [−0.200, 0.010] | 4,096 | ≈ .45 |' in text
    assert "| plain | n/a | n/a | n/a |" in text
    tex = latex(TABLE)
    assert r"a|b, ``" not in tex
    assert r"d\_e" in tex
    assert r"\& $" in tex or r"\& d\_e" in tex
    assert r"$-$0.123 {\scriptsize [$-$0.200, 0.010]}" in tex
    assert r"$\approx$ .45" in tex
    assert r"50 \% of α \& β" in tex


def test_csv_marks_published_values_and_keeps_every_digit():
    first, second = list(csv.DictReader(csv_text(TABLE).splitlines()))
    assert float(first["x"]) == SCORE["value"]
    assert (first["x_low"], first["x_high"], first["x_n"]) == ("-0.2", "0.01", "7")
    assert (first["paper"], first["paper_approximate"]) == ("0.45", "yes")
    assert first["what"] == 'a|b, "c" & d_e'
    assert set(second.values()) == {"plain", ""}


def test_a_missing_value_is_never_a_zero():
    column = Column("x", "score", "x")
    assert shown(column, {**SCORE, "value": None, "ci95": None})[0] == "n/a"
    assert shown(Column("n", "int", "n"), 0) == ("0", "")


def test_several_seeds_have_a_mean_and_no_interval():
    mean = over_seeds([{**SCORE, "value": 0.2}, {**SCORE, "value": 0.4}])
    assert mean["value"] == pytest.approx(0.3)
    assert mean["ci95"] is None
    assert over_seeds([SCORE]) == SCORE


def test_published_values_belong_to_the_papers_data_alone_and_are_marked():
    assert best_of("cub", "clip-vit-l-14", "topk")["delta_match_score"]["value"] == 0.5
    assert best_of("synavatars", "clip-vit-l-14", "topk") is None
    assert best_of("cub", "efficientnet-lite0", "topk") is None
    for row in ca()["best"]["rows"]:
        for key in ("delta_match_score", "d_sae", "tapa_score"):
            assert row[key]["approximate"] is True
            assert row[key]["printed"]
    assert ca()["source"]["url"].endswith("2606.24716")
