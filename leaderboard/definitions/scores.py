"""Definitions of the scores that have a column on the board, in the columns' order."""

from leaderboard.definitions.kinds import AIU, CA, DOWN, NEITHER, UP, Definition

SCORES = (
    Definition(
        "delta-match-score",
        "ΔMATCHScore",
        "Held-out MATCHScore minus that of an untrained twin: what training added.",
        UP,
        "−1 to 1",
        CA,
        (
            "The board is sorted by this number. A wide dictionary finds something for every "
            "concept by luck, trained or not; subtracting the untrained twin's MATCHScore, taken "
            "with the same matcher and protocol and averaged over the twin's seeds, leaves what "
            "training is responsible for.",
            "Its interval resamples both sides with the same images.",
        ),
        ("ΔMATCHScore = MATCHScore − mean over twin seeds of MATCHScore(twin)",),
    ),
    Definition(
        "match-score",
        "MATCHScore, held-out",
        "Mean F₁ of each concept's coalition on images it was not chosen on.",
        UP,
        "0 to 1",
        CA,
        (
            "For every concept a coalition of at most k latents is chosen on the match split; the "
            "coalition answers yes where any of its latents is active (code > 0). MATCHScore is "
            "the mean over concepts of the F₁ of that answer on the score split.",
            "A concept without a positive image in the match split is not applicable and is left "
            "out; a concept for which no latent matches at all has an empty coalition and counts "
            "as 0.",
        ),
        (
            "F₁ = 2·TP / (positives + predicted positives)",
            "MATCHScore = mean of F₁ over applicable concepts",
        ),
    ),
    Definition(
        "match-score-in-sample",
        "MATCHScore, in-sample",
        "The same with coalitions chosen and scored on the same images.",
        UP,
        "0 to 1",
        CA,
        (
            "Coalitions are found and scored on the score split, as the paper's published numbers "
            "are. Choosing among many latents on the rows that are then scored inflates the "
            "result, the more so the wider the dictionary: compare it with published numbers, "
            "and rank by the held-out one.",
        ),
    ),
    Definition(
        "tapa-score",
        "TAPAScore",
        "Do the coalitions follow an edit? Gain of the added concept minus that of the removed.",
        UP,
        "−2 to 2 (−1 to 1 with one kind of edit)",
        CA,
        (
            "Each pair is an image and an edited copy that differs in one attribute. The coalition "
            "of the added concept should switch on, that of the removed concept off. δ is the "
            "change of a coalition's answer, −1, 0 or 1; the score is the mean δ over pairs that "
            "add a concept minus the mean δ over pairs that remove one.",
            "Latents in both coalitions are taken out of both. An empty coalition has δ = 0 and "
            "its pair stays in the mean, so that an unmatched concept earns nothing.",
        ),
        (
            "δ = max over coalition of ẑ − max over coalition of z, with z, ẑ in {0, 1}",
            "TAPAScore = mean δ(added) − mean δ(removed)",
        ),
    ),
    Definition(
        "delta-tapa-score",
        "ΔTAPAScore",
        "TAPAScore minus that of the untrained twin.",
        UP,
        "−4 to 4",
        CA,
        (
            "An untrained dictionary reacts to edits too; this is what training added to the "
            "reaction. Both sides are resampled with the same pairs.",
        ),
        ("ΔTAPAScore = TAPAScore − mean over twin seeds of TAPAScore(twin)",),
    ),
    Definition(
        "delta-stay",
        "Δstay",
        "How often the coalition of a concept that stays in the picture changes nevertheless.",
        DOWN,
        "0 to 1",
        CA,
        (
            "Over all pairs and all concepts present in the base image, other than the added and "
            "the removed one, with a coalition that is not empty: the mean absolute change of the "
            "coalition's answer. Low values show that a TAPAScore is no mere drift.",
        ),
    ),
    Definition(
        "explained-variance",
        "Explained variance",
        "Share of the features' variance that the reconstruction keeps.",
        UP,
        "up to 1; 0 is predicting the mean",
        None,
        (
            "Features x and reconstructions x̂ in the encoder's own space, x̄ the mean over all "
            "rows. Worse than predicting the mean is negative and is shown as it is.",
        ),
        ("1 − Σ‖x − x̂‖² / Σ‖x − x̄‖²",),
    ),
    Definition(
        "l0",
        "L0",
        "Mean number of active latents per image.",
        NEITHER,
        "0 to dictionary size",
        None,
        ("A latent is active where its code, as float32, is above 0. Fewer is sparser.",),
        unit="latents",
    ),
    Definition(
        "dead-fraction",
        "Dead latents",
        "Share of latents active on none of the scored images.",
        DOWN,
        "0 to 1",
        None,
        ("A latent that is active on at least one scored image is alive; the rest are dead.",),
    ),
    Definition(
        "redundant-fraction",
        "Redundant latents",
        "Share of alive latents whose decoder row nearly repeats another's.",
        DOWN,
        "0 to 1",
        AIU,
        (
            "Two alive latents are redundant if the cosine of their decoder rows is at or above "
            "the threshold (0.7 unless the protocol says otherwise). Rows of norm zero are not "
            "applicable and are counted. The SAE's page gives the exact number of such pairs.",
        ),
    ),
    Definition(
        "enrichment-q1",
        "Q1 enrichment",
        "How strongly redundant pairs crowd among the most dominant quarter of latents.",
        DOWN,
        "0 upwards; 1 is no crowding",
        AIU,
        (
            "The share of redundant pairs' endpoints that fall into Q1, over the share of alive "
            "latents that Q1 holds. Above 1, duplicates gather where the dictionary spends most "
            "of its activation.",
        ),
    ),
)
