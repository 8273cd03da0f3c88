"""pixel-art: 16 x 16 pixel portraits with glasses, hats, earrings and coloured hair."""

from generation.avatars.space import (
    BACKGROUND,
    CLOTHING,
    HAIR,
    SKIN,
    Attribute,
    Hidden,
    Options,
    StyleSpec,
    Value,
    colours,
    conflict,
    variants,
    without,
)

_HATS = ("variant02", "variant03", "variant04", "variant06", "variant08")


def _hair(*names: str) -> tuple[Options, ...]:
    return tuple({**each, "hatProbability": 0} for each in variants("hair", *names))


PIXEL = StyleSpec(
    style="pixel-art",
    label="pixel",
    attributes=(
        Attribute(
            "glasses",
            (
                Value(None, without("glasses"), 1.2),
                Value(
                    "clear",
                    variants("glasses", "light01", "light02", "light05", "light06", "light07"),
                ),
                Value("sunglasses", variants("glasses", "dark01", "dark02", "dark05", "dark06")),
            ),
        ),
        Attribute(
            "expression",
            (
                Value(None, variants("mouth", "sad04", "sad05", "sad06")),
                Value("smile", variants("mouth", "happy09")),
                Value("frown", variants("mouth", "sad01")),
                Value("teeth", variants("mouth", "happy12")),
                Value("open mouth", variants("mouth", "happy01")),
            ),
        ),
        Attribute(
            "top",
            (
                Value("short", _hair("short02", "short04", "short10", "short16", "short22")),
                Value("long", _hair("long02", "long03", "long07", "long09", "long13")),
                Value("bob", _hair("long04", "long16", "long17", "long21")),
                Value("curly", _hair("long15", "short11", "short13")),
                Value("mohawk", _hair("short05", "short21")),
                Value("bun", _hair("long05", "long14")),
                Value("tails", _hair("long06", "long18", "long19")),
                Value("bald", ({"hairProbability": 0, "hatProbability": 0},)),
                Value(
                    "hat", tuple({**each, "hairProbability": 0} for each in variants("hat", *_HATS))
                ),
            ),
        ),
        Attribute("hair colour", colours("hair", **HAIR)),
        Attribute("skin", colours("skin", **SKIN)),
        Attribute("clothing", colours("clothing", **CLOTHING)),
        Attribute(
            "outfit",
            (
                Value(
                    None,
                    variants("clothes", "variant03", "variant04", "variant05", "variant14"),
                    1.5,
                ),
                Value("striped", variants("clothes", "variant13")),
                Value("checked", variants("clothes", "variant06")),
                Value("tank top", variants("clothes", "variant10", "variant19")),
            ),
        ),
        Attribute(
            "earrings",
            (
                Value(None, without("accessories")),
                Value("earrings", variants("accessories", "variant01", "variant02", "variant03")),
            ),
        ),
        Attribute("background", colours("background", **BACKGROUND)),
    ),
    fixed={
        "beardProbability": 0,
        "eyesProbability": 100,
        # One that stands out on all four skins.
        "mouthColor": "#de0f0d",
        "accessoriesColor": "#ffd700",
    },
    nuisances=(
        variants("eyes", "variant01", "variant09", "variant11"),
        tuple({"eyesColor": value} for value in ("#76778b", "#5b7c8b", "#876658")),
        tuple({"glassesColor": value} for value in ("#191919", "#323232")),
        tuple({"hatColor": value} for value in ("#2663a3", "#3d8a6b", "#cc6192", "#a62116")),
    ),
    conflicts=(
        conflict("earrings", "earrings", "top", "long|bob|curly"),
        # Nearly the same brown.
        conflict("hair colour", "brown", "skin", "brown|dark"),
    ),
    hidden=(Hidden("hair colour", "top", frozenset({"bald", "hat"})),),
)
