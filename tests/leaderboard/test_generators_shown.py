"""What the site says of generators: spreads that are no intervals, and images that are not theirs.

Also the commands that it shows, against the command line itself.
"""

import html
import re
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from generator_documents import make_generator
from hypothesis import given
from hypothesis import strategies as st
from result_records import make_record, score
from site_submissions import generator_submission, write_submission

from leaderboard import build_site
from leaderboard.definitions import BY_ANCHOR, COLUMNS, GENERATOR_COLUMNS
from leaderboard.pages.history import claim_rows
from leaderboard.plots.nulls import NullRow, null_bars
from leaderboard.ranking.generator_boards import make_generator_boards
from leaderboard.reading.generator_records import GeneratorRecord
from leaderboard.reading.records import Record, Score
from leaderboard.views.findings import findings
from leaderboard.views.generators import view_generators

DIVERGENCES = ("sad", "pad", "r_sad", "r_sad_over_null")


def record_of(document: dict[str, Any]) -> GeneratorRecord:
    return GeneratorRecord(document, Path(f"{document['submission']['id']}.json"))


def copying(name: str, shared: int, shift: float = 0.0) -> dict[str, Any]:
    """A generator of 300 images, ``shared`` of them of the real set."""
    document = make_generator(name, shift)
    document["submission"] |= {"n": 300, "shared_images": shared}
    return document


