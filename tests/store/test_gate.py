"""The gate: the rule, what it refuses, cases that must pass, and how rarely it stops an unchanged system."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import core.components  # noqa: F401 - the metrics get their direction
from core.errors import ConfigError, StoreError
from core.store.gate import (
    GateMetric,
    GatePolicy,
    decide,
    github_annotations,
    headline,
    junit,
    load_policy,
    markdown,
    sentences,
)
from core.store.gate.rule import gather, verdict
from core.store.runs import Store
from tests.benchmarks.gate import ALPHA, SYSTEMS, family, shares
from tests.store.made import a_run, a_store, store_run


def pair(store: Store, a: list[str], b: list[str], *, repeats: int = 1, **b_fields: Any) -> None:
    store_run(store, a_run("base"), a, repeats=repeats)
    store_run(store, a_run("new", created_at="2026-01-02T00:00:00+00:00", **b_fields), b, repeats=repeats)


def outcomes(lost: int, gained: int, n: int) -> tuple[list[str], list[str]]:
    rest = ["PASS"] * (n - lost - gained)
    return rest + ["PASS"] * lost + ["FAIL"] * gained, rest + ["FAIL"] * lost + ["PASS"] * gained


@pytest.mark.parametrize(
    ("lost", "gained", "n", "mode", "expected", "code"),
    [
        (0, 0, 50, "detect", "PASS", 0),
        (2, 2, 50, "detect", "PASS", 0),
        (5, 2, 50, "detect", "WEAK", 0),  # Δ = −6 points, but it may be chance
        (9, 2, 50, "detect", "FAIL", 1),  # one-sided mid-p .019
        (9, 2, 50, "prove", "FAIL", 1),
        (2, 2, 50, "prove", "WEAK", 0),  # 50 questions cannot prove it
        (0, 0, 400, "prove", "PASS", 0),
        (12, 3, 1000, "detect", "PASS", 0),  # shown, but inside the margin
    ],
)
def test_the_rule(
    tmp_path: Path, lost: int, gained: int, n: int, mode: Any, expected: str, code: int
) -> None:
    with a_store(tmp_path) as store:
        pair(store, *outcomes(lost, gained, n))
        found = decide(store, "new", "base", GatePolicy(mode=mode))
    assert found.verdict == expected
    assert found.exit_code() == code
    assert found.exit_code(strict=True) == (1 if expected == "WEAK" else code)
    said = " ".join(sentences(found))
    assert f"{gained} gained, {lost} lost" in said
    assert "one-sided mid-p" in said
    if n == 1000:
        assert "a small drop inside the margin" in said


def test_the_published_words(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        pair(store, *outcomes(5, 3, 50))
        said = sentences(decide(store, "new", "base", GatePolicy()))[0]
    assert said.startswith("Pass rate: candidate 94 % vs baseline 90 %") or "5 lost" in said
    assert "3 gained, 5 lost; one-sided mid-p .25" in said
    assert "this suite can detect drops of about" in said
    assert "would take" in said


def test_lower_is_better_gates_the_other_way(tmp_path: Path) -> None:
    n = 30
    with a_store(tmp_path) as store:
        store_run(store, a_run("base"), ["PASS"] * n, hallucinated_claim_ratio=[0.1] * n)
        later = a_run("new", created_at="2026-01-02T00:00:00+00:00")
        store_run(store, later, ["PASS"] * n, hallucinated_claim_ratio=[0.3 + 0.01 * i for i in range(n)])
        policy = GatePolicy(metrics=(GateMetric(name="hallucinated_claim_ratio"),))
        assert decide(store, "new", "base", policy).verdict == "FAIL"
        policy = GatePolicy(metrics=(GateMetric(name="hallucinated_claim_ratio", margin=0.9, max=0.2),))
        found = decide(store, "new", "base", policy)
        assert (found.metrics[0].verdict, found.bounds[0].verdict) == ("PASS", "FAIL")
        assert found.metrics[0].margin == 0.9


def test_bounds_are_a_point_in_detect_and_a_lower_bound_in_prove(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        pair(store, ["PASS"] * 20, ["PASS"] * 20)
        metric = GateMetric(name="pass_rate", margin=0.5, min=0.95)
        assert decide(store, "new", "base", GatePolicy(metrics=(metric,))).bounds[0].verdict == "PASS"
        bound = decide(store, "new", "base", GatePolicy(metrics=(metric,), mode="prove")).bounds[0]
        assert (bound.verdict, bound.conclusive) == ("WEAK", False)
        assert "59 questions that all pass" in bound.why


def test_many_metrics_are_corrected_together() -> None:
    found = gather([1.0] * 30 + [0.0] * 10, [1.0] * 26 + [0.0] * 14, margin=0.0, binary=True)
    assert found is not None
    assert found.p == pytest.approx(0.5**4 / 2)
    assert verdict(found, found.p, margin=0.0, mode="detect", alpha=0.05)[0] == "FAIL"
    assert verdict(found, found.p * 5, margin=0.0, mode="detect", alpha=0.05)[0] == "WEAK"
    assert gather([], [], margin=0.0, binary=True) is None


@pytest.mark.parametrize(
    ("b", "fields", "reason"),
    [
        (["PASS"] * 17 + ["ERROR"] * 3, {}, "3 of 20 cases of the candidate are ERROR"),
        (["PASS"] * 20, {"digests": {"questions": "q1", "judge": "new"}}, "another judge"),
    ],
)
def test_what_cannot_be_compared_is_an_error_and_no_failure(
    tmp_path: Path, b: list[str], fields: dict[str, Any], reason: str
) -> None:
    with a_store(tmp_path) as store:
        pair(store, ["PASS"] * 20, b, **fields)
        found = decide(store, "new", "base", GatePolicy())
    assert (found.verdict, found.exit_code(), found.exit_code(strict=True)) == ("ERROR", 3, 3)
    assert found.metrics == ()
    assert reason in " ".join(sentences(found))


def test_the_error_budget_is_the_policys(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        pair(store, ["PASS"] * 20, ["PASS"] * 18 + ["ERROR"] * 2)
        assert decide(store, "new", "base", GatePolicy()).verdict == "ERROR"
        assert decide(store, "new", "base", GatePolicy(max_error_rate=0.1)).verdict == "PASS"


def must_pass(tmp_path: Path, history: list[str], now: str, *, name: str = "q0") -> str:
    with a_store(tmp_path) as store:
        rest = ["PASS"] * 40
        for i, verdicts in enumerate(history):
            repeats = verdicts.count(",") + 1
            run = a_run(f"run-{i}", created_at=f"2026-01-{i + 1:02}T00:00:00+00:00")
            store_run(store, run, [verdicts, *rest], repeats=repeats)
        store_run(
            store,
            a_run("new", created_at="2026-02-01T00:00:00+00:00"),
            [now, *rest],
            repeats=now.count(",") + 1,
        )
        found = decide(store, "new", "run-0", GatePolicy(must_pass=(name,), max_error_rate=0.1)).critical[0]
        assert (found.past_passes, found.past_n) == (
            ",".join(history).count("PASS"),
            sum(v != "ERROR" for each in history for v in each.split(",")),
        )
    return found.verdict


def test_a_case_that_always_passed_and_fails_now_is_a_regression(tmp_path: Path) -> None:
    assert must_pass(tmp_path, ["PASS"] * 3, "FAIL") == "FAIL"


def test_a_case_that_was_never_stable_is_not_proof(tmp_path: Path) -> None:
    assert must_pass(tmp_path, ["PASS", "FAIL", "PASS"], "FAIL") == "WEAK"


def test_an_unstable_case_that_fails_too_often_is_one(tmp_path: Path) -> None:
    assert must_pass(tmp_path, ["PASS,PASS,PASS,PASS,FAIL"] * 4, "FAIL,FAIL,FAIL,FAIL,FAIL") == "FAIL"


def test_most_repeats_decide_without_a_flaky_past(tmp_path: Path) -> None:
    assert must_pass(tmp_path, ["PASS"], "PASS,PASS,FAIL") == "WEAK"


def test_a_critical_case_in_error_cannot_be_decided(tmp_path: Path) -> None:
    assert must_pass(tmp_path, ["PASS"], "ERROR") == "ERROR"


def test_a_passing_critical_case(tmp_path: Path) -> None:
    assert must_pass(tmp_path, ["FAIL", "PASS"], "PASS") == "PASS"


def test_names_the_run_does_not_have_are_configuration(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        pair(store, ["PASS"] * 3, ["PASS"] * 3)
        with pytest.raises(ConfigError, match="did you mean 'q1'"):
            decide(store, "new", "base", GatePolicy(must_pass=("Q1",)))
        with pytest.raises(ConfigError, match="did you mean 'pass_rate'"):
            decide(store, "new", "base", GatePolicy(metrics=(GateMetric(name="pas_rate"),)))


def test_a_policy_is_checked_with_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "gate.yaml"
    path.write_text(
        "metrics:\n  - name: pass_rate\n    margn: 0.1\nmode: proof\nmax_error_rate: 2\n", encoding="utf-8"
    )
    with pytest.raises(ConfigError) as caught:
        load_policy(path)
    said = str(caught.value)
    assert "metrics.0.margn (line 3): unknown key; did you mean 'margin'?" in said
    assert "mode (line 4)" in said
    assert "max_error_rate (line 5)" in said
    path.write_text(
        "metrics: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}, {name: f}]\n", encoding="utf-8"
    )
    with pytest.raises(ConfigError, match="at most 5"):
        load_policy(path)
    path.write_text("metrics: [{name: pass_rate, margin: 0.1}]\n", encoding="utf-8")
    assert load_policy(path, mode="prove") == GatePolicy(
        metrics=(GateMetric(name="pass_rate", margin=0.1),), mode="prove"
    )
    assert load_policy(None) == GatePolicy()


def test_baselines_and_latest(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        pair(store, ["PASS"] * 5, ["PASS"] * 5)
        other = a_run("other", created_at="2026-01-01T12:00:00+00:00", digests={"questions": "changed"})
        store_run(store, other, ["FAIL"] * 5)
        later = a_run("later", created_at="2026-03-01T00:00:00+00:00")
        store_run(store, later, ["PASS"] * 5)
        assert decide(store, "new", "latest", GatePolicy()).baseline.id == "base"
        store.set_baseline("release", "later")
        assert decide(store, "new", "release", GatePolicy()).baseline.id == "later"
        with pytest.raises(StoreError, match="no earlier sealed run"):
            decide(store, "base", "latest", GatePolicy())


def test_reports_escape_what_they_quote(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        run = a_run("new", name="a|b <x>\n::error::", created_at="2026-01-02T00:00:00+00:00")
        store_run(store, a_run("base"), ["PASS"] * 12)
        store_run(store, run, ["FAIL"] * 12)
        found = decide(store, "new", "base", GatePolicy(must_pass=("q0",)))
    assert headline(found).startswith("FAIL: worse than allowed")
    text = markdown(found)
    assert "a\\|b \\<x\\>" in text
    assert "## Plumbline gate: FAIL" in text
    root = ElementTree.fromstring(junit(found).split("\n", 1)[1])
    assert root.get("failures") == "2"
    assert [case.get("name") for case in root] == ["comparable", "pass_rate", "must pass: q0"]
    lines = github_annotations(found)
    assert all(line.startswith("::") and "\n" not in line for line in lines)
    assert "%0A" in lines[0]


@pytest.mark.parametrize("system", sorted(SYSTEMS))
@pytest.mark.parametrize("n", [30, 50])
def test_an_unchanged_system_is_stopped_no_more_often_than_said(system: str, n: int) -> None:
    draws = 300
    found = shares(n, SYSTEMS[system], draws=draws, seed=7)
    assert found["FAIL"] <= ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / draws)
    seen = shares(n, SYSTEMS[system], drop=0.2, draws=100, seed=8)
    assert seen["FAIL"] > 0.5 if n == 50 else seen["FAIL"] > 0.3


def test_several_metrics_raise_no_more_false_alarms_than_one() -> None:
    draws = 60
    assert family(30, draws=draws, seed=3) <= ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / draws)


def test_large_suites_take_the_t_test() -> None:
    random = np.random.default_rng(0)
    noise = random.normal(0, 0.1, 1500)
    same = gather(np.zeros(1500), noise - noise.mean(), margin=0.02, binary=False)
    worse = gather(np.zeros(1500), noise - 0.05, margin=0.02, binary=False)
    assert same is not None
    assert worse is not None
    assert same.p == pytest.approx(0.5, abs=1e-6)
    assert worse.p < 1e-6


def test_a_policy_that_cannot_decide_is_refused_with_everything_wrong_in_it(tmp_path: Path) -> None:
    metrics = ({"name": "pass_rate", "margin": 5}, {"name": "hit_at_k", "min": 90}, {"name": "mrr_at_kk"})
    policy = GatePolicy.model_validate({"metrics": metrics, "must_pass": ["nobody"]})
    with Store(tmp_path / "plumbline.db") as store:
        store_run(store, a_run("a"), ["PASS", "PASS"], hit_at_k=[1.0, 1.0])
        new = a_run("b", created_at="2026-01-02T00:00:00+00:00")
        store_run(store, new, ["PASS", "FAIL"], hit_at_k=[1.0, 0.0])
        with pytest.raises(ConfigError) as wrong:
            decide(store, "b", "a", policy)
    assert [problem.where for problem in wrong.value.problems] == [
        "metrics.0.margin",
        "metrics.1.min",
        "metrics.2.name",
        "must_pass",
    ]


def test_a_metric_may_be_named_alone() -> None:
    assert [metric.name for metric in GatePolicy.model_validate({"metrics": ["hit_at_k"]}).metrics] == [
        "hit_at_k"
    ]
