"""A tiny causal language model with its tokenizer, in a folder as transformers writes one."""

from pathlib import Path
from typing import Any

import numpy as np

WORDS = tuple(f"w{number}" for number in range(40))
PAD, BOS, UNK = 0, 1, 2
FIRST_WORD = 3
WIDTH = 16


def write_model(folder: Path, *, loud: float = 1.0, positions: int = 64, layers: int = 2) -> Path:
    """A Llama with random weights; embeddings of PAD and BOS are multiplied by ``loud``.

    Its tokenizer begins every text with BOS and is set to pad on the left.
    """
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    vocabulary = {"<pad>": PAD, "<s>": BOS, "<unk>": UNK}
    vocabulary |= {word: FIRST_WORD + number for number, word in enumerate(WORDS)}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", BOS)]
    )
    backend.enable_padding(direction="left", pad_id=PAD, pad_token="<pad>")
    PreTrainedTokenizerFast(
        tokenizer_object=backend,
        padding_side="left",
        pad_token="<pad>",
        bos_token="<s>",
        unk_token="<unk>",
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=WIDTH,
        intermediate_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=positions,
        pad_token_id=PAD,
        bos_token_id=BOS,
        tie_word_embeddings=False,
        initializer_range=0.5,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        rows = model.model.embed_tokens.weight
        rows.copy_(torch.randn(rows.shape, generator=torch.Generator().manual_seed(1)))
        rows[[PAD, BOS]] *= loud
    model.save_pretrained(folder)
    return folder


def write_corpus(path: Path, *, documents: int = 12, seed: int = 0) -> Path:
    """Documents of 5 to 60 known words with blank lines between them, no two alike."""
    draw = np.random.default_rng(seed)
    texts = [
        " ".join(draw.choice(WORDS, size=draw.integers(5, 60)).tolist()) for _ in range(documents)
    ]
    path.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    return path


def ids_of(text: str) -> list[int]:
    """Ids of known words, worked out without a tokenizer."""
    return [FIRST_WORD + WORDS.index(word) for word in text.split()]


def network_of(folder: Path) -> Any:
    """The model of a folder, through the library alone."""
    from transformers import LlamaForCausalLM

    return LlamaForCausalLM.from_pretrained(folder, local_files_only=True).eval()
