"""Rules for submissions of generators, and making one."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import generator_cases as cases
import pyarrow.parquet as pq
import pytest
from hub_server import HubServer

from benchmark.errors import UserError
from benchmark.submissions.check import check
from benchmark.submissions.generators_images import ImageFile, ParquetSet, write_images
from benchmark.submissions.generators_init import Drawing, write_generator
from benchmark.submissions.problems import Problem

REAL = Path(__file__).parents[3] / "submissions" / "generators"
IMAGES = [cases.png(k) for k in range(4)]
ANSWERS: dict[str, Any] = {
    "identifier": "my-one",
    "name": "Mine",
    "authors": ["Ada Example <0000-0002-1825-0097>"],
    "licence": "CC0-1.0",
    "trained_on": ["synavatars:match"],
    "real": "synavatars",
}


def problems(folder: Path) -> list[Problem]:
    found = list(check(folder.parent.parent, [folder]).problems)
    assert all("\n" not in str(each) for each in found)
    return found


def place(root: Path, name: str = "small-one") -> Path:
    return root / "generators" / name


def test_a_valid_one_has_no_problem(tmp_path: Path) -> None:
    assert problems(cases.submission(place(tmp_path), IMAGES)) == []
    assert problems(cases.submission(place(tmp_path, "drawn"), generator=cases.drawing())) == []


@pytest.mark.parametrize("case", cases.BAD_FILES)
def test_every_bad_file_is_one_problem_of_that_file(tmp_path: Path, case: str) -> None:
    write, _ = cases.BAD_FILES[case]
    folder = place(tmp_path)
    folder.mkdir(parents=True)
    write(folder / "images.parquet")
    (found,) = problems(cases.submission(folder))
    assert found.file.startswith("generators/small-one/")
    assert found.expected


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"real": "cub"}, "$.real"),
        ({"generator": cases.drawing(pipeline="MyPipeline")}, "$.generator.pipeline"),
        ({"generator": cases.drawing(pipeline="FluxInpaintPipeline")}, "$.generator.pipeline"),
        ({"generator": cases.drawing(pipeline="os.system")}, "$.generator.pipeline"),
        ({"generator": cases.drawing(revision="main")}, "$.generator.revision"),
        ({"generator": cases.drawing(repo="../../etc")}, "$.generator.repo"),
        ({"generator": cases.drawing(seed=-1)}, "$.generator.seed"),
        ({"generator": cases.drawing(seed=1.5)}, "$.generator.seed"),
        ({"generator": cases.drawing(custom_pipeline="x")}, "$.generator.custom_pipeline"),
        ({"generator": cases.drawing(prompts=[])}, "$.generator.prompts"),
        (
            {"generator": cases.drawing(prompts=[{"prompt": "x", "count": 50_000}] * 2)},
            "$.generator.prompts",
        ),
        (
            {"generator": cases.drawing(prompts=[{"prompt": "a\u202eb", "count": 3}])},
            "$.generator.prompts[0].prompt",
        ),
        (
            {"generator": cases.drawing(settings={"steps": 9, "guidance": 1, "width": 60})},
            "$.generator.settings.height",
        ),
        ({"generator": {"kind": "pickle"}}, "$.generator.kind"),
        ({"claimed": {"synavatars": {"sad": -1}}}, "$.claimed.synavatars.sad"),
        ({"claimed": {"synavatars": {"match_score": 0.5}}}, "$.claimed.synavatars.match_score"),
        ({"verified": True}, "$.verified"),
    ],
)
def test_a_document_that_breaks_a_rule_is_named(
    tmp_path: Path, changed: dict[str, Any], path: str
) -> None:
    images = None if "generator" in changed else IMAGES
    found = problems(cases.submission(place(tmp_path), images, **changed))
    assert path in {each.path for each in found}, found


def test_rules_look_at_what_is_sound_beside_a_fault(tmp_path: Path) -> None:
    prompts = [{"prompt": 7, "count": 50_000}, {"count": 50_000}]
    drawn = cases.drawing(pipeline="MyPipeline", prompts=prompts, custom=True)
    folder = cases.submission(place(tmp_path), generator=drawn, real="cub", licence="none")
    assert {each.path for each in problems(folder)} == {
        "$.generator.pipeline",
        "$.generator.prompts",
        "$.generator.prompts[0].prompt",
        "$.generator.prompts[1].prompt",
        "$.generator.custom",
        "$.real",
        "$.licence",
    }
    folder = place(tmp_path, "second")
    folder.mkdir(parents=True)
    (folder / "images.parquet").write_bytes(b"PAR1")
    cases.submission(folder, verified=True)
    found = {(each.file.rpartition("/")[2], each.path) for each in problems(folder)}
    assert found == {("images.parquet", ""), ("submission.json", "$.verified")}


def test_images_handed_in_twice_are_found(tmp_path: Path) -> None:
    cases.submission(place(tmp_path, "first"), IMAGES)
    cases.submission(place(tmp_path, "second"), IMAGES)
    (found,) = check(tmp_path).problems
    assert "first" in found.expected or "first" in found.found


def test_images_packed_anew_are_the_same_images(tmp_path: Path) -> None:
    cases.submission(place(tmp_path, "first"), IMAGES)
    second = place(tmp_path, "second")
    second.mkdir()
    cells = [cases.cell(data, f"{k}.png") for k, data in enumerate(IMAGES)]
    pq.write_table(cases.table(cells), second / "images.parquet", compression="snappy")
    (found,) = problems(cases.submission(second))
    assert found.found.startswith("the same content as first (images:")


def test_a_repeated_picture_is_decoded_once_and_counted_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = []
    monkeypatch.setattr(
        "benchmark.submissions.generators_images.read_image",
        lambda data, name: decoded.append(name),
    )
    large = cases.png(1, (4096, 4096))
    folder = place(tmp_path)
    folder.mkdir(parents=True)

    def write(images: list[bytes]) -> Path:
        cells = [cases.cell(data) for data in images]
        pq.write_table(cases.table(cells), folder / "images.parquet", compression="none")
        return cases.submission(folder)

    assert problems(write([large, cases.png(2)] * 200)) == []
    assert len(decoded) == 2
    (found,) = problems(write([large] * 2000))
    assert "more than 67,108,864 bytes unpacked" in found.found
    wide = [large[:-12] + bytes([k]) * 12 for k in range(17)]
    (found,) = problems(write(wide))
    assert found.path == "row 16"
    assert found.found == "far too many pixels"


@pytest.mark.parametrize("name", ["sad", "pad", "r_sad", "fid", "kid", "density"])
def test_a_claim_has_a_largest_value(tmp_path: Path, name: str) -> None:
    for value, faults in ((1e5, 0), (1e308, 1)):
        claimed = {"synavatars": {name: value}}
        folder = cases.submission(place(tmp_path), IMAGES, claimed=claimed)
        assert len(problems(folder)) == faults


def test_another_file_than_the_document_says(tmp_path: Path) -> None:
    folder = cases.submission(place(tmp_path), IMAGES)
    write_images(folder / "images.parquet", IMAGES[:3])
    (found,) = problems(folder)
    assert found.path == "$.generator.files[0].sha256"


def measured(folder: Path) -> dict[str, Any]:
    """A result of the repository, as if it were of this folder's images."""
    file = REAL / "assay-avatars-same/results/synavatars/1.json"
    document: dict[str, Any] = json.loads(file.read_text())
    images = ParquetSet("x", [ImageFile.of(folder / "images.parquet")])
    document["submission"] |= {"id": folder.name, "images_sha256": images.content_sha256()}
    return document


