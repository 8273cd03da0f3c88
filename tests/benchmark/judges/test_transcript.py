"""What was answered is kept, given back, and never asked for twice."""

import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from fake_chat import FakeChat, saying
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.errors import UserError
from benchmark.judges.base import Example
from benchmark.judges.chat import BudgetReached, ChatJudge, Reply
from benchmark.judges.options import JudgeOptions
from benchmark.judges.prompts import load_prompts
from benchmark.judges.recorded import FIRST_REFUSALS, Recorded, Replay, replayed
from benchmark.judges.transcript import FORMAT, Transcript, key_of

PROMPTS = load_prompts()


def question(number=0):
    examples = [Example(f"id-{i}", picture=lambda i=i: b"%d %d" % (number, i)) for i in range(3)]
    return PROMPTS.question("rank", examples, "Hats.")


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "t.jsonl"


def test_an_answer_is_kept_and_given_back_without_asking(path):
    reply = Reply("2, 1, 3", {"timeout": 2}, 11, 3, "served-1")
    chat = saying(reply)
    transcript = Transcript(path)
    assert Recorded(chat, transcript).complete(question()) == reply
    transcript.close()
    nobody = saying()
    again = Transcript(path)
    assert Recorded(nobody, again).complete(question()) == reply
    assert nobody.asked == []
    header, line = lines(path)
    assert header == FORMAT
    assert line["key"] == key_of(chat.identity(), 1, question())
    assert line["usage"] == {"prompt": 11, "completion": 3}
    assert (line["model"], line["prompts"], line["chat"]) == ("served-1", 1, chat.identity())
    pictures = [part for part in line["request"][0]["content"] if part["type"] == "image"]
    assert [set(part) for part in pictures] == [{"type", "sha256"}] * 3


def test_the_key_holds_all_that_an_answer_depends_on():
    identity = saying().identity()
    keys = {
        key_of(identity, 1, question()),
        key_of(identity, 2, question()),
        key_of(identity, 1, question(1)),
        key_of({**identity, "model": "other"}, 1, question()),
        key_of({**identity, "settings": {"temperature": 1.0}}, 1, question()),
        key_of(identity, 1, PROMPTS.again("rank", question(), "hm", 3)),
        key_of(identity, 1, PROMPTS.again("rank", question(), "hm!", 3)),
    }
    assert len(keys) == 7
    assert key_of(identity, 1, question()) in keys


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_a_torn_last_line_is_passed_over_and_taken_off(path, cut):
    transcript = Transcript(path)
    judge = Recorded(saying("2, 1, 3", "3, 1, 2"), transcript)
    first = judge.complete(question(0))
    judge.complete(question(1))
    transcript.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    key = [key_of(saying().identity(), 1, question(n)) for n in (0, 1)]
    reading = Transcript(path, read_only=True)
    assert reading.get(key[0]) == first
    assert reading.get(key[1]) is None
    assert path.read_bytes() == whole[:-cut]
    transcript = Transcript(path)
    chat = saying("3, 1, 2")
    assert Recorded(chat, transcript).complete(question(1)).text == "3, 1, 2"
    transcript.close()
    assert len(lines(path)) == 3


@settings(max_examples=30)
@given(keep=st.integers(0, 4000))
def test_a_transcript_cut_anywhere_opens(tmp_path_factory, keep):
    path = tmp_path_factory.mktemp("cut") / "t.jsonl"
    transcript = Transcript(path)
    judge = Recorded(saying("a", "b"), transcript)
    judge.complete(question(0))
    judge.complete(question(1))
    transcript.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:keep])
    transcript = Transcript(path)
    missing = whole.count(b"\n") - max(1, whole[:keep].count(b"\n"))
    chat = saying("a", "b")
    judge = Recorded(chat, transcript)
    judge.complete(question(0))
    judge.complete(question(1))
    transcript.close()
    assert len(chat.asked) == missing
    assert len(lines(path)) == 3


