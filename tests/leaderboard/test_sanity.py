"""The sanity check on the front page."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from result_records import make_record, make_sanity, score

from benchmark.errors import UserError
from leaderboard import build_site
from leaderboard.definitions import BY_ANCHOR

Writer = Callable[..., Path]


def section(write_results: Writer, document: dict[str, Any]) -> str:
    """The check's part of a page built from this document."""
    results = write_results([make_record()])
    path = results.parent / "sanity.json"
    path.write_text(json.dumps(document))
    index = build_site(results, results.parent / "site", sanity=path)
    found = re.search(r'<section aria-labelledby="sanity">.*?</section>', index.read_text(), re.S)
    assert found
    return found.group()


def rows(text: str) -> list[list[str]]:
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in text.split("<tr>")]
    return [[" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in row] for row in cells]


def test_every_metric_stands_with_its_three_means_and_verdict(write_results: Writer) -> None:
    text = section(write_results, make_sanity())
    table = {row[0]: row[1:] for row in rows(text.split("<details>")[0]) if len(row) > 5}
    held_out = table["MATCHScore, held-out"]
    assert held_out[:3] == ["✓ passes", "0.490", "[0.484, 0.496]"]
    assert held_out[3:7] == ["0.410", "[0.404, 0.416]", "0.200", "[0.194, 0.206]"]
    assert table["CKNNA baseline"][0] == "✗ fails"
    assert table["TAPAScore"][5] == "−0.004"
    assert len([name for name in table if name != "Metric"]) == 7
    assert "All metrics of this board pass." in text
    assert "CKNNA does not." in text
    assert text.count('aria-hidden="true"') == 7


def test_every_configuration_has_its_values(write_results: Writer) -> None:
    text = section(write_results, make_sanity()).split("<details>")[1]
    table = {row[0]: row[1:] for row in rows(text) if len(row) == 8}
    assert [name for name in table if name != "SAE"] == ["BatchTopK 512", "TopK 128", "TopK 512"]
    assert table["TopK 128"][0] == "0.490 0.410 · 0.200"


def test_a_metric_of_the_suite_that_fails_is_named_first(write_results: Writer) -> None:
    document = make_sanity()
    for row in document["rows"]:
        row["passed"] = row["metric"] not in ("tapa_score", "fms", "ms")
    text = section(write_results, {**document, "passed": False})
    assert "Not passed by TAPAScore." in text
    assert "FMS and MS do not." in text
    assert "All metrics" not in text


def test_missing_values_are_na(write_results: Writer) -> None:
    document = make_sanity()
    document["rows"][0] |= {"trained": score(None), "passed": False}
    document["rows"][0]["values"][0]["trained"] = None
    text = section(write_results, document)
    assert "n/a" in text
    assert "n/a 0.400 · 0.190" in " ".join(rows(text.split("<details>")[1])[2])


def test_hostile_names_stay_text(write_results: Writer) -> None:
    document = make_sanity()
    hostile = "<script>alert(1)</script>\u202e"
    document["configurations"][0]["architecture"] = hostile
    document["dataset"]["name"] = hostile
    text = section(write_results, document)
    assert "<script" not in text
    assert "\u202e" not in text


def test_without_a_check_nothing_is_said_of_it(write_results: Writer) -> None:
    results = write_results([make_record()])
    index = build_site(results, results.parent / "site")
    assert "Do the metrics see training?" not in index.read_text()


def test_a_broken_file_is_named(write_results: Writer) -> None:
    with pytest.raises(UserError, match=r"sanity\.json: 1 problem.*passed: found \"yes\""):
        section(write_results, {**make_sanity(), "passed": "yes"})


def test_values_that_do_not_fit_the_configurations_are_named(write_results: Writer) -> None:
    document = make_sanity()
    document["rows"][2]["values"].pop()
    with pytest.raises(UserError, match="match_score_one_to_one has 2 values for 3"):
        section(write_results, document)


def test_its_metrics_are_defined() -> None:
    for anchor in ("sanity-check", "one-to-one", "fms", "ms", "cknna", "linear-probe"):
        assert BY_ANCHOR[anchor].body
