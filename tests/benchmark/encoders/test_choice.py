import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.encoders import load_encoder
from benchmark.encoders.choice import DTYPES, TOKENS, Choice, full_name, parse
from benchmark.errors import UserError


def test_defaults():
    assert parse("x", "", takes_model=False) == ("", Choice())
    assert parse("x", "a/b", takes_model=True) == ("a/b", Choice())
    assert full_name("x", "a/b", Choice(), usual="cls") == "x:a/b"
    assert full_name("x", "", Choice(), usual="cls") == "x"


@given(
    token=st.sampled_from([None, *TOKENS]),
    layer=st.none() | st.integers(1, 99),
    dtype=st.sampled_from(DTYPES),
    model=st.sampled_from(["", "owner/name", "./folder"]),
    usual=st.sampled_from(TOKENS),
)
def test_a_full_name_says_the_same(token, layer, dtype, model, usual):
    choice = Choice(token, layer, dtype)
    name = full_name("x", model, choice, usual=usual)
    again, parsed = parse("x", name.partition(":")[2], takes_model=bool(model))
    assert again == model
    assert (parsed.token or usual, parsed.layer, parsed.dtype) == (token or usual, layer, dtype)
    assert full_name("x", model, parsed, usual=usual) == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tokn=cls", r"option 'tokn=cls'; expected KEY=VALUE once each, keys: token \(pooled"),
        ("token=cls,token=mean", "option 'token=mean'; expected KEY=VALUE once"),
        ("token", "option 'token'; expected"),
        ("token=class", "token is 'class'; expected one of pooled, cls, mean, patches"),
        ("layer=0", "layer is '0'; expected a whole number from 1"),
        ("layer=-1", "layer is '-1'; expected"),
        ("layer=²", "layer is '²'; expected"),
        ("batch=many", "batch is 'many'; expected"),
        ("dtype=fp16", "dtype is 'fp16'; expected one of float32, bf16"),
        ("device=tpu", "device is 'tpu'; expected cpu, cuda"),
        ("token=cls,,", "option ''; expected"),
    ],
)
def test_a_wrong_option_is_one_line(text, message):
    with pytest.raises(UserError, match=message) as caught:
        parse("dinov2-vit-s-14", text, takes_model=False)
    assert str(caught.value).startswith("encoder dinov2-vit-s-14: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["timm", "timm:", "timm:token=cls", "open_clip:layer=3"])
def test_a_library_needs_a_model(name):
    with pytest.raises(UserError, match=r"expected (timm|open_clip):MODEL\[,KEY=VALUE…\]"):
        load_encoder(name)


def test_an_encoder_without_options():
    with pytest.raises(UserError, match="efficientnet-lite0 takes no options, found"):
        load_encoder("efficientnet-lite0:token=cls")
