"""The sanity check: a small one from end to end, its arithmetic, and wrong use."""

import json

import numpy as np
import pytest
from small_saes import build
from typer.testing import CliRunner

import schemas
from benchmark import metrics, sanity
from benchmark.cli import sanity as command
from benchmark.errors import CheckFailed, UserError
from benchmark.metrics import Score
from benchmark.saes.activations import TopK
from benchmark.saes.formats.assay import FORMAT

PLAN = sanity.Plan(
    architectures=("topk", "jumprelu"),
    sizes=(32,),
    epochs=6,
    k=8,
    twin_seeds=(0, 1),
    subsamples=4,
    bootstrap_resamples=60,
)
KINDS = ("trained", "untrained", "random_codes")


@pytest.fixture(scope="module")
def checked(avatars, home):
    """A finished small check, and the folder its SAEs were trained into."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_HOME", str(home))
        document = command.run_sanity("synavatars", None, PLAN, workers=2)
    return document, home / "saes" / "synavatars-efficientnet-lite0"


def test_the_document_is_valid_and_complete(checked):
    document, _ = checked
    schemas.validate("sanity", document)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert [row["metric"] for row in document["rows"]] == [*sanity.OWN, *sanity.BASELINES]
    assert [one["architecture"] for one in document["configurations"]] == ["jumprelu", "topk"]
    assert document["configurations"][1]["l0"]["trained"] <= 8
    assert document["protocol"]["twin_seeds"] == [0, 1]


def test_means_and_verdicts_follow_from_the_values(checked):
    document, _ = checked
    for row in document["rows"]:
        for kind in KINDS:
            values = [value[kind] for value in row["values"]]
            assert row[kind]["value"] == pytest.approx(np.mean(values), abs=1e-12)
            assert row[kind]["n"] == 2
        low = row["trained"]["ci95"][0]
        assert row["passed"] == all(low > row[kind]["ci95"][1] for kind in KINDS[1:])
    own = [row["passed"] for row in document["rows"] if row["own"]]
    assert document["passed"] == all(own)


def test_random_codes_are_at_chance(checked):
    document, _ = checked
    rows = {row["metric"]: row["random_codes"]["value"] for row in document["rows"]}
    assert abs(rows["tapa_score"]) < 0.1
    assert abs(rows["cknna"]) < 0.1


def test_given_saes_and_another_number_of_workers_give_the_same(checked, home, monkeypatch):
    document, folder = checked
    monkeypatch.setenv("ASSAY_HOME", str(home))
    again = command.run_sanity("synavatars", None, PLAN, saes=folder, workers=1)
    for key in document.keys() - {"timing"}:
        assert again[key] == document[key], key


def test_one_sae_is_taken_of_each_configuration(tmp_path):
    for name, size, seed in (("a", 16, 2), ("b", 16, 1), ("c", 16, 3), ("d", 24, 5)):
        FORMAT.save(build(TopK(4), d_sae=size), tmp_path / name, {"seed": seed})
    (tmp_path / "notes.txt").write_text("x")
    found = sanity.given_configurations(tmp_path)
    assert [one.folder.name for one in found] == ["d", "b"]


def scored(value, spread=0.01, **reasons):
    samples = value + spread * np.linspace(-1, 1, 101)
    return metrics.score.make_score(value, 10, samples, reasons)


def measured(size, **values):
    """A configuration with one metric."""
    return sanity.Measured(
        {"architecture": "topk", "d_sae": size, "id": f"x{size}", "name": "x", "d_in": 8},
        {kind: {"match_score": values[kind]} for kind in KINDS},
        dict.fromkeys(KINDS, 3.0),
    )


def verdict(*configurations):
    (row,) = sanity._document(configurations, PLAN)["rows"]
    return row


def test_trained_must_beat_both_with_intervals_apart():
    high, low, lower = scored(0.5), scored(0.4), scored(0.3)
    assert verdict(measured(8, trained=high, untrained=low, random_codes=lower))["passed"]
    assert not verdict(measured(8, trained=low, untrained=high, random_codes=lower))["passed"]
    assert not verdict(measured(8, trained=low, untrained=lower, random_codes=high))["passed"]
    near = scored(0.485)
    assert not verdict(measured(8, trained=high, untrained=near, random_codes=lower))["passed"]


def test_configurations_are_averaged_inside_each_resample():
    """Errors of opposite sign cancel: the mean's interval is narrower than either one's."""
    up, down = scored(0.5), scored(0.5, -0.01)
    row = verdict(
        measured(8, trained=up, untrained=scored(0.4), random_codes=scored(0.1, left=2)),
        measured(16, trained=down, untrained=scored(0.4), random_codes=scored(0.2, left=3)),
    )
    assert row["trained"]["ci95"] == pytest.approx([0.5, 0.5])
    assert row["random_codes"]["value"] == pytest.approx(0.15)
    assert row["random_codes"]["not_applicable"] == {"left": 5}
    assert row["values"][1] == {"trained": 0.5, "untrained": 0.4, "random_codes": 0.2}


def test_a_configuration_without_a_value_is_never_dropped():
    missing = Score(None, None, 0, {"no pairs": 1})
    row = verdict(
        measured(8, trained=scored(0.5), untrained=scored(0.4), random_codes=scored(0.1)),
        measured(16, trained=missing, untrained=scored(0.4), random_codes=scored(0.1)),
    )
    assert row["trained"]["value"] is None
    assert row["trained"]["not_applicable"] == {"no pairs": 1}
    assert not row["passed"]


def invoke(*arguments):
    return CliRunner().invoke(command.app, [str(argument) for argument in arguments])


def test_the_command_prints_writes_and_fails(checked, monkeypatch, tmp_path):
    document, _ = checked
    monkeypatch.setattr(command, "run_sanity", lambda *_, **__: {**document, "passed": True})
    done = invoke("--out", tmp_path / "sanity.json")
    assert done.exit_code == 0, done.output
    assert "random codes" in done.stdout
    assert "CKNNA" in done.stdout
    assert json.loads((tmp_path / "sanity.json").read_text())["rows"] == document["rows"]
    assert json.loads(invoke("--json").stdout)["configurations"] == document["configurations"]
    rows = [{**row, "passed": row["metric"] != "tapa_score"} for row in document["rows"]]
    failed = {**document, "rows": rows, "passed": False}
    monkeypatch.setattr(command, "run_sanity", lambda *_, **__: failed)
    done = invoke()
    assert isinstance(done.exception, CheckFailed)
    assert str(done.exception) == "the sanity check failed for tapa_score"
    assert "FAIL" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--saes", "{tmp}", "--arch", "topk"], "give no --arch"),
        (["--saes", "{tmp}/none"], "no such folder"),
        (["--saes", "{tmp}"], "no SAE folders here"),
        (["--saes", "{tmp}/broken"], "no weights here"),
        (["--arch", "vae"], "unknown architecture 'vae'"),
        (["--dict-size", "8"], "k is 32, more than the 8 latents"),
        (["--encoder", "resnet"], "resnet"),
    ],
)
def test_wrong_use_is_named_before_any_work(home, avatars, monkeypatch, tmp_path, arguments, part):
    monkeypatch.setenv("ASSAY_HOME", str(home))
    folder = tmp_path if "broken" in str(arguments) else tmp_path / "empty"
    (folder / "broken" / "x").mkdir(parents=True) if folder == tmp_path else folder.mkdir()
    done = invoke(*(argument.format(tmp=folder) for argument in arguments))
    assert isinstance(done.exception, UserError), done.output
    assert part in str(done.exception)
