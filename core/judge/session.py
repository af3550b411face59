"""An open judge at work: from a rubric and material to a request, a reply, and a judgement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from core.errors import JudgeFailure
from core.judge.judgements import conclude
from core.judge.prompts import PROMPT_VERSION, looks_injected, material_prompt, repair_prompt, system_prompt
from core.judge.replies import Decision, read_decisions
from core.judge.rubrics import Rubric, Rubrics
from core.llm.client import LlmFailure, LlmMessage, LlmReply, LlmRequest, LlmTool
from core.llm.door import Door
from core.llm.forms import filled_form
from core.llm.usage import tokens_of
from core.records import JsonDict, Judgement, Usage, digest

TOOL_NAME = "give_judgement"
_TOOL_ABOUT = "Hand in the filled-in form."
_REPAIRED = frozenset({"malformed", "truncated"})


@dataclass(frozen=True, slots=True)
class Plan:
    """What is the same for every question of a rubric: prepared once a run."""

    rubric: Rubric
    system: str
    system_tokens: int
    fingerprint: str
    purpose: JsonDict


@dataclass(frozen=True, slots=True)
class Manner:
    """How one judge asks: everything beside rubric and material that decides its answers. `room` is the length
    limit of a reply, None to fit it to the rubric; `min_cache` the shortest prefix (tokens) worth keeping."""

    model: str
    structured: Literal["tool", "json_schema"]
    temperature: float | None
    room: int | None
    thinks: bool
    min_cache: int
    samples: int


@dataclass(frozen=True, slots=True)
class Session:
    """A door, the rubrics and the manner of asking, for all threads of a run."""

    door: Door
    rubrics: Rubrics
    manner: Manner
    plans: dict[str, Plan] = field(default_factory=dict)

    def plan(self, name: str) -> Plan:
        """The prepared rubric. UnknownNameError for a name nobody knows."""
        if name not in self.plans:
            rubric = self.rubrics.get(name)
            system = system_prompt(rubric)
            purpose = {
                "rubric": name,
                "version": rubric.version,
                "digest": rubric.digest,
                "prompt": PROMPT_VERSION,
            }
            manner = {slot: getattr(self.manner, slot) for slot in self.manner.__slots__}
            fingerprint = digest(
                {
                    "provider": self.door.provider,
                    "address": self.door.address,
                    "manner": manner,
                    "purpose": purpose,
                }
            )
            # the estimate errs upwards, and a prefix that is too short is never kept
            self.plans[name] = Plan(rubric, system, tokens_of(system) * 3 // 4, fingerprint, purpose)
        return self.plans[name]

    def vote(
        self, plan: Plan, parts: Mapping[str, str], statements: tuple[str, ...], subject: str, repeat: int
    ) -> Judgement:
        """One judgement. JudgeFailure when there is no usable reply after one repair round."""
        request = self.request(plan, parts, statements, repeat)
        lost: Usage | None = None
        try:
            reply, decisions = self._ask(request, plan.rubric, len(statements))
        except LlmFailure as first:
            if first.kind not in _REPAIRED:
                raise first.as_judge_failure() from first
            lost = first.usage
            reply, decisions = self._repair(request, plan.rubric, len(statements), first)
        judged = conclude(plan.rubric, decisions, parts, statements)
        flags = set(judged.flags)
        if reply.repaired:
            flags.add("repaired")
        if looks_injected(list(parts.values())):
            flags.add("injection_suspected")
        return judged.model_copy(
            update={
                "provider": self.door.provider,
                "model": reply.model or self.manner.model,
                "fingerprint": plan.fingerprint,
                "subject": subject,
                "flags": tuple(sorted(flags)),
                "raw_text": reply.raw_text,
                "usage": reply.usage if lost is None else reply.usage + lost,
                "latency_ms": reply.latency_ms,
                "retries": reply.retries,
                "cached": reply.cached,
            }
        )

    def request(
        self, plan: Plan, parts: Mapping[str, str], statements: tuple[str, ...], repeat: int
    ) -> LlmRequest:
        """The question. Prefixes that other questions share are marked for the provider's prompt cache where they
        are long enough for it: the standing part always, the material where it is shared or voted on."""
        leading, rest = material_prompt(plan.rubric, parts, statements)
        shortest, known = self.manner.min_cache, plan.system_tokens
        shared = tokens_of(leading) if leading else 0
        voted = self.manner.samples > 1 and known + shared + tokens_of(rest) >= shortest
        messages = [LlmMessage(role="user", text=rest, cache=voted)]
        if leading:
            messages.insert(0, LlmMessage(role="user", text=leading, cache=known + shared >= shortest))
        return LlmRequest(
            model=self.manner.model,
            system=plan.system,
            messages=tuple(messages),
            tool=LlmTool(
                name=TOOL_NAME, description=_TOOL_ABOUT, parameters=plan.rubric.form(len(statements))
            ),
            structured=self.manner.structured,
            max_tokens=self._room(len(statements)),
            temperature=self.manner.temperature,
            cache_system=known >= shortest,
            repeat=repeat,
            purpose=plan.purpose,
        )

    def _room(self, n_statements: int) -> int:
        if self.manner.room is not None:
            return self.manner.room
        return 1024 + 200 * n_statements + (8192 if self.manner.thinks else 0)

    def _ask(self, request: LlmRequest, rubric: Rubric, n_statements: int) -> tuple[LlmReply, list[Decision]]:
        def check(reply: LlmReply) -> list[Decision]:
            return read_decisions(filled_form(reply, request), rubric, n_statements)

        return self.door.ask(request, check)

    def _repair(
        self, request: LlmRequest, rubric: Rubric, n_statements: int, first: LlmFailure
    ) -> tuple[LlmReply, list[Decision]]:
        """Ask once more, saying what was wrong; a reply that was cut off gets twice the room."""
        cut = first.kind == "truncated"
        question = repair_prompt(first.message, "" if cut else first.raw_text)
        again = request.model_copy(
            update={
                "messages": (*request.messages, LlmMessage(role="user", text=question)),
                "max_tokens": request.max_tokens * (2 if cut else 1),
            }
        )
        try:
            reply, decisions = self._ask(again, rubric, n_statements)
        except LlmFailure as second:
            kept = [raw for raw in (first.raw_text, second.raw_text) if raw]
            raise JudgeFailure(
                f"no usable judgement: {first.message}; after the repair round: {second.message}",
                first.kind if second.kind in _REPAIRED else second.kind,
                "\n--- after the repair round ---\n".join(kept),
                first.retries + second.retries,
            ) from second
        reply = reply.model_copy(update={"repaired": True})
        self.door.record(request, reply)  # so that a replay of the first question finds it
        return reply, decisions
