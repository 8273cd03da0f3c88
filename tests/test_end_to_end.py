"""The whole line at a small size: build, embed, train, score, gate, site; and again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import schemas
from benchmark.cli.demo import run_demo
from benchmark.demo import Plan
from benchmark.names import ID, slug

PLAN = Plan(
    sweep={"topk": (32, 64), "batchtopk": (32, 64)},
    others=("jumprelu", "gated"),
    gate_size=64,
    gate_seeds=(0, 1),
    epochs=4,
    k=8,
)


@pytest.fixture(scope="module")
def run(avatars, home, tmp_path_factory):
    """A finished small demo: its folder, gate and index page."""
    out = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_HOME", str(home))
        gate, index = run_demo(out, plan=PLAN, workers=2)
    return out, gate, index


def records(out):
    return {path.stem: json.loads(path.read_bytes()) for path in (out / "results").glob("*.json")}


def assay(home, *arguments):
    """Run the command as a user would: its own process, its output kept."""
    code = "import sys; from benchmark.cli import main; sys.argv[0] = 'assay'; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={"ASSAY_HOME": str(home), "PATH": "/usr/bin:/bin", "COLUMNS": "200"},
    )


def test_every_sae_of_the_plan_has_a_valid_record(run):
    out, _, _ = run
    found = records(out)
    assert len(found) == len(PLAN.recipes()) == 8
    for name, record in found.items():
        schemas.validate("result-sae", record)
        assert record["submission"]["id"] == name
        assert record["submission"]["seed"] in PLAN.gate_seeds
        assert record["dataset"]["name"] == "synavatars"
        assert record["scores"]["match_score"]["n"] > 0
        assert record["bounds"]["linear_probe"]["value"] > record["bounds"]["prevalence"]["value"]
        judgement = json.loads((out / "judgements" / f"{name}.annotations.json").read_bytes())
        schemas.validate("judge", judgement)
        assert record["scores"]["dame"] == {"annotations": judgement["scores"]["dame"]}
        assert record["card"]["c3"]["dame"] == record["scores"]["dame"]


def test_the_gate_names_every_seed(run):
    out, gate, _ = run
    assert gate == json.loads((out / "gate.json").read_bytes())
    assert {(row["architecture"], row["metric"]) for row in gate["rows"]} == {
        (architecture, metric)
        for architecture in PLAN.sweep
        for metric in ("match_score", "tapa_score")
    }
    found = records(out)
    for row in gate["rows"]:
        trained = [
            found[f"demo-{row['architecture']}-64-s{seed}"]["scores"][row["metric"]]["value"]
            for seed in PLAN.gate_seeds
        ]
        assert row["trained_seeds"] == trained
        assert row["trained"]["value"] == pytest.approx(sum(trained) / len(trained))
        low, high = row["trained"]["ci95"], row["untrained"]["ci95"]
        assert row["passed"] == (low[0] > high[1])
    assert gate["passed"] == all(row["passed"] for row in gate["rows"])


def test_the_site_shows_every_sae(run):
    out, _, index = run
    assert index == out / "site" / "index.html"
    page = index.read_text()
    for name in records(out):
        assert f"saes/{name}.html" in page
        assert (out / "site" / "saes" / f"{name}.html").is_file()
    assert any((out / "site" / "img").iterdir())


def test_two_image_sets_are_compared(run):
    out, _, _ = run
    document = json.loads((out / "images" / "comparison.json").read_bytes())
    schemas.validate("images", document)
    assert document["protocol"]["model"] == "assay-tiny-clip"
    assert document["quality"]["encoder"]["name"] == "efficientnet-lite0"
    glasses = next(row for row in document["attributes"] if row["attribute"] == "eyeglasses")
    scores = glasses["ra_clip_score"]
    assert scores["generated"]["value"] > scores["real"]["value"] + 0.1
    page = (out / "site" / "images" / "report.html").read_bytes()
    link = b'<p class="crumbs"><a href="../index.html">All boards</a></p>\n'
    assert page.replace(link, b"") == (out / "images" / "report.html").read_bytes()
    assert 'href="images/report.html"' in (out / "site" / "index.html").read_text()


def test_a_second_run_makes_nothing_again(run, home, monkeypatch, capsys):
    out, gate, _ = run
    monkeypatch.setenv("ASSAY_HOME", str(home))
    files = [*(out / "results").iterdir(), *(out / "saes").rglob("*.*")]
    files += [*(out / "judgements").iterdir(), *(out / "images").iterdir()]
    before = {path: path.stat().st_mtime_ns for path in files}
    again, _ = run_demo(out, plan=PLAN, workers=1)
    assert again == gate
    title, n = "training, scoring and judging SAEs", len(PLAN.recipes())
    done = [f"{title}: {number} of {n}" for number in range(1, n + 1)]
    told = capsys.readouterr().err.splitlines()  # where there is no terminal
    assert told == ["embedding", title, *done, "building the site"]
    assert {path: path.stat().st_mtime_ns for path in files} == before


def test_a_record_of_something_else_is_measured_again(run, home, monkeypatch):
    out, _, _ = run
    monkeypatch.setenv("ASSAY_HOME", str(home))
    path = out / "results" / "demo-topk-32-s0.json"
    good = json.loads(path.read_bytes())
    for broken in (
        {**good, "dataset": {**good["dataset"], "fingerprint": "0" * 64}},
        {**good, "protocol": {**good["protocol"], "beta": 1.0}},
    ):
        path.write_text(json.dumps(broken))
        run_demo(out, plan=PLAN, workers=1)
        found = json.loads(path.read_bytes())
        for key in good.keys() - {"timing"}:
            assert found[key] == good[key]
    judged = out / "judgements" / "demo-topk-64-s0.annotations.json"
    judgement = json.loads(judged.read_bytes())
    path.write_text('{"half": ')
    judged.unlink()
    run_demo(out, plan=PLAN, workers=1)
    assert json.loads(path.read_bytes())["scores"] == good["scores"]
    again = json.loads(judged.read_bytes())
    assert {**again, "timing": 0} == {**judgement, "timing": 0}


def unjudged(record):
    """Scores without DAME, which the demo's judge adds."""
    assert list(record["scores"]["dame"]) == ["annotations"]
    return {name: score for name, score in record["scores"].items() if name != "dame"}


