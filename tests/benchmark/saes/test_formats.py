"""One hand-made file of every other kind, its codes worked out here from the library's rule."""

import json
import os

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from benchmark.errors import UserError
from benchmark.saes import load_sae

D, K, N = 20, 3, 7  # latents, active latents, inputs
W = 6  # width


@pytest.fixture
def draw():
    return np.random.default_rng(0)


def values(draw, *shape):
    return draw.standard_normal(shape).astype(np.float32)


@pytest.fixture
def parts(draw):
    """Encoder (W, D), decoder (D, W), their biases, and inputs (N, W)."""
    return {
        "enc": values(draw, W, D),
        "dec": values(draw, D, W),
        "b_enc": values(draw, D),
        "b_dec": values(draw, W),
        "x": 2 * values(draw, N, W) + 1,
    }


def topk(pre, k=K):
    result = np.zeros_like(pre)
    for row, line in enumerate(pre):
        for latent in np.argsort(-line)[:k]:
            result[row, latent] = max(line[latent], 0)
    return result


def relu(pre):
    return np.maximum(pre, 0)


def jump(pre, threshold):
    return np.where(pre > threshold, relu(pre), 0)


def gated(pre, gate, r_mag, mag):
    return np.where(pre + gate > 0, relu(pre * np.exp(r_mag) + mag), 0)


def layer_norm(x):
    mean, std = x.mean(1, keepdims=True), x.std(1, ddof=1, keepdims=True)
    return (x - mean) / (std + 1e-5), mean, std


def tensors(**arrays):
    return {name.replace("__", "."): torch.from_numpy(np.array(a)) for name, a in arrays.items()}


def write(folder, name, state, config=None, config_name="config.json"):
    folder.mkdir(exist_ok=True)
    if name.endswith(".safetensors"):
        save_file({key: tensor.contiguous() for key, tensor in state.items()}, folder / name)
    else:
        torch.save(state, folder / name)
    if config is not None:
        (folder / config_name).write_text(json.dumps(config))
    return folder


def agrees(sae, x, codes, reconstruction):
    np.testing.assert_allclose(sae.encode(x).toarray(), codes, atol=1e-5)
    np.testing.assert_allclose(sae.reconstruct(x), reconstruction, atol=2e-5)


def saelens_config(**changes):
    return {
        "d_in": W,
        "d_sae": D,
        "architecture": "standard",
        "apply_b_dec_to_input": True,
        "normalize_activations": "none",
        "metadata": {"sae_lens_version": "6.0.0"},
    } | changes


def saelens_state(parts, **more):
    return tensors(
        W_enc=parts["enc"], W_dec=parts["dec"], b_enc=parts["b_enc"], b_dec=parts["b_dec"], **more
    )


def saelens(tmp_path, state, **changes):
    config = saelens_config(**changes)
    return load_sae(write(tmp_path / "s", "sae_weights.safetensors", state, config, "cfg.json"))


def test_saelens_layer_norm(tmp_path, parts):
    sae = saelens(tmp_path, saelens_state(parts), normalize_activations="layer_norm")
    x, mean, std = layer_norm(parts["x"])
    codes = relu((x - parts["b_dec"]) @ parts["enc"] + parts["b_enc"])
    agrees(sae, parts["x"], codes, (codes @ parts["dec"] + parts["b_dec"]) * std + mean)


def test_saelens_constant_norm_rescale_without_input_bias(tmp_path, parts):
    sae = saelens(
        tmp_path,
        saelens_state(parts),
        normalize_activations="constant_norm_rescale",
        apply_b_dec_to_input=False,
    )
    factor = W**0.5 / np.linalg.norm(parts["x"], axis=1, keepdims=True)
    codes = relu(parts["x"] * factor @ parts["enc"] + parts["b_enc"])
    agrees(sae, parts["x"], codes, (codes @ parts["dec"] + parts["b_dec"]) / factor)


