"""Trends: the first line, figures with what happened to them, gates, baselines, flaky cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.store.runs import Store
from tests.dashboard import stores
from tests.dashboard.visits import charts, links, param, sound, text_of, visit


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Ten runs of one suite, two gates, one baseline; the last run fails more often."""
    path = tmp_path / "plumbline.db"
    with Store(path) as store:
        for number in range(1, 11):
            stores.plain(store, 16, number, f"nightly {number}", shift=number % 3)
        store.set_baseline("release", "nightly 3")
        store.add_gate("nightly 9", "nightly 3", "FAIL", {"alpha": 0.05})
        store.add_gate("nightly 10", "nightly 3", "PASS", {"alpha": 0.05})
    return path


def test_an_empty_store_says_what_would_be_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = visit(monkeypatch, tmp_path / "none.db", "trends")
    assert "No complete run yet" in text_of(app)
    assert "plumbline gate" in app.code[0].value


def test_one_run_says_what_cannot_be_told_yet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stores.small(tmp_path / "plumbline.db")
    said = text_of(visit(monkeypatch, tmp_path / "plumbline.db", "trends"))
    assert "8 runs are needed" in said
    assert "No gate has decided on this suite yet" in said


def test_the_suite_over_time(monkeypatch: pytest.MonkeyPatch, history: Path) -> None:
    app = visit(monkeypatch, history, "trends")
    said = text_of(app)
    assert "75 % pass in the newest of 10 runs, 95 % interval" in app.markdown[0].value.replace("\\", "")
    assert "1 of 2 gates failed" in said
    assert "about 0.1 false alarms" in said
    assert param(app, "suite") == "library"
    assert "from unchanged runs" in charts(app)[0] or "Pass rate" in charts(app)[0]
    compared = [query for _, page, query in links(app) if page == "compare"]
    assert len(compared) == 2
    assert all("baseline=20261101T120000-000003" in query for query in compared)


def test_another_figure_stands_in_the_address(monkeypatch: pytest.MonkeyPatch, history: Path) -> None:
    app = visit(monkeypatch, history, "trends", figure="Share of FAIL")
    assert "Share of FAIL: 12 % in the newest run" in charts(app)[0]


def test_errors_and_repeats(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stores.failures(tmp_path / "plumbline.db")
    app = visit(monkeypatch, tmp_path / "plumbline.db", "trends")
    app.session_state["flaky_open"] = True
    app = sound(app.run())
    assert not charts(app), "one run is a figure and no line"
    assert "in the newest run" in text_of(app)


def test_a_baseline_is_pinned_and_taken_away(monkeypatch: pytest.MonkeyPatch, history: Path) -> None:
    app = visit(monkeypatch, history, "trends")
    app.text_input(key="pin_name").set_value("candidate for May")
    next(button for button in app.button if button.label == "Pin as baseline").click().run()
    with Store(history, readonly=True) as store:
        assert {each.name for each in store.baselines()} == {"release", "candidate for May"}
    app.button(key="unpin_release").click().run()
    with Store(history, readonly=True) as store:
        assert [each.name for each in store.baselines()] == ["candidate for May"]


def test_a_name_that_cannot_be_used_is_said(monkeypatch: pytest.MonkeyPatch, history: Path) -> None:
    app = visit(monkeypatch, history, "trends")
    app.text_input(key="pin_name").set_value("release")
    next(button for button in app.button if button.label == "Pin as baseline").click().run()
    assert "pinned to another run" in text_of(sound(app))


def test_review_mode_only_shows(monkeypatch: pytest.MonkeyPatch, history: Path) -> None:
    app = visit(monkeypatch, history, "trends")
    monkeypatch.setenv("PLUMBLINE_REVIEW", "1")
    app.run()
    assert not [button for button in app.button if button.label in ("Unpin", "Pin as baseline")]


def test_an_unknown_suite_is_said(monkeypatch: pytest.MonkeyPatch, history: Path) -> None:
    app = visit(monkeypatch, history, "trends", suite="nobody")
    assert "Nothing answers to this link" in text_of(app)
