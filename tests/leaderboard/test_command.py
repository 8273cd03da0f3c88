"""``assay site``."""

import json
import threading
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from judgement_documents import make_judgement
from result_records import make_gate, make_record, make_sanity
from site_submissions import measured, sae_submission, write_submission
from typer.testing import CliRunner

from benchmark.cli import site
from benchmark.errors import UserError

Writer = Callable[..., Path]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a build keeps goes to a folder of the test, and the releases are its own."""
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> tuple[str, str]:
    done = CliRunner().invoke(site.app, list(arguments))
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout, done.stderr


def test_build_takes_submissions_and_results_where_they_are(
    write_results: Writer, tmp_path: Path
) -> None:
    write_submission(tmp_path / "submissions", "saes", sae_submission(measured("one", 1)),
                     measured("one", 1))  # fmt: skip
    run("build")
    assert not (tmp_path / "site" / "saes" / "demo-topk-512-s0.html").exists()
    write_results([make_record()])
    _, said = run("build", "--base-url", "https://example.org/board")
    assert {path.stem for path in (tmp_path / "site" / "saes").iterdir()} == {
        "one",
        "demo-topk-512-s0",
    }
    assert "sitemap" not in said
    assert (tmp_path / "site" / "sitemap.xml").is_file()


def test_a_release_stands_in_the_next_build(write_results: Writer, tmp_path: Path) -> None:
    write_results([make_record()])
    printed, said = run("release", "2026.1", "--results", "results")
    assert printed.strip() == "leaderboard/releases/2026.1"
    assert "takes results from results\n" in said
    assert "no --base-url" in said
    _, said = run("build")
    assert "no sitemap.xml and no feed.xml" in said
    assert (tmp_path / "site" / "r" / "2026.1" / "index.html").is_file()
    again = CliRunner().invoke(site.app, ["release", "2026.1", "--results", "results"])
    assert isinstance(again.exception, UserError)
    assert "never written again" in str(again.exception)


def local_files(folder: Path) -> None:
    """What a demo leaves beside its results."""
    (folder / "gate.json").write_text(json.dumps(make_gate()))
    (folder / "sanity.json").write_text(json.dumps(make_sanity()))
    (folder / "judgements").mkdir()
    (folder / "judgements" / "one.json").write_text(json.dumps(make_judgement(make_record())))


def test_a_release_takes_no_local_files(write_results: Writer, tmp_path: Path) -> None:
    document = measured("one", 1)
    write_submission(tmp_path / "submissions", "saes", sae_submission(document), document)
    write_results([make_record()])
    local_files(tmp_path)
    _, said = run("release", "2026.1")
    assert [line for line in said.splitlines() if line.startswith("takes")] == [
        "takes submissions from submissions"
    ]
    release = json.loads((tmp_path / "leaderboard/releases/2026.1/release.json").read_text())
    assert [entry["id"] for board in release["boards"] for entry in board["entries"]] == ["one"]
    with zipfile.ZipFile(tmp_path / "leaderboard/releases/2026.1/pages.zip") as pages:
        index = pages.read("index.html").decode()
    assert "Does training show?" not in index
    assert "Do the metrics see training?" not in index
    _, said = run("release", "2026.2", "--results", "results", "--gate", "gate.json")
    assert "takes gate from gate.json" in said
    assert "takes submissions from submissions" in said
    assert "sanity" not in said


def test_a_release_of_nothing_says_what_to_name(write_results: Writer) -> None:
    write_results([make_record()])
    done = CliRunner().invoke(site.app, ["release", "2026.1"])
    assert isinstance(done.exception, UserError)
    assert "--submissions" in str(done.exception)


def test_the_project_is_linked_where_it_is_known(write_results: Writer, tmp_path: Path) -> None:
    write_results([make_record()])
    run("build")
    index = (tmp_path / "site" / "index.html").read_text()
    assert "First clone the project's repository" in index.replace("&#39;", "'")
    run("build", "--repository", "https://example.org/owner/assay/")
    for page in ("index.html", "methods.html"):
        text = (tmp_path / "site" / page).read_text()
        assert 'href="https://example.org/owner/assay"' in text
    done = CliRunner().invoke(site.app, ["build", "--repository", "git@example.org:assay"])
    assert "repository 'git@example.org:assay': expected a web address" in str(done.exception)


@pytest.mark.parametrize("address", ["example.org", "ftp://example.org", "https://a b", "https://"])
def test_an_address_that_is_none_is_refused(write_results: Writer, address: str) -> None:
    write_results([make_record()])
    done = CliRunner().invoke(site.app, ["build", "--base-url", address])
    assert isinstance(done.exception, UserError)
    assert "expected a web address" in str(done.exception)


def test_build_writes_the_site_and_prints_its_index(write_results: Writer) -> None:
    results = write_results([make_record()])
    (results.parent / "gate.json").write_text(json.dumps(make_gate()))
    (results.parent / "sanity.json").write_text(json.dumps(make_sanity()))
    out = results.parent / "site"
    done = CliRunner().invoke(site.app, ["build", "--results", str(results), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == str(out / "index.html")
    assert "without pictures" in done.stderr
    text = (out / "index.html").read_text()
    assert "Does training show?" in text
    assert "Do the metrics see training?" in text


def test_build_finds_the_judgements_beside_the_results(
    write_results: Writer, write_judgements: Writer
) -> None:
    record, other = make_record(), make_record("topk", 128)
    results = write_results([record])
    write_judgements([make_judgement(record), make_judgement(other)])
    out = results.parent / "site"
    command = ["build", "--results", str(results), "--out", str(out)]
    done = CliRunner().invoke(site.app, command)
    assert done.exit_code == 0, done.output
    assert "1 judgement belongs to no record" in done.stderr
    (board,) = (out / "boards").iterdir()
    assert "DAME (annotations)" in board.read_text()
    named = write_judgements([make_judgement(record, "random")], "named")
    done = CliRunner().invoke(site.app, [*command, "--judgements", str(named)])
    assert done.exit_code == 0, done.output
    (board,) = (out / "boards").iterdir()
    assert "DAME (annotations)" not in board.read_text()
    assert "DAME (random)" in board.read_text()


def test_build_names_a_broken_record(write_results: Writer) -> None:
    results = write_results([make_record()])
    (results / "bad.json").write_text("[1")
    done = CliRunner().invoke(site.app, ["build", "--results", str(results)])
    assert isinstance(done.exception, UserError)
    assert str(results / "bad.json") in str(done.exception)


def test_serve_answers_on_loopback_only(demo_site: Path) -> None:
    server = site.make_server(demo_site, 0)
    assert server.server_address[0] == "127.0.0.1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/index.html"
        with urllib.request.urlopen(url, timeout=10) as answer:
            assert answer.read() == (demo_site / "index.html").read_bytes()
    finally:
        server.shutdown()
        server.server_close()


def test_serve_without_a_site_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="assay site build"):
        site.make_server(tmp_path, 0)


def test_serve_names_a_taken_port(demo_site: Path) -> None:
    server = site.make_server(demo_site, 0)
    try:
        with pytest.raises(UserError, match=f"port {server.server_port} cannot be used"):
            site.make_server(demo_site, server.server_port)
    finally:
        server.server_close()
    with pytest.raises(UserError, match="port 99999 cannot be used"):
        site.make_server(demo_site, 99999)
