"""The compare page: what it says first, its filters, its drawer, and what it says where there is nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.records import Verdict
from core.store.runs import Store
from tests.dashboard import stores
from tests.dashboard.visits import charts, links, param, sound, text_of, visit

BASELINE, CANDIDATE, THIRD = (f"20261101T1{n}0000-00000{n + 1}" for n in range(3))


@pytest.fixture
def two(tmp_path: Path) -> Path:
    stores.two_runs(tmp_path / "plumbline.db")
    return tmp_path / "plumbline.db"


def test_an_empty_store_says_what_would_be_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    app = visit(monkeypatch, tmp_path / "none.db", "compare")
    assert "Nothing to compare yet" in text_of(app)
    assert "plumbline compare" in app.code[0].value


def test_one_run_is_not_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stores.small(tmp_path / "plumbline.db")
    assert "One run is not enough" in text_of(visit(monkeypatch, tmp_path / "plumbline.db", "compare"))


def test_the_first_line_has_the_number_and_its_interval(monkeypatch: pytest.MonkeyPatch, two: Path) -> None:
    app = visit(monkeypatch, two, "compare")
    first = app.markdown[0].value.replace("\\", "")
    assert first.startswith(
        "Candidate 75 %, baseline 75 % pass on the same 16 questions: ±0 points, 95 % interval −"
    )
    assert "Inconclusive; this suite can detect differences of about" in first
    assert param(app, "run") == CANDIDATE
    assert param(app, "baseline") == BASELINE
    assert len(charts(app)) == 2


def test_counts_are_the_filters(monkeypatch: pytest.MonkeyPatch, two: Path) -> None:
    app = visit(monkeypatch, two, "compare", change="regressed")
    table = app.dataframe[0].value
    assert list(table["change"]) == ["✕ Regressed"] * 4
    assert list(table["difference"]) == ["−60"] * 4
    app.pills(key="change_pills").set_value(["fixed", "regressed"]).run()
    assert len(sound(app).dataframe[0].value) == 8


def test_swap_turns_the_comparison_round(monkeypatch: pytest.MonkeyPatch, two: Path) -> None:
    app = visit(monkeypatch, two, "compare", change="regressed")
    before = list(app.dataframe[0].value["question"])
    app.button(key="swap").click().run()
    assert param(app, "run") == BASELINE
    assert param(app, "baseline") == CANDIDATE
    app.pills(key="change_pills").set_value(["fixed"]).run()
    assert list(sound(app).dataframe[0].value["question"]) == before


def test_a_link_opens_the_case_and_says_why(monkeypatch: pytest.MonkeyPatch, two: Path) -> None:
    app = visit(monkeypatch, two, "compare", case="q3", change="regressed")
    said = text_of(app)
    assert "How long are books number 3 lent for?" in said
    assert "nothing went wrong" in said
    assert "90 % → 30 %" in said
    assert "1 of 4" in said
    assert [query for _, page, query in links(app) if page == "case"] == [
        f"run={BASELINE}&case=q3",
        f"run={CANDIDATE}&case=q3",
    ]
    app.button(key="case_next").click().run()
    assert "How long are books number 7 lent for?" in text_of(sound(app))
    assert param(app, "case") == "q7"


def test_a_row_opens_its_case(monkeypatch: pytest.MonkeyPatch, two: Path) -> None:
    app = visit(monkeypatch, two, "compare")
    key = app.dataframe[0].proto.id.split("-")[-1]
    app.session_state[key] = {"selection": {"rows": [1], "columns": [], "cells": []}}
    app.run()
    assert param(app, "case") == "q7"


def test_unknown_baseline_and_case_are_said(monkeypatch: pytest.MonkeyPatch, two: Path) -> None:
    app = visit(monkeypatch, two, "compare", baseline="nobody")
    assert "Nothing answers to this link" in text_of(app)
    assert "nobody" in text_of(app)
    assert not app.dataframe
    app = visit(monkeypatch, two, "compare", case="nowhere")
    assert "Neither run has such a case" in text_of(app)


def test_the_same_run_twice_is_said(monkeypatch: pytest.MonkeyPatch, two: Path) -> None:
    app = visit(monkeypatch, two, "compare", run=BASELINE, baseline=BASELINE)
    assert "one and the same run" in text_of(app)


def test_runs_of_other_questions_are_refused(monkeypatch: pytest.MonkeyPatch, two: Path) -> None:
    with Store(two) as store:
        cases = [stores.case(n, id=f"other{n}", query=f"Another question {n}?") for n in range(6)]
        stores.add_run(
            store, cases, [stores.output(c) for c in cases], [stores.result(c, Verdict.PASS) for c in cases], number=3, name="other"
        )  # fmt: skip
    app = visit(monkeypatch, two, "compare", run=THIRD, baseline=BASELINE)
    assert "cannot be compared" in text_of(app)
    assert "Not comparable" in text_of(app)
    assert {*app.dataframe[0].value["change"]} == {"○ Only in baseline", "○ Only in candidate"}


def test_a_third_run_is_a_further_column(monkeypatch: pytest.MonkeyPatch, two: Path) -> None:
    with Store(two) as store:
        stores.plain(store, 16, 3, "third", shift=2)
    app = visit(monkeypatch, two, "compare", run=CANDIDATE, baseline=BASELINE)
    app.multiselect(key="also").set_value(["third (000003)"]).run()
    table = sound(app).dataframe[0].value
    assert list(table.columns) == [
        "change",
        "question",
        "baseline",
        "candidate",
        "third (000003)",
        "difference",
    ]
    assert all(len(chips) == 1 for chips in table["third (000003)"])


def test_flaky_and_errors_are_filters_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = tmp_path / "plumbline.db"
    stores.failures(store, number=1)
    stores.failures(store, number=2)
    app = visit(monkeypatch, store, "compare")
    labels = {option.content for option in app.pills(key="change_pills").proto.options}
    assert any(label.startswith("◆ Error 2") for label in labels), labels
    assert any(label.startswith("▲ Flipping") for label in labels), labels


def test_text_of_others_is_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = tmp_path / "plumbline.db"
    stores.hostile(store)
    with Store(store) as opened:
        cases = opened.cases("20261101T100000-000001")
        stores.add_run(
            opened, cases, [stores.output(c) for c in cases], [stores.result(c, Verdict.PASS) for c in cases], number=2,
            name="<i>candidate</i>", suite="suite_with_*marks*",
        )  # fmt: skip
    for number in range(len(stores.HOSTILE)):
        said = text_of(visit(monkeypatch, store, "compare", case=stores.hostile_id(number))).replace(
            "\\<", ""
        )
        assert "<script" not in said
        assert "<img" not in said
