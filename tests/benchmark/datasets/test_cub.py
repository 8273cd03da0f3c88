from pathlib import Path

import numpy as np
import pytest
from foreign_folders import ATTRIBUTES, png, put, write_cub
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.datasets import check_folder, load_dataset
from benchmark.datasets.cub import CubDataset, open_cub
from benchmark.datasets.cub_labels import read_labels
from benchmark.errors import UserError
from benchmark.images import read_image

SAMPLE = Path(__file__).parents[4] / "shared" / "data" / "cub_sample"


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))


@pytest.fixture
def present() -> np.ndarray:
    return np.random.default_rng(0).random((8, len(ATTRIBUTES))) < 0.5


@pytest.mark.skipif(not SAMPLE.is_dir(), reason="the sample of CUB-200-2011 is not here")
def test_real_sample_read_again_line_by_line() -> None:
    dataset = load_dataset("cub", root=SAMPLE)
    assert dataset.annotations.shape == (80, 312)
    data = SAMPLE / "CUB_200_2011"
    names = [line.split()[1] for line in (SAMPLE / "attributes.txt").read_text().splitlines()]
    expected: dict[int, set[str]] = {}
    unusual = 0
    labels = data / "attributes" / "image_attribute_labels.txt"
    for line in labels.read_text().splitlines():
        fields = line.split()
        unusual += len(fields) != 5
        there = expected.setdefault(int(fields[0]), set())
        if fields[2] == "1":
            there.add(names[int(fields[1]) - 1])
    files = [line.split() for line in (data / "images.txt").read_text().splitlines()]
    for row, (number, file) in enumerate(files):
        shown = [dataset.concepts[i] for i in np.flatnonzero(dataset.annotations[row])]
        there = [name for name in names if name in expected[int(number)]]
        assert shown == [name.replace("::", ": ").replace("_", " ") for name in there]
        assert dataset.ids[row] == file
    assert dataset.annotations.sum() == sum(map(len, expected.values()))
    training = [line.split()[1] == "1" for line in (data / "train_test_split.txt").open()]
    assert dataset.split("match").tolist() == np.flatnonzero(training).tolist()
    assert len(dataset.split("score")) == 40
    assert unusual == 2
    assert dataset.notes == ("2 labels have extra fields; their first three values are kept",)
    assert dataset.images[79].size == read_image(data / "images" / files[79][1]).size
    assert dataset.concepts[218 - 1] == "has primary size: large (16 - 32 in)"
    assert dataset.groups[218 - 1] == "has primary size"
    assert len(set(dataset.groups)) == 28


@pytest.mark.skipif(not SAMPLE.is_dir(), reason="the sample of CUB-200-2011 is not here")
def test_real_sample_is_sound() -> None:
    report = check_folder(SAMPLE)
    assert report.problems == []
    assert report.counts == {"match": 40, "score": 40, "pairs": 0, "concepts": 312}
    assert report.fingerprint == load_dataset("cub", root=SAMPLE).fingerprint
    assert any("concepts without positives" in note for note in report.notes)


def test_small_folder(tmp_path: Path, present: np.ndarray) -> None:
    ids = [7, 3, 999_999_999, 4, 5, 60, 2, 1]
    folder = write_cub(tmp_path, present, ids=ids)
    for place in (tmp_path, folder):
        dataset = load_dataset("cub", root=place)
        assert isinstance(dataset, CubDataset)
        assert (dataset.annotations == present).all()
        assert dataset.split("match").tolist() == [0, 2, 4, 6]
        assert dataset.images.encoded(2) == png(2)
        assert dataset.species_of.tolist() == [0, 1] * 4
        assert dataset.notes == ()
    assert load_dataset(folder).fingerprint == dataset.fingerprint
    assert (dataset.name, dataset.revision) == ("cub", "2011")
    assert dataset.concepts[0] == "has bill shape: curved (up or down)"


def test_certainty_is_kept_and_filters(tmp_path: Path) -> None:
    present = np.ones((4, len(ATTRIBUTES)), bool)
    given = {(0, 0): 1, (0, 1): 2, (1, 2): 3}
    extended = {(2, 3): "4 0 2.145", (3, 4): "0.0 1 3.210"}
    write_cub(tmp_path, present, certainty=given, extended=extended)
    whole = load_dataset("cub", root=tmp_path)
    assert whole.annotations.all()
    assert isinstance(whole, CubDataset)
    assert whole.certainty[[0, 0, 1, 2, 3, 3], [0, 1, 2, 3, 4, 5]].tolist() == [1, 2, 3, 4, 0, 4]
    assert "2 labels have extra fields" in whole.notes[0]
    assert "no certainty in 1 of them" in whole.notes[0]
    sure = load_dataset("cub:certainty=3", root=tmp_path)
    gone = np.zeros_like(present)
    gone[[0, 0, 3], [0, 1, 4]] = True
    assert (sure.annotations == ~gone).all()
    assert sure.name == "cub:certainty=3"
    assert sure.fingerprint != whole.fingerprint
    assert sure.notes[1] == "3 presences of certainty below 3 count as absent"


