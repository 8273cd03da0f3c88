"""Texts to word ids: the vocabulary is small and closed, and an unknown word is an error."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmark.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

_WORD = re.compile(r"[a-z0-9]+")


class Words:
    """A closed vocabulary; ids from 1 in its order, 0 pads.

    Args:
        vocabulary: words in lower case.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = tuple(vocabulary)
        self._ids = {word: index for index, word in enumerate(self.vocabulary, start=1)}

    def __call__(self, texts: Sequence[str], context_length: int) -> "Tensor":
        """Ids int64 (len(texts), context_length); what is longer is cut.

        Raises:
            UserError: a text with a word that is not in the vocabulary, or without words.
        """
        import torch

        result = torch.zeros(len(texts), context_length, dtype=torch.int64)
        for row, text in enumerate(texts):
            found = words_of(text)
            unknown = [word for word in found if word not in self._ids]
            if unknown or not found:
                what = f"the word {unknown[0]!r}" if unknown else "a text without words"
                raise UserError(
                    f"assay-tiny-clip does not know {what} in {text!r}; it knows only "
                    f"{', '.join(self.vocabulary)}"
                )
            ids = [self._ids[word] for word in found][:context_length]
            result[row, : len(ids)] = torch.tensor(ids)
        return result


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.lower())
