"""Images that the suite draws with a submitted model: the same ones always, and gone on with."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import generator_cases as cases
import numpy as np
import pytest
from flux_models import write_klein
from hub_server import HubServer
from image_cases import Encoder
from PIL import Image

import schemas
from benchmark.datasets import load_dataset
from benchmark.errors import UserError
from benchmark.generative.compare import Plan
from benchmark.generative.submitted import pipelines
from benchmark.generative.submitted.drawn import DrawnSet, draw
from benchmark.generative.submitted.measure import score_generator
from benchmark.generative.submitted.pipelines import Model, Painter, located
from benchmark.submissions.generators_known import PIPELINES, prompts_of

KLEIN = "Flux2KleinPipeline"


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model's folder, as a download would leave it."""
    return write_klein(tmp_path_factory.mktemp("models") / "tiny")


def document(**changed: Any) -> dict[str, Any]:
    found = {"id": "painter", "name": "Painter", "generator": cases.drawing(**changed)}
    schema = schemas.load("submission-generator")
    assert set(found["generator"]) <= set(schema["$defs"]["diffusers"]["properties"])
    return found


def at(snapshot: Path, **changed: Any) -> Model:
    return located(cases.drawing(**changed), snapshot, lambda *_: snapshot)


def content(images: DrawnSet) -> list[bytes]:
    return [images.encoded(place) for place in range(len(images.ids))]


class Brush(Painter):
    """Draws plain pictures whose colour is the seed; the prompt "a hat" gives a black one."""

    def __init__(self, model: Model) -> None:
        self.drawn_on, self.seeds = "paper", []  # type: ignore[var-annotated]

    def draw(self, prompt: str, seed: int, settings: Mapping[str, Any]) -> Image.Image:
        self.seeds.append(seed)
        return Image.new("RGB", (8, 8), (0 if prompt == "a hat" else seed, 0, 0))


def test_the_same_images_whatever_was_drawn_before(snapshot: Path, tmp_path: Path) -> None:
    model = at(snapshot)
    assert model.pipeline == KLEIN
    whole = content(draw(document(), model, tmp_path / "one"))
    assert len(set(whole)) == 5
    again = content(draw(document(), model, tmp_path / "two"))
    assert again == whole
    alone = Painter(model).draw("a hat", 5 + 4, cases.drawing()["settings"])
    folder = next((tmp_path / "one" / "submissions" / "drawn").glob("*/"))
    np.testing.assert_array_equal(np.asarray(Image.open(folder / "000004.png")), np.asarray(alone))
    assert alone.size == (64, 64)


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    model = Model(tmp_path, KLEIN, "0" * 64)
    made: list[Brush] = []

    class Stopping(Brush):
        def draw(self, prompt: str, seed: int, settings: Mapping[str, Any]) -> Image.Image:
            if len(self.seeds) == 3:
                raise KeyboardInterrupt
            return super().draw(prompt, seed, settings)

    def brush(kind: type[Brush]) -> Any:
        return lambda model: made.append(kind(model)) or made[-1]  # type: ignore[func-returns-value]

    with pytest.raises(KeyboardInterrupt):
        draw(document(), model, tmp_path, painter=brush(Stopping))
    steps: list[tuple[int, int]] = []
    found = draw(
        document(), model, tmp_path, painter=brush(Brush), progress=lambda *s: steps.append(s)
    )
    assert [one.seeds for one in made] == [[5, 6, 7], [8, 9]]
    assert steps[-1] == (5, 5)
    assert found.black == 2
    assert content(found) == content(draw(document(), model, tmp_path / "new", painter=Brush))


