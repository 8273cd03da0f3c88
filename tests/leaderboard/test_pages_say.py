"""What a reader of the pages, an address or an export must not be told wrongly."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from generator_documents import make_generator
from result_records import make_gate, make_record, score
from site_submissions import (
    board_page,
    generator_submission,
    measured,
    sae_submission,
    write_submission,
)

from leaderboard import build_site
from leaderboard.building.content import Sources
from leaderboard.building.site import release_site
from leaderboard.definitions import COLUMN, GENERATOR_COLUMNS
from leaderboard.exports.rows import score_cells
from leaderboard.exports.tables import concept_csv
from leaderboard.pages.generator import measure_generator
from leaderboard.pages.judged import judged_part
from leaderboard.plots.labels import Box, Placer
from leaderboard.ranking.boards import make_boards
from leaderboard.ranking.changes import frozen_text
from leaderboard.ranking.generator_boards import make_generator_boards
from leaderboard.reading.generator_records import GeneratorRecord
from leaderboard.reading.records import Gate, Record, Score, load_gate
from leaderboard.views.board import gate_view
from leaderboard.views.generators import view_generators

BASE = "https://example.org/assay"


def generator(name: str, value: float, spread: tuple[float, float], q95: float) -> GeneratorRecord:
    document = make_generator(name)
    document["scores"]["sad"] |= {"value": value, "ci95": list(spread)}
    document["null"]["sad"] |= {"q95": q95, "inside": value <= q95}
    return GeneratorRecord(document, Path(f"{name}.json"))


def test_two_generators_inside_their_nulls_both_reach_the_first_rank() -> None:
    same = generator("same", 0.008, (0.010, 0.011), 0.013)
    faces = generator("faces", 0.012, (0.013, 0.032), 0.013)
    far = generator("far", 0.09, (0.10, 0.12), 0.013)
    (board,) = make_generator_boards([far, faces, same])
    ranks = {e.record.id: (e.rank.best, e.rank.worst) for e in board.ranked if e.rank}
    assert ranks == {"same": (1, 2), "faces": (1, 2), "far": (3, 3)}
    finding = view_generators(board).findings[0]
    assert finding.sure == "not settled: the ranges of 1 other reach it"


def test_a_range_holds_its_value() -> None:
    reach = generator("far", 0.09, (0.10, 0.12), 0.013).reach("sad")
    assert reach is not None
    assert reach.ci95 == (0.09, 0.12)
    inside = generator("same", 0.008, (0.010, 0.011), 0.013).reach("sad")
    assert inside is not None
    assert inside.ci95 == (0.0, 0.011)


def test_ranks_of_generators_are_explained_where_they_stand(full_site: Path) -> None:
    for page in [full_site / "index.html", *full_site.glob("boards/generators*.html")]:
        text = page.read_text()
        assert "Rank by mean SaD" in text
        assert "Sets of different size have different nulls." in text


def test_exports_name_a_spread() -> None:
    found = Score(0.1, (0.2, 0.3), 9, {})
    columns = {column.key: column for column in GENERATOR_COLUMNS}
    assert score_cells(columns["sad"], found) == {
        "sad": 0.1, "sad_spread_low": 0.2, "sad_spread_high": 0.3, "sad_n": 9,
    }  # fmt: skip
    assert list(score_cells(columns["fid"], None)) == ["fid", "fid_low", "fid_high", "fid_n"]
    assert "match_score_low" in score_cells(COLUMN["match_score"], found)


def test_the_api_says_what_the_two_ends_are(full_site: Path) -> None:
    kinds: dict[str, set[str]] = {"saes": set(), "generators": set()}
    for path in (full_site / "api" / "v1" / "boards").glob("*.json"):
        board = json.loads(path.read_text())
        for entry in board["entries"]:
            for key, found in entry["scores"].items():
                assert found["kind"] == {c["key"]: c["kind"] for c in board["columns"]}[key]
                kinds[board["kind"]].add(found["kind"])
    assert kinds == {"saes": {"interval"}, "generators": {"interval", "spread"}}


def test_texts_of_the_concepts_are_quoted_only_where_they_must_be() -> None:
    table = pa.table(
        {
            "id": ["a", "a", "a"],
            "concept": ["hat", 'a "b", c', "=1+1"],
            "f1": [0.5, None, 1.0],
            "n_add": pa.array([3, None, 0], pa.int64()),
        }
    )
    plain = concept_csv(table.slice(0, 2).set_column(1, "concept", [["hat", "'s"]])).decode()
    assert plain == "id,concept,f1,n_add\na,hat,0.5,3\na,'s,,\n"
    text = concept_csv(table).decode()
    assert text.splitlines()[:2] == ["id,concept,f1,n_add", '"a","hat",0.5,3']
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[2:] == [["a", 'a "b", c', "", ""], ["a", "'=1+1", rows[3][2], "0"]]
    assert float(rows[3][2]) == 1


def test_a_record_of_a_submissions_weights_is_left_out(tmp_path: Path) -> None:
    own, local, other = measured("one", 1), measured("demo", 1), measured("rest", 1)
    for document, sha in ((own, "ab"), (local, "ab"), (other, "cd")):
        document["submission"]["weights_sha256"] = sha * 32
    submission = sae_submission(own)
    write_submission(tmp_path / "submissions", "saes", submission, own)
    (tmp_path / "results").mkdir()
    for document in (local, other):
        path = tmp_path / "results" / f"{document['submission']['id']}.json"
        path.write_text(json.dumps(document))
    said: list[str] = []
    site = build_site(
        tmp_path / "results",
        tmp_path / "site",
        submissions=tmp_path / "submissions",
        workers=1,
        tell=said.append,
    ).parent
    assert {path.stem for path in (site / "saes").iterdir()} == {"one", "rest"}
    (line,) = said
    assert line.startswith("1 record is left out: its weights are those of a submission")
    assert line.endswith("demo (one)")


def test_a_submission_without_a_result_is_named(tmp_path: Path) -> None:
    root = tmp_path / "submissions"
    one, image = measured("one", 1), make_generator("pictures")
    write_submission(root, "saes", sae_submission(one), one)
    for kind, document in (
        ("saes", sae_submission(measured("late", 1), name="<i>Late</i>")),
        ("generators", generator_submission(image, name="Also late")),
    ):
        (root / kind / document["id"]).mkdir(parents=True)
        (root / kind / document["id"] / "submission.json").write_text(json.dumps(document))
    index = build_site(None, tmp_path / "site", submissions=root, workers=1).read_text()
    assert "Waits for measurement: <bdi>&lt;i&gt;Late&lt;/i&gt;</bdi>." in index
    assert "Waits for measurement: <bdi>Also late</bdi>." in index


def test_addresses_of_pages_with_a_base_url(tmp_path: Path) -> None:
    one = measured("one", 1)
    write_submission(tmp_path / "submissions", "saes", sae_submission(one), one)
    sources = Sources(submissions=tmp_path / "submissions")
    release_site(
        "2026.1", tmp_path / "releases", sources, date="2026-12-01", base_url=BASE, workers=1
    )
    site = build_site(
        None,
        tmp_path / "site",
        submissions=tmp_path / "submissions",
        releases=tmp_path / "releases",
        base_url=BASE,
        workers=1,
    ).parent
    for page in ("index.html", "saes/one.html", "r/2026.1/saes/one.html"):
        assert f'<link rel="canonical" href="{BASE}/{page}">' in (site / page).read_text()
    places = [e.text for e in ElementTree.parse(site / "sitemap.xml").iter() if e.text]
    assert f"{BASE}/r/2026.1/saes/one.html" in places
    assert f"{BASE}/saes/one.html" in places
    text = (site / "saes" / "one.html").read_text()
    assert f"[![Assay: one]({BASE}/badges/one." in text


def test_without_a_base_url_there_is_no_canonical_address(full_site: Path) -> None:
    assert "canonical" not in (full_site / "index.html").read_text()


def test_a_frozen_number_is_read_by_todays_rule() -> None:
    """A release that was frozen with fewer digits has not moved."""
    frozen = {"value": 0.0812, "ci95": [0.0721, 0.0904], "n": 9, "text": "0.08", "interval": None}
    assert frozen_text(frozen, COLUMN["match_score"]) == "0.081 [0.072, 0.090]"


@pytest.mark.parametrize(
    ("means", "said"),
    [
        ([0.5, 0.4, None, None], "judged: Q1 and Q2 only; 20 of 160 alive latents could be"),
        ([0.5, 0.4, 0.3, 0.2], "judged: all quartiles; 20 of 160 alive latents could be"),
    ],
)
def test_a_judged_leader_says_what_was_judged(means: list[Any], said: str) -> None:
    document = make_record()
    block = {"quartile_means": means, "eligible": [15, 5, 0, 0], "alive": [40] * 4}
    record = Record({**document, "dame": {"annotations": block}}, Path("a.json"))
    assert judged_part(record, "dame/annotations") == said
    assert judged_part(record, "match_score") == ""


def test_the_gate_shows_l0_of_both(tmp_path: Path) -> None:
    (tmp_path / "gate.json").write_text(json.dumps(make_gate()))
    gate: Gate = load_gate(tmp_path / "gate.json")
    document = make_record(gate.rows[0].architecture, gate.d_sae)
    document["scores"]["l0"] = score(41.52, 0.5)
    document["baselines"]["untrained"]["l0"] = score(33.61, 0.5)
    view = gate_view(gate, make_boards([Record(document, Path("a.json"))]))
    assert view is not None
    assert view.sparsity.endswith("41.5, twins 33.6")
    assert gate_view(gate, ()).sparsity == ""  # type: ignore[union-attr]


def test_the_twin_has_no_difference_to_itself(full_site: Path) -> None:
    page = (full_site / "saes" / "plain-topk.html").read_text()
    row = re.search(r"<tr><th[^>]*>[^<]*<a[^>]*>ΔMATCHScore</a>.*?</tr>", page, re.S)
    assert row is not None
    assert "0 by definition: the twin minus itself" in row[0]
    assert "same architecture and sparsity" not in page
    assert "0 is never" not in page
    foot = board_page(full_site).read_text().split("<tfoot>")[1]
    assert 'Always yes</a></th>\n<td class="note wide-cell"></td>' in foot


def test_a_label_keeps_off_lines_where_it_can() -> None:
    placer = Placer(Box(0, 0, 400, 400))
    placer.avoid(200, 200, 300, 200)
    box = placer.place(200, 200, 50, 14)
    assert box is not None
    assert not box.touches(placer.lines[0])
    crowded = Placer(Box(0, 0, 400, 400))
    crowded.avoid(0, 0, 400, 400)
    assert crowded.place(200, 200, 50, 14) is not None


def test_images_of_both_sets_are_counted_apart(full_site: Path) -> None:
    assert "Unrefined R-SaD" in (full_site / "generators" / "demo-same.html").read_text()
    document = make_generator("one")
    real, own = document["real"]["n"], document["submission"]["n"]
    document["scores"]["kid"] |= {"n": real + own}
    (board,) = make_generator_boards([GeneratorRecord(document, Path("one.json"))])
    found = measure_generator(board, board.entries[0]).scores
    counts = {row.column.key: row.n for row in found}
    assert counts["kid"] == f"{own:,} + {real:,}"
    assert counts["sad"] == f"{document['scores']['sad']['n']:,}"
