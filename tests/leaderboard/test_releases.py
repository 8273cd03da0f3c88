"""Releases: frozen for good, checked when they are read, compared with what came after."""

import hashlib
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import yaml
from generator_documents import make_generator
from result_records import score
from site_submissions import generator_submission, measured, sae_submission, write_submission

import schemas
from benchmark.errors import UserError
from benchmark.files import file_sha256
from leaderboard import build_site
from leaderboard.building.cache import Cache
from leaderboard.building.content import Sources, read_content
from leaderboard.building.pool import Pool
from leaderboard.building.site import release_site
from leaderboard.frozen import load_releases, reading
from leaderboard.frozen.sealing import seal
from leaderboard.frozen.zips import pack, unpack
from leaderboard.ranking.changes import changes_since

BASE = "https://example.org/assay/"


def record(name: str, value: float) -> dict[str, Any]:
    found = measured(name, 1)
    found["scores"]["delta_match_score"] = score(value, 0.004)
    return found


class Repository:
    """Submissions and releases in one folder, and the site made of them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.submissions, self.releases = root / "submissions", root / "releases"

    def add(self, document: dict[str, Any], *later: dict[str, Any], **changes: Any) -> Path:
        return write_submission(
            self.submissions, "saes", sae_submission(document, **changes), document, *later
        )

    def change(self, folder: Path, **changes: Any) -> None:
        path = folder / "submission.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    def measure_again(self, folder: Path, document: dict[str, Any]) -> None:
        place = folder / "results" / "synavatars"
        version = len(list(place.iterdir())) + 1
        (place / f"{version}.json").write_text(json.dumps(document))

    def freeze(self, name: str, day: str = "2026-12-01") -> Path:
        sources = Sources(submissions=self.submissions)
        return release_site(name, self.releases, sources, date=day, base_url=BASE, workers=1)

    def build(self, name: str = "site", **options: Any) -> Path:
        options = {"releases": self.releases, "base_url": BASE, "workers": 1} | options
        return build_site(None, self.root / name, submissions=self.submissions, **options).parent


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path)
    made.add(record("alpha", 0.10))
    made.add(record("beta", 0.05))
    return made


def tree(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): file_sha256(p) for p in folder.rglob("*") if p.is_file()}


def test_a_changed_score_leaves_the_first_release_as_it_was(repository: Repository) -> None:
    first = repository.freeze("2026.1")
    frozen = tree(first)
    before = tree(repository.build() / "r" / "2026.1")
    alpha = repository.submissions / "saes" / "alpha"
    repository.measure_again(alpha, record("alpha", 0.02))
    repository.freeze("2026.2", "2026-12-20")
    site = repository.build()
    assert tree(first) == frozen
    assert tree(site / "r" / "2026.1") == before
    text = {name: (site / "r" / name / "index.html").read_text() for name in ("2026.1", "2026.2")}
    assert "0.100" in text["2026.1"]
    assert "0.100" not in text["2026.2"]
    assert "frozen on 2026-12-01" in text["2026.1"]
    assert [release.name for release in load_releases(repository.releases)] == ["2026.2", "2026.1"]


def test_the_newest_page_says_what_changed_since(repository: Repository) -> None:
    gone = repository.add(record("gamma", 0.03))
    repository.freeze("2026.1")
    alpha = repository.submissions / "saes" / "alpha"
    repository.measure_again(alpha, record("alpha", 0.02))
    repository.change(gone, withdrawn={"date": "2026-12-02", "reason": "a wrong split"})
    repository.add(record("delta", 0.2))
    text = (repository.build() / "index.html").read_text()
    section = re.sub(r"<[^>]+>", "", text[text.index('id="changes"') :])
    section = " ".join(section.split())
    assert "since 2026.1" in section
    assert "Delta" in section.partition("Gone")[0]
    assert "Gamma: withdrawn: a wrong split" in section
    assert "Alpha: ΔMATCHScore 0.100 [0.096, 0.104] → 0.020 [0.016, 0.024]" in section


def test_changes_are_those_of_scores_and_ranks(repository: Repository) -> None:
    gone = repository.add(record("gamma", 0.03))
    repository.freeze("2026.1")
    (release,) = load_releases(repository.releases)
    alpha = repository.submissions / "saes" / "alpha"
    repository.measure_again(alpha, record("alpha", 0.02))
    shutil.rmtree(gone)
    repository.add(record("delta", 0.2))
    with Pool(1) as pool:
        sources = Sources(submissions=repository.submissions)
        content = read_content(sources, Cache(repository.root / "cache"), pool)
    (found,) = changes_since(release, content)
    assert [(change.id, change.new_rank) for change in found.new] == [("delta", "1")]
    assert [(change.id, change.path, change.old_rank) for change in found.gone] == [
        ("gamma", None, "3")
    ]
    (moved,) = found.moved
    assert (moved.id, moved.column, moved.old_rank, moved.new_rank) == (
        "alpha",
        "ΔMATCHScore",
        "1",
        "3",
    )
    assert (moved.old, moved.new) == ("0.100 [0.096, 0.104]", "0.020 [0.016, 0.024]")


def test_a_rank_that_moved_without_its_score_comes_last(repository: Repository) -> None:
    repository.freeze("2026.1")
    (release,) = load_releases(repository.releases)
    repository.add(record("delta", 0.2))
    with Pool(1) as pool:
        sources = Sources(submissions=repository.submissions)
        content = read_content(sources, Cache(repository.root / "cache"), pool)
    (found,) = changes_since(release, content)
    moves = [(c.id, c.column, c.old, c.old_rank, c.new_rank) for c in found.moved]
    assert moves == [("alpha", "", "", "1", "2"), ("beta", "", "", "2", "3")]


def test_nothing_changed_is_said_too(repository: Repository) -> None:
    repository.freeze("2026.1")
    assert "Every entry is as it was." in (repository.build() / "index.html").read_text()


def test_a_release_holds_all_that_was_shown(repository: Repository) -> None:
    document = make_generator("painter")
    write_submission(repository.submissions, "generators", generator_submission(document), document)
    folder = repository.freeze("2026.1")
    release = json.loads((folder / "release.json").read_text())
    schemas.validate("release", release)
    assert {path: file_sha256(folder / path) for path in release["records"]} == release["records"]
    assert release["pages"]["sha256"] == file_sha256(folder / "pages.zip")
    for name, sha256 in release["citations"].items():
        assert file_sha256(folder / name) == sha256
    saes = next(board for board in release["boards"] if board["kind"] == "saes")
    (first, second) = saes["entries"]
    assert (first["id"], second["id"]) == ("alpha", "beta")
    assert first["values"]["delta_match_score"]["value"] == 0.10
    assert first["values"]["delta_match_score"]["text"] == "0.100"
    assert first["rank"] == {"place": 1, "best": 1, "worst": 1}
    assert json.loads((folder / first["record"]).read_text()) == record("alpha", 0.10)
    assert (folder / "records" / "generators" / "painter" / "submission.json").is_file()
    citation = yaml.safe_load((folder / "CITATION.cff").read_text())
    assert citation["version"] == "2026.1"
    assert citation["date-released"] == "2026-12-01"
    assert citation["url"] == f"{BASE}r/2026.1/index.html"
    assert (folder / "citation.bib").read_text().count("@misc{") == 4


@pytest.mark.parametrize("name", ["2026", "26.1", "2026.01", "2026.1.1", "../2026.1", "2026.1 "])
def test_only_a_year_and_a_number_name_a_release(repository: Repository, name: str) -> None:
    with pytest.raises(UserError, match="expected a year and a number"):
        repository.freeze(name)
    assert not repository.releases.exists()


def test_a_release_is_written_once_and_in_order(repository: Repository) -> None:
    repository.freeze("2026.2")
    before = tree(repository.releases)
    with pytest.raises(UserError, match="never written again"):
        repository.freeze("2026.2")
    for older in ("2026.1", "2025.9"):
        with pytest.raises(UserError, match=r"2026\.2 is there already; choose a later number"):
            repository.freeze(older)
    assert tree(repository.releases) == before
    repository.freeze("2026.10")
    repository.freeze("2027.0")


def test_boards_without_entries_are_not_frozen(repository: Repository) -> None:
    for name in ("alpha", "beta"):
        folder = repository.submissions / "saes" / name
        repository.change(folder, withdrawn={"date": "2026-12-02", "reason": "gone"})
    with pytest.raises(UserError, match="nothing to freeze"):
        repository.freeze("2026.1")
    assert not (repository.releases / "2026.1").exists()


def refused(repository: Repository, path: Path) -> str:
    """What is said of a release: one line that names ``path``, and no site."""
    with pytest.raises(UserError, match=f"^{re.escape(str(path))}: ") as caught:
        repository.build()
    said = str(caught.value)
    assert "\n" not in said
    assert not (repository.root / "site").exists()
    return said


def test_no_file_of_a_release_changes_or_goes_unnoticed(repository: Repository) -> None:
    document = make_generator("painter")
    write_submission(repository.submissions, "generators", generator_submission(document), document)
    folder = repository.freeze("2026.1")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    kinds = {path.name for path in files}
    assert kinds > {"release.json", "pages.zip", "CITATION.cff", "citation.bib", "submission.json"}
    assert len(files) == 10
    for path in files:
        data = path.read_bytes()
        place = data.index(b"2026") if b"2026" in data else len(data) // 2
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        refused(repository, path)
        path.unlink()
        refused(repository, path)
        path.write_bytes(data)
    stray = folder / "records" / "saes" / "alpha" / "other.json"
    stray.write_text("{}")
    assert "not part of release 2026.1" in refused(repository, stray)
    stray.unlink()
    repository.build()


def number_of(release: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = release["boards"][0]["entries"][0]["values"]["delta_match_score"]
    return found


def swap(entries: list[Any]) -> None:
    entries.reverse()


EDITS: dict[str, Callable[[dict[str, Any]], object]] = {
    "date": lambda release: release.update(date="2026-11-30"),
    "commit": lambda release: release.update(commit="ab" * 20),
    "suite": lambda release: release.update(suite_version="9.9.9"),
    "title": lambda release: release["boards"][0].update(title="another"),
    "order": lambda release: swap(release["boards"][0]["entries"]),
    "entry": lambda release: release["boards"][0]["entries"].pop(),
    "name": lambda release: release["boards"][0]["entries"][0].update(name="another"),
    "rank": lambda release: release["boards"][0]["entries"][1]["rank"].update(best=1, place=1),
    "value": lambda release: number_of(release).update(value=0.101),
    "text": lambda release: number_of(release).update(text="0.200"),
    "interval": lambda release: number_of(release).update(ci95=[0.0, 0.2]),
    "record": lambda release: release["records"].popitem(),
    "pages": lambda release: release["pages"].update(files=release["pages"]["files"] + 1),
    "citations": lambda release: release["citations"].update({"citation.bib": "ab" * 32}),
    "seal": lambda release: release.update(seal="ab" * 32),
}


@pytest.mark.parametrize("edit", EDITS)
def test_no_part_of_its_document_changes_unnoticed(repository: Repository, edit: str) -> None:
    path = repository.freeze("2026.1") / "release.json"
    release = json.loads(path.read_text())
    EDITS[edit](release)
    path.write_text(json.dumps(release))
    assert "changed since the release was frozen; restore it" in refused(repository, path)


def test_the_layout_of_its_document_does_not_matter(repository: Repository) -> None:
    path = repository.freeze("2026.1") / "release.json"
    path.write_text(json.dumps(json.loads(path.read_text()), indent=7))
    repository.build()


RESEALED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "value": (EDITS["value"], "alpha on {slug}: delta_match_score is"),
    "interval": (EDITS["interval"], "alpha on {slug}: delta_match_score is"),
    "gone": (
        lambda release: release["boards"][0]["entries"][0]["values"].pop("match_score"),
        "alpha on {slug}: match_score is null, expected ",
    ),
    "name": (EDITS["name"], 'alpha on {slug}: name is "another", expected "Alpha"'),
    "other record": (
        lambda release: release["boards"][0]["entries"][0].update(record_sha256="ab" * 32),
        "alpha on {slug}: record_sha256 is",
    ),
    "other page": (
        lambda release: release["boards"][0]["entries"][0].update(page="saes/beta.html#x"),
        'alpha on {slug}: page is "saes/beta.html#x", expected',
    ),
    "way out": (
        lambda release: release["boards"][0]["entries"][0].update(page="../../evil.html#x"),
        "$.boards[0].entries[0].page",
    ),
    "address": (
        lambda release: release["boards"][0]["entries"][0].update(page="https://evil.example/#x"),
        "$.boards[0].entries[0].page",
    ),
    "other file": (
        lambda release: release["records"].update({"records/saes/../../up.json": "ab" * 32}),
        "$.records",
    ),
}


@pytest.mark.parametrize("edit", RESEALED)
def test_sealing_an_edit_anew_does_not_help(repository: Repository, edit: str) -> None:
    path = repository.freeze("2026.1") / "release.json"
    release = json.loads(path.read_text())
    change, expected = RESEALED[edit]
    change(release)
    path.write_text(json.dumps({**release, "seal": seal(release)}))
    assert expected.format(slug=release["boards"][0]["slug"]) in refused(repository, path)


def test_the_seal_is_the_hash_of_compact_sorted_json(repository: Repository) -> None:
    path = repository.freeze("2026.1") / "release.json"
    release = json.loads(path.read_text())
    stated = release.pop("seal")
    text = json.dumps(release, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert stated == hashlib.sha256(f"{text}\n".encode()).hexdigest()


def test_numbers_compared_once_are_known_while_nothing_changed(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = repository.freeze("2026.1") / "release.json"
    compared: list[Path] = []
    own = reading.check_parts
    monkeypatch.setattr(
        reading, "check_parts", lambda folder, doc: (compared.append(folder), own(folder, doc))
    )
    for name in ("one", "two"):
        repository.build(name, cache=repository.root / "cache")
    assert compared == [path.parent]
    release = json.loads(path.read_text())
    EDITS["value"](release)
    path.write_text(json.dumps({**release, "seal": seal(release)}))
    with pytest.raises(UserError, match="delta_match_score is"):
        repository.build("three", cache=repository.root / "cache")


def visible_texts(site: Path) -> dict[str, str]:
    """Every file of the newest site that can be read as text, but for records."""
    found = {}
    for path in site.rglob("*"):
        name = path.relative_to(site).as_posix()
        if path.is_file() and not name.startswith(("r/", "records/", "static/")):
            data = path.read_bytes()
            found[name] = data.decode("utf-8", "replace")
            if path.suffix == ".parquet":
                found[name] = str(pyarrow.parquet.read_table(path).to_pylist())
    return found


def test_a_renamed_entry_has_one_name(repository: Repository) -> None:
    document = make_generator("painter")
    document["submission"]["name"] = "Oldpainter"
    painter = generator_submission(document)
    brush = write_submission(repository.submissions, "generators", painter, document)
    left = repository.add({**record("gamma", 0.03)})
    for folder in (left, repository.submissions / "saes" / "alpha"):
        (file,) = folder.glob("results/*/1.json")
        result = json.loads(file.read_text())
        result["submission"]["name"] = f"Old{folder.name}"
        file.write_text(json.dumps(result))
        repository.change(folder, name=f"Old{folder.name}")
    repository.freeze("2026.1")
    for folder in (left, brush, repository.submissions / "saes" / "alpha"):
        repository.change(folder, name=f"New{folder.name}")
    repository.change(left, withdrawn={"date": "2026-12-02", "reason": "a wrong split"})
    alpha = repository.submissions / "saes" / "alpha"
    (file,) = alpha.glob("results/*/1.json")
    again = json.loads(file.read_text())
    again["scores"]["delta_match_score"] = score(0.02, 0.004)
    repository.measure_again(alpha, again)
    site = repository.build(cache=repository.root / "cache")
    texts = visible_texts(site)
    old = [name for name, text in texts.items() if re.search("Old(alpha|gamma|painter)", text)]
    assert old == []
    board = next(name for name in texts if name.startswith("boards/synavatars"))
    slug = Path(board).stem
    for name in (
        "index.html",
        "feed.xml",
        board,
        "saes/alpha.html",
        "api/v1/index.json",
        "api/v1/entries/alpha.json",
        f"data/{slug}.csv",
        f"data/{slug}.json",
        f"data/{slug}.parquet",
    ):
        assert "Newalpha" in texts[name], name
    changes = texts["index.html"][texts["index.html"].index('id="changes"') :]
    assert "Newgamma" in changes
    assert "<h1><bdi>Newpainter</bdi>" in texts["generators/painter.html"]
    assert "Oldalpha" in (site / "r" / "2026.1" / "saes" / "alpha.html").read_text()


def test_a_folder_that_is_no_release_is_named(repository: Repository) -> None:
    (repository.releases / "latest").mkdir(parents=True)
    with pytest.raises(UserError, match="no release; expected folders like"):
        repository.build()


def test_a_renamed_release_is_refused(repository: Repository) -> None:
    shutil.move(repository.freeze("2026.1"), repository.releases / "2026.3")
    with pytest.raises(UserError, match=r"name '2026\.1', expected '2026\.3'"):
        repository.build()


def test_a_citation_from_a_permalink_finds_its_number_after_a_rebuild(
    repository: Repository,
) -> None:
    repository.freeze("2026.1")
    site = repository.build()
    cited = json.loads((site / "api" / "v1" / "entries" / "alpha.json").read_text())
    permalink = cited["boards"][0]["citation"]["permalink"]
    text = cited["boards"][0]["citation"]["text"]
    assert permalink in text
    number = re.search(r"ΔMATCHScore (\S+ \[[^]]+\])", text)
    assert number is not None
    alpha = repository.submissions / "saes" / "alpha"
    repository.measure_again(alpha, record("alpha", 0.02))
    again = repository.build("rebuilt")
    path, _, anchor = permalink.removeprefix(BASE).partition("#")
    page = (again / path).read_text()
    section = page[page.index(f'id="{anchor}"') :]
    assert number[1] in re.sub(r"<[^>]+>", "", section)
    now = json.loads((again / "api" / "v1" / "entries" / "alpha.json").read_text())
    assert now["boards"][0]["citation"]["permalink"] is None


def test_every_page_of_a_release_says_so_and_links_out(repository: Repository) -> None:
    repository.freeze("2026.1")
    site = repository.build()
    pages = sorted((site / "r" / "2026.1").rglob("*.html"))
    assert len(pages) >= 6
    for page in pages:
        text = page.read_text()
        assert "Release <strong>2026.1</strong>" in text
        targets = re.findall(r'(?:href|src)="([^"#?]*)', text)
        for target in targets:
            if target and not target.startswith("https://"):
                assert (page.parent / target).exists(), (page, target)
    assert (site / "r" / "2026.1" / "data").is_dir()


def zipped(path: Path, name: str, data: bytes = b"<p>", **attributes: Any) -> dict[str, int]:
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = attributes.get("mode", 0o100644) << 16
        archive.writestr(info, data)
    return {"bytes": len(data), "files": 1}


@pytest.mark.parametrize(
    "name",
    ["../up.html", "/root.html", "a/../b.html", "a\\b.html", ".hidden.html", "run.sh", "a/", "x"],
)
def test_odd_members_of_a_zip_are_refused(tmp_path: Path, name: str) -> None:
    stated = zipped(tmp_path / "pages.zip", name)
    with pytest.raises(UserError, match="no ordinary page"):
        unpack(tmp_path / "pages.zip", tmp_path / "out", stated)
    assert not list(tmp_path.glob("*.html"))


def test_links_and_wrong_sizes_in_a_zip_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pages.zip"
    stated = zipped(path, "a.html", b"/etc/passwd", mode=0o120777)
    with pytest.raises(UserError, match="no ordinary page"):
        unpack(path, tmp_path / "out", stated)
    stated = zipped(path, "a.html", bytes(10**6))
    with pytest.raises(UserError, match=r"expected 1 of 999 bytes by release\.json"):
        unpack(path, tmp_path / "out", {**stated, "bytes": 999})
    path.write_bytes(b"no zip")
    with pytest.raises(UserError, match="cannot be unpacked"):
        unpack(path, tmp_path / "out", stated)


def test_packing_depends_on_content_alone(tmp_path: Path) -> None:
    for name, order in (("one", ("b.html", "a.css")), ("two", ("a.css", "b.html"))):
        for file in order:
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / file).write_text(file)
    (tmp_path / "two" / "a.css").chmod(0o600)
    sizes = [pack(tmp_path / name, tmp_path / f"{name}.zip") for name in ("one", "two")]
    assert sizes == [(11, 2), (11, 2)]
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    (tmp_path / "out").mkdir()
    unpack(tmp_path / "one.zip", tmp_path / "out", {"bytes": 11, "files": 2})
    assert tree(tmp_path / "out") == tree(tmp_path / "one")
