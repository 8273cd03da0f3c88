import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from dataset_cases import (
    CONCEPTS,
    content,
    image_rows,
    manifest,
    pair_row,
    path_of,
    picture,
    table,
    write,
    write_split,
)

from benchmark.datasets import check_folder, load_dataset
from benchmark.errors import UserError

Change = Callable[[dict[str, Any]], None]


def problems_after(tmp_path: Path, change: Change) -> list[str]:
    rows = content()
    change(rows)
    return check_folder(write(tmp_path / "tiny", rows)).problems


def test_a_sound_folder_has_no_problems(tmp_path: Path) -> None:
    report = check_folder(write(tmp_path / "tiny", content()))
    assert report.problems == []
    assert report.counts == {"match": 7, "score": 5, "pairs": 3, "concepts": 4}
    assert report.fingerprint == manifest(content())["fingerprint"]


def _wrong_edited(rows: dict[str, Any]) -> None:
    rows["test"][0]["edited_concepts"] = [1, 2, 3]


def _adds_what_is_there(rows: dict[str, Any]) -> None:
    rows["test"][1] = pair_row(1, [2, 3], 2, None)


def _removes_what_is_not(rows: dict[str, Any]) -> None:
    rows["test"][2] = pair_row(2, [1], None, 2)


def _does_nothing(rows: dict[str, Any]) -> None:
    rows["test"][2] = pair_row(2, [1], None, None)


def _crosses_groups(rows: dict[str, Any]) -> None:
    rows["test"][0] = pair_row(0, [0, 3], 2, 0)


def _same_in_both_splits(rows: dict[str, Any]) -> None:
    rows["score"][3]["image"] = picture(2)


def _same_in_pair_and_split(rows: dict[str, Any]) -> None:
    rows["test"][1]["edited"] = rows["score"][0]["image"]


def _same_on_both_sides(rows: dict[str, Any]) -> None:
    rows["test"][1]["edited"] = rows["test"][1]["base"]


def _no_positives(rows: dict[str, Any]) -> None:
    for row in rows["score"]:
        row["concepts"] = [each for each in row["concepts"] if each != 3]


def _no_negatives(rows: dict[str, Any]) -> None:
    for row in rows["match"]:
        row["concepts"] = sorted({*row["concepts"], 2})


def _local_path(rows: dict[str, Any]) -> None:
    rows["match"][1]["image"]["path"] = "/home/someone/pictures/1.png"


def _windows_path(rows: dict[str, Any]) -> None:
    rows["test"][1]["base"]["path"] = "C:\\pictures\\1.png"


def _not_a_picture(rows: dict[str, Any]) -> None:
    rows["test"][2]["base"]["bytes"] = b"junk"


def _path_in_id(rows: dict[str, Any]) -> None:
    rows["score"][2]["id"] = "/home/someone/2.png"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_wrong_edited, "pair pair-0: edited_concepts are not"),
        (_adds_what_is_there, "pair pair-1: adds 'glasses: clear', which base has"),
        (_removes_what_is_not, "pair pair-2: removes 'glasses: clear', which base lacks"),
        (_does_nothing, "pair pair-2: neither adds nor removes"),
        (_crosses_groups, "pair pair-0: changes a concept outside its group 'glasses'"),
        (_same_in_both_splits, "score score-3: the same picture as match match-2"),
        (_same_in_pair_and_split, "edited pair-1: the same picture as score score-0"),
        (_same_on_both_sides, "edited pair-1: the same picture as base pair-1"),
        (_no_positives, "score: concept 'skin: light' has no positives"),
        (_no_negatives, "match: concept 'glasses: clear' has no negatives"),
        (_local_path, "match match-1: stores the local path '/home/someone/pictures/1.png'"),
        (_windows_path, "base pair-1: stores the local path 'C:\\\\pictures\\\\1.png'"),
        (_not_a_picture, "test-00000-of-00001.parquet row 2 column base: not a picture"),
        (_path_in_id, "score: id '/home/someone/2.png' is a local path"),
    ],
)
def test_each_broken_invariant_is_one_problem(
    tmp_path: Path, change: Change, expected: str
) -> None:
    problems = problems_after(tmp_path, change)
    assert len(problems) == 1, problems
    assert expected in problems[0]


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    changes = [_wrong_edited, _no_positives, _local_path, _same_in_both_splits, _not_a_picture]
    problems = problems_after(tmp_path, lambda rows: [change(rows) for change in changes] and None)
    assert len(problems) == 5


