"""The server over HTTP: who may ask, what is escaped, what is written."""

import asyncio
import hashlib
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from edit_work import draw_bird, edited_work, encoded, log_edit
from fastapi import Request

from benchmark.cli import main
from generation.reviewing.app import _form
from generation.reviewing.pictures import difference_file
from generation.work import Check, Verdict, Work, base_bytes


def fields_of(page: str) -> dict[str, str]:
    """The hidden fields of the first form."""
    form = page.partition("<form")[2].partition("</form>")[0]
    found = {}
    for part in form.split('<input type="hidden" ')[1:]:
        name, value = part.partition(">")[0].split('"')[1:4:2]
        found[name] = unescape(value)
    return found


def test_a_review_over_http(work: Work, serve: Any) -> None:
    with serve(work, "http") as live:
        ids = live.session.queue.ids
        status, headers, _ = live.ask("GET", "/")
        assert (status, headers["location"]) == (303, f"/pair/{ids[0]}")
        for place, edit in enumerate(ids):
            status, _, page = live.ask("GET", f"/pair/{edit}?view=difference")
            assert status == 200
            form = fields_of(page)
            assert form["sha256"] == live.session.queue.items[edit].sha256
            word = ("accept", "reject", "unsure")[place % 3]
            status, headers, _ = live.post(f"/pair/{edit}", decision=word, note="ü", **form)
            following = ids[place + 1] if place + 1 < len(ids) else None
            where = f"/pair/{following}?view=difference" if following else "/"
            assert (status, headers["location"]) == (303, where)
            assert work.reviews()["http"][edit].note == "ü"
        status, _, page = live.ask("GET", "/")
        assert "All 5 pairs are decided" in page
        status, headers, _ = live.post("/undo")
        assert headers["location"] == f"/pair/{ids[-1]}"
        _, _, page = live.ask("GET", "/pairs")
        assert page.count("<strong class=") == 4
        assert "2 accepted · 1 rejected · 1 unsure · 1 open" in page


def test_requests_from_elsewhere_are_refused(work: Work, serve: Any) -> None:
    with serve(work, "guard") as live:
        edit = live.session.queue.ids[0]
        sha256 = live.session.queue.items[edit].sha256
        good = {"decision": "accept", "sha256": sha256}
        own = f"http://127.0.0.1:{live.port}"
        # a name that was made to point here
        for host in ("evil.example", f"evil.example:{live.port}", "127.0.0.1:1", "127.0.0.1", ""):
            assert live.ask("GET", f"/pair/{edit}", Host=host)[0] == 403
        assert live.ask("GET", f"/pair/{edit}", Host=f"localhost:{live.port}")[0] == 200
        for origin in ("http://evil.example", "null", own.replace("http", "https"), own + "0"):
            assert live.post(f"/pair/{edit}", {"Origin": origin}, **good)[0] == 403
            assert live.post("/undo", {"Origin": origin})[0] == 403
        body = f"token={live.session.token}&decision=accept&sha256={sha256}"
        assert live.ask("POST", f"/pair/{edit}", body)[0] == 403  # no origin at all
        fetched = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}
        assert live.ask("GET", f"/picture/{edit}/base", **fetched)[0] == 403
        followed = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
        assert live.ask("GET", f"/pair/{edit}", **followed)[0] == 200
        for token in ("", "x", live.session.token[:-1], "é"):
            status, _, page = live.post(f"/pair/{edit}", token=token, **good)
            assert status == 403
            assert "earlier run of the server; nothing was written" in page
        assert not (work.review / "guard.jsonl").exists()
        assert live.post(f"/pair/{edit}", **good)[0] == 303


def test_every_answer_carries_the_policy(work: Work, serve: Any) -> None:
    with serve(work, "policy") as live:
        edit = live.session.queue.ids[0]
        paths = ("/", f"/pair/{edit}", "/pairs", f"/picture/{edit}/base", "/static/review.js")
        for path in (*paths, "/nothing", "/static/../app.py"):
            _, headers, page = live.ask("GET", path)
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; ")
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["x-content-type-options"] == "nosniff"
            if headers.get("content-type", "").startswith("text/html"):
                assert headers["cache-control"] == "no-store"
                assert "style=" not in page
                assert " onclick" not in page
        for path in ("/docs", "/openapi.json", "/static/x", "/pair/nope", f"/picture/{edit}/x"):
            assert live.ask("GET", path)[0] == 404
        assert live.ask("PUT", "/pairs", Origin=f"http://127.0.0.1:{live.port}")[0] == 405


def test_pictures_are_the_files_themselves(work: Work, serve: Any) -> None:
    with serve(work, "files") as live:
        edit = live.session.queue.ids[0]
        item = live.session.queue.items[edit]

        def fetch(side: str) -> bytes:
            address = f"http://127.0.0.1:{live.port}/picture/{edit}/{side}"
            with urllib.request.urlopen(address) as answer:
                assert answer.headers["content-type"] == "image/png"
                return bytes(answer.read())

        assert hashlib.sha256(fetch("edited")).hexdigest() == item.sha256
        assert fetch("base") == base_bytes(live.session.source, item.edit.base)
        assert fetch("difference") == difference_file(work, live.session.source, item).content


