"""citation_audit: does every citation resolve, and does its source say what it is cited for?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.contracts import ScoringContext, Target
from core.evaluation.audit import AuditScoring, TestOutcome, concluded, unanswered
from core.evaluation.citing import Statement, Supporting, statements
from core.evaluation.rag_quality import check
from core.evaluation.shapes import CitationAuditSpec
from core.records import Case, Check, Output, Result, Verdict


class CitationAudit:
    """One case a sample query; one entry a citation."""

    def __init__(self, spec: CitationAuditSpec, scoring: AuditScoring) -> None:
        self.spec, self.scoring = spec, scoring
        if spec.citation_pattern:
            self.scoring = AuditScoring(scoring.thresholds, scoring.locale, spec.citation_pattern)

    def propose(self, target: Target) -> list[Case]:
        """The corpus travels with the run's context, not with the cases."""
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
        asking = Supporting(case, self.scoring, context)
        checks: list[Check] = []
        rows: list[dict[str, Any]] = []
        stated: list[dict[str, Any]] = []
        for statement in statements(output, self.scoring):
            own = [self._row(case, statement, source, corpus, asking, checks) for source in statement.sources]
            rows += own
            stated.append(self._recall(statement, own, corpus, asking))
        if not rows:
            checks = [Check(name="citations", outcome="unchecked", detail="the answer cites nothing")]
        supports = [row["support_score"] for row in rows if row.get("support_score") is not None]
        scores: dict[str, float | None] = {
            "citation_support": sum(supports) / len(supports) if supports else None
        }
        return concluded(
            case,
            output,
            checks,
            asking.judgements,
            scores=scores,
            artifacts={"citations": rows, "statements": stated},
        )

    def _row(
        self,
        case: Case,
        statement: Statement,
        source: str,
        corpus: Mapping[str, str] | None,
        asking: Supporting,
        checks: list[Check],
    ) -> dict[str, Any]:
        """The entry of one citation; its checks are added to `checks`."""
        row: dict[str, Any] = {
            "query": case.query,
            "citation_id": statement.ids.get(source, source),
            "source_id": source,
            "span": statement.claim,
            "origin": statement.origin,
            "support_score": None,
            "reasoning": "",
            "scorer": None,
        }
        if corpus is None:
            detail = "the system does not name its corpus"
            checks.append(Check(name="resolves", outcome="unchecked", detail=detail))
            row["resolved"] = None
        elif source not in corpus:
            checks.append(check("resolves", False, f"cites '{source}', which is not in the corpus"))
            row["resolved"] = False
        else:
            checks.append(check("resolves", True))
            found = asking.support(source, statement.claim, str(corpus[source]))
            checks.append(found.check)
            row |= {
                "resolved": True,
                "support_score": found.check.score,
                "reasoning": found.reasoning,
                "scorer": found.scorer,
                "supports_alone": found.whole,
                "support_outcome": found.check.outcome,
            }
        return {**row, "verdict": _row_verdict(row)}

    def _recall(
        self,
        statement: Statement,
        rows: list[dict[str, Any]],
        corpus: Mapping[str, str] | None,
        asking: Supporting,
    ) -> dict[str, Any]:
        """Whether the statement's citations together support it (ALCE), and which of them it needs. Several sources,
        none of which is enough alone, are looked at together."""
        known = [row for row in rows if row.get("supports_alone") is not None]
        alone = sum(bool(row["supports_alone"]) for row in known)
        supported: bool | None = alone > 0 if known or not rows or corpus is not None else None

        def together(chosen: Sequence[Mapping[str, Any]]) -> bool | None:
            names = [row["source_id"] for row in chosen]
            texts = "\n\n".join(str((corpus or {})[name]) for name in names)
            return asking.support(", ".join(names), statement.claim, texts).whole

        if len(known) > 1 and not alone:
            supported = together(known)
        for row in rows:
            # a citation is needless when it does not support the claim alone and the others do without it
            others = [each for each in known if each is not row]
            needed = not alone and (len(others) < 2 or together(others) is False) if supported else False
            row["precise"] = bool(supported and row in known and (row["supports_alone"] or needed))
        return {"claim": statement.claim, "citations": len(rows), "supported": supported}

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
            row["support_score"]
            for row in rows
            if row.get("support_score") is not None and row.get("support_outcome") != "unchecked"
        ]
        shown = [row["support_score"] for row in rows if row.get("support_score") is not None]
        metrics = {
            "citations_audited": float(len(rows)),
            "citations_dangling": float(len(dangling)),
            "citations_errored": float(len(errors)),
        }
        if shown:
            # only a judge's scores stand under the published name
            name = "support_score" if supports else "offline_support_score"
            metrics |= {f"mean_{name}": sum(shown) / len(shown), f"worst_{name}": min(shown)}
            metrics |= _alce(results)
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
            detail = f"{len(rows)} of {len(rows)} citations resolve; support unchecked"
            return TestOutcome(Verdict.PASS, detail, metrics, artifacts)
        passed, weak = self.scoring.thresholds["citation_support"]
        mean, worst = sum(supports) / len(supports), min(supports)
        named = min(
            (row for row in rows if row.get("support_score") is not None),
            key=lambda row: row["support_score"],
        )
        detail = f"mean support {mean:.2f}, worst {worst:.2f} ('{named['source_id']}' in “{named['query']}”)"
        if mean < weak:
            return TestOutcome(Verdict.FAIL, detail, metrics, artifacts)
        good = (
            mean >= passed
            and worst >= weak
            and all(
                row.get("support_outcome") == "held" or row["support_score"] >= weak
                for row in rows
                if row.get("support_score") is not None
            )
        )
        return TestOutcome(Verdict.PASS if good else Verdict.WEAK, detail, metrics, artifacts)


def _alce(results: Sequence[Result]) -> dict[str, float]:
    """Citation recall (statements that their citations together support / statements, uncited ones included) and
    precision (citations their statement needs / citations, dangling ones included), after Gao et al. 2023."""
    stated = [row for result in results for row in result.artifacts.get("statements", [])]
    decided = [row for row in stated if row["supported"] is not None]
    rows = [row for result in results for row in result.artifacts.get("citations", [])]
    if not decided or not rows:
        return {}
    return {
        "citation_precision": sum(bool(row["precise"]) for row in rows) / len(rows),
        "citation_recall": sum(bool(row["supported"]) for row in decided) / len(decided),
    }


def _row_verdict(row: dict[str, Any]) -> str:
    if row["resolved"] is False:
        return "FAIL"
    return {"held": "PASS", "weak": "WEAK", "error": "ERROR"}.get(row.get("support_outcome", ""), "UNCHECKED")
