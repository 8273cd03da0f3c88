from pathlib import Path

import pytest
from foreign_folders import png, put

from benchmark.datasets.folder import FolderImages, absent, inner_name
from benchmark.datasets.names import group_of, join_key, match_names, read_vocabulary, shown_name
from benchmark.errors import UserError
from benchmark.images import ImageReadError


@pytest.mark.parametrize(
    ("raw", "shown", "group"),
    [
        ("has_bill_shape::curved_(up_or_down)", "has bill shape: curved (up or down)", None),
        ("has_size::small_(5_-_9_in)", "has size: small (5 - 9 in)", "has size"),
        ("has_tail_pattern::multi-colored", "has tail pattern: multi-colored", None),
        ("fire hydrant", "fire hydrant", "fire hydrant"),
        ("glasses: clear", "glasses: clear", "glasses: clear"),
    ],
)
def test_names_as_people_read_them(raw: str, shown: str, group: str | None) -> None:
    assert shown_name(raw) == shown
    assert shown_name(shown) == shown
    assert join_key(raw) == join_key(shown)
    assert group_of(raw) == (group or shown.partition(":")[0])


def test_matching() -> None:
    known = ["a: x", "b c", "d"]
    assert match_names(["b_c", "a::x"], known, what="w", where="k") == [1, 0]
    with pytest.raises(UserError, match="w: 2 of 3 concepts are unknown to k: 'e', 'f'"):
        match_names(["e", "d", "f"], known, what="w", where="k")
    with pytest.raises(UserError, match="k: two concepts read 'b c'"):
        match_names(["d"], [*known, "b_c"], what="w", where="k")
    with pytest.raises(UserError, match="w: two concepts read 'a: x'"):
        match_names(["a: x", "a::x"], known, what="w", where="k")


def test_vocabulary(tmp_path: Path) -> None:
    path = put(tmp_path / "v.txt", "2 hot dog\n\n1 cat\r\n")
    assert read_vocabulary(path) == ("cat", "hot dog")
    # as editors on Windows begin a file
    assert read_vocabulary(put(path, b"\xef\xbb\xbf1 cat\r\n")) == ("cat",)
    for text, expected in [
        ("", "no names"),
        ("1 a\n1 b\n", "line 2: number 1 for the second time"),
        ("1 a_b\n2 a b\n", "line 2: name 'a b' is also in line 1"),
        ("0 a\n", "none numbered 1"),
        ("1\n", "line 1: '1'; expected NUMBER TEXT"),
        ("\u0661 a\n", "expected NUMBER TEXT"),
        ("1234567890 a\n", "too large"),
        ("1 ::\n", "line 1: '::' is no name"),
        ("1 a\n2 __\n", "line 2: '__' is no name"),
    ]:
        with pytest.raises(UserError, match=expected):
            read_vocabulary(put(path, text))
    with pytest.raises(UserError, match="cannot read"):
        read_vocabulary(put(path, b"1 \xff\n"))


def test_pictures_of_a_folder(tmp_path: Path) -> None:
    put(tmp_path / "a" / "1.png", png(1))
    put(tmp_path / "2.png", b"junk")
    images = FolderImages(tmp_path, ("a/1.png", "2.png", "3.png"))
    assert absent(tmp_path, images.names) == [2]
    assert images[0].size == (8, 8)
    assert images.encoded(-3) == png(1)
    with pytest.raises(ImageReadError, match=r"2\.png: not a picture"):
        images[1]
    with pytest.raises(UserError, match=r"cannot read image .*3\.png: No such file"):
        images.encoded(2)
    with pytest.raises(IndexError):
        images[3]


@pytest.mark.parametrize("name", ["", "/a", "a/../../b", "C:\\a", "\\\\host\\a", "a\0b", ".."])
def test_names_that_lead_out_of_the_folder(name: str) -> None:
    with pytest.raises(UserError, match="no file name inside the dataset's folder"):
        inner_name(name, "here")


def test_names_inside_the_folder() -> None:
    assert inner_name("./a//b.png", "here") == "a/b.png"
