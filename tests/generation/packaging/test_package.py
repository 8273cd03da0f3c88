"""From a finished work folder to a dataset folder that every reader takes."""

import csv
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from edit_work import edited_work
from markdown_it import MarkdownIt
from package_work import decide, finished_work, judge
from work_cases import edit_record, small_plan

import schemas
from benchmark.cli import main
from benchmark.datasets import check_folder, load_dataset
from benchmark.datasets.joined import join
from benchmark.errors import UserError
from generation.packaging import Options, hashes, missing, package, read_package
from generation.packaging.card import card
from generation.packaging.licences import Licences, licence_file
from generation.packaging.markdown import cell
from generation.work import Work


@pytest.fixture(scope="module")
def work(tmp_path_factory) -> Work:
    return finished_work(tmp_path_factory.mktemp("work"))


@pytest.fixture(scope="module")
def folder(work, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("package") / "tiny"
    package(work, out)
    return out


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def source(work: Work):
    return load_dataset("cub", root=work.root.parent / "source")


def test_pairs_are_the_plans_with_their_original_bytes(work, folder):
    made, photographs = load_dataset(folder), source(work)
    assert check_folder(folder).problems == []
    assert made.pairs is not None
    assert made.pairs.ids == tuple(edit.id for edit in work.plan.edits)
    for row, edit in enumerate(work.plan.edits):
        origin = photographs.ids.index(edit.base)
        assert made.pairs.base.encoded(row) == photographs.images.encoded(origin)
        assert made.pairs.edited.encoded(row) == work.image(edit.id).read_bytes()
        assert made.concepts[made.pairs.added[row]] == edit.added
        assert made.concepts[made.pairs.removed[row]] == edit.removed
        np.testing.assert_array_equal(made.pairs.present[row], photographs.annotations[origin])


def test_it_joins_its_source_which_leaves_what_was_edited_out_of_match(work, folder):
    joined = join(source(work), load_dataset(folder))
    assert len(joined.pairs) == len(work.plan.edits)
    assert joined.left_out == 0  # the plan edits birds of the score split


def test_the_datasets_library_opens_it(folder, tmp_path):
    datasets = pytest.importorskip("datasets")
    rows = datasets.load_dataset(str(folder), cache_dir=str(tmp_path))["test"]
    assert len(rows) == 8
    names = rows.features["added"].names
    assert names == [each["name"] for each in read_package(folder)["concepts"]]
    assert rows[0]["base"].size == rows[0]["edited"].size == (64, 64)
    assert {row["model"] for row in rows} == {"folder:tiny"}


def test_the_same_work_gives_the_same_bytes(work, folder, tmp_path):
    package(work, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(folder)


def test_the_manifest_seals_every_file(folder, tmp_path):
    document = read_package(folder)
    schemas.validate("package", document)
    others = contents(folder)
    others.pop("manifest.json")
    assert document["files"] == {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in others.items()
    }
    assert hashes(folder) == document["files"]
    assert missing(document["licences"]) == []
    touched = tmp_path / "touched"
    touched.mkdir()
    (touched / "manifest.json").write_text(json.dumps({**document, "version": "9.9"}))
    with pytest.raises(UserError, match="changed since it was written"):
        read_package(touched)


def test_the_card_says_what_it_is(folder):
    text = (folder / "README.md").read_text()
    header, body = text.split("---\n", 2)[1:]
    front = yaml.safe_load(header)
    assert front["configs"][0]["data_files"] == [{"split": "test", "path": "pairs/test-*.parquet"}]
    assert "AI-generated" in body
    assert "apache-2.0" in body
    assert "folder:tiny" in body
    assert "Every pair was looked at and accepted by a person." in body


def test_croissant_names_every_file_by_its_hash(folder):
    document = json.loads((folder / "croissant.json").read_text())
    assert document["@type"] == "sc:Dataset"
    assert document["conformsTo"].startswith("http://mlcommons.org/croissant/")
    fields = {field["name"] for record in document["recordSet"] for field in record["field"]}
    assert {"base", "edited", "added", "removed"} <= fields


def test_mlcroissant_accepts_it(folder):
    library = pytest.importorskip("mlcroissant")
    assert library.Dataset(jsonld=str(folder / "croissant.json")).metadata.name


@pytest.fixture
def mixed(tmp_path) -> Work:
    """One edit that the classifier rejects, one that a person rejects, one that nobody saw."""
    work = edited_work(tmp_path)
    first, second, third, *rest = [edit.id for edit in work.plan.edits]
    judge(work, wrong=(first,))
    decide(work, "ann", {second: "reject", **dict.fromkeys(rest, "accept")})
    decide(work, "bea", {second: "reject", rest[0]: "accept"})
    assert third not in rest
    return work


def test_what_fell_out_is_counted_by_stage_and_reason(mixed, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(UserError, match=r"1 pairs are not reviewed yet.*--unreviewed"):
        package(mixed, out)
    assert not out.exists()
    report = package(mixed, out, Options(unreviewed=True))
    assert report.manifest["counts"]["pairs"] == 6
    assert report.manifest["review"]["state"] == "partly"
    assert report.manifest["review"]["reviewed"] == 5
    (pair,) = report.manifest["review"]["agreement"]
    assert (pair["both"], pair["same"]) == (2, 1.0)
    assert sum(count for _, _, count in report.selection) == 2
    assert {stage for stage, _, _ in report.selection} == {"verify", "review"}
    with (out / "statistics" / "selection.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert sum(int(row["edits"]) for row in rows) == 2
    assert "5 of 6" in (out / "README.md").read_text()


def test_edits_without_a_verdict_are_refused(tmp_path):
    work = edited_work(tmp_path)
    ids = [edit.id for edit in work.plan.edits]
    judge(work, ids[:5])
    decide(work, "ann", dict.fromkeys(ids, "accept"))
    with pytest.raises(UserError, match="3 of 8 edits are not verified yet"):
        package(work, tmp_path / "out")
    report = package(work, tmp_path / "out", Options(unfinished=True))
    assert report.manifest["counts"]["pairs"] == 5


def test_a_plan_that_only_reports_says_so(tmp_path):
    work = finished_work(tmp_path, verify="report_only")
    report = package(work, tmp_path / "out")
    assert report.manifest["generation"]["verify"] == "report_only"
    text = (tmp_path / "out" / "README.md").read_text()
    assert "Every pair passed a classifier" not in text


def test_a_picture_changed_after_it_was_made_stops_it_and_nothing_is_written(tmp_path):
    work = finished_work(tmp_path)
    kept = package(work, tmp_path / "out").manifest
    first = work.plan.edits[0].id
    work.image(first).write_bytes(work.image(work.plan.edits[1].id).read_bytes())
    with pytest.raises(UserError, match=first):
        package(work, tmp_path / "out")
    assert read_package(tmp_path / "out") == kept
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "source", "work"]


@pytest.mark.parametrize("version", ["1", "v1.0", "1.0.0", "01.0", "1.-1", ""])
def test_a_version_is_two_numbers(work, tmp_path, version):
    with pytest.raises(UserError, match="expected two numbers"):
        package(work, tmp_path / "out", Options(version=version))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"licence": "MIT"}, "--licence is 'MIT'; .* lower-case .* such as mit"),
        ({"licence": ""}, "--licence is ''"),
        ({"licence": "a: b"}, "--licence is 'a: b'"),
        ({"licence": "mit\n"}, r"--licence is 'mit\\n'"),
        ({"photographs_licence": "x" * 1001}, "--photographs-licence is .*expected 1 to 1,000"),
        ({"annotations_licence": " "}, "--annotations-licence is ' '"),
    ],
)
def test_a_licence_is_checked_before_anything_else(tmp_path, options, said):
    with pytest.raises(UserError, match=said) as raised:
        package(Work(tmp_path / "nowhere"), tmp_path / "out", Options(**options))
    assert "\n" not in str(raised.value)


