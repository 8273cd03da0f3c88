"""What asking a language model will take, before anything is asked."""

import math
from dataclasses import dataclass

from benchmark.judges.explanations import MAX_CHARACTERS
from benchmark.judges.prompts import Prompts, load_prompts
from benchmark.judges.protocol import JudgeProtocol

CHARACTERS_PER_TOKEN = 4
"""Rule of thumb for English; other languages take more tokens."""

CONTEXT_CHARACTERS = 400
"""Length taken for a token context."""

_MESSAGE_TOKENS = 8
_TILE = 512


@dataclass(frozen=True)
class Cost:
    """An estimate; the numbers of tokens are upper bounds as far as the rules of thumb hold.

    Attributes:
        calls: if every reply can be used and nothing is in the transcript yet.
        most_calls: if every question has to be asked twice.
        prompt_tokens: of ``calls``.
        completion_tokens: of ``calls``, if every reply is as long as allowed.
    """

    calls: int
    most_calls: int
    prompt_tokens: int
    completion_tokens: int

    def __str__(self) -> str:
        return (
            f"about {self.calls:,} calls (at most {self.most_calls:,}, if every question has to be "
            f"asked twice), {self.prompt_tokens:,} prompt tokens and at most "
            f"{self.completion_tokens:,} completion tokens"
        )


def picture_tokens(width: int, height: int) -> int:
    """Tokens of a picture by the rule of 512-pixel tiles.

    85, and 170 for each tile of the picture after it was scaled down to fit 2048 × 2048 and then
    to a shorter side of 768. Hosted models were priced so; local ones often take 256 to 1,600 for
    any picture.

    >>> picture_tokens(224, 224), picture_tokens(1024, 1024)
    (255, 765)
    """
    scale = min(1.0, 2048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    # rounded first: 767.9999 pixels of arithmetic are 768
    across, down = (math.ceil(round(side * scale, 6) / _TILE) for side in (width, height))
    return 85 + 170 * across * down


def estimate(
    n_latents: int,
    protocol: JudgeProtocol,
    kind: str = "image",
    prompts: Prompts | None = None,
    *,
    picture_size: tuple[int, int] = (512, 512),
    max_tokens: int = 1024,
) -> Cost:
    """Calls and tokens of a judgement.

    Args:
        n_latents: latents that will be judged.
        protocol: how many inputs explain and how many trials there are, and what is asked besides.
        kind: ``"image"`` or ``"text"``.
        prompts: the texts; by default those in use.
        picture_size: width and height of the pictures in pixels.
        max_tokens: longest reply.
    """
    prompts = prompts or load_prompts()
    shown = (
        picture_tokens(*picture_size)
        if kind == "image"
        else math.ceil(CONTEXT_CHARACTERS / CHARACTERS_PER_TOKEN)
    )
    one_each = {"detection": "detect", "amplitude": "rate"}
    # task → how often per latent, and how many examples each shows
    asked = {"explain": (1, protocol.explain), "rank": (protocol.trials, 3)}
    asked |= {one_each[name]: (3 * protocol.trials, 1) for name in protocol.also}
    calls = tokens = 0
    for task, (times, examples) in asked.items():
        characters = len(prompts.texts[f"{task}.{kind}"]) + MAX_CHARACTERS
        text = math.ceil(characters / CHARACTERS_PER_TOKEN) + _MESSAGE_TOKENS
        calls += times
        tokens += times * (text + examples * (shown + _MESSAGE_TOKENS))
    calls *= n_latents
    return Cost(calls, 2 * calls, n_latents * tokens, calls * max_tokens)
