"""From documents to contexts: what the model reads, and which of its tokens count."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmark.errors import UserError
from benchmark.text.corpus import Document

SPLITS = ("match", "score")


@dataclass(frozen=True, eq=False)
class Context:
    """One input of the model.

    Attributes:
        document: id of the document it is from.
        text: its part of the document.
        input_ids: int32 (L,), special tokens among them, no padding.
        places: int32 (T,), positions in ``input_ids`` of the tokens that count.
        spans: int32 (T, 2), where each of these stands in ``text``: first character, and the
            one after its last.
    """

    document: str
    text: str
    input_ids: np.ndarray
    places: np.ndarray
    spans: np.ndarray


def special_ids(tokenizer: Any) -> frozenset[int]:
    """Ids that stand for no text: BOS, CLS, SEP, PAD and their like.

    The unknown token stands for text, unless the tokenizer has it as one of the others too.
    """
    ids = set(tokenizer.all_special_ids)
    unknown = tokenizer.unk_token_id
    named = tokenizer.special_tokens_map.items()
    others = {text for role, text in named if role != "unk_token" and isinstance(text, str)}
    if unknown is not None and tokenizer.unk_token not in others:
        ids.discard(unknown)
    return frozenset(ids)


def ordered(documents: Iterable[Document], seed: int) -> list[Document]:
    """Documents in an order drawn from their names, so that any first part is a sample of all."""

    def drawn(document: Document) -> bytes:
        return hashlib.sha256(f"{seed}/{document.id}".encode()).digest()

    return sorted(documents, key=drawn)


def contexts_of(
    documents: Sequence[Document], tokenizer: Any, *, length: int, tokens: int | None
) -> list[Context]:
    """Contexts of the documents one after the other, until they hold ``tokens`` that count.

    Args:
        documents: in the order they are used.
        tokenizer: a fast tokenizer of transformers.
        length: tokens of an input, special tokens included.
        tokens: where to stop, exactly; None takes all.

    Raises:
        UserError: a tokenizer that does not say where its tokens stand, or a length with no room.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise UserError("the model's tokenizer does not say where tokens stand; it must be fast")
    room = length - tokenizer.num_special_tokens_to_add(pair=False)
    if room < 1:
        raise UserError(f"a context of {length} has no room beside the special tokens")
    special = special_ids(tokenizer)
    found: list[Context] = []
    left = tokens
    for document in documents:
        for context in _cut(document, tokenizer, length, special):
            if left is not None and len(context.places) >= left:
                found.append(
                    replace(context, places=context.places[:left], spans=context.spans[:left])
                )
                return found
            found.append(context)
            left = None if left is None else left - len(context.places)
    return found


def _cut(
    document: Document, tokenizer: Any, length: int, special: frozenset[int]
) -> Iterable[Context]:
    pieces = tokenizer(
        [document.text],
        add_special_tokens=True,
        truncation=True,
        max_length=length,
        padding=False,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
        return_attention_mask=True,
    )
    for number, ids in enumerate(pieces["input_ids"]):
        offsets = np.array(pieces["offset_mapping"][number], np.int32).reshape(-1, 2)
        counts = np.array(
            [
                there and not marked and token not in special
                for token, marked, there in zip(
                    ids,
                    pieces["special_tokens_mask"][number],
                    pieces["attention_mask"][number],
                    strict=True,
                )
            ],
            bool,
        )
        places = np.flatnonzero(counts).astype(np.int32)
        if places.size == 0:
            continue
        start, stop = int(offsets[places, 0].min()), int(offsets[places, 1].max())
        yield Context(
            document.id,
            document.text[start:stop],
            np.array(ids, np.int32),
            places,
            offsets[places] - np.int32(start),
        )


def split_documents(contexts: Sequence[Context], match_share: float) -> dict[str, str]:
    """Split of every document: each goes where more tokens are missing, so whole ones only.

    Raises:
        UserError: fewer than two documents, or a share that is not between 0 and 1.
    """
    if not 0 < match_share < 1:
        raise UserError(f"match share is {match_share}; expected a number between 0 and 1")
    sizes: dict[str, int] = {}
    for context in contexts:
        sizes[context.document] = sizes.get(context.document, 0) + len(context.places)
    if len(sizes) < 2:
        found = "the tokens are from 1 document" if sizes else "the corpus gives no tokens"
        raise UserError(
            f"{found}; expected at least 2 documents, as each stands in one split: take more "
            "tokens or another corpus"
        )
    total = sum(sizes.values())
    missing = {"match": match_share * total, "score": (1 - match_share) * total}
    splits: dict[str, str] = {}
    # the largest first: what is still missing can then be met closely
    for document in sorted(sizes, key=lambda name: (-sizes[name], name)):
        split = max(SPLITS, key=lambda one: missing[one])
        splits[document] = split
        missing[split] -= sizes[document]
    for split in SPLITS:
        if split not in splits.values():
            splits[min(splits, key=lambda name: (sizes[name], name))] = split
    return splits
