"""``assay images`` as a user runs it, with a tiny CLIP of random weights."""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from image_cases import folder_of

import schemas
from benchmark.cli import main
from benchmark.generative.tiny_clip import save
from benchmark.generative.tiny_clip.network import Shape, TinyClip

WORDS = [*["this", "is", "a", "photo", "of", "without", "hat", "red", "scarf", "tie"], "eyeglasses"]
QUICK = ("--resamples", "20", "--permutations", "20", "--encoder", "none")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folders of images, a model and a list of attributes."""
    root = tmp_path_factory.mktemp("images")
    folder_of(root / "real", 12)
    folder_of(root / "generated", 10, start=50, shift=50)
    torch.manual_seed(0)
    shape = Shape(width=24, heads=2, layers=2, text_layers=1, dim=16)
    save(root / "clip.safetensors", TinyClip(len(WORDS), shape), WORDS, asdict(shape))
    (root / "attributes.txt").write_text("a hat\neyeglasses\na red scarf\n\n")
    return root


@pytest.fixture
def assay(monkeypatch: pytest.MonkeyPatch, capsys: Any, place: Path, tmp_path: Path) -> Run:
    """Runs ``assay images …``: (exit code, stdout, stderr)."""
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: Any) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["assay", "images", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        shown = capsys.readouterr()
        return int(stopped.value.code or 0), shown.out, shown.err

    return run


def given(place: Path, **changed: Any) -> list[Any]:
    """Arguments of ``compare``."""
    options = {
        "real": place / "real",
        "generated": place / "generated",
        "attributes": place / "attributes.txt",
        "model": f"assay-tiny-clip:{place / 'clip.safetensors'}",
        **changed,
    }
    return [
        "compare", options["real"], options["generated"], "--attributes", options["attributes"],
        "--model", options["model"], *QUICK,
    ]  # fmt: skip


def test_compare_writes_both_files_and_shows_a_table(
    assay: Run, place: Path, tmp_path: Path
) -> None:
    code, out, err = assay(*given(place), "--out", tmp_path / "made")
    assert (code, err) == (0, "")
    document = json.loads((tmp_path / "made/comparison.json").read_bytes())
    schemas.validate("images", document)
    assert [row["attribute"] for row in document["attributes"]] == [
        "a hat",
        "eyeglasses",
        "a red scarf",
    ]
    page = (tmp_path / "made/report.html").read_text()
    assert "generated against real" in page
    for name in ("a hat", "eyeglasses", "a red scarf", "report.html"):
        assert name in out
    code, out, _ = assay(*given(place), "--json")
    again = json.loads(out)
    assert {k: v for k, v in again.items() if k != "timing"} == {
        k: v for k, v in document.items() if k != "timing"
    }


def test_the_older_metrics_come_from_the_embedded_encoder(assay: Run, place: Path) -> None:
    arguments = given(place)
    arguments[-1] = "efficientnet-lite0"
    code, out, _ = assay(*arguments)
    assert code == 0
    assert "on efficientnet-lite0: fid n/a, kid" in out
    assert "precision" in out


@pytest.mark.parametrize(
    ("changed", "content", "message"),
    [
        ({"real": "absent-folder/x"}, None, "no dataset folder absent-folder/x"),
        ({"attributes": "absent.txt"}, None, "absent.txt: no such file"),
        ({"model": "clop:x"}, None, "unknown CLIP model 'clop'"),
        ({}, "", "no attributes"),
        ({}, "a hat\n\na tie\n", "attributes: blank at entry 2"),
        ({}, "a hat\nA  hat\n", "attributes: more than once"),
        ({}, "a hat\n\x1b[31m tie\n", "attributes: control characters at entry 2"),
        ({}, "a hat " * 40, "attributes: too long"),
        ({}, "a hat\na dog\n", "does not know the word 'dog'"),
    ],
)
def test_bad_input_is_one_line(
    assay: Run,
    place: Path,
    tmp_path: Path,
    changed: dict[str, Any],
    content: str | None,
    message: str,
) -> None:
    if content is not None:
        (tmp_path / "own.txt").write_text(content)
        changed = {"attributes": tmp_path / "own.txt"}
    code, out, err = assay(*given(place, **changed))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_text_in_another_encoding_is_named(assay: Run, place: Path, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_bytes("a café\n".encode("latin-1"))
    code, _, err = assay(*given(place, attributes=tmp_path / "own.txt"))
    assert code == 2
    assert "own.txt: not text in UTF-8" in err


def test_broken_images_stop_it_unless_skipped(assay: Run, place: Path, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "set", 4)
    (folder / "empty.png").write_bytes(b"")
    (folder / "notes.txt").write_text("x")
    code, _, err = assay(*given(place, generated=folder))
    assert code == 2
    assert "empty.png: the file is empty; --skip-unreadable" in err
    code, out, _ = assay(*given(place, generated=folder), "--skip-unreadable")
    assert code == 0
    assert "note: generated set: 1 left out, unreadable" in out
    assert "note: generated set: 1 other files left out for their ending" in out


def test_identical_sets_are_told(assay: Run, place: Path) -> None:
    code, out, _ = assay(*given(place, generated=place / "real"))
    assert code == 0
    assert "note: both sets hold the same images" in out


def test_a_split_reads_a_dataset(assay: Run, place: Path, avatars: Path) -> None:
    arguments = given(place, real=avatars, generated=avatars)
    code, out, _ = assay(
        *arguments, "--real-split", "score", "--generated-split", "edited", "--json"
    )
    assert code == 0
    document = json.loads(out)
    assert document["real"]["split"] == "score"
    assert document["generated"]["dataset"] == "synavatars"
    assert document["generated"]["n"] == 60
    code, _, err = assay(*arguments)
    assert code == 2
    assert "give the split" in err


def test_agreement_reads_ratings_and_comparisons(assay: Run, place: Path, tmp_path: Path) -> None:
    for k in range(4):
        folder_of(tmp_path / f"g{k}", 6, start=200 + 10 * k, shift=30 * k)
        code, _, _ = assay(
            *given(place, generated=tmp_path / f"g{k}"), "--out", tmp_path / "results" / f"g{k}"
        )
        assert code == 0
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("class,rating\ng0,5\ng1,3\ng2,2\n")
    results = "--results", tmp_path / "results"
    out = tmp_path / "agreement.json"
    code, shown, _ = assay("agreement", "--ratings", ratings, *results, "--out", out)
    assert code == 0
    assert "not rated, left out: g3" in shown
    document = json.loads(out.read_bytes())
    assert document["classes"] == ["g0", "g1", "g2"]
    assert -1 <= document["metrics"]["r_sad"]["spearman"]["value"] <= 1
    code, shown, _ = assay("agreement", "--ratings", ratings, *results, "--json")
    assert json.loads(shown) == document
    ratings.write_text("class,rating\ng0,5\ng9,3\n")
    code, _, err = assay("agreement", "--ratings", ratings, *results)
    assert code == 2
    assert "'g9'" in err
    (tmp_path / "results/g0/comparison.json").write_text("{}")
    code, _, err = assay("agreement", "--ratings", ratings, *results)
    assert code == 2
    assert "g0/comparison.json" in err


def test_help_names_both(assay: Run) -> None:
    code, out, _ = assay("--help")
    assert code == 0
    assert "compare" in out
    assert "agreement" in out


def test_labels_and_names_show_a_table_and_what_did_not_match(
    assay: Run, place: Path, tmp_path: Path
) -> None:
    lines = ["id,a HAT,spectacles,a dog"]
    lines += [f"{'ab'[k % 2]}/{k // 2}.png,{k % 3 // 2},{k % 2},1" for k in range(10)]
    (tmp_path / "l.csv").write_text("\n".join([*lines, "gone.png,1,1,1"]))
    (tmp_path / "n.json").write_text('{"eyeglasses": "spectacles"}')
    names = "--label-names", tmp_path / "n.json"
    code, out, err = assay(*given(place), "--real-labels", tmp_path / "l.csv", *names)
    assert (code, err) == (0, "")
    assert "real images by their labels, mean of 2 attributes" in out
    assert "RA without local tokens" in out
    for note in (
        "real set: 2 of 12 images have no label",
        "real labels: 1 of ids that no image has, such as gone.png",
        "real labels: none for a red scarf",
        "real labels: 1 of attributes not asked for",
    ):
        assert f"note: {note}" in out
    for options, message in (
        (names, "--label-names: there are no labels"),
        (("--generated-labels", "dataset"), "--generated-labels dataset: generated is no split"),
        (("--real-labels", tmp_path / "no.csv"), "no.csv: no such file"),
        (("--lpips-weights", tmp_path / "no.pth"), "no.pth: no such file"),
        (("--ray", "127.0.0.1:1"), "--ray 127.0.0.1:1: no Ray there"),
    ):
        code, out, err = assay(*given(place), *options)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err


def test_names_with_brackets_are_text(assay: Run, place: Path, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("[/hat] tie\n[red] hat\n")
    folder = folder_of(tmp_path / "[bold]made", 6, start=70)
    code, out, _ = assay(*given(place, attributes=tmp_path / "own.txt", generated=folder))
    assert code == 0
    for name in ("[/hat] tie", "[red] hat", "[bold]made (6 images)"):
        assert name in out


def test_one_attribute_has_no_pairs_and_says_so(assay: Run, place: Path, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("a hat\n")
    code, out, _ = assay(*given(place, attributes=tmp_path / "own.txt"), "--json")
    assert code == 0
    pad = json.loads(out)["means"]["pad"]
    assert pad["not_applicable"] == {"one attribute makes no pair": 1}


def test_agreement_replaces_none_of_its_inputs(assay: Run, place: Path, tmp_path: Path) -> None:
    assert assay(*given(place), "--out", tmp_path / "results/g0")[0] == 0
    document = tmp_path / "results/g0/comparison.json"
    (tmp_path / "r.csv").write_text("class,rating\ng0,5\n")
    options = "--ratings", tmp_path / "r.csv", "--results", tmp_path / "results"
    other = tmp_path / "results/not_rated.json"
    other.write_bytes(document.read_bytes())
    for _ in range(2):
        assert assay("agreement", *options, "--out", tmp_path / "results/agreement.json")[0] == 0
    for out, named in (
        (document, "--results (g0)"),
        (other, "--results (not_rated)"),
        (tmp_path / "r.csv", "--ratings"),
    ):
        before = out.read_bytes()
        code, _, err = assay("agreement", *options, "--out", out)
        assert (code, err.count("\n")) == (2, 1)
        assert f"--out would replace the file of {named}" in err
        assert out.read_bytes() == before


def test_compare_replaces_none_of_its_inputs(assay: Run, place: Path, tmp_path: Path) -> None:
    own = tmp_path / "comparison.json"
    own.write_text("a hat\n")
    code, _, err = assay(*given(place, attributes=own), "--out", tmp_path)
    assert (code, err.count("\n")) == (2, 1)
    assert "--out would replace the file of --attributes" in err


def test_numbers_beyond_their_bounds_are_one_line(assay: Run, place: Path, tmp_path: Path) -> None:
    for option, value in (
        ("--seed", 10**22), ("--seed", -1), ("--batch-size", 10**9), ("--batch-size", 0),
        ("--resamples", 10**9), ("--permutations", 10**9),
    ):  # fmt: skip
        code, out, err = assay(*given(place), option, value)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "expected a whole number from" in err
    (tmp_path / "r.csv").write_text("class,rating\ng0,5\n")
    options = "--ratings", tmp_path / "r.csv", "--results", tmp_path
    for option in ("--seed", "--resamples"):
        code, _, err = assay("agreement", *options, option, 10**22)
        assert (code, err.count("\n")) == (2, 1)


def test_what_is_left_out_is_told(assay: Run, place: Path, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "made", 4, start=70)
    (folder / "linked").symlink_to(place / "real")
    code, _, err = assay(*given(place, generated=folder))
    assert code == 0
    assert err == "note: generated set: 1 links to folders left out, they are not followed\n"