def test_licences_of_one_model_are_all_named_and_a_missing_one_is_missing():
    plan = small_plan()

    def of(*stated):
        records = [edit_record(plan, "edit-00000", licence=each, model="m") for each in stated]
        return Licences.of(plan, records).as_dict()

    assert of("MIT", "Apache-2.0", "mit")["models"] == {"m": "Apache-2.0; MIT"}
    for stated in (("not stated", "Apache-2.0"), ("Apache-2.0", "not stated")):
        assert of(*stated)["models"] == {"m": None}
        assert missing(of(*stated)) == ["model m"]


HOSTILE = "per|son <script>alert(1)</script> [x](y) `a` *b* _c_ \\|"


def test_names_of_others_are_text_in_the_card(folder):
    document = dict(read_package(folder))
    numbers = json.loads((folder / "statistics" / "statistics.json").read_text())
    model = document["generation"]["models"][0]
    model |= dict.fromkeys(("model", "licence", "scheduler", "precision"), HOSTILE)
    document["generation"]["source"] |= {"name": HOSTILE, "revision": HOSTILE}
    document["generation"]["declared"] = [HOSTILE]
    document["licences"] |= {"models": {HOSTILE: None}, "photographs": HOSTILE}
    numbers["concepts"][0]["concept"] = numbers["classes"][0]["class"] = HOSTILE
    numbers["selection"] = [{"stage": "edit", "reason": HOSTILE, "edits": 1}]
    body = card(document, numbers, None).split("---\n", 2)[2]
    text = body + licence_file(document["licences"], HOSTILE, "x")
    shown, kinds = [], set()
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        if token.type == "inline" and "alert" in token.content:
            shown.append("".join(each.content for each in token.children))
            kinds |= {each.type for each in token.children}
        assert token.type != "html_block"
    assert len(shown) == 21
    assert all(HOSTILE in line for line in shown)
    assert kinds <= {"text", "softbreak", "code_inline", "strong_open", "strong_close"}
    assert cell("a\n| b\x1b\u202e") == r"a \| b"


def test_a_folder_of_something_else_is_left_alone(work, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="holds something else"):
        package(work, tmp_path / "out")
    assert (tmp_path / "out" / "thesis.tex").read_text() == "years of work"


def test_the_command(work, tmp_path, monkeypatch, capsys):
    def assay(*arguments):
        monkeypatch.setattr(sys, "argv", ["assay", "generate", "package", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    out = tmp_path / "out"
    code, shown, _ = assay(work.root, "--out", out, "--version", "2.1", "--json")
    assert code == 0
    assert json.loads(shown)["version"] == read_package(out)["version"] == "2.1"
    code, shown, _ = assay(work.root, "--out", out)
    assert code == 0
    assert f"assay data check {out}" in shown
    code, _, complaint = assay(tmp_path / "nowhere", "--out", out)
    assert code == 2
    assert len(complaint.splitlines()) == 1
