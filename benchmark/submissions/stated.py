"""What an SAE's own files say of it, against what its document says; nothing here needs torch."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmark.submissions.problems import Problem, problem
from benchmark.submissions.reading import MAX_SETTINGS, read_object
from benchmark.submissions.stated_formats import FORMATS, Config, Stated, Tensors


def stated_in(weights: Path, settings: Path | None) -> Stated:
    """What a safetensors file and the settings beside it say; both were found to be sound."""
    from benchmark.tensors import read_tensors

    config = {} if settings is None else read_object(settings, MAX_SETTINGS)
    return stated(weights.name, read_tensors(weights)[0], config)


def stated(name: str, tensors: Tensors, config: Config) -> Stated:
    """What the weights file called ``name`` and the settings beside it say."""
    for matches, read in FORMATS:
        if matches(name, tensors, config):
            return read(tensors, config)
    return Stated()


def contradictions(sae: Mapping[str, Any], found: Stated, where: str) -> Iterator[Problem]:
    """What a document says of its SAE otherwise than the files do.

    Args:
        sae: ``sae`` of the document, None where a value breaks the schema.
        found: what the files say.
        where: how to name the document's file.
    """
    given = sae.get("architecture")
    if given is not None and found.architectures and given not in found.architectures:
        expected = f"{' or '.join(found.architectures)}, as the SAE's own files say"
        yield problem(where, "$.sae.architecture", given, expected, "write what the files hold")
    for key in ("d_in", "d_sae", "k"):
        given, own = sae.get(key), getattr(found, key)
        if None not in (given, own) and given != own:
            expected = f"{own}, as the SAE's own files say"
            yield problem(where, f"$.sae.{key}", given, expected, "write what the files hold")
