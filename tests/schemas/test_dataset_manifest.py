"""The manifest's schema against what writes manifests, and what a reader says of a faulty one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dataset_cases import content, manifest, write

import schemas
from benchmark.datasets import load_dataset
from benchmark.errors import UserError

NAME = "dataset-manifest"


def test_what_synavatars_writes_is_valid(avatars: Path) -> None:
    schemas.validate(NAME, json.loads((avatars / "manifest.json").read_bytes()))


def test_every_package_manifest_is_a_dataset_manifest() -> None:
    package, general = schemas.load("package"), schemas.load(NAME)
    assert set(general["required"]) <= set(package["required"])
    assert set(package["properties"]) <= set(general["properties"])
    for key in ("generation", "review", "licences"):
        assert general["properties"][key] == package["properties"][key]


def _set(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda stated: stated.update(values)


def _misspelt_concept(stated: dict[str, Any]) -> None:
    stated["concepts"][1]["editible"] = True


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_set(licence="CC0"), r"\$\.licence: found unknown key"),
        (_set(fingerprint="abc"), r"\$\.fingerprint: found .abc., expected a SHA-256"),
        (_set(counts={"matches": 7}), r"\$\.counts\.matches: found unknown key"),
        (_set(counts={"match": -7}), r"\$\.counts\.match: found -7, expected at least 0"),
        (_set(probes={"raw_pixels_f1": float("nan")}), r"\$\.probes\.raw_pixels_f1: found NaN"),
        (_set(seed="0"), r'\$\.seed: found "0", expected integer'),
        (_misspelt_concept, r"\$\.concepts\[1\]\.editible: found unknown key"),
    ],
)
def test_a_faulty_manifest_is_one_line(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], expected: str
) -> None:
    rows = content()
    stated = manifest(rows)
    change(stated)
    with pytest.raises(UserError, match=r"manifest\.json: " + expected):
        load_dataset(write(tmp_path / "tiny", rows, stated))
