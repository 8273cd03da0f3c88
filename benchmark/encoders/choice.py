"""Options in an encoder's name: ``timm:MODEL,token=mean,layer=9,dtype=bf16``."""

import re
from dataclasses import dataclass
from typing import Literal, TypeVar

from benchmark.errors import UserError

Token = Literal["pooled", "cls", "mean", "patches"]
TOKENS: tuple[Token, ...] = ("pooled", "cls", "mean", "patches")
DTYPES = ("float32", "bf16")
BATCH = 16
_KEYS = f"token ({', '.join(TOKENS)}), layer, dtype ({', '.join(DTYPES)}), batch, device"
_Word = TypeVar("_Word", bound=str)
_DEVICE = re.compile(r"cpu|cuda(:\d+)?|mps")


@dataclass(frozen=True)
class Choice:
    """What to take from a model, and how to run it."""

    token: Token | None = None
    """``pooled``: the model's own embedding; ``cls``: its class token; ``mean``: the mean of its
    patch tokens; ``patches``: all patch tokens side by side, P·D numbers a picture. None: the
    first of these that the model has."""
    layer: int | None = None
    """Tokens after this many blocks, without the final norm. None: after all, with it."""
    dtype: str = "float32"
    """``bf16``: weights and activations in bfloat16; the features are float32 all the same."""
    batch: int = BATCH
    """Pictures in a forward pass; recorded as ``batch_size``."""
    device: str | None = None
    """None: a GPU where there is one, else the processor."""


def parse(name: str, text: str, *, takes_model: bool) -> tuple[str, Choice]:
    """Model ("" where the name needs none) and options from what stands after ``name:``.

    Raises:
        UserError: an unknown or repeated key, a value that is none, or no model where one is due.
    """
    parts = [part.strip() for part in text.split(",")] if text else []
    model = ""
    if takes_model:
        if not parts or not parts[0] or _is_option(parts[0]):
            raise UserError(f"encoder {name!r}; expected {name}:MODEL[,KEY=VALUE…]")
        model = parts.pop(0)
    given: dict[str, str] = {}
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key in given or key not in Choice.__dataclass_fields__:
            raise UserError(
                f"encoder {name}: option {part!r}; expected KEY=VALUE once each, keys: {_KEYS}"
            )
        given[key] = value
    return model, Choice(
        token=_one_of(name, "token", given["token"], TOKENS) if "token" in given else None,
        layer=_count(name, "layer", given["layer"]) if "layer" in given else None,
        dtype=_one_of(name, "dtype", given.get("dtype", "float32"), DTYPES),
        batch=_count(name, "batch", given["batch"]) if "batch" in given else BATCH,
        device=_device(name, given.get("device")),
    )


def full_name(name: str, model: str, choice: Choice, *, usual: Token) -> str:
    """The encoder's name in a record: what changes its features and is not the default.

    The batch shape is recorded beside it, and the device changes the last bits only.
    """
    options = [model] if model else []
    if choice.token not in (None, usual):
        options.append(f"token={choice.token}")
    if choice.layer is not None:
        options.append(f"layer={choice.layer}")
    if choice.dtype != "float32":
        options.append(f"dtype={choice.dtype}")
    return f"{name}:{','.join(options)}" if options else name


def _is_option(part: str) -> bool:
    return part.partition("=")[0].strip() in Choice.__dataclass_fields__ and "=" in part


def _one_of(name: str, key: str, value: str, known: tuple[_Word, ...]) -> _Word:
    for one in known:
        if one == value:
            return one
    raise UserError(f"encoder {name}: {key} is {value!r}; expected one of {', '.join(known)}")


def _count(name: str, key: str, value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", value) or int(value) < 1:
        raise UserError(f"encoder {name}: {key} is {value!r}; expected a whole number from 1")
    return int(value)


def _device(name: str, value: str | None) -> str | None:
    if value is not None and not _DEVICE.fullmatch(value):
        raise UserError(f"encoder {name}: device is {value!r}; expected cpu, cuda, cuda:N or mps")
    return value
