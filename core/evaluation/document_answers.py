"""Document QA: one case and its output → scores, label, verdict, diagnosis. Pure; needs no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from core.contracts import EVALUATORS, ScoringContext, Target
from core.evaluation import diagnostics, verdicts
from core.metrics import answers, citations, claims, entities, overlap
from core.metrics.claim_metrics import CLAIM_METRICS, claim_scores
from core.metrics.context_overlap import proxy_context_relevance, proxy_faithfulness
from core.metrics.outcomes import Abstention, abstention_of, abstention_scores, answerability, decide
from core.metrics.retrieval_scores import retrieval_scores
from core.metrics.support import SCORER, grounding_proxy
from core.records import Case, Hit, Output, Result, Verdict
from core.registry import Component
from core.text import blank

Scores = dict[str, float | None]
Reasons = dict[str, str]


@dataclass(frozen=True, slots=True)
class _Read:
    """What every step needs: texts, their language, the chunks that reached the answer, whether it declined, whether
    the question can be answered."""

    answer: str
    gold: str
    language: str
    context: tuple[Hit, ...]
    passages: tuple[str, ...]
    abstention: Abstention
    answerable: bool | None


@EVALUATORS.register("document_qa")
class DocumentAnswers(Component):
    """Answers over documents: slot-aware label, claims against gold and context, citations, abstention, retrieval."""

    claim_support: bool = Field(
        True, description="split into claims and hold each against gold and every chunk"
    )

    answers: bool = Field(True, description="hold answers against gold; off where a run has rankings alone")

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
        read = _read(case, output)
        found, reasons, relevance = retrieval_scores(case, output, context)
        scores, undefined = dict(found), dict(reasons)
        table = self._claims(case, read)
        for part, why in (
            _answer_scores(case, read),
            self._claim_scores(table, read),
            self._citations(output, read, context),
            _context_scores(case, read, self.claim_support, table.cross_language),
            _abstention(read),
        ):
            scores |= part
            undefined |= why
        gold = _said(case.gold_answer)  # of an unanswerable question: what there is to say instead
        compared = answers.compare(read.answer, gold, case.query, read.language)
        label, grounds = _label(case, read, compared, scores) if self.answers else (None, ("rankings_only",))
        ruling = verdicts.of_label(label)
        diagnosis = diagnostics.diagnose(
            diagnostics.Findings(
                label=label,
                answerable=read.answerable,
                declined=read.abstention.abstained,
                scores=scores,
                relevance_source=relevance.source,
                answer_mode=str(output.signals.get("answer_mode", "")),
                doubts=grounds,
                missing=compared.missing if compared else (),
                conflicting=compared.conflicting if compared else (),
            )
        )
        return Result(
            case_id=case.id,
            repeat=output.repeat,
            verdict=ruling.verdict,
            reasons=tuple(dict.fromkeys((*ruling.reasons, *grounds))),
            unchecked=ruling.unchecked,
            label=label,
            scores=scores,
            undefined={name: why for name, why in undefined.items() if scores.get(name) is None},
            claims=tuple(claims.rows(table)),
            relevance=dict(relevance.grades),
            relevance_source=relevance.source,
            diagnosis=diagnosis,
            artifacts=_artifacts(output, read, scores, context),
        )

    def _claims(self, case: Case, read: _Read) -> claims.ClaimTable:
        if not self.claim_support:
            return claims.ClaimTable((), (), ())
        return claims.build(
            "" if read.abstention.abstained else read.answer,
            read.gold,
            case.query,
            [(hit.id, hit.text) for hit in read.context],
            spoken=read.language,
            gold_claims=() if case.answerable is False else case.expected_keywords,
        )

    def _claim_scores(self, table: claims.ClaimTable, read: _Read) -> tuple[Scores, Reasons]:
        if not self.claim_support:
            return dict.fromkeys(CLAIM_METRICS), dict.fromkeys(CLAIM_METRICS, "not_computed")
        return claim_scores(table, abstained=bool(read.abstention.abstained))

    def _citations(self, output: Output, read: _Read, context: ScoringContext) -> tuple[Scores, Reasons]:
        names = citations.CITATION_METRICS
        if not self.claim_support:
            return dict.fromkeys(names), dict.fromkeys(names, "not_computed")
        if read.abstention.abstained:
            return dict.fromkeys(names), dict.fromkeys(names, "abstained")
        sources = {hit.id: hit.text for hit in (*output.hits, *read.context)}
        stated = citations.cited_statements(read.answer, output.citations, read.context, sources)
        return citations.citation_scores(stated, sources, output.hits)


def _read(case: Case, output: Output) -> _Read:
    answer = _said(output.text)
    gold = "" if case.answerable is False else _said(case.gold_answer)
    allowed = None if output.context_ids is None else set(output.context_ids)
    distinct = {hit.id: hit for hit in reversed(output.hits)}
    chosen = tuple(
        distinct[key]
        for key in dict.fromkeys(hit.id for hit in output.hits)
        if (allowed is None or key in allowed) and not blank(distinct[key].text)
    )
    language = case.language or overlap.common_language(case.query, gold, answer)
    passages = tuple(hit.text for hit in chosen)
    return _Read(answer, gold, language, chosen, passages, abstention_of(output), answerability(case))


def _said(text: str | None) -> str:
    return "" if text is None or blank(text) else text.strip()


ANSWER_METRICS = (
    "exact_match", "token_f1", "rouge_l", "answer_proxy", "gold_answer_overlap", "answer_gold_support",
    "answer_has_gold_substring", "answer_entity_precision",
)  # fmt: skip


def _answer_scores(case: Case, read: _Read) -> tuple[Scores, Reasons]:
    """Lexical comparison with the gold; a refusal and an empty answer are outcomes, not texts to compare."""
    scores: Scores = dict.fromkeys(ANSWER_METRICS)
    if not read.gold or not read.answer or read.abstention.abstained:
        reason = "no_gold" if not read.gold else "no_answer" if not read.answer else "abstained"
        reason = "not_answerable" if case.answerable is False else reason
        return scores, dict.fromkeys(ANSWER_METRICS, reason)
    answer, gold, tongue = read.answer, read.gold, read.language
    scores |= {
        "exact_match": overlap.exact_match(answer, gold, tongue),
        "token_f1": overlap.token_f1(answer, gold, tongue),
        "rouge_l": overlap.rouge_l(answer, gold, tongue),
        "answer_proxy": overlap.answer_proxy(answer, gold, tongue),
        "gold_answer_overlap": overlap.gold_answer_overlap(answer, gold, tongue),
        "answer_gold_support": overlap.answer_gold_support(answer, gold, case.query, tongue),
        "answer_has_gold_substring": overlap.answer_has_gold_substring(answer, gold),
        "answer_entity_precision": entities.answer_entity_precision(answer, gold, tongue),
    }
    return scores, {name: "no_entities" for name, value in scores.items() if value is None}


def _context_scores(case: Case, read: _Read, full: bool, crossed: bool) -> tuple[Scores, Reasons]:
    said = (
        () if read.abstention.abstained else tuple(filter(claims.checkable, claims.split_claims(read.answer)))
    )
    scores: Scores = {
        "proxy_faithfulness": proxy_faithfulness(read.answer, read.passages, read.language) if said else None,
        "proxy_context_relevance": proxy_context_relevance(case.query, read.passages, read.language),
        "context_entities_recall": entities.context_entities_recall(read.gold, read.passages, read.language)
        if read.gold and full
        else None,
        "grounding_proxy": grounding_proxy(said, read.passages) if full and not crossed else None,
    }
    reason = "no_context" if not read.passages else "cross_language" if crossed else "not_applicable"
    if read.passages and read.abstention.abstained:
        reason = "abstained"
    return scores, {name: reason for name, value in scores.items() if value is None}


def _abstention(read: _Read) -> tuple[Scores, Reasons]:
    scores = abstention_scores(read.answerable, read.abstention.abstained)
    reason = "no_answer" if read.abstention.abstained is None else "answerability_unknown"
    if read.answerable is not None and read.abstention.abstained is not None:
        reason = "answerable" if read.answerable else "not_answerable"
    return scores, {name: reason for name, value in scores.items() if value is None}


def _label(
    case: Case, read: _Read, compared: answers.Comparison | None, scores: Scores
) -> tuple[str | None, tuple[str, ...]]:
    """The answer's label with the reasons for it; None where there is nothing to compare with."""
    declined = read.abstention.abstained
    if case.answerable is False:
        if declined is None:
            return "needs_manual_review", ("no_answer",)
        if declined:
            return "correct", ("correct_abstention",)
        if compared is not None and compared.label == "correct":
            return "correct", ("says_what_is_missing",)
        return "unsupported", ("over_answered",)
    if declined:
        known = read.answerable or bool(read.gold)
        return ("incorrect", ("false_refusal",)) if known else (None, ("no_gold",))
    if compared is None:
        if declined is None:
            return "incorrect", ("no_answer",)
        return None, ("no_gold",)
    if compared.label == "incorrect" and scores.get("grounded_claim_ratio") == 0 and not compared.conflicting:
        return "unsupported", compared.reasons
    return compared.label, compared.reasons


def _artifacts(output: Output, read: _Read, scores: Scores, context: ScoringContext) -> dict[str, object]:
    settings = context.settings
    decision = decide(
        scores,
        output.confidence,
        str(output.signals.get("runtime_retrieval_status", "")),
        min_confidence=float(settings.get("decision_min_confidence") or 0.0),
        min_context_claim_recall=float(settings.get("decision_min_context_claim_recall") or 0.0),
        min_grounded_claim_ratio=float(settings.get("decision_min_grounded_claim_ratio", 1.0) or 0.0),
    )
    return {
        "expected_answerable": read.answerable,
        "decision_action": decision.action,
        "decision_reasons": list(decision.reasons),
        "abstention_source": read.abstention.source,
        "abstention_reliable": read.abstention.reliable,
        "claim_judge_status": "disabled",
        "support_scorer": SCORER,
        "language": read.language,
    }
