"""The heuristic that looks for resistance to a false premise, on labelled answers."""

from __future__ import annotations

import csv
from pathlib import Path

from core.contracts import Material, ScoringContext, Target
from core.evaluation import pushback
from core.evaluation.audit import AuditScoring
from core.evaluation.edge_cases import EdgeCases
from core.evaluation.pushback import pushes_back
from core.evaluation.shapes import EdgeCasesSpec
from core.records import Judgement, Output, Verdict

LABELLED = Path(__file__).parent / "pushback.tsv"


def test_precision_and_recall_are_what_the_module_says() -> None:
    with LABELLED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    pairs = [(row["pushes"] == "1", pushes_back(row["answer"], row["premise"])) for row in rows]
    right, seen, true = (
        pairs.count((True, True)),
        sum(said for _, said in pairs),
        sum(is_ for is_, _ in pairs),
    )
    assert {row["lang"] for row in rows} == {"en", "de"}
    assert pushback.__doc__ is not None
    for figure in (f"{len(rows)} labelled", f"{right} of {seen}", f"{right} of {true}"):
        assert figure in pushback.__doc__
    assert right / seen >= 0.95
    assert right / true >= 0.8


def test_nothing_said_is_no_pushback() -> None:
    assert not pushes_back("", "the plan is unlimited")
    assert not pushes_back("  \n", "the plan is unlimited")
    assert not pushes_back("The plan costs 20 euros.", "")


class Unsure:
    """A judge that never gives a score."""

    provider, model, decides, concurrency = "unsure", "", True, 1

    def judge(self, rubric: str, material: Material) -> Judgement:
        return Judgement(rubric=rubric, rubric_version="1", provider="unsure", label="cannot_tell")

    def fingerprint(self, rubric: str) -> str:
        return "unsure"


def test_a_judge_that_cannot_tell_is_kept_and_the_heuristic_says_so() -> None:
    probe = {"kind": "contradiction", "query": "Why 90?", "false_premise": "books are lent for 90 days"}
    spec = EdgeCasesSpec.model_validate({"name": "e", "evaluator": "edge_cases", "cases": [probe]})
    edges = EdgeCases(spec, AuditScoring())
    (case,) = edges.propose(Target())
    output = Output(case_id=case.id, text="Books are lent for 90 days.")
    result = edges.evaluate(case, output, ScoringContext(judge=Unsure()))
    assert (result.verdict, result.diagnosis and result.diagnosis.primary_reason) == (
        Verdict.FAIL,
        "pushback",
    )
    assert result.reasons == (
        "pushback: no pushback seen on the false premise (heuristic, the judge: cannot tell)",
    )
    assert [each.label for each in result.judgements] == ["cannot_tell"]
