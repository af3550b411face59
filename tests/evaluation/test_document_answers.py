"""One case of document QA from output to verdict and diagnosis."""

from __future__ import annotations

import itertools

import pytest

from core.contracts import EVALUATORS, METRICS, ScoringContext
from core.evaluation.diagnostics import Findings, claim_diagnostic, diagnose
from core.evaluation.document_answers import DocumentAnswers
from core.records import Case, Citation, Failure, Hit, Output, Result, Verdict

RIGHT = "Die Regelstudienzeit beträgt im Bachelorstudiengang sechs Semester."
OTHER = "Der Antrag ist beim Studiensekretariat zu stellen."
QUESTION = "Wie lange ist die Regelstudienzeit im Bachelorstudiengang?"


def _hits(*texts: str) -> tuple[Hit, ...]:
    return tuple(Hit(id=f"c{rank}", rank=rank, text=text) for rank, text in enumerate(texts, 1))


def _result(
    answer: str | None, *, answerable: bool | None = True, gold: str | None = "6 Semester", **fields: object
) -> Result:
    case = Case(id="q1", query=QUESTION, gold_answer=gold, answerable=answerable)
    given = {"hits": _hits(RIGHT, OTHER)} | fields
    output = Output(case_id="q1", text=answer, **given)  # type: ignore[arg-type]
    return DocumentAnswers().evaluate(case, output, ScoringContext())


@pytest.mark.parametrize(
    ("answer", "verdict", "label", "primary"),
    [
        ("sechs Semester", Verdict.PASS, "correct", "ok"),
        ("8 Semester", Verdict.FAIL, "incorrect", "generation_hallucination"),
        ("Dazu finde ich nichts.", Verdict.FAIL, "incorrect", "false_refusal"),
        ("", Verdict.FAIL, "incorrect", "answer_incorrect"),
        (None, Verdict.FAIL, "incorrect", "answer_incorrect"),
    ],
)
def test_answerable(answer: str | None, verdict: Verdict, label: str, primary: str) -> None:
    result = _result(answer)
    assert (result.verdict, result.label) == (verdict, label)
    assert result.diagnosis is not None
    assert result.diagnosis.primary_reason == primary
    assert result.diagnosis.explanation


@pytest.mark.parametrize(
    ("answer", "verdict", "label"),
    [
        ("Das geht aus den Unterlagen nicht hervor.", Verdict.PASS, "correct"),
        ("Es sind zwölf Semester.", Verdict.FAIL, "unsupported"),
        ("", Verdict.WEAK, "needs_manual_review"),
    ],
)
def test_unanswerable(answer: str, verdict: Verdict, label: str) -> None:
    result = _result(answer, answerable=False, gold=None)
    assert (result.verdict, result.label) == (verdict, label)


def test_the_systems_own_flag_comes_first() -> None:
    result = _result("Bitte fragen Sie später.", abstained=True)
    assert result.scores["abstained"] == 1.0
    assert result.artifacts["abstention_source"] == "flag"
    assert result.label == "incorrect"


def test_without_gold_nothing_was_checked() -> None:
    result = _result("sechs Semester", gold=None)
    assert result.verdict == Verdict.WEAK
    assert result.label is None
    assert result.unchecked == ("answer",)
    assert result.scores["answer_claim_f1"] is None
    assert result.undefined["answer_claim_f1"] == "no_gold"


def test_a_failure_is_an_error_without_scores() -> None:
    failed = Output(
        case_id="q1", failure=Failure(where="system", kind="timeout", message="no answer within 2 s")
    )
    result = DocumentAnswers().evaluate(
        Case(id="q1", query=QUESTION, gold_answer="6"), failed, ScoringContext()
    )
    assert result.verdict == Verdict.ERROR
    assert result.scores == {}
    assert result.failure == failed.failure


def test_abstaining_where_the_evidence_was_not_retrieved_is_a_retrieval_failure() -> None:
    result = _result("Dazu finde ich nichts.", hits=_hits(OTHER))
    assert result.diagnosis is not None
    assert result.diagnosis.primary_reason == "retrieval_claim_miss"
    assert result.diagnosis.component == "retrieval"


def test_only_the_context_that_reached_the_answer_grounds_it() -> None:
    assert _result("sechs Semester").scores["grounded_claim_ratio"] == 1.0
    assert _result("sechs Semester", context_ids=("c2",)).scores["grounded_claim_ratio"] == 0.0