BROKEN = {
    "no JSON": b"{\n",
    "a list": b"[]\n",
    "no key": b"{}\n",
    "a number for a key": b'{"key": 1, "chat": {}, "reply": ""}\n',
    "a reply that is no text": b'{"key": "%s", "chat": {"kind": "openai", "model": "m", '
    b'"settings": {}}, "reply": 1, "failures": {}, "usage": {"prompt": null, "completion": null}, '
    b'"model": null, "detail": null}\n' % (b"0" * 64),
    "a negative count": b'{"key": "%s", "chat": {"kind": "openai", "model": "m", "settings": {}}, '
    b'"reply": "", "failures": {"timeout": -1}}\n' % (b"0" * 64),
    "settings that are a list": b'{"key": "%s", "chat": {"kind": "openai", "model": "m", '
    b'"settings": []}, "reply": "", "failures": {}, "usage": {"prompt": null, "completion": null}, '
    b'"model": null, "detail": null}\n' % (b"0" * 64),
    "deep nesting": b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("read_only", [True, False])
def test_a_line_that_is_no_exchange_is_named(tmp_path, name, read_only):
    path = tmp_path / "t.jsonl"
    path.write_bytes(json.dumps(FORMAT).encode() + b"\n" + BROKEN[name])
    before = path.read_bytes()
    with pytest.raises(UserError, match=r"t\.jsonl, line 2: no exchange"):
        Transcript(path, read_only=read_only)
    assert path.read_bytes() == before


def test_another_file_is_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    for content in (b"my notes\n", b"my notes", b'{"format": "other", "version": 1}\n'):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"notes\.txt"):
            Transcript(path)
        assert path.read_bytes() == content
    with pytest.raises(UserError, match="is a folder"):
        Transcript(tmp_path)
    with pytest.raises(UserError, match="cannot be read"):
        Transcript(tmp_path / "none", read_only=True)


def test_two_processes_cannot_write_one_transcript(path):
    transcript = Transcript(path)
    code = (
        "import sys; from pathlib import Path\n"
        "from benchmark.judges.transcript import Transcript\n"
        "try: Transcript(Path(sys.argv[1]))\n"
        "except ValueError as error: print(error)"
    )
    run = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert "another run is writing to this transcript" in done.stdout
    assert done.stdout.count("\n") == 1
    transcript.close()
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == ""


def test_a_question_of_many_threads_is_sent_once(path):
    together = threading.Barrier(8)
    release = threading.Event()

    def answer(_):
        release.wait(5)
        return Reply("2, 1, 3", {"timeout": 1})

    chat = FakeChat(answer)
    judge = Recorded(chat, Transcript(path))

    def ask(_):
        together.wait(5)
        return judge.complete(question())

    with ThreadPoolExecutor(8) as pool:
        found = pool.map(ask, range(8))
        threading.Timer(0.1, release.set).start()
        replies = list(found)
    assert len(chat.asked) == 1
    assert {reply.text for reply in replies} == {"2, 1, 3"}
    # what went wrong happened once
    assert sorted(reply.failures.get("timeout", 0) for reply in replies) == [0] * 7 + [1]


def test_an_error_reaches_all_who_wait_and_is_not_kept(path):
    judge = Recorded(saying(BudgetReached("stop"), "2, 1, 3"), Transcript(path))
    with pytest.raises(BudgetReached):
        judge.complete(question())
    assert judge.complete(question()).text == "2, 1, 3"
    assert len(lines(path)) == 2


def test_failures_before_a_stop_count_for_the_answer_that_came_later(path):
    transcript = Transcript(path)
    with pytest.raises(BudgetReached):
        Recorded(saying(BudgetReached("stop", {"timeout": 2})), transcript).complete(question())
    transcript.close()
    transcript = Transcript(path)
    reply = Recorded(saying(Reply("a", {"timeout": 1})), transcript).complete(question())
    assert reply.failures == {"timeout": 3}
    transcript.close()
    replay = Replay(Transcript(path, read_only=True), saying().identity())
    assert replay.complete(question()).failures == {"timeout": 3}


