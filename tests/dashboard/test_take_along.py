"""Files to take along from the dashboard are what the commands read and write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.store.export.formats import FORMATS
from core.store.runs import Store
from dashboard.queries import exports
from tests.dashboard import stores
from tests.dashboard.visits import sound, visit


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "plumbline.db"
    stores.small(path)
    monkeypatch.setenv("PLUMBLINE_STORE", str(path))
    return path


def run_id(store: Path) -> str:
    with Store(store, readonly=True) as opened:
        return str(opened.query("SELECT id FROM runs")[0]["id"])


@pytest.mark.parametrize(
    ("form", "begins"), [("html", b"<!"), ("xlsx", b"PK"), ("csv", b"question_id,"), ("junit", b"<?xml")]
)
def test_a_run_as_a_file(store: Path, form: str, begins: bytes) -> None:
    content = exports.run_file(run_id(store), form)
    assert content.lower().startswith(begins.lower()), content[:40]
    assert len(content) > 1_000


def test_what_is_offered_is_what_export_writes(store: Path) -> None:
    assert set(exports.OFFERED) <= set(FORMATS)


def test_a_case_as_a_question(store: Path) -> None:
    with Store(store, readonly=True) as opened:
        case = opened.case(run_id(store), "q3")
    (entry,) = json.loads(exports.questions(case))
    assert entry["id"] == "q3"
    assert entry["gold_answer"] == "28 days"
    assert entry["evidence"][0]["quote"] == "A loan may be renewed twice"


def test_the_page_of_a_case_says_how_a_gate_insists_on_it(
    monkeypatch: pytest.MonkeyPatch, store: Path
) -> None:
    app = sound(visit(monkeypatch, store, "case", case="q3"))
    assert any('must_pass:\n  - "q3"' in each.value for each in app.code)
