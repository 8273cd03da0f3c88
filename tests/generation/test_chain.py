"""Every stage after another, by its command: from photographs to a dataset that SAEs are scored on.

The models are tiny, everything else is what a user runs. Once without a break, and once with a
process killed in the middle of every stage.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import small_saes
from edit_work import encoded
from flux_models import write_klein
from foreign_folders import coco_document, put, write_coco
from hub_server import Fault, HubServer
from hub_writes import REPO, HubWrites, point_at
from package_work import decide
from PIL import Image
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.datasets import check_folder, load_dataset
from benchmark.saes.activations import TopK
from benchmark.saes.formats.assay import FORMAT
from generation.work import Work
from schemas import validate

SAMPLE = Path(__file__).resolve().parents[3] / "shared" / "data" / "cub_sample"
STAGES = ("plan", "edit", "verify", "review", "package", "publish")
HEAVY = ("edit", "verify")
"""Stages that take ten seconds to load their libraries."""
EDITS = 3


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Nets this small are fastest on one."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny FLUX.2 klein, and an SAE of the embedded encoder's features."""
    folder = tmp_path_factory.mktemp("models")
    write_klein(folder / "klein")
    FORMAT.save(small_saes.build(TopK(16), d_sae=48, d_in=1280), folder / "sae", {})
    return folder


@dataclass
class Chain:
    """A folder in which a dataset is made of ``source``, and the words of every stage."""

    root: Path
    source: str
    models: Path

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def out(self) -> Path:
        return self.root / "package"

    def words(self, stage: str) -> list[str]:
        kind = f"syn{self.source}"
        klein = str(self.models / "klein")
        few = "--weights none --epochs 2 --size 32 --batch-size 8 --least 1"
        rest = {
            "plan": f"--dataset {self.source} --kind {kind} --edits {EDITS} --verify report_only",
            "edit": f"{self.work} --model {klein} --licence Apache-2.0 --steps 1",
            "verify": f"{self.work} {few}",
            "review": f"{self.work} --reviewer ann --port 0",
            "package": f"{self.work} --out {self.out}",
            "publish": f"{self.out} --repo {REPO}",
        }[stage]
        where = ["--work", str(self.work)] if stage == "plan" else []
        return ["generate", stage, *rest.split(), *where]

    def run(self, stage: str) -> str:
        return assay(*self.words(stage))

    def decide(self) -> None:
        """What a reviewer does who accepts everything."""
        work = Work(self.work)
        decide(work, "ann", dict.fromkeys((edit.id for edit in work.plan.edits), "accept"))


def assay(*words: str) -> str:
    done = CliRunner().invoke(app, list(words))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def proved(chain: Chain, writes: HubWrites) -> str:
    """The published dataset loads, is the package, and scores an SAE; its fingerprint."""
    commit = writes.tags(REPO)["v1.0"]
    published, folder = load_dataset(REPO, revision=commit), load_dataset(chain.out)
    assert check_folder(chain.out).problems == []
    assert published.fingerprint == folder.fingerprint
    assert published.pairs is not None
    assert len(published.pairs) == EDITS
    by = ("--dataset", chain.source, "--pairs", f"{REPO}@{commit}")
    record = json.loads(assay("score", str(chain.models / "sae"), *by, "--json"))
    validate("result-sae", record)
    assert record["counts"]["pairs"] == EDITS
    assert record["dataset"]["name"] == chain.source
    assert record["pairs_dataset"] == {
        "name": f"syn{chain.source}",
        "revision": commit,
        "fingerprint": published.fingerprint,
    }
    return published.fingerprint


@contextmanager
def chain_on(
    write: Callable[[Path], None], source: str, models: Path, root: Path
) -> Iterator[tuple[Chain, HubServer, HubWrites]]:
    """A chain with a source, a home and a Hub of its own."""
    with pytest.MonkeyPatch.context() as patch, HubServer() as hub:
        point_at(hub, root, patch)
        write(root / "home" / "datasets" / source)
        yield Chain(root, source, models), hub, HubWrites(hub)