def refusal(_):
    return Reply("", {"refused": 1}, detail="no pictures here")


def test_a_model_that_refuses_from_the_start_stops_the_run_and_is_asked_again(path):
    transcript = Transcript(path)
    judge = Recorded(FakeChat(refusal), transcript)
    for number in range(FIRST_REFUSALS - 1):
        assert judge.complete(question(number)).refused
    assert judge.complete(question(0)).refused  # known, and so no further one
    with pytest.raises(UserError, match="refused the first 5 requests: no pictures here"):
        judge.complete(question(FIRST_REFUSALS))
    transcript.close()
    chat = FakeChat(lambda _: "2, 1, 3")
    assert Recorded(chat, Transcript(path)).complete(question(0)).text == "2, 1, 3"
    assert len(chat.asked) == 1


def test_refusals_of_a_model_that_answers_are_answers(path):
    transcript = Transcript(path)
    chat = FakeChat(lambda messages: "1, 2, 3" if messages == question() else refusal(messages))
    first = FakeChat(lambda _: "1, 2, 3")
    Recorded(first, transcript).complete(question(0))
    judge = Recorded(FakeChat(refusal), transcript)
    for number in range(1, 10):
        assert judge.complete(question(number)).refused
    transcript.close()
    again = Recorded(chat, Transcript(path))
    assert again.complete(question(3)).detail == "no pictures here"
    assert chat.asked == []


def test_replay_answers_and_names_what_is_missing(path):
    transcript = Transcript(path)
    Recorded(saying("2, 1, 3"), transcript).complete(question())
    judge = replayed(JudgeOptions(replay=path), "openai", "fake", {})
    three = [Example(str(i), picture=lambda i=i: b"0 %d" % i) for i in range(3)]
    assert judge.rank("Hats.", three) == (1, 0, 2)
    with pytest.raises(UserError, match=r"holds no answer of openai/fake .*describes a feature"):
        judge.rank("Caps.", three)
    with pytest.raises(UserError, match="holds no answers of openai/other; it has: openai/fake"):
        replayed(JudgeOptions(replay=path), "openai", "other", {})


def test_replay_chooses_among_settings(path):
    transcript = Transcript(path)
    for temperature in (0.0, 1.0):
        identity = {"kind": "openai", "model": "fake", "settings": {"temperature": temperature}}
        transcript.add(key_of(identity, 1, question()), identity, 1, question(), Reply("a"))
    for temperature in (0.0, 1.0):
        judge = replayed(JudgeOptions(replay=path), "openai", "fake", {"temperature": temperature})
        assert judge.identity()["settings"] == {"temperature": temperature}
    with pytest.raises(UserError, match="with 2 settings; choose one"):
        replayed(JudgeOptions(replay=path), "openai", "fake", {"temperature": 0.5})


def test_counts_are_the_same_asked_stored_and_replayed(path):
    def answer(messages):
        number = messages[0]["content"][2]["sha256"]
        odd = int(number, 16) % 2
        return Reply("hm" if odd else "2, 1, 3", {"rate_limited": odd + 1})

    def judged(chat):
        judge = ChatJudge(chat)
        for number in (*range(10), *range(5)):
            examples = [
                Example(str(i), picture=lambda i=i, n=number: b"%d %d" % (n, i)) for i in range(3)
            ]
            judge.rank("Hats.", examples)
        return judge.counts()

    transcript = Transcript(path)
    first = judged(Recorded(FakeChat(answer), transcript))
    transcript.close()
    transcript = Transcript(path)
    nobody = saying()
    assert judged(Recorded(nobody, transcript)) == first
    assert nobody.asked == []
    assert judged(Replay(transcript, nobody.identity())) == first
    assert judged(Recorded(FakeChat(answer), Transcript(None))) == first
    assert first["unparseable"] > 0
