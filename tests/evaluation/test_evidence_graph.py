"""Error patterns of a run and the signals that follow from them."""

from __future__ import annotations

from core.evaluation.evidence_graph import evidence_graph
from core.records import Case, Diagnosis, Hit, Output, Result, Verdict


def _hits(*paths: str) -> tuple[Hit, ...]:
    return tuple(
        Hit(id=f"{path}#{rank}", rank=rank, text="x", doc_path=path) for rank, path in enumerate(paths, 1)
    )


def test_answers_whose_evidence_was_there() -> None:
    cases = [Case(id=name, query="?") for name in ("right", "refused", "partial", "broken")]
    outputs = [Output(case_id=case.id, text="x", hits=_hits("a", "b", "c")) for case in cases]
    results = [
        Result(case_id="right", verdict=Verdict.PASS),
        Result(
            case_id="refused", verdict=Verdict.FAIL, scores={"context_claim_recall": 1.0},
            diagnosis=Diagnosis(primary_reason="false_refusal"),
        ),
        Result(
            case_id="partial", verdict=Verdict.WEAK, scores={"context_claim_recall": None},
            diagnosis=Diagnosis(primary_reason="answer_incomplete"),
        ),
        Result(case_id="broken", verdict=Verdict.ERROR),
    ]  # fmt: skip
    found = evidence_graph(cases, outputs, results, classified=False)
    assert (found["n_questions"], found["n_errors"], found["top1_wrong_rate"]) == (4, 2, None)
    assert found["error_patterns"]["graph_supported_false_refusals"] == 1
    assert found["error_patterns"]["graph_supported_incomplete"] == 0
    assert found["error_patterns"]["graph_noise"] is None, "there is no graph"
    assert found["component_signals"] == {
        "graph_coverage": None, "graph_noise": None, "answer_synthesis": 0.0, "refusal_policy": 0.5,
        "context_selection": 1.0,
    }  # fmt: skip


def test_codes_are_confused_across_divisions_only_when_there_are_two() -> None:
    cases = [Case(id=str(i), query="?", gold_codes=("45000000",)) for i in range(3)]
    said = ("45100000", "72000000", "45000000")
    outputs = [Output(case_id=c.id, hits=(Hit(id=s, rank=1),)) for c, s in zip(cases, said, strict=True)]
    results = [
        Result(
            case_id=case.id,
            verdict=Verdict.PASS if code == "45000000" else Verdict.FAIL,
            scores={"exact_top1_match": float(code == "45000000"), "gold_present_at_k": float(code == "45000000")},
            artifacts={
                "gold_division": "45", "top1_division": code[:2],
                "error_relation": "descendant" if code == "45100000" else "unrelated",
            },
        )
        for case, code in zip(cases, said, strict=True)
    ]  # fmt: skip
    found = evidence_graph(cases, outputs, results, classified=True)
    assert found["n_errors"] == 2
    assert round(found["top1_wrong_rate"], 9) == round(2 / 3, 9)
    assert found["top_cross_division_confusions"] == [{"name": "45->72", "count": 1}]
    assert found["top_missed_gold_codes"] == [{"name": "45000000", "count": 2}]
    assert found["component_signals"]["hierarchy"] == 0.5
    assert found["component_signals"]["retriever"] == 1.0


def test_without_errors_nothing_is_a_rate() -> None:
    for classified in (True, False):
        found = evidence_graph([Case(id="a", query="?")], [], [], classified=classified)
        assert found["n_errors"] == 0
        assert set(found["component_signals"].values()) == {None}
