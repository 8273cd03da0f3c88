import json
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from feature_cases import TinyEncoder, small_dataset
from typer.testing import CliRunner

import benchmark.datasets
import benchmark.encoders
from benchmark.cli.embed import advice, app, shown_progress
from benchmark.codes import read_arrays
from benchmark.features import Progress

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture
def run(monkeypatch, tmp_path):
    dataset = small_dataset(20, 4)

    def load_dataset(name, *, root, revision):
        assert (name, root, revision) == ("small", None, None)
        return dataset

    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    monkeypatch.setattr(benchmark.datasets, "load_dataset", load_dataset)
    monkeypatch.setattr(benchmark.encoders, "load_encoder", lambda name: TinyEncoder())

    def invoke(*options):
        result = CliRunner().invoke(
            app, ["--dataset", "small", "--encoder", "tiny", *options], catch_exceptions=False
        )
        assert result.exit_code == 0
        return result.stdout

    return invoke


def test_ray_is_asked_where_an_address_is_given(run, monkeypatch):
    asked = []

    @contextmanager
    def connected(address, most):
        asked.append((address, most))
        yield 3

    def blocks_on_ray(opened, encoder, model, actors):
        asked.append((opened().name, encoder, actors))

    monkeypatch.setattr("benchmark.ray_cluster.connected", connected)
    monkeypatch.setattr("benchmark.ray_embed.blocks_on_ray", blocks_on_ray)
    run("--json")
    assert asked == []
    run("--json", "--ray", "10.0.0.1:6379")
    assert asked == [("10.0.0.1:6379", None), (small_dataset(20, 4).name, "tiny", 3)]


def test_says_what_it_made(run, tmp_path):
    out = run()
    assert "small by tiny: 20 pictures and 4 pairs, 16 numbers each" in out
    assert str(tmp_path / "features") in out


def test_json(run, tmp_path):
    document = json.loads(run("--json", "--workers", "2"))
    assert document["rows"] == {"images": 20, "base": 4, "edited": 4}
    assert document["dataset"]["fingerprint"] == small_dataset(20, 4).fingerprint
    assert document["encoder"]["dim"] == 16
    assert (Path(document["folder"]) / "complete.json").exists()
    assert document["file"] is None


def test_features_file(run, tmp_path):
    out = tmp_path / "f.safetensors"
    assert str(out) in run("--out", str(out))
    assert read_arrays(out)["match"].shape == (10, 16)


def test_progress_is_quiet_without_a_terminal(capsys):
    with shown_progress("embedding") as show:
        show(Progress(0, 10, 0.0, None))
        show(Progress(5, 10, 2.0, 2.5))
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_progress_bar(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with shown_progress("embedding") as show:
        show(Progress(5, 10, 2.0, 2.5))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "embedding" in captured.err


def test_import_is_light():
    heavy = "{'torch', 'numpy', 'scipy', 'pyarrow', 'rich.progress'}"
    script = f"import sys, benchmark.cli.embed; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("speed", "left", "expected"),
    [(2.0, 2.5, "2 images/s, 2 s left"), (0.75, 84_000, "0.75 images/s, 23 h 20 min left")],
)
def test_speed_and_time_left(capsys, monkeypatch, speed, left, expected):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with shown_progress("embedding") as show:
        show(Progress(5, 10, speed, left))
    assert expected in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)


def test_a_larger_batch_is_only_advice(tmp_path):
    from encoder_cases import dinov2_folder

    dinov2_folder(tmp_path / "model")
    encoder = benchmark.encoders.load_encoder(f"transformers:{tmp_path / 'model'},batch=4")
    assert "takes 4 pictures, as recorded; memory would allow about " in advice(encoder, 1)
    assert advice(encoder, 10**9) is None
    assert advice(TinyEncoder(), 1) is None
    assert encoder.batch_size == 4
