"""What a language model is asked, word for word, in numbered versions that never change."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from benchmark.errors import UserError
from benchmark.judges.base import RATING, Example
from benchmark.judges.explanations import MAX_WORDS

VERSION = 1
"""Version in use; a changed text is a new folder ``prompt_texts/vN`` and a new number here."""

TASKS = ("explain", "rank", "detect", "rate")
KINDS = ("image", "text")

NAMES = tuple(f"{task}.{part}" for task in TASKS for part in (*KINDS, "again"))
"""The texts of a version: each question for each kind of input, and asking it once more."""

Message = dict[str, Any]
"""``{"role": "user" or "assistant", "content": [part, …]}``. A part is ``{"type": "text",
"text": …}`` or ``{"type": "image", "sha256": …, "picture": callable giving the bytes}``."""

_FIELD = re.compile(r"\{([a-z_]+)\}")
_TURN_MARK = re.compile(
    r"<(?=\||/?s>|/?think\w*>|(?:start|end)_of_\w+>|(?:bos|eos|pad|unk|mask|img|image\w*)>)"
    r"|\[(?=/?INST\])"
)
_EXAMPLES = "{examples}"
_LONGEST_ECHO = 2000


@dataclass(frozen=True)
class Prompts:
    """The texts of one version.

    Attributes:
        version: its number.
        texts: name, as in ``NAMES`` → text with fields such as ``{explanation}``.
    """

    version: int
    texts: Mapping[str, str] = field(repr=False)

    @property
    def sha256(self) -> str:
        """Hex SHA-256 over all texts and their names."""
        text = json.dumps(dict(self.texts), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def question(
        self, task: str, examples: Sequence[Example], explanation: str | None = None
    ) -> list[Message]:
        """The conversation that asks a question: one message of the user.

        No activation stands in it. The explanation and the contexts, which come from outside, are
        put in as JSON strings, and nothing in them is taken for a field of the text.

        Args:
            task: ``explain``, ``rank``, ``detect`` or ``rate``.
            examples: what is shown, in this order; all pictures or all texts.
            explanation: what the examples are compared with.
        """
        kind = "image" if examples[0].picture is not None else "text"
        before, _, after = self.texts[f"{task}.{kind}"].partition(_EXAMPLES)
        values = {**_fields(len(examples)), "explanation": json_string(explanation or "")}
        parts = [_text(_filled(before, values))]
        for number, example in enumerate(examples, 1):
            label = "" if len(examples) == 1 else f"Example {number}:"
            parts += _shown(label, example)
        return [{"role": "user", "content": [*parts, _text(_filled(after, values))]}]

    def again(
        self, task: str, asked: Sequence[Message], reply: str, count: int, problem: str = ""
    ) -> list[Message]:
        """The conversation ``asked``, the reply to it, and the question once more.

        Args:
            task: as in ``question``.
            asked: the conversation so far.
            reply: the answer that could not be used, without a model's thoughts.
            count: number of examples shown.
            problem: what is wrong with an explanation.
        """
        values = {**_fields(count), "problem": problem}
        # servers refuse a message without text
        answer = reply[:_LONGEST_ECHO].strip() or "(no answer)"
        return [
            *asked,
            {"role": "assistant", "content": [_text(answer)]},
            {"role": "user", "content": [_text(_filled(self.texts[f"{task}.again"], values))]},
        ]


def json_string(text: str) -> str:
    """Text from outside in quotation marks, on one line.

    The marks by which chat templates tell turns apart lose their first character to its JSON
    escape, so that a text cannot speak as somebody else.

    >>> json_string('say "hi" <|im_end|>')
    '"say \\\\"hi\\\\" \\\\u003c|im_end|>"'
    """
    # a lone surrogate can be in a Python string but in no request
    quoted = json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False)
    return _TURN_MARK.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _fields(count: int) -> dict[str, str]:
    low, high = RATING
    sample = ", ".join(str(number) for number in [*range(2, count + 1), 1])
    return {
        "count": str(count),
        "max_words": str(MAX_WORDS),
        "sample": sample,
        "low": str(low),
        "high": str(high),
    }


def _filled(text: str, values: Mapping[str, str]) -> str:
    # one pass: what is put in is not looked at again
    return _FIELD.sub(lambda match: values[match[1]], text).strip()


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _shown(label: str, example: Example) -> list[dict[str, Any]]:
    if example.picture is None:
        if example.text is None:
            raise ValueError(f"example {example.id} has neither a picture nor a text")
        return [_text(f"{label} {json_string(example.text)}".strip())]
    sha256 = hashlib.sha256(example.picture()).hexdigest()
    picture = {"type": "image", "sha256": sha256, "picture": example.picture}
    return [_text(label), picture] if label else [picture]


@cache
def load_prompts(version: int = VERSION) -> Prompts:
    """The texts of a version.

    Raises:
        UserError: there is no such version.
    """
    folder = resources.files("benchmark.judges") / "prompt_texts" / f"v{version}"
    if not folder.is_dir():
        raise UserError(f"no prompts of version {version}; the newest is {VERSION}")
    texts = {name: (folder / f"{name}.txt").read_text(encoding="utf-8") for name in NAMES}
    return Prompts(version, texts)
