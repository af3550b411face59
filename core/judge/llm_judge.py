"""Language models as judges: one criterion a question, a form for an answer, evidence that is checked.

`anthropic` is Claude through the official SDK; `openai` any server with the chat-completions interface. Both go
through `core.llm.door`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, PrivateAttr

from core.contracts import JUDGES, Material
from core.errors import ConfigError, JudgeFailure, Problem
from core.judge.judgements import conclude, not_applicable
from core.judge.prompts import (
    PROMPT_VERSION,
    clean,
    looks_injected,
    material_prompt,
    repair_prompt,
    system_prompt,
)
from core.judge.replies import Decision, read_decisions
from core.judge.rubrics import Rubric, Rubrics
from core.judge.votes import combine
from core.llm.attempts import CallLimits
from core.llm.cache import CacheMode, ReplyCache
from core.llm.claude import DEFAULT_KEY_ENV, Claude
from core.llm.client import LlmFailure, LlmMessage, LlmReply, LlmRequest, LlmTool, Transport
from core.llm.door import Door
from core.llm.forms import filled_form
from core.llm.openai_compatible import DEFAULT_KEY_ENV as OPENAI_KEY_ENV
from core.llm.openai_compatible import OpenAiCompatible
from core.llm.usage import Budget, ModelFacts, Prices, prices, tokens_of
from core.records import Judgement, Usage, digest
from core.registry import Component
from core.text import sentences

TOOL_NAME = "give_judgement"
MAX_MATERIAL = 600_000  # characters; beyond it a judge would be asked about text it cannot read
_REPAIRED = frozenset({"malformed", "truncated"})


class LlmJudge(Component):
    """What all judges that are language models have in common. Open it once a run, close it at its end."""

    decides: ClassVar[bool] = True
    default_key_env: ClassVar[str] = ""

    model: str = Field(description="model id, as the provider spells it")
    base_url: str | None = Field(None, description="address of the interface; the provider's own by default")
    api_key_env: str | None = Field(
        None, description="environment variable with the key; empty for a server that wants none"
    )
    max_concurrency: int = Field(4, ge=1, le=256, description="calls under way at once")
    samples: int = Field(1, ge=1, le=15, description="votes for each judgement")
    temperature: float | Literal["auto"] | None = Field(
        "auto", description="sampling temperature; auto is 0 where the model takes one and there is one vote"
    )
    structured: Literal["auto", "tool", "json_schema"] = Field("auto", description="how the form is enforced")
    max_tokens: int | None = Field(
        None, ge=64, description="length limit of a reply; fitted to the rubric by default"
    )
    timeout_s: float = Field(60.0, gt=0, description="seconds for one attempt")
    deadline_s: float | None = Field(
        None, gt=0, description="seconds for a call with its retries; three time-outs by default"
    )
    retries: int = Field(
        4, ge=0, le=20, description="further attempts after rate limits, overload and lost connections"
    )
    cache: CacheMode = Field("use", description="use, refresh, only (replay without network) or off")
    prices: dict[str, dict[str, Any]] = Field(
        {}, description="dollars per million tokens by model: input, output"
    )
    rubrics: str | None = Field(None, description="folder with rubrics of your own")
    audit_share: float = Field(
        0.0, ge=0, le=1, description="share of judgements asked for twice, to measure self-agreement"
    )

    _door: Door | None = PrivateAttr(None)
    _rubrics: Rubrics | None = PrivateAttr(None)
    _fingerprints: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def provider(self) -> str:
        return self.name

    @property
    def concurrency(self) -> int:
        return self.max_concurrency

    @property
    def usage(self) -> Usage:
        """Everything spent so far, failed and rejected replies included."""
        return self._door.usage if self._door is not None else Usage()

    @property
    def key_env(self) -> str:
        """Name of the environment variable with the key; empty when none is wanted."""
        return self.default_key_env if self.api_key_env is None else self.api_key_env

    def open(self, cache_dir: Path | None = None, budget: Budget | None = None) -> LlmJudge:
        """Make ready to judge. ConfigError when the key is missing (never in replay), prices or rubrics are wrong, or
        nothing was recorded to replay from."""
        replay = self.cache == "only"
        if not replay and self.key_env and not os.environ.get(self.key_env):
            raise ConfigError(
                f"judge '{self.name}' has no key",
                [Problem("judge.api_key_env", f"the environment variable {self.key_env} is not set")],
            )
        transport = self._transport()
        self._rubrics = Rubrics(self.rubrics)
        self._door = Door(
            None if replay else transport,
            provider=self.name,
            address=transport.address,
            limits=self._limits(),
            cache=ReplyCache(cache_dir, self.cache),
            budget=budget,
            table=prices(self.prices),
        )
        return self

    def close(self) -> None:
        if self._door is not None:
            self._door.close()

    def judge(self, rubric: str, material: Material, *, repeat: int = 0) -> Judgement:
        """The judgement of `material` by `rubric`. `repeat` asks afresh for the same thing (self-agreement).

        Empty material is `not_applicable` without a call. JudgeFailure when any vote has no usable reply after one
        repair round; ConfigError when the rubric is unknown or the material lacks one of its parts.
        """
        known = self._ready().get(rubric)
        lacking = [name for name in known.needed if name not in material.parts]
        if lacking:
            raise ConfigError(f"rubric '{rubric}' needs material it was not given: {', '.join(lacking)}")
        parts = {name: clean(material.parts[name]) for name in known.needed}
        empty = [name for name, text in parts.items() if not text.strip()]
        statements = sentences(parts[known.statements_of]) if known.statements_of else ()
        if empty or (known.statements_of and not statements):
            about = {"provider": self.name, "model": self.model, "fingerprint": self.fingerprint(rubric)}
            return not_applicable(known, empty or [known.statements_of], about, material.subject)
        if sum(map(len, parts.values())) > MAX_MATERIAL:
            raise JudgeFailure(f"the material is longer than {MAX_MATERIAL:,} characters", "malformed")
        votes = [
            self._vote(known, parts, statements, material.subject, repeat * self.samples + number)
            for number in range(self.samples)
        ]
        return votes[0] if len(votes) == 1 else combine(votes, discrete=known.kind == "labels")

    def fingerprint(self, rubric: str) -> str:
        """Digest of everything that decides this judge's answers by one rubric."""
        known = self._ready().get(rubric)
        if rubric not in self._fingerprints:
            self._fingerprints[rubric] = self._fingerprint(known)
        return self._fingerprints[rubric]

    def _fingerprint(self, known: Rubric) -> str:
        return digest(
            {
                "provider": self.name,
                "address": self._transport().address,
                "model": self.model,
                "rubric": known.digest,
                "prompt": PROMPT_VERSION,
                "temperature": self._temperature(),
                "structured": self._structured(),
                "max_tokens": self.max_tokens,
                "samples": self.samples,
            }
        )

    def _vote(
        self, rubric: Rubric, parts: dict[str, str], statements: tuple[str, ...], subject: str, repeat: int
    ) -> Judgement:
        door = self._door
        if door is None:
            raise RuntimeError("the judge is not open")
        request = self._request(rubric, parts, statements, repeat)
        lost: Usage | None = None
        try:
            reply, decisions = self._ask(door, request, rubric, len(statements))
        except LlmFailure as first:
            if first.kind not in _REPAIRED:
                raise first.as_judge_failure() from first
            lost = first.usage
            reply, decisions = self._repair(door, request, rubric, len(statements), first)
        judged = conclude(rubric, decisions, parts, statements)
        suspected = {"injection_suspected"} if looks_injected(list(parts.values())) else set()
        return judged.model_copy(
            update={
                "provider": self.name,
                "model": reply.model or self.model,
                "fingerprint": self.fingerprint(rubric.name),
                "subject": subject,
                "flags": tuple(
                    sorted({*judged.flags, *suspected, *(["repaired"] if reply.repaired else [])})
                ),
                "raw_text": reply.raw_text,
                "usage": reply.usage if lost is None else reply.usage + lost,
                "latency_ms": reply.latency_ms,
                "retries": reply.retries,
                "cached": reply.cached,
            }
        )

    def _repair(
        self, door: Door, request: LlmRequest, rubric: Rubric, n_statements: int, first: LlmFailure
    ) -> tuple[LlmReply, list[Decision]]:
        """Ask once more, saying what was wrong; a reply that was cut off gets twice the room."""
        question = repair_prompt(first.message, "" if first.kind == "truncated" else first.raw_text)
        again = request.model_copy(
            update={
                "messages": (*request.messages, LlmMessage(role="user", text=question)),
                "max_tokens": request.max_tokens * (2 if first.kind == "truncated" else 1),
            }
        )
        try:
            reply, decisions = self._ask(door, again, rubric, n_statements)
        except LlmFailure as second:
            raise JudgeFailure(
                f"no usable judgement: {first.message}; after the repair round: {second.message}",
                second.kind if second.kind not in _REPAIRED else first.kind,
                "\n--- after the repair round ---\n".join(
                    raw for raw in (first.raw_text, second.raw_text) if raw
                ),
                first.retries + second.retries,
            ) from second
        reply = reply.model_copy(update={"repaired": True})
        door.record(request, reply)
        return reply, decisions

    def _ask(
        self, door: Door, request: LlmRequest, rubric: Rubric, n_statements: int
    ) -> tuple[LlmReply, list[Decision]]:
        return door.ask(
            request, lambda reply: read_decisions(filled_form(reply, request), rubric, n_statements)
        )

    def _request(
        self, rubric: Rubric, parts: dict[str, str], statements: tuple[str, ...], repeat: int
    ) -> LlmRequest:
        system = system_prompt(rubric)
        leading, rest = material_prompt(rubric, parts, statements)
        shortest = (self._facts() or ModelFacts(input=0, output=0)).min_cache
        known = (
            tokens_of(system) * 3 // 4
        )  # the estimate errs upwards; a prefix that is too short is never kept
        reused = bool(leading) or self.samples > 1
        messages = (
            [LlmMessage(role="user", text=leading, cache=known + tokens_of(leading) >= shortest)]
            if leading
            else []
        )
        messages.append(
            LlmMessage(role="user", text=rest, cache=reused and not leading and tokens_of(rest) >= shortest)
        )
        return LlmRequest(
            model=self.model,
            system=system,
            messages=tuple(messages),
            tool=LlmTool(
                name=TOOL_NAME,
                description="Hand in the filled-in form.",
                parameters=rubric.form(len(statements)),
            ),
            structured=self._structured(),
            max_tokens=self._max_tokens(len(statements)),
            temperature=self._temperature(),
            cache_system=known >= shortest,
            repeat=repeat,
            purpose={
                "rubric": rubric.name,
                "version": rubric.version,
                "digest": rubric.digest,
                "prompt": PROMPT_VERSION,
            },
        )

    def _max_tokens(self, n_statements: int) -> int:
        if self.max_tokens is not None:
            return self.max_tokens
        facts = self._facts()
        return 1024 + 200 * n_statements + (8192 if facts is not None and facts.thinks else 0)

    def _temperature(self) -> float | None:
        if self.temperature != "auto":
            return self.temperature
        facts = self._facts()
        return 0.0 if facts is not None and facts.sampling and self.samples == 1 else None

    def _structured(self) -> Literal["tool", "json_schema"]:
        if self.structured != "auto":
            return self.structured
        facts = self._facts()
        return "tool" if facts is None or facts.forced_tool else "json_schema"

    def _facts(self) -> ModelFacts | None:
        return self._table().facts(self.model)

    def _table(self) -> Prices:
        return self._door.table if self._door is not None else prices(self.prices)

    def _limits(self) -> CallLimits:
        return CallLimits(
            timeout_s=self.timeout_s,
            deadline_s=self.deadline_s,
            retries=self.retries,
            concurrency=self.max_concurrency,
        )

    def _ready(self) -> Rubrics:
        if self._rubrics is None:
            raise RuntimeError("the judge is not open: use core.judge.create_judge, or call open()")
        return self._rubrics

    def _transport(self) -> Transport:
        raise RuntimeError("a judge names its transport")


@JUDGES.register("anthropic", aliases=("claude",))
class ClaudeJudge(LlmJudge):
    """Claude, through the official SDK; the form is a forced tool call or, where the model takes none, structured
    output."""

    default_key_env: ClassVar[str] = DEFAULT_KEY_ENV
    model: str = Field("claude-sonnet-4-6", description="model id, as the provider spells it")

    def _transport(self) -> Transport:
        return Claude(self.base_url, self.key_env)


@JUDGES.register("openai", aliases=("openai_compatible",))
class OpenAiJudge(LlmJudge):
    """A model behind a chat-completions interface: OpenAI's own, vLLM, llama.cpp, Ollama and others."""

    default_key_env: ClassVar[str] = OPENAI_KEY_ENV
    model: str = Field("gpt-4.1-mini", description="model id, as the server spells it")

    def _transport(self) -> Transport:
        return OpenAiCompatible(self.base_url, self.key_env)