def test_equal_pixels_count_as_equal_whatever_the_encoding(tmp_path: Path) -> None:
    import io

    from PIL import Image

    rows = content()
    stream = io.BytesIO()
    Image.open(io.BytesIO(rows["match"][0]["image"]["bytes"])).save(stream, "BMP")
    rows["score"][0]["image"]["bytes"] = stream.getvalue()
    problems = check_folder(write(tmp_path / "tiny", rows)).problems
    assert problems == ["score score-0: the same picture as match match-0"]


@pytest.mark.parametrize("split", ["match", "score", "test"])
def test_any_change_of_content_moves_the_fingerprint(tmp_path: Path, split: str) -> None:
    rows = content()
    folder = write(tmp_path / "tiny", rows)
    column = "base" if split == "test" else "image"
    rows[split][0][column] = picture(777)
    write_split(folder, split, table(split, rows[split]))
    problems = check_folder(folder).problems
    assert len(problems) == 1
    assert problems[0].startswith("fingerprint: the content has ")


def test_counts_names_and_card_must_agree(tmp_path: Path) -> None:
    rows = content()
    stated = manifest(rows)
    stated["counts"] |= {"match": 8, "pairs_swap": 99}
    folder = write(tmp_path / "tiny", rows, stated)
    (folder / "README.md").unlink()
    renamed = table("score", rows["score"]).replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": {}}})}
    )
    write_split(folder, "score", renamed)
    path = path_of(folder, "test")
    swaps = sum(None not in (row["added"], row["removed"]) for row in rows["test"])
    other = json.dumps(
        {"info": {"features": {"base_concepts": {"feature": {"names": ["a", *CONCEPTS[1:]]}}}}}
    )
    write_split(
        folder, "test", table("test", rows["test"]).replace_schema_metadata({"huggingface": other})
    )
    assert check_folder(folder).problems == [
        "counts: the data has 7 match, the manifest says 8",
        f"counts: the data has {swaps} pairs_swap, the manifest says 99",
        "README.md: missing, or without the YAML block of a dataset card",
        "score-00000-of-00001.parquet: no class names in the schema's huggingface metadata",
        f"{path.name}: class names differ from the manifest's concepts",
    ]


