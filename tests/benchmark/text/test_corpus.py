"""Corpora: every kind of file, the built-in one, and what is refused."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmark.errors import UserError
from benchmark.text.corpus import read_corpus


def texts(corpus):
    return [document.text for document in corpus.documents]


def test_the_topics_of_python_are_always_the_same():
    first, second = read_corpus("pydoc"), read_corpus("pydoc")
    assert first == second
    assert first.revision.startswith("python-3.")
    assert len(first.documents) > 50
    ids = [document.id for document in first.documents]
    assert ids == sorted(ids)
    assert len(set(texts(first))) == len(ids)


def test_blank_lines_part_the_documents_of_a_text(tmp_path):
    path = tmp_path / "My text.txt"
    path.write_bytes("\ufeffone\nstill one\r\n\r\ntwo\n \t\n\n  three\n\ntwo\n".encode())
    corpus = read_corpus(str(path))
    assert texts(corpus) == ["one\nstill one", "two", "three"]
    assert (corpus.name, corpus.repeated, corpus.licence) == ("my-text", 1, "unknown")
    assert corpus.revision == corpus.sha256[:12]


def test_one_text_from_every_kind_of_file(tmp_path):
    rows = ["one", "two\n\nstill two", None, "  ", "three"]
    lines, table = tmp_path / "a.jsonl", tmp_path / "a.parquet"
    lines.write_text("\n".join(json.dumps({"body": row, "n": 1}) for row in rows) + "\n\n")
    pq.write_table(pa.table({"body": rows, "n": [1] * 5}), table)
    for path in (lines, table):
        corpus = read_corpus(str(path), column="body", licence="MIT")
        assert texts(corpus) == ["one", "two\n\nstill two", "three"]
        assert (corpus.blank, corpus.licence) == (2, "MIT")


def test_the_hash_covers_texts_and_where_they_end(tmp_path):
    hashes = set()
    for number, text in enumerate(("ab\n\nc", "a\n\nbc", "c\n\nab", "abc")):
        path = tmp_path / f"{number}.txt"
        path.write_text(text)
        hashes.add(read_corpus(str(path)).sha256)
    assert len(hashes) == 4


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.txt", b"caf\xe9", "not UTF-8"),
        ("a.txt", b" \n\n ", "holds no text"),
        ("a.jsonl", b'{"text": 1}', "line 1: the text is a int"),
        ("a.jsonl", b'{"text": "a"}\n{"body": "b"}', "line 2 has no 'text'"),
        ("a.jsonl", b'{"text": "\\ud800"}', "not valid Unicode"),
        ("a.jsonl", b"{", "not JSON"),
        ("a.jsonl", b"[" * 100_000, "not JSON"),
        ("a.parquet", b"PAR1", "not a Parquet file"),
    ],
)
def test_what_is_no_corpus_is_refused(tmp_path, name, content, complaint):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UserError, match=complaint):
        read_corpus(str(path))


def test_a_missing_file_and_a_missing_column_are_named(tmp_path):
    with pytest.raises(UserError, match="no corpus nowhere"):
        read_corpus("nowhere")
    pq.write_table(pa.table({"a": ["x"], "b": ["y"]}), tmp_path / "t.parquet")
    with pytest.raises(UserError, match="found a, b; name it with --column"):
        read_corpus(str(tmp_path / "t.parquet"))