@pytest.mark.parametrize(
    "options", ["certainty=5", "certainty=", "sure=3", "certainty=2,certainty=3"]
)
def test_wrong_options(tmp_path: Path, options: str) -> None:
    with pytest.raises(UserError, match="certainty"):
        load_dataset(f"cub:{options}", root=tmp_path)


def test_vocabulary_inside_the_data_folder(tmp_path: Path, present: np.ndarray) -> None:
    folder = write_cub(tmp_path, present)
    expected = load_dataset(folder).fingerprint
    (tmp_path / "attributes.txt").rename(folder / "attributes" / "attributes.txt")
    assert load_dataset(folder).fingerprint == expected
    (folder / "attributes" / "attributes.txt").unlink()
    with pytest.raises(UserError, match=r"no attributes\.txt beside"):
        load_dataset(folder)


def test_more_than_one_space_is_no_extra_field(tmp_path: Path, present: np.ndarray) -> None:
    folder = write_cub(tmp_path, present, extended={(1, 1): " 3  2.5", (2, 2): " 2 7  0.5"})
    dataset = open_cub(folder)
    assert (dataset.annotations == present).all()
    assert dataset.certainty[[1, 2], [1, 2]].tolist() == [3, 2]
    assert dataset.notes == ("1 labels have extra fields; their first three values are kept",)


def change(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


LABELS = "attributes/image_attribute_labels.txt"


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("images.txt", "3 001", "2 001", r"images\.txt line 3: image 2 is also in line 2"),
        ("images.txt", "Bird_0003", "Bird_0001", r"images\.txt line 3: .* is also in line 1"),
        ("images.txt", "Bird_0003", "Bird_0033", r"images\.txt line 3: no picture .*Bird_0033"),
        ("images.txt", "001.Black", "../001.Black", r"line 1: '\.\./001.* is no file name inside"),
        ("images.txt", "3 001", "three 001", r"images\.txt line 3: .*expected NUMBER TEXT"),
        ("train_test_split.txt", "3 1", "3 2", r"line 3: value '2', expected one of \[0, 1\]"),
        ("train_test_split.txt", "3 1\n", "", r"7 images, images.txt has 8; none for 3"),
        ("train_test_split.txt", "3 1", "30 1", r"line 3: image 30 is not in images.txt"),
        ("image_class_labels.txt", "3 1", "3 9", r"line 3: value '9'"),
        ("classes.txt", "2 002", "3 002", r"2 names but none numbered 2"),
        ("../attributes.txt", "dagger", "curved_(up_or_down)", r"line 2: .* is also in line 1"),
        ("../attributes.txt", "dagger", "dag\x1bger", r"name \d, .*holds a control character"),
        ("classes.txt", "2 002", "2 00\x072", r"classes\.txt: name 2, .* control character"),
        (LABELS, "3 2 ", "3 1 ", r"line 14: image 3 attribute 1 is also in line 13"),
        (LABELS, "3 2 ", "33 2 ", r"line 14: image 33 is not in images.txt"),
        (LABELS, "3 2 ", "3 7 ", r"line 14: attribute 7, expected 1 to 6"),
        (LABELS, "3 2 ", "3 x ", r"line 14: 'x' is no whole number"),
        (LABELS, " 4 1.25\n", " 5 1.25\n", r"line 1: certainty is '5', expected 1 to 4"),
        (LABELS, " 4 1.25\n", " 4\n", r"line 1: 4 fields, expected 5"),
        (LABELS, "1 2 0 4 1.25\n", "", r"47 labels, expected one .* none for image 1 attribute 2"),
        (LABELS, "1 2 0 4", "1 2 2 4", r"line 2: present is 2, expected 0 or 1"),
        (LABELS, "1 2 0 4", "1 2 0.0 4", r"line 2: '0\.0' is no whole number"),
    ],
)
def test_each_fault_names_file_and_line(
    tmp_path: Path, name: str, old: str, new: str, expected: str
) -> None:
    folder = write_cub(tmp_path, np.zeros((8, len(ATTRIBUTES)), bool))
    change(folder, name, old, new)
    with pytest.raises(UserError, match=expected) as raised:
        open_cub(folder)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + b"   \n",
        lambda text: text + b"    \n\n",
        lambda text: text + b"       ",
        lambda text: text.replace(b" ", b"\t"),
        lambda text: text.replace(b" ", b"  "),
        lambda text: text.replace(b"\n", b" \r\n"),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.replace(b" 4 1.25\n", b" 4 1.25 \xe9\n", 1),
    ],
)
def test_labels_in_other_spacing_are_the_same(tmp_path: Path, present: np.ndarray, change) -> None:
    path = write_cub(tmp_path, present) / LABELS
    path.write_bytes(change(path.read_bytes()))
    found = read_labels(path, np.arange(1, 9), len(ATTRIBUTES))
    assert (found.present == present).all()
    assert (found.certainty == 4).all()
    assert found.extended == (b"\xe9" in path.read_bytes())


