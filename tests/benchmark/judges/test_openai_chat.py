"""A server that answers slowly, wrongly or not at all: nothing is lost, everything is counted."""

import base64
import io
import logging
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from PIL import Image
from scripted_server import Answer, sensible, serving

from benchmark.errors import CheckFailed, UserError
from benchmark.images import read_image
from benchmark.judges import JudgeContext
from benchmark.judges.backoff import Backoff, asked_wait
from benchmark.judges.base import Example
from benchmark.judges.chat import BudgetReached, Unanswered
from benchmark.judges.openai_chat import OpenAIChat, make
from benchmark.judges.options import JudgeOptions
from benchmark.judges.prompts import load_prompts
from benchmark.judges.recorded import Recorded
from benchmark.judges.transcript import Transcript

SECRET = "sk-secret-0123456789abcdef"
CONTEXT = JudgeContext(())
TEXTS = [Example(f"id-{i}", text=f"a «token{i}» here") for i in range(3)]


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def question(number=0):
    return load_prompts().question("rank", TEXTS, f"Hats {number}.")


def chat_of(server, waits=None, **options):
    options = {"model": "m", "base_url": server.url, "timeout": 5.0, "retries": 3} | options
    sleep = (waits if waits is not None else []).append
    return OpenAIChat(JudgeOptions(**options), Backoff(sleep, lambda: 1.0))


def scripted(*answers):
    """These answers one after the other, then sensible ones."""
    return lambda seen: answers[seen.number] if seen.number < len(answers) else sensible(seen)


def test_a_reply_comes_with_what_the_server_says_of_it():
    with serving() as server:
        reply = chat_of(server, temperature=0.5, seed=7, max_tokens=99).complete(question())
        (seen,) = server.seen
    assert (reply.text, reply.failures, reply.model) == ("2, 1, 3", {}, "scripted-1")
    assert (reply.prompt_tokens, reply.completion_tokens) == (11, 3)
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {SECRET}"
    body = seen.body
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"]) == (
        "m", 0.5, 7, 99,
    )  # fmt: skip


FAULTS = {
    "rate_limited": Answer(status=429, body={"error": {"message": "slow down"}}),
    "server_error": Answer(status=500, body=b"<html>oops</html>"),
    "connection": Answer(drop=0),
    "cut off": Answer(drop=20),
    "not JSON": Answer(body=b"{ not json"),
    "no choices": Answer(body={"choices": []}),
    "choices of null": Answer(body={"choices": [None]}),
    "no object": Answer(body=[1, 2]),
    "odd content": Answer(body={"choices": [{"message": {"content": 7}}]}),
    "deep": Answer(body=b"[" * 100_000),
    "empty": Answer(text=""),
}
KIND = {
    "cut off": "connection", "not JSON": "malformed", "no choices": "malformed",
    "choices of null": "malformed", "no object": "malformed", "odd content": "malformed",
    "deep": "malformed",
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_counted_and_the_request_sent_again(fault):
    waits = []
    with serving(scripted(FAULTS[fault])) as server:
        reply = chat_of(server, waits).complete(question())
        assert len(server.seen) == 2
        assert server.seen[0].body == server.seen[1].body
    assert reply.text == "2, 1, 3"
    assert reply.failures == {KIND.get(fault, fault): 1}
    assert len(waits) == 1


def test_a_server_that_is_too_slow_is_asked_again():
    with serving(scripted(Answer(delay=1.0))) as server:
        reply = chat_of(server, timeout=0.2).complete(question())
    assert reply.text == "2, 1, 3"
    assert reply.failures == {"timeout": 1}


def test_waits_grow_and_are_jittered():
    waits = []
    with serving(scripted(*[FAULTS["server_error"]] * 4)) as server:
        chat_of(server, waits, retries=4).complete(question())
    assert waits == [1.0, 2.0, 4.0, 8.0]
    drawn = []
    backoff = Backoff(drawn.append, random.Random(0).random)
    for _ in range(200):
        backoff.wait(3)
    assert 2.0 <= min(drawn) < 2.2 < 3.8 < max(drawn) <= 4.0
    backoff.wait(60)
    assert drawn[-1] <= 60


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ],
)
def test_what_a_server_asks_to_wait(headers, expected):
    assert asked_wait(headers) == expected


def test_a_date_to_wait_for():
    until = datetime.now(UTC) + timedelta(seconds=60)
    assert asked_wait({"retry-after": format_datetime(until)}) == pytest.approx(60, abs=3)


def test_retry_after_is_kept_to():
    waits = []
    limited = Answer(status=429, headers={"Retry-After": "7"}, body={"error": {"message": "no"}})
    with serving(scripted(limited)) as server:
        chat_of(server, waits).complete(question())
    assert 7.0 <= waits[0] <= 7.2