def words(content: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", content)).split())


def test_the_ends_of_a_divergence_are_a_spread_by_name() -> None:
    named = {column.key for column in GENERATOR_COLUMNS if "spread" in column.ends}
    assert named == set(DIVERGENCES)
    assert {column.ends for column in COLUMNS} == {"95 % interval"}
    for column in GENERATOR_COLUMNS:
        assert ("95 % resampling spread" in column.hover) == (column.key in DIVERGENCES)


@pytest.mark.parametrize("anchor", ["sad", "pad"])
def test_definitions_say_why_it_may_lie_above(anchor: str) -> None:
    text = " ".join(BY_ANCHOR[anchor].body)
    for said in ("biased upward", "above the value", "only the null tests equality"):
        assert said in text


@given(st.floats(0, 1), st.floats(0.01, 0.5), st.floats(0, 0.2), st.floats(0, 0.2))
def test_a_claimed_divergence_has_no_verdict(
    claimed: float, value: float, above: float, width: float
) -> None:
    document = make_generator()
    made = score(value)
    made["ci95"] = [value + above, value + above + width]
    for key in DIVERGENCES:
        document["scores"][key] = made
    claims = dict.fromkeys(DIVERGENCES, claimed) | {"precision": claimed}
    rows = claim_rows(claims, record_of(document))
    assert len(rows) == 5
    assert {row.verdict for row in rows[:4]} == {"not judged: a spread is no interval"}
    assert rows[4].verdict == "no interval"
    sae = Record({**make_record(), "scores": {"match_score": score(0.5, 0.1)}}, Path("x"))
    assert claim_rows({"match_score": 0.3}, sae)[0].verdict == "below the interval"


def test_no_page_of_generators_calls_it_an_interval(full_site: Path) -> None:
    """Whatever is seen, hovered over, cited or drawn; means over images keep their intervals."""
    pages = [*full_site.glob("generators/*.html"), *full_site.glob("boards/generators*.html")]
    assert len(pages) == 4
    for page in pages:
        content = page.read_text()
        hovers = [html.unescape(text) for text in re.findall(r'title="([^"]*)"', content)]
        for text in (words(content.split("<main", 1)[1].split("</main>")[0]), *hovers):
            assert not re.search(r"95\s% interval(?! \[)", text), (page, text[:200])
        assert "95 % resampling spread" in words(content)
        assert 'metrics.html#resampling-spread"' in content or "generators/" in str(page)
    page = html.unescape((full_site / "generators" / "demo-same.html").read_text())
    assert page.count(", 95 % interval [") == 2 * 7  # RA-CLIPScore, real and generated
    assert page.count(", 95 % resampling spread [") == 3 + 2 * 7  # three scores, SaD and R-SaD


def test_citations_and_badges_name_the_spread(full_site: Path) -> None:
    page = words((full_site / "generators" / "demo-same.html").read_text())
    assert re.search(r"SaD [\d.]+, spread \[[\d., ]+\]; PaD [\d.]+, spread \[", page)
    assert page.count("(95 % resampling spreads)") >= 2
    assert "95 % intervals" not in page
    (badge,) = (full_site / "badges").glob("demo-same.*.svg")
    assert re.search(r"SaD [\d.]+, spread \[", badge.read_text())
    (badge, *_) = (full_site / "badges").glob("plain-topk.*.svg")
    assert "spread" not in badge.read_text()
    assert "(95 % intervals)" in words((full_site / "saes" / "plain-topk.html").read_text())


def test_a_dot_beside_its_bar_is_drawn_beside_it() -> None:
    row = NullRow("one", Score(0.01, (0.02, 0.03), 9, {}), 0.015)
    figure = null_bars("n", "Mean SaD", [row], 700)
    assert figure is not None
    root = ElementTree.fromstring(figure)
    (dot,) = root.iter("circle")
    (bar,) = [line for line in root.iter("line") if line.get("class") == "spread-bar"]
    (band,) = root.iter("rect")
    ends = [float(str(bar.get(end))) for end in ("x1", "x2")]
    assert float(str(dot.get("cx"))) < ends[0] < ends[1]
    assert float(str(dot.get("cx"))) < float(str(band.get("x"))) + float(str(band.get("width")))
    assert "one 0.010, resampling spread [0.020, 0.030], null 0.015" in figure


@pytest.mark.parametrize(("shared", "ranked"), [(0, True), (3, True), (4, False), (300, False)])
def test_more_than_one_percent_of_the_real_set_takes_the_rank(shared: int, ranked: bool) -> None:
    records = [record_of(copying("copier", shared)), record_of(make_generator("honest", 0.3))]
    (board,) = make_generator_boards(records)
    ranks = {entry.record.id: entry.rank and entry.rank.place for entry in board.entries}
    assert ranks == ({"copier": 1, "honest": 2} if ranked else {"copier": None, "honest": 1})
    assert board.entries[-1].record.id == ("honest" if ranked else "copier")
    view = view_generators(board)
    leaders = {finding.entry.record.id for finding in view.findings}
    assert ("copier" in leaders) == ranked
    assert ("copier" in {f.entry.record.id for f in findings(board.entries, view.columns)}) is True
    assert view.figures is not None
    assert ("Copier" in view.figures[0]) == ranked
    assert view.n_inside == (1 if ranked else 0)
    assert ("of the real set" in view.rows) == (not ranked)


def test_a_copier_is_marked_on_board_and_page(tmp_path: Path) -> None:
    for document in (copying("copier", 299), make_generator("honest", 0.3)):
        submission = generator_submission(document)
        write_submission(tmp_path / "submissions", "generators", submission, document)
    site = build_site(
        None, tmp_path / "site", submissions=tmp_path / "submissions", workers=1
    ).parent
    (board,) = (site / "boards").glob("generators*.html")
    honest, copier = re.findall(r'<tr data-id="[^"]+".*?</tr>', board.read_text(), re.S)
    assert "299 images are of the real set" in words(copier)
    assert "n/a" in words(copier)[:4]
    assert "real set" not in words(honest)
    assert "299 images are of the real set" in words((site / "index.html").read_text())
    page = words((site / "generators" / "copier.html").read_text())
    assert "Not ranked: 299 of its 300 images are of the real set." in page
    assert "299 images are of the real set Byte for byte, of 300" in page
    other = words((site / "generators" / "honest.html").read_text())
    assert "Rank 1 of 1" in other
    assert "are of the real set" not in other


def commands(site: Path) -> dict[str, list[str]]:
    """Every command that pages of a site show, by page."""
    found: dict[str, list[str]] = {}
    for page in sorted(site.rglob("*.html")):
        blocks = re.findall(
            r'<pre class="command[^>]*><code>(.*?)</code></pre>', page.read_text(), re.S
        )
        lines = [line for block in blocks for line in html.unescape(block).splitlines()]
        if lines:
            found[page.relative_to(site).as_posix()] = lines
    return found


def parsed(command: str) -> str:
    """Name of the command that the line leads to; a usage error if an option is unknown."""
    from typer.main import get_command

    from benchmark.cli import app

    first, *arguments = shlex.split(command)
    assert first == "assay"
    found: Any = get_command(app)
    context = None
    while hasattr(found, "resolve_command"):
        context = found.context_class(found, parent=context, info_name=first)
        first, found, arguments = found.resolve_command(context, arguments)
    return str(found.make_context(first, arguments, parent=context).command_path)


def test_every_command_shown_is_one_that_assay_has(full_site: Path) -> None:
    shown = commands(full_site)
    assert any(page.startswith("saes/") for page in shown)
    assert len([page for page in shown if page.startswith("generators/")]) == 3
    named = {parsed(line) for lines in shown.values() for line in lines}
    assert {"assay submit score", "assay score", "assay submit init"} <= {
        name.removeprefix("root ") for name in named
    }
    for page, lines in shown.items():
        if page.startswith("generators/"):
            assert lines == [f"assay submit score {Path(page).stem}"]


@pytest.mark.parametrize(
    "wrong",
    ["assay submit score x --datset cub", "assay submit scores x", "assay submit score"],
)
def test_a_wrong_command_would_be_seen(wrong: str) -> None:
    with pytest.raises(Exception, match=r"(?i)no such|missing"):
        parsed(wrong)