def test_saelens_rescaled_topk_with_a_zero_decoder_row(tmp_path, parts):
    parts["dec"][4] = 0
    sae = saelens(
        tmp_path,
        saelens_state(parts),
        architecture="topk",
        k=K,
        rescale_acts_by_decoder_norm=True,
    )
    norm = np.linalg.norm(parts["dec"], axis=1)
    codes = topk(((parts["x"] - parts["b_dec"]) @ parts["enc"] + parts["b_enc"]) * norm)
    inverse = np.divide(1, norm, out=np.zeros_like(norm), where=norm > 0)
    agrees(sae, parts["x"], codes, (codes * inverse) @ parts["dec"] + parts["b_dec"])
    assert np.isfinite(sae.reconstruct(parts["x"])).all()


def test_saelens_before_version_6(tmp_path, parts):
    config = {
        "d_in": W,
        "d_sae": D,
        "activation_fn_str": "topk",
        "activation_fn_kwargs": {"k": K},
        "hook_point": "blocks.1.hook_resid_post",
        "sae_lens_version": "3.9.0",
        "normalize_activations": False,
        "finetuning_scaling_factor": True,
    }
    factor = np.linspace(0.5, 2, D, dtype=np.float32)
    state = saelens_state(parts, scaling_factor=factor)
    sae = load_sae(write(tmp_path / "s", "sae_weights.safetensors", state, config, "cfg.json"))
    codes = topk((parts["x"] - parts["b_dec"]) @ parts["enc"] + parts["b_enc"])
    agrees(sae, parts["x"], codes, (codes * factor) @ parts["dec"] + parts["b_dec"])


@pytest.mark.parametrize("name", ["threshold", "log_threshold"])
def test_saelens_jumprelu_thresholds_either_way(tmp_path, parts, draw, name):
    threshold = np.exp(values(draw, D))
    stored = threshold if name == "threshold" else np.log(threshold)
    state = saelens_state(parts, **{name: stored})
    sae = saelens(tmp_path, state, architecture="jumprelu")
    pre = (parts["x"] - parts["b_dec"]) @ parts["enc"] + parts["b_enc"]
    codes = jump(pre, threshold)
    agrees(sae, parts["x"], codes, codes @ parts["dec"] + parts["b_dec"])


def test_saelens_matryoshka_saved_as_jumprelu_keeps_its_name(tmp_path, parts):
    state = saelens_state(parts, threshold=np.full(D, 0.5, np.float32))
    metadata = {"sae_lens_version": "6.1", "training_architecture": "matryoshka_batchtopk"}
    sae = saelens(tmp_path, state, architecture="jumprelu", metadata=metadata)
    assert sae.architecture == "matryoshka"


def test_saelens_gated(tmp_path, parts, draw):
    gate, r_mag, mag = (values(draw, D) for _ in range(3))
    state = tensors(
        W_enc=parts["enc"], W_dec=parts["dec"], b_dec=parts["b_dec"],
        b_gate=gate, r_mag=r_mag, b_mag=mag,
    )  # fmt: skip
    sae = saelens(tmp_path, state, architecture="gated")
    codes = gated((parts["x"] - parts["b_dec"]) @ parts["enc"], gate, r_mag, mag)
    agrees(sae, parts["x"], codes, codes @ parts["dec"] + parts["b_dec"])


def test_saelens_half_precision_weights_with_float32_inputs(tmp_path, parts):
    state = {name: t.to(torch.bfloat16) for name, t in saelens_state(parts).items()}
    sae = saelens(tmp_path, state, dtype="bfloat16")
    wide = {name: t.float().numpy() for name, t in state.items()}
    codes = relu((parts["x"] - wide["b_dec"]) @ wide["W_enc"] + wide["b_enc"])
    agrees(sae, parts["x"], codes, codes @ wide["W_dec"] + wide["b_dec"])


def dictionary_config(name, **more):
    trainer = {"dict_class": name, "activation_dim": W, "dict_size": D, **more}
    return {"trainer": trainer}


def dictionary(tmp_path, state, config, name="ae.pt"):
    return load_sae(write(tmp_path / "d", name, state, config))


