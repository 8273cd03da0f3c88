"""Axes, labels and figures."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from result_records import make_record, make_records, score

from leaderboard.plots import scatter, sweep_panels
from leaderboard.plots.labels import Box, Placer, spread_out
from leaderboard.plots.svg import Axis, architecture_label, mark, nice_ticks, tag
from leaderboard.reading.records import Record


def read(documents: list[dict[str, Any]]) -> list[Record]:
    return [Record(document, Path("x.json")) for document in documents]


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3))
def test_ticks_cover_the_range(one: float, other: float) -> None:
    low, high = sorted((one, other))
    ticks = nice_ticks(low, high)
    slack = 1e-6 * max(1.0, abs(low), abs(high))
    assert ticks[0] <= low + slack
    assert ticks[-1] >= high - slack
    assert 2 <= len(ticks) <= 9
    assert ticks == sorted(set(ticks))


def test_axis_maps_ends_to_ends_and_labels_every_tick() -> None:
    axis = Axis([0.0, 0.25, 0.5], 10, 110)
    assert (axis(0.0), axis(0.5)) == (10, 110)
    assert axis.texts == ["0.00", "0.25", "0.50"]
    assert axis.holds(0.5)
    assert not axis.holds(0.51)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=6))
def test_labels_are_spread_out_within_room(positions: list[float]) -> None:
    placed = spread_out(positions, 15, 0, 100)
    ordered = sorted(placed)
    assert all(b - a >= 15 - 1e-9 for a, b in pairwise(ordered))
    assert min(placed) >= -1e-9
    assert max(placed) <= 100 + 1e-9


def test_placed_labels_never_touch() -> None:
    placer = Placer(Box(0, 0, 300, 200))
    boxes = [placer.place(150, 100, 60, 14) for _ in range(12)]
    placed = [box for box in boxes if box is not None]
    assert len(placed) > 4
    for index, box in enumerate(placed):
        assert not any(box.touches(other) for other in placed[index + 1 :])


@pytest.mark.parametrize(
    ("name", "shown"),
    [("topk", "TopK"), ("batch_topk", "BatchTopK"), ("P-Anneal", "P-anneal"), ("mine", "mine")],
)
def test_architectures_by_their_usual_names(name: str, shown: str) -> None:
    assert architecture_label(name) == shown


def test_architectures_differ_in_shape_not_only_in_colour() -> None:
    names = ("topk", "batchtopk", "matryoshka", "jumprelu", "relu", "gated", "p_anneal")
    shapes = {re.sub(r' class="[^"]*"', "", mark(name, 0, 0)) for name in names}
    assert len(shapes) == len(names)


def test_svg_text_is_escaped() -> None:
    shown = tag("text", "<b>&", x=1.0, cls='"')
    assert shown == Markup('<text x="1" class="&#34;">&lt;b&gt;&amp;</text>')


@pytest.mark.parametrize("size", [(860, 500), (350, 400)])
def test_scatter_is_xml_and_stays_inside_its_frame(size: tuple[int, int]) -> None:
    figure = scatter("s", read(make_records()), size)
    assert figure is not None
    root = ElementTree.fromstring(figure)
    assert root.get("role") == "img"
    for node in root.iter("circle"):
        assert 0 <= float(node.get("cx", "0")) <= size[0]
        assert 0 <= float(node.get("cy", "0")) <= size[1]
    labels = ("name", "plain")
    names = [node.text or "" for node in root.iter("text") if node.get("class") in labels]
    assert {"BatchTopK 512", "TopK 128 (seed 0)"} <= set(names)
    assert len(names) == len(set(names))


def test_figures_of_what_was_not_measured_are_left_out() -> None:
    record = make_record()
    del record["scores"]["tapa_score"]
    assert scatter("s", read([record]), (860, 500)) is None
    assert sweep_panels("s", read([record]), "tapa_score", "TAPAScore") == []


def test_a_sweep_needs_two_sizes() -> None:
    records = read([make_record("topk", 128), make_record("topk", 512), make_record("relu", 512)])
    panels = sweep_panels("s", records, "match_score", "MATCHScore")
    assert len(panels) == 1
    assert "untrained twin" in panels[0]
    assert "<title" in panels[0]


def test_equal_and_interval_free_values_are_drawn() -> None:
    records = []
    for seed in (0, 1):
        record = make_record(seed=seed)
        record["scores"] |= {"match_score": score(0.5, None), "tapa_score": score(0.5, None)}
        record["baselines"] = {}
        records.append(record)
    figure = scatter("s", read(records), (860, 500))
    assert figure is not None
    ElementTree.fromstring(figure)
