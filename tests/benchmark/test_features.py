import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import feature_cases
import numpy as np
import pytest
from feature_cases import TinyEncoder, distinct, small_dataset

from benchmark.codes import read_arrays, read_metadata
from benchmark.errors import UserError
from benchmark.features import embed, write_features

REPOSITORY = Path(__file__).resolve().parents[2]
TABLES = ("images", "base", "edited")


@pytest.fixture(scope="module")
def dataset():
    return small_dataset()


@pytest.fixture(scope="module")
def fresh(dataset, tmp_path_factory):
    """Features of an undisturbed run with one worker."""
    return embed(dataset, TinyEncoder(), home=tmp_path_factory.mktemp("fresh"), workers=1)


@pytest.fixture
def home(fresh, tmp_path):
    """A cache folder that already holds the features."""
    shutil.copytree(fresh.folder.parent, tmp_path / "features")
    return tmp_path


def assert_equal(found, expected):
    for table in TABLES:
        assert (found.folder / f"{table}.npy").read_bytes() == (
            expected.folder / f"{table}.npy"
        ).read_bytes()
        np.testing.assert_array_equal(getattr(found, table), getattr(expected, table))


def start(home, where, log):
    paths = [str(REPOSITORY), str(Path(feature_cases.__file__).parent)]
    return subprocess.Popen(
        [sys.executable, feature_cases.__file__, str(home), where, str(log)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


def test_rows_follow_the_dataset(dataset, fresh):
    assert fresh.images.shape == (300, 16)
    assert fresh.base.shape == fresh.edited.shape == (40, 16)
    assert fresh.images.dtype == np.float32
    assert isinstance(fresh.images, np.memmap)
    assert fresh.fingerprint == dataset.fingerprint
    assert fresh.encoder.name == "tiny"
    sources = {"images": dataset.images, "base": dataset.pairs.base, "edited": dataset.pairs.edited}
    for table, source in sources.items():
        expected = TinyEncoder().encode(list(source))
        np.testing.assert_array_equal(getattr(fresh, table), expected)


def test_arrays_are_read_only(fresh):
    with pytest.raises(ValueError, match="read-only"):
        fresh.images[0, 0] = 1


def test_equal_pictures_are_encoded_once(dataset, tmp_path):
    encoder = TinyEncoder()
    embed(dataset, encoder, home=tmp_path, workers=1)
    assert encoder.encoded == distinct(dataset) < 300 + 40 + 40


@pytest.mark.parametrize("workers", [2, 5])
def test_bytes_do_not_depend_on_workers(dataset, fresh, tmp_path, workers):
    assert_equal(embed(dataset, TinyEncoder(), home=tmp_path, workers=workers), fresh)


def test_the_cache_is_used(dataset, fresh, home):
    encoder, calls = TinyEncoder(), []
    assert_equal(embed(dataset, encoder, home=home, progress=calls.append), fresh)
    assert encoder.encoded == 0
    assert calls == []


@pytest.mark.parametrize(
    "change",
    [
        {"weights_sha256": "1" * 64},
        {"preprocessing": "none; v2"},
        {"batch_size": 8},
        {"name": "tiny-2"},
    ],
)
def test_another_encoder_is_another_key(dataset, fresh, home, change):
    encoder = TinyEncoder()
    vars(encoder).update(change)
    found = embed(dataset, encoder, home=home)
    assert encoder.encoded > 0
    assert found.folder.name != fresh.folder.name


def test_another_dataset_is_another_key(fresh, home):
    encoder = TinyEncoder()
    found = embed(small_dataset(shift=1), encoder, home=home)
    assert encoder.encoded > 0
    assert found.folder.name != fresh.folder.name


def test_without_pairs(tmp_path):
    for _ in range(2):
        found = embed(small_dataset(10, 0), TinyEncoder(), home=tmp_path)
        assert found.images.shape == (10, 16)
        assert found.base.shape == found.edited.shape == (0, 16)


@pytest.mark.parametrize(
    "where", ["encode:150", "encode:300", "write:images.npy", "write:edited.npy", "complete"]
)
def test_killed_and_resumed_gives_the_same_bytes(dataset, fresh, tmp_path, where):
    process = start(tmp_path, where, tmp_path / "log")
    assert process.wait(60) == -signal.SIGKILL
    assert not list(tmp_path.glob("features/*/complete.json"))

    encoder, calls = TinyEncoder(), []
    found = embed(dataset, encoder, home=tmp_path, progress=calls.append)
    assert_equal(found, fresh)
    assert encoder.encoded < distinct(dataset)
    assert calls[0].done == distinct(dataset) - encoder.encoded > 0
    assert sorted(path.name for path in found.folder.iterdir()) == [
        "base.npy",
        "complete.json",
        "edited.npy",
        "images.npy",
        "key.json",
    ]


def test_two_processes_make_it_once(dataset, fresh, tmp_path):
    log = tmp_path / "log"
    processes = [start(tmp_path, "never", log) for _ in range(2)]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert len(log.read_text()) == distinct(dataset)
    assert_equal(embed(dataset, TinyEncoder(kill_at=0), home=tmp_path), fresh)


def _cut(folder):
    path = folder / "images.npy"
    path.write_bytes(path.read_bytes()[:-100])


def _flip(folder):
    path = folder / "base.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def _lose(folder):
    (folder / "edited.npy").unlink()


def _other_key(folder):
    key = json.loads((folder / "key.json").read_text())
    key["dataset"] = "another"
    (folder / "key.json").write_text(json.dumps(key))


def _bad_json(folder):
    (folder / "complete.json").write_text('{"images": {"rows"')


def _wrong_json(folder):
    (folder / "complete.json").write_text("[]")


@pytest.mark.parametrize("damage", [_cut, _flip, _lose, _other_key, _bad_json, _wrong_json])
def test_damage_is_found_and_mended(dataset, fresh, home, damage, caplog):
    damage(home / "features" / fresh.folder.name)
    encoder = TinyEncoder()
    assert_equal(embed(dataset, encoder, home=home), fresh)
    assert encoder.encoded == distinct(dataset)
    assert "damaged" in caplog.text


def _damage_rows(work):
    path = work / "rows.f32"
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)


def _shorten_rows(work):
    path = work / "rows.f32"
    path.write_bytes(path.read_bytes()[:100])


def _lose_rows(work):
    (work / "rows.f32").unlink()


def _cut_journal(work):
    path = work / "journal"
    path.write_bytes(path.read_bytes()[:-5])


def _far_block(work):
    with (work / "journal").open("a") as stream:
        stream.write('{"block": -3, "sha256": ""}\n{"block": 99, "sha256": ""}\n')


def _other_runtime(work):
    path = work / "journal"
    path.write_text(path.read_text().replace('"numpy"', '"numpy 0"'))


def _no_journal(work):
    (work / "journal").unlink()


@pytest.mark.parametrize(
    ("damage", "lost"),
    [
        (_damage_rows, 1),
        (_shorten_rows, 2),
        (_lose_rows, 2),
        (_cut_journal, 1),
        (_far_block, 0),
        (_other_runtime, 2),
        (_no_journal, 2),
    ],
)
def test_damaged_work_is_done_again(dataset, fresh, tmp_path, damage, lost):
    class Stop(Exception):
        pass

    def stop(progress):
        if progress.done >= 128:
            raise Stop

    with pytest.raises(Stop):
        embed(dataset, TinyEncoder(), home=tmp_path, progress=stop, workers=1)
    damage(next(tmp_path.glob("features/*/work")))
    encoder = TinyEncoder()
    assert_equal(embed(dataset, encoder, home=tmp_path), fresh)
    assert encoder.encoded == distinct(dataset) - 128 + 64 * lost


def test_progress_counts_up(dataset, tmp_path):
    calls = []
    embed(dataset, TinyEncoder(), home=tmp_path, progress=calls.append)
    total = distinct(dataset)
    assert [call.done for call in calls] == [*range(0, total, 64), total]
    assert {call.total for call in calls} == {total}
    assert calls[0].seconds_left is None
    assert calls[1].seconds_left > 0
    assert calls[1].per_second > 0
    assert calls[-1].seconds_left == 0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite_names_the_row(dataset, tmp_path, value):
    class Broken(TinyEncoder):
        def encode(self, images):
            features = super().encode(images)
            features[features[:, 0] == spoilt, 3] = value
            return features

    spoilt = TinyEncoder().encode([dataset.pairs.edited[7]])[0, 0]
    with pytest.raises(UserError, match=r"tiny gave NaN .* small: edited row 7 \(pair-7\)"):
        embed(dataset, Broken(), home=tmp_path)


def test_wrong_shape_is_refused(dataset, tmp_path):
    class Broken(TinyEncoder):
        dim = 17

    with pytest.raises(TypeError, match=r"expected float32 \(64, 17\)"):
        embed(dataset, Broken(), home=tmp_path)


def test_unreadable_picture_names_the_first_row(tmp_path):
    broken = small_dataset(200, 4)
    broken.images.data[70] = broken.images.data[199] = b"no picture"
    with pytest.raises(UserError, match=r"small: images row 70 \(image-70\)"):
        embed(broken, TinyEncoder(), home=tmp_path, workers=2)


def test_cache_that_cannot_be_written(dataset, tmp_path):
    (tmp_path / "features").write_text("in the way")
    with pytest.raises(UserError, match=r"cannot write the feature cache .* ASSAY_HOME"):
        embed(dataset, TinyEncoder(), home=tmp_path)


def test_workers_must_be_positive(dataset, tmp_path):
    with pytest.raises(UserError, match="workers is 0"):
        embed(dataset, TinyEncoder(), home=tmp_path, workers=0)


def test_default_home(dataset, fresh, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    assert embed(dataset, TinyEncoder()).folder.parent == tmp_path / "features"


def test_features_file(dataset, fresh, tmp_path):
    path = tmp_path / "features.safetensors"
    write_features(path, dataset, fresh)
    arrays = read_arrays(path, fingerprint=dataset.fingerprint)
    np.testing.assert_array_equal(arrays["match"], fresh.images[dataset.split("match")])
    np.testing.assert_array_equal(arrays["score"], fresh.images[dataset.split("score")])
    np.testing.assert_array_equal(arrays["edited"], fresh.edited)
    assert read_metadata(path)["encoder.weights_sha256"] == "0" * 64
