"""The writing half of the Hub stand-in: accounts, repositories, large files, commits and tags.

    with HubServer() as hub:
        writes = HubWrites(hub)
        ...  # with HF_TOKEN=TOKEN and HF_HUB_DISABLE_XET=1

Its routes go before the reading ones, whose tree and file answers lack what the Hub says of large
files. What is uploaded is checked against the hash that it was announced with.
"""

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hub_server import HubServer, Repo, Request, Response, _resolve

REPO = "owner/tiny"
TOKEN = "hf_thisTokenMustNeverBeShownAnywhere"
ATTRIBUTES = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"
_LARGE = (".parquet", ".png", ".jpg", ".webp", ".jpeg")
_API = r"/api/datasets/(?P<id>[^/]+/[^/]+)"
_FILE = r"/(?P<kind>datasets)/(?P<id>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)"


def point_at(hub: HubServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process, and those that it starts, know the stand-in, with caches of their own."""
    from huggingface_hub import constants

    given = {
        "ASSAY_HOME": str(folder / "home"),
        "HF_ENDPOINT": hub.endpoint,
        "HF_TOKEN": TOKEN,
        "HF_HUB_CACHE": str(folder / "cache"),
        "HF_HUB_DISABLE_XET": "1",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    for name in ("HF_HUB_OFFLINE", "HUGGING_FACE_HUB_TOKEN", "HF_OIDC_RESOURCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder / "cache"))


def git_blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _header(request: Request, name: str) -> str:
    return next((text for key, text in request.headers.items() if key.lower() == name), "")


def listing(files: dict[str, bytes], folder: str, deep: bool) -> list[dict[str, Any]]:
    """Entries of a folder as the Hub describes them; of everything below it where ``deep``."""
    start = f"{folder}/" if folder else ""
    entries: dict[str, dict[str, Any]] = {}
    for path, data in sorted(files.items()):
        if not path.startswith(start):
            continue
        inner = path[len(start) :].split("/")
        for depth in range(1, len(inner) if deep else min(len(inner), 2)):
            name = start + "/".join(inner[:depth])
            entries[name] = {"type": "directory", "path": name, "oid": "0" * 40, "size": 0}
        if deep or len(inner) == 1:
            entries[path] = _described(path, data)
    return list(entries.values())


def _described(path: str, data: bytes) -> dict[str, Any]:
    entry = {"type": "file", "path": path, "size": len(data), "oid": git_blob(data)}
    if is_large(path):
        sha256 = hashlib.sha256(data).hexdigest()
        pointer = f"version x\noid sha256:{sha256}\nsize {len(data)}\n".encode()
        entry["oid"] = git_blob(pointer)
        entry["lfs"] = {"oid": sha256, "size": len(data), "pointerSize": len(pointer)}
    return entry


def is_large(path: str) -> bool:
    return path.endswith(_LARGE)


@dataclass
class HubWrites:
    """State and routes; every writing request needs ``Authorization: Bearer TOKEN``.

    Attributes:
        account, role: of the token.
        objects: large files by SHA-256, committed or not.
        private: ids of private repositories.
        twisted: content served in place of what a path holds.
    """

    hub: HubServer
    account: str = "tester"
    role: str = "write"
    objects: dict[str, bytes] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)
    twisted: dict[str, bytes] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        routes: list[tuple[str, str, Any, bool]] = [
            ("GET", "/api/whoami-v2", self._who, True),
            ("POST", "/api/repos/create", self._create, True),
            ("POST", "/api/validate-yaml", self._yaml, True),
            ("GET", _API, self._info, False),
            ("GET", _API + r"/revision/(?P<revision>[^/]+)", self._info, False),
            ("GET", _API + r"/tree/(?P<revision>[^/]+)(?:/(?P<inner>.+))?", self._tree, False),
            ("GET", _API + r"/refs", self._refs, False),
            ("POST", _API + r"/preupload/(?P<revision>[^/]+)", self._preupload, True),
            ("POST", _API + r"/commit/(?P<revision>[^/]+)", self._commit, True),
            ("POST", _API + r"/tag/(?P<revision>[^/]+)", self._tag, True),
            (
                "POST",
                r"/datasets/(?P<id>[^/]+/[^/]+)\.git/info/lfs/objects/batch",
                self._batch,
                True,
            ),
            ("PUT", r"/store/(?P<oid>[0-9a-f]{64})", self._put, False),
            ("POST", r"/verify", self._verify, True),
            ("HEAD", _FILE, self._file, False),
            ("GET", _FILE, self._file, False),
        ]
        self.hub.routes[:0] = [
            (method, re.compile(pattern), self._guarded(function, guarded))
            for method, pattern, function, guarded in routes
        ]

    @property
    def put_bytes(self) -> int:
        """Bytes of large files that came in, also of uploads that broke off."""
        return sum(size for method, _, size in self.hub.received if method == "PUT")

    def repo(self, repo_id: str) -> Repo:
        return self.hub.repos["datasets", repo_id]

    def tags(self, repo_id: str) -> dict[str, str]:
        refs = self.repo(repo_id).refs
        return {name: commit for name, commit in refs.items() if name != "main"}

    def files(self, repo_id: str, revision: str = "main") -> dict[str, bytes]:
        repo = self.repo(repo_id)
        return repo.commits[str(repo.commit(revision))]

    def _guarded(self, function: Any, guarded: bool) -> Any:
        def answer(_: HubServer, request: Request) -> Response:
            known = _header(request, "authorization") == f"Bearer {TOKEN}"
            hidden = unquote(request.match.groupdict().get("id") or "") in self.private
            if (guarded or hidden) and not known:
                code = "RepoNotFound" if hidden else ""
                return Response(401, b'{"error": "Invalid username or password."}', _code(code))
            return function(request)  # type: ignore[no-any-return]

        return answer

    def _who(self, _: Request) -> Response:
        token = {"displayName": "test", "role": self.role}
        auth = {"type": "access_token", "accessToken": token}
        return Response.of_json(
            {"type": "user", "id": "1", "name": self.account, "orgs": [], "auth": auth}
        )

    def _create(self, request: Request) -> Response:
        asked = json.loads(request.body)
        repo_id = f"{asked['organization']}/{asked['name']}"
        url = f"{self.hub.endpoint}/datasets/{repo_id}"
        if ("datasets", repo_id) in self.hub.repos:
            return Response.of_json({"error": "You already created this repo", "url": url}, 409)
        if asked["organization"] == "forbidden":
            return Response.of_json({"error": "You don't have the rights"}, 403)
        self.hub.add(repo_id, {".gitattributes": ATTRIBUTES})
        if asked.get("visibility") == "private":
            self.private.add(repo_id)
        return Response.of_json({"url": url, "id": "1", "name": repo_id})

    def _yaml(self, request: Request) -> Response:
        content = json.loads(request.body)["content"]
        if not content.startswith("---\n"):
            return Response.of_json({"errors": [{"message": "no metadata"}], "warnings": []}, 400)
        return Response.of_json({"errors": [], "warnings": []})

    def _info(self, request: Request) -> Response:
        found = self._find(request)
        if isinstance(found, Response):
            return found
        repo_id, commit, files = found
        return Response.of_json(
            {
                "_id": "0",
                "id": repo_id,
                "sha": commit,
                "private": repo_id in self.private,
                "siblings": [{"rfilename": path} for path in sorted(files)],
            }
        )

    def _find(self, request: Request) -> tuple[str, str, dict[str, bytes]] | Response:
        repo_id = unquote(request.match["id"])
        repo = self.hub.repos.get(("datasets", repo_id))
        if repo is None:
            return Response.missing("RepoNotFound")
        commit = repo.commit(unquote(request.match.groupdict().get("revision") or "main"))
        if commit is None:
            return Response.missing("RevisionNotFound")
        return repo_id, commit, repo.commits[commit]

    def _tree(self, request: Request) -> Response:
        found = self._find(request)
        if isinstance(found, Response):
            return found
        deep = request.query.get("recursive", ["false"])[0].lower()
        entries = listing(found[2], unquote(request.match["inner"] or ""), deep == "true")
        # as the Hub, in pages
        start = int(request.query.get("cursor", ["0"])[0])
        answer = Response.of_json(entries[start : start + 5])
        if start + 5 < len(entries):
            following = f"{request.path}?recursive={deep}&cursor={start + 5}"
            answer.headers["Link"] = f'<{self.hub.endpoint}{following}>; rel="next"'
        return answer

    def _refs(self, request: Request) -> Response:
        repo = self.hub.repos.get(("datasets", unquote(request.match["id"])))
        if repo is None:
            return Response.missing("RepoNotFound")
        refs: dict[str, list[dict[str, str]]] = {"branches": [], "converts": [], "tags": []}
        for name, commit in repo.refs.items():
            kind, place = ("branches", "heads") if name == "main" else ("tags", "tags")
            ref = {"name": name, "ref": f"refs/{place}/{name}", "targetCommit": commit}
            refs[kind].append(ref)
        return Response.of_json(refs)

    def _preupload(self, request: Request) -> Response:
        found = self._find(request)
        if isinstance(found, Response):
            return found
        answers = []
        for file in json.loads(request.body)["files"]:
            path, there = file["path"], found[2].get(file["path"])
            oid = None
            if there is not None:
                oid = hashlib.sha256(there).hexdigest() if is_large(path) else git_blob(there)
            mode = "lfs" if is_large(path) else "regular"
            answers.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        return Response.of_json({"files": answers})

    def _batch(self, request: Request) -> Response:
        asked = json.loads(request.body)
        assert asked["operation"] == "upload"
        objects = []
        for each in asked["objects"]:
            answer = {"oid": each["oid"], "size": each["size"]}
            if each["oid"] not in self.objects:
                upload = {"href": f"{self.hub.endpoint}/store/{each['oid']}?signature=secret"}
                verify = {"href": f"{self.hub.endpoint}/verify"}
                answer["actions"] = {"upload": upload, "verify": verify}
            objects.append(answer)
        return Response.of_json({"transfer": "basic", "objects": objects})

    def _put(self, request: Request) -> Response:
        if hashlib.sha256(request.body).hexdigest() != request.match["oid"]:
            return Response.of_json({"error": "the content has another hash"}, 400)
        self.objects[request.match["oid"]] = request.body
        return Response(200)

    def _verify(self, request: Request) -> Response:
        asked = json.loads(request.body)
        if len(self.objects.get(asked["oid"], b"")) != asked["size"]:
            return Response.of_json({"error": "not there"}, 404)
        return Response.of_json({})

    def _commit(self, request: Request) -> Response:
        found = self._find(request)
        if isinstance(found, Response):
            return found
        repo_id, parent, before = found
        header, *lines = [json.loads(line) for line in request.body.splitlines()]
        assert header["key"] == "header"
        if header["value"].get("parentCommit", parent) != parent:
            return Response.of_json({"error": "A commit has happened since."}, 412)
        files = dict(before)
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                if value["oid"] not in self.objects:
                    return Response.of_json({"error": "an object was not uploaded"}, 400)
                files[value["path"]] = self.objects[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
            else:
                return Response.of_json({"error": f"unknown key {line['key']}"}, 400)
        self.messages.append(header["value"]["summary"])
        commit = self.hub.add(repo_id, files)
        url = f"{self.hub.endpoint}/datasets/{repo_id}/commit/{commit}"
        return Response.of_json({"commitUrl": url, "commitOid": commit, "success": True})

    def _tag(self, request: Request) -> Response:
        found = self._find(request)
        if isinstance(found, Response):
            return found
        repo_id, commit, _ = found
        name = json.loads(request.body)["tag"]
        if name in self.repo(repo_id).refs:
            return Response.of_json({"error": "Tag reference exists already."}, 409)
        self.repo(repo_id).refs[name] = commit
        return Response.of_json({})

    def _file(self, request: Request) -> Response:
        found = self._find(request)
        path = unquote(request.match["path"])
        if isinstance(found, Response) or path not in found[2] or path in self.hub.failing:
            return _resolve(self.hub, request)
        data = self.twisted.get(path, found[2][path])
        large = is_large(path)
        etag = hashlib.sha256(data).hexdigest() if large else git_blob(data)
        headers = {"X-Repo-Commit": found[1], "Accept-Ranges": "bytes", "ETag": f'"{etag}"'}
        if large:
            headers |= {"X-Linked-Etag": f'"{etag}"', "X-Linked-Size": str(len(data))}
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", _header(request, "range"))
        if span is None or request.method == "HEAD":
            return Response(200, data, headers)
        first, last = int(span[1]), int(span[2] or len(data) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        return Response(206, data[first : last + 1], headers)


def _code(code: str) -> dict[str, str]:
    kind = {"Content-Type": "application/json"}
    return {**kind, "X-Error-Code": code} if code else kind
