"""Faults of arithmetic that users of such tools report, and what must hold here (immunity B)."""

from __future__ import annotations

import random

import pytest

from core.contracts import METRICS, ScoringContext
from core.corpus import Chunk, Document
from core.evaluation.summary import aggregate, summarise
from core.metrics import ranking, ties
from core.metrics.retrieval_scores import retrieval_scores
from core.metrics.spans import char_recall
from core.records import Case, Evidence, Hit, Output, Result, Verdict
from core.reference import all_metrics, example

TEXT = " ".join(f"Rule {i} says what a student has to do in term {i}." for i in range(40))
DOCUMENT = Document(doc_path="rules.pdf", text=TEXT)
CHUNKS = tuple(
    Chunk(chunk_id=f"c{i}", doc_path="rules.pdf", ordinal=i, text=TEXT[s : s + 120], start=s, end=min(len(TEXT), s + 120))
    for i, s in enumerate(range(0, len(TEXT), 100))
)  # fmt: skip
CONTEXT = ScoringContext(documents={"rules.pdf": DOCUMENT}, chunks=CHUNKS, top_k=5)


def _case(name: str, rule: int) -> Case:
    quote = f"Rule {rule} says what a student has to do in term {rule}."
    return Case(
        id=name,
        query=f"Rule {rule}?",
        answerable=True,
        evidence=(Evidence(doc_path="rules.pdf", quote=quote),),
    )


def _output(name: str, *chunks: int) -> Output:
    hits = tuple(
        Hit(id=c.chunk_id, rank=i, score=1 / i, text=c.text, doc_path=c.doc_path, start=c.start, end=c.end)
        for i, c in enumerate((CHUNKS[n] for n in chunks), 1)
    )
    return Output(case_id=name, hits=hits)


@pytest.mark.parametrize("n", [1, 3, 7, 10, 49])
def test_perfect_is_exactly_one(n: int) -> None:
    ids = [f"d{i}" for i in range(n)]
    judged = {item: 1 + i % 3 for i, item in enumerate(reversed(ids))}
    best = sorted(ids, key=lambda item: -judged[item])
    assert ranking.ndcg_at_k(best, judged) == 1.0
    assert ranking.ndcg_exp_at_k(best, judged) == 1.0
    assert ranking.average_precision(best, judged) == 1.0
    assert ranking.ragas_context_precision(best, judged) == 1.0


def test_one_of_ten_relevant_at_rank_one_is_not_perfect() -> None:
    judged = {f"d{i}": 1 for i in range(10)}
    found = ranking.ndcg_at_k(["d0"], judged, 10)
    assert found is not None
    assert found < 0.25


def test_duplicated_ids_do_not_raise_recall() -> None:
    output = _output("q", 0, 0, 0, 1, 1)
    hits = tuple(hit.model_copy(update={"rank": i}) for i, hit in enumerate(output.hits, 1))
    scores, _, _ = retrieval_scores(_case("q", 0), output.model_copy(update={"hits": hits}), CONTEXT)
    for name, value in scores.items():
        if value is not None and METRICS[name].high == 1.0:
            assert 0.0 <= value <= 1.0, name
    assert char_recall([(0, 10)], [(0, 10), (0, 10), (5, 10)]) == 1.0


def test_zero_stays_in_the_mean_and_undefined_stays_out() -> None:
    cases = [_case(f"q{i}", i) for i in range(4)]
    values = [1.0, 0.0, 0.0, None]
    results = [
        Result(case_id=c.id, verdict=Verdict.PASS, scores={"answer_claim_f1": v}, undefined={} if v is not None else {"answer_claim_f1": "no_claims"})
        for c, v in zip(cases, values, strict=True)
    ]  # fmt: skip
    row = next(row for row in aggregate(cases, results) if row.metric == "answer_claim_f1")
    assert (row.mean, row.n_scored, row.n_not_applicable) == (pytest.approx(1 / 3), 3, 1)


