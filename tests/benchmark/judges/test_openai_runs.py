"""Whole runs of ``assay judge``: killed, replayed, and against a server that really has a model."""

import base64
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import chat_models
import dataset_cases
import numpy as np
import pytest
from scripted_server import Answer, sensible, serving

import schemas
from benchmark.cli import main
from benchmark.codes import write_arrays
from benchmark.datasets import load_dataset
from benchmark.files import json_text
from benchmark.saes.faults import true_sae
from benchmark.saes.formats.assay import FORMAT

SECRET = "sk-secret-0123456789abcdef"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A dataset of 80 pictures with features that show four concepts, and the SAE that does."""
    folder = tmp_path_factory.mktemp("runs")
    draw = np.random.default_rng(0)
    present = draw.random((80, 4)) < 0.7
    rows = dataset_cases.content()
    labels = [np.flatnonzero(row).tolist() for row in present]
    rows["score"] = dataset_cases.image_rows("score", 5000, labels)
    dataset_cases.write(folder / "tiny", rows)
    data = load_dataset(str(folder / "tiny"))
    shown = (data.annotations * draw.uniform(1, 2, (len(data.ids), 4))).astype(np.float32)
    features = {part: shown[data.split(part)] for part in ("match", "score")}
    features |= dict.fromkeys(("base", "edited"), shown[:3])
    write_arrays(folder / "features.safetensors", features, {"fingerprint": data.fingerprint})
    FORMAT.save(true_sae(np.eye(4)), folder / "sae", {})
    return folder


@pytest.fixture
def assay(monkeypatch, capsys, place, tmp_path):
    """Runs ``assay judge`` here, and gives what it printed."""
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    def run(*options, code=0):
        monkeypatch.setattr(sys, "argv", ["assay", *arguments(place, *options)])
        with pytest.raises(SystemExit) as stopped:
            main()
        printed = "".join(capsys.readouterr())
        assert int(stopped.value.code or 0) == code, printed
        return printed

    return run


def arguments(place, *options):
    data = "--dataset", place / "tiny", "--features", place / "features.safetensors"
    return [*map(str, ("judge", place / "sae", *data, *options))]


def stable(path):
    """A judgement as text, without what differs between any two runs."""
    document = json.loads(path.read_bytes())
    schemas.validate("judge", document)
    return json_text({k: v for k, v in document.items() if k not in ("environment", "timing")})


def sent(body):
    """A request by what was asked: texts, and pictures as hashes."""
    found = []
    for message in body["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts:
            if part["type"] == "text":
                found.append(part["text"])
            else:
                data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
                found.append(hashlib.sha256(data).hexdigest())
    return tuple(found)


def kept(path):
    """What the whole lines of a transcript asked."""
    lines = path.read_bytes().split(b"\n")[1:-1]
    return [
        tuple(part.get("text") or part["sha256"] for m in line["request"] for part in m["content"])
        for line in map(json.loads, lines)
        if line["reply"] is not None
    ]


def lot(seen, of):
    return int(hashlib.sha256(repr(sent(seen.body)).encode()).hexdigest(), 16) % of


def test_a_killed_run_asks_nothing_twice_that_it_had_kept(assay, place, tmp_path):
    enough = threading.Event()

    def now_and_then_useless(seen):
        if seen.number >= 20:
            enough.set()
        time.sleep(0.02)
        return Answer("hm") if lot(seen, 2) == 0 else sensible(seen)

    options = "--judge", "openai", "--model", "m", "--yes", "--concurrency", 3
    with serving(now_and_then_useless) as server:
        url = "--base-url", server.url
        judge = arguments(place, *options, *url, "--out", tmp_path / "killed.json")
        # the fixture has set the environment
        run = subprocess.Popen([sys.executable, "-m", "benchmark", *judge])
        assert enough.wait(60)
        run.send_signal(signal.SIGKILL)
        run.wait(20)
        transcript = tmp_path / "killed.transcript.jsonl"
        stored, begun = kept(transcript), len(server.seen)
        assert 10 <= len(stored) < begun
        assert not (tmp_path / "killed.json").exists()
        # a kill within a write
        transcript.write_bytes(transcript.read_bytes() + b'{"key": "0123')

        assay(*options, *url, "--out", tmp_path / "killed.json")
        later = [sent(seen.body) for seen in server.seen[begun:]]
        assert later
        assert not set(stored) & set(later)
        assert len(later) == len(set(later))
        assert sorted(kept(transcript)) == sorted(stored + later)

        assay(*options, *url, "--out", tmp_path / "whole.json")
    assert stable(tmp_path / "killed.json") == stable(tmp_path / "whole.json")
    counts = json.loads((tmp_path / "whole.json").read_bytes())["counts"]
    assert counts["unparseable_first"] >= counts["unparseable"] > 0


def test_a_run_that_met_every_fault_is_replayed_byte_for_byte(assay, tmp_path):
    met, lock = set(), threading.Lock()
    faults = [
        Answer(status=429, headers={"Retry-After": "0"}, body={"error": {"message": SECRET}}),
        Answer(status=500, headers={"Retry-After": "0"}, body=b"oops"),
        Answer(body=b"{"),
        Answer(drop=0),
        Answer(text=""),
        Answer(text="2, 1, 3" * 99, finish_reason="length"),
        Answer(text=f"2 then 2 {SECRET}"),
    ]

    def faulty(seen):
        with lock:
            number, first = len(met) % 20, sent(seen.body) not in met
            met.add(sent(seen.body))
        return faults[number] if first and number < len(faults) else sensible(seen)

    options = "--judge", "openai", "--model", "m"
    first, again = tmp_path / "first.json", tmp_path / "again.json"
    transcript = tmp_path / "first.transcript.jsonl"
    with serving(faulty) as server:
        asking = *options, "--base-url", server.url, "--concurrency", 4, "--trials", 30
        said = assay(*asking, "--yes", "--out", first)
        begun = len(server.seen)
        refused = assay(*asking, "--out", first, code=2)
        assert "may cost money" in refused
        assay(*options, "--trials", 30, "--from-transcript", transcript, "--out", again)
        assert len(server.seen) == begun
    assert stable(first) == stable(again)
    counts = json.loads(first.read_bytes())["counts"]
    kinds = {"rate_limited", "server_error", "malformed", "connection", "empty", "cut_short"}
    assert kinds <= set(counts)
    assert begun == len(kept(transcript)) + sum(counts[kind] for kind in kinds - {"cut_short"})
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert SECRET not in written + said + refused
    # other trials were never asked
    said = assay(*options, "--seed", 5, "--from-transcript", transcript, code=2)
    assert "holds no answer" in said


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def real_server(tmp_path):
    """``transformers serve`` with a tiny vision-language model: (address, model)."""
    model = chat_models.write_vision_model(tmp_path / "models" / "viewer")
    port = free_port()
    serve = Path(sys.executable).with_name("transformers")
    options = "--port", port, "--device", "cpu", "--host", "127.0.0.1"
    log = (tmp_path / "serve.log").open("w+")
    run = subprocess.Popen(
        [*map(str, (serve, "serve", model, *options))],
        stdout=log,
        stderr=log,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
    )
    try:
        for _ in range(240):
            assert run.poll() is None, (tmp_path / "serve.log").read_text()
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).close()
                break
            except OSError:
                time.sleep(0.25)
        yield f"http://127.0.0.1:{port}/v1", model
    finally:
        run.terminate()
        run.wait(20)
        log.close()


def test_a_real_server_with_a_vision_model(assay, real_server, tmp_path):
    url, model = real_server
    out = tmp_path / "real.json"
    options = "--judge", "openai", "--model", model, "--base-url", url, "--max-tokens", 8
    options += "--per-quartile", 1, "--trials", 3, "--also", "amplitude"
    said = assay(*options, "--yes", "--concurrency", 2, "--out", out)
    assert "about" in said
    document = json.loads(out.read_bytes())
    stable(out)
    assert [len(one["trials"]) for one in document["latents"]] == [3] * 4
    transcript = tmp_path / "real.transcript.jsonl"
    lines = [json.loads(line) for line in transcript.read_text().splitlines()[1:]]
    assert all(line["model"] == str(model) and line["detail"] is None for line in lines)
    # the server counts the patches of the ten pictures
    explain = next(line for line in lines if len(line["request"][0]["content"]) > 20)
    parts = explain["request"][0]["content"]
    words = sum(len(part["text"].split()) for part in parts if part["type"] == "text")
    assert explain["usage"]["prompt"] >= words + 10 * 4
    assay(*options, "--from-transcript", transcript, "--out", tmp_path / "again.json")
    assert stable(tmp_path / "again.json") == stable(out)
    # the same model, here: pictures arrived as they are
    here = "--judge", "transformers", "--model", model, *options[6:]
    assay(*here, "--out", tmp_path / "here.json")
    replies = [
        [json.loads(line)["reply"] for line in path.read_text().splitlines()[1:]]
        for path in (transcript, tmp_path / "here.transcript.jsonl")
    ]
    assert sorted(replies[0]) == sorted(replies[1])
