"""Every kind of page under axe, in light and in dark."""

import json
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from generator_documents import make_generators
from judgement_documents import make_judgement
from result_records import make_gate, make_record, make_sanity
from site_submissions import generator_submission, measured, sae_submission, write_submission

KINDS = (
    "index.html",
    "boards/synavatars*.html",
    "boards/generators*.html",
    "saes/exposed-jumprelu.html",
    "saes/gone-relu.html",
    "saes/*/latents-annotations-*.html",
    "generators/demo-more-glasses.html",
    "metrics.html",
    "methods.html",
    "r/2026.1/index.html",
)
WHOLE = {"resultTypes": ["violations"]}
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"], "resultTypes": ["violations"]}


@pytest.fixture(scope="module")
def small_site(tmp_path_factory: pytest.TempPathFactory, fake_dataset: Any) -> Path:
    """Every kind of page with few rows: what axe takes grows with the elements of a page."""
    from leaderboard import build_site
    from leaderboard.content import Sources
    from leaderboard.site import release_site

    root = tmp_path_factory.mktemp("small")
    records = [make_record("topk", size) for size in (128, 512)]
    exposed, gone = measured("exposed-jumprelu", 1, "jumprelu"), measured("gone-relu", 2, "relu")
    for record in (*records, exposed, gone):
        record["per_concept"] = record["per_concept"][:5]
        record["pair_examples"] = record["pair_examples"][:6]
    (root / "results").mkdir()
    for index, record in enumerate(records):
        (root / "results" / f"{index}.json").write_text(json.dumps(record))
    training = [{"dataset": "synavatars", "splits": ["score"]}]
    claimed = {"synavatars": {"match_score": 0.9}}
    document = sae_submission(exposed, training_data=training, claimed=claimed, bibtex="@misc{a}")
    write_submission(root / "submissions", "saes", document, exposed, exposed)
    withdrawn = {"date": "2026-12-01", "reason": "Trained on the score images."}
    write_submission(root / "submissions", "saes", sae_submission(gone, withdrawn=withdrawn), gone)
    for generator in make_generators():
        document = generator_submission(generator)
        write_submission(root / "submissions", "generators", document, generator)
    (root / "judgements").mkdir()
    judgement = make_judgement(records[1], "annotations", per_quartile=1)
    (root / "judgements" / "0.json").write_text(json.dumps(judgement))
    (root / "gate.json").write_text(json.dumps(make_gate()))
    (root / "sanity.json").write_text(json.dumps(make_sanity()))
    sources = Sources(root / "results", root / "submissions")
    release_site("2026.1", root / "releases", sources, date="2026-12-01")
    build_site(
        root / "results",
        root / "site",
        submissions=root / "submissions",
        dataset=fake_dataset,
        gate=root / "gate.json",
        sanity=root / "sanity.json",
        judgements=root / "judgements",
        releases=root / "releases",
    )
    return root / "site"


def serious(browser: Any, page_file: Path, width: int = 1280, state: str = "") -> list[str]:
    """What axe finds serious or critical, everything folded out; in dark of the colours only."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="light", reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(page_file.as_uri() + state)
    page.locator("details").evaluate_all("all => all.forEach(d => { d.open = true })")
    if state:
        page.locator("#compare h3").wait_for()
    found = Axe().run(page, options=WHOLE).response["violations"]
    page.emulate_media(color_scheme="dark")
    found += Axe().run(page, options=COLOURS).response["violations"]
    context.close()
    return [
        f"{each['id']} ({each['impact']}): {node['html'][:160]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"][:3]
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing_serious(browser: Any, small_site: Path, kind: str) -> None:
    assert serious(browser, min(small_site.glob(kind))) == []


def test_nor_in_a_comparison_on_a_phone(browser: Any, small_site: Path) -> None:
    board = min(small_site.glob("boards/synavatars*.html"))
    assert serious(browser, board, 390, "#compare=exposed-jumprelu,demo-topk-512-s0") == []


@pytest.mark.parametrize(
    ("colours", "button", "rule"),
    [
        ("color:#999;background:#aaa", "name", "color-contrast"),
        ("color:#000;background:#fff", "", "button-name"),
        ("color:#000;background:light-dark(#fff,#111)", "name", "color-contrast"),
    ],
)
def test_axe_finds_what_is_wrong(
    browser: Any, tmp_path: Path, colours: str, button: str, rule: str
) -> None:
    """The check itself: in light, and of colours in dark too."""
    page = tmp_path / "bad.html"
    page.write_text(
        '<!doctype html><html lang="en"><meta name="color-scheme" content="light dark">'
        f'<title>x</title><main><h1>x</h1><p style="{colours}">text</p>'
        f"<button>{button}</button></main></html>"
    )
    assert rule in " ".join(serious(browser, page))