def test_metrics_whose_names_share_a_prefix_stay_apart() -> None:
    names = ("mrr_at_k", "mrr_at_k_2", "mrr")
    cases = [_case("q", 1)]
    result = Result(case_id="q", verdict=Verdict.PASS, scores=dict(zip(names, (0.1, 0.2, 0.3), strict=True)))
    means = {row.metric: row.mean for row in aggregate(cases, [result])}
    assert [means[name] for name in names] == [0.1, 0.2, 0.3]
    summary = summarise("document_qa", cases, [], [result], aggregate(cases, [result]))
    assert summary["answer_metrics"]["mean_mrr"] == 0.3
    assert summary["retrieval_metrics"]["mean_mrr_at_k"] == 0.1


def test_a_case_is_scored_alike_alone_among_others_and_again() -> None:
    rng = random.Random(5)
    cases = [_case(f"q{i}", i) for i in range(30)]
    outputs = [_output(case.id, *rng.sample(range(len(CHUNKS)), 6)) for case in cases]
    alone = {c.id: retrieval_scores(c, o, CONTEXT)[:2] for c, o in zip(cases, outputs, strict=True)}
    order = list(zip(cases, outputs, strict=True))
    for _ in range(3):
        rng.shuffle(order)
        assert {c.id: retrieval_scores(c, o, CONTEXT)[:2] for c, o in order} == alone


def test_permuting_cases_changes_no_aggregate() -> None:
    rng = random.Random(5)
    cases = [
        _case(f"q{i}", i).model_copy(update={"question_type": "ab"[i % 2], "cluster": f"d{i % 7}"})
        for i in range(40)
    ]
    results = [
        Result(case_id=case.id, verdict=rng.choice(list(Verdict)), scores={"ndcg_at_k": rng.random(), "hit_at_k": float(rng.random() < 0.5)})
        for case in cases
    ]  # fmt: skip
    rows = {(r.metric, r.group_by, r.group): r for r in aggregate(cases, results)}
    rng.shuffle(cases)
    rng.shuffle(results)
    again = {(r.metric, r.group_by, r.group): r for r in aggregate(cases, results)}
    assert set(rows) == set(again)
    for key, row in rows.items():
        assert row.mean == pytest.approx(again[key].mean)
        assert (row.low, row.high) == (pytest.approx(again[key].low), pytest.approx(again[key].high))


def test_ties_never_depend_on_the_order_of_insertion() -> None:
    pairs = [(f"d{i}", 0.5) for i in range(20)]
    expected = ties.ordered(pairs)
    for seed in range(20):
        random.Random(seed).shuffle(pairs)
        assert ties.ordered(pairs) == expected


def test_refusing_when_there_is_nothing_to_say_is_an_outcome_with_its_own_rates() -> None:
    cases = [_case("a", 1), _case("b", 2), _case("c", 3).model_copy(update={"answerable": False})]
    results = [
        Result(case_id="a", verdict=Verdict.PASS, scores={"abstained": 0.0}),
        Result(case_id="b", verdict=Verdict.FAIL, scores={"abstained": 1.0}),
        Result(case_id="c", verdict=Verdict.PASS, scores={"abstained": 1.0}),
    ]
    means = {row.metric: row for row in aggregate(cases, results) if not row.group_by}
    assert means["abstention_precision"].mean == 0.5
    assert means["abstention_recall"].mean == 1.0
    assert means["over_answering_rate"].mean == 0.0
    assert means["false_refusal_rate"].mean == 0.5
    assert means["abstention_recall"].low == pytest.approx(0.2065, abs=1e-4)
    scores, reasons, _ = retrieval_scores(cases[2], _output("c", 1, 2), CONTEXT)
    assert scores["ndcg_at_k"] is None
    assert reasons["ndcg_at_k"] == "not_answerable"


def test_documented_definitions_come_from_the_code() -> None:
    metrics = all_metrics()
    ranking_family = [
        m for m in metrics.values() if m.family in ("ranking", "spans", "documents", "abstention")
    ]
    without = sorted({m.name for m in ranking_family if m.kind in ("binary", "bounded") and not example(m)})
    assert not without, f"no worked example in the docstring: {without}"