@pytest.mark.parametrize("damage", ["changed", "gone", "torn journal", "foreign journal"])
def test_what_is_damaged_is_drawn_again(tmp_path: Path, damage: str) -> None:
    model = Model(tmp_path, KLEIN, "0" * 64)
    whole = content(draw(document(), model, tmp_path, painter=Brush))
    (folder,) = (tmp_path / "submissions" / "drawn").glob("*/")
    journal = folder / "drawn.jsonl"
    if damage == "changed":
        (folder / "000002.png").write_bytes(whole[1])
    elif damage == "gone":
        (folder / "000002.png").unlink()
    elif damage == "torn journal":
        journal.write_bytes(journal.read_bytes()[:-40])
    else:
        journal.write_bytes(b'\xff\n[1]\n{"image": 99}\n{"image": "x", "sha256": 3}\nnull\n')
    brushes: list[Brush] = []

    def brush(model: Model) -> Brush:
        brushes.append(Brush(model))
        return brushes[-1]

    assert content(draw(document(), model, tmp_path, painter=brush)) == whole
    redrawn = {"foreign journal": [5, 6, 7, 8, 9], "torn journal": [9]}.get(damage, [7])
    assert brushes[0].seeds == redrawn
    assert content(draw(document(), model, tmp_path, painter=brush)) == whole
    assert brushes[1].seeds == []


def test_anything_that_decides_the_images_is_another_folder(tmp_path: Path) -> None:
    model = Model(tmp_path, KLEIN, "0" * 64)
    settings = cases.drawing()["settings"]
    for changed in (
        {},
        {"seed": 6},
        {"settings": {**settings, "steps": 3}},
        {"prompts": [{"prompt": "a face", "count": 2}]},
    ):
        draw(document(**changed), model, tmp_path, painter=Brush)
    draw(document(), Model(tmp_path, KLEIN, "1" * 64), tmp_path, painter=Brush)
    assert len(list((tmp_path / "submissions" / "drawn").glob("*/"))) == 5


def test_a_model_becomes_a_result(snapshot: Path, avatars: Path, tmp_path: Path) -> None:
    folder = cases.submission(tmp_path / "painter", generator=cases.drawing())
    found = score_generator(
        folder,
        json.loads((folder / "submission.json").read_text()),
        plan=Plan(resamples=5, permutations=5),
        home=tmp_path / "home",
        dataset=load_dataset(avatars),
        encoder=Encoder(),
        get=lambda *_: snapshot,
    ).document
    who = found["submission"]
    assert (who["kind"], who["n"], who["black_images"]) == ("diffusers", 5, 0)
    assert (who["repo"], who["revision"], who["pipeline"]) == ("someone/painter", "a" * 40, KLEIN)
    assert who["width"] == [64, 64]
    assert "diffusers" in found["environment"]["packages"]


def test_the_weights_hash_is_over_all_that_a_pipeline_reads(tmp_path: Path) -> None:
    (tmp_path / "vae").mkdir()
    (tmp_path / "vae/x").write_bytes(b"1")
    (tmp_path / "model_index.json").write_bytes(b"2")
    one = pipelines.folder_sha256(tmp_path)
    for name in (".hidden", "README.md", "vae/.x"):
        (tmp_path / name).write_bytes(b"3")
    assert pipelines.folder_sha256(tmp_path) == one
    for name in ("vae/x", "vae/y", "model_index.json"):
        (tmp_path / name).write_bytes(b"4")
        changed = pipelines.folder_sha256(tmp_path)
        assert changed != one
        one = changed


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ("{", "not JSON"),
        ("[]", "no object"),
        ({"_class_name": "MyPipeline"}, "pipeline 'MyPipeline'"),
        ({"_class_name": ["x", KLEIN]}, "expected one of"),
        ({"_class_name": "FluxInpaintPipeline"}, "expected one of"),
        ({"_class_name": KLEIN, "vae": ["my_code", "Net"]}, "no code of a repository"),
        ({"_class_name": KLEIN, "vae": ["os", "system"]}, "no code of a repository"),
        ({"_class_name": KLEIN, "vae": ["../x", "Net"]}, "no code of a repository"),
        ({"_class_name": KLEIN, "vae": [["diffusers"], "Net"]}, "no code of a repository"),
        ({"_class_name": KLEIN, "vae": ["diffusers"]}, "no code of a repository"),
        (None, "no model_index.json"),
    ],
)
def test_a_folder_that_is_no_model_is_refused(tmp_path: Path, index: Any, said: str) -> None:
    if index is not None:
        text = index if isinstance(index, str) else json.dumps(index)
        (tmp_path / "model_index.json").write_text(text)
    with pytest.raises(UserError, match=said) as caught:
        at(tmp_path)
    assert "\n" not in str(caught.value)


