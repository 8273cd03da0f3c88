"""All edits of a plan: failures, retries, resuming, other settings, and processes that die."""

import io
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from foreign_folders import write_cub
from PIL import Image
from work_cases import exclusive, work_files

from benchmark.datasets.cub import open_cub
from benchmark.errors import UserError
from generation.editing import Editor, Settings, here, locate, make_edits, when_needed
from generation.editing.canvas import fit
from generation.editing.job import Job, perform, seed_of
from generation.planning import Request, make_plan
from generation.work import Work, open_source, write_plan


@pytest.fixture(scope="module")
def cub_root(tmp_path_factory):
    root = tmp_path_factory.mktemp("cub")
    write_cub(root, exclusive(12))
    return root


@pytest.fixture
def work(cub_root, tmp_path) -> Work:
    source = open_cub(cub_root / "CUB_200_2011")
    planned = make_plan(source, Request("syncub", edits=6))
    return write_plan(tmp_path / "work", planned.plan, planned.left_out, cub_root)


class Painter:
    """Stands where a pipeline does: paints by seed, and misbehaves as it is told."""

    scheduler, precision, multiple = "Paint", "float32", 8

    def __init__(self, **faults):
        self.faults = {key: list(value) for key, value in faults.items()}
        self.seen = []

    def edit(self, images, prompt, seed):
        self.seen.append((prompt, len(images), seed))
        todo = self.faults.get(prompt) or []
        fault = todo.pop(0) if todo else None
        if isinstance(fault, BaseException):
            raise fault
        if fault == "input":
            return fit(images[0], self.multiple)
        if fault == "black":
            return Image.new("RGB", (64, 64))
        pixels = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), dtype=np.uint8)
        return Image.fromarray(pixels).resize((64, 64))


@pytest.fixture
def settings(klein):
    return Settings(locate(str(klein), licence="Apache-2.0"), steps=2)


def make(work, settings, painter, **more):
    return make_edits(work, settings, here(painter, open_source(work)), **more)


@pytest.fixture
def told(work):
    """The plan with a prompt of its own for every edit."""
    edits = tuple(replace(edit, prompt=edit.id) for edit in work.plan.edits)
    plan = replace(work.plan, edits=edits)
    return write_plan(work.root, plan, {}, work_root(work))


def work_root(work):
    return Path(json.loads((work.root / "source.json").read_text())["root"])


def test_every_edit_is_made_and_recorded(told, settings):
    painter = Painter()
    calls = []
    report = make(told, settings, painter, progress=lambda done, total: calls.append((done, total)))
    assert (report.made, report.there, report.failed, report.missing) == (6, 6, (), 0)
    assert calls == [(n, 6) for n in range(7)]
    records = told.edits()
    assert len({seed for _, _, seed in painter.seen}) == 6
    assert {count for _, count, _ in painter.seen} == {2}  # base and one reference, each call
    for edit in told.plan.edits:
        record = records[edit.id]
        image = Image.open(io.BytesIO(told.image(edit.id).read_bytes()))
        assert (record.width, record.height) == image.size
        assert record.seed == seed_of(told.plan.seed, edit.id, 1)
        assert (record.model, record.licence) == ("folder:klein", "Apache-2.0")
        assert (record.steps, record.guidance, record.scheduler) == (2, None, "Paint")
        assert record.plan_hash == told.plan.hash
    again = Painter()
    assert make(told, settings, again).made == 0
    assert not again.seen


