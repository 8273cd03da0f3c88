"""The stage from a work folder to verdicts, on the real path and with a network that learns."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from edit_work import draw_bird, edited_work, encoded, labels, log_edit
from torch import nn

from benchmark.cli import main
from benchmark.errors import UserError
from benchmark.images import read_image
from generation.verifying import Options, Recipe, classifier, network, verify
from generation.work import Work, base_bytes, open_source

SMALL = Recipe(size=32, epochs=14, batch_size=8, learning_rate=0.02, least=2)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small network in place of the ResNet-50: it sees colours at places within seconds."""

    def build(concepts: int) -> nn.Module:
        return nn.Sequential(
            nn.AdaptiveAvgPool2d(8), nn.Flatten(), nn.BatchNorm1d(192), nn.Linear(192, concepts)
        )

    monkeypatch.setattr(network, "build", build)
    monkeypatch.setattr(classifier, "build", build)


def assay(capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[int, str, str]:
    sys.argv = ["assay", "generate", *map(str, words)]
    with pytest.raises(SystemExit) as end:
        main()
    captured = capsys.readouterr()
    return int(end.value.code or 0), captured.out, captured.err


def lines(work: Work) -> int:
    return len(work.verdict_log.path.read_bytes().splitlines())


@pytest.mark.usefixtures("quick")
def test_right_edits_stay_and_wrong_ones_fall(tmp_path: Path) -> None:
    work = edited_work(tmp_path, 10, count=120)
    edits = work.plan.edits
    source = open_source(work)
    # an edit that returns its input, and one that paints both colours away
    same, gone = edits[0], edits[1]
    log_edit(work, same, base_bytes(source, same.base))
    log_edit(work, gone, draw_bird(int(gone.id[-4:]), ()))
    report = verify(work, source, Options(SMALL, "none"))
    verdicts = work.verdicts()
    assert [edit.id for edit in edits if not verdicts[edit.id].kept] == [same.id, gone.id]
    assert verdicts[same.id].reasons[0] == "nothing visible changed: no difference above 0.05"
    assert verdicts[gone.id].reasons[0].startswith("added concept not seen in the edited picture")
    assert report.table == [
        ("verify", "added concept not seen in the edited picture", 1),
        ("verify", "nothing visible changed", 1),
    ]
    assert (report.planned, report.kept) == (10, 8)
    assert sum(row[2] for row in report.concepts) == 20
    with (work.verify / "reasons.csv").open() as stream:
        assert list(csv.reader(stream))[1:] == [[*row[:2], str(row[2])] for row in report.table]
    record = report.record
    assert record["first_weights"] == "random initialisation"
    assert record["pictures"]["left_out"] == 0
    assert record["validation_map"] == max(record["history"])
    assert not (work.verify / "training").exists()
    # a picture made again is judged again, the others are not
    before = lines(work)
    log_edit(work, gone, draw_bird(int(gone.id[-4:]), _asked(gone, source)))
    assert verify(work, source, Options(SMALL, "none")).kept == 9
    assert lines(work) == before + 1
    # another rule starts the verdicts anew
    assert verify(work, source, Options(SMALL, "none"), max_outside=0.0).kept <= 9
    assert lines(work) == 10


def _asked(edit: Any, source: Any) -> list[int]:
    row = source.locate(edit.base)
    shown = set(labels(120)[row].nonzero()[0].tolist())
    return sorted(shown ^ {source.concepts.index(name) for name in edit.changed})


@pytest.mark.usefixtures("quick")
def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    whole, killed = (edited_work(tmp_path / name, 20) for name in ("whole", "killed"))
    options = Options(SMALL, "none")
    verify(whole, open_source(whole), options)

    def stop_at(where: str, count: int) -> Any:
        def progress(title: str, done: int, _total: int) -> None:
            if title == where and done >= count:
                raise KeyboardInterrupt

        return progress

    for where, count in (("epoch 2 of 14", 1), ("judging pairs", 16)):
        with pytest.raises(KeyboardInterrupt):
            verify(killed, open_source(killed), options, progress=stop_at(where, count))
    assert lines(killed) == 16
    titles = []
    verify(killed, open_source(killed), options, progress=lambda title, *_: titles.append(title))
    assert set(titles) == {"judging pairs"}
    for name in ("classifier.json", "classifier.safetensors", "verdicts.jsonl"):
        assert (killed.verify / name).read_bytes() == (whole.verify / name).read_bytes()


@pytest.mark.usefixtures("quick")
def test_files_that_do_not_fit_are_named(tmp_path: Path) -> None:
    work = edited_work(tmp_path, 3)
    source, options = open_source(work), Options(SMALL, "none")
    verify(work, source, options)
    weights = work.verify / "classifier.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\1")
    with pytest.raises(UserError, match=r"not the file that classifier\.json names"):
        verify(work, source, options)
    (work.verify / "classifier.json").write_text('{"schema_version": 1}')
    with pytest.raises(UserError, match=r"classifier\.json: .*expected.*delete it to train again"):
        verify(work, source, options)
    (work.verify / "classifier.json").unlink()
    edit = work.plan.edits[0]
    work.image(edit.id).write_bytes(encoded(draw_bird(999, ())))
    # another rule looks at every picture again
    with pytest.raises(UserError, match=r"not the picture that log\.jsonl names"):
        verify(work, source, options, max_outside=0.5)
    work.image(edit.id).unlink()
    with pytest.raises(UserError, match="is missing; make it again: assay generate edit"):
        verify(work, source, options)


