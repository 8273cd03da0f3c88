"""What files say of an SAE without torch is what the formats themselves read."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_saes import build, rules
from submission_cases import edit, write_sae

from benchmark.errors import UserError
from benchmark.saes import load_sae
from benchmark.saes.formats.assay import FORMAT
from benchmark.submissions import load_submission
from benchmark.submissions.check import check
from benchmark.submissions.saes import open_sae
from benchmark.submissions.stated import stated, stated_in
from benchmark.tensors import write_tensors

W, D, K = 6, 20, 3  # width, latents, active latents
LINEAR = {
    "encoder.weight": (D, W),
    "encoder.bias": (D,),
    "decoder.weight": (W, D),
}
COLUMNS = {"W_enc": (W, D), "W_dec": (D, W), "b_enc": (D,), "b_dec": (W,)}
GATED = {"r_mag": (D,), "gate_bias": (D,), "mag_bias": (D,)}
LENS = {"d_in": W, "d_sae": D, "metadata": {"sae_lens_version": "6.54"}}
PRISMA = {"hook_point_layer": 9, "expansion_factor": 5, "d_in": W, "d_sae": D}
OVER = {"encoder.final_block.0.weight": (D, W), "dictionary._weights": (D, W)}


def learnt(kind: str, **more: Any) -> dict[str, Any]:
    sizes = {"activation_dim": W, "dict_size": D}
    return {"trainer": {"dict_class": kind, **sizes, **more}}


FILES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "lens standard": ("sae_weights", COLUMNS, {**LENS, "architecture": "standard"}),
    "lens topk": ("sae_weights", COLUMNS, {**LENS, "architecture": "topk", "k": K}),
    "lens old topk": ("sae_weights", COLUMNS, {**LENS, "activation_fn_str": "topk",
                                               "activation_fn_kwargs": {"k": K}}),
    "lens jumprelu": ("x", {**COLUMNS, "threshold": (D,)}, {**LENS, "architecture": "jumprelu"}),
    "lens matryoshka": ("x", {**COLUMNS, "threshold": (D,)}, {
        "d_sae": D, "architecture": "jumprelu",
        "metadata": {"training_architecture": "matryoshka_batchtopk"}}),
    "learnt relu": ("ae", {**LINEAR, "bias": (W,)}, {}),
    "learnt new": ("ae", {**LINEAR, "decoder.bias": (W,)}, {}),
    "learnt annealed": ("ae", {**LINEAR, "bias": (W,)},
                        learnt("AutoEncoder", trainer_class="PAnnealTrainer")),
    "learnt gated": ("ae", {"encoder.weight": (D, W), "decoder.weight": (W, D),
                            "decoder_bias": (W,), **GATED}, {}),
    "learnt topk": ("ae", {**LINEAR, "b_dec": (W,), "k": K}, learnt("AutoEncoderTopK")),
    "learnt batchtopk": ("ae", {**LINEAR, "b_dec": (W,), "k": K, "threshold": 0.5},
                         learnt("BatchTopKSAE")),
    "learnt matryoshka": ("ae", {**COLUMNS, "k": K, "threshold": 0.5, "group_sizes": (2,)},
                          learnt("MatryoshkaBatchTopKSAE")),
    "learnt jumprelu": ("ae", {**COLUMNS, "threshold": (D,)}, learnt("JumpReluAutoEncoder")),
    "sparsify": ("sae", {"encoder.weight": (D, W), "encoder.bias": (D,), "W_dec": (D, W),
                         "b_dec": (W,)}, {"k": K, "d_in": W, "num_latents": D}),
    "openai": ("x", {"encoder.weight": (D, W), "decoder.weight": (W, D), "pre_bias": (W,),
                     "latent_bias": (D,)}, {}),
    "overcomplete jumprelu": ("x", {**OVER, "thresholds": (D,)}, {}),
    "overcomplete topk": ("x", OVER, {"architecture": "topk", "k": K}),
    "overcomplete relu": ("x", OVER, {"architecture": "standard"}),
    "prisma relu": ("weights", COLUMNS, PRISMA),
    "prisma topk": ("weights", COLUMNS, {**PRISMA, "activation_fn_str": "topk",
                                         "activation_fn_kwargs": {"k": K}}),
    "prisma gated": ("weights", {**COLUMNS, "r_mag": (D,), "b_gate": (D,), "b_mag": (D,)},
                     {**PRISMA, "architecture": "gated"}),
    "bare topk": ("x", COLUMNS, {"sae_type": "topk", "top_k": K}),
    "bare relu": ("x", COLUMNS, {"sae_type": "vanilla"}),
    "bare jumprelu": ("x", {**COLUMNS, "log_threshold": (D,)}, {}),
    "bare batchtopk": ("x", {**COLUMNS, "threshold": 0.5}, {"sae_type": "batchtopk"}),
    "bare rows": ("x", {"W_enc": (D, W), "W_dec": (W, D), "b_enc": (D,), "b_dec": (W,)},
                  {"sae_type": "topk", "top_k": K}),
}  # fmt: skip


def arrays(shapes: dict[str, Any]) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    return {
        key: draw.random(shape).astype(np.float32)
        if isinstance(shape, tuple)
        else np.asarray(shape)
        for key, shape in shapes.items()
    }


def write(folder: Path, name: str, shapes: dict[str, Any], config: dict[str, Any]) -> Path:
    write_tensors(folder / f"{name}.safetensors", arrays(shapes), {})
    (folder / "config.json").write_text(json.dumps(config))
    return folder / f"{name}.safetensors"


@pytest.mark.parametrize("case", FILES)
def test_files_say_what_the_format_reads(tmp_path: Path, case: str) -> None:
    weights = write(tmp_path, *FILES[case])
    sae = load_sae(weights)
    found = stated_in(weights, tmp_path / "config.json")
    assert found.architectures == (sae.architecture,)
    assert (found.d_in, found.d_sae) == (sae.d_in, sae.d_sae) == (W, D)
    k = getattr(sae.activation, "k", None)
    assert found.k == (K if k is None and "k" in FILES[case][1] else k)


@pytest.mark.parametrize("rule", sorted(rules()))
def test_the_suite_s_own_files_say_what_they_are(tmp_path: Path, rule: str) -> None:
    sae = build(rules()[rule])
    FORMAT.save(sae, tmp_path / "sae", {})
    found = stated_in(tmp_path / "sae/sae.safetensors", tmp_path / "sae/config.json")
    assert found.architectures == (sae.architecture,)
    assert (found.d_in, found.d_sae) == (sae.d_in, sae.d_sae)
    assert found.k == getattr(sae.activation, "k", None)


@pytest.mark.parametrize(
    ("shapes", "architectures"),
    [
        (COLUMNS, ("topk", "relu")),
        ({**COLUMNS, "threshold": 0.5}, ("batchtopk", "topk", "relu")),
        (OVER, ("topk", "relu")),
    ],
)
def test_what_files_leave_open_the_document_may_say(
    tmp_path: Path, shapes: dict[str, Any], architectures: tuple[str, ...]
) -> None:
    weights = write(tmp_path, "x", shapes, {})
    found = stated_in(weights, tmp_path / "config.json")
    assert (found.architectures, found.k) == (architectures, None)
    for hint in ("topk", "relu"):
        assert load_sae(weights, k=K, architecture=hint).architecture == hint


@pytest.mark.parametrize("value", [None, [], {}, [1], {"k": []}, "x", 1.5, 10**400, True], ids=str)
def test_settings_of_any_kind_break_nothing(value: Any) -> None:
    for name, shapes, config in FILES.values():
        tensors = arrays(shapes)
        for key in (*config, "format", "k", "top_k", "architecture", "sae_type", "activation"):
            found = stated(f"{name}.safetensors", tensors, {**config, key: value})
            assert all(isinstance(one, str) for one in found.architectures)
            assert type(found.k) in (int, type(None))


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("architecture", "relu", "topk, as the SAE's own files say"),
        ("k", 7, "5, as the SAE's own files say"),
    ],
)
def test_a_document_that_says_otherwise_is_named_and_never_measured(
    tmp_path: Path, key: str, value: Any, expected: str
) -> None:
    folder = write_sae(tmp_path)
    edit(folder, f"sae.{key}", value)
    edit(folder, "verified", True)  # another fault hides nothing
    first, second = check(tmp_path).problems
    assert (first.path, first.found, first.expected) == (f"$.sae.{key}", str(value), expected)
    assert second.path == "$.verified"
    edit(folder, "verified", ...)
    with pytest.raises(UserError, match=rf"\$\.sae\.{key}: found {value}; expected"):
        open_sae(load_submission(folder, kind="saes"))


def test_sizes_the_wrong_way_round_are_named(tmp_path: Path) -> None:
    folder = write_sae(tmp_path)
    edit(folder, "sae.d_in", 40)
    edit(folder, "sae.d_sae", 12)
    found = {each.path: each.expected for each in check(tmp_path).problems}
    assert (
        found.items()
        >= {
            "$.d_in": "40, as the document says",
            "$.d_sae": "12, as the document says",
        }.items()
    )
    (folder / "config.json").unlink()
    weights = write(folder, "sae", FILES["openai"][1], {})
    weights.rename(folder / "sae.safetensors")
    (folder / "config.json").unlink()
    edit(folder, "sae.architecture", "relu")
    edit(folder, "sae.d_in", D)
    edit(folder, "sae.d_sae", W)
    found = {each.path: each.expected for each in check(tmp_path).problems}
    assert found["$.sae.d_in"] == f"{W}, as the SAE's own files say"
    assert found["$.sae.d_sae"] == f"{D}, as the SAE's own files say"
