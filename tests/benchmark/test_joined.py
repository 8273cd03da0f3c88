"""Pictures of one dataset scored with the edit pairs of another."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import small_saes
from foreign_folders import (
    ATTRIBUTES,
    coco_document,
    numbered,
    pairs_files,
    png,
    put,
    syncoco_rows,
    syncub_rows,
    write_coco,
    write_cub,
    write_files,
)

from benchmark.cli import main
from benchmark.codes import write_arrays
from benchmark.datasets import Dataset, join, load_dataset
from benchmark.datasets.coco import CLASSES
from benchmark.errors import UserError
from benchmark.metrics import match_concepts, tapa_score
from benchmark.runs import prepare_by_name, score_codes_file
from benchmark.saes.activations import TopK
from benchmark.saes.formats.assay import FORMAT
from schemas import validate

Run = Callable[..., tuple[int, str, str]]
BIRDS = [([0, 2, 5], 2, 3), ([1, 3], 3, 2), ([0, 4], 4, 5), ([1, 2, 4], 2, 3)]
# the numbers that COCO does not use
UNUSED = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}
CATEGORIES = dict(zip((n for n in range(1, 91) if n not in UNUSED), CLASSES, strict=True))


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))


@pytest.fixture
def birds(tmp_path: Path) -> tuple[str, str]:
    """Folders of a small CUB and a small synCUB whose vocabulary is in another order."""
    present = np.random.default_rng(1).random((12, len(ATTRIBUTES))) < 0.5
    present[:4] = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])[:, [0, 1, 0, 1, 0, 1]]
    cub = write_cub(tmp_path / "cub", present, picture=lambda row: png(row, 32))
    write_files(tmp_path / "syncub", pairs_files(syncub_rows(BIRDS)))
    return str(cub), str(tmp_path / "syncub")


def turned(folder: Path) -> None:
    """The same table over a vocabulary that is turned round, so every index is another one."""
    last = len(ATTRIBUTES) - 1
    rows = syncub_rows(BIRDS)
    for row in rows:
        for name in ("old_attr_idx", "new_attr_idx"):
            row[name] = last - row[name]
        for name in ("orig_attr_idx", "syn_attr_idx"):
            row[name] = str([last - each for each in json.loads(row[name])])
    write_files(folder, pairs_files(rows, ATTRIBUTES[::-1]))


def test_concepts_join_by_name(birds: tuple[str, str], tmp_path: Path) -> None:
    cub, pairs = (load_dataset(name) for name in birds)
    joined = join(cub, pairs)
    assert joined.left_out == 0
    assert joined.pairs.removed == (2, 3, 4, 2)
    assert joined.pairs.added == (3, 2, 5, 3)
    turned(tmp_path / "syncub")
    again = load_dataset(birds[1])
    assert again.pairs is not None
    assert again.pairs.removed == (3, 2, 1, 3)
    other = join(cub, again)
    assert (other.pairs.removed, other.pairs.added) == (joined.pairs.removed, joined.pairs.added)
    assert (other.pairs.present == joined.pairs.present).all()
    assert np.flatnonzero(other.pairs.present[0]).tolist() == [0, 2, 5]
    view = joined.view()
    assert view.split("match").tolist() == cub.split("match").tolist()
    assert view.pairs is joined.pairs


def test_fewer_concepts_than_the_pictures_have(tmp_path: Path, birds: tuple[str, str]) -> None:
    rows = syncub_rows([([2], 2, 3)])
    for row in rows:
        row |= {"old_attr_idx": 1, "new_attr_idx": 0, "orig_attr_idx": "[1]", "syn_attr_idx": "[0]"}
    names = [ATTRIBUTES[3], ATTRIBUTES[2]]
    few = load_dataset(write_files(tmp_path / "few", pairs_files(rows, names)))
    joined = join(load_dataset(birds[0]), few)
    assert (joined.pairs.removed, joined.pairs.added) == ((2,), (3,))
    assert joined.pairs.present.shape == (1, 6)
    assert np.flatnonzero(joined.pairs.present[0]).tolist() == [2]


def test_unknown_names_are_listed(tmp_path: Path, birds: tuple[str, str]) -> None:
    cub, pairs = (load_dataset(name) for name in birds)
    vocabulary = [*ATTRIBUTES[:4], "has_eye_color::red", "has_eye_color::blue"]
    put(tmp_path / "cub" / "attributes.txt", numbered(vocabulary))
    with pytest.raises(
        UserError,
        match="pairs of syncub: 2 of 6 concepts are unknown to dataset cub: "
        "'has wing color: blue', 'has wing color: yellow'",
    ):
        join(load_dataset(birds[0]), pairs)
    with pytest.raises(UserError, match="cub has no edit pairs"):
        join(cub, cub)
    with pytest.raises(UserError, match="syncub holds edit pairs only"):
        join(pairs, pairs)
    with pytest.raises(UserError, match="planted holds activations"):
        join(load_dataset("planted"), pairs)


def objects(tmp_path: Path, sources: list[int] | None = None) -> tuple[Dataset, Dataset]:
    """A small COCO, and a synCOCO made from the pictures 9 and 12 of it."""
    images = [30, 9, 25, 12, 77]
    regions = [(30, 1), (9, 13), (9, 1), (12, 90), (77, 3)]
    train = coco_document(images, regions, CATEGORIES)
    val = coco_document([139, 285], [(285, 3), (139, 1)], CATEGORIES)
    root = write_coco(tmp_path / "coco", train, val)
    # 9 shows a person and a stop sign (0, 11), 12 a toothbrush (79); 25 is annotated with nothing
    places = sources or [1, 2, 1]
    rows = syncoco_rows(
        [([0, 11], 11, places[0]), ([79], 79, places[1]), ([0, 11], 0, places[2])], CLASSES
    )
    write_files(tmp_path / "syncoco", pairs_files(rows, None))
    return load_dataset("coco", root=root), load_dataset(tmp_path / "syncoco")


def test_source_pictures_leave_the_match_split(tmp_path: Path) -> None:
    coco, pairs = objects(tmp_path)
    joined = join(coco, pairs)
    assert [coco.ids[row] for row in coco.split("match")] == [
        "train2017/30",
        "train2017/9",
        "train2017/12",
        "train2017/77",
    ]
    assert [coco.ids[row] for row in joined.match] == ["train2017/30", "train2017/77"]
    assert joined.left_out == 2
    assert joined.kept.tolist() == [True, False, False, True]
    assert joined.view().split("score").tolist() == coco.split("score").tolist()
    # the places are the same where unannotated pictures are kept
    whole = load_dataset("coco:unannotated=keep", root=tmp_path / "coco")
    left = {whole.ids[row] for row in join(whole, pairs).match}
    assert left == {"train2017/30", "train2017/25", "train2017/77"}


def test_sources_are_proved_by_their_annotations(tmp_path: Path) -> None:
    coco, pairs = objects(tmp_path, sources=[0, 2, 1])
    with pytest.raises(UserError, match="1 of 3 pairs of syncoco do not show what coco says"):
        join(coco, pairs)
    coco, pairs = objects(tmp_path / "b", sources=[1, 2, 4])
    with pytest.raises(UserError, match="pair 2 of syncoco was made from train2017#4, which coco"):
        join(coco, pairs)


@pytest.fixture
def assay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["assay", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    return run


def test_codes_of_two_datasets_against_the_metric(birds: tuple[str, str], tmp_path: Path) -> None:
    """MATCHScore's coalitions are CUB's, the pairs synCUB's: the metric on plain arrays agrees."""
    turned(tmp_path / "syncub")
    cub, pairs = (load_dataset(name) for name in birds)
    draw = np.random.default_rng(3)
    codes = {
        part: draw.random((rows, 9), dtype=np.float32) * (draw.random((rows, 9)) < 0.4)
        for part, rows in {"match": 6, "score": 6, "base": 4, "edited": 4}.items()
    }
    file = tmp_path / "codes.safetensors"
    metadata = {"fingerprint": cub.fingerprint, "pairs_fingerprint": pairs.fingerprint}
    write_arrays(file, codes, metadata)
    record = score_codes_file(file, dataset=birds[0], pairs=birds[1])
    assert record["dataset"]["name"] == "cub"
    assert record["pairs_dataset"] == {
        "name": "syncub",
        "revision": "local",
        "fingerprint": pairs.fingerprint,
    }
    matching = match_concepts(codes["match"], cub.annotations[cub.split("match")])
    present = np.zeros((4, 6), bool)
    for row, (base, _, _) in enumerate(BIRDS):
        present[row, base] = True
    expected = tapa_score(
        codes["base"],
        codes["edited"],
        matching,
        added=[added for _, _, added in BIRDS],
        removed=[removed for _, removed, _ in BIRDS],
        present=present,
    )
    assert record["scores"]["tapa_score"]["value"] == pytest.approx(expected.value)
    assert record["scores"]["delta_stay"]["value"] == pytest.approx(expected.delta_stay)
    assert record["counts"]["pairs_swap"] == 4
    write_arrays(file, codes, {"fingerprint": cub.fingerprint, "pairs_fingerprint": "0" * 64})
    with pytest.raises(UserError, match="made from another dataset of pairs"):
        score_codes_file(file, dataset=birds[0], pairs=birds[1])


