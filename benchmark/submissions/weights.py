"""The files of an SAE submission, looked at without loading a tensor."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.files import file_sha256
from benchmark.submissions.documents import WEIGHTS, named
from benchmark.submissions.folders import MAX_FOLDER, entries, is_small
from benchmark.submissions.problems import Problem, problem, visible
from benchmark.submissions.reading import JsonProblem, read_object

SETTINGS = ("config.json", "cfg.json")

_LINEAR = frozenset(("encoder.weight", "decoder.weight"))
_MATRICES = frozenset(("W_enc", "W_dec"))
MARKS: Mapping[str, tuple[frozenset[str], ...]] = {
    "assay": (frozenset(("encoder", "encoder_bias", "decoder", "decoder_bias")),),
    "saelens": (_MATRICES,),
    "dictionary_learning": (_LINEAR, _MATRICES),
    "sparsify": (frozenset(("encoder.weight", "W_dec")),),
    "openai": (frozenset(("encoder.weight", "pre_bias", "latent_bias")),),
    "overcomplete": (frozenset(("encoder.final_block.0.weight", "dictionary._weights")),),
    "prisma": (_MATRICES,),
    "bare": (_MATRICES,),
}
"""Format → sets of tensors of which a file of it has one; the formats themselves need torch."""

_MAX_SETTINGS = 10**6
_FLOATS = ("F64", "F32", "F16", "BF16")


def file_problems(folder: Path, block: Mapping[str, Any], key: str) -> Iterator[Problem]:
    """Declared files that are absent, or have another hash; none may be there with a Hub place.

    Args:
        folder: of the submission.
        block: ``sae`` or ``generator`` of the document.
        key: its name.
    """
    there = {entry.path.name: entry for entry in entries(folder) if entry.is_file}
    where = named(folder / "submission.json")
    for index, declared in enumerate(block.get("files", ())):
        name, path = declared["path"], f"$.{key}.files[{index}]"
        entry = there.get(name)
        if "hub" in block:
            if entry is not None:
                yield problem(
                    named(entry.path), "", "a file", "none, as it is on the Hub", "delete it"
                )
        elif entry is None:
            yield problem(
                where, f"{path}.path", f"{name}, which is not there", "a file", "add the file"
            )
        elif entry.size <= MAX_FOLDER:  # a larger one is refused anyway
            digest = file_sha256(entry.path)
            if digest != declared["sha256"]:
                yield problem(
                    where,
                    f"{path}.sha256",
                    declared["sha256"],
                    f"{digest}, the hash of {visible(name)}",
                    "write this hash, or put the right file there",
                )


def sae_problems(folder: Path, document: Mapping[str, Any]) -> Iterator[Problem]:
    """Faults of the SAE itself: kinds of file, headers, shapes, settings, encoder."""
    where = named(folder / "submission.json")
    if "encoder" in document:
        yield from _encoder(document["encoder"], where)
    if "sae" not in document:
        return
    sae = document["sae"]
    names = [declared["path"] for declared in sae["files"]]
    yield from _kinds(names, where)
    if sae.get("k", 1) > sae["d_sae"]:
        expected = f"at most d_sae, {sae['d_sae']}"
        yield problem(where, "$.sae.k", sae["k"], expected, "write the right k")
    if "hub" in sae:
        return
    for name in names:
        path = folder / name
        if not is_small(path):
            continue
        if name.endswith(WEIGHTS):
            yield from _header(path, sae)
        elif name in SETTINGS:
            yield from _settings(path, sae)


def _kinds(names: list[str], where: str) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if not name.endswith(WEIGHTS) and name not in SETTINGS:
            yield problem(
                where,
                f"$.sae.files[{index}].path",
                name,
                f"weights ending in {WEIGHTS}, or {' or '.join(SETTINGS)}",
                "save the weights as safetensors",
            )
    if sum(name.endswith(WEIGHTS) for name in names) != 1:
        yield problem(
            where,
            "$.sae.files",
            ", ".join(names),
            f"one file ending in {WEIGHTS}",
            "save all weights in one file",
        )


def _encoder(name: str, where: str) -> Iterator[Problem]:
    from benchmark.encoders import ENCODERS

    # a dataset of activations has none
    if name != "none" and name.partition(":")[0] not in ENCODERS.entries:
        yield problem(
            where,
            "$.encoder",
            name,
            f"one of {', '.join(sorted(ENCODERS.entries))}",
            "name the encoder as assay embed does",
        )


def _header(path: Path, sae: Mapping[str, Any]) -> Iterator[Problem]:
    from benchmark.tensors import read_header

    try:
        tensors = read_header(path)
    except UserError as error:
        text = str(error).removeprefix(f"{path}: ")
        yield Problem(named(path), "", text, "a whole safetensors file", "save it again")
        return
    if not _is_format(set(tensors)):
        yield problem(
            named(path),
            "",
            ", ".join(sorted(tensors)) or "no tensors",
            f"the tensors of a format that assay score reads: {', '.join(sorted(MARKS))}",
            "save it in its library's own format",
        )
    wanted = sorted((sae["d_in"], sae["d_sae"]))
    matrices = 0
    for name, (dtype, shape) in sorted(tensors.items()):
        if len(shape) > 1 and dtype not in _FLOATS:
            yield problem(
                named(path),
                f"tensor {name}",
                f"dtype {dtype}",
                f"one of {', '.join(_FLOATS)}",
                "save it as float32",
            )
        matrices += sorted(shape) == wanted
    if not matrices:
        shapes = ", ".join(f"{name} {list(shape)}" for name, (_, shape) in sorted(tensors.items()))
        yield problem(
            named(path),
            "",
            shapes or "no tensors",
            f"a matrix of d_sae × d_in, {sae['d_sae']} × {sae['d_in']}",
            "correct $.sae.d_in and $.sae.d_sae, or the file",
        )


def _is_format(names: set[str]) -> bool:
    inside = {name.removeprefix("ae.").removeprefix("state_dict.") for name in names}
    return any(mark <= inside for marks in MARKS.values() for mark in marks)


def _settings(path: Path, sae: Mapping[str, Any]) -> Iterator[Problem]:
    try:
        config = read_object(path, _MAX_SETTINGS)
    except JsonProblem as error:
        yield problem(named(path), "", error.found, error.expected, "write the file again")
        return
    for key in ("d_in", "d_sae"):
        if type(config.get(key)) is int and config[key] != sae[key]:
            yield problem(
                named(path),
                f"$.{key}",
                config[key],
                f"{sae[key]}, as the document says",
                "correct one of both",
            )