def test_failures_are_tried_again_and_then_listed(told, settings):
    painter = Painter(
        **{
            "edit-00000": ["black"],
            "edit-00001": ["input", RuntimeError("CUDA error: no luck")],
            "edit-00002": ["black"] * 9,
            "edit-00003": ["input"] * 9,
        }
    )
    report = make(told, settings, painter)
    assert report.there == 4
    assert dict(report.failed).keys() == {"edit-00002", "edit-00003"}
    assert dict(report.failed)["edit-00002"].startswith("black: ")
    assert dict(report.failed)["edit-00003"].startswith("unchanged: ")
    lines = list(told.edit_log)
    assert Counter(line.id for line in lines) == {
        "edit-00000": 2,
        "edit-00001": 3,
        "edit-00002": 3,
        "edit-00003": 3,
        "edit-00004": 1,
        "edit-00005": 1,
    }
    tries = [line for line in lines if line.id == "edit-00001"]
    assert [line.attempt for line in tries] == [1, 2, 3]
    assert [line.status for line in tries] == ["failed", "failed", "ok"]
    assert tries[1].error == "RuntimeError: CUDA error: no luck"
    assert len({line.seed for line in tries}) == 3
    assert not told.image("edit-00002").exists()
    assert make(told, settings, Painter()).made == 0  # no attempt is left
    more = make(told, settings, Painter(), retries=3)
    assert (more.made, more.failed) == (2, ())
    assert told.edits()["edit-00002"].attempt == 4


def test_a_picture_that_cannot_be_read_is_a_failure_with_its_reason(told, settings, cub_root):
    edit = told.plan.edits[0]
    source = open_source(told)
    bad = replace(edit, references=("nowhere.jpg",))
    outcome = perform(Painter(), source, Job(bad, 1, 5))
    assert outcome.png is None
    assert outcome.error == "picture: dataset cub has no picture 'nowhere.jpg'"
    assert not outcome.broken


def test_a_model_that_always_fails_stops_the_run(told, settings):
    broken = {edit.id: [RuntimeError("out of memory")] * 9 for edit in told.plan.edits}
    with pytest.raises(UserError, match=r"5 edits in a row failed.*out of memory"):
        make(told, settings, Painter(**broken))
    assert len(list(told.edit_log)) == 5
    assert make(told, settings, Painter()).there == 6


def test_lost_and_spoilt_pictures_are_made_as_they_were(told, settings):
    make(told, settings, Painter())
    before = work_files(told.images)
    told.image("edit-00001").unlink()
    told.image("edit-00002").write_bytes(b"half")
    assert make(told, settings, Painter()).made == 2
    assert work_files(told.images) == before
    assert told.edits()["edit-00001"].attempt == 1


def test_a_limited_run_makes_the_first(told, settings):
    report = make(told, settings, Painter(), limit=2)
    assert (report.there, report.missing) == (2, 4)
    assert list(told.edits()) == ["edit-00000", "edit-00001"]
    assert make(told, settings, Painter(), limit=9).there == 6


def test_other_settings_are_refused_unless_all_is_made_anew(told, settings, dev):
    make(told, settings, Painter(), limit=3)
    others = [
        replace(settings, steps=3),
        replace(settings, quantise="4bit"),
        Settings(locate(str(dev), licence="MIT"), steps=2),
    ]
    for other in others:
        with pytest.raises(UserError, match="give --redo"):
            make(told, other, Painter())
    with pytest.raises(UserError, match="give --redo"):
        make(told, settings, Painter(), seed=9)
    report = make(told, others[2], Painter(), redo=True)
    assert (report.made, report.there) == (6, 6)
    assert {record.model for record in told.edits().values()} == {"folder:dev"}
    assert {record.guidance for record in told.edits().values()} == {4.0}


@pytest.mark.parametrize("before", ["not stated", "Apache-1.0"])
def test_a_licence_is_corrected_without_another_edit(told, settings, before):
    """As the log of an earlier version, or of a user's slip, may have it."""
    faults = {"edit-00000": ["black"] * 9}
    wrong = replace(settings, model=replace(settings.model, licence=before))
    make(told, wrong, Painter(**faults), limit=2, retries=0)
    pictures, records = work_files(told.images), told.edits()
    painter = Painter()
    report = make(told, settings, painter, limit=1, retries=0)
    assert (report.relicensed, report.as_dict()["relicensed"], report.made) == (2, 2, 1)
    assert len(painter.seen) == 1
    assert work_files(told.images).items() >= pictures.items()
    now = told.edits()
    assert {record.licence for record in now.values()} == {"Apache-2.0"}
    for name, record in records.items():
        assert now[name] == replace(record, licence="Apache-2.0")
    assert len(list(told.edit_log)) == 5
    report = make(told, settings, Painter(), retries=0)
    assert (report.relicensed, report.there) == (0, 5)