def test_citations_are_read_and_checked() -> None:
    cited = (Citation(id="1", source_id="c1", marker="[1]"),)
    assert _result(f"{RIGHT} [1]", citations=cited).scores["citation_recall"] == 1.0
    assert _result(f"{RIGHT} [2]").scores["correct_but_misattributed"] == 1.0
    assert _result(f"{RIGHT} [7]").scores["dangling_citation_count"] == 1.0


def test_every_score_is_registered_bounded_and_explained() -> None:
    for answer in ("sechs Semester [1]", "8 Semester", "", "Dazu finde ich nichts."):
        result = _result(answer)
        for name, value in result.scores.items():
            if value is None:
                assert result.undefined.get(name), f"{name} is None without a reason"
                continue
            info = METRICS[name]
            assert info.low is None or value >= info.low
            assert info.high is None or value <= info.high
        assert set(result.undefined) == {name for name, value in result.scores.items() if value is None}


def test_decision_columns() -> None:
    good = _result("sechs Semester", signals={"runtime_retrieval_status": "good_evidence"})
    assert (good.artifacts["decision_action"], good.artifacts["decision_reasons"]) == ("auto_accept", [])
    weak = _result("8 Semester", signals={"runtime_retrieval_status": "weak_evidence"})
    assert weak.artifacts["decision_action"] == "manual_review"
    assert weak.artifacts["decision_reasons"] == ["low_grounded_claim_ratio", "weak_evidence"]
    missing = _result("8 Semester", signals={"runtime_retrieval_status": "missing_evidence"})
    assert missing.artifacts["decision_action"] == "abstain"


def test_without_claim_support_it_says_so() -> None:
    case = Case(id="q1", query=QUESTION, gold_answer="6 Semester", answerable=True)
    result = DocumentAnswers(claim_support=False).evaluate(
        case, Output(case_id="q1", text="sechs Semester", hits=_hits(RIGHT)), ScoringContext()
    )
    assert result.label == "correct"
    assert result.undefined["grounded_claim_ratio"] == "not_computed"
    assert result.claims == ()


def test_it_is_registered_and_pure() -> None:
    assert EVALUATORS.get("document_qa") is DocumentAnswers
    assert _result("8 Semester").model_dump_json() == _result("8 Semester").model_dump_json()


LABELS = ("correct", "partially_correct", "incorrect", "unsupported", "needs_manual_review", None)


@pytest.mark.parametrize("label", LABELS)
def test_diagnoses_never_contradict_the_label(label: str | None) -> None:
    known = (True, False, None)
    for answerable, declined, grounded, state in itertools.product(
        known, known, (0.0, 1.0, None), (0.0, 0.5, 1.0, None)
    ):
        scores = {"context_claim_recall": state, "grounded_claim_ratio": grounded}
        found = diagnose(Findings(label, answerable, declined, scores))
        if answerable is not False and not declined:
            assert (found.primary_reason == "ok") == (label == "correct")
            assert (found.primary_reason == "needs_manual_review") == (label == "needs_manual_review")
        if found.primary_reason == "retrieval_claim_miss":
            assert state == 0.0
        if found.primary_reason in ("generation_hallucination", "retrieval_and_grounding_failure"):
            assert grounded == 0.0
        assert found.explanation


def test_the_claim_diagnostic_never_takes_none_for_zero() -> None:
    assert claim_diagnostic({}) == "no_claims_to_evaluate"
    assert claim_diagnostic({"grounded_claim_ratio": 1.0}) == "claim_level_ok"
    assert (
        claim_diagnostic({"context_claim_recall": 0.0, "answer_claim_precision": 1.0})
        == "retrieval_claim_miss"
    )


def test_a_question_with_an_answer_to_expect_is_answerable() -> None:
    refused = _result("Dazu finde ich nichts.", answerable=None)
    assert "false_refusal" in refused.reasons
    assert refused.scores["false_refusal"] == 1.0
    assert refused.scores["abstention_correct"] == 0.0
    assert refused.artifacts["expected_answerable"] is True
    assert _result("6 Semester", answerable=None).scores["false_refusal"] == 0.0
    unknown = _result("6 Semester", answerable=None, gold="Das ist im Dokument nicht angegeben.")
    assert unknown.scores["abstention_correct"] is None
    assert _result("6 Semester", answerable=None, gold=None).scores["abstention_correct"] is None
