"""Asking the audited system: conversations turn by turn, custom evaluators, and nothing secret in what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.audit.config import AuditConfig
from core.audit.custom import CUSTOM, CustomSystem, SystemAdapter
from core.audit.judging import JudgeDesk
from core.audit.secrets import cleaned, without
from core.audit.targets import Audited
from core.contracts import Judge
from core.errors import SystemFailure
from core.evaluation.shapes import TestSpec
from core.records import Case, Message, Output
from core.systems.python_class import PythonClass

NO_PLANTING = "the system offers no with_documents(docs); plant a canary yourself and set planted: true"


class AuditSystem:
    """The audited system with what an audit adds: conversations asked turn by turn, custom evaluators, and a
    plain refusal where a probe cannot be set up."""

    def __init__(
        self,
        audited: Audited,
        judge: Judge | None,
        config: AuditConfig,
        specs: Mapping[str, TestSpec],
        secrets: tuple[str, ...] = (),
    ) -> None:
        self.audited, self.judge, self.config, self.specs = audited, judge, config, specs
        self.secrets = secrets
        self.concurrency = config.run.concurrency or audited.system.concurrency
        known = audited.adapter or SystemAdapter(audited.system, audited.target)
        desk = JudgeDesk(judge) if judge is not None else None
        self.custom = CustomSystem(known, self._query, desk, config.thresholds)

    def ask(self, case: Case) -> Output:
        """Secrets an agent repeats are masked before anything is stored."""
        try:
            return cleaned(self._ask(case), self.secrets)
        except SystemFailure as error:
            told = without(str(error), self.secrets)
            raise SystemFailure(told, error.kind, error.retries, error.status) from None
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            if without(told, self.secrets) == told:
                raise
            raise SystemFailure(without(told, self.secrets), "exception") from None

    def _ask(self, case: Case) -> Output:
        if case.evaluator in CUSTOM:
            return self.custom.ask(case, self.specs[case.test])
        if case.options.get("plant") and not self.audited.target.can_plant:
            raise SystemFailure(NO_PLANTING, "not_plantable")
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
        """What a custom evaluator's `adapter.query` does: the user's own adapter where there is one, bounded in
        time and awaited."""
        if isinstance(self.audited.system, PythonClass):
            return self.audited.system.call(lambda adapter: adapter.query(prompt, **keywords))
        return SystemAdapter(self.audited.system, self.audited.target).query(prompt, **keywords)

    def close(self) -> None:
        self.audited.system.close()
        closer = getattr(self.judge, "close", None)
        if callable(closer):
            closer()
