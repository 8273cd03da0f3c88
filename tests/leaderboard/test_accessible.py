"""Every kind of page under axe, in light and in dark."""

import json
from collections.abc import Iterator
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
COLOURS = ("color-contrast", "link-in-text-block")
OTHERS = {"rules": {rule: {"enabled": False} for rule in COLOURS}}

RUN = """async ([rules, all]) => {
  const numbers = new Map();
  const number = (text) => {
    if (!numbers.has(text)) numbers.set(text, numbers.size);
    return numbers.get(text);
  };
  const known = new Map([[null, 0]]);
  const chain = (e) => {
    if (!known.has(e)) {
      const s = getComputedStyle(e);
      const look = [e.localName, s.backgroundColor, s.backgroundImage, s.opacity, s.position];
      known.set(e, number([...look, chain(e.parentElement)].join()));
    }
    return known.get(e);
  };
  const alike = new Map();
  for (const e of all ? [] : document.body.querySelectorAll("*")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const s = getComputedStyle(e);
    const own = [s.color, s.fontSize, s.fontWeight, s.textDecorationLine, chain(e)].join();
    alike.set(own, [...(alike.get(own) ?? []).slice(0, 1), e]);
  }
  const part = all ? document : { include: [...alike.values()].flat() };
  return (await axe.run(part, { ...rules, resultTypes: ["violations"] })).violations;
}"""
"""Runs axe on everything, or on the first and the last of all texts that look alike: what colours
take is most of the time, and among alike ones all are right or none."""


@pytest.fixture(scope="module")
def small_site(tmp_path_factory: pytest.TempPathFactory, fake_dataset: Any) -> Path:
    """Every kind of page with few rows: what axe takes grows with the elements of a page."""
    from leaderboard import build_site
    from leaderboard.building.content import Sources
    from leaderboard.building.site import release_site

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


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Any]:
    """One page for all tests: each goes to another address."""
    context = browser.new_context(reduced_motion="reduce")
    yield context.new_page()
    context.close()


def serious(page: Any, page_file: Path, width: int = 1280, state: str = "") -> list[str]:
    """What axe finds serious or critical, everything folded out; colours in light and in dark."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="light")
    page.goto(page_file.as_uri() + state)
    page.locator("details").evaluate_all("all => all.forEach(d => { d.open = true })")
    if state:
        page.locator("#compare h3").wait_for()
    page.evaluate(Axe().axe_script)
    found = page.evaluate(RUN, [OTHERS, True])
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found += page.evaluate(RUN, [{"runOnly": COLOURS}, False])
    return [
        f"{each['id']} ({each['impact']}): {node['html'][:160]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"][:3]
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing_serious(page: Any, small_site: Path, kind: str) -> None:
    assert serious(page, min(small_site.glob(kind))) == []


def test_nor_in_a_comparison_on_a_phone(page: Any, small_site: Path) -> None:
    board = min(small_site.glob("boards/synavatars*.html"))
    assert serious(page, board, 390, "#compare=exposed-jumprelu,demo-topk-512-s0") == []


@pytest.mark.parametrize(
    ("colours", "button", "rule"),
    [
        ("color:#999;background:#aaa", "name", "color-contrast"),
        ("color:#000;background:#fff", "", "button-name"),
        ("color:#000;background:light-dark(#fff,#111)", "name", "color-contrast"),
    ],
)
def test_axe_finds_what_is_wrong(
    page: Any, tmp_path: Path, colours: str, button: str, rule: str
) -> None:
    """The check itself: in light, and of colours in dark too, also of one among many."""
    bad = tmp_path / "bad.html"
    good = '<p style="color:light-dark(#000,#fff)">text</p>'
    bad.write_text(
        '<!doctype html><html lang="en"><meta name="color-scheme" content="light dark">'
        f'<title>x</title><main><h1>x</h1>{good * 9}<p style="{colours}">text</p>{good * 9}'
        f"<button>{button}</button></main></html>"
    )
    (found,) = {line.split()[0] for line in serious(page, bad)}
    assert found == rule
