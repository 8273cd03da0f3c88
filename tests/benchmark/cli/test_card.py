"""``assay card``, ``score`` and ``train`` on planted activations, as a user runs them."""

import json
import sys

import pytest

import schemas
from benchmark.cli import main
from benchmark.datasets.planted import Recipe, plant
from benchmark.saes.faults import shard, true_sae
from benchmark.saes.formats.assay import FORMAT

OPTIONS = "planted:features=20,width=24,sparsity=4,noise=0,match=300,score=200,pairs=60"


@pytest.fixture
def assay(monkeypatch, capsys, tmp_path):
    """Runs ``assay`` in this process: (exit code, stdout, stderr)."""
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["assay", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    return run


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the true SAE of planted activations and one whose first latent is sharded."""
    folder = tmp_path_factory.mktemp("planted")
    recipe = Recipe.parse(OPTIONS.partition(":")[2])
    dictionary = plant(recipe).dictionary
    FORMAT.save(true_sae(dictionary, sparsity=recipe.sparsity), folder / "true", {})
    FORMAT.save(shard(true_sae(dictionary), 0, 1), folder / "sharded", {})
    return folder


def test_the_card_of_a_sharded_sae(assay, place):
    out = place / "card.json"
    given = "card", place / "sharded", "--dataset", OPTIONS
    code, printed, complaint = assay(*given, "--out", out, "--json")
    assert code == 0, complaint
    document = json.loads(printed)
    assert document == json.loads(out.read_bytes())
    schemas.validate("card", document)
    assert document["submission"]["id"] == "sharded"
    assert document["card"]["c1"]["sharding"]["n_pairs"] == 1
    code, shown, _ = assay(*given)
    assert code == 0
    evidence = ("Sharded pairs, strongest 1 of 1", "0 and 20", "-0.316")
    for text in ("C3 DAME", "needs a judge", *evidence):
        assert text in shown


def test_the_true_dictionary_scores_by_command(assay, place):
    code, printed, complaint = assay("score", place / "true", "--dataset", OPTIONS, "--json")
    assert code == 0, complaint
    record = json.loads(printed)
    schemas.validate("result-sae", record)
    assert record["scores"]["match_score"]["value"] == 1
    assert record["scores"]["tapa_score"]["value"] == 2
    assert record["card"]["c2"]["complete_fraction"]["value"] == 1
    named = "--dataset", record["dataset"]["name"], "--encoder", record["encoder"]["name"]
    _, again, _ = assay("score", place / "true", *named, "--json")
    assert json.loads(again)["scores"] == record["scores"]


def test_training_on_planted_activations(assay, place):
    recipe = "--dataset", OPTIONS, "--dict-size", 20, "--k", 4, "--epochs", 2
    code, _, complaint = assay("train", "--out", place / "trained", *recipe)
    assert code == 0, complaint
    code, printed, complaint = assay("card", place / "trained", "--dataset", OPTIONS, "--json")
    assert code == 0, complaint
    assert json.loads(printed)["card"]["c5"]["l0"]["value"] <= 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("card", "nowhere"), "nowhere: no such file or folder"),
        (("card", "{sae}", "--dataset", "planted:noise=loud"), "noise is 'loud'"),
        (("card", "{sae}", "--dataset", "planted"), "the SAE reads 24-dimensional features"),
        (("card", "{sae}", "--dataset", OPTIONS, "--encoder", "x"), "leave out --encoder"),
        (("card", "{sae}", "--dataset", OPTIONS, "--id", "Not An Id"), "expected lower-case"),
        (("embed", "--dataset", OPTIONS), "nothing to embed"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(assay, place, arguments, message):
    code, _, complaint = assay(*(argument.format(sae=place / "true") for argument in arguments))
    assert code == 2
    (line,) = complaint.splitlines()
    assert line.startswith("error: ")
    assert message in line
