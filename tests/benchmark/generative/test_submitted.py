"""Images that are submitted: what is refused, and that a result is the comparison's numbers."""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import generator_cases as cases
import numpy as np
import pyarrow.parquet as pq
import pytest
from hub_server import HubServer
from image_cases import Encoder

import schemas
from benchmark.datasets import load_dataset
from benchmark.errors import UserError
from benchmark.generative import compare_attributes, tiny_clip
from benchmark.generative.compare import Plan, compare
from benchmark.generative.image_sets import FolderSet
from benchmark.generative.submitted import real_sets
from benchmark.generative.submitted.given import given_images
from benchmark.generative.submitted.measure import Scored, score_generator
from benchmark.generative.submitted.record import mean_null
from benchmark.submissions.generators_footer import chunks
from benchmark.submissions.generators_images import (
    ImageFile,
    ParquetSet,
    check_readable,
    write_images,
)
from benchmark.submissions.generators_known import real_set
from benchmark.submissions.generators_results import recomputed

FAST = Plan(resamples=40, permutations=40)


def document_of(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "submission.json").read_text())
    schemas.validate("submission-generator", document)
    return document


def avatar_pictures(avatars: Path, count: int) -> list[bytes]:
    """Voxel avatars of the split match, which is not the real one."""
    dataset = load_dataset(avatars)
    voxel = dataset.annotations[:, dataset.concepts.index("style: voxel")]
    rows = [row for row in dataset.split("match").tolist() if voxel[row]]
    return [dataset.images.encoded(row) for row in rows[:count]]


@pytest.fixture(scope="module")
def pictures(avatars: Path) -> list[bytes]:
    found = avatar_pictures(avatars, 25)
    return [*found, found[3]]  # one twice


