"""Definitions of the sanity check and of the metrics that only it shows."""

from leaderboard.definitions.kinds import CA, CKNNA, FMS, MS, UP, Definition

SANITY = (
    Definition(
        "sanity-check",
        "Sanity check",
        "Does a metric tell trained SAEs from untrained twins and from random codes?",
        "Trained should be highest",
        "passed or not",
        CA,
        (
            "Every metric is measured on trained SAEs, on an untrained twin of each and on its "
            "random codes, and averaged over configurations (architecture and dictionary size) "
            "inside each resample. A metric passes if the mean of the trained SAEs lies above "
            "both others, with 95 % intervals apart.",
            "A metric that fails does not see what training did, or sees it less well than it "
            "sees chance; a high value of it says little about an SAE.",
        ),
    ),
    Definition(
        "one-to-one",
        "MATCHScore, one-to-one",
        "Held-out MATCHScore with one latent per concept.",
        UP,
        "0 to 1",
        CA,
        ("The coalition is the single latent of best F₁ on the match split.",),
    ),
    Definition(
        "fms",
        "FMS",
        "Feature monosemanticity score: does one latent hold a concept, and alone?",
        UP,
        "0 to 1",
        FMS,
        (
            "For each concept, as many images with it as without, chosen by seed, in two halves; "
            "decision trees on the codes are fitted on one half and scored on the other. acc m is "
            "the accuracy of a tree of depth m, acc₋ that of a depth-3 tree grown after the first "
            "tree's root latent was set to 0. Mean over the concepts with at least 5 images of "
            "each kind in each half.",
            "Interval: percentiles of half-size subsamples of the images, drawn without "
            "replacement and moved to have the score as their mean.",
        ),
        (
            "local = 2·(acc 3 − acc₋), global = 1 − mean over m = 2…5 of (acc m − acc 1), "
            "each cut to [0, 1]",
            "FMS = acc 1 · (local + global) / 2",
        ),
    ),
    Definition(
        "ms",
        "MS",
        "Monosemanticity score: how alike are the images a latent fires on?",
        UP,
        "−1 to 1",
        MS,
        (
            "Per latent, the mean cosine of the embeddings of two images, weighted by the product "
            "of the latent's activations a on them, which are scaled to [0, 1] by their minimum "
            "and maximum. Mean over latents; one that is constant, or above its minimum on one "
            "image only, is not applicable. The features are those the SAE reads.",
            "Interval over images; a copy of an image in a resample makes no pair with it.",
        ),
        ("MS = Σ a_i·a_j·cos(x_i, x_j) / Σ a_i·a_j over pairs i < j",),
    ),
    Definition(
        "cknna",
        "CKNNA",
        "Do codes and features agree on which images are near each other?",
        UP,
        "about 0 to 1",
        CKNNA,
        (
            "Centred kernel nearest-neighbour alignment: K and L are the inner products of "
            "features and of codes, kept where two images are among each other's 10 nearest in "
            "both; on at most 5,000 images.",
            "Interval as for FMS: in a bootstrap, copies would be each other's neighbours.",
        ),
        ("CKNNA = HSIC(K, L) / √(HSIC(K, K)·HSIC(L, L)), with the unbiased HSIC",),
    ),
)
