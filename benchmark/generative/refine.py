"""From token embeddings to RA-CLIPScore: three steps on the tensors of one batch, §5.1."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor

from benchmark.errors import UserError
from benchmark.generative.dense.base import Tokens
from benchmark.generative.ra_clip import ABLATIONS


@dataclass(frozen=True)
class Options:
    """Choices behind a score; the defaults are RA-CLIPScore, the others its ablations.

    Attributes:
        dual_prompts: compare with the prompt that denies the attribute. Without it a token's score
            is its cosine with the prompt that claims it, in [−1, 1] **[choice]**.
        local_tokens: patches take part. Without them the score is that of the class token.
        global_token: the class token takes part. Without it only patches are weighed.
        renormalize: attention rows sum to 1 after the class column is dropped **[choice]**.
        spatial_scale: factor of the cosine in the weights of the tokens; None is the model's
            logit scale **[choice]**.
    """

    dual_prompts: bool = True
    local_tokens: bool = True
    global_token: bool = True
    renormalize: bool = True
    spatial_scale: float | None = None

    def __post_init__(self) -> None:
        if not (self.local_tokens or self.global_token):
            raise UserError("local_tokens and global_token are both off; a score needs one of them")

    def as_dict(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return asdict(self)

    @property
    def whole(self) -> bool:
        """Whether no part is left out."""
        return all(getattr(self, part) for part in ABLATIONS)


@dataclass(frozen=True)
class Scored:
    """Scores of one batch.

    Attributes:
        image: RA-CLIPScore (B, A).
        refined: ``r̃`` of the patches (B, P, A).
        unrefined: ``r̂`` of the patches (B, P, A).
        clip: cosine of the class token with the claiming prompt (B, A).
        ablated: scores without each of ``ABLATIONS``, (B, 3, A); None where not asked for.
    """

    image: Tensor
    refined: Tensor
    unrefined: Tensor
    clip: Tensor
    ablated: Tensor | None = None


@torch.inference_mode()
def score_tokens(
    tokens: Tokens,
    claiming: Tensor,
    denying: Tensor,
    logit_scale: float,
    options: Options,
    *,
    ablations: bool = False,
) -> Scored:
    """RA-CLIPScore of a batch.

    Args:
        tokens: of ``DenseClip.dense``.
        claiming, denying: unit embeddings (A, D) of the two prompts of each attribute.
        logit_scale: ``s`` of the two-way softmax, and ``s'`` unless ``options`` gives one.
        options: choices and ablations.
        ablations: also give the scores without each part; ``options`` must be whole.
    """
    whole = torch.cat([tokens.cls[:, None], tokens.patches], dim=1)
    cosine = whole @ claiming.T
    # a softmax over two logits is the logistic function of their difference
    dual = torch.sigmoid(logit_scale * (cosine - whole @ denying.T))
    score = dual if options.dual_prompts else cosine
    refined = tokens.attention @ score[:, 1:]
    spatial = logit_scale if options.spatial_scale is None else options.spatial_scale
    image = _combined(score, refined, cosine, spatial, options)
    ablated = None
    if ablations:
        bare = cosine, tokens.attention @ cosine[:, 1:]
        parts = [
            _combined(
                *(bare if part == "dual_prompts" else (score, refined)),
                cosine,
                spatial,
                replace(options, **{part: False}),
            )
            for part in ABLATIONS
        ]
        ablated = torch.stack(parts, dim=1)
    return Scored(image, refined, score[:, 1:], cosine[:, 0], ablated)


def _combined(
    score: Tensor, refined: Tensor, cosine: Tensor, spatial: float, options: Options
) -> Tensor:
    """Weighted mean over the tokens that take part, (B, A)."""
    first, last = int(not options.global_token), None if options.local_tokens else 1
    combined = torch.cat([score[:, :1], refined], dim=1)[:, first:last]
    weight = (spatial * cosine[:, first:last]).softmax(dim=1)
    return (weight * combined).sum(dim=1)