def test_edits_of_another_model_keep_their_licence(told, settings, dev):
    make(told, settings, Painter(), limit=2)
    other = Settings(locate(str(dev), licence="MIT"), steps=2)
    report = make(told, other, Painter(), limit=1, redo=True)
    assert report.relicensed == 0
    assert [line.licence for line in told.edit_log] == ["Apache-2.0"] * 2 + ["MIT"]


def test_a_model_is_loaded_once_and_only_for_an_edit(told, settings):
    loaded = []

    def prepare():
        loaded.append(1)
        return here(Painter(**{"edit-00001": ["black"]}), open_source(told))

    assert make_edits(told, settings, when_needed(prepare)).there == 6
    assert loaded == [1]
    assert make_edits(told, settings, when_needed(prepare)).made == 0
    assert loaded == [1]


@pytest.mark.parametrize("seed", [-1, 2**53])
def test_a_seed_is_below_two_to_the_53(told, settings, seed):
    with pytest.raises(UserError, match=r"--seed is .*; expected 0 to 2\^53 - 1"):
        make(told, settings, Painter(), seed=seed)
    assert not told.images.exists()


def test_guidance_and_number_of_bits_tell_edits_apart(told, dev):
    settings = Settings(locate(str(dev), licence="MIT"), steps=2, guidance=2.0)
    make(told, settings, Painter(), limit=1)
    with pytest.raises(UserError, match=r"with 2\.0 guidance"):
        make(told, replace(settings, guidance=3.0), Painter())
    assert make(told, settings, Painter()).there == 6


def test_a_picture_that_could_not_be_made_anew_does_not_stay(told, settings):
    make(told, settings, Painter())
    report = make(
        told, replace(settings, steps=3), Painter(**{"edit-00000": ["black"] * 9}), redo=True
    )
    assert [name for name, _ in report.failed] == ["edit-00000"]
    assert report.there == 5
    assert not told.image("edit-00000").exists()
    assert told.edits()["edit-00000"].status == "failed"


class Died(BaseException):
    """Ends a run as a kill would: nothing catches it."""


def test_a_run_that_dies_anywhere_ends_as_an_unbroken_one(told, settings, tmp_path):
    faults = {"edit-00001": ["black"], "edit-00004": ["input", "black", "input"]}
    make(told, settings, Painter(**faults))
    unbroken = work_files(told.images)
    records = {name: stripped(each) for name, each in told.edits().items()}
    for number in range(9):
        fresh = write_plan(tmp_path / f"w{number}", told.plan, {}, work_root(told))
        painter = Painter(**faults)
        edit, calls = painter.edit, 0

        def dying(images, prompt, seed, edit=edit, stop=number):
            nonlocal calls
            calls += 1
            if calls > stop:
                raise Died
            return edit(images, prompt, seed)

        painter.edit = dying
        with pytest.raises(Died):
            make(fresh, settings, painter)
        painter.edit = edit
        make(fresh, settings, painter)
        assert work_files(fresh.images) == unbroken
        assert {name: stripped(each) for name, each in fresh.edits().items()} == records


def stripped(record):
    return replace(record, seconds=0.0)


def test_the_tiny_pipeline_makes_a_plans_edits(work, settings):
    source = open_source(work)
    report = make_edits(work, settings, here(Editor(settings), source))
    assert report.there == 6
    first = work_files(work.images)
    for name in first:
        (work.images / name).unlink()
    assert make_edits(work, settings, here(Editor(settings), source)).made == 6
    assert work_files(work.images) == first
