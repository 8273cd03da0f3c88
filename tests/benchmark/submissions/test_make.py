"""``assay submit init``: what it reads, asks, copies, converts and refuses."""

import hashlib
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from small_saes import build, rules
from submission_cases import make_result, write_result

from benchmark.errors import UserError
from benchmark.runs import weights_sha256
from benchmark.saes import load_sae
from benchmark.saes.formats.assay import FORMAT
from benchmark.submissions import load_submission
from benchmark.submissions.check import check
from benchmark.submissions.make import Answers, make_submission, read_source
from benchmark.submissions.saes import open_sae

FULL = ("--id", "mine", "--name", "My SAE", "--author", "Ada", "--licence", "MIT",
        "--encoder", "efficientnet-lite0", "--trained-on", "synavatars:match")  # fmt: skip
ORIGIN = {
    "dataset": {"name": "synavatars", "revision": "1.0", "fingerprint": "0" * 64},
    "encoder": {"name": "efficientnet-lite0", "weights_sha256": None},
    "split": "match",
}


@pytest.fixture
def sae(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    FORMAT.save(build(rules()["topk"]), tmp_path / "sae", {})
    return tmp_path / "sae"


def test_flags_make_a_valid_submission(assay: Any, sae: Path) -> None:
    code, shown, complaint = assay("submit", "init", sae, *FULL)
    assert (code, complaint) == (0, "")
    assert shown.startswith("submissions/saes/mine: topk, 40 latents")
    found = load_submission(Path("submissions/saes/mine"), kind="saes")
    assert found.document["sae"] == {
        "architecture": "topk",
        "d_in": 12,
        "d_sae": 40,
        "k": 5,
        "files": [
            {"path": name, "sha256": hashlib.sha256((sae / name).read_bytes()).hexdigest()}
            for name in ("config.json", "sae.safetensors")
        ],
    }
    assert check(Path("submissions")).problems == ()
    assert weights_sha256(open_sae(found)) == weights_sha256(load_sae(sae))


def test_what_the_file_says_need_not_be_said(assay: Any, sae: Path) -> None:
    FORMAT.save(build(rules()["relu"]), sae, ORIGIN)
    given = ("--id", "mine", "--name", "My SAE", "--author", "Ada", "--licence", "MIT")
    code, shown, complaint = assay("submit", "init", sae, *given, "--json")
    assert code == 0, complaint
    document = json.loads(shown)
    assert document["encoder"] == "efficientnet-lite0"
    assert document["training_data"] == [{"dataset": "synavatars", "splits": ["match"]}]
    assert "k" not in document["sae"]


def test_without_a_terminal_every_missing_option_is_named(assay: Any, sae: Path) -> None:
    code, _, complaint = assay("submit", "init", sae, "--name", "x")
    assert code == 2
    assert complaint == (
        "error: the SAE's file does not say everything; give --id, --licence, --encoder, "
        "--author, --trained-on\n"
    )
    assert not Path("submissions").exists()


def test_on_a_terminal_it_asks(assay: Any, sae: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    lines = ("mine", "MIT", "efficientnet-lite0", "Ada; Bob <https://b.org>", "a:x,y; b:z")
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(lines) + "\n"))
    code, shown, complaint = assay("submit", "init", sae, "--name", "x")
    assert code == 0, complaint
    assert "licence of the weights" in shown
    document = load_submission(Path("submissions/saes/mine"), kind="saes").document
    assert document["authors"] == [{"name": "Ada"}, {"name": "Bob", "url": "https://b.org"}]
    assert document["training_data"] == [
        {"dataset": "a", "splits": ["x", "y"]},
        {"dataset": "b", "splits": ["z"]},
    ]


