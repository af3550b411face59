"""What the evaluators of an audit share: their settings, a judge's score as a check, a test's outcome."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.contracts import Judge, Material, ScoringContext, Target
from core.errors import JudgeFailure
from core.evaluation.mentions import Locale
from core.evaluation.verdicts import of_checks
from core.records import FAILURE_KINDS, Case, Check, Diagnosis, Failure, Judgement, Output, Result, Verdict

_OUTAGES = frozenset({"timeout", "transport", "rate_limit", "http_status", "budget"})
SOURCE_MARKER = re.compile(r"\[src:\s*([^\]]+?)\s*\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AuditScoring:
    """Thresholds by judge score (pass, weak), the locale of comparisons, and the pattern of citation markers."""

    thresholds: Mapping[str, tuple[float, float]] = field(
        default_factory=lambda: {
            "faithfulness": (0.85, 0.7),
            "relevance": (0.85, 0.7),
            "citation_support": (0.95, 0.8),
        }
    )
    locale: Locale = "auto"
    citation_pattern: str | None = None

    def named_sources(self, output: Output) -> list[tuple[str, int, int]]:
        """Sources named by markers of the answer with their place. A marker that names a structured citation by its
        id (`[1]`) means that citation's source."""
        ids = {citation.id: citation.source_id for citation in output.citations}
        sources = set(ids.values())
        return [
            (name if name in sources else ids.get(name, name), start, end)
            for name, start, end in self.markers(output.text or "")
        ]

    def markers(self, text: str) -> list[tuple[str, int, int]]:
        """What markers in the text name, with their place: `[src:ID]` and the configured pattern."""
        patterns = [SOURCE_MARKER] + ([re.compile(self.citation_pattern)] if self.citation_pattern else [])
        found = {
            (match.start(), match.end()): (match[1] if match.re.groups else match[0]).strip()
            for pattern in patterns
            for match in pattern.finditer(text)
        }
        return [(source, start, end) for (start, end), source in sorted(found.items())]

    def unmarked(self, text: str) -> str:
        """The text without its citation markers, which are no part of what is claimed."""
        for _, start, end in reversed(self.markers(text)):
            text = text[:start].rstrip() + text[end:]
        return text.strip()


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """A test's verdict with one line of detail, float metrics and published artifacts (`cases`, `per_tool`,
    `per_citation`)."""

    __test__ = False

    verdict: Verdict
    detail: str
    metrics: dict[str, float] = field(default_factory=dict)
    artifacts: dict[str, Any] = field(default_factory=dict)


class AuditEvaluator(Protocol):
    """An evaluator of an audit: proposes cases, judges outputs, and concludes over a test's results."""

    def propose(self, target: Target) -> Sequence[Case]: ...

    def evaluate(self, case: Case, output: Output, context: ScoringContext) -> Result: ...

    def conclude(self, cases: Sequence[Case], results: Sequence[Result]) -> TestOutcome: ...


def judged(
    judge: Judge | None, rubric: str, parts: Mapping[str, str], subject: str, levels: tuple[float, float]
) -> tuple[Check, Judgement | None]:
    """A judge's score as a check: held from `levels[0]` on, weak from `levels[1]` on, failed below.

    Without a judge, without a score, or with a judge that may not decide: `unchecked`. A judge that failed:
    `error`, with its raw text in the judgement. Votes on both sides of a threshold: weak, `judge_unstable`.
    """
    if judge is None:
        return Check(name=rubric, outcome="unchecked", detail="no judge", hard=False), None
    try:
        judgement = judge.judge(rubric, Material(parts=dict(parts), subject=subject))
    except JudgeFailure as error:
        failure = Failure(
            where="judge",
            kind=error.kind if error.kind in FAILURE_KINDS else "judge",
            message=str(error),
            raw_text=error.raw_text,
            retries=error.retries,
        )
        failed = Judgement(
            rubric=rubric,
            rubric_version="",
            provider=judge.provider,
            model=judge.model,
            subject=subject,
            failure=failure,
        )
        return Check(name=rubric, outcome="error", detail=str(error)), failed
    score = judgement.score
    if score is None:
        return Check(
            name=rubric, outcome="unchecked", detail=judgement.label or "no score", hard=False
        ), judgement
    if not judge.decides:
        detail = f"score {score:.2f} of the {judge.provider} scorer; shown, but it does not decide"
        return Check(name=rubric, outcome="unchecked", detail=detail, hard=False, score=score), judgement
    passed, weak = levels
    lowest, highest = (min(judgement.votes), max(judgement.votes)) if judgement.votes else (score, score)
    undecided = len(judgement.vote_labels) > len(judgement.votes) > 0
    if undecided or lowest < passed <= highest or lowest < weak <= highest:
        return Check(
            name=rubric, outcome="weak", detail="judge_unstable: votes straddle a threshold", score=score
        ), judgement
    outcome = "held" if score >= passed else "weak" if score >= weak else "failed"
    detail = f"score {score:.2f} (pass {passed:g}, weak {weak:g})"
    return Check(name=rubric, outcome=outcome, detail=detail, score=score), judgement


