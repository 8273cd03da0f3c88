"""C3 on an SAE's page, and the page of its judged latents."""

import html
import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judgement_documents import make_judgement, score
from result_records import make_record

from benchmark.judges.document import join
from leaderboard import build_site
from leaderboard.definitions import BY_ANCHOR
from leaderboard.pages.gallery import (
    FAILED_TEXTS,
    PER_QUARTILE,
    context_markup,
    evenly,
    gallery_view,
)
from leaderboard.pages.pictures import Pictures
from leaderboard.plots import score_spread
from leaderboard.reading.judgements import Judgement

Writer = Callable[..., Path]
SAE = "demo-topk-512-s0"


def view(document: dict[str, Any], pictures: Pictures | None = None) -> Any:
    pictures = pictures or Pictures(None, Path("img"))
    return gallery_view("k", Judgement(document, Path("a.json")), pictures)


def built(write_results: Writer, write_judgements: Writer, *documents: Any, **options: Any) -> Path:
    results = write_results([options.pop("record", None) or make_record()])
    folder = write_judgements(list(documents)) if documents else None
    return build_site(results, results.parent / "site", judgements=folder, **options).parent


def text_of(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def test_numbers_of_a_judge_stand_on_the_sae_page(
    write_results: Writer, write_judgements: Writer
) -> None:
    document = make_judgement(make_record())
    document["scores"]["dame"] = score(0.4315, 0.03, 24)
    document["scores"]["q1_deficit"] = score(-0.128, 0.06, 24, -1)
    document["quartiles"][0] |= {"mean": 0.35, "ci95": [0.31, 0.39], "eligible": 12, "alive": 40}
    document["quartiles"][3] |= {"mean": None, "ci95": None, "scored": 0, "eligible": 0}
    site = built(write_results, write_judgements, document)
    page = (site / "saes" / f"{SAE}.html").read_text()
    text = text_of(page)
    assert "DAME 0.431 [0.401, 0.462] ; Q1 deficit −0.128 [−0.188, −0.068]" in text
    assert "Q1 0.350 [0.310, 0.390] 6 12 of 40 0.300 0.700 0.400" in text
    assert "Q4 n/a 0 0 of 120 0.000" in text
    assert (
        "C3 monosemanticity C3 monosemanticity DAME (annotations) ↑ 0.431 [0.401, 0.462] 24" in text
    )
    assert "Mean score in Q1 / Q2 / Q3 / Q4 ↑ 0.350 / " in text
    assert re.search(r"Eligible share in Q1 / Q2 / Q3 / Q4 ↑ 0\.300 / \S+ / \S+ / 0\.000", text)
    figure = re.search(r"<desc id=\"judged-annotations[^>]*>([^<]+)", page)
    assert figure is not None
    assert "Q1 0.350 [0.310, 0.390], eligible 12 of 40; " in figure[1]
    assert "Q4 n/a, eligible 0 of 120. Chance is 1/6." in figure[1]
    assert "needs a judge" not in page


def test_a_record_alone_has_its_numbers_but_no_latents(
    write_results: Writer, write_judgements: Writer
) -> None:
    record = make_record()
    joined = join(record, make_judgement(record))
    site = built(write_results, write_judgements, record=joined)
    page = (site / "saes" / f"{SAE}.html").read_text()
    assert "DAME (annotations)" in page
    assert "eligible 98 of 120" in page
    assert "Built without this judge's document" in page
    assert not (site / "saes" / SAE).exists()


def test_the_same_page_with_the_record_joined_or_not(
    write_results: Writer, write_judgements: Writer
) -> None:
    record = make_record()
    document = make_judgement(record)
    folder = write_judgements([document])
    pages = []
    for name, each in (("plain", record), ("joined", join(record, document))):
        results = write_results([each], name)
        index = build_site(results, results.parent / f"{name}-site", judgements=folder)
        (page,) = (index.parent / "saes" / SAE).glob("*.html")
        pages.append(page.read_bytes())
    assert pages[0] == pages[1]


def test_the_document_beside_the_page_is_the_document(demo_site: Path) -> None:
    (path,) = (demo_site / "judgements").glob(f"{SAE}.annotations.*.json")
    assert json.loads(path.read_text()) == make_judgement(make_record())
    (page,) = (demo_site / "saes" / SAE).glob("latents-annotations-*.html")
    assert f'href="../../judgements/{path.name}"' in page.read_text()


def test_judges_have_pages_of_their_own(demo_site: Path) -> None:
    names = [path.name for path in (demo_site / "saes" / SAE).iterdir()]
    assert len(names) == 3
    page = (demo_site / "saes" / f"{SAE}.html").read_text()
    assert all(f'href="../saes/{SAE}/{name}"' in page for name in names)


def test_latents_stand_by_quartile_and_dominance(demo_site: Path) -> None:
    (page,) = (demo_site / "saes" / SAE).glob("latents-annotations-*.html")
    shown = [
        int(n) for n in re.findall(r'<article class="latent" id="latent-(\d+)"', page.read_text())
    ]
    latents = make_judgement(make_record())["latents"]
    wanted = sorted(latents, key=lambda each: (each["quartile"], -each["dominance"]))
    assert shown == [each["latent"] for each in wanted]


def test_every_quartile_shows_an_even_sample_and_the_table_all() -> None:
    found = view(make_judgement(make_record(), per_quartile=50))
    assert [len(section.latents) for section in found.sections] == [PER_QUARTILE] * 4
    assert [section.judged for section in found.sections] == [50] * 4
    assert len(found.rows) == 200
    first = [row for row in found.rows if row.quartile == 1]
    assert first[0].shown
    assert first[-1].shown
    assert sum(row.shown for row in found.rows) == found.n_shown == 4 * PER_QUARTILE


@given(st.integers(0, 300), st.integers(2, 30))
def test_an_even_sample_is_in_order_without_repeats(count: int, most: int) -> None:
    found = evenly(range(count), most)
    assert len(found) == min(count, most)
    assert found == sorted(set(found))
    assert not found or (found[0], found[-1]) == (0, count - 1)
    gaps = {b - a for a, b in pairwise(found)}
    assert not gaps or max(gaps) - min(gaps) <= 1


def test_a_failed_trial_has_the_true_place_and_the_judges() -> None:
    document = make_judgement(make_record(), per_quartile=1)
    trials = document["latents"][0]["trials"]
    trials[0] |= {"shown": ["x", "y", "z"], "truth": [2, 0, 1], "answer": [1, 0, 2]}
    trials[0]["correct"] = trials[1]["correct"] = False
    trials[1] |= {"truth": [1, 2, 0], "answer": None}
    first, second, *_ = view(document).sections[0].latents[0].failed
    assert [(r.example.name, r.true, r.judged) for r in first.ranked] == [
        ("x", 2, 2),
        ("y", 3, 1),
        ("z", 1, 3),
    ]
    assert first.answered
    assert (second.number, second.answered) == (2, False)
    assert [(r.true, r.judged) for r in second.ranked] == [(3, None), (1, None), (2, None)]


def test_only_failed_trials_are_shown() -> None:
    found = view(make_judgement(make_record(), skill=(1.0, 1.0, 0.0, 0.0)))
    for section, failed in zip(found.sections, (0, 0, 10, 10), strict=True):
        assert {latent.n_failed for latent in section.latents} == {failed}
        assert {len(latent.failed) for latent in section.latents} == {failed}


def test_pictures_are_small_lazy_and_written_once(demo_site: Path) -> None:
    (page,) = (demo_site / "saes" / SAE).glob("latents-annotations-*.html")
    tags = re.findall(r"<img [^>]+>", page.read_text())
    assert len(tags) >= 24 * 5
    for tag in tags:
        assert 'loading="lazy"' in tag
        assert re.search(r'src="../../img/[0-9a-f]{20}\.png" width="64" height="64"', tag)
        assert re.search(r'alt="score-\d{5}"', tag)


def test_pictures_that_may_not_be_shown_leave_names(
    write_results: Writer, write_judgements: Writer, fake_dataset: Any
) -> None:
    record = make_record(dataset={"name": "cub"})
    dataset = type(fake_dataset)("cub")
    site = built(
        write_results, write_judgements, make_judgement(record), record=record, dataset=dataset
    )
    (page,) = (site / "saes" / SAE).glob("*.html")
    text = page.read_text()
    assert "/img/" not in text
    assert "licence" in text
    assert '<code class="row-name">score-000' in text
    assert not (site / "img").exists()


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("a «b» c", "a <mark>b</mark> c"),
        ("«<b>» & c", "<mark>&lt;b&gt;</mark> &amp; c"),
        ("no mark <i>", "no mark &lt;i&gt;"),
        ("«a» and «b»", "«a» and «b»"),
        ("\u202eab «c\u2066»\x00", "\ufffdab <mark>c\ufffd</mark>\ufffd"),
        ("a\tb\r\n«c»", "a   b\n<mark>c</mark>"),
        ("x" * 200 + "«c»" + "y" * 200, "…" + "x" * 90 + "<mark>c</mark>" + "y" * 90 + "…"),
        ("x" * 500, "x" * 270 + "…"),
    ],
)
def test_contexts_show_their_token_and_nothing_else(text: str, markup: str) -> None:
    assert context_markup(text) == markup


