"""From token embeddings to RA-CLIPScore: three steps on the tensors of one batch, §5.1."""

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from benchmark.errors import UserError
from benchmark.generative.dense.base import Tokens


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


@dataclass(frozen=True)
class Scored:
    """Scores of one batch.

    Attributes:
        image: RA-CLIPScore (B, A).
        refined: ``r̃`` of the patches (B, P, A).
        unrefined: ``r̂`` of the patches (B, P, A).
        clip: cosine of the class token with the claiming prompt (B, A).
    """

    image: Tensor
    refined: Tensor
    unrefined: Tensor
    clip: Tensor


@torch.inference_mode()
def score_tokens(
    tokens: Tokens, claiming: Tensor, denying: Tensor, logit_scale: float, options: Options
) -> Scored:
    """RA-CLIPScore of a batch.

    Args:
        tokens: of ``DenseClip.dense``.
        claiming, denying: unit embeddings (A, D) of the two prompts of each attribute.
        logit_scale: ``s`` of the two-way softmax, and ``s'`` unless ``options`` gives one.
        options: choices and ablations.
    """
    whole = torch.cat([tokens.cls[:, None], tokens.patches], dim=1)
    cosine = whole @ claiming.T
    if options.dual_prompts:
        # a softmax over two logits is the logistic function of their difference
        score = torch.sigmoid(logit_scale * (cosine - whole @ denying.T))
    else:
        score = cosine
    unrefined = score[:, 1:]
    refined = tokens.attention @ unrefined
    spatial = logit_scale if options.spatial_scale is None else options.spatial_scale
    first, last = int(not options.global_token), None if options.local_tokens else 1
    combined = torch.cat([score[:, :1], refined], dim=1)[:, first:last]
    weight = (spatial * cosine[:, first:last]).softmax(dim=1)
    return Scored((weight * combined).sum(dim=1), refined, unrefined, cosine[:, 0])