def test_rows_that_leave_are_dropped_from_files(tmp_path: Path) -> None:
    coco, pairs = objects(tmp_path)
    names = (str(tmp_path / "coco"), str(tmp_path / "syncoco"))
    draw = np.random.default_rng(0)
    rows = {"match": 4, "score": 2, "base": 3, "edited": 3}
    features = {part: draw.standard_normal((n, 5)).astype(np.float32) for part, n in rows.items()}
    file = tmp_path / "features.safetensors"
    metadata = {"fingerprint": coco.fingerprint, "pairs_fingerprint": pairs.fingerprint}
    write_arrays(file, features, metadata)
    prepared = prepare_by_name(names[0], None, file, pairs=names[1])
    assert (prepared.features["match"] == features["match"][[0, 3]]).all()
    assert prepared.labels.match.shape == (2, 80)
    assert prepared.labels.left_out == 2
    assert prepared.labels.match_ids == ["train2017/30", "train2017/77"]
    assert (prepared.features["edited"] == features["edited"]).all()
    assert prepared.origin["pairs_dataset"]["name"] == "syncoco"
    codes = {part: np.abs(values) for part, values in features.items()}
    write_arrays(file, codes, metadata)
    record = score_codes_file(file, dataset=names[0], pairs=names[1])
    assert record["counts"]["match_images"] == 2
    assert record["counts"]["match_images_left_out"] == 2
    assert record["counts"]["pairs_remove"] == 3
    write_arrays(file, features | {"match": features["match"][:2]}, metadata)
    with pytest.raises(UserError, match="match has 2 rows, but coco has 4"):
        prepare_by_name(names[0], None, file, pairs=names[1])