def test_texts_have_their_token_marked(write_results: Writer, write_judgements: Writer) -> None:
    record = make_record(dataset={"name": "stories"})
    document = make_judgement(record, text=True, skill=(0.0,) * 4)
    site = built(write_results, write_judgements, document, record=record)
    (page,) = (site / "saes" / SAE).glob("*.html")
    text = page.read_text()
    assert text.count("<mark>") == 24 * (5 + 3 * FAILED_TEXTS)
    assert "10 failed trials, the first 5" in text
    assert "/img/" not in text
    assert "licence" not in text


HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7*7 }}\u202e"


def test_hostile_judgements_stay_text(write_results: Writer, write_judgements: Writer) -> None:
    record = make_record()
    document = make_judgement(record, f"openai/{HOSTILE}")
    document["judge"]["model"] = HOSTILE
    document["counts"] = {HOSTILE: 2}
    document["quartiles"][0]["ineligible"] = {HOSTILE: 3}
    document["scores"]["q1_deficit"] = score(None, 0, 0)
    document["scores"]["q1_deficit"]["not_applicable"] = {HOSTILE: 1}
    for latent in document["latents"]:
        latent["explanation"] = HOSTILE
        latent["strongest"] = [f"{n}{HOSTILE}" for n in latent["strongest"]]
    site = built(write_results, write_judgements, document)
    for page in site.rglob("*.html"):
        text = page.read_text()
        assert "<script>alert" not in text
        assert "/img/" not in text
        assert "\u202e" not in text
        assert "onerror=alert(2)&gt;49" not in text
        assert re.fullmatch(r"[\w.-]+", page.name)
    (page,) = (site / "saes" / SAE).glob("*.html")
    assert f"<q><bdi>{html.escape('<script>')}" in page.read_text()