def recorded(folder: Path, document: dict[str, Any], name: str = "synavatars") -> None:
    file = folder / "results" / name / "1.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document))


def _set(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *keys, last = path.split(".")
        for key in keys:
            document = document[int(key) if isinstance(document, list) else key]
        document[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (_set("scores.sad.value", 0.011), "$.scores.sad.value"),
        (_set("scores.pad.value", 0.011), "$.scores.pad.value"),
        (_set("scores.r_sad.n", 3), "$.scores.r_sad.n"),
        (_set("scores.r_sad_over_null.value", 0.2), "$.scores.r_sad_over_null.value"),
        (_set("pairs.count", 3), "$.pairs.count"),
        (_set("pairs.null_q95", [0.1]), "$.pairs.null_q95"),
        (_set("protocol.attributes.n", 3), "$.protocol.attributes.n"),
        (_set("maps.unrefined", []), "$.maps.unrefined"),
        (_set("submission.id", "other"), "$.submission.id"),
        (_set("submission.images_sha256", "0" * 64), "$.submission.images_sha256"),
        (_set("real.name", "cub"), ""),
        (
            lambda d: d["null"]["sad"].update(inside=not d["null"]["sad"]["inside"]),
            "$.null.sad.inside",
        ),
    ],
)
def test_a_result_that_does_not_follow_from_its_rows_is_named(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], path: str
) -> None:
    folder = cases.submission(place(tmp_path), IMAGES)
    document = measured(folder)
    recorded(folder, document)
    assert problems(folder) == []
    changed = copy.deepcopy(document)
    change(changed)
    recorded(folder, changed)
    assert path in {each.path for each in problems(folder)}


def test_a_result_of_another_model_or_place_is_named(tmp_path: Path) -> None:
    result = measured(cases.submission(place(tmp_path, "first"), IMAGES))
    folder = cases.submission(place(tmp_path, "drawn-one"), generator=cases.drawing())
    recorded(folder, {**result, "submission": {**result["submission"], "id": "drawn-one"}})
    found = {each.path for each in problems(folder)}
    assert found == {"$.submission.kind", "$.submission.repo", "$.submission.revision"}


