"""A small sweep from end to end: its files, what a second run keeps, kills and failures."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext

import pytest
from sweep_cases import MEASUREMENTS, SAES, SMALLEST, TEXT, Inline, contents, run, write_config
from typer.testing import CliRunner

import schemas
from benchmark.cli import sweep as command
from benchmark.errors import CheckFailed
from benchmark.sweep import jobs_of, load_config

TABLES = ("best", "results", "matchers", "matchers_by_sae", "k", "sanity")


def times(out):
    return {
        path: path.stat().st_mtime_ns
        for name in ("saes", "results", "ablations", "sanity")
        for path in (out / name).rglob("*.*")
        if path.is_file()
    }


def test_every_sae_has_its_records(swept):
    _, out, report, _ = swept
    assert report.failures == []
    assert (report.trained, report.measured, report.kept) == (SAES, MEASUREMENTS, 0)
    records = [
        *(out / "results").glob("*.json"),
        *(out / "ablations" / "k").glob("*.json"),
        *(out / "ablations" / "matchers").rglob("*.json"),
    ]
    assert len(records) == 12 + 2 + 24
    for path in records:
        record = json.loads(path.read_bytes())
        schemas.validate("result-sae", record)
        assert record["submission"]["id"] == path.stem
        assert record["scores"]["delta_match_score"]["value"] is not None
        assert record["bounds"]["linear_probe"]["n"] > 0
    for path in (out / "sanity").glob("*.json"):
        schemas.validate("sanity", json.loads(path.read_bytes()))
    assert not (out / "sanity" / "parts").exists() or not any((out / "sanity/parts").iterdir())


def test_matchers_have_records_of_their_own_beside_the_board(swept):
    _, out, _, _ = swept
    for slug, matcher in (("one-to-one", "one_to_one"), ("nn-omp-k3", "nn_omp")):
        found = list((out / "ablations" / "matchers" / slug).glob("*.json"))
        assert len(found) == 12
        for path in found:
            record = json.loads(path.read_bytes())
            main = json.loads((out / "results" / path.name).read_bytes())
            assert record["protocol"]["matcher"] == matcher
            assert main["protocol"]["matcher"] == "fbmp"
            assert record["submission"] == main["submission"]
            scores, twin = record["scores"], record["baselines"]["untrained"]
            assert scores["delta_match_score"]["value"] == pytest.approx(
                scores["match_score"]["value"] - twin["match_score"]["value"], abs=1e-12
            )


def test_all_tables_figures_and_the_site_are_there(swept):
    _, out, _, document = swept
    schemas.validate("sweep", document)
    assert [table["name"] for table in document["tables"]] == list(TABLES)
    for name in TABLES:
        for suffix in ("md", "tex", "csv", "json"):
            assert (out / "tables" / f"{name}.{suffix}").stat().st_size > 100
    figures = {path.name.split("-none-")[-1] for path in (out / "figures").glob("*.svg")}
    for part in (
        "by-size",
        "divergence-topk",
        "matchers-tapa-score",
        "k-topk-12",
        "by-match-score",
    ):
        assert any(part in name for name in figures), (part, figures)
    page = (out / "site" / "sweep.html").read_text()
    assert page.count("<svg") >= 10
    assert 'href="sweep.html"' in (out / "site" / "index.html").read_text()


def test_a_second_run_keeps_everything(swept, home, monkeypatch):
    config, out, _, document = swept
    monkeypatch.setenv("ASSAY_HOME", str(home))
    before = times(out)
    report, again = run(config, out)
    assert (report.trained, report.measured, report.kept) == (0, 0, MEASUREMENTS)
    assert again == document
    assert times(out) == before


def test_another_configuration_is_never_taken_for_this_one(swept, home, monkeypatch, tmp_path):
    """Same file names, other settings: everything that they touch is made again."""
    _, out, _, _ = swept
    monkeypatch.setenv("ASSAY_HOME", str(home))
    copied = tmp_path / "out"
    subprocess.run(["cp", "-a", str(out), str(copied)], check=True)
    text = SMALLEST.replace("epochs = 3", "epochs = 2")
    report, _ = run(write_config(tmp_path, text), copied)
    assert (report.trained, report.measured, report.kept) == (2, 2, 0)
    text = text.replace("bootstrap_resamples = 20", "bootstrap_resamples = 21")
    report, document = run(write_config(tmp_path, text), copied)
    assert (report.trained, report.measured, report.kept) == (0, 2, 0)
    # records of the other sweep lie beside these, and are not taken for theirs
    assert len(list((copied / "results").glob("*.json"))) == 12
    tables = {table["name"]: table["rows"] for table in document["tables"]}
    assert [row["d_sae"] for row in tables["results"]] == [8, 12]
    report, _ = run(write_config(tmp_path, text), copied)
    assert (report.trained, report.measured, report.kept) == (0, 0, 2)


def test_killed_and_resumed_it_trains_nothing_twice(swept, home, monkeypatch, tmp_path):
    config, whole, _, _ = swept
    out = tmp_path / "out"
    code = "import sys; from benchmark.cli import main; sys.argv[0] = 'assay'; main()"
    command = [sys.executable, "-c", code, "sweep", config, "--out", out, "--workers", "2"]
    process = subprocess.Popen(
        list(map(str, command)),
        env={"ASSAY_HOME": str(home), "PATH": "/usr/bin:/bin"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while len(list(out.glob("results/*.json"))) < 2 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    # the workers end with their parent within a second; what they still do is not written
    before = times(out)
    trained = len(list(out.glob("saes/*/sae.safetensors")))
    assert 0 < trained < SAES
    monkeypatch.setenv("ASSAY_HOME", str(home))
    # another number of workers: it must not matter
    report, _ = run(config, out, workers=1)
    assert report.trained == SAES - trained
    assert report.kept == len([path for path in before if "saes" not in path.parts])
    assert {path: stamp for path, stamp in times(out).items() if path in before} == before
    assert contents(out) == contents(whole)


def test_what_fails_is_listed_and_stops_nothing_else(home, monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_HOME", str(home))
    monkeypatch.setattr(command, "executor_for", lambda *_: nullcontext(Inline()))
    out = tmp_path / "out"
    absent = SMALLEST.replace("[[datasets]]", '[[datasets]]\nname = "absent"\n\n[[datasets]]')
    blocked = out / "saes" / jobs_of(load_config(write_config(tmp_path, SMALLEST)))[0].id
    blocked.mkdir(parents=True)
    (blocked / "mine.txt").write_text("not an SAE")
    done = CliRunner().invoke(command.app, [str(write_config(tmp_path, absent)), "--out", str(out)])
    assert isinstance(done.exception, CheckFailed)
    assert "2 of the sweep's tasks failed" in str(done.exception)
    lines = [line for line in done.stderr.splitlines() if line.startswith("failed: ")]
    assert len(lines) == 2
    assert "unknown dataset 'absent'" in lines[0]
    assert lines[1].endswith("exists and is not an SAE; choose another --out")
    assert len(list((out / "results").glob("*.json"))) == 1
    log = json.loads((out / "failures.json").read_bytes())
    assert all("Traceback" in one["trace"] for one in log["failures"])
    assert (blocked / "mine.txt").read_text() == "not an SAE"
    # mended, the log goes, and what was done stays as it was
    (blocked / "mine.txt").unlink()
    blocked.rmdir()
    path = write_config(tmp_path, SMALLEST)
    done = CliRunner().invoke(command.app, [str(path), "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["name"] == "small"
    assert not (out / "failures.json").exists()


def test_faults_of_the_file_are_lines_and_exit_code_2(tmp_path):
    text = TEXT.replace("epochs = 3", "epochs = 0").replace("k = 3\n", "kk = 3\n")
    done = CliRunner().invoke(
        command.app, [str(write_config(tmp_path, text)), "--out", str(tmp_path)]
    )
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 2
    assert all(line.startswith("error: ") for line in done.stderr.splitlines())