def test_scoring_a_demo_sae_again_gives_its_scores(run, home, tmp_path):
    out, _, _ = run
    target = tmp_path / "record.json"
    sae = out / "saes" / "demo-gated-64-s0"
    done = assay(home, "score", sae, "--dataset", "synavatars", "--out", target, "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record == json.loads(target.read_bytes())
    first = records(out)[sae.name]
    for key in ("baselines", "per_concept", "dataset", "encoder", "protocol"):
        assert record[key] == first[key]
    assert record["scores"] == unjudged(first)
    shown = assay(home, "score", sae, "--dataset", "synavatars")
    assert shown.returncode == 0
    assert "MATCHScore, held-out" in shown.stdout


def test_features_and_codes_from_files_give_the_same_scores(run, home, tmp_path):
    from benchmark.codes import read_arrays, write_arrays
    from benchmark.saes import load_sae

    out, _, _ = run
    sae = out / "saes" / "demo-topk-32-s0"
    first = records(out)[sae.name]
    features = tmp_path / "features.safetensors"
    done = assay(home, "embed", "--dataset", "synavatars", "--out", features)
    assert done.returncode == 0, done.stderr
    done = assay(home, "score", sae, "--features", features, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["scores"] == unjudged(first)

    codes = tmp_path / "codes.safetensors"
    parts = {part: load_sae(sae).encode(x) for part, x in read_arrays(features).items()}
    write_arrays(codes, parts, {"fingerprint": first["dataset"]["fingerprint"]})
    done = assay(home, "score", "--codes", codes, "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    schemas.validate("result-sae", record)
    assert record["scores"]["match_score"] == first["scores"]["match_score"]
    assert record["scores"]["tapa_score"] == first["scores"]["tapa_score"]
    assert record["scores"]["delta_match_score"]["value"] is None


def test_training_by_command(home, avatars, tmp_path):
    arguments = ("train", "--arch", "relu", "--dict-size", 16, "--k", 4, "--epochs", 1)
    done = assay(home, *arguments, "--out", tmp_path / "sae")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sae" / "sae.safetensors").is_file()


def _codes_file(sae, out, home):
    """Codes of a demo SAE as a file, made once."""
    from benchmark.codes import write_arrays
    from benchmark.datasets import load_dataset
    from benchmark.runs import prepare_by_name
    from benchmark.saes import load_sae

    path = out / "codes.safetensors"
    if not path.exists():
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ASSAY_HOME", str(home))
            prepared = prepare_by_name("synavatars", None, None)
            fingerprint = load_dataset("synavatars").fingerprint
        codes = {part: load_sae(sae).encode(x) for part, x in prepared.features.items()}
        write_arrays(path, codes, {"fingerprint": fingerprint})
    return path


WRONG = [
    (("score",), "give an SAE folder or file"),
    (("scores",), "No such command 'scores'; see: assay --help"),
    (("score", "--nope"), "see: assay score --help"),
    (("embed", "--dataset", "synavatars", "--workers", "0"), "'--workers'"),
    (("demo", "--workers", "0"), "'--workers'"),
    (("demo", "--out", "{tmp}/file"), "{tmp}/file is a file; expected a folder"),
    (("score", "{sae}", "--out", "{tmp}"), "{tmp}: is a folder"),
    (("score", "{sae}", "--out", "/dev/null"), "/dev/null: is no ordinary file"),
    (("score", "--codes", "{codes}", "--id", "BAD ID"), "expected lower-case letters"),
    (("train", "--out", "{tmp}/x", "--seed", "9" * 23), "seed is 999"),
    (("train", "--out", "{tmp}/x", "--arch", "relu", "--sparsity", "nan"), "sparsity is nan"),
    (("train", "--out", "{sae}", "--epochs", "1"), "trained with other settings"),
    (("score", "nowhere"), "nowhere: no such file or folder"),
    (("score", "{sae}", "--dataset", "cifar"), "cifar"),
    (("score", "{sae}", "--encoder", "resnet"), "known: clip-vit-l-14"),
    (("score", "{sae}", "--id", "Not An Id"), "expected lower-case letters"),
    (("score", "{sae}", "--codes", "x"), "--codes stands alone"),
    (("train", "--out", "{tmp}/x", "--arch", "vae"), "unknown architecture 'vae'; known: topk"),
    (("train", "--out", "{tmp}", "--epochs", "1"), "exists and is not an SAE"),
    (("data", "check", "{tmp}/none"), "{tmp}/none"),
    (("site", "build", "--results", "{tmp}/none", "--out", "{tmp}/site"), "none"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[" ".join(a) for a, _ in WRONG])
def test_wrong_use_is_one_line_and_exit_code_2(run, home, tmp_path, arguments, message):
    (tmp_path / "file").write_text("x")
    names = {"sae": run[0] / "saes" / "demo-topk-32-s0", "tmp": tmp_path}
    names["codes"] = _codes_file(names["sae"], run[0], home)
    done = assay(home, *(argument.format(**names) for argument in arguments))
    assert done.returncode == 2, done.stderr
    lines = [line for line in done.stderr.splitlines() if line]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    assert message.format(**names) in lines[0]


def test_an_absent_dataset_names_the_command_that_builds_it(tmp_path):
    done = assay(tmp_path, "train", "--out", tmp_path / "sae")
    assert done.returncode == 2
    assert "assay generate avatars --out" in done.stderr


@pytest.mark.parametrize("name", ["My SAE (v2)", "über", "A" * 100, "--x--"])
def test_slugs_are_ids(name):
    assert ID.fullmatch(slug(name))


def test_commands_are_documented():
    readme = Path(__file__).parent.parent.joinpath("README.md").read_text()
    for command in ("make demo", "make test", "assay score", "assay generate avatars"):
        assert command in readme
