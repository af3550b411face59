"""Document QA: one case and its output → scores, label, verdict, diagnosis. Pure; needs no model."""

from __future__ import annotations

from collections.abc import Sequence

from core.contracts import EVALUATORS, ScoringContext, Target
from core.evaluation import verdicts
from core.metrics import answers, overlap
from core.metrics.retrieval_scores import retrieval_scores
from core.records import Case, Diagnosis, Output, Result, Verdict
from core.registry import Component


@EVALUATORS.register("document_qa")
class DocumentAnswers(Component):
    """Answers over documents: slot-aware label, claims against gold and context, citations, abstention, retrieval."""

    def propose(self, target: Target) -> Sequence[Case]:
        """Document QA asks the user's own questions only."""
        return ()

    def evaluate(self, case: Case, output: Output, context: ScoringContext) -> Result:
        """The result of one case. An output with a failure is ERROR and has no scores."""
        if output.failure is not None:
            return Result(
                case_id=case.id,
                repeat=output.repeat,
                verdict=Verdict.ERROR,
                reasons=(output.failure.kind,),
                failure=output.failure,
            )
        scores, undefined, relevance = retrieval_scores(case, output, context)
        answer, gold = output.text or "", case.gold_answer or ""
        language = case.language or overlap.common_language(case.query, gold, answer)
        compared = answers.compare(answer, gold, case.query, language)
        label = compared.label if compared else None
        abstained = bool(output.abstained)
        if case.answerable is False:
            label = "correct" if abstained else "unsupported"
        elif abstained and label is not None:
            label = "incorrect"
        ruling = verdicts.of_label(label)
        return Result(
            case_id=case.id,
            repeat=output.repeat,
            verdict=ruling.verdict,
            reasons=compared.reasons if compared else ruling.reasons,
            unchecked=ruling.unchecked,
            label=label,
            scores={**scores, "abstained": float(abstained)},
            undefined=undefined,
            relevance=dict(relevance.grades),
            relevance_source=relevance.source,
            diagnosis=Diagnosis(primary_reason="ok" if label == "correct" else label or "no_gold"),
        )