def test_parts_of_diffusers_own_pipelines_are_fine(tmp_path: Path) -> None:
    parts = {
        "safety_checker": ["stable_diffusion", "StableDiffusionSafetyChecker"],
        "unet": ["diffusers", "UNet2DConditionModel"],
        "image_encoder": [None, None],
    }
    index = {"_class_name": "StableDiffusionPipeline", "_diffusers_version": "0.1", **parts}
    (tmp_path / "model_index.json").write_text(json.dumps(index))
    assert at(tmp_path).pipeline == "StableDiffusionPipeline"


def test_a_model_is_fetched_at_its_commit_without_pickles(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    files = {
        path.relative_to(snapshot).as_posix(): path.read_bytes()
        for path in snapshot.rglob("*")
        if path.is_file()
    }
    more = {"pipeline.py": b"1/0", "vae/diffusion_pytorch_model.bin": b"x", "README.md": b"x"}
    with HubServer() as hub:
        commit = hub.add("someone/painter", {**files, **more}, kind="models")
        hub.add("someone/painter", {"README.md": b"newer"}, kind="models")
        constants = huggingface_hub.constants
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, hub.endpoint)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        monkeypatch.setattr(huggingface_hub.hf_api.api, "endpoint", hub.endpoint)
        found = located(cases.drawing(revision=commit), tmp_path)
        assert not list(found.folder.rglob("*.bin"))
        two = document(prompts=[{"prompt": "a face", "count": 2}])
        here = draw(two, at(snapshot), tmp_path / "here")
        assert content(draw(two, found, tmp_path / "there")) == content(here)
        for wrong in ({"repo": "someone/else"}, {"revision": "b" * 40}):
            generator = cases.drawing(**{"revision": commit, **wrong})
            with pytest.raises(UserError, match="cannot be had"):
                located(generator, tmp_path)


def test_pickled_weights_are_not_loaded(snapshot: Path, tmp_path: Path) -> None:
    import torch

    folder = tmp_path / "pickled"
    shutil.copytree(snapshot, folder)
    (folder / "vae" / "diffusion_pytorch_model.safetensors").unlink()
    ran = tmp_path / "ran"

    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (ran,))

    torch.save({"x": Evil()}, folder / "vae" / "diffusion_pytorch_model.bin")
    with pytest.raises(UserError, match="cannot be loaded"):
        draw(document(), at(folder), tmp_path)
    assert not ran.exists()


def test_code_of_a_repository_is_never_run(snapshot: Path, tmp_path: Path) -> None:
    folder = tmp_path / "coded"
    shutil.copytree(snapshot, folder)
    ran = tmp_path / "ran"
    for place in (folder, folder / "vae", folder / "transformer"):
        for name in ("pipeline.py", "my_code.py", "modeling.py"):
            (place / name).write_text(f"open({str(ran)!r}, 'w')")
    config = json.loads((folder / "text_encoder" / "config.json").read_text())
    config["auto_map"] = {"AutoModelForCausalLM": "modeling.Net"}
    (folder / "text_encoder" / "config.json").write_text(json.dumps(config))
    draw(document(prompts=[{"prompt": "x", "count": 2}]), at(folder), tmp_path)
    assert not ran.exists()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ValueError("`width` must be divisible by 16"), "the model refuses 'a face' .* by 16"),
        (Image.new("RGB", (64, 48)), "draws 64 x 48 pixels where settings ask for 64 x 64"),
    ],
)
def test_settings_that_a_model_does_not_follow_are_named(
    snapshot: Path, answer: Any, said: str
) -> None:
    def pipeline(**given: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(images=[answer])

    painter = Painter(at(snapshot))
    painter.__dict__["_pipeline"] = pipeline
    with pytest.raises(UserError, match=said):
        painter.draw("a face", 0, cases.drawing()["settings"])


def test_the_number_of_images_is_bounded() -> None:
    for count in (1, 50_001):
        with pytest.raises(UserError, match="expected 2 to 50,000"):
            prompts_of(cases.drawing(prompts=[{"prompt": "x", "count": count}]))


def test_every_named_pipeline_is_one_of_diffusers() -> None:
    import diffusers

    assert set(PIPELINES) <= set(dir(diffusers))