def test_dictionary_learning_new(tmp_path, parts):
    state = tensors(
        encoder__weight=parts["enc"].T, encoder__bias=parts["b_enc"],
        decoder__weight=parts["dec"].T, decoder__bias=parts["b_dec"],
    )  # fmt: skip
    sae = dictionary(tmp_path, state, dictionary_config("AutoEncoderNew"))
    codes = relu(parts["x"] @ parts["enc"] + parts["b_enc"])
    agrees(sae, parts["x"], codes, codes @ parts["dec"] + parts["b_dec"])


def test_dictionary_learning_p_anneal_is_named(tmp_path, parts):
    state = tensors(
        encoder__weight=parts["enc"].T, encoder__bias=parts["b_enc"],
        decoder__weight=parts["dec"].T, bias=parts["b_dec"],
    )  # fmt: skip
    config = dictionary_config("AutoEncoder", trainer_class="PAnnealTrainer")
    assert dictionary(tmp_path, state, config).architecture == "p_anneal"


def test_dictionary_learning_gated(tmp_path, parts, draw):
    gate, r_mag, mag = (values(draw, D) for _ in range(3))
    state = tensors(
        encoder__weight=parts["enc"].T, decoder__weight=parts["dec"].T,
        decoder_bias=parts["b_dec"], gate_bias=gate, r_mag=r_mag, mag_bias=mag,
    )  # fmt: skip
    sae = dictionary(tmp_path, state, dictionary_config("GatedAutoEncoder"))
    codes = gated((parts["x"] - parts["b_dec"]) @ parts["enc"], gate, r_mag, mag)
    agrees(sae, parts["x"], codes, codes @ parts["dec"] + parts["b_dec"])


def test_dictionary_learning_jumprelu(tmp_path, parts, draw):
    threshold = np.exp(values(draw, D))
    state = saelens_state(parts, threshold=threshold)
    sae = dictionary(tmp_path, state, dictionary_config("JumpReluAutoEncoder"))
    codes = jump(parts["x"] @ parts["enc"] + parts["b_enc"], threshold)
    agrees(sae, parts["x"], codes, codes @ parts["dec"] + parts["b_dec"])


def matryoshka_state(parts, threshold):
    return saelens_state(
        parts,
        k=np.int32(K),
        threshold=np.float32(threshold),
        group_sizes=np.array([5, 15]),
    )


def test_dictionary_learning_matryoshka(tmp_path, parts):
    config = dictionary_config("MatryoshkaBatchTopKSAE", k=K)
    sae = dictionary(tmp_path, matryoshka_state(parts, 1.25), config)
    pre = (parts["x"] - parts["b_dec"]) @ parts["enc"] + parts["b_enc"]
    codes = jump(pre, 1.25)
    agrees(sae, parts["x"], codes, codes @ parts["dec"] + parts["b_dec"])
    assert sae.architecture == "matryoshka"


def test_dictionary_learning_threshold_that_was_never_set_is_said(tmp_path, parts):
    config = dictionary_config("MatryoshkaBatchTopKSAE", k=K)
    sae = dictionary(tmp_path, matryoshka_state(parts, -1), config)
    assert "never set" in sae.notes[0]
    pre = (parts["x"] - parts["b_dec"]) @ parts["enc"] + parts["b_enc"]
    agrees(sae, parts["x"], relu(pre), relu(pre) @ parts["dec"] + parts["b_dec"])


def batchtopk_state(parts, threshold=0.75):
    return tensors(
        encoder__weight=parts["enc"].T, encoder__bias=parts["b_enc"],
        decoder__weight=parts["dec"].T, b_dec=parts["b_dec"],
        k=np.int32(K), threshold=np.float32(threshold),
    )  # fmt: skip


def test_dictionary_learning_backup_folds_its_norm_factor_into_every_bias(tmp_path, parts):
    backup = {
        "step": 100,
        "ae": batchtopk_state(parts),
        "optimizer": {"state": {}, "param_groups": [{"lr": 0.1}]},
        "config": dictionary_config("BatchTopKSAE", k=K)["trainer"],
        "norm_factor": 2.5,
    }
    sae = dictionary(tmp_path, backup, None)
    pre = (parts["x"] / 2.5 - parts["b_dec"]) @ parts["enc"] + parts["b_enc"]
    codes = jump(pre, 0.75)
    agrees(sae, parts["x"], codes * 2.5, (codes @ parts["dec"] + parts["b_dec"]) * 2.5)