@pytest.mark.usefixtures("quick")
def test_base_pictures_are_not_learned_from(tmp_path: Path) -> None:
    from dataclasses import replace

    from generation.verifying.lesson import training_rows

    work = edited_work(tmp_path, 3)
    source = open_source(work)
    match = source.split("match")
    plan = work.plan
    bases = [source.ids[row] for row in match]
    edits = [replace(plan.edits[0], id=f"e{n}", base=base) for n, base in enumerate(bases)]
    some = replace(plan, edits=tuple(edits[:10]))
    rows, left_out = training_rows(source, some, on_bases=False)
    assert (sorted(rows), left_out) == (sorted(match[10:]), 10)
    assert len(training_rows(source, some, on_bases=True)[0]) == len(match)
    with pytest.raises(UserError, match=r"0 of the 40 pictures .* give --train-on-bases"):
        training_rows(source, replace(plan, edits=tuple(edits)), on_bases=False)


def test_the_command_with_a_real_resnet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    work = edited_work(tmp_path, 2, count=24, verify="report_only")
    few = ["--epochs", 1, "--size", 32, "--batch-size", 8, "--least", 1]
    code, _, error = assay(capsys, "verify", work.root, *few)
    assert code == 2
    assert error.count("\n") == 1
    assert "curl --create-dirs -o" in error
    assert "resnet50-11ad3fa6.pth, or give --weights FILE, or --weights none" in error
    code, out, error = assay(capsys, "verify", work.root, *few, "--weights", "none", "--json")
    assert (code, error) == (0, "")
    report = json.loads(out)
    assert (report["planned"], report["kept"], report["verify"]) == (2, 2, "report_only")
    record = json.loads((work.verify / "classifier.json").read_bytes())
    assert record["architecture"] == "resnet50"
    assert record["first_weights"] == "random initialisation"
    # a second run finds it done; its weights can begin another training
    weights = work.verify / "classifier.safetensors"
    stamp = weights.stat().st_mtime_ns
    code, out, _ = assay(capsys, "verify", work.root, *few, "--weights", "none")
    assert code == 0
    assert "from random initialisation" in out
    assert "opinions only" in out
    assert weights.stat().st_mtime_ns == stamp
    net, origin = network.new_network(3, str(weights), seed=0)
    assert origin == f"classifier.safetensors, SHA-256 {record['weights_sha256']}"
    kept = classifier.load(work.verify, record["key"])
    assert kept is not None
    mine, theirs = net.state_dict(), kept.network.state_dict()
    assert torch.equal(mine["layer4.2.conv3.weight"], theirs["layer4.2.conv3.weight"])
    assert mine["fc.weight"].shape == (3, 2048)


def test_weights_that_are_no_resnet_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no weights file"):
        network.first_weights(str(tmp_path / "absent.pth"))
    small = tmp_path / "small.pth"
    small.write_bytes(b"x" * 10)
    with pytest.raises(UserError, match="too small"):
        network.first_weights(str(small))
    for name in ("broken.pth", "broken.safetensors"):
        path = tmp_path / name
        path.write_bytes(b"\x80\x02" + b"x" * 2**20)
        with pytest.raises(UserError, match="no weights that can be read safely"):
            network.first_weights(str(path))
    evil = tmp_path / "evil.pth"
    torch.save({"x": Path("a"), "y": torch.zeros(2**19)}, evil)
    with pytest.raises(UserError, match="no weights that can be read safely"):
        network.first_weights(str(evil))
    other = tmp_path / "other.pth"
    torch.save({"conv1.weight": torch.zeros(2**19)}, other)
    with pytest.raises(UserError, match=r"no tensor conv1.weight of shape \(64, 3, 7, 7\)"):
        network.new_network(2, str(other), seed=0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("size", value) for value in (31, 2049, 10**9)),
        *(("batch_size", value) for value in (1, 10**9)),
        *(("seed", value) for value in (-1, 2**53)),
        *(("epochs", value) for value in (0, 10**9)),
    ],
)
def test_a_recipe_is_bounded(name: str, value: int) -> None:
    with pytest.raises(UserError, match=f"{name} is {value}; expected"):
        Recipe(**{name: value})


def test_a_device_is_looked_for_before_the_source_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = edited_work(tmp_path, 2, count=20)
    monkeypatch.setattr("generation.work.open_source", None)
    code, _, error = assay(capsys, "verify", work.root, "--device", "meta", "--weights", "none")
    assert code == 2
    assert error.startswith("error: device 'meta' cannot be used (")
    assert error.count("\n") == 1


@pytest.mark.usefixtures("quick")
def test_memory_that_runs_out_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = edited_work(tmp_path, 2, count=40)

    def full(*_: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(nn.Linear, "forward", full)
    with pytest.raises(UserError, match=r"not enough memory for 8 pictures of 32 x 32.*--batch-si"):
        verify(work, open_source(work), Options(SMALL, "none"))

    def other(*_: Any) -> Any:
        raise RuntimeError("something else")

    monkeypatch.setattr(nn.Linear, "forward", other)
    with pytest.raises(RuntimeError, match="something else"):
        verify(work, open_source(work), Options(SMALL, "none"))


def test_no_edited_pictures(tmp_path: Path) -> None:
    from edit_work import make_work

    work = make_work(tmp_path, 2, count=20)
    with pytest.raises(UserError, match="has no edited pictures; make them"):
        verify(work, open_source(work), Options(SMALL, "none"))
    assert read_image(base_bytes(open_source(work), work.plan.edits[0].base)).size == (64, 64)