@pytest.mark.parametrize(
    ("text", "author"),
    [
        ("Ada Example", {"name": "Ada Example"}),
        (" Ada <0000-0002-1825-0097> ", {"name": "Ada", "orcid": "0000-0002-1825-0097"}),
        ("A <https://orcid.org/0000-0002-1825-0097>", {"name": "A",
                                                       "orcid": "0000-0002-1825-0097"}),
        ("Team <https://example.org/x>", {"name": "Team", "url": "https://example.org/x"}),
    ],
)  # fmt: skip
def test_an_author_may_have_a_page_or_an_orcid(sae: Path, text: str, author: dict) -> None:
    answers = Answers("mine", "x", "MIT", "efficientnet-lite0", (text,), ("a:b",))
    folder, _ = make_submission(read_source(str(sae)), answers, Path("submissions"))
    assert load_submission(folder, kind="saes").authors == [author]


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("--id", "My SAE", "lower-case letters, digits and dashes"),
        ("--id", "con", "no reserved name"),
        ("--author", "<>", "expected NAME"),
        ("--author", "Ada <javascript:x>", "$.authors[0].url"),
        ("--licence", "mine", "SPDX"),
        ("--trained-on", "synavatars", "expected DATASET:SPLIT"),
        ("--trained-on", "synavatars:", "expected DATASET:SPLIT"),
        ("--name", "a\u202eb", "zero-width or direction"),
        ("--encoder", "effnet", "$.encoder: found effnet; expected one of clip-vit-l-14"),
        ("--encoder", "timm", "expected timm:MODEL"),
        ("--encoder", "dinov2-vit-s-14:token=none", "expected one of pooled, cls"),
    ],
)
def test_a_wrong_answer_writes_nothing(
    assay: Any, sae: Path, option: str, value: str, text: str
) -> None:
    options = list(FULL)
    options[options.index(option) + 1] = value
    code, _, complaint = assay("submit", "init", sae, *options)
    assert code == 2
    assert text in complaint
    assert complaint.count("\n") == 1
    assert not [path for path in Path().glob("submissions/**/*") if path.is_file()]


def test_every_wrong_answer_is_named_at_once(assay: Any, sae: Path) -> None:
    options = list(FULL)
    for option, value in (("--licence", "mine"), ("--encoder", "effnet"), ("--author", "A <x>")):
        options[options.index(option) + 1] = value
    code, _, complaint = assay("submit", "init", sae, *options)
    assert code == 2
    for part in ("$.licence", "$.encoder", '$.authors[0].url: found "x"; expected an https://'):
        assert part in complaint


@pytest.mark.parametrize(
    ("option", "value", "own"), [("--k", "7", "5"), ("--architecture", "relu", "topk")]
)
def test_an_option_that_the_file_contradicts_is_refused(
    assay: Any, sae: Path, option: str, value: str, own: str
) -> None:
    code, _, complaint = assay("submit", "init", sae, *FULL, option, value)
    assert code == 2
    assert complaint == f"error: {option} {value}: {sae} says {own}; leave {option} out\n"


def test_nothing_is_overwritten_unless_forced_and_results_never(assay: Any, sae: Path) -> None:
    assert assay("submit", "init", sae, *FULL)[0] == 0
    folder = Path("submissions/saes/mine")
    before = (folder / "submission.json").read_bytes()
    options = [*FULL[:3], "Another name", *FULL[4:]]
    code, _, complaint = assay("submit", "init", sae, *options)
    assert code == 2
    assert "is there already; choose another --id or give --force" in complaint
    assert (folder / "submission.json").read_bytes() == before
    assert assay("submit", "init", sae, *options, "--force")[0] == 0
    assert load_submission(folder, kind="saes").name == "Another name"
    write_result(folder, make_result("mine"))
    code, _, complaint = assay("submit", "init", sae, *FULL, "--force")
    assert code == 2
    assert "has results" in complaint
    assert load_submission(folder, kind="saes").name == "Another name"


def test_a_torch_file_is_converted_and_says_so(assay: Any, sae: Path) -> None:
    source = build(rules()["topk"])
    state = {
        "encoder.weight": torch.from_numpy(source.encoder),
        "encoder.bias": torch.from_numpy(source.encoder_bias),
        "decoder.weight": torch.from_numpy(source.decoder.T.copy()),
        "b_dec": torch.from_numpy(source.decoder_bias),
        "k": torch.tensor(5),
    }
    folder = Path("other")
    folder.mkdir()
    torch.save(state, folder / "ae.pt")
    trainer = {"dict_class": "AutoEncoderTopK", "activation_dim": 12, "dict_size": 40, "k": 5}
    (folder / "config.json").write_text(json.dumps({"trainer": trainer}))
    code, _, complaint = assay("submit", "init", folder, *FULL)
    assert code == 0, complaint
    assert "note: ae.pt was converted to safetensors, in the suite's own format" in complaint
    made = Path("submissions/saes/mine")
    assert {path.name for path in made.iterdir()} == {
        "config.json",
        "sae.safetensors",
        "submission.json",
    }
    found = open_sae(load_submission(made, kind="saes"))
    assert weights_sha256(found) == weights_sha256(load_sae(folder))
    assert check(Path("submissions")).problems == ()