def test_the_same_judgements_give_the_same_bytes(
    write_results: Writer, write_judgements: Writer, fake_dataset: Any
) -> None:
    records = [make_record("topk", d) for d in (128, 256)]
    documents = [make_judgement(record, judge) for record in records for judge in ("b", "a")]
    sites = []
    for name, order in (("one", 1), ("two", -1)):
        results = write_results(records[::order], f"results-{name}")
        folder = write_judgements(documents[::order], f"judgements-{name}")
        index = build_site(results, results.parent / name, dataset=fake_dataset, judgements=folder)
        root = index.parent
        sites.append({p.relative_to(root): p.read_bytes() for p in root.rglob("*") if p.is_file()})
    assert sites[0] == sites[1]


def test_a_full_page_stays_small(write_results: Writer, write_judgements: Writer) -> None:
    for text in (False, True):
        record = make_record(dataset={"name": f"data-{text}"})
        document = make_judgement(record, per_quartile=50, text=text, skill=(1 / 6,) * 4)
        results = write_results([record], f"results-{text}")
        folder = write_judgements([document], f"judgements-{text}")
        index = build_site(results, results.parent / f"site-{text}", judgements=folder)
        (page,) = (index.parent / "saes" / SAE).glob("*.html")
        assert page.stat().st_size < 400_000


def test_the_spread_counts_latents_by_trials() -> None:
    figure = score_spread("k", [[0.1, 0.1, 1.0], [0.0], [], [0.3]], 10)
    assert "Q1: 2 got 1, 1 got 10; Q2: 1 got 0; Q3: none judged; Q4: 1 got 3." in figure


def test_every_number_has_its_definition(demo_site: Path) -> None:
    text = (demo_site / "metrics.html").read_text()
    for anchor in ("dame", "q1-deficit", "eligible-share", "detection", "amplitude"):
        definition = BY_ANCHOR[anchor]
        assert definition.source == "AIU"
        assert definition.range
        assert f'id="{anchor}"' in text
