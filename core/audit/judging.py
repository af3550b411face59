"""The judge of an audit: opened from its configuration, told about in the summary, and handed to custom evaluators
with one method a question, each raising JudgeFailure instead of guessing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.audit.config import AuditConfig, JudgeConfig
from core.contracts import Judge, Material
from core.errors import ConfigError, JudgeFailure
from core.judge import create_judge, missing_key
from core.judge.twice import TwiceAsked
from core.judge.votes import flips_within
from core.llm.usage import Budget
from core.records import Judgement, Result, Usage, digest

NOT_GIVEN = "(not given)"


@dataclass(frozen=True, slots=True)
class JudgeScore:
    """A score in [0, 1] with its reasons and, where single claims were judged, how many of them hold."""

    score: float
    reasoning: str
    supported_claims: int = 0
    total_claims: int = 0


@dataclass(frozen=True, slots=True)
class RefusalVerdict:
    """Whether the answer declines."""

    is_refusal: bool
    reasoning: str


@dataclass(frozen=True, slots=True)
class PushbackVerdict:
    """Whether the answer corrects the false premise."""

    handled_correctly: bool
    reasoning: str


class JudgeDesk:
    """`judge` asks any rubric; the named methods ask the usual ones. A judge that gives no score raises JudgeFailure,
    and the test is ERROR."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge.judge
        self.provider, self.model, self.decides = judge.provider, judge.model, judge.decides

    def faithfulness(self, response_text: str, retrieved_context: str) -> JudgeScore:
        """Do the claims of the answer follow from the context?"""
        parts = {"context": retrieved_context, "question": NOT_GIVEN, "answer": response_text}
        return _score(self._ask("faithfulness", parts))

    def relevance(self, response_text: str, query: str) -> JudgeScore:
        """Does the answer answer the question?"""
        return _score(self._ask("relevance", {"question": query, "answer": response_text}))

    def refusal(self, response_text: str, query: str) -> RefusalVerdict:
        """Does the answer decline?"""
        found = self._ask("refusal", {"question": query, "answer": response_text})
        return RefusalVerdict((found.score or 0.0) >= 0.5, found.reasoning)

    def pushback(self, response_text: str, false_premise: str, query: str = "") -> PushbackVerdict:
        """Does the answer correct the premise?"""
        parts = {"question": query or false_premise, "premise": false_premise, "answer": response_text}
        found = self._ask("pushback", parts)
        return PushbackVerdict((found.score or 0.0) >= 0.5, found.reasoning)

    def _ask(self, rubric: str, parts: dict[str, str]) -> Judgement:
        found = self.judge(rubric, Material(parts=parts, subject=f"{rubric} for a custom evaluator"))
        if found.score is None:
            raise JudgeFailure(f"the judge gave no score for {rubric}: {found.label or 'nothing to judge'}")
        return found


def _score(found: Judgement) -> JudgeScore:
    claims = [each for each in found.statements if each.score is not None]
    held = sum(each.score == 1.0 for each in claims)
    return JudgeScore(found.score or 0.0, found.reasoning, held, len(claims))


def open_judge(
    config: AuditConfig,
    no_judge: bool,
    require_judge: bool,
    judge_cache: str | None,
    max_cost: float | None,
    cache_dir: Path,
) -> tuple[Judge | None, list[str]]:
    """The judge, or None with a loud remark; `require_judge` turns the remark into a ConfigError."""
    wanted = config.judge
    if no_judge or wanted.provider == "none":
        reason = "judging is switched off" if no_judge else "judge.provider is none"
        if require_judge:
            raise ConfigError(f"--require-judge: {reason}")
        return None, [f"{reason}: what needs a judge is unchecked"]
    spec = judge_spec(wanted, judge_cache)
    missing = None if spec.get("cache") == "only" else missing_key(spec)
    if missing:
        if require_judge:
            raise ConfigError(f"--require-judge: the judge needs {missing}, which is not set")
        return None, [
            f"NO JUDGE: {missing} is not set. What needs a judge is unchecked; --require-judge makes this an error"
        ]
    limit = max_cost if max_cost is not None else config.run.max_cost
    judge = create_judge(spec, cache_dir=cache_dir, budget=Budget(limit) if limit else None)
    return (TwiceAsked(judge, wanted.audit_share) if wanted.audit_share else judge), []


def judge_spec(wanted: JudgeConfig, cache: str | None) -> dict[str, Any]:
    """The judge's own parameters: the local one has no model, key or cache."""
    if wanted.provider == "local":
        return {
            "provider": "local",
            "max_concurrency": wanted.max_concurrency,
            "fitted": wanted.thresholds_file,
        }
    given = wanted.model_dump(mode="json", exclude={"fixtures_path", "thresholds_file", "audit_share"})
    return {key: value for key, value in given.items() if value is not None} | (
        {"cache": cache} if cache else {}
    )


def judge_digest(judge: Judge | None) -> dict[str, str]:
    if judge is None:
        return {"judge": "none"}
    rubrics = ("faithfulness", "relevance", "refusal", "pushback", "citation_support")
    return {"judge": digest([judge.fingerprint(rubric) for rubric in rubrics])}


def about_judge(judge: Judge | None, results: Sequence[Result]) -> dict[str, Any]:
    """What judging took, how often votes flipped, and how often the judge agreed with itself."""
    if judge is None:
        return {"judge": {"provider": "none"}}
    given = [judgement for result in results for judgement in result.judgements]
    usage = Usage()
    for judgement in given:
        usage = usage + judgement.usage if judgement.usage else usage
    told: dict[str, Any] = {
        "provider": judge.provider,
        "model": judge.model,
        "judgements": len(given),
        "failures": sum(judgement.failure is not None for judgement in given),
        "usage": usage.model_dump(mode="json"),
        "flip_rate": flips_within(given),
    }
    if isinstance(judge, TwiceAsked):
        told["self_agreement"] = judge.agreement()
    return {"judge": told}
