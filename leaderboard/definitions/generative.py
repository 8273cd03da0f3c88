"""Definitions of the scores of image generators, in their columns' order, and of their parts."""

from leaderboard.definitions.kinds import DOWN, NEITHER, RA, UP, Definition

GENERATIVE = (
    Definition(
        "sad",
        "SaD",
        "How far apart are generated and real images in each single attribute?",
        DOWN,
        "0 upwards",
        RA,
        (
            "Single-attribute divergence. One Gaussian is fitted to an attribute's RA-CLIPScores "
            "of the real images, one to those of the generated images; SaD is the divergence of "
            "the second from the first. The board is sorted by its mean over the attributes.",
            "No estimate on a sample is ever 0. Whether a value means anything, its null says.",
            "The estimate of a divergence is biased upward, and resampling adds to it once more: "
            "the 95 % resampling spread in brackets may lie wholly above the value. It is no "
            "interval for the true one; only the null tests equality.",
        ),
        ("SaD(t) = KL(generated ‖ real)", "mean over the attributes t of the real set's list"),
        unit="nats",
        spread_only=True,
    ),
    Definition(
        "pad",
        "PaD",
        "How far apart are they in two attributes together?",
        DOWN,
        "0 upwards",
        RA,
        (
            "Paired-attribute divergence: as SaD with Gaussians in two dimensions. It also sees "
            "attributes that go together more or less often than in the real images. Mean over "
            "all pairs of attributes.",
            "It is biased upward too: its resampling spread may lie above the value, and only the "
            "null tests equality.",
        ),
        unit="nats",
        spread_only=True,
    ),
    Definition(
        "r-sad",
        "R-SaD",
        "How far apart are they in an attribute, place by place in the picture?",
        DOWN,
        "0 to 1",
        RA,
        (
            "Regional divergence: the mean patch score of the real images minus that of the "
            "generated ones, in every cell of the grid. The board shows the mean of its magnitude "
            "over cells and attributes.",
            "A magnitude is never 0 on a sample either: its resampling spread may lie above the "
            "value, and only the null tests equality.",
        ),
        spread_only=True,
    ),
    Definition(
        "r-sad-over-null",
        "R-SaD over its null",
        "Magnitude of R-SaD divided by what relabelled images give.",
        DOWN,
        "0 upwards; 1 is no difference",
        RA,
        (
            "Each attribute's magnitude over the mean of its own null, averaged over attributes. "
            "Unlike the magnitude itself it does not favour attributes of large area.",
        ),
        spread_only=True,
    ),
    Definition(
        "fid",
        "FID",
        "Fréchet distance of the two sets' features.",
        DOWN,
        "0 upwards",
        None,
        (
            "On the features of the encoder named on the board. Not applicable where a set has no "
            "more images than features have dimensions: the value would say more of the number of "
            "images than of the images.",
        ),
    ),
    Definition(
        "kid",
        "KID",
        "Kernel distance of the two sets' features, without bias from their number.",
        DOWN,
        "about 0 upwards; chance can bring it below 0",
        None,
        ("Cubic kernel; the number and size of its subsets are in the record.",),
    ),
    Definition(
        "precision",
        "Precision",
        "Share of generated images that lie among the real ones.",
        UP,
        "0 to 1",
        None,
        ("A generated image counts if it is as near to a real image as that image's k-th "
         "neighbour.",),
    ),
    Definition(
        "recall",
        "Recall",
        "Share of real images that lie among the generated ones.",
        UP,
        "0 to 1",
        None,
        ("As precision, with the two sets exchanged.",),
    ),
    Definition(
        "density",
        "Density",
        "How thickly the real images' neighbourhoods are filled by generated ones.",
        UP,
        "0 upwards; 1 for equal sets",
        None,
        ("Precision that counts every neighbourhood an image falls into, over k.",),
    ),
    Definition(
        "coverage",
        "Coverage",
        "Share of real images with a generated image in their neighbourhood.",
        UP,
        "0 to 1",
        None,
        ("Recall with the neighbourhoods of the real images, which outliers do not widen.",),
    ),
)  # fmt: skip

GENERATIVE_PARTS = (
    Definition(
        "ra-clip-score",
        "RA-CLIPScore",
        "Does an image show an attribute? From 0 to 1, with the patches that say so.",
        NEITHER,
        "0 to 1",
        RA,
        (
            "A CLIP model compares every patch of the image and the image as a whole with “a "
            "photo of the attribute” and “a photo without the attribute”. The answers are spread "
            "along the model's own attention and averaged, patches that speak of the attribute "
            "most.",
        ),
    ),
    Definition(
        "permutation-null",
        "Null",
        "The same number after real and generated images were relabelled at random.",
        NEITHER,
        "as the score",
        None,
        (
            "Two samples of the same images never agree exactly. The null is what the number "
            "would then be: its mean and its 95 % point over seeded relabellings. A value at or "
            "below the 95 % point is inside its null: no difference was shown.",
        ),
    ),
    Definition(
        "resampling-spread",
        "Resampling spread",
        "Where 95 % of the resampled values of a divergence lie.",
        "Narrower is surer",
        "as the score",
        None,
        (
            "Percentiles over seeded resamples of both sets' images: how much the number depends "
            "on which images were drawn. A resample repeats the noise of sampling, and noise only "
            "ever adds to a divergence, so the spread may lie above the value. It is no confidence "
            "interval, and a claimed number is not judged by it.",
        ),
    ),
)
