"""``assay judge`` and ``card --judgement`` on a small dataset of pictures, as a user runs them."""

import json
import os
import signal
import sys
import threading
import time

import dataset_cases
import numpy as np
import pytest
import scripted_server

import schemas
from benchmark.cli import main
from benchmark.codes import write_arrays
from benchmark.datasets import load_dataset
from benchmark.judges import parallel
from benchmark.saes.faults import true_sae
from benchmark.saes.formats.assay import FORMAT

ROWS = 120


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A dataset of 120 pictures, features that show its four concepts, and the SAE that does."""
    folder = tmp_path_factory.mktemp("judged")
    draw = np.random.default_rng(0)
    present = draw.random((ROWS, 4)) < [0.8, 0.7, 0.6, 0.5]
    rows = dataset_cases.content()
    labels = [np.flatnonzero(row).tolist() for row in present]
    rows["score"] = dataset_cases.image_rows("score", 5000, labels)
    dataset_cases.write(folder / "tiny", rows)
    data = load_dataset(str(folder / "tiny"))
    strength = draw.uniform(1, 1.5, (len(data.ids), 4))
    shown = (data.annotations * strength).astype(np.float32)
    features = {part: shown[data.split(part)] for part in ("match", "score")}
    features |= dict.fromkeys(("base", "edited"), shown[:3])
    made = {"fingerprint": data.fingerprint}
    write_arrays(folder / "features.safetensors", features, made)
    FORMAT.save(true_sae(np.eye(4)), folder / "sae", {})
    FORMAT.save(true_sae(np.eye(4)[::-1]), folder / "other", {})
    return folder


@pytest.fixture
def assay(monkeypatch, capsys, place, tmp_path):
    """Runs ``assay COMMAND SAE … --dataset --features``: (exit code, stdout, stderr)."""
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-tests")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    def run(command, sae, *arguments):
        data = "--dataset", place / "tiny", "--features", place / "features.safetensors"
        given = "assay", command, place / sae, *data, *arguments
        monkeypatch.setattr(sys, "argv", [*map(str, given)])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    return run


def read(path):
    return json.loads(path.read_bytes())


def exchanges(path):
    """How many exchanges a transcript holds; its first line is a header."""
    return len(path.read_text().splitlines()) - 1


def test_annotations_know_what_a_true_latent_is(assay, tmp_path):
    out = tmp_path / "judgement.json"
    also = "--also", "detection", "--also", "amplitude"
    code, printed, complaint = assay("judge", "sae", "--judge", "annotations", *also, "--out", out)
    assert code == 0, complaint
    document = read(out)
    schemas.validate("judge", document)
    assert {one["explanation"] for one in document["latents"]} == {
        "hat tall",
        "hat flat",
        "glasses clear",
        "skin light",
    }
    # it knows what fires and what does not; the two that fire are in order by lot
    assert document["scores"]["detection"]["value"] == 1
    values = [one["score"] for one in document["latents"]]
    assert 0.2 < np.mean(values) < 0.8
    for trial in (trial for one in document["latents"] for trial in one["trials"]):
        assert trial["answer"][2] == trial["truth"][2]
    for text in ("judged by annotations", "1 (100%)", "DAME (chance 1/6)", "Q1 deficit"):
        assert text in printed


def test_scores_go_into_the_record_and_the_card(assay, tmp_path):
    record, out = tmp_path / "record.json", tmp_path / "judgement.json"
    code, _, complaint = assay("score", "sae", "--out", record)
    assert code == 0, complaint
    given = "--record", record, "--out", out, "--json"
    code, printed, complaint = assay("judge", "sae", "--judge", "annotations", *given)
    assert code == 0, complaint
    document = read(out)
    assert json.loads(printed) == document
    joined = read(record)
    schemas.validate("result-sae", joined)
    score = document["scores"]["dame"]
    assert joined["scores"]["dame"] == {"annotations": score}
    assert joined["card"]["c3"] == {"dame": {"annotations": score}, "reason": None}

    code, printed, complaint = assay("judge", "sae", "--judge", "random", "--record", record)
    assert code == 0, complaint
    assert read(record)["scores"]["dame"].keys() == {"annotations", "random"}

    code, printed, complaint = assay("card", "sae", "--judgement", out, "--json")
    assert code == 0, complaint
    card = json.loads(printed)
    schemas.validate("card", card)
    assert card["card"]["c3"] == {"dame": {"annotations": score}, "reason": None}
    code, printed, _ = assay("card", "sae", "--judgement", out)
    assert "C3 DAME, judge annotations" in printed

    for command in (
        ("judge", "other", "--judge", "annotations", "--record", record),
        ("card", "other", "--judgement", out),
    ):
        code, _, complaint = assay(*command)
        assert code == 2
        assert "another SAE" in complaint
    assert read(record)["scores"]["dame"].keys() == {"annotations", "random"}
    copy = tmp_path / "copy.json"
    copy.write_bytes(out.read_bytes())
    code, _, complaint = assay("card", "sae", "--judgement", out, "--judgement", copy)
    assert code == 2
    assert "is by annotations too" in complaint
    code, _, complaint = assay("card", "sae", "--judgement", record)
    assert code == 2
    assert "against schema 'judge'" in complaint


def test_seeds_matter_and_runs_repeat(assay):
    documents = []
    for seed in (0, 0, 1):
        _, printed, _ = assay("judge", "sae", "--judge", "random", "--seed", seed, "--json")
        documents.append({**json.loads(printed), "timing": None})
    one, same, other = documents
    assert one == same
    assert one["latents"][0]["trials"] != other["latents"][0]["trials"]


def test_a_paid_judge_asks_before_it_spends(assay, tmp_path):
    with scripted_server.serving(scripted_server.sensible) as server:
        given = "--judge", "openai", "--model", "m", "--base-url", server.url
        code, _, complaint = assay("judge", "sae", *given)
        assert code == 2
        assert "4 latents, openai/m: about 44 calls" in complaint
        assert complaint.splitlines()[-1].startswith("error: judge openai may cost money (44 calls")
        assert "--yes" in complaint
        assert server.seen == []

        out = tmp_path / "paid.json"
        code, _, complaint = assay("judge", "sae", *given, "--out", out, "--budget", 20)
        assert code == 1
        assert "stopped after 20 requests" in complaint
        assert "the same command" in complaint
        assert not out.exists()
        kept = tmp_path / "paid.transcript.jsonl"
        assert exchanges(kept) == 20

        code, _, complaint = assay("judge", "sae", *given, "--out", out, "--yes")
        assert code == 0, complaint
        assert len(server.seen) == 44
        document = read(out)
        assert document["judge"]["prompts"]["version"] >= 1
        assert document["latents"][0]["explanation"] == "Things that are round."

    replayed = tmp_path / "replayed.json"
    given = "--judge", "openai", "--model", "m", "--from-transcript", kept
    code, _, complaint = assay("judge", "sae", *given, "--out", replayed)
    assert code == 0, complaint
    first, second = ({**read(path), "timing": None} for path in (out, replayed))
    assert first == second
    code, _, complaint = assay("judge", "sae", *given, "--seed", 5)
    assert code == 2


def test_the_transcript_of_a_run_without_out_is_in_the_cache(assay, tmp_path):
    with scripted_server.serving(scripted_server.sensible) as server:
        given = "--judge", "openai", "--model", "m/1", "--base-url", server.url, "--budget", 3
        code, _, _ = assay("judge", "sae", *given)
    assert code == 1
    assert exchanges(tmp_path / "home" / "judgements" / "sae-openai-m-1.transcript.jsonl") == 3


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_run_stops_at_once_and_goes_on(assay, tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "GRACE_SECONDS", 0.3)
    hanging, interrupted = threading.Semaphore(0), []

    def hangs_after_fifteen(seen):
        if seen.number >= 15:
            hanging.release()
            return scripted_server.Answer(delay=20)
        return scripted_server.sensible(seen)

    def interrupt():
        for _ in range(3):
            hanging.acquire()
        time.sleep(0.3)
        interrupted.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    out, kept = tmp_path / "out.json", tmp_path / "out.transcript.jsonl"
    judge = "--judge", "openai", "--model", "m", "--yes", "--concurrency", 3, "--out", out
    with scripted_server.serving(hangs_after_fifteen) as server:
        url = "--base-url", server.url
        threading.Thread(target=interrupt, daemon=True).start()
        code, _, complaint = assay("judge", "sae", *judge, *url)
        assert code == 130
        assert time.monotonic() - interrupted[0] < 15  # not the twenty seconds of the server
        assert "run the same command again to go on" in complaint
        assert not out.exists()
        assert exchanges(kept) == len(server.answered) == 15

        server.script = scripted_server.sensible
        begun = len(server.seen)
        code, _, complaint = assay("judge", "sae", *judge, *url)
        assert code == 0, complaint
        assert len(server.seen) - begun == 44 - 15


PLANTED = "planted:features=4,width=8,sparsity=2,match=30,score=30,pairs=0"

WRONG = [
    (("--judge", "oracle"), "unknown judge 'oracle'; known: annotations, openai, random"),
    (("--judge", "openai", "--yes"), "say which with --model"),
    (("--judge", "random", "--model", "m"), "judge random asks no model; leave out --model"),
    (("--judge", "annotations", "--budget", "5"), "leave out --budget"),
    (("--judge", "openai", "--transcript", "x", "--from-transcript", "y"), "not both"),
    (("--judge", "random", "--per-quartile", "0"), "'--per-quartile'"),
    (("--judge", "random", "--trials", "2000"), "trials is 2000; expected 1 to 1,000"),
    (("--judge", "random", "--also", "ranking"), "'--also'"),
    (("--judge", "random", "--record", "nowhere.json"), "nowhere.json: no such file"),
    (("--judge", "random", "--out", "."), "expected a file to write"),
    (("--judge", "random", "--dataset", PLANTED), "leave out --encoder and --features"),
    ((), "Missing option '--judge'"),
]


@pytest.mark.parametrize("command", ["judge", "card", "score"])
def test_nothing_that_is_read_is_written_over(assay, place, tmp_path, command):
    mine = tmp_path / "mine"
    mine.write_bytes(b"work of hours")
    options = {"judge": ["--record", "--from-transcript"], "card": ["--judgement"], "score": []}
    for option in (*options[command], "--features"):
        more = ("--judge", "openai", "--model", "m") if command == "judge" else ()
        code, _, complaint = assay(command, "sae", *more, option, mine, "--out", mine)
        assert code == 2
        assert f"--out would replace the file of {option}" in complaint
        assert mine.read_bytes() == b"work of hours"
    weights = place / "sae" / "sae.safetensors"
    before = weights.read_bytes()
    more = ("--judge", "random") if command == "judge" else ()
    code, _, complaint = assay(command, weights, *more, "--out", weights)
    assert (code, weights.read_bytes()) == (2, before)
    assert "--out would replace the file of SAE" in complaint


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[" ".join(a) for a, _ in WRONG])
def test_wrong_use_is_one_line_and_exit_code_2(assay, arguments, message):
    code, _, complaint = assay("judge", "sae", *arguments)
    assert code == 2
    (line,) = complaint.splitlines()
    assert line.startswith("error: ")
    assert message in line


def test_a_dataset_without_anything_to_show_is_one_line(assay, place, monkeypatch, capsys):
    FORMAT.save(true_sae(np.eye(4, 8)), place / "wide", {})
    given = ["assay", "judge", str(place / "wide"), "--judge", "random", "--dataset", PLANTED]
    monkeypatch.setattr(sys, "argv", given)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "holds activations without pictures or texts" in line
