"""Definitions of everything that stands beside the scores: baselines, parts, reading aids."""

from leaderboard.definitions.kinds import AIU, CA, DOWN, NEITHER, UP, Definition

BASELINES = (
    Definition(
        "untrained-twin",
        "Untrained twin",
        "The same architecture with freshly drawn weights, as sparse on the match split.",
        "The line to beat",
        "as the score",
        CA,
        (
            "Same architecture, dictionary size, input normalisation and encode path. Encoder rows "
            "are uniform on the unit sphere, decoder rows equal them, and the mean of the "
            "normalised match features is taken off before encoding. Where a threshold decides "
            "activity, the twin gets one global threshold that brings its mean L0 on the match "
            "split closest to the trained SAE's; TopK keeps its k. On the scored images L0 can "
            "differ, by a tenth and more: an SAE's page shows both. Mean over the recorded seeds.",
        ),
    ),
    Definition(
        "random-codes",
        "Random codes",
        "Each latent keeps its firing rate but fires on random images.",
        "A floor",
        "as the score",
        CA,
        ("The SAE's own codes with each latent's rows permuted independently.",),
    ),
    Definition(
        "prevalence-bound",
        "Always yes",
        "Mean F₁ of answering yes for every image.",
        "A floor",
        "0 to 1",
        CA,
        ("What a constant answer earns for a concept held by the fraction p of images.",),
        ("2p / (1 + p)",),
    ),
    Definition(
        "linear-probe",
        "Linear probe",
        "Mean F₁ of a logistic regression on the encoder's features.",
        "What the features hold",
        "0 to 1",
        CA,
        (
            "One L2-regularised logistic regression per concept, fitted on the match split to "
            "features standardised there, answering yes above the threshold of best F₁ there, and "
            "scored on the score split.",
        ),
    ),
)

READING = (
    Definition(
        "interval",
        "Interval",
        "95 % percentile bootstrap interval.",
        "Narrower is surer",
        "as the score",
        None,
        (
            "Seeded resamples over images for MATCHScore and over pairs, separately per kind of "
            "pair, for TAPAScore. A concept left without positives in a resample is left out of "
            "that resample. Intervals do not cover training seeds: each seed is an entry of its "
            "own and is drawn as a point.",
            "A score has the same decimals everywhere, and more only where it would show as 0; the "
            "record holds it in full. Divergences of generators have a spread instead.",
        ),
    ),
    Definition(
        "rank",
        "Rank",
        "Place by ΔMATCHScore; beneath it the best and worst place the intervals allow.",
        "Lower is better",
        "1 to the number of ranked SAEs",
        None,
        (
            "An entry's best place counts the entries whose whole interval lies above its own; its "
            "worst place also counts all whose interval overlaps its own. Exact ties share a "
            "place. An entry without ΔMATCHScore has no rank and stands last.",
            "Generators are ranked by mean SaD, smallest first, with a range in place of the "
            "interval: the resampling spread, widened to hold the value, and from 0 inside the "
            "permutation null, where a set cannot be told from the real one. Sets of different "
            "size have different nulls. Where more than 1 % of the images are of the real set, "
            "there is no rank.",
        ),
    ),
    Definition(
        "coalition",
        "Coalition",
        "The few latents that together stand for one concept.",
        NEITHER,
        "0 to k latents",
        CA,
        (
            "Fully binary matching pursuit (fbmp): take the latent with the highest F-beta against "
            "the images of the concept not yet covered, the lowest index on ties; add it if the "
            "union's F₁ against the whole concept rises, and go on; stop otherwise, or after k "
            "latents. β and k are on the board (0.5 and 3 by default).",
        ),
        ("F_β(z, r) = (1 + β²)·TP / (β²·|r| + |z|), r the concept's images not yet covered",),
    ),
)

PARTS = (
    Definition(
        "delta-add",
        "δ added",
        "Mean change of a concept's coalition over the pairs that add the concept.",
        UP,
        "−1 to 1",
        CA,
        ("1: it switches on in every pair that adds the concept. Beside it, how many pairs do.",),
    ),
    Definition(
        "delta-rem",
        "δ removed",
        "Mean change of a concept's coalition over the pairs that remove the concept.",
        DOWN,
        "−1 to 1",
        CA,
        ("−1: it switches off in every pair that removes it. Beside it, how many pairs do.",),
    ),
    Definition(
        "dominance",
        "Dominance quartiles",
        "Alive latents by their mean share of an image's activation, in four groups, Q1 first.",
        NEITHER,
        "shares from 0 to 1",
        AIU,
        (
            "A latent's dominance ρ̄ is the mean over images of its share of the image's total "
            "activation (0 for an image without activity). Alive latents are sorted by it and cut "
            "into four near-equal groups, Q1 the most dominant. The mass of a quartile is the sum "
            "of its dominance over that of all alive latents.",
        ),
        ("ρ̄ = mean over images of |f| / Σ|f|",),
    ),
    Definition(
        "concentration",
        "Concentration",
        "How much of the activation a few latents hold.",
        NEITHER,
        "0 to 1",
        AIU,
        (
            "Per image, the share of its activation held by the ten latents that fire most often: "
            "median and 90th percentile over images; and the Gini coefficient of dominance.",
        ),
    ),
)
