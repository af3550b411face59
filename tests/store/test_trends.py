"""Runs over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import core.components  # noqa: F401 - the metrics get their titles
from core.records import Aggregate
from core.store.gate import GatePolicy, decide
from core.store.runs import Store
from core.store.trends import case_history, change_points, flaky_cases, suites, trend
from tests.store.made import a_run, a_store, an_output, some_cases, store_run


def series(store: Store, rates: list[float], **fields: Any) -> None:
    for i, rate in enumerate(rates):
        run = a_run(f"run-{i}", created_at=f"2026-01-{i + 1:02}T00:00:00+00:00", **fields)
        cases = some_cases(1)
        store.create_run(run, cases)
        store.add_outputs(run.id, [an_output(cases[0], latency_ms=100.0 + i)])
        row = Aggregate(
            metric="pass_rate",
            mean=rate,
            n_scored=50,
            n_not_applicable=0,
            n_error=0,
            low=rate - 0.1,
            high=rate + 0.1,
        )
        store.seal(
            run.id,
            summary={},
            aggregates=[row],
            verdicts={"PASS": round(rate * 50), "FAIL": 50 - round(rate * 50)},
        )


def test_a_series_with_change_noise_and_annotation(tmp_path: Path) -> None:
    rates = [0.8, 0.82, 0.8, 0.82, 0.8, 0.82, 0.6, 0.62, 0.6, 0.62, 0.6, 0.62]
    with a_store(tmp_path) as store:
        series(store, rates[:6])
        for i, rate in enumerate(rates[6:], 6):
            run = a_run(
                f"run-{i}",
                created_at=f"2026-01-{i + 1:02}T00:00:00+00:00",
                settings={"classifier_type": "document_qa", "retriever": "tfidf", "top_k": 8},
            )
            store.create_run(run, [])
            row = Aggregate(metric="pass_rate", mean=rate, n_scored=50, n_not_applicable=0, n_error=0)
            store.seal(run.id, summary={}, aggregates=[row], verdicts={"PASS": 1})
        found = trend(store, "regulations")
        assert suites(store) == [("regulations", 12, "2026-01-12T00:00:00+00:00")]
    rate_series = found.named("pass_rate")
    assert rate_series is not None
    assert [point.value for point in rate_series.points] == rates
    assert (rate_series.points[0].low, rate_series.points[0].n_scored) == (pytest.approx(0.7), 50)
    assert [change.index for change in rate_series.changes] == [6]
    assert rate_series.noise_source == "A/A pairs"
    assert rate_series.noise == pytest.approx(0.02 / 2**0.5)
    assert [(note.run_id, note.changes) for note in found.annotations] == [
        ("run-6", ("retriever: bm25 → tfidf",))
    ]
    latency = found.named("latency_p50")
    assert latency is not None
    assert (latency.points[0].value, latency.direction) == (100.0, -1)
    verdicts = found.named("verdict:PASS")
    assert verdicts is not None
    assert verdicts.points[0].value == pytest.approx(0.8)


def test_noise_from_repeats(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        store_run(store, a_run(), ["PASS,FAIL", "PASS,PASS"], repeats=2, mrr_at_k=[1.0, 0.5])
        figures = store.figures("run-1")
        assert figures["noise:pass_rate"] == pytest.approx((0.5 / 2) ** 0.5 / 2)
        assert figures["noise:mrr_at_k"] == 0.0
        assert (figures["n_flaky"], figures["n_outputs"], figures["latency_p95"]) == (1.0, 4.0, 12.5)
        assert figures["cost_usd"] == pytest.approx(0.04)


def test_an_unknown_price_is_no_cost(tmp_path: Path) -> None:
    case = some_cases(1)[0]
    with a_store(tmp_path) as store:
        store.create_run(a_run(), [case])
        store.add_outputs("run-1", [an_output(case, usage=None)])
        assert store.measure("run-1")["cost_usd"] is None


def test_gates_stand_beside_the_runs(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        store_run(store, a_run("run-a"), ["PASS"] * 12)
        store_run(store, a_run("run-b", created_at="2026-01-02T00:00:00+00:00"), ["FAIL"] * 12)
        decision = decide(store, "run-b", "run-a", GatePolicy())
        store.add_gate("run-b", "run-a", decision.verdict, decision.to_dict())
        found = trend(store, "regulations")
        assert found.gates == {"run-b": "FAIL"}
        assert found.expected_false_alarms == 0.05
        assert store.gates(run_id="run-b")[0].report["verdict"] == "FAIL"


def test_an_empty_suite(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        found = trend(store, "nothing")
        assert (found.run_ids, found.annotations) == ((), ())
        assert flaky_cases(store, "nothing") == []
        assert case_history(store, "q0") == []


def test_one_case_over_all_runs(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        store_run(store, a_run("run-1"), ["PASS,FAIL"], repeats=2, mrr_at_k=[0.5])
        changed = [case.model_copy(update={"gold_answer": "new"}) for case in some_cases(1)]
        store.create_run(a_run("run-2", created_at="2026-01-02T00:00:00+00:00"), changed)
        store.seal("run-2", summary={}, aggregates=[], verdicts={})
        store_run(store, a_run("run-3", created_at="2026-01-03T00:00:00+00:00"), ["FAIL"], mrr_at_k=[None])
        found = case_history(store, "q0", metric="mrr_at_k")
        assert [(p.run_id, p.verdicts, p.score, p.same_question) for p in found] == [
            ("run-1", ("PASS", "FAIL"), 0.5, True),
            ("run-3", ("FAIL",), None, True),
        ]
        assert found[1].reason == "retrieval_miss"
        assert case_history(store, "q0", suite="another") == []


def test_flaky_cases(tmp_path: Path) -> None:
    columns = [
        ["PASS", "FAIL", "PASS", "PASS"],
        ["PASS", "PASS", "FAIL", "PASS,FAIL"],
        ["PASS", "ERROR", "FAIL", "PASS,PASS"],
    ]
    with a_store(tmp_path) as store:
        for i in range(3):
            verdicts = [columns[i][0], columns[i][1], columns[i][2], columns[i][3]]
            store_run(
                store, a_run(f"run-{i}", created_at=f"2026-01-0{i + 1}T00:00:00+00:00"), verdicts, repeats=2
            )
        found = {case.case_id: case for case in flaky_cases(store, "regulations")}
    assert set(found) == {"q3"}, "q1 changed once, q2 changed once and stayed"
    assert (found["q3"].split_runs, found["q3"].passes, found["q3"].n) == (1, 4, 5)


def test_change_points_are_rare_in_noise_and_found_when_real() -> None:
    random = np.random.default_rng(0)
    alarms = sum(bool(change_points(list(random.normal(0, 1, 25)), seed=i)) for i in range(120))
    assert alarms / 120 <= 0.05 + 3 * (0.05 * 0.95 / 120) ** 0.5
    steps = [
        *random.normal(0.8, 0.01, 12),
        None,
        *random.normal(0.7, 0.01, 12),
        *random.normal(0.9, 0.01, 12),
    ]
    assert [change.index for change in change_points(steps)] == [13, 25]
    assert [change.index for change in change_points([0.9, 0.91, 0.9, 0.92, 0.6, 0.61, 0.62, 0.6])] == [4]
    assert change_points([0.9, 0.91, 0.9, 0.6, 0.61, 0.62, 0.6]) == [], "seven runs cannot show it"
    assert change_points([1.0] * 30) == []
    assert change_points([None, 0.5]) == []
