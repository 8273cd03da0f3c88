"""Submissions whose every string is hostile: harmless even where no check refused them."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from generator_documents import make_generator
from result_records import make_record
from site_browser import opened
from site_submissions import generator_submission, measured, sae_submission, write_submission

from leaderboard import build_site
from leaderboard.text import cut, esc, orcid_address, web_address

SHORT = (
    "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{7*7}}\u202e\u2066\x07&#x3c;"
)
LONG = "W" * 1_000_000
LINK = "javascript:alert(3)//"
KEPT = {
    "id", "kind", "place", "measured_at", "sha256", "weights_sha256", "fingerprint",
    "images_sha256", "commit", "date",
}  # fmt: skip
"""Keys whose strings are names of files, hashes or dates, which nothing foreign ever reaches."""


def hostile(document: Any, text: str) -> Any:
    """``document`` with ``text`` in place of every other string, and as keys where they vary."""
    if isinstance(document, dict):
        made = {}
        for key, value in document.items():
            if key in KEPT and isinstance(value, str):
                made[key] = value
            elif key in ("paper", "code", "model", "url") and isinstance(value, str):
                made[key] = LINK + text[:100]
            elif key == "packages":
                made[key] = {text[:300]: text[:300]}
            elif key == "not_applicable":
                made[key] = {f"{text[:300]}{name}": count for name, count in value.items()}
            else:
                made[key] = hostile(value, text)
        return made
    if isinstance(document, list):
        return [hostile(value, text) for value in document]
    return text if isinstance(document, str) else document


def spread(record: dict[str, Any], text: str) -> dict[str, Any]:
    """A hostile record whose concepts still differ, and whose pairs name them."""
    made: dict[str, Any] = hostile(record, text[:20_000])
    made["submission"]["name"] = text
    made["submission"]["architecture"] = text
    made["dataset"]["name"] = text
    rows = made["per_concept"] = made["per_concept"][:4]
    for index, row in enumerate(rows):
        row["concept"] = f"{text}{index}"
    for index, pair in enumerate(made["pair_examples"]):
        pair |= {"pair_id": f"{text[:300]}{index}", "added": f"{text}0", "delta_add": 1}
        pair |= {"removed": None, "delta_rem": None}
    made["pair_examples"] = made["pair_examples"][:3]
    made["timing"]["measured_at"] = record["timing"]["measured_at"]
    return made


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """No schema and no rule refuses anything."""
    import schemas
    from benchmark.submissions import documents

    def read(folder: Path, kind: str) -> tuple[Any, list[Any]]:
        return json.loads((folder / "submission.json").read_text()), []

    monkeypatch.setattr(schemas, "validate", lambda name, document: None)
    monkeypatch.setattr(documents, "read_document", read)


def build(root: Path, text: str) -> Path:
    """A site of one hostile and one honest SAE, and of one hostile generator."""
    record = measured("evil", 1)
    submission = sae_submission(
        record,
        description="x",
        bibtex="x",
        links={"paper": "x", "code": "x", "model": "x"},
        training_data=[{"dataset": "synavatars", "splits": ["score"], "note": "x"}],
        claimed={"synavatars": {"match_score": 0.9}},
    )
    bad = spread(record, text)
    older = json.loads(json.dumps(bad))
    folder = root / "submissions"
    write_submission(folder, "saes", hostile(submission, text), older, bad, place="synavatars")
    gone = measured("gone", 2)
    withdrawn = sae_submission(gone, withdrawn={"date": "2026-12-01", "reason": "x"})
    bad_gone = spread(gone, text)
    write_submission(folder, "saes", hostile(withdrawn, text), bad_gone, place="synavatars")
    generator = make_generator("evil-images")
    made = hostile(generator, text[:20_000])
    made["submission"]["name"] = text
    made["timing"] = generator["timing"]
    document = hostile(generator_submission(generator, description="x"), text)
    write_submission(folder, "generators", document, made, place="synavatars")
    (root / "results").mkdir()
    (root / "results" / "good.json").write_text(json.dumps(make_record("relu", 256)))
    return build_site(root / "results", root / "site", submissions=folder, workers=1).parent


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("text", [SHORT, LONG, SHORT * 40], ids=["markup", "long", "both"])
def test_pages_of_hostile_submissions_do_nothing(browser: Any, tmp_path: Path, text: str) -> None:
    site = build(tmp_path, text)
    boards = [page for page in (site / "boards").glob("*.html") if "efficientnet" not in page.name]
    pages = [site / "index.html", site / "saes" / "evil.html", site / "saes" / "gone.html"]
    pages += [site / "generators" / "evil-images.html", *boards]
    assert len(pages) >= 6
    with opened(browser, 390) as page:
        for page_file in pages:
            content = page_file.read_text()
            assert len(content) < 1_500_000
            assert not set("\u202e\u2066\x07") & set(content)
            page.goto(page_file.as_uri())
            assert page.locator("script:not([src]), img[src=x], [onerror], iframe").count() == 0
            hrefs = page.locator("[href]").evaluate_all("all => all.map(a => a.protocol)")
            assert not set(hrefs) - {"file:", "https:", "http:", None}
            assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.usefixtures("unchecked")
def test_a_comparison_of_hostile_entries_does_nothing(browser: Any, tmp_path: Path) -> None:
    record, other = measured("evil", 1), measured("evil-too", 2)
    for name, one in (("1", record), ("2", other)):
        bad = spread(one, SHORT)
        (tmp_path / "results").mkdir(exist_ok=True)
        (tmp_path / "results" / f"{name}.json").write_text(json.dumps(bad))
    site = build_site(tmp_path / "results", tmp_path / "site", workers=1).parent
    (board,) = (site / "boards").glob("*.html")
    with opened(browser) as page:
        page.goto(board.as_uri() + "#compare=evil,evil-too")
        page.locator("#compare h3").wait_for()
        assert page.locator("#compare tbody tr", has_text="<script>").count() == 4
        assert page.locator("img[src=x], script:not([src])").count() == 0
        box = page.get_by_role("checkbox").nth(0)
        assert "<script>" in str(box.evaluate("e => e.closest('th').textContent"))


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://example.org/a?b=c#d", True),
        ("http://example.org", True),
        ("javascript:alert(1)", False),
        ("JaVaScRiPt:alert(1)", False),
        ("data:text/html,x", False),
        ("//example.org", False),
        ("/relative", False),
        ("https://user:word@example.org", False),
        ("https://example.org/\u202e", False),
        ("https://example.org/ b", False),
        ("https://", False),
        ("https://[", False),
        ("https://example.org/" + "a" * 3000, False),
        (7, False),
        (None, False),
    ],
)
def test_only_web_addresses_become_links(address: Any, kept: bool) -> None:
    assert (web_address(address) is not None) == kept


def test_only_an_orcid_leads_to_its_page() -> None:
    assert orcid_address("0000-0002-1825-009X") == "https://orcid.org/0000-0002-1825-009X"
    for wrong in ("", "0000-0002-1825-00", "javascript:alert(1)", "٠٠٠٠-0002-1825-0097", None):
        assert orcid_address(wrong) is None


def test_text_is_cut_then_escaped() -> None:
    assert cut("a" * 121) == "a" * 119 + "…"
    assert cut("a" * 120) == "a" * 120
    assert esc("<&" * 100, 10) == "&lt;&amp;" * 4 + "&lt;…"
    assert esc("a\u202eb\x00") == "a\ufffdb\ufffd"


@pytest.mark.usefixtures("unchecked")
def test_no_element_comes_from_a_submission(tmp_path: Path) -> None:
    """Rows of tables are written as text and not by a template: they must escape as well."""
    site = build(tmp_path, SHORT)
    for page in site.rglob("*.html"):
        text = page.read_text()
        found = Elements(text)
        assert not [name for name in found.attributes if name.startswith("on")], page
        assert found.inline_scripts == 0
        assert "x" not in found.sources
        assert "`49" not in text


class Elements(HTMLParser):
    """Attributes, sources and inline scripts of a page as a browser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.attributes: set[str] = set()
        self.sources: set[str | None] = set()
        self.inline_scripts = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        self.attributes |= own.keys()
        self.sources.add(own.get("src"))
        self.inline_scripts += tag == "script" and not own.get("src")
