"""Classes, calibration and judge: over real and made runs, and what they say where they do not apply."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.records import Judgement, Verdict
from core.store.runs import Store
from tests.dashboard import stores, sweeps
from tests.dashboard.visits import charts, links, text_of, visit

MISSING = {
    "classes": {
        "empty": "No run yet",
        "small": "This run has no classes",
        "failures": "no classes",
        "two_runs": "no classes",
    },
    "calibration": {"empty": "No run yet"},
    "judge": {"empty": "No run yet", "small": "No judge spoke in this run", "two_runs": "No judge spoke"},
}


@pytest.fixture(scope="module")
def classified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sweeps.classifier(tmp_path_factory.mktemp("classified"))


@pytest.mark.parametrize(
    ("page", "name"), [(page, name) for page, names in MISSING.items() for name in names]
)
def test_where_it_does_not_apply_it_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, page: str, name: str
) -> None:
    stores.BUILDERS[name](tmp_path / "plumbline.db")
    assert MISSING[page][name] in text_of(visit(monkeypatch, tmp_path / "plumbline.db", page))


def test_classes_of_a_real_run(monkeypatch: pytest.MonkeyPatch, classified: Path) -> None:
    app = visit(monkeypatch, classified, "classes")
    said = text_of(app)
    assert "The first code is right in" in said
    assert "of 12 queries" in said
    assert len(charts(app)) >= 2
    assert len(app.dataframe[0].value) == 9


def test_a_cell_lists_its_cases(monkeypatch: pytest.MonkeyPatch, classified: Path) -> None:
    app = visit(monkeypatch, classified, "classes", level="Code")
    app.session_state["confusion_code"] = {
        "selection": {"cell": [{"gold": "72000000 IT services", "predicted": "72000000 IT services"}]}
    }
    app.run()
    assert any(page == "case" for _, page, _ in links(app))


def test_scores_that_only_rank_say_what_is_not_defined(
    monkeypatch: pytest.MonkeyPatch, classified: Path
) -> None:
    said = text_of(visit(monkeypatch, classified, "calibration"))
    assert "Its scores only rank" in said
    assert "Reliability is not defined" in said
    assert "would be accepted" in said


def confident(path: Path, size: int, right: int) -> None:
    """A run that states a confidence with each answer and is right in the first `right` of them."""
    cases = [stores.case(n) for n in range(size)]
    with Store(path) as store:
        stores.add_run(
            store, cases, [stores.output(each, confidence=0.5 + 0.5 * (size - each.order) / (size + 1)) for each in cases],
            [stores.result(each, Verdict.PASS if each.order < right else Verdict.FAIL) for each in cases],
        )  # fmt: skip


def test_any_run_with_confidences_is_calibrated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    confident(tmp_path / "plumbline.db", 60, 40)
    app = visit(monkeypatch, tmp_path / "plumbline.db", "calibration")
    said = text_of(app)
    assert "It states 75 % on average over 60 answers and is right in 67 %" in said
    assert "Brier score" in said
    assert len(charts(app)) == 2
    app.slider(key="accept_from").set_value(float(app.slider(key="accept_from").max)).run()
    assert "1 of 60 answers" in text_of(app)


def test_a_single_class_says_not_defined(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    confident(tmp_path / "plumbline.db", 40, 40)
    assert "not defined" in text_of(visit(monkeypatch, tmp_path / "plumbline.db", "calibration"))


def test_one_and_the_same_confidence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stores.small(tmp_path / "plumbline.db")
    assert "No threshold can be chosen" in text_of(
        visit(monkeypatch, tmp_path / "plumbline.db", "calibration")
    )


def test_a_judge_and_what_to_look_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "plumbline.db"
    cases = [stores.case(n) for n in range(6)]
    said = [
        Judgement(rubric="faithfulness", rubric_version="3", provider="claude", model="m-1", label="pass" if n % 2 else "fail", score=n % 2,
                  reasoning=f"<b>reason</b> {n}", votes=(0.0, 1.0) if n == 4 else (), quote_verified=n != 3,
                  flags=("votes_differ",) if n == 5 else ())  # n == 5: one vote could not tell, so it has no score
        for n in range(6)
    ]  # fmt: skip
    with Store(path) as store:
        run = stores.add_run(
            store, cases, [stores.output(c) for c in cases],
            [stores.result(c, Verdict.PASS, judgements=(each,)) for c, each in zip(cases, said, strict=True)],
        )  # fmt: skip
        store.add_label(run.id, "q1", "faithfulness", "fail", author="a person")
        store.add_label(run.id, "q2", "faithfulness", "fail", author="a person")
    app = visit(monkeypatch, path, "judge")
    words = text_of(app).replace("\\", "")
    assert "claude m-1 gave 6 judgements, all usable" in words
    assert "agrees with people in 1 of 2 labels" in words
    assert "<b>reason</b>" not in words
    assert {query for _, page, query in links(app) if page == "case"} == {
        f"run={run.id}&case=q{n}" for n in (1, 3, 4, 5)
    }
    app = visit(monkeypatch, path, "judge", doubt="its votes differ")
    assert [query for _, page, query in links(app) if page == "case"] == [
        f"run={run.id}&case=q{n}" for n in (4, 5)
    ]