def test_pictures_become_a_submission(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    for k, data in enumerate(IMAGES):
        (tmp_path / "pictures" / f"{k}.png").write_bytes(data)
    folder, document = write_generator(str(tmp_path / "pictures"), tmp_path, **ANSWERS)
    assert problems(folder) == []
    assert document["authors"] == [{"name": "Ada Example", "orcid": "0000-0002-1825-0097"}]
    with pytest.raises(UserError, match="is there already"):
        write_generator(str(tmp_path / "pictures"), tmp_path, **ANSWERS)
    write_images(tmp_path / "more.parquet", [*IMAGES, cases.png(9)])
    write_generator(str(tmp_path / "more.parquet"), tmp_path, **ANSWERS, force=True)
    assert problems(folder) == []
    (folder / "results").mkdir()
    with pytest.raises(UserError, match="has results"):
        write_generator(str(tmp_path / "pictures"), tmp_path, **ANSWERS, force=True)


def test_a_model_and_prompts_become_a_submission(tmp_path: Path) -> None:
    (tmp_path / "prompts.txt").write_text("a round  face\n\na hat\n")
    drawing = Drawing(tmp_path / "prompts.txt", 5, 7, 20, 4.5, 512, 256)
    source = f"owner/painter@{'c' * 40}"
    folder, document = write_generator(source, tmp_path, **ANSWERS, drawing=drawing)
    assert problems(folder) == []
    assert document["generator"] == {
        "kind": "diffusers",
        "repo": "owner/painter",
        "revision": "c" * 40,
        "prompts": [{"prompt": "a round face", "count": 5}, {"prompt": "a hat", "count": 5}],
        "seed": 7,
        "settings": {"steps": 20, "guidance": 4.5, "width": 512, "height": 256},
    }
    for bad in ("owner/painter", "owner/painter@main", f"owner/painter/sub@{'c' * 40}", "x@y"):
        answers = {**ANSWERS, "identifier": "other-one"}
        with pytest.raises(UserError, match="expected"):
            write_generator(bad, tmp_path, **answers, drawing=drawing)
        assert not place(tmp_path, "other-one").exists()


def test_a_hub_dataset_becomes_a_submission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_images(tmp_path / "a.parquet", IMAGES)
    data = (tmp_path / "a.parquet").read_bytes()
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    with HubServer() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        one = hub.add("owner/faces", {"data/train-0.parquet": data, "README.md": b"x"})
        two = hub.add("owner/faces", {"a/x.parquet": data, "b/x.parquet": data})
        none = hub.add("owner/faces", {"README.md": b"x"})
        folder, document = write_generator(f"owner/faces@{one}", tmp_path, **ANSWERS)
        assert problems(folder) == []
        generator = document["generator"]
        assert generator["hub"] == {"repo": "owner/faces", "revision": one, "folder": "data"}
        assert [entry["path"] for entry in generator["files"]] == ["train-0.parquet"]
        answers = {**ANSWERS, "identifier": "other-one"}
        for source, said in (
            (f"owner/faces@{two}", "Parquet files in a, b; choose"),
            (f"owner/faces@{none}", "no Parquet file"),
            (f"owner/nothing@{one}", "cannot be read"),
            ("owner/faces@main", "full 40-digit"),
        ):
            with pytest.raises(UserError, match=said):
                write_generator(source, tmp_path, **answers)
        chosen, _ = write_generator(f"owner/faces/b@{two}", tmp_path, **answers)
        assert chosen.is_dir()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("nowhere", "no such folder or file"),
        ("empty", "no images"),
        ("large", "put them on the Hub"),
        ("broken", "no picture"),
        ("text.parquet", "readable Parquet"),
    ],
)
def test_bad_pictures_leave_nothing_behind(tmp_path: Path, source: str, said: str) -> None:
    for name in ("empty", "large", "broken"):
        (tmp_path / name).mkdir()
    for k in range(5):
        (tmp_path / "large" / f"{k}.png").write_bytes(b"\0" * 2**20)
        (tmp_path / "broken" / f"{k}.png").write_bytes(b"no picture")
    (tmp_path / "text.parquet").write_text("words")
    with pytest.raises(UserError, match=said) as caught:
        write_generator(str(tmp_path / source), tmp_path, **ANSWERS)
    assert "\n" not in str(caught.value)
    assert list((tmp_path / "generators").glob("*")) == []


def test_the_command_asks_for_what_is_missing_and_says_what_is_next(
    assay: Any, tmp_path: Path
) -> None:
    (tmp_path / "pictures").mkdir()
    for k, data in enumerate(IMAGES):
        (tmp_path / "pictures" / f"{k}.png").write_bytes(data)
    given = (
        "submit",
        "init-generator",
        tmp_path / "pictures",
        "--root",
        tmp_path,
        "--id",
        "mine-1",
    )
    code, _, errors = assay(*given)
    assert code == 2
    assert "give --name, --author, --licence, --trained-on" in errors
    rest = ("--name", "Mine", "--author", "A", "--licence", "CC0-1.0", "--trained-on", "x:train")
    code, shown, errors = assay(*given, *rest)
    assert (code, errors) == (0, "")
    assert "assay submit score" in shown
    assert assay("submit", "validate", tmp_path / "generators" / "mine-1")[0] == 0