def test_dictionary_learning_tensors_that_fit_two_classes_need_the_config(tmp_path, parts):
    with pytest.raises(UserError, match="AutoEncoderTopK or BatchTopKSAE"):
        dictionary(tmp_path, batchtopk_state(parts), None)


@pytest.mark.parametrize(("activation", "k"), [("topk", 3), ("groupmax", 4)])
def test_sparsify(tmp_path, parts, activation, k):
    state = tensors(
        encoder__weight=parts["enc"].T, encoder__bias=parts["b_enc"],
        W_dec=parts["dec"], b_dec=parts["b_dec"],
    )  # fmt: skip
    config = {"activation": activation, "k": k, "num_latents": D, "d_in": W}
    sae = load_sae(write(tmp_path / "p", "sae.safetensors", state, config, "cfg.json"))
    pre = (parts["x"] - parts["b_dec"]) @ parts["enc"] + parts["b_enc"]
    if activation == "topk":
        codes = topk(pre)
    else:
        codes = np.zeros_like(pre)
        for row in range(N):
            for group in range(k):
                own = range(group * D // k, (group + 1) * D // k)
                best = max(own, key=lambda latent: pre[row, latent])
                codes[row, best] = max(pre[row, best], 0)
    agrees(sae, parts["x"], codes, codes @ parts["dec"] + parts["b_dec"])


@pytest.mark.parametrize("activation", ["TopK", "ReLU"])
def test_openai(tmp_path, parts, activation):
    state = tensors(
        encoder__weight=parts["enc"].T, latent_bias=parts["b_enc"],
        decoder__weight=parts["dec"].T, pre_bias=parts["b_dec"],
        stats_last_nonzero=np.zeros(D, np.int64),
    )  # fmt: skip
    state["activation"] = activation
    if activation == "TopK":
        state["activation_state_dict"] = {"k": K, "postact_fn": "ReLU"}
    sae = load_sae(write(tmp_path / "o", "autoencoder.pt", state))
    x, mean, std = layer_norm(parts["x"]) if activation == "TopK" else (parts["x"], 0, 1)
    pre = (x - parts["b_dec"]) @ parts["enc"] + parts["b_enc"]
    codes = topk(pre) if activation == "TopK" else relu(pre)
    agrees(sae, parts["x"], codes, (codes @ parts["dec"] + parts["b_dec"]) * std + mean)


def test_overcomplete_jump_with_batch_normalisation(tmp_path, parts, draw):
    mean, shift, log_threshold = (values(draw, D) for _ in range(3))
    variance, weight = np.exp(values(draw, D)), np.exp(values(draw, D))
    state = {
        "encoder.final_block.0.weight": torch.from_numpy(parts["enc"].T.copy()),
        "encoder.final_block.0.bias": torch.from_numpy(parts["b_enc"]),
        "encoder.final_block.1.weight": torch.from_numpy(weight),
        "encoder.final_block.1.bias": torch.from_numpy(shift),
        "encoder.final_block.1.running_mean": torch.from_numpy(mean),
        "encoder.final_block.1.running_var": torch.from_numpy(variance),
        "encoder.final_block.1.num_batches_tracked": torch.tensor(5),
        "dictionary._weights": torch.from_numpy(parts["dec"]),
        "dictionary.multiplier": torch.tensor(0.3),
        "thresholds": torch.from_numpy(log_threshold),
    }
    sae = load_sae(write(tmp_path / "o", "state_dict.pt", state))
    pre = parts["x"] @ parts["enc"] + parts["b_enc"]
    pre = (pre - mean) / np.sqrt(variance + 1e-5) * weight + shift
    codes = np.where(relu(pre) >= np.exp(log_threshold), relu(pre), 0)
    agrees(sae, parts["x"], codes, codes @ (parts["dec"] * np.exp(0.3)))


def prisma_config(**changes):
    return {
        "d_in": W,
        "d_sae": D,
        "hook_point_layer": 9,
        "activation_fn_str": "relu",
        "normalize_activations": "layer_norm",
    } | changes


@pytest.mark.parametrize("activation", ["relu", "topk"])
def test_prisma(tmp_path, parts, activation):
    config = prisma_config(activation_fn_str=activation, activation_fn_kwargs={"k": K})
    sae = load_sae(write(tmp_path / "v", "weights.pt", saelens_state(parts), config))
    x, mean, std = layer_norm(parts["x"])
    pre = (x - parts["b_dec"]) @ parts["enc"] + parts["b_enc"]
    codes = topk(pre) if activation == "topk" else relu(pre)
    agrees(sae, parts["x"], codes, (codes @ parts["dec"] + parts["b_dec"]) * std + mean)


def test_gemma_scope(tmp_path, parts, draw):
    threshold = np.exp(values(draw, D))
    path = tmp_path / "params.npz"
    names = {"W_enc": "enc", "W_dec": "dec", "b_enc": "b_enc", "b_dec": "b_dec"}
    np.savez(path, threshold=threshold, **{name: parts[own] for name, own in names.items()})
    for place in (tmp_path, path):
        sae = load_sae(place)
        codes = jump(parts["x"] @ parts["enc"] + parts["b_enc"], threshold)
        agrees(sae, parts["x"], codes, codes @ parts["dec"] + parts["b_dec"])


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("kind", ["topk", "relu", "batchtopk", "jumprelu"])
def test_bare_state_dicts_of_the_paper(tmp_path, parts, draw, kind, transposed):
    state = saelens_state(parts)
    if transposed:
        state["W_enc"], state["W_dec"] = state["W_enc"].T, state["W_dec"].T
    log_threshold = values(draw, D)
    if kind == "batchtopk":
        state["threshold"] = torch.tensor(0.4)
    if kind == "jumprelu":
        state["jumprelu.log_threshold"] = torch.from_numpy(log_threshold)
    hints = {"topk": {"k": K}, "relu": {"architecture": "relu"}}.get(kind, {})
    sae = load_sae(write(tmp_path / "b", "sae.pt", state), **hints)
    assert sae.architecture == kind
    x, mean, std = layer_norm(parts["x"])
    pre = (x - parts["b_dec"]) @ parts["enc"] + parts["b_enc"]
    rule = {
        "topk": topk,
        "relu": relu,
        "batchtopk": lambda p: jump(p, 0.4),
        "jumprelu": lambda p: jump(p, np.exp(log_threshold)),
    }[kind]
    codes = rule(pre)
    agrees(sae, parts["x"], codes, (codes @ parts["dec"] + parts["b_dec"]) * std + mean)


def test_bare_with_the_papers_settings(tmp_path, parts):
    config = {"sae_type": "topk", "top_k": K, "act_size": W, "dict_size": D}
    config["input_unit_norm"] = False
    sae = load_sae(write(tmp_path / "b", "sae.pt", saelens_state(parts), config))
    codes = topk((parts["x"] - parts["b_dec"]) @ parts["enc"] + parts["b_enc"])
    agrees(sae, parts["x"], codes, codes @ parts["dec"] + parts["b_dec"])
    assert sae.notes == ()


def test_a_square_matrix_that_nothing_orients_is_refused(tmp_path, draw):
    square = tensors(
        W_enc=values(draw, W, W), W_dec=values(draw, W, W),
        b_enc=values(draw, W), b_dec=values(draw, W),
    )  # fmt: skip
    with pytest.raises(UserError, match=r"'W_enc' is square \(6 × 6\)"):
        load_sae(write(tmp_path / "b", "sae.pt", square), k=2)
    config = {"act_size": W, "dict_size": W, "sae_type": "topk", "top_k": 2}
    assert load_sae(write(tmp_path / "c", "sae.pt", square, config)).d_sae == W


def test_a_bare_file_that_says_nothing_of_its_rule_is_refused(tmp_path, parts):
    options = r"nothing says which latents are active; .*\(--k K\).*\(--architecture relu\)"
    with pytest.raises(UserError, match=options):
        load_sae(write(tmp_path / "b", "sae.pt", saelens_state(parts)))


class Danger:
    """Unpickling this would make a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_file_that_would_run_a_command_does_not_run_it(tmp_path):
    torch.save({"W_enc": Danger(tmp_path / "ran")}, tmp_path / "sae.pt")
    with pytest.raises(UserError, match="pickled module") as caught:
        load_sae(tmp_path / "sae.pt")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["sae.pt", "params.npz", "sae_weights.safetensors"])
@pytest.mark.parametrize("damage", ["empty", "cut", "noise"])
def test_damaged_weights_are_one_line(tmp_path, parts, name, damage):
    path = tmp_path / name
    if name.endswith("npz"):
        np.savez(path, W_enc=parts["enc"], W_dec=parts["dec"])
    else:
        write(tmp_path, name, saelens_state(parts))
    content = path.read_bytes()
    noise = np.random.default_rng(0).integers(0, 256, 400, dtype=np.uint8).tobytes()
    path.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "noise": noise}[damage])
    with pytest.raises(UserError) as caught:
        load_sae(path)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_npz_that_claims_100_gb_is_refused_before_it_is_read(tmp_path):
    import io
    import zipfile

    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (25_000_000_000,)}
    )
    with zipfile.ZipFile(tmp_path / "params.npz", "w") as archive:
        archive.writestr("W_enc.npy", header.getvalue() + b"\0" * 64)
    with pytest.raises(UserError, match="claims shape"):
        load_sae(tmp_path / "params.npz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("b_dec"), "'b_dec' is missing"),
        (lambda s: s.update(surprise=torch.ones(2)), "unknown tensor 'surprise'"),
        (
            lambda s: s.update(b_enc=torch.ones(D + 1)),
            r"'b_enc' has shape \(21,\); expected \(20,\)",
        ),
        (lambda s: s.update(W_enc=s["W_enc"].T.contiguous()), r"\(20, 6\); expected \(6, 20\)"),
        (lambda s: s["W_dec"].__setitem__((3, 2), torch.nan), r"'W_dec' holds NaN .* \[3, 2\]"),
    ],
)
def test_a_wrong_tensor_is_named_with_both_values(tmp_path, parts, change, message):
    state = saelens_state(parts)
    change(state)
    with pytest.raises(UserError, match=message):
        saelens(tmp_path, state)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_sae": 21}, "d_sae is 21, but the tensors say 20"),
        ({"d_in": 5}, "d_in is 5, but the tensors say 6"),
        ({"architecture": "temporal"}, "architecture 'temporal'"),
        ({"architecture": "topk"}, "k is None"),
        ({"architecture": "topk", "k": 21}, "k is 21; expected 1 to 20"),
        ({"normalize_activations": "pca"}, "'pca'"),
        ({"activation_fn_str": "tanh-relu"}, "'tanh-relu'"),
        ({"apply_b_dec_to_input": "yes"}, "'yes'"),
    ],
)
def test_settings_that_disagree_are_named(tmp_path, parts, changes, message):
    with pytest.raises(UserError, match=message):
        saelens(tmp_path, saelens_state(parts), **changes)


def test_two_weight_files_need_a_name(tmp_path, parts):
    for name in ("one.pt", "two.pt"):
        write(tmp_path, name, saelens_state(parts))
    with pytest.raises(UserError, match=r"several weight files \(one\.pt, two\.pt\)"):
        load_sae(tmp_path)
    assert load_sae(tmp_path / "one.pt", k=K).d_sae == D


def test_weights_are_not_copied(tmp_path, parts):
    """A large SAE must load in about its own size of memory."""
    config = saelens_config()
    path = write(
        tmp_path / "s", "sae_weights.safetensors", saelens_state(parts), config, "cfg.json"
    )
    sae = load_sae(path)
    for matrix in (sae.encoder, sae.decoder):
        base = matrix
        while getattr(base, "base", None) is not None and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)
