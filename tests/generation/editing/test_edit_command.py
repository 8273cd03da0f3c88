"""``assay generate edit``: what it says, a model of a Hub repository, a process that is killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from foreign_folders import coco_document, write_coco, write_cub
from hub_server import HubServer
from typer.testing import CliRunner
from work_cases import exclusive, work_files

from benchmark import ray_cluster
from benchmark.cli.generate import app
from benchmark.datasets.cub import open_cub
from benchmark.errors import CheckFailed, UserError
from generation.editing import Editor, Settings, here, locate, make_edits
from generation.planning import Request, make_plan
from generation.work import Work, open_source, write_plan

REPO = "makers/tiny-klein"
SAMPLE = Path(__file__).resolve().parents[4] / "shared" / "data" / "cub_sample"
COMMAND = [sys.executable, "-c", "from benchmark.cli import main; main()", "generate", "edit"]


@pytest.fixture(scope="module")
def cub_root(tmp_path_factory):
    root = tmp_path_factory.mktemp("cub")
    write_cub(root, exclusive(12))
    return root


@pytest.fixture
def new_work(cub_root, tmp_path):
    def make(name: str, edits: int) -> Work:
        source = open_cub(cub_root / "CUB_200_2011")
        planned = make_plan(source, Request("syncub", edits=edits))
        return write_plan(tmp_path / name, planned.plan, planned.left_out, cub_root)

    return make


def run(*arguments, stage="edit"):
    done = CliRunner().invoke(app, [stage, *map(str, arguments)], terminal_width=100)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_help_tells_the_owner_of_one_card_what_to_type():
    said = run("--help")
    for line in (
        "pip install 'concept-assay[flux]'",
        "assay generate edit WORK --limit 10",
        "assay generate edit WORK --model dev --quantise 4bit --offload model",
    ):
        assert re.search(rf"^\s*{re.escape(line)}\s*$", said, re.MULTILINE), line
    for word in ("24 GB", "Apache-2.0", "non-commercial", "--offload sequential"):
        assert word in " ".join(said.split())


def test_says_what_was_made_and_what_comes_next(new_work, klein):
    work = new_work("work", 3)
    asked = (work.root, "--model", klein, "--licence", "MIT", "--steps", 1)
    said = run(*asked, "--limit", 1)
    assert "1 of 3 edits are there, 1 of them new; by folder:klein, licence MIT" in said
    assert "2 left for the next run" in said
    document = json.loads(run(*asked, "--json"))
    assert document["there"] == 3
    assert document["plan_hash"] == work.plan.hash
    assert "0 of them new" in run(*asked)


def test_prompts_are_encoded_for_a_machine_without_the_text_encoder(
    new_work, klein, silent_klein, tmp_path
):
    work, prompts = new_work("work", 3), tmp_path / "prompts.safetensors"
    said = run(work.root, "--model", klein, "--licence", "MIT", "--write-prompts", prompts)
    count = len({edit.prompt for edit in work.plan.edits}) + 1
    assert f"{prompts}: {count} prompts" in said
    asked = (work.root, "--model", silent_klein, "--licence", "MIT", "--steps", 1)
    assert "3 of 3" in run(*asked, "--prompts", prompts)


def test_a_place_for_prompts_is_looked_at_first(new_work, klein, tmp_path, monkeypatch):
    monkeypatch.setattr("generation.editing.Editor", None)
    asked = ("--model", klein, "--licence", "MIT", "--write-prompts", tmp_path)
    with pytest.raises(UserError, match="is a folder; expected a file"):
        run(new_work("work", 2).root, *asked)


def test_objects_are_removed_without_references(tmp_path, dev):
    categories = {1: "person", 2: "dog"}
    regions = [(image, 1 + image % 2) for image in range(1, 7)]
    train = coco_document(range(1, 7), regions, categories)
    root = write_coco(tmp_path / "coco", train, coco_document([9], [(9, 1)], categories))
    work = tmp_path / "work"
    asked = ("--dataset", "coco", "--root", root, "--kind", "syncoco", "--work", work)
    run(*asked, "--edits", 3, stage="plan")
    assert "3 of 3" in run(work, "--model", dev, "--licence", "MIT", "--steps", 1)
    place = Work(work)
    assert {record.guidance for record in place.edits().values()} == {4.0}
    assert {edit.references for edit in place.plan.edits} == {()}


@pytest.mark.skipif(not SAMPLE.is_dir(), reason="no real photographs beside the project")
def test_a_real_photograph(tmp_path, klein):
    work = tmp_path / "work"
    asked = ("--dataset", "cub", "--root", SAMPLE, "--kind", "syncub", "--work", work)
    run(*asked, "--edits", 1, stage="plan")
    run(work, "--model", klein, "--licence", "MIT", "--steps", 1)
    (record,) = Work(work).edits().values()
    assert record.status == "ok"
    assert record.width > 64


def test_a_run_without_any_picture_is_a_failed_check(new_work, klein, monkeypatch):
    from PIL import Image

    work = new_work("work", 2)
    black = Image.new("RGB", (64, 64))
    monkeypatch.setattr(Editor, "edit", lambda self, images, prompt, seed: black)
    with pytest.raises(CheckFailed, match="no edit could be made"):
        run(work.root, "--model", klein, "--licence", "MIT", "--retries", 0)
    assert all(each.error.startswith("black: ") for each in work.edits().values())


def test_a_hub_that_cannot_be_reached_is_one_line(new_work, tmp_path):
    done = subprocess.run(
        [*COMMAND, str(new_work("work", 2).root), "--model", REPO],
        env=environment(tmp_path, HF_ENDPOINT="http://127.0.0.1:9"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: --model {REPO}@main cannot be had")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "value"),
    [("--device", "foo"), ("--guidance", "nan"), ("--licence", "other"), ("--seed", 2**53)],
)
def test_what_cannot_be_leaves_nothing_behind(new_work, dev, option, value):
    work = new_work("work", 2)
    before = sorted(work.root.iterdir())
    with pytest.raises((UserError, AssertionError), match=option.removeprefix("--")):
        run(work.root, "--model", dev, "--licence", "MIT", "--steps", 1, option, value)
    assert sorted(work.root.iterdir()) == before


def test_a_licence_is_corrected_without_the_model(new_work, klein, monkeypatch):
    work = new_work("work", 2)
    asked = (work.root, "--model", klein, "--steps", 1, "--licence")
    run(*asked, "MTI")
    monkeypatch.setattr("generation.editing.Editor", None)
    said = run(*asked, "MIT")
    assert "2 of 2 edits are there, 0 of them new; by folder:klein, licence MIT" in said
    assert "2 made before had another licence in the log; it is corrected there" in said


def test_a_device_cannot_be_named_with_ray(new_work, klein):
    with pytest.raises(UserError, match="--device is for one process"):
        run(new_work("work", 2).root, "--model", klein, "--device", "cpu", "--ray", "local")


def test_a_folder_without_a_plan_is_one_line(tmp_path, klein):
    with pytest.raises(UserError, match=r"plan\.json is missing"):
        run(tmp_path, "--model", klein)


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    quiet = {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_XET": "1", "OMP_NUM_THREADS": "1"}
    return {**kept, **quiet, **more}


def killed_after(lines: int, log: Path, process: "subprocess.Popen[str]") -> None:
    """Kill a run once its log has so many lines."""
    deadline = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < deadline:
        if log.exists() and log.read_bytes().count(b"\n") >= lines:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.01)
    process.wait()
    assert process.returncode == -signal.SIGKILL, process.communicate()[1]


def test_a_model_of_the_hub_and_a_run_that_is_killed(new_work, klein, tmp_path, monkeypatch):
    """The branch is resolved to a full commit once; the run goes on by it without a network."""
    work, other = new_work("killed", 12), new_work("unbroken", 12)
    with HubServer() as hub:
        files = {
            path.relative_to(klein).as_posix(): path.read_bytes()
            for path in klein.rglob("*")
            if path.is_file()
        }
        front = b"---\nlicense: other\nlicense_name: tiny-licence\n---\n"
        commit = hub.add(REPO, {**files, "README.md": front, "big.bin": b"x" * 99}, kind="models")
        process = subprocess.Popen(
            [*COMMAND, str(work.root), "--model", REPO],
            env=environment(tmp_path, HF_ENDPOINT=hub.endpoint),
            stderr=subprocess.PIPE,
            text=True,
        )
        killed_after(2, work.root / "edits" / "log.jsonl", process)
        assert not any("big.bin" in path and method == "GET" for method, path in hub.log)
    done = len(work.edits())
    assert 2 <= done < 12
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hf" / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    document = json.loads(run(work.root, "--model", REPO, "--json"))
    assert (document["there"], document["made"]) == (12, 12 - done)
    with pytest.raises(UserError, match="is under 'tiny-licence', as its makers state"):
        run(work.root, "--model", REPO, "--licence", "MIT")
    records = work.edits().values()
    assert {each.model_revision for each in records} == {commit}
    assert {(each.model, each.licence) for each in records} == {(REPO, "tiny-licence")}
    settings = Settings(locate(str(klein), licence="tiny"))
    make_edits(other, settings, here(Editor(settings), open_source(other)))
    assert work_files(work.images) == work_files(other.images)


def test_ray_makes_the_same_pictures(new_work, klein, monkeypatch):
    pytest.importorskip("ray", reason="the extra ray is not installed")
    # one process: each has to import everything
    monkeypatch.setattr(ray_cluster, "connected", partial(ray_cluster.connected, cpus=1))
    work, other = new_work("ray", 3), new_work("here", 3)
    asked = ("--model", klein, "--licence", "MIT", "--steps", 1)
    assert "3 of 3" in run(work.root, *asked, "--ray", "local")
    run(other.root, *asked)
    assert work_files(work.images) == work_files(other.images)
    assert len(list(work.edit_log)) == 3