@pytest.fixture(scope="module")
def done(avatars: Path, pictures: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> Scored:
    root = tmp_path_factory.mktemp("submitted")
    folder = cases.submission(root / "small-one", pictures)
    return score_generator(
        folder,
        document_of(folder),
        plan=FAST,
        home=root / "home",
        dataset=load_dataset(avatars),
        encoder=Encoder(),
    )


def test_a_result_has_the_numbers_of_the_comparison(
    done: Scored, avatars: Path, pictures: list[bytes], tmp_path: Path
) -> None:
    dataset = load_dataset(avatars)
    voxel = dataset.annotations[:, dataset.concepts.index("style: voxel")]
    for name, images in {
        "real": [dataset.images.encoded(row) for row in dataset.split("score") if voxel[row]],
        "generated": pictures,
    }.items():
        (tmp_path / name).mkdir()
        for place, data in enumerate(images):
            (tmp_path / name / f"{place:06d}.png").write_bytes(data)
    sides = FolderSet.of(tmp_path / "real"), FolderSet.of(tmp_path / "generated")
    found = compare(
        *sides, tiny_clip.trusted(), model=tiny_clip.NAME, encoder=Encoder(), plan=FAST,
        home=tmp_path / "home",
    )  # fmt: skip
    result, other = done.document, found.document
    schemas.validate("result-generator", result)
    for name in ("sad", "pad", "r_sad", "r_sad_unrefined"):
        assert result["scores"][name] == other["means"][name]
    assert {n: result["scores"][n] for n in other["quality"]["scores"]} == other["quality"][
        "scores"
    ]
    for row, wanted in zip(result["per_attribute"], other["attributes"], strict=True):
        assert row == {key: wanted[key] for key in row}
    size = len(result["per_attribute"])
    upper = np.array(other["pairs"]["values"], float)[np.triu_indices(size, 1)]
    np.testing.assert_allclose(np.array(result["pairs"]["values"], float), upper, rtol=1e-5)
    assert result["maps"]["unrefined"] == other["maps"]["unrefined"]["values"]
    assert result["protocol"]["seed"] == other["protocol"]["seed"]
    assert result["submission"]["n"] == 26
    assert result["submission"]["duplicates"] == 1
    assert result["real"]["n"] == other["real"]["n"]
    assert result["real"]["fingerprint"] == dataset.fingerprint
    assert result["model"]["weights_sha256"] == other["protocol"]["weights_sha256"]


def test_means_and_nulls_are_those_of_the_rows(done: Scored) -> None:
    result = done.document
    rows = result["per_attribute"]
    for name, (value, count) in recomputed(result).items():
        assert result["scores"][name]["value"] == pytest.approx(value, rel=1e-12), name
        assert result["scores"][name]["n"] == count
    magnitudes = np.abs(np.array(result["maps"]["unrefined"])).mean(axis=(1, 2))
    rows_say = [row["r_sad_unrefined"]["score"]["value"] for row in rows]
    np.testing.assert_allclose(magnitudes, rows_say, rtol=1e-5)
    left, right = done.comparison.real.scores, done.comparison.generated.scores
    again = compare_attributes(left.image, right.image, resamples=40, permutations=40)
    # by hand: relabel, average over attributes, then look at the 95 % point
    table = np.array([entry.null.samples for entry in again.sad if entry.null is not None])
    drawn = [np.mean(column[np.isfinite(column)]) for column in table.T]
    assert result["null"]["sad"]["mean"] == pytest.approx(np.mean(drawn))
    assert result["null"]["sad"]["q95"] == pytest.approx(np.percentile(drawn, 95))
    inside = result["scores"]["sad"]["value"] <= np.percentile(drawn, 95)
    assert result["null"]["sad"]["inside"] is bool(inside)
    assert mean_null([], None) is None


def test_the_picture_hash_is_of_names_and_bytes(done: Scored, pictures: list[bytes]) -> None:
    content = hashlib.sha256()
    for place, data in enumerate(pictures):
        content.update(f"{place:06d}".encode() + b"\0" + hashlib.sha256(data).digest())
    assert done.document["submission"]["images_sha256"] == content.hexdigest()


def test_the_attributes_are_the_trusted_ones_and_fixed() -> None:
    block = real_sets.attributes_json("assay-avatars-1")
    assert list(real_sets.attribute_list("assay-avatars-1")) == tiny_clip.trusted()
    # another list is another name, since old results were measured on this one
    assert block["sha256"] == "29cace26cdd299fafe1a33547456986c10d601da487cca3ec56221966bc3b6c5"
    with pytest.raises(UserError, match=r"real set 'ffhq'.*synavatars"):
        real_set("ffhq")


@pytest.mark.parametrize("case", cases.BAD_FILES)
def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, case: str) -> None:
    write, said = cases.BAD_FILES[case]
    folder = tmp_path / "small-one"
    folder.mkdir()
    write(folder / "images.parquet")
    cases.submission(folder)
    with pytest.raises(UserError, match=said) as caught:
        given_images(folder, document_of(folder), tmp_path)
    assert "\n" not in str(caught.value)
    assert "small-one: images.parquet" in str(caught.value) or "Small" in str(caught.value)