def slice_of_cub(root: Path) -> None:
    """Every other one of the real photographs, which is some of every species."""
    folder = root / "CUB_200_2011"
    lines = (SAMPLE / "CUB_200_2011" / "images.txt").read_text().splitlines()
    kept = dict(line.split() for line in lines[::2])
    for path in (SAMPLE / "CUB_200_2011").rglob("*.txt"):
        name = path.relative_to(SAMPLE / "CUB_200_2011").as_posix()
        text = path.read_text()
        by_image = name.startswith(("image", "train", "bounding")) or "image_attr" in name
        if by_image:
            text = "".join(line for line in text.splitlines(True) if line.split()[0] in kept)
        put(folder / name, text)
    for name in kept.values():
        put(folder / "images" / name, (SAMPLE / "CUB_200_2011" / "images" / name).read_bytes())
    shutil.copy(SAMPLE / "attributes.txt", root)


def small_coco(root: Path) -> None:
    """Twelve pictures to match on, six to score on, of two classes in turn."""
    from benchmark.datasets.coco import CLASSES

    # the numbers that COCO does not use
    unused = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}
    categories = dict(zip((n for n in range(1, 91) if n not in unused), CLASSES, strict=True))

    def document(images: range) -> dict[str, Any]:
        regions = [(image, category) for image in images for category in _shown(image)]
        return coco_document(images, regions, categories)

    def picture(number: int) -> bytes:
        colour = (40 * number % 256, 90 * number % 256, 15 * number % 256)
        image = Image.new("RGB", (64, 64), colour)
        image.paste((250, 250, 250), (number % 30, 10, number % 30 + 20, 40))
        return encoded(image)

    write_coco(root, document(range(1, 13)), document(range(101, 107)), picture=picture)


def _shown(image: int) -> list[int]:
    return [1, 1, 18] if image % 2 else [18, 18, 44]


@pytest.mark.skipif(not SAMPLE.is_dir(), reason="no real photographs beside the project")
def test_real_photographs_become_a_published_dataset(models: Path, tmp_path: Path) -> None:
    with chain_on(slice_of_cub, "cub", models, tmp_path) as (chain, _, writes):
        for stage in STAGES:
            if stage == "review":
                chain.decide()
            else:
                said = chain.run(stage)
        assert f"{REPO} v1.0 is commit {writes.tags(REPO)['v1.0']}" in said
        proved(chain, writes)
        assert "test server only" in said


@pytest.fixture(scope="module")
def unbroken(
    models: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, dict[str, int], int]:
    """Fingerprint of a chain on COCO that nothing breaks, what each stage put on disk, and PUTs."""
    root = tmp_path_factory.mktemp("unbroken")
    counts = {}
    with chain_on(small_coco, "coco", models, root) as (chain, hub, writes):
        for stage in STAGES:
            with landing(root) as landed:
                if stage == "review":
                    chain.decide()
                else:
                    chain.run(stage)
            counts[stage] = len(landed)
        puts = sum(method == "PUT" for method, _, _ in hub.received)
        return proved(chain, writes), counts, puts


@contextmanager
def landing(root: Path) -> Iterator[list[str]]:
    """What is put on disk below a folder: files that take their place, lines of journals."""
    landed: list[str] = []
    replace, fsync = Path.replace, os.fsync

    def replaced(self: Path, target: Path) -> Path:
        if counts(str(target), root):
            landed.append(str(target))
        return replace(self, target)

    def synced(handle: int) -> None:
        if counts(str(Path(f"/proc/self/fd/{handle}").readlink()), root):
            landed.append("journal")
        fsync(handle)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", replaced)
        patch.setattr(os, "fsync", synced)
        yield landed


def counts(place: str, root: Path) -> bool:
    """Whether it is of the stages themselves: the home holds what may be there already."""
    return place.startswith(f"{root}/") and not place.startswith(f"{root}/home/")


