"""``assay generate plan`` from folder to files; the real photographs where they are at hand."""

import csv
import json
from pathlib import Path

import pytest
from foreign_folders import write_cub
from typer.testing import CliRunner
from work_cases import exclusive, work_files

from benchmark.cli.generate import app
from benchmark.errors import UserError
from generation.work import Work, base_bytes, open_source

SAMPLE = Path(__file__).resolve().parents[4] / "shared" / "data" / "cub_sample"


@pytest.fixture(autouse=True)
def own_home(home, monkeypatch):
    monkeypatch.setenv("ASSAY_HOME", str(home))


def run(*arguments):
    done = CliRunner().invoke(app, ["plan", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_leaves_a_plan_that_can_be_worked_by(tmp_path):
    root, work = tmp_path / "data", tmp_path / "work"
    write_cub(root, exclusive(24))
    asked = ("--dataset", "cub", "--root", root, "--kind", "syncub", "--work", work)
    said = run(*asked, "--edits", 9)
    assert f"{work}: 9 edits of" in said
    assert f"assay generate edit {work}" in said
    first = work_files(work)
    run(*asked, "--edits", 9)
    assert work_files(work) == first
    place = Work(work)
    source = open_source(place)
    rows = {row["image"]: row["reason"] for row in csv.DictReader((work / "left_out.csv").open())}
    assert {edit.base for edit in place.plan.edits} | set(rows) == set(source.ids)
    edit = place.plan.edits[0]
    assert base_bytes(source, edit.base) == (root / "CUB_200_2011/images" / edit.base).read_bytes()
    with pytest.raises(UserError, match="no picture 'x'"):
        base_bytes(source, "x")
    document = json.loads(run(*asked, "--edits", 4, "--json"))
    assert (document["edits"], document["wanted"]) == (4, 4)


def test_a_source_that_changed_is_refused(tmp_path):
    root, work = tmp_path / "data", tmp_path / "work"
    folder = write_cub(root, exclusive(12))
    run("--dataset", "cub", "--root", root, "--kind", "syncub", "--work", work, "--edits", 2)
    picture = folder / "images" / Work(work).plan.edits[0].base
    picture.write_bytes(picture.read_bytes() + b"x")
    with pytest.raises(UserError, match="pictures or labels changed"):
        open_source(Work(work))


def test_a_folder_with_pictures_can_be_the_source(avatars, tmp_path):
    request, work = tmp_path / "r.toml", tmp_path / "work"
    request.write_text(
        'name = "darker"\nverify = "report_only"\n[[declare]]\nname = "lighting: dark"\n'
        'group = "lighting"\n[[rules]]\nattribute_kind = "lighting"\nadd = "lighting: dark"\n'
        'prompt = "Make it dark."\ncount = 3\n'
    )
    run("--dataset", avatars, "--kind", "custom", "--request", request, "--work", work)
    place = Work(work)
    assert len(place.plan.edits) == 3
    assert open_source(place).fingerprint == place.plan.source.fingerprint


@pytest.mark.parametrize("text", ["{", "[]", '{"root": 3}', '{"dataset": []}'])
def test_a_note_of_the_source_that_is_none_is_named(tmp_path, text):
    root, work = tmp_path / "data", tmp_path / "work"
    write_cub(root, exclusive(12))
    run("--dataset", "cub", "--root", root, "--kind", "syncub", "--work", work, "--edits", 2)
    note = work / "source.json"
    note.write_text(text)
    with pytest.raises(UserError, match="not as written by assay generate plan"):
        open_source(Work(work))
    note.unlink()
    assert open_source(Work(work), root).name == "cub"


def test_a_source_with_options_is_opened_with_them(tmp_path):
    root, work = tmp_path / "data", tmp_path / "work"
    write_cub(root, exclusive(12))
    asked = ("--root", root, "--kind", "syncub", "--work", work, "--edits", 2)
    run("--dataset", "cub:certainty=4", *asked)
    assert open_source(Work(work)).name == "cub:certainty=4"


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"--kind": "other"}, "expected syncub"), ({"--dataset": "roc"}, "roc")],
)
def test_wrong_use_is_one_line(tmp_path, changes, said):
    asked = {"--dataset": "cub", "--kind": "syncub", "--work": tmp_path, "--root": tmp_path}
    with pytest.raises(UserError, match=said):
        run(*(part for pair in {**asked, **changes}.items() for part in pair))


@pytest.mark.skipif(not SAMPLE.is_dir(), reason="no real photographs beside the project")
def test_real_photographs(tmp_path):
    work = tmp_path / "work"
    run("--dataset", "cub", "--root", SAMPLE, "--kind", "syncub", "--work", work)
    plan = Work(work).plan
    assert len(plan.edits) > 100
    assert len({name for edit in plan.edits for name in edit.changed}) == 45
    assert len({edit.class_name for edit in plan.edits}) == 10
    assert plan.source.licence.startswith("non-commercial")
    assert not any(
        name.startswith(("has primary size", "has primary shape", "has primary color"))
        for edit in plan.edits
        for name in edit.changed
    )