def test_another_file_than_submitted_is_never_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cases.submission(tmp_path / "small-one", [cases.png(1), cases.png(2)])
    document = document_of(folder)
    write_images(folder / "images.parquet", [cases.png(3), cases.png(4)])
    monkeypatch.setattr(pq, "ParquetFile", None)
    with pytest.raises(UserError, match=r"small-one: images\.parquet: SHA-256 .* submission\.json"):
        given_images(folder, document, tmp_path)
    (folder / "images.parquet").unlink()
    with pytest.raises(UserError, match="No such file"):
        given_images(folder, document, tmp_path)
    (folder / "images.parquet").symlink_to("/etc/hostname")
    with pytest.raises(UserError, match="an ordinary file"):
        given_images(folder, document, tmp_path)


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"])
def test_codecs_are_read_from_the_footer_alone(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "a.parquet"
    cells = cases.table([cases.cell(cases.png(k)) for k in range(70)])
    pq.write_table(cells, path, compression=codec, row_group_size=9)
    said = pq.ParquetFile(path).metadata
    wanted = [
        said.row_group(group).column(column).compression
        for group in range(said.num_row_groups)
        for column in range(said.num_columns)
    ]
    found = [chunk.codec.replace("LZ4_RAW", "LZ4") for chunk in chunks(path)]
    assert found == wanted
    assert len(found) == 16
    assert not any(chunk.elsewhere for chunk in chunks(path))


def test_damaged_files_are_refused_or_read_and_end_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    images = [cases.png(k) for k in range(6)]
    write_images(path, images)
    whole, refused = path.read_bytes(), []
    for seed in range(600):
        path.write_bytes(cases.damaged(whole, seed))
        try:
            found = ParquetSet("x", [ImageFile.of(path)])
            for place in range(len(found.ids)):
                check_readable(found.encoded(place), found.describe(place))
        except UserError as error:
            refused.append(str(error))
    assert not any("\n" in message for message in refused)
    assert len(refused) > 300  # others hit what nobody reads, or a picture's pixels


def test_pictures_come_in_any_order_over_files(tmp_path: Path) -> None:
    images = [cases.png(k) for k in range(45)]
    write_images(tmp_path / "a.parquet", images[:40])
    pq.write_table(
        cases.table([cases.cell(d, "x.png") for d in images[40:]]), tmp_path / "b.parquet"
    )
    found = ParquetSet("x", [ImageFile.of(tmp_path / name) for name in ("a.parquet", "b.parquet")])
    order = [0, 1, 44, 40, 39, 5, 5, 6, 0]
    assert [found.encoded(place) for place in order] == [images[place] for place in order]
    assert [found.encoded(place) for place in range(45)] == images
    assert found.describe(41) == "b.parquet row 1"
    plain = cases.table(images[:2], kind=cases.pa.binary())
    pq.write_table(plain, tmp_path / "c.parquet")
    assert list(ImageFile.of(tmp_path / "c.parquet").encoded()) == images[:2]


def test_a_hub_dataset_is_fetched_once_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = [cases.png(k) for k in range(6)]
    write_images(tmp_path / "a.parquet", images[:4])
    write_images(tmp_path / "b.parquet", images[4:])
    content = {f"data/{n}": (tmp_path / n).read_bytes() for n in ("a.parquet", "b.parquet")}
    files = [
        {"path": name.removeprefix("data/"), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in content.items()
    ]
    with HubServer() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        commit = hub.add("someone/faces", content)
        place = {"repo": "someone/faces", "revision": commit, "folder": "data"}
        generator = {"kind": "images", "files": files, "hub": place}
        folder = cases.submission(tmp_path / "far-one", generator=generator)
        document = document_of(folder)
        found = given_images(folder, document, tmp_path / "home")
        assert [found.encoded(k) for k in range(6)] == images
        asked = len(hub.log)
        given_images(folder, document, tmp_path / "home")
        assert len(hub.log) == asked
        files[1]["sha256"] = "0" * 64
        with pytest.raises(UserError, match="SHA-256"):
            given_images(
                folder,
                document_of(cases.submission(folder, generator=generator)),
                tmp_path / "home",
            )
        for wrong in ({**place, "repo": "someone/else"}, {**place, "revision": "b" * 40}):
            changed = {**generator, "hub": wrong}
            folder = cases.submission(tmp_path / "far-two", generator=changed)
            with pytest.raises(UserError, match="cannot be fetched"):
                given_images(folder, document_of(folder), tmp_path / "home")


def test_the_files_are_ordinary_ones_of_the_datasets_library(tmp_path: Path) -> None:
    import datasets

    images = [cases.png(k) for k in range(3)]
    write_images(tmp_path / "a.parquet", images)
    loaded = datasets.Dataset.from_parquet(
        str(tmp_path / "a.parquet"), cache_dir=str(tmp_path / "c")
    )
    assert isinstance(loaded.features["image"], datasets.Image)
    pixels = [np.asarray(row["image"]) for row in loaded]
    from PIL import Image

    for data, one in zip(images, pixels, strict=True):
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data))), one)
    loaded.to_parquet(tmp_path / "b.parquet")
    assert list(ImageFile.of(tmp_path / "b.parquet").encoded()) == images