DYING = """
import os, signal, sys
from pathlib import Path
root, left = sys.argv[1], int(sys.argv[2])
replace, fsync = Path.replace, os.fsync
def count(place):
    global left
    if place.startswith(root + "/") and not place.startswith(root + "/home/"):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
def replaced(self, target):
    count(str(target))
    return replace(self, target)
def synced(handle):
    count(os.readlink(f"/proc/self/fd/{handle}"))
    fsync(handle)
Path.replace, os.fsync = replaced, synced
sys.argv = ["assay", *sys.argv[3:]]
from benchmark.cli import main
main()
"""


def started(code: list[str], words: list[str]) -> "subprocess.Popen[str]":
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *code, *words], env=environment, **pipes)


def killed(process: "subprocess.Popen[str]") -> None:
    _, err = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL, err


def killed_in_a_copy(dying: list[str], words: list[str]) -> None:
    """As ``killed``, in a copy of this process, which has loaded the heavy libraries already."""
    program, *rest = dying[1:]
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(120)  # nothing of this process can catch it, whatever it waits for
            sys.argv = ["-c", *rest, *words]
            exec(program, {})
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def review(process: "subprocess.Popen[str]", edits: list[str]) -> list[str]:
    """Accept these edits over HTTP; those that the server answered to."""
    assert process.stdout is not None
    address = process.stdout.readline().rpartition(" ")[2].strip().rstrip("/")
    done = []
    for edit in edits:
        try:
            page = urllib.request.urlopen(f"{address}/pair/{edit}").read().decode()
            form = dict(_hidden(page), decision="accept", note="")
            asked = urllib.request.Request(
                f"{address}/pair/{edit}", urlencode(form).encode(), {"Origin": address}
            )
            urllib.request.urlopen(asked).read()
        except (urllib.error.URLError, ConnectionError):
            break
        done.append(edit)
    return done


def _hidden(page: str) -> Iterator[tuple[str, str]]:
    form = page.partition("<form")[2].partition("</form>")[0]
    for part in form.split('<input type="hidden" ')[1:]:
        name, value = part.partition(">")[0].split('"')[1:4:2]
        yield name, unescape(value)


def killed_in_publishing(chain: Chain, hub: HubServer, place: int) -> None:
    """Killed when the Hub has read a part of the ``place``-th large file."""
    process: list[subprocess.Popen[str]] = []
    ready = threading.Event()

    def kill() -> None:
        ready.wait(60)
        process[0].kill()

    hub.faults.append(Fault("PUT", "/store/", after=place - 1, take=99, then=kill))
    process.append(started(["-m", "benchmark"], chain.words("publish")))
    ready.set()
    killed(process[0])


def killed_in_review(chain: Chain, dying: list[str], place: int) -> None:
    """Killed as it writes the ``place``-th decision; a second server takes those that are left."""
    words = chain.words("review")
    edits = [edit.id for edit in Work(chain.work).plan.edits]
    running = started(dying, words)
    done = review(running, edits)
    killed(running)
    assert len(done) == place - 1
    following = started(["-m", "benchmark"], words)
    assert review(following, edits[len(done) :]) == edits[len(done) :]
    following.send_signal(signal.SIGINT)
    following.communicate(timeout=60)


def test_a_chain_that_is_killed_in_every_stage_ends_the_same(
    models: Path, tmp_path: Path, unbroken: tuple[str, dict[str, int], int]
) -> None:
    fingerprint, landed, puts = unbroken
    draw = random.Random(7)
    with chain_on(small_coco, "coco", models, tmp_path) as (chain, hub, writes):
        for stage in STAGES:
            place = draw.randint(1, puts if stage == "publish" else landed[stage])
            dying = ["-c", DYING, str(tmp_path), str(place)]
            if stage == "review":
                killed_in_review(chain, dying, place)
                continue
            if stage == "publish":
                killed_in_publishing(chain, hub, place)
                assert writes.tags(REPO) == {}
            elif stage in HEAVY:
                killed_in_a_copy(dying, chain.words(stage))
            else:
                killed(started(dying, chain.words(stage)))
            chain.run(stage)
        assert proved(chain, writes) == fingerprint
