from dataclasses import replace
from itertools import pairwise

import pytest

from generation.avatars.audit import audit
from generation.avatars.licence import licences
from generation.avatars.render import changed_pixels, definition, draw, prepared
from generation.avatars.sample import draw_base, draw_edit, edits_of
from generation.avatars.space import (
    CONCEPTS,
    GROUPS,
    VOCABULARY,
    Attribute,
    StyleSpec,
    Value,
    variants,
)
from generation.avatars.styles import STYLES

EACH_STYLE = pytest.mark.parametrize("spec", STYLES.values(), ids=list(STYLES))


def test_the_vocabulary_is_large_enough() -> None:
    assert len(CONCEPTS) == len(set(CONCEPTS)) == len(GROUPS) >= 45
    assert len(VOCABULARY) >= 11
    drawn = {(group, name) for spec in STYLES.values() for group, name in values_of(spec)}
    assert drawn == {
        (group, name) for group, names in VOCABULARY.items() for name in names if group != "style"
    }


def values_of(spec: StyleSpec) -> list[tuple[str, str]]:
    return [
        (attribute.group, value.name)
        for attribute in spec.attributes
        for value in attribute.values
        if value.name is not None
    ]


def test_an_unknown_value_is_refused() -> None:
    wrong = Attribute("glasses", (Value("monocle", variants("glasses", "round")),))
    with pytest.raises(ValueError, match="unknown glasses 'monocle'"):
        replace(STYLES["voxel"], attributes=(wrong,))


@EACH_STYLE
def test_every_option_named_exists_in_the_style(spec: StyleSpec) -> None:
    data = definition(spec.style)
    colours = set(prepared(spec.style, spec.recolour).colors()) | {"background"}
    drawings = [
        options
        for attribute in spec.attributes
        for value in attribute.values
        for options in value.drawings
    ]
    for options in [*drawings, spec.fixed, *(each for group in spec.nuisances for each in group)]:
        for key, value in options.items():
            if key.endswith("Variant"):
                assert value in data["components"][key.removesuffix("Variant")]["variants"]
            elif key.endswith("Probability"):
                assert key.removesuffix("Probability") in data["components"]
                assert value in (0, 100)
            elif key.endswith("Color"):
                assert key.removesuffix("Color") in colours
            else:
                assert key in ("scale", "translateY")


@EACH_STYLE
def test_chance_inside_dicebear_is_shut_out(spec: StyleSpec) -> None:
    """Every component is settled to one variant or none, and every colour used is given."""
    style = prepared(spec.style, spec.recolour)
    for index in range(200):
        base = draw_base(1, "any", index)
        if base.identity.spec is not spec:
            continue
        options = base.options
        for name in style.components():
            shown = options[f"{name}Probability"]
            assert shown == 0 or isinstance(options[f"{name}Variant"], str), name
        for name in style.colors():
            assert f"{name}Color" in options, name


def test_all_styles_are_in_the_public_domain() -> None:
    found = licences()
    assert [each.label for each in found] == ["voxel", "pixel", "peeps"]
    assert {each.licence for each in found} == {"CC0 1.0"}
    assert {each.creator for each in found} == {"DiceBear", "Pablo Stanley"}


@EACH_STYLE
def test_no_couplings_are_left(spec: StyleSpec) -> None:
    assert [str(finding) for finding in audit(spec)] == []


def found(label: str, groups: list[str], **changes: object) -> set[tuple[str | None, str | None]]:
    spec = replace(STYLES[label], **changes)  # type: ignore[arg-type]
    return {(each.edit.name, each.under.name) for each in audit(spec, groups)}


@pytest.mark.parametrize(
    ("label", "groups", "changes", "expected"),
    [
        # Hair colour also colours the beard.
        ("voxel", ["hair colour", "facial hair"], {"recolour": ()}, ("red", "beard")),
        # Hats and bald heads hide hair colour.
        ("voxel", ["hair colour", "top"], {"hidden": ()}, ("red", "hat")),
        ("voxel", ["hair colour", "top"], {"hidden": ()}, ("red", "bald")),
        ("pixel", ["hair colour", "top"], {"hidden": ()}, ("red", "hat")),
        # Glasses hide the eyes.
        ("voxel", ["glasses", "eyes"], {"conflicts": ()}, ("closed", "sunglasses")),
        # Long hair hides earrings.
        ("pixel", ["earrings", "top"], {"conflicts": ()}, ("earrings", "long")),
        # A mask hides expression and facial hair.
        ("peeps", ["expression", "mask"], {"conflicts": ()}, ("teeth", "respirator")),
        ("peeps", ["facial hair", "mask"], {"conflicts": ()}, ("moustache", "medical")),
        # Turban, bun and beanie take the clothing's colour.
        ("peeps", ["clothing", "top"], {"recolour": ()}, ("green", "turban")),
        ("peeps", ["clothing", "top"], {"recolour": ()}, ("green", "bun")),
        ("peeps", ["clothing", "top"], {"recolour": ()}, ("green", "hat")),
    ],
)
def test_the_audit_finds_each_known_coupling(
    label: str, groups: list[str], changes: dict[str, object], expected: tuple[str, str]
) -> None:
    if changes == {"recolour": ()}:
        # Without the recolouring the own colours of the parts are not there to be given.
        fixed = {k: v for k, v in STYLES[label].fixed.items() if not k.startswith("headwear")}
        changes = {**changes, "fixed": fixed}
    assert expected in found(label, groups, **changes)


