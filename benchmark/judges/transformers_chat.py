"""A model of transformers on this machine, from a folder or the local cache of the Hub."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.encoders import weights
from benchmark.errors import UserError
from benchmark.files import file_sha256
from benchmark.images import read_image
from benchmark.judges.chat import CUT_SHORT, REFUSED, ChatJudge, Reply
from benchmark.judges.options import JudgeContext, JudgeOptions
from benchmark.judges.prompts import Message
from benchmark.judges.recorded import recorded, replayed

_FETCH = ("--exclude '*.bin'",)
_SETTINGS_FILES = ("*.json", "*.jinja", "*.txt", "*.model")


@dataclass(frozen=True)
class _Loaded:
    """A network, what turns messages into its input, and its context in tokens, if it has one."""

    network: Any
    reader: Any
    context: int | None


class TransformersChat:
    """Greedy decoding, one conversation at a time; no code that comes with a model is run.

    What a text says cannot pass for a control token of the model's template. A prompt that is
    longer than the model's context is counted as ``refused``, a reply that reached the greatest
    length as ``cut_short``.

    Args:
        options: ``model`` (a folder, or ``owner/name`` or ``owner/name@revision`` in the local
            cache) and ``max_tokens``.

    Raises:
        UserError: no such model here, weights that are no safetensors, another temperature than 0.
    """

    concurrency = 1

    def __init__(self, options: JudgeOptions) -> None:
        if options.temperature != 0:
            raise UserError(
                f"temperature {options.temperature:g}: a local model decodes greedily; expected 0"
            )
        _library()
        self._max_tokens = options.max_tokens
        self._place = weights.find(options.model or "", _FETCH)
        self._config = self._place.read_json("config.json")
        files = self._place.weights("model")
        others = sorted(
            {path for form in _SETTINGS_FILES for path in self._place.folder.glob(form)}
        )
        listing = "".join(f"{file_sha256(path)}  {path.name}\n" for path in others)
        self._model = model_name(options.model or "")
        self._settings = {
            "revision": self._place.revision,
            "weights_sha256": weights.weights_sha256(files, place=self._place),
            "settings_sha256": hashlib.sha256(listing.encode()).hexdigest(),
            "decoding": "greedy",
            "max_tokens": options.max_tokens,
            "device": _device(),
        }
        self._loaded: _Loaded | None = None
        self._lock = threading.Lock()

    def identity(self) -> Mapping[str, Any]:
        return {"kind": "transformers", "model": self._model, "settings": self._settings}

    @property
    def sees(self) -> bool:
        """Whether the model takes pictures."""
        from transformers.models.auto.modeling_auto import (
            MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES as VISION,
        )

        names = self._config.get("architectures") or ()
        causal = any("ForCausalLM" in str(name) for name in names)
        return self._config.get("model_type") in VISION and not causal

    def check_kind(self, kind: str) -> None:
        """``UserError`` for pictures put before a model of texts."""
        if kind == "image" and not self.sees:
            raise UserError(
                f"model {self._model} ({self._config.get('model_type')}) reads texts only; "
                "expected a vision-language model for a dataset of pictures"
            )

    def complete(self, messages: Sequence[Message]) -> Reply:
        parts = [part for message in messages for part in message["content"]]
        if any(part["type"] == "image" for part in parts):
            self.check_kind("image")
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._answer(self._loaded, [self._message(message) for message in messages])

    def _message(self, message: Message) -> dict[str, Any]:
        parts = message["content"]
        if not self.sees:
            return {
                "role": message["role"],
                "content": "\n\n".join(part["text"] for part in parts),
            }
        content = [
            {"type": "text", "text": part["text"]}
            if part["type"] == "text"
            else {"type": "image", "image": read_image(part["picture"]())}
            for part in parts
        ]
        return {"role": message["role"], "content": content}

    def _answer(self, loaded: _Loaded, messages: list[dict[str, Any]]) -> Reply:
        import torch

        inputs = self._inputs(loaded.reader, messages)
        if isinstance(inputs, Reply):
            return inputs
        length = int(inputs["input_ids"].shape[1])
        if loaded.context is not None and length >= loaded.context:
            detail = f"{length:,} tokens; the model's context has {loaded.context:,}"
            return Reply("", {REFUSED: 1}, length, 0, detail=detail)
        with torch.inference_mode():
            output = loaded.network.generate(**inputs.to(loaded.network.device))
        written = output[0, length:].tolist()
        text = loaded.reader.decode(written, skip_special_tokens=True)
        ends = loaded.network.generation_config.eos_token_id
        ends = {ends} if isinstance(ends, int) else set(ends or ())
        cut_short = len(written) >= self._max_tokens and not ends & set(written[-1:])
        return Reply(text, {CUT_SHORT: 1} if cut_short else {}, length, len(written))

    def _inputs(self, reader: Any, messages: list[dict[str, Any]]) -> Any:
        """What the network reads; a refusal where a text cannot be told from a control token."""
        for sanitize in (True, False):
            try:
                return reader.apply_chat_template(
                    messages,
                    add_generation_prompt=True,
                    tokenize=True,
                    return_dict=True,
                    return_tensors="pt",
                    sanitize_control_tokens=sanitize,
                )
            except NotImplementedError as error:  # for templates that leave the first mark out
                reason: Exception = error
            except Exception as error:  # templates are programs of the model's authors
                if "sanitize" in str(error):
                    return Reply("", {REFUSED: 1}, detail=_short(error))
                reason = error
                break
        raise UserError(
            f"model {self._model}: its chat template cannot take this conversation "
            f"({_short(reason)})"
        )

    def _load(self) -> _Loaded:
        transformers = _library()
        reader = self._read(
            transformers.AutoProcessor if self.sees else transformers.AutoTokenizer, "tokenizer"
        )
        if not reader.chat_template:
            raise UserError(
                f"model {self._model} has no chat template; expected one that follows instructions"
            )
        kind = (
            transformers.AutoModelForImageTextToText
            if self.sees
            else transformers.AutoModelForCausalLM
        )
        dtype = "float32" if _device() == "cpu" else "auto"
        network, report = self._read(
            kind, "model", use_safetensors=True, dtype=dtype, output_loading_info=True
        )
        if missing := sorted(report["missing_keys"]):
            raise UserError(
                f"model {self._model}: its files lack {len(missing)} weights, such as "
                f"{missing[0]}; they would be random"
            )
        _decode_greedily(network, reader, self._max_tokens)
        context = getattr(network.config.get_text_config(), "max_position_embeddings", None)
        return _Loaded(network.to(_device()).eval(), reader, context)

    def _read(self, kind: Any, what: str, **options: Any) -> Any:
        try:
            with _quiet():
                return kind.from_pretrained(
                    self._place.folder, local_files_only=True, trust_remote_code=False, **options
                )
        except Exception as error:  # the library raises nearly any kind for a broken file
            raise UserError(
                f"model {self._model}: its {what} cannot be read ({_short(error)})"
            ) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars of the library: a bar of the run stands there already."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _decode_greedily(network: Any, reader: Any, max_tokens: int) -> None:
    """Settings of generation: no sampling, whatever the model's own file asks for."""
    settings = network.generation_config
    settings.do_sample, settings.num_beams = False, 1
    settings.temperature = settings.top_p = settings.top_k = None
    settings.max_new_tokens, settings.max_length = max_tokens, None
    tokenizer = getattr(reader, "tokenizer", reader)
    if settings.eos_token_id is None:
        settings.eos_token_id = tokenizer.eos_token_id
    if settings.pad_token_id is None:
        ends = settings.eos_token_id
        settings.pad_token_id = ends[0] if isinstance(ends, list) else ends


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _library() -> Any:
    try:
        import transformers
    except ImportError:
        raise UserError(
            "this judge needs the package transformers: pip install 'concept-assay[judges]'"
        ) from None
    return transformers


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def model_name(model: str) -> str:
    """What results call a model: its folder's name, or the repository."""
    if weights.is_folder(model):
        return Path(model).expanduser().resolve().name
    return model.partition("@")[0]


def make(options: JudgeOptions, context: JudgeContext) -> ChatJudge:
    """A judge that asks the model ``options.model``, or replays what it said."""
    if not options.model:
        raise UserError("--model is missing; expected a model's folder, or owner/name")
    if options.replay is not None:
        wanted = {"max_tokens": options.max_tokens}
        return replayed(options, "transformers", model_name(options.model), wanted)
    chat = TransformersChat(options)
    chat.check_kind(context.kind)
    return recorded(chat, options)
