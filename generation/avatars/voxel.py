"""voxel-art: block figures with glasses, facial hair, outfits and coloured hair."""

from generation.avatars.space import (
    BACKGROUND,
    CLOTHING,
    HAIR,
    SKIN,
    Attribute,
    Hidden,
    Recolour,
    StyleSpec,
    Value,
    colours,
    conflict,
    variants,
    without,
)

VOXEL = StyleSpec(
    style="voxel-art",
    label="voxel",
    attributes=(
        Attribute(
            "glasses",
            (
                Value(None, without("glasses"), 2),
                Value("clear", variants("glasses", "round", "square", "cat")),
                Value("sunglasses", variants("glasses", "shades")),
            ),
        ),
        Attribute(
            "facial hair",
            (
                Value(None, without("beard"), 1.4),
                Value("beard", variants("beard", "full")),
                Value("moustache", variants("beard", "mustache")),
            ),
        ),
        Attribute(
            "expression",
            (
                Value(None, variants("mouth", "flat")),
                Value("smile", variants("mouth", "smile", "wideSmile")),
                Value("frown", variants("mouth", "frown")),
                Value("teeth", variants("mouth", "grin", "bigSmile")),
                Value("open mouth", variants("mouth", "laugh", "ooh")),
            ),
        ),
        Attribute(
            "eyes",
            (
                Value(None, variants("eyes", "open", "wide")),
                Value("closed", variants("eyes", "closed")),
                Value("star", variants("eyes", "star")),
            ),
        ),
        Attribute(
            "top",
            (
                Value("short", variants("top", "short", "sideSwept")),
                Value("long", variants("top", "longStraight", "partedLong", "longWavy")),
                Value("bob", variants("top", "bob", "bowl")),
                Value("curly", variants("top", "curly", "afro")),
                Value("mohawk", variants("top", "mohawk")),
                Value("bun", variants("top", "buns", "ponytail")),
                Value("tails", variants("top", "twinTails", "braids")),
                Value("bald", without("top")),
                Value("hat", variants("top", "cap", "beanie")),
                Value("animal ears", variants("top", "animalEars", "bunnyEars")),
            ),
        ),
        Attribute("hair colour", colours("hair", **HAIR)),
        Attribute("skin", colours("skin", **SKIN)),
        Attribute("clothing", colours("shirt", **CLOTHING)),
        Attribute(
            "outfit",
            (
                Value(None, variants("outfit", "plain"), 1.5),
                Value("striped", variants("outfit", "stripes")),
                Value("tie", variants("outfit", "tie")),
                Value("hoodie", variants("outfit", "hoodie")),
            ),
        ),
        Attribute("background", colours("background", **BACKGROUND)),
    ),
    fixed={
        "animationVariant": "none",
        "animationProbability": 100,
        "cheeksProbability": 0,
        "eyebrowsProbability": 100,
        "noseProbability": 100,
        # Gray, so that both the skin around it and the mouth on it stand out.
        "faceHairColor": "#85807c",
        "browColor": "#2c222b",
        "jacketColor": "#343a40",
        # Nearer, so that the face fills more of the frame; the feet are cut off.
        "scale": 1.2,
        "translateY": 10,
    },
    nuisances=(
        variants("eyebrows", "flat", "raised", "soft"),
        variants("nose", "block", "wide", "small", "tall"),
        tuple({"hatColor": value} for value in ("#f2f2f2", "#8d95d6", "#e0876d", "#5ba8a0")),
        tuple({"pantsColor": value} for value in ("#3b5b8c", "#6b4f3a", "#495057")),
        tuple({"shoesColor": value} for value in ("#f1f3f5", "#343a40")),
    ),
    recolour=(Recolour("beard", "hair", "faceHair"), Recolour("eyebrows", "hair", "brow")),
    conflicts=(
        conflict("glasses", "clear|sunglasses", "eyes", "closed|star"),
        # Nearly the same brown.
        conflict("hair colour", "brown", "skin", "brown|dark"),
    ),
    hidden=(Hidden("hair colour", "top", frozenset({"bald", "hat", "animal ears"})),),
)
