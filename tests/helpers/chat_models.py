"""Tiny chat models with random weights, in folders as transformers writes them."""

from pathlib import Path
from typing import Any

TEMPLATE = (
    "{% for m in messages %}<|im_start|> {{ m['role'] }} "
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for part in m['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %} "
    "{% endfor %}{% endif %} <|im_end|> {% endfor %}"
    "{% if add_generation_prompt %}<|im_start|> assistant {% endif %}"
)
WORDS = ("1", "2", "3", "1,", "2,", "3,", "Yes", "No", "5", "round", "hats", "user", "assistant")
SPECIAL = ("<|im_end|>", "<pad>", "<|im_start|>", "<image>")
NAMES = ("<unk>", *WORDS, *SPECIAL)
"""Every token at its id; the special ones are not words, so that no text can have them."""
END, PAD, START, IMAGE = (NAMES.index(name) for name in SPECIAL)


def tokenizer() -> Any:
    """Known words and one token for all others; ``<|im_end|>`` ends a reply."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate(("<unk>", *WORDS))}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="<pad>",
        unk_token="<unk>",
        eos_token="<|im_end|>",
        additional_special_tokens=["<|im_start|>", "<image>"],
    )
    made.chat_template = TEMPLATE
    assert made.convert_tokens_to_ids(list(NAMES)) == list(range(len(NAMES)))
    return made


def _text_settings(positions: int) -> dict[str, Any]:
    return {
        "vocab_size": len(NAMES),
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "max_position_embeddings": positions,
        "pad_token_id": PAD,
        "bos_token_id": None,
        "eos_token_id": END,
        "initializer_range": 0.5,
    }


def write_text_model(folder: Path, *, positions: int = 4096) -> Path:
    """A Llama that reads texts."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    LlamaForCausalLM(LlamaConfig(**_text_settings(positions))).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def write_vision_model(folder: Path) -> Path:
    """A LLaVA: pictures of 8 pixels in four patches, before a Llama."""
    import torch
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    torch.manual_seed(0)
    vision = CLIPVisionConfig(
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=8,
        patch_size=4,
        projection_dim=16,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=LlamaConfig(**_text_settings(4096)),
        image_token_index=IMAGE,
    )
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    size = {"height": 8, "width": 8}
    pictures = CLIPImageProcessor(size=size, crop_size=size, do_center_crop=False)
    LlavaProcessor(
        pictures,
        tokenizer(),
        patch_size=4,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE,
    ).save_pretrained(folder)
    return folder
