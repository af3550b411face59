"""Evaluators of the core's own kind (`propose` and `evaluate`, see `core.contracts.Evaluator`) as tests of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.contracts import Evaluator, ScoringContext, Target
from core.evaluation.audit import TestOutcome, case_rows, mean_scores, worst_of
from core.records import Case, Output, Result


class Proposing:
    """Names the evaluator's cases after the test; the test's verdict is the worst of its cases, unless the evaluator
    has a `conclude(cases, results)` of its own."""

    def __init__(self, name: str, evaluator: Evaluator) -> None:
        self.name, self.evaluator = name, evaluator

    def propose(self, target: Target) -> list[Case]:
        kind = str(getattr(type(self.evaluator), "name", "") or type(self.evaluator).__name__)
        return [
            case.model_copy(update={"id": f"{self.name}/{case.id}", "test": self.name, "evaluator": kind})
            for case in self.evaluator.propose(target)
        ]

    def evaluate(self, case: Case, output: Output, context: ScoringContext) -> Result:
        return self.evaluator.evaluate(case, output, context)

    def conclude(self, cases: Sequence[Case], results: Sequence[Result]) -> TestOutcome:
        own: Any = getattr(self.evaluator, "conclude", None)
        if own is not None:
            outcome: TestOutcome = own(cases, results)
            return outcome
        verdict, detail = worst_of(results)
        return TestOutcome(verdict, detail, mean_scores(results), {"cases": case_rows(cases, results)})