def gave_up(judgements: Sequence[Judgement | None]) -> bool:
    """Whether a judgement failed because the judge could not be reached: asking it more about the same case would only
    wait for the same again."""
    return any(j is not None and j.failure is not None and j.failure.kind in _OUTAGES for j in judgements)


def unanswered(case: Case, output: Output) -> Result | None:
    """The ERROR result of an output that is a failure; None when there is an answer."""
    if output.failure is None:
        return None
    reason = f"{output.failure.kind}: {output.failure.message}"
    return Result(
        case_id=case.id,
        repeat=output.repeat,
        verdict=Verdict.ERROR,
        reasons=(reason,),
        failure=output.failure,
    )


def concluded(
    case: Case,
    output: Output,
    checks: Sequence[Check],
    judgements: Sequence[Judgement | None] = (),
    **fields: Any,
) -> Result:
    """The result of a case from its checks; every failed check's detail is a reason, the first one's name its
    diagnosis."""
    ruling = of_checks(checks)
    wanted = {"FAIL": "failed", "ERROR": "error", "WEAK": "weak"}.get(ruling.verdict.value)
    decisive = [c for c in checks if c.outcome == wanted]
    details = tuple(f"{c.name}: {c.detail}" if c.detail else c.name for c in decisive)
    given = tuple(judgement for judgement in judgements if judgement is not None)
    failure = next((judgement.failure for judgement in given if judgement.failure), None)
    scores = {check.name: check.score for check in checks if check.score is not None}
    return Result(
        case_id=case.id,
        repeat=output.repeat,
        verdict=ruling.verdict,
        reasons=details or ruling.reasons,
        checks=tuple(checks),
        unchecked=ruling.unchecked,
        judgements=given,
        failure=failure if ruling.verdict is Verdict.ERROR else None,
        diagnosis=Diagnosis(primary_reason=decisive[0].name, explanation="; ".join(details))
        if decisive
        else None,
        scores={**scores, **fields.pop("scores", {})},
        **fields,
    )


def worst_of(results: Sequence[Result], what: str = "cases") -> tuple[Verdict, str]:
    """The worst verdict and `3/4 cases passed; …first reasons`."""
    verdict = Verdict.worst(result.verdict for result in results) or Verdict.ERROR
    passed = sum(result.verdict is Verdict.PASS for result in results)
    reasons = [reason for result in results if result.verdict is verdict for reason in result.reasons]
    more = f"; {'; '.join(dict.fromkeys(reasons))}" if reasons and verdict is not Verdict.PASS else ""
    return verdict, f"{passed}/{len(results)} {what} passed{more}"


def case_rows(cases: Sequence[Case], results: Sequence[Result]) -> list[dict[str, Any]]:
    """The published `cases` artifact: one row a result."""
    queries = {case.id: case for case in cases}
    return [
        {
            "id": result.case_id,
            "query": shortened(queries[result.case_id].query),
            "verdict": result.verdict.value,
            "detail": "; ".join(result.reasons),
            "repeat": result.repeat,
            "metrics": {name: value for name, value in result.scores.items() if value is not None},
            "unchecked": list(result.unchecked),
            "checks": [check.model_dump(mode="json") for check in result.checks],
        }
        for result in results
    ]


def shortened(text: str, limit: int = 500) -> str:
    """A text for a report; a probe of ten thousand characters would bury the rest."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


def case_counts(results: Sequence[Result]) -> dict[str, float]:
    """The published counts of a test's cases by verdict."""
    verdicts = [result.verdict for result in results]
    return {
        "cases_total": float(len(verdicts)),
        "cases_passed": float(verdicts.count(Verdict.PASS)),
        "cases_weak": float(verdicts.count(Verdict.WEAK)),
        "cases_failed": float(verdicts.count(Verdict.FAIL)),
        "cases_errored": float(verdicts.count(Verdict.ERROR)),
    }


def mean_scores(results: Sequence[Result]) -> dict[str, float]:
    """`mean_<score>` over the results that have it, and the counts behind it; never over failures."""
    names = sorted({name for result in results for name, value in result.scores.items() if value is not None})
    means: dict[str, float] = {}
    for name in names:
        values = [value for result in results if (value := result.scores.get(name)) is not None]
        means[f"mean_{name}"] = sum(values) / len(values)
        means[f"n_{name}"] = float(len(values))
    return means
