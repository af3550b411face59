"""Evaluators users wrote themselves: `run(adapter, spec, *, judge, thresholds) -> TestResult`.

Such an evaluator asks the adapter on its own. It runs as the *asking* of one case, through an adapter that records
every call, so that what it saw is stored with its result and a killed audit does not ask again.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from core.audit.adapter import Citation, ContextDoc, Message, RagAdapter, RagResponse, SourceDoc, ToolCall
from core.contracts import ScoringContext, System, Target
from core.errors import ConfigError
from core.evaluation.audit import TestOutcome
from core.evaluation.shapes import SPECS
from core.records import Case, Failure, Output, Result, Verdict
from core.records import Message as Turn
from core.systems.agent import plain

CUSTOM: dict[str, type[Evaluator]] = {}


@dataclass
class TestResult:
    """What a custom evaluator returns; `metrics` are floats, `artifacts` whatever belongs in the report."""

    __test__: ClassVar[bool] = False

    name: str
    evaluator: str
    verdict: Verdict
    detail: str = ""
    metrics: dict[str, float] = field(default_factory=dict)
    duration_ms: int = 0
    artifacts: dict[str, Any] = field(default_factory=dict)


class Evaluator(ABC):
    """Subclass it, set `name`, decorate with `@register`, and name the module in `plugins:`."""

    name: ClassVar[str]

    @abstractmethod
    def run(self, adapter: Any, spec: Any, *, judge: Any, thresholds: Any) -> TestResult:
        """Put the adapter to the test. `spec` has the test's keys as attributes and `model_dump()`; `judge` is a
        `core.audit.judging.JudgeDesk` or None; `thresholds` has the six thresholds as attributes."""


def register(cls: type[Evaluator]) -> type[Evaluator]:
    """File a custom evaluator under its `name`. ConfigError for a name that is taken."""
    name = getattr(cls, "name", "")
    present = CUSTOM.get(name)
    if not name or name in SPECS or (present is not None and present.__qualname__ != cls.__qualname__):
        raise ConfigError(f"the evaluator {cls.__name__} needs a `name` of its own; '{name}' cannot be used")
    CUSTOM[name] = cls
    return cls


class RecordingAdapter:
    """The adapter a custom evaluator gets: passes everything through and keeps what was asked and answered."""

    def __init__(self, adapter: Any, ask: Callable[..., Any]) -> None:
        self._adapter, self._ask = adapter, ask
        self.calls: list[dict[str, Any]] = []

    def query(self, prompt: str, *, conversation: Sequence[Any] | None = None, **more: Any) -> Any:
        keywords = {**({"conversation": conversation} if conversation is not None else {}), **more}
        try:
            response = self._ask(prompt, **keywords)
        except Exception as error:
            self.calls.append({"prompt": prompt, "error": f"{type(error).__name__}: {error}"})
            raise
        self.calls.append({"prompt": prompt, "text": getattr(response, "text", None)})
        return response

    def __getattr__(self, name: str) -> Any:
        return getattr(self._adapter, name)


class SystemAdapter(RagAdapter):
    """A target that is no Python class (HTTP, chat, LangChain…), as custom evaluators know adapters."""

    def __init__(self, system: System, target: Target) -> None:
        self.system, self.target = system, target

    def query(self, prompt: str, *, conversation: list[Message] | None = None) -> RagResponse:
        turns = tuple(Turn(role=turn.role, content=turn.content) for turn in conversation or ())
        output = self.system.ask(Case(id="custom", query=prompt, conversation=turns))
        return RagResponse(
            text=output.text or "",
            citations=[Citation(c.id, c.source_id, c.span) for c in output.citations],
            tool_calls=[
                ToolCall(c.name, dict(c.args), c.result, c.latency_ms or 0, c.error)
                for c in output.tool_calls
            ],
            retrieved_context=[ContextDoc(hit.id, hit.text, hit.score or 0.0) for hit in output.hits],
            raw=dict(output.raw),
            usage=output.usage.model_dump() if output.usage else {},
        )

    def available_tools(self) -> list[Any]:
        return list(self.target.tools)

    def corpus(self) -> Iterable[SourceDoc] | None:
        texts = self.target.corpus
        return None if texts is None else [SourceDoc(name, text) for name, text in texts.items()]


class CustomSystem:
    """Asks by running the evaluator; the result travels in `Output.raw["test_result"]`. `ask` makes one bounded call
    of the adapter."""

    def __init__(self, adapter: Any, ask: Callable[..., Any], judge: Any, thresholds: Any) -> None:
        self.adapter, self.query, self.judge, self.thresholds = adapter, ask, judge, thresholds

    def ask(self, case: Case, spec: Any) -> Output:
        recording = RecordingAdapter(self.adapter, self.query)
        found = CUSTOM[case.evaluator]().run(recording, spec, judge=self.judge, thresholds=self.thresholds)
        told = {**asdict(found), "verdict": Verdict(getattr(found.verdict, "value", found.verdict)).value}
        return Output(
            case_id=case.id,
            text=found.detail,
            raw={"test_result": plain(told), "calls": plain(recording.calls)},
        )


class CustomEvaluation:
    """Reads the verdict a custom evaluator gave."""

    def __init__(self, name: str, evaluator: str) -> None:
        self.name, self.evaluator = name, evaluator

    def propose(self, target: Target) -> list[Case]:
        query = f"custom evaluator {self.evaluator}"
        return [Case(id=self.name, query=query, test=self.name, evaluator=self.evaluator)]

    def evaluate(self, case: Case, output: Output, context: ScoringContext) -> Result:
        told = output.raw.get("test_result")
        if output.failure is not None or not isinstance(told, Mapping):
            message = output.failure.message if output.failure else "the evaluator returned no TestResult"
            failure = Failure(where="evaluator", kind="evaluator", message=f"evaluator crashed: {message}")
            return Result(
                case_id=case.id,
                repeat=output.repeat,
                verdict=Verdict.ERROR,
                reasons=(failure.message,),
                failure=failure,
            )
        given = {str(name): value for name, value in (told.get("metrics") or {}).items()}
        scores = {
            name: float(value) if isinstance(value, int | float) and math.isfinite(value) else None
            for name, value in given.items()
        }
        return Result(
            case_id=case.id,
            repeat=output.repeat,
            verdict=Verdict(told["verdict"]),
            reasons=(str(told["detail"]),) if told.get("detail") else (),
            scores=scores,
            undefined={name: "not a finite number" for name, value in scores.items() if value is None},
            artifacts=dict(told.get("artifacts") or {}),
        )

    def conclude(self, cases: Sequence[Case], results: Sequence[Result]) -> TestOutcome:
        verdict = Verdict.worst(result.verdict for result in results) or Verdict.ERROR
        detail = "; ".join(dict.fromkeys(reason for result in results for reason in result.reasons))
        metrics = {
            name: value for result in results for name, value in result.scores.items() if value is not None
        }
        return TestOutcome(verdict, detail, metrics, dict(results[-1].artifacts) if results else {})
