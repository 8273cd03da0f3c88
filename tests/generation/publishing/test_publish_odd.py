"""A Hub, or something in its place, that answers JSON of another form than the Hub's."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hub_server import HubServer, Response
from hub_writes import ATTRIBUTES, REPO, TOKEN, HubWrites

from generation.publishing.retry import shown

Assay = Callable[..., tuple[int, str, str]]
WHO, INFO, TREE = r"/api/whoami-v2", r"/api/datasets/[^/]+/[^/]+/revision/main", r".*/tree/.*"
CREATE, PREUPLOAD, COMMIT = r"/api/repos/create", r".*/preupload/.*", r".*/commit/.*"
URL = "http://127.0.0.1/datasets/owner/tiny/commit/x"


def answering(hub: HubServer, pattern: str, document: Any) -> None:
    """Every request to a path gets this document."""
    answer = Response.of_json(document)
    for method in ("GET", "POST"):
        hub.routes.insert(0, (method, re.compile(pattern), lambda *_: answer))


@pytest.mark.usefixtures("here", "waits", "writes")
@pytest.mark.parametrize(
    ("pattern", "document", "step"),
    [
        (WHO, [], "logging in"),
        (WHO, "x", "logging in"),
        (WHO, {"auth": {}}, "logging in"),
        (WHO, {"name": "x", "auth": "x"}, "logging in"),
        (INFO, {}, f"looking at {REPO}"),
        (INFO, None, f"looking at {REPO}"),
        (INFO, {"id": REPO, "sha": "main", "siblings": []}, f"looking at {REPO}"),
        (r".*/refs", {}, f"looking at {REPO}"),
        (r".*/refs", [], f"looking at {REPO}"),
        (TREE, {"error": "x"}, f"looking at {REPO}"),
        (TREE, ["a"], f"looking at {REPO}"),
        (TREE, [{"type": "file"}], f"looking at {REPO}"),
        (TREE, [{"type": "file", "path": 5, "size": 5, "oid": "x"}], f"looking at {REPO}"),
        (CREATE, {}, f"creating {REPO}"),
        (
            PREUPLOAD,
            {"files": [{"path": "x", "uploadMode": "lfs"}]},
            "sending pairs/test-00000-of-00003.parquet",
        ),
        (COMMIT, {}, f"committing to {REPO}"),
        (COMMIT, {"commitUrl": URL, "commitOid": 5}, f"committing to {REPO}"),
        (COMMIT, {"commitUrl": URL, "commitOid": "../x"}, f"committing to {REPO}"),
    ],
)
def test_an_answer_that_is_none_of_the_hub_is_one_line(
    packaged: Path, hub: HubServer, assay: Assay, pattern: str, document: Any, step: str
) -> None:
    answering(hub, pattern, document)
    code, _, err = assay(packaged, "--repo", REPO)
    assert code == 2, err
    line = err.splitlines()[-1]
    assert line.startswith(f"error: {step}: the Hub answered something else than expected (")
    assert all(set(repo.refs) <= {"main"} for repo in hub.repos.values())


def test_an_account_cannot_write_to_the_terminal(
    packaged: Path, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    writes.account = f"\x1b[31mroot\n::add-path::evil\u202e {TOKEN}"
    code, out, err = assay(packaged, "--repo", REPO, "--dry-run")
    assert code == 0, err
    assert "as �[31mroot ::add-path::evil� …, tag v1.0" in out
    assert shown("a\x07b") == "a�b"


def test_names_in_a_repository_cannot_either(
    packaged: Path, hub: HubServer, writes: HubWrites, assay: Assay
) -> None:
    held = {"seal": "x", "name": "tiny", "version": "1\x1b[2J"}
    files = {"manifest.json": json.dumps(held).encode(), "a\x1b[2Jb": b"x"}
    hub.add(REPO, {".gitattributes": ATTRIBUTES, **files})
    code, out, err = assay(packaged, "--repo", REPO, "--dry-run")
    assert code == 0, err
    assert "holds version ?" in out
    assert "  delete  a�[2Jb  1 bytes" in out
    assert "\x1b" not in out + err