def test_labels_of_no_text_are_one_line_and_nothing_else(tmp_path: Path, present, capfd) -> None:
    path = write_cub(tmp_path, present) / LABELS
    path.write_bytes(path.read_bytes() + b"\xe9\n")
    with pytest.raises(UserError, match=r"labels\.txt line 49: 1 fields, expected 5"):
        read_labels(path, np.arange(1, 9), len(ATTRIBUTES))
    assert capfd.readouterr().err == ""


def test_missing_files_are_named(tmp_path: Path, present: np.ndarray) -> None:
    folder = write_cub(tmp_path, present)
    (folder / LABELS).unlink()
    with pytest.raises(UserError, match=r"image_attribute_labels\.txt is missing"):
        open_cub(folder)
    with pytest.raises(UserError, match="unpack CUB_200_2011"):
        load_dataset("cub")


def test_check_reports_what_cannot_be_read(tmp_path: Path, present: np.ndarray) -> None:
    folder = write_cub(tmp_path, present, picture=lambda row: b"junk" if row == 3 else png(row % 7))
    report = check_folder(folder)
    assert len(report.problems) == 1
    assert "not a picture" in report.problems[0]
    assert report.notes[-1] == "1 pictures of score have the same pixels as another of match"
    assert report.fingerprint is None


def test_fingerprint_is_remembered_until_a_file_changes(
    tmp_path: Path, present: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    folder = write_cub(tmp_path, present)
    files = sorted((folder / "images").rglob("*.png"))
    for path in files:
        os.utime(path, (1000, 1000))
    first = load_dataset(folder).fingerprint
    hashed = []
    original = CubDataset.hash_content

    def counted(self: CubDataset, progress: object = None) -> str:
        hashed.append(self.name)
        return original(self, None)

    monkeypatch.setattr(CubDataset, "hash_content", counted)
    assert load_dataset(folder).fingerprint == first
    assert hashed == []
    other = load_dataset(folder, revision="2011")
    assert other.fingerprint == first
    # another picture of the same size, at another time
    files[0].write_bytes(files[0].read_bytes()[:-1] + b"?")
    os.utime(files[0], (2000, 2000))
    assert load_dataset(folder).fingerprint != first
    assert hashed == ["cub"]
    # one of this very moment is not remembered
    files[0].write_bytes(files[0].read_bytes()[:-1] + b"!")
    for _ in range(2):
        load_dataset(folder).fingerprint  # noqa: B018
    assert hashed == ["cub"] * 3


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 5), st.integers(1, 4), st.randoms(use_true_random=False))
def test_any_order_and_any_extra_fields(images: int, attributes: int, random) -> None:
    import tempfile

    ids = random.sample(range(1, 1000), images)
    expected = np.array([[random.random() < 0.5 for _ in range(attributes)] for _ in ids])
    lines, long = [], 0
    for row, number in enumerate(ids):
        for column in range(attributes):
            extra = random.choice(["", "", " 7", " 0 1"])
            long += bool(extra)
            lines.append(f"{number} {column + 1} {int(expected[row, column])} 3{extra} 0.5")
    random.shuffle(lines)
    with tempfile.TemporaryDirectory() as place:
        path = put(Path(place) / "labels.txt", "\n".join(lines))
        found = read_labels(path, np.array(ids), attributes)
    assert (found.present == expected).all()
    assert (found.certainty == 3).all()
    assert found.extended == long
