"""A language model of transformers in a folder, by name, and never with code of its own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.files import file_sha256

_HUB = re.compile(r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)@(?P<revision>\S+)")
_REVISION = re.compile(r"[0-9a-f]{40}")
_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "*.model",
)
_WANTED = (*_TOKENIZER_FILES, "config.json", "*.safetensors", "*.safetensors.index.json")
_UNUSED = ("pooler.",)
"""Weights that a checkpoint may lack: they are behind every layer."""

ATTENTION = "eager"
"""Implementation of attention, the one that every model has."""


@dataclass(frozen=True)
class ModelFiles:
    """Where a model is, and what it is.

    Attributes:
        source: as it was asked for: a folder, or ``owner/name@revision``.
        name: of the folder or repository.
        revision: commit of the repository; for a folder the start of the weights' hash.
        folder: where the files are.
        weights_sha256: of the safetensors file, or of the names and hashes of several.
        tokenizer_sha256: of the names and hashes of the tokenizer's files.
    """

    source: str
    name: str
    revision: str
    folder: Path = field(compare=False)
    weights_sha256: str
    tokenizer_sha256: str

    def as_dict(self) -> dict[str, str]:
        """What a manifest says of it."""
        return {
            "source": self.source,
            "name": self.name,
            "revision": self.revision,
            "weights_sha256": self.weights_sha256,
            "tokenizer_sha256": self.tokenizer_sha256,
        }


def find_model(source: str, name: str | None = None) -> ModelFiles:
    """The files of a model: of a local folder, or of ``owner/name@revision`` on the Hub.

    ``name`` is what records call it, by default the folder's or repository's name.

    Raises:
        UserError: nothing there, no safetensors weights, or a revision that can move.
    """
    folder, revision, found = Path(source), "", Path(source).resolve().name
    if not folder.is_dir():
        match = _HUB.fullmatch(source)
        if match is None:
            raise UserError(
                f"no model folder {source}; expected a folder, or owner/name@revision on the Hub"
            )
        folder, revision, found = _fetch(match), match["revision"], match["repo"]
    weights = sorted(folder.glob("*.safetensors"))
    if not (folder / "config.json").is_file() or not weights:
        raise UserError(
            f"{source}: not a model; expected config.json and weights as .safetensors (pickled "
            "weights are not read)"
        )
    sha256 = file_sha256(weights[0]) if len(weights) == 1 else _of_several(weights)
    parts = {path for pattern in _TOKENIZER_FILES for path in folder.glob(pattern)}
    if not parts:
        raise UserError(f"{source}: no tokenizer; expected tokenizer.json")
    return ModelFiles(
        source, name or found, revision or sha256[:12], folder, sha256, _of_several(sorted(parts))
    )


def _fetch(match: re.Match[str]) -> Path:
    repo, revision = match["repo"], match["revision"]
    if not _REVISION.fullmatch(revision):
        raise UserError(
            f"{match[0]}: revision {revision!r}; expected the full 40-digit commit hash, because "
            "a branch or tag can move"
        )
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(repo, revision=revision, allow_patterns=list(_WANTED)))
    except (OSError, ValueError) as error:  # every error of the Hub client is one of these
        raise UserError(f"{repo} at {revision}: cannot be fetched ({_short(error)})") from None


def _of_several(paths: list[Path]) -> str:
    lines = "".join(f"{path.name} {file_sha256(path)}\n" for path in paths)
    return hashlib.sha256(lines.encode()).hexdigest()


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


@contextmanager
def _quiet() -> Iterator[None]:
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _transformers() -> Any:
    try:
        import transformers
    except ImportError:
        raise UserError(
            "language models need transformers: pip install 'concept-assay[text]'"
        ) from None
    return transformers


def load_tokenizer(files: ModelFiles) -> Any:
    """The tokenizer; ``UserError`` where it cannot be read."""
    transformers = _transformers()
    try:
        with _quiet():
            return transformers.AutoTokenizer.from_pretrained(
                files.folder, local_files_only=True, trust_remote_code=False
            )
    except Exception as error:  # the library raises nearly any kind for a broken file
        raise UserError(f"{files.source}: its tokenizer cannot be read ({_short(error)})") from None


def load_network(files: ModelFiles) -> Any:
    """The model in float32, for evaluation; with its language head where it is a causal one.

    Raises:
        UserError: a model that transformers cannot read without code from elsewhere, one with an
            encoder and a decoder, or one whose files lack weights.
    """
    transformers = _transformers()
    import torch

    try:
        with _quiet():
            config = transformers.AutoConfig.from_pretrained(
                files.folder, local_files_only=True, trust_remote_code=False
            )
            causal = any("ForCausalLM" in name for name in config.architectures or ())
            kind = transformers.AutoModelForCausalLM if causal else transformers.AutoModel
            network, report = kind.from_pretrained(
                files.folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=torch.float32,
                attn_implementation=ATTENTION,
                output_loading_info=True,
            )
    except Exception as error:  # as above
        raise UserError(f"{files.source}: the model cannot be read ({_short(error)})") from None
    if config.is_encoder_decoder:
        raise UserError(f"{files.source}: has an encoder and a decoder; expected one stack")
    missing = sorted(name for name in report["missing_keys"] if not name.startswith(_UNUSED))
    if missing:
        raise UserError(
            f"{files.source}: its files lack {len(missing)} weights, such as {missing[0]}; "
            "they would be random"
        )
    network.config.use_cache = False  # every input is read once
    network.requires_grad_(False)
    return network.eval()


def is_causal(network: Any) -> bool:
    """Whether the model gives logits of the next token."""
    return type(network).__name__.endswith("ForCausalLM")


def runtime() -> str:
    """What else can change the last bits of an activation."""
    import torch

    version = _transformers().__version__
    capability = torch.backends.cpu.get_cpu_capability()
    return f"torch {torch.__version__}, transformers {version}, {capability}"
