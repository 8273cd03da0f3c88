"""SVG elements, axes and the marks of architectures."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from leaderboard.numbers import fixed, visible

# Without style attributes, which the pages' Content-Security-Policy forbids.
_SHAPES = ("circle", "square", "diamond", "triangle", "cross", "hexagon", "wedge")
_KNOWN = ("topk", "batchtopk", "matryoshkabatchtopk", "jumprelu", "relu", "gated", "panneal")
OTHERS = len(_KNOWN)
"""Index of every architecture that has no colour of its own."""

_ALIASES = {"matryoshka": "matryoshkabatchtopk", "standard": "relu", "standardrelu": "relu"}
_LONGEST = 100
"""Characters of a name that can be one of them."""

_LABELS = {
    "topk": "TopK",
    "batchtopk": "BatchTopK",
    "matryoshkabatchtopk": "Matryoshka",
    "jumprelu": "JumpReLU",
    "relu": "ReLU",
    "gated": "Gated",
    "panneal": "P-anneal",
}


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """An element; text is escaped, ``cls`` is ``class``, underscores are hyphens."""
    parts = [name]
    for key, value in attributes.items():
        if value is not None:
            key = "class" if key == "cls" else key.replace("_", "-") if key != "viewBox" else key
            shown = coordinate(value) if isinstance(value, float) else visible(str(value))
            parts.append(f'{key}="{escape(shown)}"')
    head = " ".join(parts)
    if not children:
        return Markup(f"<{head}/>")
    inner = "".join(c if isinstance(c, Markup) else escape(visible(str(c))) for c in children)
    return Markup(f"<{head}>{inner}</{name}>")


def coordinate(value: float) -> str:
    """A coordinate to a hundredth of a pixel, without trailing zeros or minus zero."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def figure(
    key: str, size: tuple[float, float], title: str, description: str, body: Iterable[Markup]
) -> Markup:
    """A whole SVG of ``size`` (width, height) px, with its text alternative."""
    width, height = size
    return tag(
        "svg",
        tag("title", title, id=f"{key}-title"),
        tag("desc", description, id=f"{key}-desc"),
        *body,
        viewBox=f"0 0 {coordinate(width)} {coordinate(height)}",
        width=coordinate(width),
        height=coordinate(height),
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
        cls="figure",
    )


def line(x1: float, y1: float, x2: float, y2: float, cls: str) -> Markup:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, cls=cls)


def polyline(points: Sequence[tuple[float, float]], cls: str) -> Markup:
    joined = " ".join(f"{coordinate(x)},{coordinate(y)}" for x, y in points)
    return tag("polyline", points=joined, cls=cls)


def label(x: float, y: float, text: str, cls: str = "", anchor: str = "start") -> Markup:
    return tag("text", text, x=x, y=y, cls=cls or None, text_anchor=anchor)


def text_width(text: str, size: float = 12) -> float:
    """Generous width of ``text`` in px: fonts differ from reader to reader."""
    return 0.62 * size * len(text)


def name_width(text: str, size: float = 12) -> float:
    """The same for bold text."""
    return 1.14 * text_width(text, size)


def nice_ticks(low: float, high: float, target: int = 5) -> list[float]:
    """About ``target`` round numbers that cover ``low`` to ``high``, ascending."""
    if high - low < 1e-6:
        low, high = low - 0.05, high + 0.05
    rough = (high - low) / target
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(index * step, 10) for index in range(first, last + 1)]


@dataclass(frozen=True)
class Axis:
    """Maps values to px; ``ticks`` span it from end to end."""

    ticks: list[float]
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether a value lies on the axis."""
        return self.ticks[0] <= value <= self.ticks[-1]

    @property
    def texts(self) -> list[str]:
        """Tick labels with as many decimals as their step needs."""
        step = self.ticks[1] - self.ticks[0]
        decimals = next(d for d in range(11) if abs(round(step, d) - step) < 1e-9)
        return [fixed(tick, decimals) for tick in self.ticks]


def architecture_index(name: str) -> int:
    """Which colour and mark an architecture has; the paper's own ones are told apart."""
    if len(name) > _LONGEST:
        return OTHERS
    key = "".join(char for char in name.lower() if char.isalnum())
    key = _ALIASES.get(key, key)
    return _KNOWN.index(key) if key in _KNOWN else len(_KNOWN)


def architecture_label(name: str) -> str:
    """The field's usual spelling of a known architecture, else the name as submitted."""
    index = architecture_index(name)
    return _LABELS[_KNOWN[index]] if index < len(_KNOWN) else name


def short(text: str, most: int = 20) -> str:
    """``text`` cut to at most ``most`` characters, for a label in a figure."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def mark(architecture: str, x: float, y: float, size: float = 4.5, title: str = "") -> Markup:
    """The architecture's mark, told apart by shape as well as by colour."""
    index = architecture_index(architecture)
    shape = _SHAPES[index] if index < len(_SHAPES) else "circle"
    children = [tag("title", title)] if title else []
    cls = f"mark a{index}"
    if shape == "circle":
        return tag("circle", *children, cx=x, cy=y, r=size, cls=cls)
    points = " ".join(
        f"{coordinate(x + size * dx)},{coordinate(y + size * dy)}" for dx, dy in _outline(shape)
    )
    return tag("polygon", *children, points=points, cls=cls)


def _outline(shape: str) -> list[tuple[float, float]]:
    if shape == "square":
        return [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]
    if shape == "diamond":
        return [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)]
    if shape == "triangle":
        return [(0, -1.25), (1.15, 0.85), (-1.15, 0.85)]
    if shape == "wedge":
        return [(0, 1.25), (1.15, -0.85), (-1.15, -0.85)]
    if shape == "hexagon":
        return [
            (math.cos(k * math.pi / 3) * 1.1, math.sin(k * math.pi / 3) * 1.1) for k in range(6)
        ]
    arm, reach = 0.4, 1.2
    return [
        (-arm, -reach), (arm, -reach), (arm, -arm), (reach, -arm), (reach, arm), (arm, arm),
        (arm, reach), (-arm, reach), (-arm, arm), (-reach, arm), (-reach, -arm), (-arm, -arm),
    ]  # fmt: skip
