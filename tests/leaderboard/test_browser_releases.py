"""Releases in a browser: what changed since, permalinks, and the number at their end."""

import json
from pathlib import Path
from typing import Any

import pytest
from result_records import score
from site_browser import follow, opened
from site_submissions import measured, sae_submission, write_submission

from leaderboard import build_site
from leaderboard.building.content import Sources
from leaderboard.building.site import release_site


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site after a release: one score moved, one entry new, one withdrawn, one as it was."""
    root = tmp_path_factory.mktemp("released")
    folder = root / "submissions"
    records = {name: measured(name, seed) for seed, name in enumerate(("moved", "gone", "same"))}
    for record in records.values():
        write_submission(folder, "saes", sae_submission(record), record)
    release_site("2026.1", root / "releases", Sources(None, folder), date="2026-12-01")
    again = json.loads(json.dumps(records["moved"]))
    again["scores"]["delta_match_score"] = score(0.42, 0.01)
    again["timing"]["measured_at"] = "2026-12-03T10:00:00Z"
    (folder / "saes/moved/results/synavatars/2.json").write_text(json.dumps(again))
    withdrawn = {"date": "2026-12-02", "reason": "A mistake."}
    document = sae_submission(records["gone"], withdrawn=withdrawn)
    (folder / "saes/gone/submission.json").write_text(json.dumps(document))
    new = measured("brand-new", 7)
    write_submission(folder, "saes", sae_submission(new), new)
    build_site(None, root / "site", submissions=folder, releases=root / "releases")
    return root / "site"


def test_the_newest_page_says_what_changed(browser: Any, released: Path) -> None:
    with opened(browser) as page:
        page.goto((released / "index.html").as_uri())
        changes = page.locator("#changes")
        assert changes.get_by_role("heading").first.inner_text() == "What changed since 2026.1"
        listed = dict(
            zip(
                changes.locator("dt").all_inner_texts(),
                changes.locator("dd").all_inner_texts(),
                strict=True,
            )
        )
        assert "Brand new" in listed["New"]
        assert "Gone: withdrawn: A mistake." in listed["Gone"]
        assert "→ 0.420 [0.410, 0.430]" in listed["Moved"]
        assert "Same" not in listed["Moved"]
        follow(page, changes.get_by_role("link", name="2026.1"))
        assert page.url.endswith("r/2026.1/index.html")
        assert page.locator(".release-bar").inner_text().startswith("Release 2026.1, frozen on")
        assert page.locator("table.leader tbody tr").count() == 3
        follow(page, page.get_by_role("link", name="The newest board"))
        assert page.url.endswith("/site/index.html")


def test_a_permalink_leads_to_the_number_it_was_copied_from(browser: Any, released: Path) -> None:
    with opened(browser, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto((released / "saes" / "same.html").as_uri())
        page.get_by_role("button", name="Copy Text", exact=True).click()
        page.locator(".copy", has_text="Copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        link = page.locator("a[href*='r/2026.1/saes/same.html']").first
        assert link.inner_text() in copied
        follow(page, link)
        assert "/r/2026.1/saes/same.html#" in page.url
        value = page.locator(".findings .big").first.inner_text()
        assert " ".join(value.split()) in " ".join(copied.split())
        assert page.locator(".release-bar").is_visible()


def test_a_moved_number_has_no_permalink_yet(browser: Any, released: Path) -> None:
    with opened(browser) as page:
        page.goto((released / "saes" / "moved.html").as_uri())
        assert page.get_by_text("in no release yet").is_visible()
        page.goto((released / "r/2026.1/saes/moved.html").as_uri())
        assert "0.42" not in page.locator(".findings .big").first.inner_text()


def test_a_withdrawn_entry_stays_in_its_release(browser: Any, released: Path) -> None:
    with opened(browser) as page:
        page.goto((released / "saes" / "gone.html").as_uri())
        assert "Withdrawn on 2026-12-02" in page.locator(".banner").inner_text()
        page.goto((released / "r/2026.1/saes/gone.html").as_uri())
        assert page.locator(".banner").count() == 0
        assert page.get_by_text("of 3 by ΔMATCHScore").is_visible()