def test_too_long_a_wait_stops_the_run():
    limited = Answer(status=429, headers={"Retry-After": "3600"}, body={"error": {}})
    with (
        serving(scripted(limited)) as server,
        pytest.raises(Unanswered, match="asks to wait 3,600"),
    ):
        chat_of(server).complete(question())


def test_when_the_tries_are_used_up_the_run_stops_and_goes_on_later(tmp_path):
    faults = [
        FAULTS["rate_limited"],
        FAULTS["server_error"],
        FAULTS["connection"],
        Answer(text="a"),
    ]
    with serving(lambda seen: faults[min(seen.number, 3)]) as server:
        transcript = Transcript(tmp_path / "t.jsonl")
        judge = Recorded(chat_of(server, retries=2), transcript)
        with pytest.raises(CheckFailed, match="no answer after 3 tries") as stopped:
            judge.complete(question())
        message = str(stopped.value)
        assert "connection 1, rate_limited 1, server_error 1" in message
        assert "the same command goes on" in message
        assert "\n" not in message
        transcript.close()
        transcript = Transcript(tmp_path / "t.jsonl")
        reply = Recorded(chat_of(server), transcript).complete(question())
    assert reply.text == "a"
    assert reply.failures == {"rate_limited": 1, "server_error": 1, "connection": 1}


def test_nobody_there_is_a_connection_failure():
    with serving() as server:
        url = server.url
    options = JudgeOptions(model="m", base_url=url, retries=1)
    with pytest.raises(Unanswered, match=r"no answer after 2 tries \(connection 2"):
        OpenAIChat(options, Backoff(lambda _: None)).complete(question())


@pytest.mark.parametrize(
    ("status", "hint"),
    [(401, "check the key in OPENAI_API_KEY"), (403, "may not use this model"), (404, "--base-url"),
     (402, "cannot be mended"), (405, "cannot be mended")],
)  # fmt: skip
def test_what_asking_again_cannot_mend_stops_at_once(status, hint):
    refused = Answer(status=status, body={"error": {"message": f"no, {SECRET}\nno"}})
    with serving(scripted(refused)) as server:
        with pytest.raises(UserError, match=hint) as stopped:
            chat_of(server).complete(question())
        assert len(server.seen) == 1
    assert SECRET not in str(stopped.value)
    assert "\n" not in str(stopped.value)


def test_no_quota_is_not_waited_for():
    body = {"error": {"message": "no quota", "code": "insufficient_quota"}}
    with serving(scripted(Answer(status=429, body=body))) as server:
        with pytest.raises(Unanswered, match=r"no quota; .*once there is quota"):
            chat_of(server).complete(question())
        assert len(server.seen) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
@pytest.mark.parametrize(
    "body",
    [{"error": {"message": "too many pictures"}}, {"detail": "too many pictures"},
     {"error": "too many pictures"}, {"message": "too many pictures"}, b"too many pictures"],
)  # fmt: skip
def test_a_refused_request_is_an_answer_without_text(status, body):
    with serving(scripted(Answer(status=status, body=body))) as server:
        reply = chat_of(server).complete(question())
        assert len(server.seen) == 1
    assert (reply.text, reply.failures, reply.detail) == ("", {"refused": 1}, "too many pictures")


def test_refusals_of_all_first_requests_stop_the_run_with_the_servers_words(tmp_path):
    body = {"error": {"message": "this model takes no pictures"}}
    with serving(lambda _: Answer(status=400, body=body)) as server:
        judge = Recorded(chat_of(server), Transcript(tmp_path / "t.jsonl"))
        for number in range(4):
            judge.complete(question(number))
        with pytest.raises(UserError, match="this model takes no pictures"):
            judge.complete(question(4))


def test_a_filtered_or_declined_reply_is_a_refusal():
    declined = {"choices": [{"message": {"content": None, "refusal": "I will not"}}]}
    with serving(scripted(Answer(text=None, finish_reason="content_filter"))) as server:
        assert chat_of(server).complete(question()).failures == {"refused": 1}
    with serving(scripted(Answer(body=declined))) as server:
        reply = chat_of(server).complete(question())
    assert (reply.failures, reply.detail) == ({"refused": 1}, "I will not")


def test_a_reply_without_text_is_asked_for_twice_and_then_the_answer():
    with serving(lambda _: Answer(text=None)) as server:
        reply = chat_of(server).complete(question())
        assert len(server.seen) == 2
        assert (reply.text, reply.failures) == ("", {"empty": 2})
        assert chat_of(server, retries=0).complete(question()).failures == {"empty": 1}


