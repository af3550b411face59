"""People label answers without seeing the verdict; the verdicts are then held against what they said."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

from core.cli import cli
from core.store.runs import Store
from dashboard.queries import labelling, runs
from tests.dashboard import stores
from tests.dashboard.visits import links, sound, text_of, visit


@pytest.fixture
def store(tmp_path: Path) -> Path:
    stores.two_runs(tmp_path / "plumbline.db")
    return tmp_path / "plumbline.db"


def sheet(monkeypatch: pytest.MonkeyPatch, store: Path) -> AppTest:
    return visit(monkeypatch, store, "judge", view="Label answers")


def said(store: Path, run_id: str) -> list[tuple[str, str, str, str]]:
    with Store(store, readonly=True) as opened:
        return [(each.case_id, each.value, each.author, each.reason) for each in opened.labels(run_id)]


def newest(store: Path) -> str:
    with Store(store, readonly=True) as opened:
        return str(opened.query("SELECT id FROM runs ORDER BY created_at DESC LIMIT 1")[0]["id"])


def badges(app: AppTest) -> str:
    return " ".join(str(each.proto.body) for each in app.get("badge")) if app.get("badge") else ""


def test_the_sheet_shows_no_verdict(monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    app = sheet(monkeypatch, store)
    text = text_of(app)
    assert "Books are lent for 28 days [1]." in text, "the answer is there"
    for hidden in (
        "The passage with the answer was not",
        "incorrect",
        "Correct",
        "must mention 28",
        "relevant",
    ):
        assert hidden not in text, hidden
    assert not badges(app)
    app = sound(app.toggle(key="label_passages").set_value(True).run())
    assert "not relevant" not in text_of(app)
    assert not any("relevant" in each.label for each in app.expander), "nor which passage was right"


def test_each_key_keeps_a_label_and_moves_on(monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    run_id = newest(store)
    app = sheet(monkeypatch, store)
    keys = {
        each.key: each.proto.shortcut.casefold()
        for each in app.button
        if (each.key or "").startswith("label_")
    }
    assert keys == {"label_PASS": "p", "label_WEAK": "w", "label_FAIL": "f", "label_skip": "s"}
    app.text_input(key="labeller").set_value("Ada")
    app.text_input(key="label_reason").set_value("a renewal is missing")
    app = sound(app.button(key="label_WEAK").click().run())
    app = sound(app.button(key="label_skip").click().run())
    app = sound(app.button(key="label_PASS").click().run())
    first, second = said(store, run_id)
    assert first[1:] == ("WEAK", "Ada", "a renewal is missing")
    assert second[1:] == ("PASS", "Ada", ""), "a reason belongs to one label"
    assert first[0] != second[0]
    app = sound(app.button(key="label_undo").click().run())
    assert said(store, run_id) == [first]
    with Store(store, readonly=True) as opened:
        assert len(opened.labels(run_id, undone=True)) == 2, "taken back, not forgotten"


def label_all(store: Path, run_id: str, wrong: int) -> None:
    """Everything labelled as the run judged it, the first `wrong` cases the other way round."""
    with Store(store) as opened:
        for n, result in enumerate(opened.iter_results(run_id)):
            other = "FAIL" if result.verdict.value == "PASS" else "PASS"
            opened.add_label(
                run_id, result.case_id, "verdict", other if n < wrong else result.verdict.value, author="Ada"
            )


def test_agreement_is_said_with_its_interval_and_doubts(monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    run_id = newest(store)
    label_all(store, run_id, wrong=2)
    app = visit(monkeypatch, store, "judge")
    text = text_of(app)
    assert "agree on 88 %" in text.replace("\\", "")
    assert "kappa 0." in text.replace("\\", "")
    assert "16 labelled items; 30 are needed" in text.replace("\\", "")
    opened = [query for _, page, query in links(app) if page == "case"]
    assert len(opened) == 2, "one link for each disagreement"


def test_the_export_is_what_judge_agreement_reads(
    monkeypatch: pytest.MonkeyPatch, store: Path, tmp_path: Path
) -> None:
    run_id = newest(store)
    label_all(store, run_id, wrong=1)
    monkeypatch.setenv("PLUMBLINE_STORE", str(store))
    version = runs.version(run_id)
    assert version is not None
    file = tmp_path / "labels.csv"
    file.write_text(labelling.export(version), encoding="utf-8")
    done = CliRunner().invoke(cli, ["judge", "agreement", str(file)])
    assert done.exit_code == 0, done.output
    assert "0.938" in done.output, "15 of 16"


def test_a_case_shows_what_people_said_and_takes_it_back(
    monkeypatch: pytest.MonkeyPatch, store: Path
) -> None:
    run_id = newest(store)
    with Store(store) as opened:
        opened.add_label(run_id, "q1", "verdict", "FAIL", author="Ada", reason="it is 30 days by now")
    app = visit(monkeypatch, store, "case", case="q1", run=run_id)
    assert "it is 30 days by now" in text_of(app)
    next(each for each in app.button if each.label == "Take back").click().run()
    assert said(store, run_id) == []
    app.segmented_control(key="case_label").set_value("WEAK")
    app.text_input(key="case_labeller").set_value("Ben")
    next(each for each in app.button if each.label == "Keep").click().run()
    assert said(store, run_id) == [("q1", "WEAK", "Ben", "")]


def test_nothing_is_labelled_in_review(monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    app = sheet(monkeypatch, store)
    monkeypatch.setenv("PLUMBLINE_REVIEW", "1")
    app = sound(app.run())
    assert not [each for each in app.button if (each.key or "").startswith("label_")]
    assert "Labels cannot be given here" in text_of(app)
