"""Definitions of DAME and of what stands beside it: what a judge makes of single latents."""

from leaderboard.definitions.kinds import AIU, NEITHER, UP, Definition

JUDGE = (
    Definition(
        "dame",
        "DAME",
        "Does one sentence about a latent order what activates it? One column a judge.",
        UP,
        "0 to 1; chance is 1/6",
        AIU,
        (
            "C3 of the report card. Of each dominance quartile, latents that have enough examples "
            "are drawn by seed. A judge sees the ten strongest examples of a latent and says in "
            "one sentence of at most 15 words what they share. Then, ten times, it gets three "
            "examples it has not seen: one from the top 20 % of the latent's other positive "
            "activations, one from their 40th to 60th percentile, and one on which the latent is "
            "inactive. By its sentence alone it puts them in order.",
            "The score s of a latent is the fraction of trials ordered perfectly; an answer that "
            "cannot be used is a wrong one. Scores are averaged by dominance within each quartile, "
            "and the quartiles by the dominance of all their alive latents. The interval resamples "
            "latents within quartiles.",
            "A result belongs to its judge: different judges are never in one column. The judge "
            "“random” answers by chance, and “annotations” knows the dataset's concepts instead of "
            "looking.",
        ),
        ("DAME = Σ_q W_q · (Σ ρ̄·s / Σ ρ̄ over scored latents of q) / Σ_q W_q",),
    ),
    Definition(
        "q1-deficit",
        "Q1 deficit",
        "Mean score of the latents of Q1 minus that of the latents of Q2 to Q4.",
        NEITHER,
        "−1 to 1",
        AIU,
        (
            "Below 0: the latents that hold most of the activation are understood worse than the "
            "others. For one SAE it compares the plain means over its scored latents. Over the "
            "SAEs of an architecture it is the mean of Q1's mean minus the mean of the three "
            "others, with an interval over SAEs, the two-sided Wilcoxon signed-rank p, which needs "
            "six SAEs, and Cohen's d of the paired differences (their mean over their standard "
            "deviation), which needs two.",
        ),
        ("Q1 deficit = mean of s over Q1 − mean of s over Q2 to Q4",),
    ),
    Definition(
        "eligible-share",
        "Eligible share",
        "Fraction of a quartile's alive latents with enough examples to be judged.",
        UP,
        "0 to 1",
        AIU,
        (
            "A latent is eligible with ten examples to explain it and at least five others each "
            "for the top, the middle and the inactive place of a trial, strictly apart in "
            "activation. Examples that show the same input count once. DAME says nothing of "
            "latents that are not eligible: a quartile with a small share is known by its "
            "frequent latents only.",
        ),
        ("eligible share = eligible latents / alive latents of the quartile",),
    ),
    Definition(
        "detection",
        "Detection",
        "Given the sentence, does the judge tell inputs that activate the latent from others?",
        UP,
        "0 to 1; chance is 1/2",
        AIU,
        (
            "The older protocol that ranking replaces, with the same judge, sentences and "
            "examples: for every example the judge says whether the sentence fits. Balanced "
            "accuracy, so that saying yes always earns 1/2.",
        ),
        ("balanced accuracy = (hits / active + rejections / inactive) / 2",),
    ),
    Definition(
        "amplitude",
        "Amplitude",
        "Given the sentence, do the judge's ratings follow the activations?",
        UP,
        "−1 to 1; chance is 0",
        AIU,
        (
            "The other older protocol, with the same judge, sentences and examples: the judge "
            "rates every example from 0 to 10. Spearman correlation with the activations; a judge "
            "that gives all the same rating has none, which is counted.",
        ),
    ),
)
