"""Tiny random models in the folders that each library writes, and pictures of awkward sizes."""

import json
import shutil
from copy import deepcopy

import numpy as np
from PIL import Image

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CLIP = {
    "embed_dim": 12,
    "quick_gelu": True,
    "vision_cfg": {"image_size": 32, "layers": 3, "width": 16, "head_width": 8, "patch_size": 8},
    "text_cfg": {"context_length": 8, "vocab_size": 20, "width": 16, "heads": 2, "layers": 1},
}


def pictures():
    """RGB pictures: smaller and larger than the input, wide, tall, odd surplus, exact."""
    rng = np.random.default_rng(0)
    sizes = [(48, 40), (90, 37), (33, 121), (20, 25), (32, 32), (640, 427), (45, 40)]
    result = []
    for width, height in sizes:
        pixels = rng.integers(0, 256, (height // 4 + 1, width // 4 + 1, 3), dtype=np.uint8)
        small = Image.fromarray(pixels)
        result.append(small.resize((width, height), Image.Resampling.BICUBIC))
    return result


def random_weights(model):
    """Weights large enough that every part of a network shows in its output."""
    import torch

    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.3 * torch.randn(parameter.shape, generator=generator))
    return model.eval()


def clip_folder(folder, config=CLIP):
    """An open_clip folder; gives the library's own model too."""
    import open_clip
    from safetensors.torch import save_file

    folder.mkdir(parents=True)
    settings = dict(config)
    maker = open_clip.CustomTextCLIP if settings.pop("custom_text", False) else open_clip.CLIP
    model = random_weights(maker(**deepcopy(settings)))
    save_file(dict(model.state_dict()), folder / "open_clip_model.safetensors")
    document = {"model_cfg": config, "preprocess_cfg": {"mean": [0.48, 0.46, 0.41]}}
    (folder / "open_clip_config.json").write_text(json.dumps(document))
    return model


def _transformers_folder(folder, model, processor):
    random_weights(model).save_pretrained(folder)
    processor.save_pretrained(folder)
    return model


def dinov2_folder(folder):
    from transformers import BitImageProcessor, Dinov2Config, Dinov2Model

    config = Dinov2Config(
        hidden_size=16, num_hidden_layers=3, num_attention_heads=2, image_size=56, patch_size=14
    )
    mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    processor = BitImageProcessor(
        size={"shortest_edge": 33}, crop_size=28, image_mean=mean, image_std=std
    )
    return _transformers_folder(folder, Dinov2Model(config), processor)


def siglip_folder(folder):
    from transformers import SiglipConfig, SiglipImageProcessor, SiglipModel

    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2}
    config = SiglipConfig(
        vision_config={**sizes, "num_hidden_layers": 3, "image_size": 32, "patch_size": 8},
        text_config={
            **sizes,
            "num_hidden_layers": 1,
            "vocab_size": 8,
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
    )
    processor = SiglipImageProcessor(size={"height": 32, "width": 32}, resample=2)
    return _transformers_folder(folder, SiglipModel(config), processor)


def hf_clip_folder(folder):
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel

    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2}
    config = CLIPConfig(
        vision_config={
            **sizes,
            "num_hidden_layers": 3,
            "image_size": 32,
            "patch_size": 8,
            "projection_dim": 12,
        },
        text_config={
            **sizes,
            "num_hidden_layers": 1,
            "vocab_size": 8,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "pad_token_id": 0,
        },
        projection_dim=12,
    )
    processor = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=32)
    return _transformers_folder(folder, CLIPModel(config), processor)


def registers_folder(folder):
    from transformers import BitImageProcessor, Dinov2WithRegistersConfig, Dinov2WithRegistersModel

    config = Dinov2WithRegistersConfig(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=28,
        patch_size=14,
        num_register_tokens=3,
    )
    processor = BitImageProcessor(size={"shortest_edge": 28}, crop_size=28)
    return _transformers_folder(folder, Dinov2WithRegistersModel(config), processor)


def vit_folder(folder):
    from transformers import ViTConfig, ViTImageProcessor, ViTModel

    config = ViTConfig(
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=32,
        patch_size=8,
    )
    processor = ViTImageProcessor(size={"height": 32, "width": 32})
    return _transformers_folder(folder, ViTModel(config), processor)


def timm_folder(folder, architecture="test_vit", **changes):
    import timm
    from timm.models import save_for_hf

    model = random_weights(timm.create_model(architecture, pretrained=False))
    model.pretrained_cfg = {**model.pretrained_cfg, **changes}
    save_for_hf(model, str(folder), safe_serialization="both")
    (folder / "pytorch_model.bin").unlink(missing_ok=True)
    return model


def cached(hub, repo, folder, commit=COMMIT):
    """Put a model's folder where the Hub's client keeps what it has downloaded."""
    place = hub / f"models--{repo.replace('/', '--')}"
    shutil.copytree(folder, place / "snapshots" / commit)
    (place / "refs").mkdir(exist_ok=True)
    (place / "refs" / "main").write_text(commit)
    return place / "snapshots" / commit
