"""Tiny FLUX.2 pipelines with random weights and their own text encoders, saved to folders."""

from pathlib import Path
from typing import Any

KLEIN_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
DEV_TEMPLATE = (
    "{% for m in messages %}{{ '[INST]' if m['role'] == 'user' else '[SYSTEM_PROMPT]' }}"
    "{% for part in m['content'] %}{{ part['text'] }}{% endfor %}{% endfor %}"
)
WIDTH = 8


def _byte_tokenizer(special: tuple[str, ...]) -> Any:
    """Every byte is a token, so that any two prompts differ."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = (*alphabet, *special)
    vocabulary = {token: number for number, token in enumerate(tokens)}
    backend = Tokenizer(models.BPE(vocabulary, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    return backend


def _text_settings(layers: int) -> dict[str, Any]:
    return {
        "vocab_size": 300,
        "hidden_size": WIDTH,
        "intermediate_size": WIDTH,
        "num_hidden_layers": layers,
        "num_attention_heads": 1,
        "num_key_value_heads": 1,
        "head_dim": WIDTH,
        "max_position_embeddings": 2048,
        "initializer_range": 0.5,
    }


def _parts(*, guided: bool) -> dict[str, Any]:
    import torch
    from diffusers import (
        AutoencoderKLFlux2,
        FlowMatchEulerDiscreteScheduler,
        Flux2Transformer2DModel,
    )

    torch.manual_seed(0)
    transformer = Flux2Transformer2DModel(
        in_channels=16,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=8,
        num_attention_heads=2,
        joint_attention_dim=3 * WIDTH,
        timestep_guidance_channels=16,
        axes_dims_rope=(2, 2, 2, 2),
        guidance_embeds=guided,
    )
    vae = AutoencoderKLFlux2(
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        block_out_channels=(8, 8),
        layers_per_block=1,
        latent_channels=4,
        norm_num_groups=4,
        sample_size=64,
    )
    for module in (transformer, vae):  # contrast: at their usual size such nets give plain grey
        with torch.no_grad():
            for weight in module.parameters():
                if weight.ndim > 1:
                    weight.mul_(1.5)
    return {
        "transformer": transformer,
        "vae": vae,
        "scheduler": FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True),
    }


def write_klein(folder: Path, *, distilled: bool = True, text_encoder: bool = True) -> Path:
    """A Flux2KleinPipeline; without its text encoder where that is asked for."""
    import torch
    from diffusers import Flux2KleinPipeline
    from transformers import Qwen2TokenizerFast, Qwen3Config, Qwen3ForCausalLM

    parts = _parts(guided=False)
    tokenizer = encoder = None
    if text_encoder:
        torch.manual_seed(1)
        encoder = Qwen3ForCausalLM(Qwen3Config(**_text_settings(28)))
        special = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
        backend = _byte_tokenizer(special)
        tokenizer = Qwen2TokenizerFast(
            tokenizer_object=backend,
            vocab=backend.get_vocab(),
            merges=[],
            pad_token="<|endoftext|>",
            eos_token="<|im_end|>",
            unk_token=None,
            additional_special_tokens=["<|im_start|>"],
        )
        tokenizer.chat_template = KLEIN_TEMPLATE
    pipeline = Flux2KleinPipeline(
        text_encoder=encoder, tokenizer=tokenizer, is_distilled=distilled, **parts
    )
    pipeline.save_pretrained(folder)
    return folder


def write_dev(folder: Path) -> Path:
    """A Flux2Pipeline with guidance embedded and a Mistral3 that reads the prompt."""
    import torch
    from diffusers import Flux2Pipeline
    from transformers import (
        Mistral3Config,
        Mistral3ForConditionalGeneration,
        MistralConfig,
        PixtralImageProcessor,
        PixtralProcessor,
        PixtralVisionConfig,
        PreTrainedTokenizerFast,
    )

    parts = _parts(guided=True)
    torch.manual_seed(1)
    vision = PixtralVisionConfig(
        hidden_size=WIDTH,
        intermediate_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=1,
        image_size=32,
        patch_size=16,
    )
    encoder = Mistral3ForConditionalGeneration(
        Mistral3Config(
            text_config=MistralConfig(**_text_settings(31)),
            vision_config=vision,
            image_token_index=299,
        )
    )
    special = ("<pad>", "<s>", "</s>", "[IMG]", "[IMG_BREAK]", "[IMG_END]")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=_byte_tokenizer(special),
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        additional_special_tokens=["[IMG]", "[IMG_BREAK]", "[IMG_END]"],
    )
    processor = PixtralProcessor(
        PixtralImageProcessor(), tokenizer, patch_size=16, chat_template=DEV_TEMPLATE
    )
    Flux2Pipeline(text_encoder=encoder, tokenizer=processor, **parts).save_pretrained(folder)
    return folder