def test_a_torch_file_of_one_threshold_keeps_its_tensors(assay: Any, sae: Path) -> None:
    source = build(rules()["topk"])
    state = {
        "encoder.weight": torch.from_numpy(source.encoder),
        "encoder.bias": torch.from_numpy(source.encoder_bias),
        "decoder.weight": torch.from_numpy(source.decoder.T.copy()),
        "b_dec": torch.from_numpy(source.decoder_bias),
        "k": torch.tensor(5),
        "threshold": torch.tensor(0.7),
    }
    folder = Path("outer/sae")
    folder.mkdir(parents=True)
    torch.save(state, folder / "ae.pt")
    trainer = {"dict_class": "BatchTopKSAE", "activation_dim": 12, "dict_size": 40, "k": 5}
    (folder / "config.json").write_text(json.dumps({"trainer": trainer}))
    code, _, complaint = assay("submit", "init", "outer", *FULL)
    assert (code, complaint) == (2, "error: outer: no weights here, but in outer/sae; give that "
                                    "folder\n")  # fmt: skip
    code, _, complaint = assay("submit", "init", folder, *FULL)
    assert code == 0, complaint
    assert "note: ae.pt was converted to safetensors, in their library's format" in complaint
    made = Path("submissions/saes/mine")
    names = {path.name for path in made.iterdir()}
    assert names == {"config.json", "ae.safetensors", "submission.json"}
    found = open_sae(load_submission(made, kind="saes"))
    assert found.architecture == "batchtopk"
    assert weights_sha256(found) == weights_sha256(load_sae(folder))
    assert check(Path("submissions")).problems == ()


def test_large_weights_belong_on_the_hub(sae: Path) -> None:
    FORMAT.save(build(rules(800)["relu"], d_sae=800, d_in=700), sae, {})
    answers = Answers("mine", "x", "MIT", "efficientnet-lite0", ("Ada",), ("a:b",))
    with pytest.raises(UserError, match="put it on the Hub as safetensors"):
        make_submission(read_source(str(sae)), answers, Path("submissions"))
    assert not Path("submissions/saes/mine").exists()


def test_from_the_hub_the_files_stay_there(
    assay: Any, sae: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmark.saes.hub.fetch", lambda text: sae)
    monkeypatch.setattr("benchmark.saes.formats.fetch", lambda text: sae)
    text = "owner/name/layer.3/sae_1@" + "ab" * 20
    code, _, complaint = assay("submit", "init", text, *FULL)
    assert code == 0, complaint
    folder = Path("submissions/saes/mine")
    assert [path.name for path in folder.iterdir()] == ["submission.json"]
    block = load_submission(folder, kind="saes").document["sae"]
    assert block["hub"] == {
        "repo": "owner/name",
        "folder": "layer.3/sae_1",
        "revision": "ab" * 20,
    }
    assert {each["path"] for each in block["files"]} == {"config.json", "sae.safetensors"}
    assert check(Path("submissions")).problems == ()


def test_a_path_that_is_none_is_one_line(assay: Any, sae: Path) -> None:
    code, _, complaint = assay("submit", "init", "nowhere", *FULL)
    assert code == 2
    assert complaint == "error: nowhere: no such file or folder; expected an SAE\n"


def test_the_weights_file_alone_is_enough(sae: Path) -> None:
    place = Path("a folder with spaces")
    shutil.copytree(sae, place)
    (place / "sae.safetensors").rename(place / "my weights (1).safetensors")
    answers = Answers("mine", "x", "MIT", "efficientnet-lite0", ("Ada",), ("a:b",))
    source = read_source(str(place / "my weights (1).safetensors"))
    folder, _ = make_submission(source, answers, Path("submissions"))
    assert (folder / "sae.safetensors").is_file()
    assert check(Path("submissions")).problems == ()