@pytest.mark.parametrize(
    ("head", "kept"), [("long", False), ("longBangs", False), ("mediumStraight", True)]
)
def test_heads_that_hide_the_clothing_are_left_out(head: str, kept: bool) -> None:
    peeps = STYLES["peeps"]
    tops = {
        options["headVariant"]
        for value in peeps.by_group["top"].values
        for options in value.drawings
    }
    assert (head in tops) == kept


def test_voxel_outfits_that_hide_the_shirt_are_left_out() -> None:
    values = STYLES["voxel"].by_group["outfit"].values
    drawn = {options["outfitVariant"] for value in values for options in value.drawings}
    assert drawn.isdisjoint({"jacket", "overalls", "coat", "suit", "dress", "checker"})


def test_hidden_hair_colour_is_labelled_absent() -> None:
    seen = {True: 0, False: 0}
    for index in range(300):
        base = draw_base(5, "any", index)
        spec = base.identity.spec
        if "hair colour" not in spec.by_group:
            continue
        hidden = base.values["top"] in ("bald", "hat", "animal ears")
        labelled = any(CONCEPTS[label].startswith("hair colour") for label in base.labels)
        assert labelled != hidden
        seen[labelled] += 1
    assert min(seen.values()) > 10


@pytest.mark.parametrize("index", range(0, 400, 7))
def test_edits_change_one_group_and_only_where_it_is_drawn(index: int) -> None:
    edit = draw_edit(11, index)
    base, edited = edit.base, edit.edited
    assert base.identity is edited.identity
    assert {g for g in base.values if base.values[g] != edited.values[g]} == {edit.group}
    changed = [label for label in (edit.added, edit.removed) if label is not None]
    assert base.labels ^ edited.labels == set(changed)
    assert {GROUPS[label] for label in changed} == {edit.group}
    spec = base.identity.spec
    allowed = {
        key
        for value in spec.by_group[edit.group].values
        for options in value.drawings
        for key in options
    }
    different = {
        k
        for k in {**base.options, **edited.options}
        if base.options.get(k) != edited.options.get(k)
    }
    assert different <= allowed


def test_kinds_of_edit_are_balanced() -> None:
    edits = [draw_edit(0, index) for index in range(1200)]
    adds = sum(edit.removed is None for edit in edits)
    removes = sum(edit.added is None for edit in edits)
    assert (adds, removes, 1200 - adds - removes) == (300, 300, 600)
    for column in ("added", "removed"):
        counts = [
            sum(getattr(edit, column) == label for edit in edits) for label in range(len(CONCEPTS))
        ]
        for label, count in enumerate(counts):
            assert (count == 0) if GROUPS[label] == "style" else (count >= 6), CONCEPTS[label]


def test_every_editable_concept_can_be_edited() -> None:
    reached = {target for kind in ("add", "remove", "swap") for target, _ in edits_of(kind)}
    assert reached == {
        (group, name) for group, names in VOCABULARY.items() for name in names if group != "style"
    }
    assert {group for (group, _), _ in edits_of("add")} == {
        "glasses",
        "facial hair",
        "expression",
        "eyes",
        "outfit",
        "earrings",
        "mask",
    }


def test_the_same_seed_draws_the_same_and_another_another() -> None:
    assert draw_base(1, "match", 5) == draw_base(1, "match", 5)
    drawn = [
        draw_base(1, "match", 5),
        draw_base(2, "match", 5),
        draw_base(1, "score", 5),
        draw_base(1, "match", 5, 1),
    ]
    for first, second in pairwise(drawn):
        assert first != second
    assert draw_edit(1, 5) == draw_edit(1, 5)
    assert draw_edit(1, 5) != draw_edit(1, 5, 1)


def test_drawing_twice_gives_the_same_pixels() -> None:
    base = draw_base(1, "match", 9)
    spec = base.identity.spec
    first, second = (draw(spec.style, spec.recolour, base.options) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert (first.size, first.mode) == ((224, 224), "RGB")
    assert not changed_pixels(first, second).any()
