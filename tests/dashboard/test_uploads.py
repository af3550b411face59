from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import StoreError
from core.store.runs import Store
from dashboard import jobs, uploads

QUESTIONS = json.dumps([{"question": "Wie lange?", "gold_answer": "28 Tage", "evidence": []}]).encode()


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PLUMBLINE_STORE", str(tmp_path / "outputs" / "plumbline.db"))
    return tmp_path / "outputs"


@pytest.mark.parametrize(
    ("kind", "name", "content", "problem"),
    [
        ("documents", "a.pdf", b"not a pdf", "is not a PDF"),
        ("documents", "a.exe", b"MZ", "is no documents file"),
        ("documents", "a.txt", b"", "is empty"),
        ("documents", "a.txt", b"\x00\x01binary", "is not text"),
        ("documents", "big.txt", b"x" * (20 * 1024 * 1024 + 1), "is larger than 20 MB"),
        ("questions", "q.json", b"{", "is not valid JSON: line 1"),
        ("questions", "q.json", b"{}", "must hold a list"),
        ("questions", "q.json", b"[]", "holds no question"),
        ("questions", "q.json", b'[{"id": 1}]', "entry 1 has no `question`"),
        (
            "questions",
            "q.json",
            b'[{"id":"a","question":"x"},{"id":"a","question":"y"}]',
            "ids are given twice: a",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_and_not_kept(
    outputs: Path, kind: str, name: str, content: bytes, problem: str
) -> None:
    assert problem in uploads.keep(kind, name, content).problem
    assert not list(outputs.rglob("*.*"))


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\x\\ä b.pdf", "ä_b.pdf"),
        (".hidden.txt", "hidden.txt"),
        ("a\nb\x00.txt", "a_b_.txt"),
        ("…", "file"),
    ],
)
def test_names_are_made_safe(name: str, safe: str) -> None:
    assert uploads.safe_name(name) == safe


def test_nothing_is_overwritten_and_the_same_is_kept_once(outputs: Path) -> None:
    first = uploads.keep("questions", "q.json", QUESTIONS)
    again = uploads.keep("questions", "q.json", QUESTIONS)
    other = uploads.keep("questions", "q.json", QUESTIONS.replace(b"28", b"30"))
    assert first.note == "1 questions, 1 with an expected answer, 0 with evidence"
    assert first.path == again.path
    assert other.path is not None
    assert other.path.name == "q-2.json"
    assert first.path is not None
    assert first.path.read_bytes() == QUESTIONS
    assert [path.name for path in uploads.stored("questions")] == ["q-2.json", "q.json"]


def test_only_uploads_are_removed(outputs: Path) -> None:
    kept = uploads.keep("documents", "a.md", "# Grüße".encode("cp1252")).path
    assert kept is not None
    outside = outputs / "plumbline.db"
    outside.write_text("x")
    uploads.remove(outside)
    uploads.remove(kept)
    assert outside.exists()
    assert not kept.exists()


def test_review_mode_keeps_and_starts_nothing(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_REVIEW", "1")
    assert "only shows" in uploads.keep("questions", "q.json", QUESTIONS).problem
    with pytest.raises(StoreError, match="only shows"):
        jobs.start({}, token="t")
    assert not outputs.exists()


def test_one_token_makes_one_job(outputs: Path) -> None:
    """A job that cannot run ends as failed, with what is wrong; pressing again with its token starts no other."""
    first = jobs.start({"run_name": "x"}, token="one")
    assert jobs.start({"run_name": "x"}, token="one") == first
    with Store(outputs / "plumbline.db") as store:
        assert len(store.jobs()) == 1
    jobs.cancel(first)


@pytest.mark.parametrize(("visitor", "allowed"), [(None, True), ("127.0.0.1", True), ("10.0.0.7", False)])
def test_only_this_machine_may_name_any_path(outputs: Path, visitor: str | None, allowed: bool) -> None:
    kept = uploads.keep("questions", "q.json", QUESTIONS).path
    assert uploads.may_read("/etc/passwd", visitor) is allowed
    assert uploads.may_read(str(outputs / "uploads" / ".." / "plumbline.db"), visitor) is allowed
    assert uploads.may_read(str(kept), visitor)
