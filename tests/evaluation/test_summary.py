"""Aggregates of a run: coverage, repeats, clusters, intervals, groups; and its summary."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from core.evaluation.summary import NOT_GIVEN, aggregate, detectable, summarise
from core.records import Aggregate, Case, Diagnosis, Failure, Hit, Output, Result, Verdict
from core.statistics.intervals import clustered_rate, wilson


def _cases(n: int, **fields: object) -> list[Case]:
    return [Case(id=f"q{i}", query=f"Question {i}?", answerable=True, **fields) for i in range(n)]  # type: ignore[arg-type]


def _result(case_id: str, verdict: Verdict = Verdict.PASS, repeat: int = 0, **scores: float | None) -> Result:
    undefined = {name: "no_gold" for name, value in scores.items() if value is None}
    return Result(case_id=case_id, repeat=repeat, verdict=verdict, scores=scores, undefined=undefined)


def _row(rows: Sequence[Aggregate], metric: str, group: str = "") -> Aggregate:
    return next(row for row in rows if row.metric == metric and row.group == group)


def test_the_three_counts_add_up_to_the_cases_for_every_metric() -> None:
    rng = random.Random(1)
    cases = _cases(30)
    results = []
    for case in cases[:25]:  # five cases have no result at all
        kind = rng.choice(["scored", "undefined", "error", "judge"])
        if kind == "error":
            failure = Failure(where="system", kind="timeout", message="too late")
            results.append(Result(case_id=case.id, verdict=Verdict.ERROR, failure=failure))
        elif kind == "judge":
            broken = Result(
                case_id=case.id, verdict=Verdict.ERROR, scores={"mrr_at_k": 1.0, "faithfulness": None},
                undefined={"faithfulness": "judge_error"},
            )  # fmt: skip
            results.append(broken)
        else:
            results.append(_result(case.id, mrr_at_k=1.0 if kind == "scored" else None, faithfulness=0.5))
    for row in aggregate(cases, results):
        assert row.n_scored + row.n_not_applicable + row.n_error == 30, row
        assert row.n_error >= 5


def test_a_failing_judge_moves_no_mean_and_lowers_coverage() -> None:
    cases = _cases(10)
    good = [_result(case.id, mrr_at_k=i / 10, faithfulness=i % 2) for i, case in enumerate(cases)]
    broken = [
        r if i < 5 else r.model_copy(
            update={"verdict": Verdict.ERROR, "scores": {**r.scores, "faithfulness": None}, "undefined": {"faithfulness": "judge_error"}}
        )
        for i, r in enumerate(good)
    ]  # fmt: skip
    before, after = aggregate(cases, good), aggregate(cases, broken)
    assert _row(after, "mrr_at_k") == _row(before, "mrr_at_k")
    survivors = _row(after, "faithfulness")
    assert (survivors.mean, survivors.n_scored, survivors.n_error) == (pytest.approx(0.4), 5, 5)
    summary = summarise("document_qa", cases, [], broken, after)
    assert summary["coverage"] == {"n_decided": 5, "n_error": 5, "share": 0.5}


def test_repeats_are_averaged_inside_the_case_first() -> None:
    cases = _cases(2)
    results = [_result("q0", repeat=i, hit_at_k=value) for i, value in enumerate((1.0, 1.0, 0.0, 0.0))]
    results.append(_result("q1", hit_at_k=1.0))
    row = _row(aggregate(cases, results), "hit_at_k")
    assert (row.mean, row.n_scored) == (0.75, 2)


def test_an_error_in_one_repeat_costs_only_that_repeat() -> None:
    failure = Failure(where="system", kind="timeout", message="x")
    results = [
        _result("q0", hit_at_k=1.0),
        Result(case_id="q0", repeat=1, verdict=Verdict.ERROR, failure=failure),
    ]
    row = _row(aggregate(_cases(1), results), "hit_at_k")
    assert (row.mean, row.n_scored, row.n_error) == (1.0, 1, 0)


def test_rates_get_wilson_and_never_a_width_of_zero() -> None:
    cases = _cases(20)
    row = _row(aggregate(cases, [_result(case.id, hit_at_k=1.0) for case in cases]), "hit_at_k")
    expected = wilson(20, 20)
    assert expected is not None
    assert (row.mean, row.low, row.high, row.method) == (1.0, pytest.approx(expected.low), 1.0, "wilson")
    assert row.low == pytest.approx(0.838875, abs=1e-6)


def test_bounded_means_get_a_t_interval_inside_the_bounds_and_small_ones_say_so() -> None:
    cases = _cases(12)
    values = [0.9, 1.0] * 6
    row = _row(
        aggregate(cases, [_result(c.id, ndcg_at_k=v) for c, v in zip(cases, values, strict=True)]),
        "ndcg_at_k",
    )
    assert row.method == "t"
    assert row.low is not None
    assert 0 < row.low < 0.95 < row.high <= 1  # type: ignore[operator]
    tiny = _row(aggregate(cases[:3], [_result(c.id, ndcg_at_k=0.5) for c in cases[:3]]), "ndcg_at_k")
    assert tiny.note == "tiny_n"


def test_cases_of_one_document_are_not_independent() -> None:
    cases = [case.model_copy(update={"cluster": f"d{i % 6}"}) for i, case in enumerate(_cases(60))]
    results = [_result(case.id, hit_at_k=float(i % 6 < 4)) for i, case in enumerate(cases)]
    row = _row(aggregate(cases, results), "hit_at_k")
    naive = wilson(40, 60)
    expected = clustered_rate([r.scores["hit_at_k"] or 0.0 for r in results], [c.cluster for c in cases])
    assert expected is not None
    assert naive is not None
    assert (row.low, row.high) == (expected.low, expected.high)
    assert row.high - row.low > 2 * naive.width  # type: ignore[operator]
    few = [case.model_copy(update={"cluster": f"d{i % 3}"}) for i, case in enumerate(cases)]
    assert "too few clusters (3)" in _row(aggregate(few, results), "hit_at_k").note


def test_groups_have_their_own_rows() -> None:
    cases = [
        case.model_copy(update={"question_type": kind})
        for case, kind in zip(_cases(3), ("a", "b", ""), strict=True)
    ]
    rows = aggregate(
        cases,
        [_result(c.id, hit_at_k=float(i)) for i, c in enumerate(cases[:2])],
        group_by=("question_type", "language"),
    )
    assert [(r.group_by, r.group, r.mean, r.n_error) for r in rows if r.metric == "hit_at_k"] == [
        ("", "", 0.5, 1), ("question_type", NOT_GIVEN, None, 1), ("question_type", "a", 0.0, 0), ("question_type", "b", 1.0, 0),
    ]  # fmt: skip
    by_metadata = [case.model_copy(update={"metadata": {"topic": "x"}}) for case in cases]
    grouped = aggregate(by_metadata, [_result(c.id, hit_at_k=1.0) for c in cases], group_by=("topic",))
    assert _row(grouped, "hit_at_k", "x").n_scored == 3


def test_results_of_unknown_cases_are_left_out() -> None:
    rows = aggregate(_cases(1), [_result("q0", hit_at_k=1.0), _result("stranger", hit_at_k=0.0)])
    assert _row(rows, "hit_at_k").mean == 1.0


def test_no_cases_and_no_results() -> None:
    assert aggregate([], []) == []
    summary = summarise("document_qa", [], [], [], [])
    assert summary["coverage"]["share"] is None
    assert summary["detectable"].startswith("There are no questions")


@pytest.mark.parametrize(("n", "points"), [(20, 28), (30, 24), (50, 19), (100, 14)])
def test_what_a_question_set_can_detect(n: int, points: int) -> None:
    assert f"With {n} questions you can only detect drops of about {points} points" in detectable(n)


def test_too_few_questions_say_so() -> None:
    assert "no drop can be shown reliably" in detectable(5)
    assert "1 question " in detectable(1)


def test_published_keys_of_a_document_run() -> None:
    cases = [
        *_cases(3, question_type="single"),
        Case(id="u", query="?", answerable=False, question_type="none"),
    ]
    reasons = ("ok", "retrieval_miss", "retrieval_miss", "ok")
    results = [
        _result(case.id, verdict, mrr_at_k=1.0, n_retrieved_relevant_chunks=1.0, target_doc_retrieved_at_k=0.0,
                abstained=float(case.id == "u"), unsupported_claim_count=2.0, answer_claim_f1=0.5).model_copy(
            update={"label": label, "diagnosis": Diagnosis(primary_reason=reason), "artifacts": {"decision_action": "auto_accept"}}
        )
        for case, verdict, label, reason in zip(
            cases, (Verdict.PASS, Verdict.FAIL, Verdict.WEAK, Verdict.PASS),
            ("correct", "incorrect", "partially_correct", "correct"), reasons, strict=True,
        )
    ]  # fmt: skip
    outputs = [Output(case_id=case.id, latency_ms=float(i)) for i, case in enumerate(cases)]
    summary = summarise("document_qa", cases, outputs, results, aggregate(cases, results))
    answers = summary["answer_metrics"]
    assert (summary["n_questions"], summary["n_correct"], summary["n_incorrect"]) == (4, 2, 1)
    assert (
        answers["mean_answer_claim_f1"],
        answers["abstention_recall"],
        answers["n_unsupported_claims"],
    ) == (0.5, 1.0, 8)
    assert (answers["n_answerable"], answers["n_unanswerable"], answers["n_correct_abstentions"]) == (3, 1, 1)
    assert summary["retrieval_metrics"]["questions_with_relevant_chunk"] == 4
    assert summary["retrieval_metrics"]["mean_mrr_at_k"] == 1.0
    assert summary["retrieval_metrics_by_question_type"]["single"]["n"] == 3
    assert summary["diagnostics"]["counts_by_primary_reason"] == {"ok": 2, "retrieval_miss": 2}
    assert summary["diagnostics"]["most_common_reason"] == "retrieval_miss"
    assert summary["decision_counts"] == {"auto_accept": 4}
    assert summary["latency_ms"]["median"] == 1.5
    assert summary["verdicts"] == {"PASS": 2, "WEAK": 1, "FAIL": 1, "ERROR": 0}


def test_a_case_with_repeats_counts_once_by_its_worst_repeat() -> None:
    cases = _cases(1)
    results = [
        _result("q0", Verdict.PASS, 0, hit_at_k=1.0).model_copy(update={"label": "correct"}),
        _result("q0", Verdict.FAIL, 1, hit_at_k=0.0).model_copy(update={"label": "incorrect"}),
    ]
    summary = summarise("document_qa", cases, [], results, aggregate(cases, results))
    assert (summary["n_correct"], summary["n_incorrect"], summary["n_flaky"]) == (0, 1, 1)
    assert summary["verdicts"]["FAIL"] == 1


def test_published_keys_of_a_classifier_run() -> None:
    cases = [Case(id=f"q{i}", query=f"tender {i}", gold_codes=("45000000",)) for i in range(4)]
    values = [(1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (0.0, 0.0)]
    results = [
        _result(c.id, Verdict.PASS if e else Verdict.FAIL, exact_top1_match=e, hit_at_k=h, mrr_at_k=h)
        for c, (e, h) in zip(cases, values, strict=True)
    ]
    outputs = [
        Output(case_id=c.id, hits=() if i == 3 else (Hit(id="33000000", rank=1),))
        for i, c in enumerate(cases)
    ]
    summary = summarise("ted_cpv", cases, outputs, results, aggregate(cases, results))
    ranked = summary["classifier"]["ranking_metrics"]
    assert (ranked["exact_top1_accuracy"], ranked["hit_at_k"], ranked["n_missed_at_k"]) == (0.25, 0.5, 2)
    assert ranked["failure_summary"]["counts_by_reason"] == {
        "gold_missing_from_top_k": 1, "gold_present_but_not_ranked_first": 1, "no_candidates_returned": 1, "ok": 1,
    }  # fmt: skip
    assert [example["question_id"] for example in ranked["miss_examples"]] == ["q2", "q3"]
    assert summary["answer_metrics"]["accuracy"] == 0.25


def test_figures_that_rest_on_estimated_relevance_say_so() -> None:
    cases = [Case(id=str(i), query="?", question_type="a" if i < 2 else "b") for i in range(4)]
    results = [
        Result(
            case_id=case.id,
            verdict=Verdict.PASS,
            scores={"hit_at_k": 1.0, "token_f1": 1.0, "duplicate_rate_at_k": 0.0},
            relevance_source="spans" if case.id == "3" else "estimated",
        )
        for case in cases
    ]
    rows = {(row.metric, row.group): row.estimate for row in aggregate(cases, results)}
    assert rows["hit_at_k", ""] == "estimated for 3 of 4"
    assert rows["hit_at_k", "a"] == "estimated"
    assert rows["hit_at_k", "b"] == "estimated for 1 of 2"
    assert {name: said for (name, group), said in rows.items() if not group and said} == {
        "hit_at_k": "estimated for 3 of 4"
    }
