import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from benchmark.datasets import check_folder, load_dataset
from benchmark.datasets.layout import IMAGE_COLUMNS, PAIR_COLUMNS, features
from benchmark.errors import UserError
from benchmark.images import read_image
from generation.avatars import BuildReport, build
from generation.avatars.render import changed_pixels, encode_png
from generation.avatars.sample import draw_edit
from generation.avatars.space import CONCEPTS
from generation.avatars.work import Result

build_module = sys.modules["generation.avatars.build"]
SMALL = {"match": 52, "score": 52, "pairs": 8}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_build_passes_the_check(small_build: BuildReport) -> None:
    report = check_folder(small_build.folder)
    assert report.problems == []
    assert report.fingerprint == small_build.fingerprint
    assert report.counts == {"match": 120, "score": 104, "pairs": 48, "concepts": len(CONCEPTS)}


def test_one_process_and_two_give_the_same_bytes(tmp_path: Path) -> None:
    one = build(tmp_path / "one", **SMALL, workers=1)
    two = build(tmp_path / "two", **SMALL, workers=2)
    assert one.fingerprint == two.fingerprint
    assert contents(one.folder) == contents(two.folder)
    assert sorted(contents(one.folder)) == [
        "README.md",
        "images/match-00000-of-00001.parquet",
        "images/score-00000-of-00001.parquet",
        "manifest.json",
        "pairs/test-00000-of-00001.parquet",
    ]


def test_another_seed_gives_other_data(tmp_path: Path, small_build: BuildReport) -> None:
    other = build(tmp_path / "other", seed=4, match=120, score=104, pairs=48, workers=1)
    assert other.fingerprint != small_build.fingerprint
    ours, theirs = load_dataset(small_build.folder), load_dataset(other.folder)
    assert {ours.images.encoded(i) for i in range(224)}.isdisjoint(
        theirs.images.encoded(i) for i in range(224)
    )


def test_pairs_are_pixel_identical_outside_the_edited_part(small_build: BuildReport) -> None:
    pairs = load_dataset(small_build.folder).pairs
    assert pairs is not None
    for pair in pairs:
        changed = changed_pixels(pair.base, pair.edited)
        assert changed.sum() >= 30
        # A background is most of the picture, a skin or a head a good part of it.
        assert changed.mean() < 0.9
        group = CONCEPTS[pair.added if pair.added is not None else pair.removed or 0].split(":")[0]
        if group not in ("background", "skin", "top", "clothing", "hair colour"):
            assert changed.mean() < 0.2, group


def test_kinds_and_labels_of_pairs(small_build: BuildReport) -> None:
    dataset = load_dataset(small_build.folder)
    pairs = dataset.pairs
    assert pairs is not None
    kinds = [
        (added is not None, removed is not None)
        for added, removed in zip(pairs.added, pairs.removed, strict=True)
    ]
    assert [kinds.count(kind) for kind in ((True, False), (False, True), (True, True))] == [
        12,
        12,
        24,
    ]
    style = [concept.startswith("style") for concept in dataset.concepts]
    assert (dataset.annotations[:, style].sum(axis=1) == 1).all()
    assert (pairs.present[:, style].sum(axis=1) == 1).all()


def test_pictures_are_224_px_png(small_build: BuildReport) -> None:
    dataset = load_dataset(small_build.folder)
    for index in (0, 50, 223):
        data = dataset.images.encoded(index)
        assert data.startswith(b"\x89PNG")
        assert len(data) < 20_000
        assert dataset.images[index].size == (224, 224)


@pytest.mark.parametrize("colours", [1, 2, 255, 256, 257, 5000])
def test_png_is_lossless_with_any_number_of_colours(colours: int) -> None:
    random = np.random.default_rng(colours)
    palette = random.integers(0, 256, (colours, 3), dtype=np.uint8)
    pixels = palette[np.arange(80 * 80) % colours].reshape(80, 80, 3)
    data = encode_png(Image.fromarray(pixels))
    assert (np.asarray(read_image(data)) == pixels).all()


def test_manifest(small_build: BuildReport) -> None:
    document = json.loads((small_build.folder / "manifest.json").read_bytes())
    assert document["name"] == "synavatars"
    assert document["seed"] == 3
    assert [concept["name"] for concept in document["concepts"]] == list(CONCEPTS)
    assert {c["group"] for c in document["concepts"] if not c["editable"]} == {"style"}
    assert document["counts"]["pairs_swap"] == 24
    assert {style["licence"] for style in document["styles"]} == {"CC0 1.0"}
    assert document["packages"]["dicebear-styles"]
    assert 0.2 < document["probes"]["prevalence_f1"] < document["probes"]["raw_pixels_f1"] < 1


def test_parquet_is_typed_for_the_hub(small_build: BuildReport) -> None:
    for name, columns in (("images/match", IMAGE_COLUMNS), ("pairs/test", PAIR_COLUMNS)):
        path = small_build.folder / f"{name}-00000-of-00001.parquet"
        found = pq.read_schema(path)
        assert {each.name: each.type for each in found} == columns
        typed = json.loads(found.metadata[b"huggingface"])["info"]["features"]
        assert typed == features(columns, CONCEPTS)
        assert pq.ParquetFile(path).metadata.row_group(0).num_rows <= 100


