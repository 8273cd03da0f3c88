"""LPIPS on random weights against a plain restatement, and where there are no weights."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchmetrics
import torchvision
from image_cases import NAMES, folder_of, tiny_clip
from torch.nn import functional

import schemas
from benchmark.errors import UserError
from benchmark.generative.compare import Plan, compare
from benchmark.generative.diversity import SIDE, diversity, drawn_pairs, load_lpips
from benchmark.generative.image_sets import FolderSet
from benchmark.generative.resize import resized
from benchmark.images import read_image
from benchmark.tensors import write_tensors

# (number of the layer in AlexNet, stride, padding) and where pooling stands
CONVOLUTIONS = ((0, 4, 2), (3, 1, 2), (6, 1, 1), (8, 1, 1), (10, 1, 1))
POOLED_BEFORE = (3, 6)


@pytest.fixture(scope="module")
def state() -> dict[str, torch.Tensor]:
    """Random weights of AlexNet; the layers that LPIPS does not use are small here."""
    torch.manual_seed(0)
    whole = torchvision.models.alexnet(weights=None).state_dict()
    return {k: v if k.startswith("features") else v[:1].clone() for k, v in whole.items()}


@pytest.fixture(scope="module")
def weights(state: dict[str, torch.Tensor], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "alexnet.pth"
    torch.save(state, path)
    return path


def restated(state: dict[str, torch.Tensor], first: np.ndarray, second: np.ndarray) -> float:
    """LPIPS of two pictures uint8 (SIDE, SIDE, 3), from its formula, in float64."""
    folder = Path(torchmetrics.__file__).parent / "functional/image/lpips_models"
    linear = torch.load(folder / "alex.pth", map_location="cpu", weights_only=True)
    shift = torch.tensor([-0.030, -0.088, -0.188], dtype=torch.float64)[:, None, None]
    scale = torch.tensor([0.458, 0.448, 0.450], dtype=torch.float64)[:, None, None]

    def layers(picture: np.ndarray) -> list[torch.Tensor]:
        x = torch.from_numpy(picture.transpose(2, 0, 1).copy()).double() / 255 * 2 - 1
        x, found = ((x - shift) / scale)[None], []
        for number, stride, padding in CONVOLUTIONS:
            if number in POOLED_BEFORE:
                x = functional.max_pool2d(x, 3, 2)
            weight, bias = (state[f"features.{number}.{k}"].double() for k in ("weight", "bias"))
            x = functional.conv2d(x, weight, bias, stride, padding).clamp_min(0)
            found.append(x[0] / torch.sqrt((x[0] ** 2).sum(dim=0) + 1e-8))
        return found

    total = 0.0
    for k, (a, b) in enumerate(zip(layers(first), layers(second), strict=True)):
        weight = linear[f"lin{k}.model.1.weight"].double()[0]
        total += float((weight * (a - b) ** 2).sum(dim=0).mean())
    return total


def test_it_equals_the_restatement(
    state: dict[str, torch.Tensor], weights: Path, tmp_path: Path
) -> None:
    lpips = load_lpips(weights)
    assert not isinstance(lpips, str)
    images = FolderSet.of(folder_of(tmp_path / "r", 9))
    few = FolderSet.of(folder_of(tmp_path / "g", 3, start=40))
    places = [np.arange(9), np.arange(3)]
    sets = list(zip((images, few), places, strict=True))
    found = diversity(sets, lpips, seed=4, resamples=50)
    for label, one, rows in (("real", images, places[0]), ("generated", few, places[1])):
        pairs = drawn_pairs(len(rows), 4)
        small = [
            np.asarray(resized(read_image(one.encoded(k)), (SIDE, SIDE), "squash")) for k in rows
        ]
        each = [restated(state, small[a], small[b]) for a, b in pairs]
        score = found.scores[label]
        assert min(each) > 1e-4
        assert score.value == pytest.approx(np.mean(each), rel=1e-4)
        assert score.n == len(pairs) == len(rows) // 2
    assert found.scores["real"].ci95[0] < found.scores["real"].value < found.scores["real"].ci95[1]
    assert found.scores["generated"].ci95 is None  # one pair
    again = diversity(sets, lpips, seed=4, resamples=50)
    assert again.scores == found.scores


def test_no_image_is_in_two_pairs() -> None:
    pairs = drawn_pairs(1001, 7)
    assert len(pairs) == 500
    flat = [place for pair in pairs for place in pair]
    assert len(set(flat)) == len(flat)
    assert max(flat) <= 1000
    assert drawn_pairs(1001, 8) != pairs == drawn_pairs(1001, 7)
    assert drawn_pairs(1) == []


def test_safetensors_give_the_same(
    state: dict[str, torch.Tensor], weights: Path, tmp_path: Path
) -> None:
    path = tmp_path / "alexnet.safetensors"
    write_tensors(path, {key: value.numpy() for key, value in state.items()}, {})
    first, second = load_lpips(weights), load_lpips(path)
    pictures = np.random.default_rng(0).integers(0, 256, (2, 1, SIDE, SIDE, 3), dtype=np.uint8)
    assert not isinstance(first, str)
    assert not isinstance(second, str)
    assert first.distances(*pictures) == second.distances(*pictures) > 0
    assert first.distances(pictures[0], pictures[0]) == 0


def test_without_weights_the_document_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "hub"))
    monkeypatch.setattr(torch.hub, "load_state_dict_from_url", None)  # nothing is fetched
    reason = load_lpips()
    assert isinstance(reason, str)
    sides = [FolderSet.of(folder_of(tmp_path / n, 5, start=9 * k)) for k, n in enumerate("rg")]
    plan = Plan(resamples=10, permutations=10)
    options: Any = {"model": tiny_clip(), "plan": plan, "home": tmp_path / "home"}
    document = compare(*sides, NAMES, lpips=reason, **options).document
    schemas.validate("images", document)
    for score in document["diversity"]["scores"].values():
        assert score["value"] is None
        (told,) = score["not_applicable"]
        assert "torchvision.models.alexnet(weights='DEFAULT')" in told
    assert document["diversity"]["weights_sha256"] is None
    assert compare(*sides, NAMES, **options).document["diversity"] is None


def test_the_file_in_the_cache_must_be_the_published_one(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))
    place = tmp_path / "checkpoints" / "alexnet-owt-7be5be79.pth"
    place.parent.mkdir()
    place.write_bytes(weights.read_bytes())
    with pytest.raises(
        UserError, match=r"alexnet-owt-7be5be79\.pth: SHA-256 .*, expected 7be5be79"
    ):
        load_lpips()


class Malicious:
    def __reduce__(self) -> Any:
        return (print, ("run",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
        (b"", "not a PyTorch file of tensors alone"),
        (b"no weights", "not a PyTorch file of tensors alone"),
        (pickle.dumps(Malicious()), "not a PyTorch file of tensors alone"),
        ([1, 2], "holds no tensors by name"),
        ({"features.0.weight": torch.zeros(64, 3, 11, 11)}, "not the weights of"),
    ],
)
def test_a_bad_file_is_one_line(
    tmp_path: Path, content: Any, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "w.pth"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        torch.save(content, path)
    with pytest.raises(UserError, match=rf"w\.pth: {message}") as caught:
        load_lpips(path)
    assert "\n" not in str(caught.value)
    assert capsys.readouterr().out == ""
