"""Every exchange with a model, kept so that none is paid for or waited for twice.

A transcript is a text file of JSON lines. The first names the format; each further one is an
exchange: its ``key``, the ``chat`` (kind, model, settings), the version of the ``prompts``, the
``request`` with pictures as hashes, the ``reply``, what failed on the way, token counts, the model
as the server named it, the time. A line whose reply is null is a conversation that was given up;
its failures count for the answer that came later.
"""

import hashlib
import json
import os
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from benchmark.errors import UserError
from benchmark.files import check_target
from benchmark.judges.chat import Reply
from benchmark.judges.prompts import Message

FORMAT = {"format": "assay-judge-transcript", "version": 1}

_KEY = re.compile(r"[0-9a-f]{64}")


def plain_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages as JSON: a picture is its hash."""
    return [
        {
            "role": message["role"],
            "content": [
                {name: value for name, value in part.items() if name != "picture"}
                for part in message["content"]
            ],
        }
        for message in messages
    ]


def key_of(chat: Mapping[str, Any], prompts: int, messages: Sequence[Message]) -> str:
    """Hex SHA-256 of all that an answer depends on."""
    asked = {"chat": chat, "prompts": prompts, "messages": plain_messages(messages)}
    return hashlib.sha256(_line(asked)).hexdigest()


def _line(document: Mapping[str, Any]) -> bytes:
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"


class Transcript:
    """The exchanges of one file.

    Open for writing, it belongs to one process at a time, and a line that a killed run left torn
    is taken off; read-only, such a line is passed over. With no path nothing is kept on disk.

    Args:
        path: the file; made where it is absent, unless read-only.
        read_only: for replaying.

    Raises:
        UserError: another process writes to it, it cannot be opened, or it is no transcript
            (naming the line).
    """

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        self.path = path
        self._replies: dict[str, Reply] = {}
        self._given_up: dict[str, Counter[str]] = {}
        self._chats: dict[str, Mapping[str, Any]] = {}
        self._answered: set[str] = set()
        self._lock = threading.Lock()
        self._file: BinaryIO | None = None
        self._held: Any = None
        if path is None:
            return
        if read_only:
            self._load(_content(path))
        else:
            self._open(check_target(path))

    def _open(self, path: Path) -> None:
        from filelock import FileLock, Timeout

        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._held = FileLock(path.with_name(path.name + ".lock"), thread_local=False)
            self._held.acquire(timeout=0)
        except Timeout:
            raise UserError(
                f"{path}: another run is writing to this transcript; wait for it, or give another "
                "--transcript"
            ) from None
        except OSError as error:
            raise UserError(f"{path}: cannot be written: {error.strerror or error}") from None
        try:
            whole = self._load(_content(path) if path.exists() else b"")
            self._file = path.open("ab")
            self._file.truncate(whole)
            if whole == 0:
                self._append(FORMAT)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                reason = error.strerror or str(error)
                raise UserError(f"{path}: cannot be written: {reason}") from None
            raise

    def _load(self, content: bytes) -> int:
        """Take the exchanges of a file; the length in bytes of what is whole."""
        end = content.rfind(b"\n") + 1
        torn = content[end:]
        for number, line in enumerate(content[:end].split(b"\n")[:-1], 1):
            self._take(number, line)
        # Only the beginning of a header can stand in a file without a whole line.
        if end == 0 and torn and not _line(FORMAT).startswith(torn):
            raise UserError(f"{self.path}: no transcript of a judge; expected {FORMAT}")
        return end

    def _take(self, number: int, line: bytes) -> None:
        try:
            found = json.loads(line)
            if number == 1:
                if found != FORMAT:
                    raise ValueError(f"expected {FORMAT}")
                return
            self._remember(found)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            raise UserError(
                f"{self.path}, line {number}: no exchange of a transcript ({reason}); give another "
                "file or take the line out"
            ) from None

    def _remember(self, found: Mapping[str, Any]) -> None:
        key, chat, text = found["key"], found["chat"], found["reply"]
        if not (isinstance(key, str) and _KEY.fullmatch(key)):
            raise ValueError("key is no SHA-256")
        kinds = {"kind": str, "model": str, "settings": dict}
        if not all(isinstance(chat[part], kind) for part, kind in kinds.items()):
            raise TypeError("chat has no kind, model and settings")
        failures = {str(kind): _count(count) for kind, count in found["failures"].items()}
        if text is None:
            self._given_up.setdefault(key, Counter()).update(failures)
            return
        if not isinstance(text, str):
            raise TypeError("reply is no text")
        usage = found["usage"]
        reply = Reply(
            text,
            failures,
            None if usage["prompt"] is None else _count(usage["prompt"]),
            None if usage["completion"] is None else _count(usage["completion"]),
            _text(found["model"]),
            _text(found["detail"]),
        )
        self._replies[key] = reply
        name = _name(chat)
        self._chats[name] = chat
        if not reply.refused:
            self._answered.add(name)

    def get(self, key: str) -> Reply | None:
        """The answer to a key, with the failures of all tries; None where there is none."""
        with self._lock:
            reply = self._replies.get(key)
            if reply is None:
                return None
            failures = Counter(reply.failures) + self._given_up.get(key, Counter())
        return replace(reply, failures=dict(failures))

    def chats(self) -> Iterator[Mapping[str, Any]]:
        """Kind, model and settings of every model that answered in this file."""
        yield from self._chats.values()

    def has_answered(self, chat: Mapping[str, Any]) -> bool:
        """Whether a model ever gave an answer that was no refusal."""
        with self._lock:
            return _name(chat) in self._answered

    def add(
        self,
        key: str,
        chat: Mapping[str, Any],
        prompts: int,
        messages: Sequence[Message],
        reply: Reply | None,
        failures: Mapping[str, int] | None = None,
    ) -> None:
        """Keep an exchange, on disk when this returns; one that was given up has no ``reply``."""
        kept = reply or Reply("", failures or {})
        exchange = {
            "key": key,
            "chat": dict(chat),
            "prompts": prompts,
            "request": plain_messages(messages),
            "reply": None if reply is None else _encodable(reply.text),
            "failures": dict(kept.failures),
            "usage": {"prompt": kept.prompt_tokens, "completion": kept.completion_tokens},
            "model": kept.model,
            "detail": kept.detail,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }
        with self._lock:
            self._append(exchange)
            self._remember(exchange)

    def _append(self, document: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        try:
            # one write: lines never mingle, and at most the last can be torn
            self._file.write(_line(document))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise UserError(
                f"{self.path}: cannot be written: {error.strerror or error}; what it holds is kept"
            ) from None

    def close(self) -> None:
        """Let another process have the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._held is not None:
            self._held.release()


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None


def _name(chat: Mapping[str, Any]) -> str:
    return json.dumps(chat, sort_keys=True)


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"expected a count, found {value!r}")
    return value


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError("expected text or null")
    return value


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