def test_the_hub_library_loads_both_configurations(
    small_build: BuildReport, tmp_path: Path
) -> None:
    script = f"""
import json, datasets
from datasets import ClassLabel, Image, List, Value
images = datasets.load_dataset({str(small_build.folder)!r})
pairs = datasets.load_dataset({str(small_build.folder)!r}, "pairs")
assert set(images) == {{"match", "score"}} and set(pairs) == {{"test"}}
label = ClassLabel(names={list(CONCEPTS)!r})
assert images["match"].features == {{
    "id": Value("string"), "image": Image(), "concepts": List(label)
}}
assert pairs["test"].features == {{
    "id": Value("string"), "base": Image(), "edited": Image(), "added": label, "removed": label,
    "group": Value("string"), "base_concepts": List(label), "edited_concepts": List(label),
}}
row, pair = images["score"][5], pairs["test"][1]
print(json.dumps([len(images["match"]), row["id"], row["concepts"], row["image"].size,
    pair["added"], pair["removed"], pair["group"], pair["edited"].size]))
"""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    dataset = load_dataset(small_build.folder)
    pairs = dataset.pairs
    assert pairs is not None
    row = int(dataset.split("score")[5])
    edit = draw_edit(3, 1)
    assert json.loads(done.stdout) == [
        120,
        "score-00005",
        np.flatnonzero(dataset.annotations[row]).tolist(),
        [224, 224],
        pairs.added[1],
        pairs.removed[1],
        edit.group,
        [224, 224],
    ]


def test_card(small_build: BuildReport) -> None:
    import yaml

    text = (small_build.folder / "README.md").read_text()
    _, front, body = text.split("---\n", 2)
    front_matter = yaml.safe_load(front)
    assert front_matter["license"] == "cc0-1.0"
    assert front_matter["size_categories"] == ["n<1K"]
    assert [config["config_name"] for config in front_matter["configs"]] == ["images", "pairs"]
    names = front_matter["dataset_info"][0]["features"][2]["list"]["class_label"]["names"]
    assert list(names.values()) == list(CONCEPTS)
    for expected in (
        small_build.fingerprint,
        "Pablo Stanley",
        "CC0 1.0",
        "load_dataset",
        "52 concepts in 13 groups",
    ):
        assert expected in body
    for number, concept in enumerate(CONCEPTS):
        assert f"| {number} | {concept} | " in body
    assert "{" not in body.replace("{{", "").split("```bibtex")[0].replace("@misc{", "")


def test_rejects_edits_that_cannot_be_seen_and_duplicates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = build_module._Drawing._fault
    results: list[Result] = []

    def fault(self: object, result: Result) -> bool:
        results.append(result)
        return bool(original(self, result))

    monkeypatch.setattr(build_module._Drawing, "_fault", fault)
    monkeypatch.setattr(build_module, "MIN_CHANGED_PIXELS", 3000)
    report = build(tmp_path / "data", **SMALL, workers=1)
    pairs = [result for result in results if len(result.pictures) == 2]
    faint = sum(result.changed < 3000 for result in pairs)
    assert report.rejected["too few pixels changed"] == faint > 0
    loaded = load_dataset(report.folder).pairs
    assert loaded is not None
    assert all(changed_pixels(pair.base, pair.edited).sum() >= 3000 for pair in loaded)


def test_a_duplicate_is_drawn_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = build_module.draw_base

    def twins(seed: int, split: str, index: int, attempt: int = 0) -> object:
        return original(seed, "match", index % 26, attempt)

    monkeypatch.setattr(build_module, "draw_base", twins)
    report = build(tmp_path / "data", **SMALL, workers=1)
    # The second half of match and all of score repeat the first; each round settles 26 of them.
    assert report.rejected["duplicate"] >= 26 + 52
    problems = check_folder(report.folder).problems
    assert not [problem for problem in problems if "same picture" in problem]


def test_too_many_rejections_end_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_module, "MIN_CHANGED_PIXELS", 224 * 224 + 1)
    monkeypatch.setattr(build_module, "MAX_ATTEMPTS", 2)
    with pytest.raises(UserError, match="8 of 8 drawings were rejected 2 times"):
        build(tmp_path / "data", **SMALL, workers=1)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"match": 10}, "match is 10, expected 52"),
        ({"score": 0}, "score is 0"),
        ({"pairs": -1}, "pairs is -1, expected 4"),
        ({"pairs": 10**9}, "pairs is 1000000000"),
        ({"workers": 0}, "workers is 0"),
    ],
)
def test_sizes_out_of_range(tmp_path: Path, options: dict[str, int], expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        build(tmp_path / "data", **options)


def test_other_peoples_files_are_not_deleted(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match=r"holds 'thesis\.tex', which a build would delete"):
        build(tmp_path)
    with pytest.raises(UserError, match="is a file"):
        build(tmp_path / "thesis.tex")
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_progress_counts_every_picture(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    build(
        tmp_path / "data",
        **SMALL,
        workers=1,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told[-1] == (120, 120)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


KILLED = """
import os, signal, sys
from pathlib import Path
from generation.avatars import build
import generation.avatars.write as write
def kill(*_): os.kill(os.getpid(), signal.SIGKILL)
out, when = Path(sys.argv[1]), sys.argv[2]
if when == "write": write.pixel_probe = kill
build(out, match=52, score=52, pairs=8, workers=1, progress=kill if when == "draw" else None)
"""


@pytest.mark.parametrize("when", ["draw", "write"])
def test_a_killed_build_leaves_nothing_half_made(tmp_path: Path, when: str) -> None:
    out = tmp_path / "data"
    done = subprocess.run([sys.executable, "-c", KILLED, str(out), when], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not out.exists()
    assert all(path.name.startswith(".") for path in tmp_path.iterdir())


def test_a_failed_build_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = build(tmp_path / "data", **SMALL, workers=1)
    before = contents(earlier.folder)

    def fail(*_: object) -> None:
        raise RuntimeError("disk full")

    monkeypatch.setattr("generation.avatars.write.pixel_probe", fail)
    with pytest.raises(RuntimeError, match="disk full"):
        build(tmp_path / "data", seed=9, **SMALL, workers=1)
    assert contents(earlier.folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
