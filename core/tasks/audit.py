"""An audit: behavioural tests over an agent, as a task of the pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from core.audit.conclusions import conclude_tests
from core.audit.config import AuditConfig, JudgeConfig, load_audit
from core.audit.custom import CUSTOM, CustomEvaluation, CustomSystem
from core.audit.targets import Audited, open_target
from core.contracts import Judge, ScoringContext
from core.errors import ConfigError, Problem, SystemFailure, nearest
from core.evaluation.audit import AuditEvaluator, AuditScoring
from core.evaluation.citation_audit import CitationAudit
from core.evaluation.edge_cases import EdgeCases
from core.evaluation.rag_quality import RagQuality
from core.evaluation.shapes import CustomSpec, TestSpec
from core.evaluation.tool_coverage import ToolCoverage
from core.evaluation.write_safety import WriteSafety
from core.judge import create_judge, missing_key
from core.judge.twice import TwiceAsked
from core.judge.votes import flip_rate_of
from core.llm.usage import Budget
from core.records import Case, Message, Output, Result, Usage, digest
from core.task import Task

_EVALUATORS: dict[str, Any] = {
    "tool_coverage": ToolCoverage,
    "rag_quality": RagQuality,
    "citation_audit": CitationAudit,
    "edge_cases": EdgeCases,
    "write_safety": WriteSafety,
}


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """A checked audit before anything is called."""

    config: AuditConfig
    task: Task
    judge: Judge | None
    notices: tuple[str, ...]


def plan_audit(
    source: str | Path | Mapping[str, Any],
    *,
    no_judge: bool = False,
    require_judge: bool = False,
    judge_cache: str | None = None,
    only: Sequence[str] = (),
    max_cost: float | None = None,
    timeout_s: float | None = None,
    cache_dir: Path = Path(".plumbline/cache"),
) -> AuditPlan:
    """Read, check and build everything. ConfigError before anything is called."""
    config, notices = load_audit(source)
    if timeout_s is not None:
        config = config.model_copy(update={"run": config.run.model_copy(update={"timeout_s": timeout_s})})
    tests = _chosen(config.tests, only)
    judge, about_judge = open_judge(config, no_judge, require_judge, judge_cache, max_cost, cache_dir)
    audited = open_target(config, cache_dir)
    scoring = _scoring(config)
    evaluators = {test.name: _evaluator(test, scoring) for test in tests}
    cases = [
        case.model_copy(update={"order": order})
        for order, case in enumerate(
            case for test in tests for case in evaluators[test.name].propose(audited.target)
        )
    ]
    specs = {test.name: test for test in tests}
    system = AuditSystem(audited, judge, config, specs)
    name = config.suite or (Path(source).stem if isinstance(source, str | Path) else "audit")
    described = [test.model_dump(mode="json") for test in tests]
    task = Task(
        kind="audit",
        suite=name,
        suite_digest=digest(described),
        cases=cases,
        system=system,
        evaluate=lambda case, output, context: evaluators[case.test].evaluate(case, output, context),
        context=ScoringContext(judge=judge, settings={"corpus": audited.target.corpus}),
        digests={
            "questions": digest(described),
            "thresholds": digest(config.thresholds),
            **_judge_digest(judge),
        },
        notices=(*notices, *about_judge, *_unplantable(cases, audited)),
        conclude=lambda cases, outputs, results: {
            **conclude_tests(tests, evaluators, cases, outputs, results),
            **_about_judge(judge, results),
        },
        concurrency=system.concurrency,
        judge_concurrency=judge.concurrency if judge is not None else 1,
    )
    return AuditPlan(config, task, judge, task.notices)


def stored_settings(config: AuditConfig) -> dict[str, Any]:
    """The configuration as it is kept with the run: header and token values are masked."""
    return {"classifier_type": "audit", **config.model_dump(mode="json", by_alias=True)}


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
    spec = _judge_spec(wanted, judge_cache)
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


def _judge_spec(wanted: JudgeConfig, cache: str | None) -> dict[str, Any]:
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


class AuditSystem:
    """The audited system with what an audit adds: conversations asked turn by turn, custom evaluators, and a
    plain refusal where a probe cannot be set up."""

    def __init__(
        self, audited: Audited, judge: Judge | None, config: AuditConfig, specs: Mapping[str, TestSpec]
    ) -> None:
        self.audited, self.judge, self.config, self.specs = audited, judge, config, specs
        self.concurrency = config.run.concurrency or audited.system.concurrency
        self.custom = CustomSystem(audited.adapter or audited.system, self._query, judge, config.thresholds)

    def ask(self, case: Case) -> Output:
        if case.evaluator in CUSTOM:
            spec = SimpleNamespace(**self.specs[case.test].model_dump(mode="python"))
            spec.model_dump = lambda: self.specs[case.test].model_dump(mode="python")
            return self.custom.ask(case, spec)
        if case.options.get("plant") and not self.audited.target.can_plant:
            raise SystemFailure(
                "the system offers no with_documents(docs); plant a canary yourself and set planted: true",
                "not_plantable",
            )
        turns = case.options.get("live_turns")
        return self._conversation(case, turns) if turns else self.audited.system.ask(case)

    def _conversation(self, case: Case, turns: Sequence[str]) -> Output:
        """Each turn is asked with everything said before; the last answer is the output, earlier tool calls stand
        in its `raw["earlier_calls"]`."""
        said: list[Message] = list(case.conversation)
        calls: list[dict[str, Any]] = []
        latency = 0.0
        for turn in turns:
            reply = self.audited.system.ask(
                case.model_copy(update={"query": turn, "conversation": tuple(said)})
            )
            said += [Message(role="user", content=turn), Message(role="assistant", content=reply.text or "")]
            calls += [call.model_dump(mode="json") for call in reply.tool_calls]
            latency += reply.latency_ms or 0.0
        last = self.audited.system.ask(case.model_copy(update={"conversation": tuple(said)}))
        return last.model_copy(
            update={
                "raw": {
                    **last.raw,
                    "earlier_calls": calls,
                    "turns": [message.model_dump() for message in said],
                },
                "latency_ms": latency + (last.latency_ms or 0.0),
            }
        )

    def _query(self, prompt: str, **keywords: Any) -> Any:
        """What a custom evaluator's `adapter.query` does: the user's own adapter where there is one."""
        if self.audited.adapter is not None:
            return self.audited.adapter.query(prompt, **keywords)
        turns = tuple(Message(role=m.role, content=m.content) for m in keywords.get("conversation") or ())
        output = self.audited.system.ask(Case(id="custom", query=prompt, conversation=turns))
        context = [SimpleNamespace(source_id=hit.id, chunk=hit.text, score=hit.score) for hit in output.hits]
        return SimpleNamespace(
            text=output.text,
            citations=list(output.citations),
            tool_calls=list(output.tool_calls),
            retrieved_context=context,
            raw=output.raw,
        )

    def close(self) -> None:
        self.audited.system.close()
        closer = getattr(self.judge, "close", None)
        if callable(closer):
            closer()


def _evaluator(test: TestSpec, scoring: AuditScoring) -> AuditEvaluator:
    if isinstance(test, CustomSpec):
        return CustomEvaluation(test.name, test.evaluator)
    built: AuditEvaluator = _EVALUATORS[test.evaluator](test, scoring)
    return built


def _scoring(config: AuditConfig) -> AuditScoring:
    t = config.thresholds
    return replace(
        AuditScoring(locale=config.locale, citation_pattern=config.citation_pattern),
        thresholds={
            "faithfulness": (t.faithfulness_pass, t.faithfulness_weak),
            "relevance": (t.relevance_pass, t.relevance_weak),
            "citation_support": (t.citation_support_pass, t.citation_support_weak),
        },
    )


def _chosen(tests: Sequence[TestSpec], only: Sequence[str]) -> list[TestSpec]:
    names = [test.name for test in tests]
    unknown = [name for name in only if name not in names]
    if unknown:
        raise ConfigError(
            "--only names tests that do not exist",
            [Problem("--only", f"no test '{name}'{nearest(name, names)}") for name in unknown],
        )
    return [test for test in tests if not only or test.name in only]


def _judge_digest(judge: Judge | None) -> dict[str, str]:
    if judge is None:
        return {"judge": "none"}
    rubrics = ("faithfulness", "relevance", "refusal", "pushback", "citation_support")
    return {"judge": digest([judge.fingerprint(rubric) for rubric in rubrics])}


def _unplantable(cases: Sequence[Case], audited: Audited) -> list[str]:
    notices = []
    takes = audited.target.settings.get("takes")
    for case in cases:
        if case.options.get("plant") and not audited.target.can_plant:
            notices.append(
                f"{case.id}: cannot plant: the system has no with_documents(docs); the case will be ERROR"
            )
        if case.options.get("credentials") is not None and takes is not None and "credentials" not in takes:
            notices.append(f"{case.id}: the adapter's query takes no credentials=; the case will be ERROR")
    return notices


def _about_judge(judge: Judge | None, results: Sequence[Result]) -> dict[str, Any]:
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
        "flip_rate": flip_rate_of(given) if any(len(j.votes) > 1 for j in given) else None,
    }
    if isinstance(judge, TwiceAsked):
        told["self_agreement"] = judge.agreement()
    return {"judge": told}
