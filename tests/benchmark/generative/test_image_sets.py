"""Folders and datasets as the sides of a comparison: order, ids, and what is left out."""

import os
from pathlib import Path

import pytest
from image_cases import folder_of, picture

from benchmark.datasets import load_dataset
from benchmark.errors import UserError
from benchmark.generative.image_sets import DatasetSet, FolderSet, open_set
from benchmark.images import ImageReadError


def test_ids_are_paths_below_the_folder_in_order(tmp_path: Path) -> None:
    folder_of(tmp_path / "set", 5)
    found = FolderSet.of(tmp_path / "set")
    assert found.ids == ("a/0.png", "a/1.png", "a/2.png", "b/0.png", "b/1.png")
    assert found.encoded(3) == (tmp_path / "set/b/0.png").read_bytes()
    assert found.name == "set"


def test_one_name_in_two_sub_folders_is_two_images(tmp_path: Path) -> None:
    for place, seed in (("x", 1), ("y", 2)):
        (tmp_path / place).mkdir()
        picture(seed).save(tmp_path / place / "same.png")
    found = FolderSet.of(tmp_path)
    assert found.ids == ("x/same.png", "y/same.png")
    assert found.encoded(0) != found.encoded(1)


def test_other_and_hidden_files_are_counted(tmp_path: Path) -> None:
    picture(0).save(tmp_path / "UPPER.PNG")
    picture(1).save(tmp_path / ".hidden.png")
    (tmp_path / "notes.txt").write_text("not a picture")
    (tmp_path / ".git").mkdir()
    picture(2).save(tmp_path / ".git" / "inside.png")
    found = FolderSet.of(tmp_path)
    assert found.ids == ("UPPER.PNG",)
    assert found.about["left_out"] == {"other_files": 1, "hidden": 2}


def test_odd_names_can_be_written(tmp_path: Path) -> None:
    picture(0).save(tmp_path / "ünïcode 鳥.png")
    raw = os.fsencode(tmp_path) + b"/bad\xff.png"
    with open(raw, "wb") as stream:  # noqa: PTH123 - a name that is no text
        picture(1).save(stream, format="PNG")
    found = FolderSet.of(tmp_path)
    assert found.ids == ("bad\\xff.png", "ünïcode 鳥.png")
    assert all(name.encode() for name in found.ids)
    assert found.encoded(0)
    (tmp_path / "bad\\xff.png").write_bytes(found.encoded(0))
    with pytest.raises(UserError, match="two files would both be called"):
        FolderSet.of(tmp_path)


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    picture(0).save(tmp_path / "one.png")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "linked.png").symlink_to(tmp_path / "one.png")
    assert FolderSet.of(tmp_path).ids == ("linked.png", "one.png")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: p / "absent", "no such folder"),
        (lambda p: p, "no images"),
        (lambda p: (p / "f.png").write_bytes(b"x") and p / "f.png", "is a file"),
        (lambda p: (p / "a.txt").write_bytes(b"x") and p, r"no images \(1 other files\)"),
    ],
)
def test_a_folder_without_images_is_named(tmp_path: Path, make, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        FolderSet.of(make(tmp_path))
    assert str(tmp_path) in str(caught.value)


def test_a_file_that_goes_away_is_named(tmp_path: Path) -> None:
    found = FolderSet.of(folder_of(tmp_path, 1))
    (tmp_path / "a/0.png").unlink()
    with pytest.raises(ImageReadError, match=r"a/0\.png: No such file"):
        found.encoded(0)


def test_a_dataset_gives_its_splits_and_sides(avatars: Path) -> None:
    dataset = load_dataset(avatars)
    score = open_set(str(avatars), "score")
    assert isinstance(score, DatasetSet)
    assert list(score.rows) == sorted(dataset.split("score").tolist())
    assert score.encoded(2) == dataset.images.encoded(score.rows[2])
    assert score.about["split"] == "score"
    assert len(DatasetSet.of(dataset).ids) == len(dataset.ids)
    edited = open_set(str(avatars), "edited")
    assert dataset.pairs is not None
    assert edited.encoded(0) == dataset.pairs.edited.encoded(0)
    few = score.only([3, 1], "few")
    assert (few.ids, few.name) == ((score.ids[3], score.ids[1]), "few")
    with pytest.raises(UserError, match="no split 'train'"):
        open_set(str(avatars), "train")


def test_activations_are_no_images() -> None:
    with pytest.raises(UserError, match="activations, not images"):
        open_set("planted")


def test_the_folder_of_a_dataset_wants_its_split(avatars: Path) -> None:
    with pytest.raises(UserError, match="give the split"):
        open_set(str(avatars))
    with pytest.raises(UserError, match="empty name"):
        open_set("")


def test_links_to_folders_are_counted(tmp_path: Path) -> None:
    folder_of(tmp_path / "other", 2)
    (tmp_path / "set").mkdir()
    (tmp_path / "set/linked").symlink_to(tmp_path / "other")
    with pytest.raises(UserError, match="1 links to folders, which are not followed"):
        FolderSet.of(tmp_path / "set")
    picture(0).save(tmp_path / "set/one.png")
    found = FolderSet.of(tmp_path / "set")
    assert (found.ids, found.linked) == (("one.png",), 1)


def test_pipes_and_devices_are_no_images(tmp_path: Path) -> None:
    picture(0).save(tmp_path / "a.png")
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "zero.png").symlink_to("/dev/zero")
    found = FolderSet.of(tmp_path)
    assert found.encoded(0)
    for place in (1, 2):
        with pytest.raises(ImageReadError, match=r"^cannot read image \S+\.png: a pipe, device"):
            found.encoded(place)
