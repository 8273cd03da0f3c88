"""open-peeps: ink portraits with masks, facial hair, turbans and hijabs."""

from generation.avatars.space import (
    BACKGROUND,
    CLOTHING,
    SKIN,
    Attribute,
    Recolour,
    StyleSpec,
    Value,
    colours,
    conflict,
    variants,
    without,
)

PEEPS = StyleSpec(
    style="open-peeps",
    label="peeps",
    attributes=(
        Attribute(
            "glasses",
            (
                Value(None, without("accessories"), 1.2),
                Value(
                    "clear",
                    variants("accessories", "glasses", "glasses2", "glasses3", "glasses5"),
                ),
                Value("sunglasses", variants("accessories", "sunglasses", "sunglasses2")),
            ),
        ),
        Attribute(
            "facial hair",
            (
                Value(None, without("facialHair"), 2),
                Value("beard", variants("facialHair", "full", "full2", "full3")),
                Value(
                    "moustache", variants("facialHair", "moustache3", "moustache5", "moustache6")
                ),
            ),
        ),
        Attribute(
            "expression",
            (
                Value(None, variants("expression", "blank", "serious"), 2),
                Value("smile", variants("expression", "smile", "calm", "cute")),
                Value("frown", variants("expression", "solemn", "veryAngry")),
                Value("teeth", variants("expression", "smileBig", "smileTeethGap", "hectic")),
                Value("open mouth", variants("expression", "explaining", "rage")),
            ),
        ),
        Attribute(
            "top",
            (
                Value("short", variants("head", "short1", "short2", "short5", "pomp")),
                Value("long", variants("head", "mediumStraight", "mediumBangs", "medium2")),
                Value("bob", variants("head", "medium1", "bangs", "bangs2")),
                Value("curly", variants("head", "afro", "dreads2")),
                Value("mohawk", variants("head", "mohawk")),
                Value("bun", variants("head", "bun", "bun2", "grayBun", "buns")),
                Value("bald", variants("head", "noHair1", "noHair2")),
                Value("hat", variants("head", "hatBeanie", "hatHip")),
                Value("turban", variants("head", "turban")),
                Value("hijab", variants("head", "hijab")),
            ),
        ),
        Attribute("skin", colours("skin", **SKIN)),
        Attribute("clothing", colours("clothing", **CLOTHING)),
        Attribute(
            "mask",
            (
                Value(None, without("mask")),
                Value("medical", variants("mask", "medicalMask")),
                Value("respirator", variants("mask", "respirator")),
            ),
        ),
        Attribute("background", colours("background", **BACKGROUND)),
    ),
    fixed={
        "headProbability": 100,
        "expressionProbability": 100,
        "inkColor": "#000000",
        "headContrastColor": "#2c1b18",
    },
    nuisances=(
        tuple({"headwearColor": value} for value in ("#b35a5a", "#5a7fb3", "#6aa36f", "#c9a24b")),
    ),
    recolour=(Recolour("head", "clothing", "headwear"),),
    conflicts=(
        conflict("mask", "medical|respirator", "expression", "smile|frown|teeth|open mouth"),
        conflict("mask", "medical|respirator", "facial hair", "beard|moustache"),
        # Ink on ink: only teeth and tongue show between beard and moustache.
        conflict("facial hair", "beard|moustache", "expression", "smile|frown"),
        conflict("top", "hijab", "facial hair", "beard|moustache"),
    ),
)
