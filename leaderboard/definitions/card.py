"""Definitions of the AIU report card, and of what it says over many SAEs."""

from leaderboard.definitions.kinds import AIU, DOWN, NEITHER, UP, Definition

CARD = (
    Definition(
        "same-quartile-pairs",
        "Same-quartile pairs",
        "Redundant pairs whose two latents lie in one dominance quartile, and Q1's share of them.",
        NEITHER,
        "shares from 0 to 1",
        AIU,
        (
            "Redundant pairs are counted exactly, whatever their number. The share of a quartile "
            "is its number of same-quartile pairs over that of all four; with pairs spread evenly "
            "each would hold a quarter.",
        ),
    ),
    Definition(
        "sharding",
        "Sharding",
        "Redundant pairs that read different directions and fire on different inputs.",
        DOWN,
        "0 upwards",
        AIU,
        (
            "One feature, written by two latents that each detect it in another context. A "
            "redundant pair is sharded if the cosine of its encoder rows is below 0.3 and the "
            "Jaccard overlap of its activity below 0.1; the card lists the pairs with all three "
            "numbers. The paper's example: decoder .7405, encoder .2066, Jaccard .019.",
        ),
        ("Jaccard = inputs where both are active / inputs where either is",),
    ),
    Definition(
        "completeness",
        "Concepts found",
        "Fraction of applicable concepts whose coalition reaches an F₁ of 0.5 on held-out images.",
        UP,
        "0 to 1",
        AIU,
        (
            "C2 of the report card, beside explained variance. Its interval resamples images; "
            "concepts close to the threshold make it wide.",
        ),
    ),
    Definition(
        "sparse-inputs",
        "Inputs with L0 ≤ 64",
        "Fraction of inputs on which at most 64 latents are active.",
        UP,
        "0 to 1",
        AIU,
        ("C5 of the report card, beside mean L0. The limit is in the record's protocol.",),
    ),
    Definition(
        "angles",
        "Angle to the mean activation",
        "Mean angle between a latent's row and the mean activation, in degrees.",
        NEITHER,
        "0 to 180",
        AIU,
        (
            "Rows of the encoder and of the decoder of alive latents against the mean of the "
            "scored inputs, in the space that the encoder reads: after the SAE's own input "
            "normalisation, before any bias. In the paper, encoder rows stand near 90°. Zero rows "
            "have no angle and are counted.",
        ),
    ),
    Definition(
        "q1-redundancy",
        "Redundancy of Q1",
        "Q1's share of same-quartile pairs against the mean of the other quartiles, over SAEs.",
        NEITHER,
        "p from 0 to 1",
        AIU,
        (
            "For the SAEs of one architecture on one board: the mean share of each quartile, "
            "the two-sided Wilcoxon signed-rank p of Q1 against the mean of Q2 to Q4, and Cohen's "
            "d of the paired differences (their mean over their standard deviation). SAEs without "
            "a same-quartile pair have no shares and are counted; a p-value needs six SAEs.",
        ),
    ),
    Definition(
        "sparsity-trap",
        "Sparsity trap",
        "Spearman correlation over SAEs of mean L0 with concentration.",
        NEITHER,
        "−1 to 1",
        AIU,
        (
            "Concentration is the median share of activation that the ten most frequent latents "
            "hold. Below 0: the sparser SAEs concentrate their activity more. Its interval "
            "resamples SAEs.",
        ),
    ),
)