def test_score_through_the_command(birds: tuple[str, str], tmp_path: Path, assay: Run) -> None:
    """``assay score SAE --dataset cub --pairs syncub`` with the embedded encoder, and again from a
    file of the same features."""
    home = tmp_path / "home" / "datasets"
    home.mkdir(parents=True)
    (home / "cub").symlink_to(tmp_path / "cub")
    (home / "syncub").symlink_to(tmp_path / "syncub")
    sae = tmp_path / "sae"
    FORMAT.save(small_saes.build(TopK(4), d_sae=24, d_in=1280), sae, {})
    out = tmp_path / "record.json"
    data = ("--dataset", "cub", "--pairs", "syncub")
    code, _, err = assay("score", str(sae), *data, "--out", str(out))
    assert code == 0, err
    record = json.loads(out.read_text())
    validate("result-sae", record)
    assert record["dataset"]["name"] == "cub"
    assert record["pairs_dataset"]["name"] == "syncub"
    assert record["counts"]["pairs"] == 4
    assert record["scores"]["tapa_score"]["n"] == 4
    assert {row["concept"] for row in record["per_concept"]} >= {"has breast pattern: striped"}
    features = tmp_path / "f.safetensors"
    code, text, err = assay("embed", *data, "--out", str(features), "--json")
    assert code == 0, err
    assert json.loads(text)["rows"] == {"images": 12, "base": 4, "edited": 4}
    code, text, err = assay("score", str(sae), *data, "--features", str(features), "--json")
    assert code == 0, err
    again = json.loads(text)
    assert again["scores"] == record["scores"]
    assert again["pairs_dataset"] == record["pairs_dataset"]
    code, _, err = assay("score", str(sae), "--dataset", "cub", "--features", str(features))
    assert code == 0, err
    code, _, err = assay("score", str(sae), "--dataset", "syncub")
    assert code == 2
    assert "syncub holds edit pairs only; use it beside" in err
    code, text, _ = assay("data", "info", "syncub")
    assert code == 0
    assert "4 pairs" in text
    assert "CC-BY-NC-4.0" in text
    code, text, _ = assay("data", "check", birds[0])
    assert code == 0
    assert "cub is sound: 6 match, 6 score" in text


def test_training_leaves_out_the_sources_of_pairs(tmp_path: Path, assay: Run) -> None:
    objects(tmp_path)
    data = ("--dataset", str(tmp_path / "coco"), "--pairs", str(tmp_path / "syncoco"))
    small = ("--dict-size", "8", "--k", "2", "--epochs", "1", "--batch-size", "2")
    sae = tmp_path / "sae"
    code, _, err = assay("train", "--out", str(sae), *data, *small)
    assert code == 0, err
    written = json.loads((sae / "config.json").read_text())
    assert written["training"]["pairs_dataset"]["name"] == "syncoco"
    # of four annotated pictures of the match split, two are sources
    alone = tmp_path / "alone"
    code, _, err = assay("train", "--out", str(alone), *data[:2], *small)
    assert code == 0, err
    one, other = ((folder / "sae.safetensors").read_bytes() for folder in (sae, alone))
    assert one != other
