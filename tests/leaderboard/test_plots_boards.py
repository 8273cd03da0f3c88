"""Figures of whole boards: the Pareto front, maps, bars, and thousands of marks."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_records import make_record

from leaderboard.plots import HeatRow, heat_map, quartile_stack, scatter, sweep_panels
from leaderboard.plots.crowd import legend
from leaderboard.plots.front import pareto_front, stairs
from leaderboard.plots.heat import LEVELS, level
from leaderboard.plots.nulls import NullRow, null_bars
from leaderboard.plots.regions import region_map
from leaderboard.plots.scatter import MANY
from leaderboard.reading.records import Record, Score

small = st.integers(0, 6).map(float)


@given(st.lists(st.tuples(small, small), min_size=1, max_size=20))
def test_the_front_is_what_nothing_beats(points: list[tuple[float, float]]) -> None:
    def beaten(point: tuple[float, float]) -> bool:
        x, y = point
        return any(a >= x and b >= y and (a, b) != point for a, b in points)

    wanted = {index for index, point in enumerate(points) if not beaten(point)}
    assert set(pareto_front(points)) == wanted


def test_the_front_steps_from_edge_to_edge() -> None:
    corners = stairs([(1.0, 3.0), (2.0, 1.0)], (0.0, 0.0))
    assert corners == [(2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 3.0)]


def many(count: int) -> list[Record]:
    records = []
    for index in range(count):
        record = make_record(("topk", "relu", "my-own")[index % 3], 256, index)
        record["submission"] |= {"id": f"sae-{index}", "name": f"SAE {index}"}
        records.append(Record(record, Path("x.json")))
    return records


@pytest.mark.parametrize("size", [(860, 500), (350, 400)])
def test_hundreds_of_marks_cost_little(size: tuple[int, int]) -> None:
    few, more = many(MANY), many(400)
    drawn, crowd = scatter("a", few, size), scatter("b", more, size)
    assert drawn is not None
    assert crowd is not None
    assert len(crowd) < 40_000
    root = ElementTree.fromstring(crowd)
    texts = [node.text for node in root.iter("text")]
    assert {"TopK", "ReLU", "my-own"} <= set(texts)
    (own,) = [n for n in root.iter("polyline") if n.get("class") == "front"]
    assert len(str(own.get("points")).split()) >= 3
    places = sum(str(node.get("d")).count("M") for node in root.iter("path"))
    assert places > 300


def test_a_crowded_panel_has_dots() -> None:
    records = [*many(150), Record(make_record("topk", 512), Path("x.json"))]
    (panel,) = sweep_panels("s", records, "match_score", "MATCHScore")
    assert 'class="dots s0"' in panel
    assert panel.count("<polygon") + panel.count("<circle") < 10


def test_a_legend_names_everything_once() -> None:
    body, height = legend(["topk", "mine", "yours", "topk", "relu"], 10, 0, 200)
    texts = [part.striptags() for part in body if part.startswith("<text")]
    assert texts == ["TopK", "ReLU", "other architectures"]
    assert height > 20
    assert legend(["mine"], 10, 0, 400)[0][1].striptags() == "mine"


CONCEPTS = ("a", "b", "c")


def cells(figure: str) -> dict[str, float]:
    """Total width of each shade's strokes in columns of 26 px, without the scale."""
    found: dict[str, float] = {}
    for node in ElementTree.fromstring(figure).iter("path"):
        shade = str(node.get("class")).split()[1]
        width = sum(float(part.split("h")[1]) for part in str(node.get("d")).split("M")[1:])
        found[shade] = found.get(shade, 0.0) + (width / 26 if width >= 26 else 0.0)
    return found


def test_a_map_shades_every_cell_by_its_value() -> None:
    rows = [HeatRow("one", (0.95, 0.05, None)), HeatRow("two", (0.91, 0.55, 0.51))]
    figure = heat_map("h", "Map", rows, CONCEPTS)
    assert figure is not None
    found = cells(figure)
    assert (found["h9"], found["h0"], found["h5"], found["na"]) == (2, 1, 2, 1)
    names = [n.text for n in ElementTree.fromstring(figure).iter("text") if n.get("transform")]
    assert names == ["a", "c", "b"]
    assert "one: mean 0.500, best a 0.950" in figure


def test_a_concept_without_values_is_no_column_and_none_no_map() -> None:
    assert heat_map("h", "Map", [HeatRow("one", (None, None, None))], CONCEPTS) is None
    assert heat_map("h", "Map", [], CONCEPTS) is None
    figure = heat_map("h", "Map", [HeatRow("one", (0.5, None, 0.2))], CONCEPTS)
    assert figure is not None
    assert "1 entries by 2 concepts" in figure


@given(st.floats(0, 1))
def test_shades_cover_the_range(value: float) -> None:
    assert level(value) == min(LEVELS - 1, int(value * 10))


def test_a_large_vocabulary_stays_small() -> None:
    names = tuple(f"has wing color: {index}" for index in range(312))
    rows = [
        HeatRow(f"SAE {r}", tuple((r * 7 + c * 13) % 100 / 100 for c in range(312)))
        for r in range(30)
    ]
    figure = heat_map("h", "Map", rows, names)
    assert figure is not None
    assert len(figure) < 250_000
    assert "312 concepts, best found first" in figure


def test_bars_of_quartiles_add_up() -> None:
    figure = quartile_stack("q", [("one", (0.6, 0.2, 0.15, 0.05))], 860)
    assert figure is not None
    bars = [float(n.get("width", "0")) for n in ElementTree.fromstring(figure).iter("rect")]
    assert [round((bar + 1) / (sum(bars) + 4), 2) for bar in bars] == [0.6, 0.2, 0.15, 0.05]
    assert quartile_stack("q", [], 860) is None


def score(value: float, half: float) -> Score:
    return Score(value, (value - half, value + half), 10, {})


def test_a_divergence_stands_before_its_null() -> None:
    rows = [NullRow("same", score(0.01, 0.004), 0.016), NullRow("other", score(0.05, 0.006), 0.016)]
    figure = null_bars("n", "Mean SaD", rows, 860)
    assert figure is not None
    root = ElementTree.fromstring(figure)
    bands = [float(n.get("x", "0")) + float(n.get("width", "0")) for n in root.iter("rect")]
    marks = [float(n.get("cx", "0")) for n in root.iter("circle")]
    assert marks[0] < bands[0]
    assert marks[1] > bands[1]
    assert "same 0.010, resampling spread [0.006, 0.014], null 0.016" in figure
    assert null_bars("n", "Mean SaD", [], 860) is None


def test_a_map_of_regions_tells_the_sides_apart() -> None:
    figure = region_map("r", "glasses", [[0.2, -0.1], [0.0, 0.01]], 0.2)
    assert figure is not None
    classes: dict[str, Any] = {
        str(n.get("class")): str(n.get("d")).count("M")
        for n in ElementTree.fromstring(figure).iter("path")
    }
    assert classes["cell more-real f9"] == 1
    assert classes["cell more-generated f5"] == 1
    assert sum(classes.values()) == 4
    assert region_map("r", "glasses", [], 0.2) is None
