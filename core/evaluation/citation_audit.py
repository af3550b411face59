"""citation_audit: does every citation resolve, and does its source say what it is cited for?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.contracts import ScoringContext, Target
from core.evaluation.audit import AuditScoring, TestOutcome, concluded, judged, unanswered
from core.evaluation.rag_quality import check
from core.evaluation.shapes import CitationAuditSpec
from core.metrics.support import SCORER, support
from core.records import Case, Check, Judgement, Output, Result, Verdict
from core.text import sentence_spans


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation as found: the source it names and the claim it stands behind."""

    source_id: str
    claim: str
    origin: str


class CitationAudit:
    """One case a sample query; one entry a citation."""

    def __init__(self, spec: CitationAuditSpec, scoring: AuditScoring) -> None:
        self.spec, self.scoring = spec, scoring
        if spec.citation_pattern:
            self.scoring = AuditScoring(scoring.thresholds, scoring.locale, spec.citation_pattern)

    def propose(self, target: Target) -> list[Case]:
        """The corpus travels with the run's context, not with the cases."""
        self.corpus = target.corpus
        return [
            Case(id=f"{self.spec.name}/{index}", query=query, test=self.spec.name, evaluator="citation_audit")
            for index, query in enumerate(self.spec.sample_queries, 1)
        ]

    def evaluate(self, case: Case, output: Output, context: ScoringContext) -> Result:
        """A dangling citation is FAIL. Support is judged; with no judge the local scorer's score is shown and the
        check stays unchecked. A failed judge call is an ERROR entry that reaches the verdict."""
        error = unanswered(case, output)
        if error:
            return error
        corpus = context.settings.get("corpus")
        checks: list[Check] = []
        judgements: list[Judgement | None] = []
        rows: list[dict[str, Any]] = []
        for cited in self._citations(output):
            row: dict[str, Any] = {
                "query": case.query,
                "source_id": cited.source_id,
                "claim": cited.claim,
                "origin": cited.origin,
            }
            if corpus is None:
                made = Check(
                    name="resolves", outcome="unchecked", detail="the system does not name its corpus"
                )
                row |= {"resolved": None, "support": None, "scorer": None}
            elif cited.source_id not in corpus:
                made = check("resolves", False, f"cites '{cited.source_id}', which is not in the corpus")
                row |= {"resolved": False, "support": None, "scorer": None}
            else:
                made = check("resolves", True)
                support, judgement = self._support(case, cited, str(corpus[cited.source_id]), context)
                checks.append(support)
                judgements.append(judgement)
                row |= {"resolved": True, "support": support.score, "scorer": _scorer(judgement, context)}
                row["support_outcome"] = support.outcome
            checks.append(made)
            rows.append({**row, "verdict": _row_verdict(row)})
        if not rows:
            checks = [Check(name="citations", outcome="unchecked", detail="the answer cites nothing")]
        supports = [row["support"] for row in rows if row.get("support") is not None]
        scores: dict[str, float | None] = {
            "citation_support": sum(supports) / len(supports) if supports else None
        }
        return concluded(case, output, checks, judgements, scores=scores, artifacts={"citations": rows})

    def _support(
        self, case: Case, cited: Cited, source: str, context: ScoringContext
    ) -> tuple[Check, Judgement | None]:
        """One citation below `weak` is at best WEAK for its test however good the mean is: here it is `weak`, and
        the test's verdict looks at the mean as well."""
        if context.judge is None:
            found = support(cited.claim, source)
            detail = f"no judge; the offline scorer says {found.score:.2f} and decides nothing"
            unjudged = Check(
                name="citation_support", outcome="unchecked", detail=detail, hard=False, score=found.score
            )
            return unjudged, None
        parts = {"source": source, "claim": cited.claim}
        subject = f"citation of {cited.source_id} in {case.id}"
        made, judgement = judged(
            context.judge, "citation_support", parts, subject, self.scoring.thresholds["citation_support"]
        )
        if made.outcome == "failed":
            made = made.model_copy(update={"outcome": "weak", "hard": False})
        return made, judgement

    def _citations(self, output: Output) -> Iterator[Cited]:
        """Markers in the text first, then structured citations that no marker names; each (source, claim) once."""
        text = output.text or ""
        sentences = sentence_spans(text)
        seen: set[tuple[str, str]] = set()
        for source, start, _ in self.scoring.markers(text):
            claim = next((text[a:b] for a, b in sentences if a <= start < b), text)
            clean = self.scoring.unmarked(claim)
            if (source, clean) not in seen:
                seen.add((source, clean))
                yield Cited(source, clean or text, "marker")
        named = {source for source, _ in seen}
        for citation in output.citations:
            if citation.source_id in named and not citation.span:
                continue
            claim = citation.span or self.scoring.unmarked(text)
            if (citation.source_id, claim) not in seen:
                seen.add((citation.source_id, claim))
                yield Cited(citation.source_id, claim, "structured")

    def conclude(self, cases: Sequence[Case], results: Sequence[Result]) -> TestOutcome:
        """The mean and the worst decide; no citation at all is ERROR "nothing to audit"."""
        rows = [row for result in results for row in result.artifacts.get("citations", [])]
        errors = [
            {
                "query": next((c.query for c in cases if c.id == r.case_id), r.case_id),
                "verdict": "ERROR",
                "detail": "; ".join(r.reasons),
            }
            for r in results
            if r.verdict is Verdict.ERROR
        ]
        dangling = [row for row in rows if row["resolved"] is False]
        supports = [
            row["support"]
            for row in rows
            if row.get("support") is not None and row.get("support_outcome") != "unchecked"
        ]
        shown = [row["support"] for row in rows if row.get("support") is not None]
        metrics = {
            "citations": float(len(rows)),
            "dangling": float(len(dangling)),
            "errors": float(len(errors)),
        }
        if shown:
            metrics |= {"mean_support_score": sum(shown) / len(shown), "worst_support_score": min(shown)}
            metrics |= _alce(rows)
        artifacts = {"per_citation": [*rows, *errors]}
        if errors:
            return TestOutcome(
                Verdict.ERROR,
                f"{len(errors)} of {len(results)} queries or judgements failed: {errors[0]['detail']}",
                metrics,
                artifacts,
            )
        if not rows:
            return TestOutcome(
                Verdict.ERROR, "nothing to audit: no answer cites anything", metrics, artifacts
            )
        if dangling:
            names = ", ".join(sorted({row["source_id"] for row in dangling}))
            return TestOutcome(
                Verdict.FAIL,
                f"{len(dangling)} of {len(rows)} citations name no source of the corpus: {names}",
                metrics,
                artifacts,
            )
        return self._by_support(rows, supports, metrics, artifacts)

    def _by_support(
        self,
        rows: list[dict[str, Any]],
        supports: list[float],
        metrics: dict[str, float],
        artifacts: dict[str, Any],
    ) -> TestOutcome:
        if not supports:
            if all(row["resolved"] is None for row in rows):
                return TestOutcome(
                    Verdict.WEAK, "unchecked: the system does not name its corpus", metrics, artifacts
                )
            detail = f"{len(rows)} citations resolve; support unchecked"
            return TestOutcome(Verdict.PASS, detail, metrics, artifacts)
        passed, weak = self.scoring.thresholds["citation_support"]
        mean, worst = sum(supports) / len(supports), min(supports)
        named = min((row for row in rows if row.get("support") is not None), key=lambda row: row["support"])
        detail = f"mean support {mean:.2f}, worst {worst:.2f} ('{named['source_id']}' in “{named['query']}”)"
        if mean < weak:
            return TestOutcome(Verdict.FAIL, detail, metrics, artifacts)
        good = (
            mean >= passed
            and worst >= weak
            and all(
                row.get("support_outcome") == "held" or row["support"] >= weak
                for row in rows
                if row.get("support") is not None
            )
        )
        return TestOutcome(Verdict.PASS if good else Verdict.WEAK, detail, metrics, artifacts)


def _alce(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Citation precision (citations that are supported by their source, dangling ones 0) and recall (cited claims
    with at least one supporting source), after Gao et al. 2023, on citations whose support was scored."""
    scored = [row for row in rows if row.get("support") is not None or row["resolved"] is False]
    good = [row for row in scored if row.get("support") is not None and row["support"] >= 0.5]
    claims = {(row["query"], row["claim"]) for row in scored}
    supported = {(row["query"], row["claim"]) for row in good}
    return {"citation_precision": len(good) / len(scored), "citation_recall": len(supported) / len(claims)}


def _row_verdict(row: dict[str, Any]) -> str:
    if row["resolved"] is False:
        return "FAIL"
    return {"held": "PASS", "weak": "WEAK", "error": "ERROR"}.get(row.get("support_outcome", ""), "UNCHECKED")


def _scorer(judgement: Judgement | None, context: ScoringContext) -> str | None:
    if judgement is not None:
        return f"{judgement.provider}:{judgement.model}" if judgement.model else judgement.provider
    return context.judge.provider if context.judge else SCORER