def _set(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda stated: stated.update(values)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_set(schema_version=2), "schema_version is 2, expected 1"),
        (_set(name=""), "name must be a non-empty string"),
        (_set(version=1), "version must be a non-empty string, found 1"),
        (_set(fingerprint=None), "fingerprint must be a non-empty string"),
        (_set(concepts=[]), "concepts must be a list of at least one"),
        (_set(concepts=["a"]), r"concepts\[0\] must be an object"),
        (_set(concepts=[{"name": "a"}]), r"concepts\[0\].group must be a non-empty string"),
        (_set(concepts=[{"name": "a", "group": "g"}] * 2), "'a' is listed more than once"),
        (_set(counts=None), "counts must be an object"),
        (_set(counts={"match": True}), "counts must be an object of whole numbers"),
        (_set(concepts=[{"name": "a", "group": "g"}]), "concepts holds 1, expected 0..0"),
    ],
)
def test_faults_of_the_manifest(tmp_path: Path, change: Change, expected: str) -> None:
    rows = content()
    stated = manifest(rows)
    change(stated)
    folder = write(tmp_path / "tiny", rows, stated)
    with pytest.raises(UserError, match=expected):
        load_dataset(folder)
    assert check_folder(folder).problems


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, "\xff"])
def test_a_manifest_that_is_no_json_object(tmp_path: Path, text: str) -> None:
    folder = write(tmp_path / "tiny", content())
    (folder / "manifest.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=r"manifest\.json"):
        load_dataset(folder)


def test_a_manifest_too_large_to_read(tmp_path: Path) -> None:
    folder = write(tmp_path / "tiny", content())
    (folder / "manifest.json").write_bytes(b" " * (5 * 2**20))
    with pytest.raises(UserError, match="larger than 4 MiB"):
        load_dataset(folder)


def test_a_folder_without_manifest(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a dataset folder: it has no manifest"):
        load_dataset(tmp_path)


@pytest.mark.parametrize("split", ["match", "score", "test"])
def test_missing_and_corrupt_files(tmp_path: Path, split: str) -> None:
    folder = write(tmp_path / "tiny", content())
    path = path_of(folder, split)
    whole = path.read_bytes()
    for broken in (b"", b"PAR1", b"junk" * 100, whole[: len(whole) // 2], whole[:-1]):
        path.write_bytes(broken)
        with pytest.raises(UserError, match="is not a readable Parquet file") as caught:
            load_dataset(folder)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
    path.unlink()
    with pytest.raises(UserError, match=f"no (images|pairs)/{split}-"):
        load_dataset(folder)


def test_flipped_bytes_are_found_and_never_a_traceback(tmp_path: Path) -> None:
    folder = write(tmp_path / "tiny", content())
    path = path_of(folder, "match")
    whole = path.read_bytes()
    for place in range(4, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        check_folder(folder)


def test_all_unreadable_files_are_reported(tmp_path: Path) -> None:
    folder = write(tmp_path / "tiny", content())
    for split in ("match", "test"):
        path_of(folder, split).write_bytes(b"junk")
    path_of(folder, "score").unlink()
    assert len(check_folder(folder).problems) == 3
    with pytest.raises(UserError, match=r"\(and 2 more; see: assay data check\)"):
        load_dataset(folder)


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("concepts", None, "no column 'concepts'; expected id, image, concepts, found id, image"),
        ("concepts", pa.array(["0"] * 7), "'concepts' is string, expected list"),
        ("concepts", pa.array([[0.5]] * 7), "'concepts' is list<.*double>, expected list"),
        ("concepts", pa.array([[2**64 - 1]] * 7, pa.list_(pa.uint64())), "not in range"),
        ("image", pa.array(["a.png"] * 7), "'image' is string, expected struct"),
        ("image", pa.array([{"bytes": "x", "path": "y"}] * 7), "'image' is struct.*expected"),
        ("id", pa.array(range(7)), "'id' is int64, expected string"),
    ],
)
def test_wrong_columns(tmp_path: Path, column: str, values: Any, expected: str) -> None:
    rows = content()
    folder = write(tmp_path / "tiny", rows)
    written = table("match", rows["match"]).drop_columns([column])
    write_split(
        folder, "match", written if values is None else written.append_column(column, values)
    )
    with pytest.raises(UserError, match=expected):
        load_dataset(folder)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([4], r"row 2 \(match-2\): concepts holds 4, expected 0..3"),
        ([-1], "holds -1"),
        ([2, 1], "is not sorted without repeats"),
        ([1, 1], "is not sorted without repeats"),
        ([None], "is or holds null"),
        (None, "is or holds null"),
    ],
)
def test_labels_out_of_range(tmp_path: Path, labels: Any, expected: str) -> None:
    rows = content()
    folder = write(tmp_path / "tiny", rows)
    rows["match"][2]["concepts"] = labels
    write_split(folder, "match", table("match", rows["match"]))
    with pytest.raises(UserError, match=expected):
        load_dataset(folder)


@pytest.mark.parametrize("column", ["added", "removed"])
def test_edits_out_of_range(tmp_path: Path, column: str) -> None:
    rows = content()
    folder = write(tmp_path / "tiny", rows)
    rows["test"][1][column] = 9
    write_split(folder, "test", table("test", rows["test"]))
    with pytest.raises(UserError, match=rf"row 1 \(pair-1\): {column} is 9, expected 0..3"):
        load_dataset(folder)


def test_ids_must_be_there_and_differ(tmp_path: Path) -> None:
    rows = content()
    folder = write(tmp_path / "tiny", rows)
    rows["score"] = image_rows("score", 200, [[0], [1], [2]])
    rows["score"][1]["id"] = "match-0"
    rows["score"][2]["id"] = None
    write_split(folder, "score", table("score", rows["score"]))
    problems = check_folder(folder).problems
    assert len(problems) == 2
    assert "row 1: id 'match-0' is also in" in problems[0]
    assert "row 2 has no id" in problems[1]
