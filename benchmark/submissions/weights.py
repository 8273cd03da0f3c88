"""The files of an SAE submission, looked at without loading a tensor."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.files import file_sha256
from benchmark.submissions.documents import WEIGHTS, named
from benchmark.submissions.folders import MAX_FOLDER, entries, is_small
from benchmark.submissions.measured import LIBRARIES
from benchmark.submissions.problems import Problem, problem, visible
from benchmark.submissions.reading import MAX_SETTINGS, JsonProblem, read_object

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
    for index, declared in enumerate(block.get("files") or ()):
        name, path = (declared or {}).get("path"), f"$.{key}.files[{index}]"
        if name is None:  # said by the schema
            continue
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
            if declared.get("sha256") not in (None, digest):
                yield problem(
                    where,
                    f"{path}.sha256",
                    declared["sha256"],
                    f"{digest}, the hash of {visible(name)}",
                    "write this hash, or put the right file there",
                )


def sae_problems(folder: Path, document: Mapping[str, Any]) -> Iterator[Problem]:
    """Faults of the SAE itself: encoder, kinds of file, headers, shapes, settings.

    Args:
        folder: of the submission.
        document: its ``submission.json``, None where a value breaks the schema.
    """
    where = named(folder / "submission.json")
    yield from encoder_problems(document.get("encoder"), where)
    sae = document.get("sae") or {}
    names = [(declared or {}).get("path") for declared in sae.get("files") or ()]
    yield from _kinds(names, where)
    k, d_sae = sae.get("k"), sae.get("d_sae")
    unsaid = dict(sae)
    if k is not None and d_sae is not None and k > d_sae:
        unsaid["k"] = None
        yield problem(where, "$.sae.k", k, f"at most d_sae, {d_sae}", "write the right k")
    if "hub" in sae:
        return
    faults: list[Problem] = []
    for name in names:
        if name is None or not is_small(folder / name):
            continue
        if name.endswith(WEIGHTS):
            faults += _header(folder / name, sae)
        elif name in SETTINGS:
            faults += _settings(folder / name, sae)
    yield from faults
    if faults:  # perhaps of sizes that fit nothing
        unsaid |= {"d_in": None, "d_sae": None}
    yield from _described(folder, names, unsaid)


def _kinds(names: Sequence[str | None], where: str) -> Iterator[Problem]:
    for index, name in enumerate(names):
        if name is not None and not name.endswith(WEIGHTS) and name not in SETTINGS:
            yield problem(
                where,
                f"$.sae.files[{index}].path",
                name,
                f"weights ending in {WEIGHTS}, or {' or '.join(SETTINGS)}",
                "save the weights as safetensors",
            )
    known = [name for name in names if name is not None]
    if known == names and known and sum(name.endswith(WEIGHTS) for name in known) != 1:
        yield problem(
            where,
            "$.sae.files",
            ", ".join(known),
            f"one file ending in {WEIGHTS}",
            "save all weights in one file",
        )


def encoder_problems(name: str | None, where: str) -> Iterator[Problem]:
    """The fault of an encoder that ``assay embed`` does not know; none where ``name`` is None."""
    from benchmark.encoders import ENCODERS
    from benchmark.encoders.choice import parse

    if name in (None, "none"):  # a dataset of activations has none
        return
    registered, _, options = str(name).partition(":")
    expected = ""
    if registered not in ENCODERS.entries:
        expected = f"one of {', '.join(sorted(ENCODERS.entries))}"
    else:
        try:
            parse(registered, options, takes_model=registered in LIBRARIES)
        except UserError as error:
            expected = str(error).rpartition("expected ")[2]
    if expected:
        yield problem(where, "$.encoder", name, expected, "name the encoder as assay embed does")


def _described(
    folder: Path, names: Sequence[str | None], sae: Mapping[str, Any]
) -> Iterator[Problem]:
    """What the document says otherwise than its files, as far as these can be read."""
    from benchmark.submissions.stated import contradictions, stated_in

    there = [folder / name for name in names if name is not None and is_small(folder / name)]
    weights = [path for path in there if path.name.endswith(WEIGHTS)]
    settings = [path for path in there if path.name in SETTINGS]
    if len(weights) != 1 or len(settings) > 1:
        return
    with suppress(UserError):  # the rules for each file say what is wrong
        found = stated_in(weights[0], settings[0] if settings else None)
        yield from contradictions(sae, found, named(folder / "submission.json"))


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
    for name, (dtype, shape) in sorted(tensors.items()):
        if len(shape) > 1 and dtype not in _FLOATS:
            yield problem(
                named(path),
                f"tensor {name}",
                f"dtype {dtype}",
                f"one of {', '.join(_FLOATS)}",
                "save it as float32",
            )
    d_in, d_sae = sae.get("d_in"), sae.get("d_sae")
    if d_in is None or d_sae is None:
        return
    if not any(sorted(shape) == sorted((d_in, d_sae)) for _, shape in tensors.values()):
        shapes = ", ".join(f"{name} {list(shape)}" for name, (_, shape) in sorted(tensors.items()))
        yield problem(
            named(path),
            "",
            shapes or "no tensors",
            f"a matrix of d_sae × d_in, {d_sae} × {d_in}",
            "correct $.sae.d_in and $.sae.d_sae, or the file",
        )


def _is_format(names: set[str]) -> bool:
    inside = {name.removeprefix("ae.").removeprefix("state_dict.") for name in names}
    return any(mark <= inside for marks in MARKS.values() for mark in marks)


def _settings(path: Path, sae: Mapping[str, Any]) -> Iterator[Problem]:
    try:
        config = read_object(path, MAX_SETTINGS)
    except JsonProblem as error:
        yield problem(named(path), "", error.found, error.expected, "write the file again")
        return
    for key in ("d_in", "d_sae"):
        own, given = config.get(key), sae.get(key)
        if type(own) is int and given is not None and own != given:
            yield problem(
                named(path),
                f"$.{key}",
                own,
                f"{given}, as the document says",
                "correct one of both",
            )
