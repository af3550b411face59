"""Two runs case by case: matching, statuses, signed differences, and when they must not be compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import core.components  # noqa: F401 - the metrics get their direction
from core.errors import StoreError
from core.records import Case, Claim, Hit
from core.statistics.paired import mcnemar_midp, newcombe
from core.store.compare import case_difference, compare_many, compare_runs, matrix, sentence
from core.store.compare.detail import word_difference
from core.store.compare.page import compare_page
from core.store.runs import Store
from tests.store.made import a_result, a_run, a_store, an_aggregate, an_output, some_cases, store_run


def two(
    store: Store, a: list[str], b: list[str], *, a_fields: dict[str, Any] | None = None, **b_fields: Any
) -> None:
    store_run(store, a_run("run-a", **(a_fields or {})), a)
    store_run(store, a_run("run-b", created_at="2026-01-02T00:00:00+00:00", **b_fields), b)


def test_what_became_of_each_case(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        two(
            store, ["PASS", "FAIL", "PASS", "WEAK", "PASS"], ["FAIL", "PASS", "PASS", "FAIL", "ERROR", "PASS"]
        )
        found = compare_runs(store, "run-a", "run-b")
        assert [pair.status for pair in found.pairs] == [
            "broken", "fixed", "unchanged", "broken", "not_comparable", "only_in_b",
        ]  # fmt: skip
        assert found.counts["broken"] == 2
        assert found.flips == {"FAIL → PASS": 1, "PASS → ERROR": 1, "PASS → FAIL": 1, "WEAK → FAIL": 1}
        back = compare_runs(store, "run-b", "run-a")
        assert back.counts["only_in_a"] == 1
        assert back.counts["fixed"] == 2


def test_cases_are_matched_by_content_when_the_id_changed(tmp_path: Path) -> None:
    cases = some_cases(3)
    renamed = [
        cases[0],
        cases[1].model_copy(update={"id": "new name"}),
        cases[2].model_copy(update={"gold_answer": "other"}),
    ]
    with a_store(tmp_path) as store:
        for name, listed in (("run-a", cases), ("run-b", renamed)):
            store.create_run(a_run(name), listed)
            store.add_results(name, [a_result(case) for case in listed])
            store.seal(name, summary={}, aggregates=[], verdicts={"PASS": 3})
        found = compare_runs(store, "run-a", "run-b")
        assert [(pair.matched_by, pair.status) for pair in found.pairs] == [
            ("id", "unchanged"), ("content", "unchanged"), ("id", "not_comparable"),
        ]  # fmt: skip
        assert found.metrics[0].n == 2, "a question whose gold changed is in no mean"


def test_the_pass_rate_by_the_published_methods(tmp_path: Path) -> None:
    a = ["PASS"] * 32 + ["FAIL"] * 18
    b = ["PASS"] * 23 + ["FAIL"] * 9 + ["PASS"] * 2 + ["FAIL"] * 16
    with a_store(tmp_path) as store:
        two(store, a, b)
        rate = compare_runs(store, "run-a", "run-b").pass_rate
    assert rate is not None
    assert (rate.n, rate.win, rate.loss, rate.tie) == (50, 2, 9, 39)
    assert rate.delta == pytest.approx(-7 / 50)
    assert rate.interval == newcombe(23, 2, 9, 16)
    assert rate.p == mcnemar_midp(2, 9)
    assert (rate.improvement or 0) < 0
    assert "2 gained, 9 lost" in sentence(rate)
    assert "can detect differences of about" in sentence(rate)


def test_differences_know_their_direction_and_are_corrected(tmp_path: Path) -> None:
    n = 30
    worse = {
        "hallucinated_claim_ratio": [0.0] * n,
        "mrr_at_k": [1.0, None] * 15,
        "grounded_claim_ratio": [0.5] * n,
    }
    later = {
        "hallucinated_claim_ratio": [0.5 + 0.01 * i for i in range(n)],
        "mrr_at_k": [1.0] * n,
        "grounded_claim_ratio": [0.5] * n,
    }
    with a_store(tmp_path) as store:
        store_run(store, a_run("run-a"), ["PASS"] * n, **worse)
        store_run(store, a_run("run-b"), ["PASS"] * n, **later)
        found = {metric.metric: metric for metric in compare_runs(store, "run-a", "run-b").metrics}
    ratio = found["hallucinated_claim_ratio"]
    assert (ratio.delta or 0) > 0 > (ratio.improvement or 0)
    assert ratio.change == "worse"
    assert (ratio.p_holm or 0) >= (ratio.p or 0)
    mrr = found["mrr_at_k"]
    assert (mrr.n, mrr.n_only_a, mrr.n_only_b, mrr.delta) == (15, 0, 15, 0.0)
    assert found["grounded_claim_ratio"].change == "none"


def test_repeats_stay_inside_the_question(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        store_run(store, a_run("run-a"), ["PASS,FAIL,PASS", "PASS,PASS,PASS", "FAIL,FAIL,FAIL"], repeats=3)
        store_run(store, a_run("run-b"), ["PASS,PASS,FAIL", "FAIL,WEAK,FAIL", "FAIL,FAIL,FAIL"], repeats=3)
        found = compare_runs(store, "run-a", "run-b")
    assert [pair.status for pair in found.pairs] == ["flaky", "broken", "unchanged"]
    assert found.pass_rate is not None
    assert found.pass_rate.n == 3, "three questions, not nine answers"
    assert found.pass_rate.delta == pytest.approx((0 - 1 + 0) / 3)


def test_clusters_are_the_unit(tmp_path: Path) -> None:
    n = 40
    cases = [case.model_copy(update={"cluster": f"doc{i // 4}"}) for i, case in enumerate(some_cases(n))]
    with a_store(tmp_path) as store:
        for name, wrong in (("run-a", 0), ("run-b", 12)):
            store.create_run(a_run(name), cases)
            store.add_results(
                name, [a_result(case, "FAIL" if i < wrong else "PASS") for i, case in enumerate(cases)]
            )
            store.seal(name, summary={}, aggregates=[], verdicts={"PASS": n - wrong, "FAIL": wrong})
        rate = compare_runs(store, "run-a", "run-b").pass_rate
    assert rate is not None
    assert rate.p == pytest.approx(2 * 0.5**3), "three documents broke: an exact sign flip over them"
    assert rate.test == "sign_flip"


@pytest.mark.parametrize(
    ("changes", "severity", "what"),
    [
        ({"kind": "audit"}, "refused", "kind"),
        ({"digests": {"questions": "q1", "corpus": "c1", "judge": "other"}}, "refused", "judge"),
        ({"digests": {"questions": "q1", "corpus": "c2"}}, "label", "corpus"),
        ({"digests": {"questions": "q2", "corpus": "c1"}}, "label", "questions"),
        ({"versions": {"plumbline": "0.1.0", "parser": "2"}}, "label", "parser"),
    ],
)
def test_comparability_names_what_differs(
    tmp_path: Path, changes: dict[str, Any], severity: str, what: str
) -> None:
    with a_store(tmp_path) as store:
        two(store, ["PASS", "FAIL"], ["PASS", "FAIL"], **changes)
        found = compare_runs(store, "run-a", "run-b")
    assert (severity, what) in {(problem.severity, problem.what) for problem in found.problems}
    assert found.comparable == (severity == "label")
    assert bool(found.metrics) == found.comparable


def test_too_many_errors_are_no_regression(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        two(store, ["PASS"] * 20, ["PASS"] * 17 + ["ERROR"] * 3)
        found = compare_runs(store, "run-a", "run-b")
        assert not found.comparable
        assert "3 of 20 cases of the candidate are ERROR" in found.problems[0].message
        assert (found.errors.low, found.errors.high) == (pytest.approx(-0.15), 0.0)
        assert compare_runs(store, "run-a", "run-b", max_error_rate=0.2).comparable


def test_a_metric_with_a_new_definition_is_refused(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        two(store, ["PASS"], ["PASS"])
        with store.write() as connection:
            connection.execute("DROP TRIGGER aggregates_no_update")
            connection.execute("UPDATE aggregates SET version = '0' WHERE run_key = 1")
        found = compare_runs(store, "run-a", "run-b")
    assert not found.comparable
    assert "definition of mrr_at_k changed" in found.problems[0].message


def test_settings_and_design(tmp_path: Path) -> None:
    def settings(**changes: Any) -> dict[str, Any]:
        return {"classifier_type": "document_qa", "retriever": "bm25", "top_k": 8, "run_name": "x", **changes}

    with a_store(tmp_path) as store:
        store_run(store, a_run("base", settings=settings()), ["PASS"])
        store_run(store, a_run("same", settings=settings(run_name="y")), ["PASS"])
        store_run(store, a_run("one", settings=settings(top_k=4)), ["PASS"])
        store_run(store, a_run("parent", settings=settings(rerank_top_n=20)), ["PASS"])
        store_run(store, a_run("two", settings=settings(top_k=4, retriever="tfidf")), ["PASS"])
        found = {c.b.id: c for c in compare_many(store, ["base", "same", "one", "parent", "two"])}
    assert {name: c.design for name, c in found.items()} == {
        "same": "replicate", "one": "controlled", "parent": "controlled", "two": "confounded",
    }  # fmt: skip
    assert [(d.name, d.a, d.b) for d in found["one"].settings] == [("top_k", 8, 4)]
    entailed = {d.name: d.entailed_by for d in found["parent"].factors}
    assert entailed == {"rerank_top_n": "", "rerank_weight": "rerank_top_n"}
    assert found["same"].settings == ()


def test_one_case_in_detail(tmp_path: Path) -> None:
    case = some_cases(1)[0]
    hits = tuple(Hit(id=name, rank=i + 1, title=name.upper()) for i, name in enumerate("abc"))
    moved = tuple(Hit(id=name, rank=i + 1) for i, name in enumerate("bad"))
    claim = Claim(claim_type="gold", index=0, claim="6 Semester", target="answer", label="supported")
    with a_store(tmp_path) as store:
        for name, text, ranking, label, mrr in (
            ("run-a", "Das Studium dauert 6 Semester.", hits, "supported", 1.0),
            ("run-b", "Das Studium dauert 8 Semester.", moved, "contradicted", 0.5),
        ):
            store.create_run(a_run(name), [case])
            store.add_outputs(name, [an_output(case, text=text, hits=ranking)])
            claims = (claim.model_copy(update={"label": label}),)
            store.add_results(name, [a_result(case, claims=claims, scores={"mrr_at_k": mrr}, undefined={})])
            store.seal(name, summary={}, aggregates=[an_aggregate()], verdicts={"PASS": 1})
        found = case_difference(store, "run-a", "run-b", "q0")
    assert [part for part in found.answer if part[0] != "same"] == [("removed", "6"), ("added", "8")]
    assert [(c.chunk_id, c.move) for c in found.chunks] == [
        ("b", "up"),
        ("a", "down"),
        ("d", "entered"),
        ("c", "left"),
    ]
    assert [(c.label_a, c.label_b) for c in found.claims] == [("supported", "contradicted")]
    assert [(s.metric, s.improvement) for s in found.scores] == [("mrr_at_k", -0.5)]


@pytest.mark.parametrize(
    ("a", "b"), [("", ""), ("a b", ""), ("", "x"), ("ä 漢 字", "ä 字 漢"), ("x " * 5000, "x " * 4999 + "y")]
)
def test_words_can_be_put_together_again(a: str, b: str) -> None:
    parts = word_difference(a, b)
    assert "".join(text for op, text in parts if op != "added") == a
    assert "".join(text for op, text in parts if op != "removed") == b


def test_matrix_page_and_json(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        two(store, ["PASS", "FAIL"], ["FAIL", "PASS", "PASS"])
        store_run(store, a_run("run-c"), ["PASS"])
        found = compare_many(store, ["run-a", "run-b", "run-c"])
        rows = matrix(found)
        page = compare_page(store, found)
        with pytest.raises(StoreError, match="two to 10"):
            compare_many(store, ["run-a"])
    assert [row["id"] for row in rows] == ["q0", "q1", "q2"]
    assert rows[1]["statuses"] == {"run-b": "fixed", "run-c": "only_in_a"}
    assert {run: side.verdict for run, side in rows[0]["sides"].items()} == {
        "run-a": "PASS",
        "run-b": "FAIL",
        "run-c": "PASS",
    }
    assert "<script" not in page
    assert "Broken (1)" in page
    assert json.loads(json.dumps(found[0].to_dict(), default=str))["counts"]["broken"] == 1


def test_a_case_nobody_answered_is_missing_data(tmp_path: Path) -> None:
    cases = [Case(id="a", query="x"), Case(id="b", query="y")]
    with a_store(tmp_path) as store:
        store_run(store, a_run("run-a"), ["PASS", "PASS"])
        store.create_run(a_run("run-b"), some_cases(2))
        store.add_results("run-b", [a_result(some_cases(1)[0])])
        found = compare_runs(store, "run-a", "run-b", max_error_rate=0.6)
    assert [pair.status for pair in found.pairs] == ["unchanged", "not_comparable"]
    assert any(problem.what == "status" for problem in found.problems)
    assert len(cases) == 2


def test_the_page_shows_what_changed_before_all_other_metrics(tmp_path: Path) -> None:
    with a_store(tmp_path) as store:
        n = 12
        scores = {"hit_at_k": [1.0] * n, "bpref": [0.5] * n}
        store_run(store, a_run("a"), ["PASS"] * n, **scores)
        store_run(store, a_run("b"), ["FAIL"] * n, **scores)
        page = compare_page(store, [compare_runs(store, "a", "b")])
    first, _, rest = page.partition("1 more metric, which did not change")
    assert "Hit@k" in first
    assert "Pass rate" in first
    assert "<h3>Broken" in rest
