import json

import pytest

from benchmark.errors import UserError
from generation.planning import Request, Rule, make_request
from schemas import load

TOML = """
name = "night-birds"
verify = "report_only"
edits = 10
classes = ["001.Auk"]

[[declare]]
name = "lighting: night"
group = "lighting"

[[rules]]
attribute_kind = "lighting"
add = "lighting: night"
prompt = "Show the {class} at night."
count = 5
[rules.base]
split = "match"
with = ["a: b"]
"""


def test_toml_and_json_say_the_same(tmp_path):
    import tomllib

    toml, plain = tmp_path / "r.toml", tmp_path / "r.json"
    toml.write_text(TOML)
    plain.write_text(json.dumps(tomllib.loads(TOML)))
    request = make_request("syncub", toml)
    assert request == make_request("syncub", plain)
    assert request.classes == ("001.Auk",)
    prompt = "Show the {class} at night."
    rule = Rule("lighting", "lighting: night", None, prompt, 5, split="match", shown=("a: b",))
    assert request.rules == (rule,)


def test_command_line_goes_first(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text(TOML)
    assert make_request("syncub", path, edits=3, seed=None).wanted == 3
    assert make_request("syncub", path).wanted == 10


def test_defaults_are_the_papers():
    bird, photo = make_request("syncub"), make_request("syncoco")
    assert (bird.wanted, bird.class_count, bird.concept_count) == (3063, 33, 45)
    assert photo.wanted == 9000
    assert (bird.base_split, photo.base_split) == ("score", "match")
    assert bird == Request("syncub")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("editz = 3", "$.editz: found unknown key"),
        ('edits = "3"', '$.edits: found "3", expected integer'),
        ("edits = ", "not TOML"),
        ('split = "train"', '$.split: found "train"'),
        ('[[rules]]\nattribute_kind = "x"\nprompt = "p"\ncount = 1', "give add or remove"),
        (
            '[[rules]]\nattribute_kind = "x"\nadd = "a"\nremove = "a"\nprompt = "p"\ncount = 1',
            "adds and removes 'a'",
        ),
        (
            '[[rules]]\nattribute_kind="x"\nremove="a"\nprompt="p"\ncount=1\nreferences=1',
            "no references to show",
        ),
        ('[[declare]]\nname="a"\ngroup="g"\n[[declare]]\nname="a"\ngroup="g"', "no name twice"),
    ],
)
def test_mistakes_are_one_line_with_file_and_key(tmp_path, text, said):
    path = tmp_path / "request.toml"
    path.write_text(text)
    with pytest.raises(UserError) as raised:
        make_request("syncub", path)
    assert str(path) in str(raised.value)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_byte_order_mark_is_passed_over(tmp_path):
    for name, text in (("r.toml", "edits = 3"), ("r.json", '{"edits": 3}')):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8-sig")
        assert make_request("syncub", path).wanted == 3


@pytest.mark.parametrize(
    "text", ['{"edits": 3, "edits": 4}', '{"rules": [{"count": 1, "count": 2}]}']
)
def test_a_key_twice_is_refused(tmp_path, text):
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(UserError, match=r"r\.json: '(edits|count)' is there twice; give it once"):
        make_request("syncub", path)


def test_a_seed_is_below_two_to_the_53():
    assert make_request("syncub", seed=2**53 - 1).seed == 2**53 - 1
    with pytest.raises(UserError, match=r"\$\.seed: found 9007199254740992"):
        make_request("syncub", seed=2**53)
    for name in ("plan", "plan-request", "edit-record"):
        assert load(name)["properties"]["seed"]["maximum"] == 2**53 - 1


def test_custom_needs_rules_and_a_name(tmp_path):
    with pytest.raises(UserError, match="needs rules"):
        make_request("custom", name="x")
    path = tmp_path / "r.toml"
    path.write_text('[[rules]]\nattribute_kind = "x"\nadd = "a"\nprompt = "p"\ncount = 1')
    with pytest.raises(UserError, match="needs a name"):
        make_request("custom", path)
    with pytest.raises(UserError, match="cannot read"):
        make_request("custom", tmp_path / "absent.toml")
