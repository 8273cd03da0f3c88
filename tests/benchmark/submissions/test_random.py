"""Random malformed manifests: every one is refused, none by a traceback."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from submission_cases import make_document, write_folder

from benchmark.errors import UserError
from benchmark.submissions import load_submission
from benchmark.submissions.check import check
from benchmark.submissions.reading import parse_object

COUNT = 600
Node = dict[str, Any] | list[Any]


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of everything in a document but itself."""
    found = []
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in items:
        found.append((*path, key))
        if isinstance(value, dict | list):
            found += places(value, (*path, key))
    return found


def parent_of(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        document = document[key]
    return document


REQUIRED = [
    ("schema_version",), ("id",), ("name",), ("authors",), ("licence",), ("sae",), ("encoder",),
    ("training_data",), ("authors", 0, "name"), ("sae", "architecture"), ("sae", "d_in"),
    ("sae", "d_sae"), ("sae", "files"), ("sae", "files", 0, "path"), ("sae", "files", 0, "sha256"),
    ("sae", "hub", "repo"), ("sae", "hub", "revision"), ("training_data", 0, "dataset"),
    ("training_data", 0, "splits"),
]  # fmt: skip
OTHER_TYPES: list[Any] = [None, True, 3, -1.5, "text \u202e", [], ["x"], {}, {"a": 1}, [[]]]


def drop_required(draw: random.Random, document: Any) -> str:
    path = draw.choice(REQUIRED)
    del parent_of(document, path)[path[-1]]
    return json.dumps(document)


def add_unknown(draw: random.Random, document: Any) -> str:
    objects = [(), *(p for p in places(document) if isinstance(at(document, p), dict))]
    name = "".join(draw.choices("abcxyz_-./<>\u202e$", k=draw.randint(1, 12))) + "Q"
    at(document, draw.choice(objects))[name] = draw.choice(OTHER_TYPES)
    return json.dumps(document)


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def change_type(draw: random.Random, document: Any) -> str:
    path = draw.choice(places(document))
    old = at(document, path)
    numbers = isinstance(old, int | float)
    wrong = [
        value
        for value in OTHER_TYPES
        if type(value) is not type(old) and not (numbers and isinstance(value, int | float))
    ]
    wrong += [False] if numbers else []
    parent_of(document, path)[path[-1]] = draw.choice(wrong)
    return json.dumps(document)


def spoil_text(draw: random.Random, document: Any) -> str:
    texts = [p for p in places(document) if isinstance(at(document, p), str)]
    path = draw.choice(texts)
    text = at(document, path)
    bad = draw.choice(["\u202e", "\u200b", "\x00", "\x1b[0m", "\u2066", "\ufeff", "\u2028"])
    where = draw.randint(0, len(text))
    parent_of(document, path)[path[-1]] = text[:where] + bad + text[where:]
    return json.dumps(document, ensure_ascii=draw.random() < 0.5)


def out_of_range(draw: random.Random, document: Any) -> str:
    path, values = draw.choice(
        [
            (("sae", "d_in"), [0, -1, 10**7 + 1, 10**30]),
            (("sae", "d_sae"), [0, 10**9, -(10**30)]),
            (("sae", "k"), [0, 41, 10**9]),
            (("claimed", "synavatars", "match_score"), [-0.01, 1.01, 53, 1e300]),
            (("claimed", "synavatars", "tapa_score"), [-2.01, 63.4, -(10**40)]),
            (("name",), ["", " ", "x" * 201, "x" * 10**5, "x "]),
            (("schema_version",), [0, 2, -1, 10**20]),
            (("authors",), [[], [{"name": "a"}] * 101]),
            (("id",), ["First", "fir st", "-first", "f" * 64, "first/", "..", "con", ""]),
            (("licence",), ["", "MIT OR", "mit", "Proprietary", "AND", "x" * 200]),
            (("encoder",), ["", "none such", "x" * 201]),
            (("sae", "hub", "revision"), ["main", "v1.0", "0" * 39, "0" * 41, "G" * 40]),
            (("sae", "files", 0, "sha256"), ["", "0" * 63, "A" * 64]),
            (("sae", "files", 0, "path"), ["ae.pt", "a/b.safetensors", ".safetensors", "x.bin"]),
            (("links", "paper"), ["http://a", "ftp://a", "//a", "https://", "https://ä"]),
            (("training_data", 0, "splits"), [[], ["a", "a"], [""], ["x"] * 2]),
        ]
    )
    parent_of(document, path)[path[-1]] = draw.choice(values)
    return json.dumps(document)


def break_json(draw: random.Random, document: Any) -> str:
    """Cut, doubled or sprinkled text that no longer is one JSON object."""
    text = json.dumps(document)
    while True:
        kind = draw.randrange(4)
        place = draw.randrange(1, len(text))
        if kind == 0:
            broken = text[:place]
        elif kind == 1:
            broken = text[:place] + draw.choice("{}[]:,\"'\\\x00") + text[place:]
        elif kind == 2:
            broken = draw.choice(["[", "", "null", "1", '"x"', "{}{}", "nan"]) + text[place:]
        else:
            broken = text[:place] + text[draw.randrange(place, len(text)) :]
        try:
            if parse_json(broken) is None:
                return broken
        except RecursionError:
            return broken


def parse_json(text: str) -> Any:
    """What the standard parser makes of it; None where that is no object, or repeats a key."""
    try:
        pairs = json.loads(text, object_pairs_hook=_unique)
    except ValueError:
        return None
    return pairs if isinstance(pairs, dict) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("twice")
    return dict(pairs)


def spoil_number(draw: random.Random, document: Any) -> str:
    text = json.dumps(document)
    bad = draw.choice(["NaN", "Infinity", "-Infinity", "1e999", "-1e400", "0x10", "1_0", "01"])
    return text.replace("0.53", bad, 1)


MUTATIONS: list[Callable[[random.Random, Any], str]] = [
    drop_required,
    add_unknown,
    change_type,
    spoil_text,
    out_of_range,
    break_json,
    spoil_number,
]


def manifests() -> list[tuple[str, str]]:
    """Name and text of every malformed manifest; the same on every run."""
    draw = random.Random("malformed manifests")
    return [
        (mutate.__name__, mutate(draw, make_document()))
        for mutate in (MUTATIONS[number % len(MUTATIONS)] for number in range(COUNT))
    ]


def test_no_traceback_and_no_acceptance(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, make_document())
    assert check(tmp_path).problems == ()
    found = manifests()
    assert len({text for _, text in found}) > COUNT // 2
    for name, text in found:
        (folder / "submission.json").write_bytes(text.encode("utf-8", "surrogatepass"))
        faults = check(tmp_path).problems
        assert faults, (name, text[:2000])
        assert all(str(fault).isprintable() and len(str(fault)) < 1200 for fault in faults), text


def refused(folder: Path) -> str | None:
    try:
        load_submission(folder, kind="saes")
    except UserError as error:
        return str(error)
    return None


def test_most_are_refused_on_loading_too(tmp_path: Path) -> None:
    """Loading opens no file and asks no registry, so what only these know passes there."""
    folder = write_folder(tmp_path, make_document())
    passed = []
    for name, text in manifests()[: COUNT // 2]:
        (folder / "submission.json").write_bytes(text.encode("utf-8", "surrogatepass"))
        complaint = refused(folder)
        if complaint is None:
            passed.append((name, text))
        else:
            assert complaint.isprintable()
    for name, text in passed:
        document = parse_object(text.encode())
        known = document["encoder"] == "efficientnet-lite0"
        small = document["sae"].get("k", 1) <= 40
        claims = set(document.get("claimed", {})) <= {"synavatars"}
        named = document["sae"]["files"][0]["path"].endswith(".safetensors")
        assert not (known and small and claims and named), (name, text)


@pytest.mark.parametrize("mutate", MUTATIONS)
def test_a_mutation_changes_the_document(mutate: Callable[[random.Random, Any], str]) -> None:
    for seed in range(20):
        assert mutate(random.Random(seed), make_document()) != json.dumps(make_document())
