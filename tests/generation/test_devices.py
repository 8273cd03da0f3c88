import pytest
import torch

from benchmark.errors import UserError
from generation.devices import find_device, out_of_memory


def test_the_processor_has_one_name():
    # PyTorch takes any number here, and makes -25 of 999
    for name in ("cpu", "cpu:0", "cpu:999"):
        assert str(find_device(name)) == "cpu"


def test_a_graphics_card_is_taken_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert find_device("auto").type == "cpu"


@pytest.mark.parametrize(
    "name", ["", "foo", "meta", "meta:0", "CPU", "cuda:-1", "cuda:99", "cuda:x", "mkldnn", "hpu"]
)
def test_a_device_that_cannot_be_used_is_one_line(name, capfd):
    with pytest.raises(UserError) as raised:
        find_device(name)
    assert str(raised.value).startswith(f"device {name!r} cannot be used (")
    assert str(raised.value).endswith("give auto, cpu or cuda:N")
    assert "\n" not in str(raised.value)
    assert capfd.readouterr().err == ""


def test_a_card_that_is_full_cannot_be_used(monkeypatch):
    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch, "ones", full)
    with pytest.raises(UserError, match="CUDA out of memory"):
        find_device("cpu")


def test_what_it_is_called_when_memory_runs_out():
    with pytest.raises(RuntimeError) as raised:
        torch.empty(2**60, dtype=torch.uint8)
    assert out_of_memory(raised.value)
    assert out_of_memory(torch.OutOfMemoryError("x"))
    assert out_of_memory(MemoryError())
    assert not out_of_memory(RuntimeError("CUDA error: device-side assert"))
