"""``python -m bench PART``: only what is named runs, and the rest of the file stays."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench import __main__ as bench


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Names of the parts that ran; each gives one figure, the number of parts that ran so far."""
    names: list[str] = []

    def module(name: str) -> SimpleNamespace:
        names.append(name.removeprefix("bench."))
        wanted = dict.fromkeys((key for _, key, _, _ in bench.TARGETS), 1.0)
        figure = {"what": "a figure", **wanted, "seconds": len(names)}
        known = {"divergence": "divergence", "pairs": "tapa"}
        return SimpleNamespace(run=lambda: {known.get(names[-1], names[-1]): figure})

    monkeypatch.setattr(bench, "import_module", module)
    monkeypatch.setattr(bench, "OUT", tmp_path / "latest.json")
    return names


def run(monkeypatch: pytest.MonkeyPatch, *parts: str) -> dict:
    monkeypatch.setattr(sys, "argv", ["bench", *parts])
    bench.main()
    return json.loads(bench.OUT.read_bytes())["parts"]


def test_named_parts_replace_their_own_figures(
    ran: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = run(monkeypatch, "divergence", "pairs", "divergence")
    assert ran == ["divergence", "pairs"]
    assert list(first) == ["divergence", "pairs"]
    assert first["divergence"]["targets"] == [
        {"figure": "divergence.seconds", "found": 1, "target": 10, "ok": True}
    ]
    shown = capsys.readouterr().out
    assert "MISS tapa.seconds = 2 (wanted <= 0.5)" in shown
    second = run(monkeypatch, "pairs")
    assert second["divergence"] == first["divergence"]
    assert second["pairs"]["figures"]["tapa"]["seconds"] == 3
    assert "divergence.seconds" not in capsys.readouterr().out


def test_every_part_runs_where_none_is_named(
    ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.OUT.write_text('{"figures": {}, "parts": []}')  # of another layout
    assert sorted(run(monkeypatch)) == sorted(bench.PARTS) == sorted(ran)
    for name in bench.PARTS:
        assert (Path(bench.__file__).parent / f"{name}.py").is_file()


def test_an_unknown_part_is_named(
    ran: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(monkeypatch, "dense", "densities")
    assert stopped.value.code == 2
    assert "no part 'densities'" in capsys.readouterr().err
    assert ran == []