def test_wrong_forms_write_nothing(work: Work, serve: Any) -> None:
    with serve(work, "forms") as live:
        edit = live.session.queue.ids[0]
        sha256 = live.session.queue.items[edit].sha256
        for wrong, status in (
            ({"decision": "undo"}, 409),
            ({"decision": ""}, 409),
            ({"sha256": "0" * 64}, 409),
            ({"note": "x" * 5000}, 409),
            ({"note": "x" * 70_000}, 403),  # too long to be read at all
        ):
            given = {"decision": "accept", "sha256": sha256, **wrong}
            assert live.post(f"/pair/{edit}", **given)[0] == status
        assert live.post("/pair/nope", decision="accept", sha256=sha256)[0] == 404
        many = "&".join(f"a{n}=b" for n in range(50))
        own = {"Origin": f"http://127.0.0.1:{live.port}"}
        assert live.ask("POST", f"/pair/{edit}", many, **own)[0] == 403
        assert live.ask("POST", f"/pair/{edit}", b"\xff\xfe%%%", **own)[0] == 403
        assert not (work.review / "forms.jsonl").exists()


def test_a_form_that_is_broken_off_is_no_fault() -> None:
    parts = iter(
        [
            {"type": "http.request", "body": b"token=", "more_body": True},
            {"type": "http.disconnect"},
        ]
    )

    async def receive() -> dict[str, Any]:
        return next(parts)

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)
    with ThreadPoolExecutor(1) as other:  # a browser's test may have left its loop in this one
        assert other.submit(asyncio.run, _form(request)).result() == {}


def test_hostile_text_is_only_text(work: Work, serve: Any) -> None:
    hostile = "<img src=x onerror=alert(1)>\"'&{{7*7}}</textarea><script>alert(2)</script>"
    with serve(work, "hostile") as live:
        queue = live.session.queue
        edit = queue.ids[0]
        item = queue.items[edit]
        planned = replace(
            item.edit, added=hostile, class_name=hostile, prompt=hostile, references=()
        )
        checks = tuple(
            Check(hostile, side, side == "edited", 0.5, 0.5, True)  # type: ignore[arg-type]
            for side in ("base", "edited")
        )
        verdict = Verdict(edit, work.plan.hash, item.sha256, checks, 0.0, True, (hostile,))
        queue.items[edit] = replace(item, edit=planned, verdict=verdict)
        queue.decide(edit, "unsure", hostile, item.sha256)
        for path in (f"/pair/{edit}", "/pairs", f"/pair/{edit}?view={hostile[:4]}"):
            status, _, page = live.ask("GET", path.replace("<", "%3C"))
            assert status == 200
            assert "<img src=x" not in page
            assert "<script>" not in page
            assert "{{7*7}}" in page
        # escaped once: the note comes back as it was written
        _, _, page = live.ask("GET", f"/pair/{edit}")
        shown = page.partition("<textarea")[2].partition("</textarea>")[0].partition(">\n")[2]
        assert unescape(shown) == hostile
        _, _, page = live.ask("GET", "/%3Cscript%3E")
        assert "<script>" not in page


def test_a_picture_that_is_not_the_logged_one_is_not_shown(tmp_path: Any, serve: Any) -> None:
    work = edited_work(tmp_path, 2)
    with serve(work, "ann") as live:
        edit = live.session.queue.ids[0]
        work.image(edit).write_bytes(encoded(draw_bird(123, ())))
        for path in (f"/picture/{edit}/edited", f"/pair/{edit}"):
            status, _, page = live.ask("GET", path)
            assert status == 409
            assert "not the picture that log.jsonl names" in page
        log_edit(work, work.plan.by_id[edit], draw_bird(123, ()))
    with serve(work, "ann") as live:
        assert live.ask("GET", f"/pair/{edit}")[0] == 200


def command(capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[int, str, str]:
    sys.argv = ["assay", "generate", "review", *map(str, words)]
    with pytest.raises(SystemExit) as end:
        main()
    captured = capsys.readouterr()
    return int(end.value.code or 0), captured.out, captured.err


def test_wrong_use_is_one_line(work: Work, serve: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(work, "taken") as live:
        code, _, error = command(capsys, work.root, "--reviewer", "x", "--port", live.port)
        assert (code, error.count("\n")) == (2, 1)
        assert "cannot be used" in error
        assert "give another --port" in error
    for words, text in (
        (["--reviewer", "../x"], "expected lower-case letters, digits and dashes"),
        ([], "say who reviews: --reviewer NAME"),
        (["--agreement", "--reviewer", "x"], "give --agreement alone"),
        (["--reviewer", "x", "--json"], "--json is for --agreement"),
    ):
        code, _, error = command(capsys, work.root, *words)
        assert (code, error.count("\n")) == (2, 1)
        assert text in error
    with work.locked("review-busy"):
        code, _, error = command(capsys, work.root, "--reviewer", "busy", "--port", 0)
        assert "another review-busy is under way" in error
    # what others decide in the meantime must be read: nothing is, before the lock is held
    with work.locked("adjudication"):
        code, _, error = command(capsys, work.root, "--reviewer", "late", "--adjudicate")
        assert "another adjudication is under way" in error


def test_the_agreement_table(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from generation.reviewing import Queue, reviewable

    work = edited_work(tmp_path, 4)
    for name, words in (("ann", "aaru"), ("bob", "arru")):
        queue = Queue(reviewable(work), work.review_log(name), work.plan.hash)
        for edit, letter in zip(queue.ids, words, strict=True):
            word = {"a": "accept", "r": "reject", "u": "unsure"}[letter]
            queue.decide(edit, word, "", queue.items[edit].sha256)
    code, out, _ = command(capsys, work.root, "--agreement")
    assert code == 0
    # p_o = 3/4, p_e = (2*1 + 1*2 + 1*1) / 16
    assert f"{(0.75 - 5 / 16) / (11 / 16):.3f}" in out
    assert "1 disagreements, 0 adjudicated" in out
    code, out, _ = command(capsys, work.root, "--agreement", "--json")
    assert '"both": 4' in out