def test_an_over_long_reply_is_kept_as_far_as_it_goes():
    long = Answer(text="2, 1, 3 because " * 50, finish_reason="length")
    with serving(scripted(long, Answer(text="x" * 2_000_000))) as server:
        chat = chat_of(server)
        reply = chat.complete(question())
        assert (reply.text, reply.failures) == (long.text, {"cut_short": 1})
        reply = chat.complete(question())
    assert (len(reply.text), reply.failures) == (100_000, {"cut_short": 1})


def test_text_in_parts_and_odd_characters():
    parts = [{"type": "text", "text": "2, 1"}, {"type": "text", "text": ", 3 \ud800"}]
    body = {"choices": [{"message": {"content": parts}}], "usage": {"prompt_tokens": -1}}
    with serving(scripted(Answer(body=body))) as server:
        reply = chat_of(server).complete(question())
    assert reply.text == "2, 1, 3 ?"
    assert reply.prompt_tokens is None


REFUSED_SETTINGS = {
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead.",
    "temperature": "Unsupported value: 'temperature' does not support 0 with this model. Only the "
    "default (1) value is supported.",
    "seed": "Unsupported parameter: 'seed' is not supported with this model.",
}


@pytest.mark.parametrize("with_param", [True, False])
def test_settings_that_a_model_refuses_are_left_out_and_counted(with_param):
    def picky(seen):
        for name, message in REFUSED_SETTINGS.items():
            if name in seen.body:
                error = {"message": message, "code": "unsupported_parameter"}
                return Answer(
                    status=400, body={"error": error | ({"param": name} if with_param else {})}
                )
        return sensible(seen)

    def picky_without(seen):
        answer = picky(seen)
        if answer.status == 400:
            answer.body = {"detail": answer.body["error"]["message"]}
        return answer

    with serving(picky if with_param else picky_without) as server:
        chat = chat_of(server, max_tokens=77)
        replies = [chat.complete(question(number)) for number in range(3)]
        bodies = [seen.body for seen in server.seen]
    assert len(bodies) == 3 + 3
    for reply in replies:
        assert reply.failures == {"without_temperature": 1, "without_seed": 1}
    assert bodies[-1]["max_completion_tokens"] == 77
    assert chat.identity()["settings"]["temperature"] == 0.0


def test_a_context_too_long_is_a_refusal_and_changes_no_setting():
    message = "This model's maximum context length is 4096 tokens; 'max_tokens' of 99 is too large"
    with serving(scripted(Answer(status=400, body={"error": {"message": message}}))) as server:
        chat = chat_of(server)
        assert chat.complete(question()).refused
        assert chat.complete(question()).failures == {}
        assert "max_tokens" in server.seen[1].body


def test_the_budget_counts_every_request_of_a_run(tmp_path):
    transcript = Transcript(tmp_path / "t.jsonl")
    with serving(scripted(FAULTS["server_error"])) as server:
        judge = Recorded(chat_of(server, max_calls=3), transcript)
        judge.complete(question(0))  # two requests
        judge.complete(question(1))
        judge.complete(question(0))  # known
        with pytest.raises(BudgetReached, match="stopped after 3 requests"):
            judge.complete(question(2))
        assert len(server.seen) == 3
        judge = Recorded(chat_of(server, max_calls=0), transcript)
        assert judge.complete(question(1)).text == "2, 1, 3"
        with pytest.raises(BudgetReached, match="stopped after 0 requests"):
            judge.complete(question(2))
        assert len(server.seen) == 3


def test_no_more_requests_at_once_than_allowed():
    def slow(seen):
        return Answer(text="2, 1, 3", delay=0.05)

    with serving(slow) as server:
        chat = chat_of(server, concurrency=3)
        with ThreadPoolExecutor(12) as pool:
            list(pool.map(lambda number: chat.complete(question(number)), range(12)))
        assert len(server.seen) == 12
        assert server.most_at_once == 3


def picture_bytes(mode="RGB", kind="PNG", **options):
    stream = io.BytesIO()
    Image.new(mode, (6, 4), options.pop("colour", 0)).save(stream, kind, **options)
    return stream.getvalue()


def turned():
    exif = Image.Exif()
    exif[0x0112] = 6
    return picture_bytes(kind="JPEG", exif=exif)


