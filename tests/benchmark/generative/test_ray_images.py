"""Scoring images on Ray gives the same bytes as here, and an actor that is killed costs a block."""

import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from image_cases import folder_of

from benchmark.encoders import load_encoder
from benchmark.errors import UserError
from benchmark.generative import tiny_clip
from benchmark.generative.compare import Comparison, Plan, compare
from benchmark.generative.image_sets import FolderSet
from benchmark.generative.scorer import RaScorer
from benchmark.ray_cluster import connected
from benchmark.ray_images import recipe_of
from benchmark.torch_threads import one_thread

pytest.importorskip("ray", reason="the extra ray is not installed")

ENCODER = "efficientnet-lite0"
NAMES = ["eyeglasses", "a hat", "a smile"]
PLAN = Plan(resamples=20, permutations=20, skip_unreadable=True)


@pytest.fixture(scope="module")
def elsewhere(home: Path) -> Any:
    """Actors of one thread on a local Ray of two processors."""
    with pytest.MonkeyPatch.context() as patch, one_thread():
        patch.setenv("ASSAY_HOME", str(home))
        with connected("local", 2):
            from benchmark.ray_images import ImagesOnRay

            yield ImagesOnRay(tiny_clip.NAME, ENCODER)


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[FolderSet, FolderSet]:
    root = tmp_path_factory.mktemp("sets")
    real = folder_of(root / "real", 50)
    (real / "a" / "broken.png").write_bytes(b"no picture")
    (real / "b" / "copy.png").write_bytes((real / "a" / "3.png").read_bytes())
    return FolderSet.of(real), FolderSet.of(folder_of(root / "made", 19, start=200, shift=40))


def run(sides: Any, home: Path, **options: Any) -> Comparison:
    encoder = load_encoder(ENCODER)
    return compare(
        *sides, NAMES, model=tiny_clip.NAME, encoder=encoder, plan=PLAN, home=home, **options
    )


@pytest.fixture(scope="module")
def here(sides: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, Path]:
    """The comparison as this process makes it, on one thread, and its cache."""
    home = tmp_path_factory.mktemp("here")
    with one_thread():
        return run(sides, home), home


def contents(home: Path) -> dict[str, bytes]:
    files = (home / "images").rglob("*")
    return {str(path.relative_to(home)): path.read_bytes() for path in files if path.is_file()}


def process_of(actor: Any) -> int:
    import ray

    return int(ray.get(actor.__ray_call__.remote(lambda self: os.getpid())))


def test_the_cache_has_the_same_bytes_though_an_actor_is_killed(
    elsewhere: Any, sides: Any, here: tuple[Comparison, Path], tmp_path: Path
) -> None:
    killed: list[int] = []

    def progress(stage: str, done: int, total: int) -> None:
        # its last blocks are at work or wait
        if stage == "real images" and done == total:
            killed.append(process_of(elsewhere._actors[0]))
            os.kill(killed[0], signal.SIGKILL)

    assert elsewhere.ahead == 4
    there = run(sides, tmp_path / "there", elsewhere=elsewhere, progress=progress)
    assert process_of(elsewhere._actors[0]) != killed[0]
    assert there.document["real"]["unreadable"][0]["id"] == "a/broken.png"
    assert there.document["real"]["duplicates"] == 1
    first, second = contents(here[1]), contents(tmp_path / "there")
    assert sum(len(data) for data in first.values()) > 100_000
    assert first == second
    documents = [{k: v for k, v in d.document.items() if k != "timing"} for d in (here[0], there)]
    assert documents[0] == documents[1]


def test_it_goes_on_where_a_run_here_stopped(
    elsewhere: Any,
    sides: Any,
    here: tuple[Comparison, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from benchmark.generative.dense.base import DenseClip

    passes = []
    dense = DenseClip.dense

    def stopping(self: Any, *args: Any, **options: Any) -> Any:
        passes.append(1)
        if len(passes) == 6:
            raise KeyboardInterrupt
        return dense(self, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(DenseClip, "dense", stopping)
        with pytest.raises(KeyboardInterrupt):
            run(sides, tmp_path / "stopped")
    half = contents(tmp_path / "stopped")
    with monkeypatch.context() as patch:
        patch.setattr(DenseClip, "dense", None)  # nothing is scored here
        patch.setattr(DenseClip, "_checked", lambda self: None)
        run(sides, tmp_path / "stopped", elsewhere=elsewhere)
    whole = contents(here[1])
    assert contents(tmp_path / "stopped") == whole != half


def test_a_node_with_other_weights_is_refused(
    sides: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The actor's own method, here: it would refuse on any node."""
    from benchmark.generative.dense import load_clip
    from benchmark.ray_images import ImageActor, encoder_identity, scorer_identity

    data = [(sides[0].encoded(0), "one")]
    scorer = RaScorer(NAMES, load_clip(tiny_clip.NAME), batch_size=2, ablations=True)
    recipe = recipe_of(scorer, tiny_clip.NAME)
    whole = scorer_identity(scorer)
    with one_thread():
        error, parts = ImageActor(1).work("scores", recipe, whole, data)
        assert (error, parts["image"].shape) == ("", (1, 3))
        other = {**whole, "weights_sha256": "0" * 64, "runtime": "torch 1"}
        error, parts = ImageActor(1).work("scores", recipe, other, data)
        assert "the models differ in runtime, weights_sha256; their scores would not" in error
        assert not parts
        error, _ = ImageActor(1).work("scores", {**recipe, "model": "clop:x"}, whole, data)
        assert re.match(r"on node .*: unknown CLIP model 'clop'", error)
        error, _ = ImageActor(1).work("scores", recipe, whole, [(b"no picture", "some.png")])
        assert "some.png" in error
        known = {**encoder_identity(load_encoder(ENCODER)), "name": "another"}
        error, _ = ImageActor(1).work("features", {"encoder": ENCODER}, known, data)
        assert "the models differ in name; their features" in error


def test_more_threads_than_a_node_has_are_named(
    elsewhere: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from benchmark.ray_images import ImagesOnRay

    monkeypatch.setattr(torch, "get_num_threads", lambda: 64)
    with pytest.raises(UserError, match="set OMP_NUM_THREADS to at most 2"):
        ImagesOnRay(tiny_clip.NAME)