PICTURES = {
    "png": (picture_bytes(), "image/png", True),
    "jpeg": (picture_bytes(kind="JPEG"), "image/jpeg", True),
    "gray": (picture_bytes("L"), "image/png", True),
    "webp": (picture_bytes(kind="WEBP"), "image/png", False),
    "gif": (picture_bytes("P", kind="GIF"), "image/png", False),
    "transparent": (picture_bytes("RGBA"), "image/png", False),
    "16 bits": (picture_bytes("I;16"), "image/png", False),
    "turned": (turned(), "image/png", False),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_sent_as_every_server_takes_them(name):
    data, media, as_it_is = PICTURES[name]
    asked = load_prompts().question("detect", [Example("a", picture=lambda: data)], "Hats.")
    with serving() as server:
        chat_of(server).complete(asked)
        parts = server.seen[0].body["messages"][0]["content"]
    (url,) = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    head, _, sent = url.partition(",")
    assert head == f"data:{media};base64"
    sent = base64.b64decode(sent)
    assert (sent == data) == as_it_is
    assert read_image(sent).tobytes() == read_image(data).tobytes()


def test_a_broken_picture_is_named_before_anything_is_sent():
    asked = load_prompts().question("detect", [Example("a", picture=lambda: b"no")], "Hats.")
    with serving() as server:
        with pytest.raises(UserError, match="not a picture"):
            chat_of(server).complete(asked)
        assert server.seen == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": None}, "--model is None"),
        ({"model": "x" * 300}, "expected the name of a model"),
        ({"base_url": "localhost:8000"}, "expected one such as"),
        ({"base_url": "ftp://host/v1"}, "expected one such as"),
        ({"base_url": "http://host:99999/v1"}, "expected one such as"),
        ({"base_url": "http://[::1/v1"}, "expected one such as"),
        ({"base_url": "http://me:pass@host/v1"}, "a name, a password or a query"),
        ({"base_url": "http://host/v1?key=1"}, "a name, a password or a query"),
    ],
)
def test_wrong_options_are_one_line(options, said):
    with pytest.raises(UserError, match=said) as raised:
        OpenAIChat(JudgeOptions(**({"model": "m"} | options)))
    assert "\n" not in str(raised.value)


def test_the_key_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "")
    with pytest.raises(UserError, match="no key: set OPENAI_API_KEY"):
        OpenAIChat(JudgeOptions(model="m"))
    with serving() as server:
        chat_of(server).complete(question())
        assert server.seen[0].headers["authorization"] == "Bearer no-key"
    monkeypatch.setenv("OPENAI_API_KEY", "schlüssel geheim")
    with pytest.raises(UserError, match="no key: expected ASCII") as raised:
        OpenAIChat(JudgeOptions(model="m"))
    assert "geheim" not in str(raised.value)


def test_without_the_package_one_line_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(UserError, match=r"pip install 'concept-assay\[judges\]'"):
        OpenAIChat(JudgeOptions(model="m"))


def test_replay_needs_neither_key_nor_server_nor_package(tmp_path, monkeypatch):
    path = tmp_path / "t.jsonl"
    with serving() as server:
        url = server.url
        judge = make(JudgeOptions(model="m", base_url=url, transcript=path), CONTEXT)
        assert judge.rank("Hats.", TEXTS) == (1, 0, 2)
        del judge
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setitem(sys.modules, "openai", None)
    judge = make(JudgeOptions(model="m", replay=path), CONTEXT)
    assert judge.rank("Hats.", TEXTS) == (1, 0, 2)
    assert judge.identity()["settings"]["base_url"] == url
    with pytest.raises(UserError, match="holds no answer"):
        judge.rank("Caps.", TEXTS)


def test_the_key_is_written_nowhere(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "t.jsonl"
    echo = {"choices": [{"message": {"content": f"2, 1, 3 {SECRET}"}}], "model": SECRET}
    refused = Answer(status=400, body={"error": {"message": f"bad key {SECRET}"}})
    limited = Answer(status=429, body={"error": {"message": f"slow, {SECRET}"}})
    with serving(scripted(Answer(body=echo), refused, limited, Answer(drop=0))) as server:
        judge = Recorded(chat_of(server), Transcript(path))
        replies = [judge.complete(question(number)) for number in range(3)]
    assert "[key]" in replies[0].text
    written = path.read_text() + repr(replies) + str(judge.identity()) + caplog.text
    assert "[key]" in written
    assert SECRET not in written


def test_threads_that_meet_a_refused_setting_together_lose_nothing():
    together = threading.Barrier(6)

    def picky(seen):
        if seen.number < 6:
            together.wait(5)
        if "temperature" in seen.body:
            return Answer(status=400, body={"error": {"message": "temperature is not supported"}})
        return sensible(seen)

    with serving(picky) as server:
        chat = chat_of(server, concurrency=6)
        with ThreadPoolExecutor(6) as pool:
            replies = list(pool.map(lambda n: chat.complete(question(n)), range(6)))
        assert len(server.seen) == 12
    assert [reply.failures for reply in replies] == [{"without_temperature": 1}] * 6
