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
from core.judge.judgements import not_applicable
from core.judge.prompts import clean
from core.judge.rubrics import Rubrics
from core.judge.session import Manner, Session
from core.judge.votes import combine
from core.llm.attempts import CallLimits
from core.llm.cache import CacheMode, ReplyCache
from core.llm.claude import DEFAULT_KEY_ENV, Claude
from core.llm.client import Transport
from core.llm.door import Door
from core.llm.openai_compatible import DEFAULT_KEY_ENV as OPENAI_KEY_ENV
from core.llm.openai_compatible import OpenAiCompatible
from core.llm.usage import Budget, ModelFacts, prices
from core.records import Judgement, Usage
from core.registry import Component
from core.text import sentences

MAX_MATERIAL = 600_000  # characters; beyond it a judge would be asked about text it cannot read


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

    _session: Session | None = PrivateAttr(None)

    @property
    def provider(self) -> str:
        return self.name

    @property
    def concurrency(self) -> int:
        return self.max_concurrency

    @property
    def usage(self) -> Usage:
        """Everything spent so far, failed and rejected replies included."""
        return self._session.door.usage if self._session is not None else Usage()

    @property
    def rubric_versions(self) -> dict[str, str]:
        """Versions of the rubrics, for the record of a run."""
        return self._opened().rubrics.versions()

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
        table = prices(self.prices)
        door = Door(
            None if replay else transport,
            provider=self.name,
            address=transport.address,
            limits=CallLimits(
                timeout_s=self.timeout_s,
                deadline_s=self.deadline_s,
                retries=self.retries,
                concurrency=self.max_concurrency,
            ),
            cache=ReplyCache(cache_dir, self.cache),
            budget=budget,
            table=table,
        )
        self._session = Session(door, Rubrics(self.rubrics), self._manner(table.facts(self.model)))
        return self

    def close(self) -> None:
        """Free connections and cache. May be called twice."""
        if self._session is not None:
            self._session.door.close()

    def judge(self, rubric: str, material: Material, *, repeat: int = 0) -> Judgement:
        """The judgement of `material` by `rubric`. `repeat` asks afresh for the same thing (self-agreement).

        Empty material is `not_applicable` without a call. JudgeFailure when any vote has no usable reply after one
        repair round; ConfigError when the rubric is unknown or the material lacks one of its parts.
        """
        session = self._opened()
        plan = session.plan(rubric)
        known = plan.rubric
        lacking = [name for name in known.needed if name not in material.parts]
        if lacking:
            raise ConfigError(f"rubric '{rubric}' needs material it was not given: {', '.join(lacking)}")
        parts = {name: clean(material.parts[name]) for name in known.needed}
        empty = [name for name, text in parts.items() if not text.strip()]
        statements = sentences(parts[known.statements_of]) if known.statements_of else ()
        if empty or (known.statements_of and not statements):
            about = {"provider": self.name, "model": self.model, "fingerprint": plan.fingerprint}
            return not_applicable(known, empty or [known.statements_of], about, material.subject)
        if sum(map(len, parts.values())) > MAX_MATERIAL:
            raise JudgeFailure(f"the material is longer than {MAX_MATERIAL:,} characters", "judge")
        first = repeat * self.samples
        votes = [
            session.vote(plan, parts, statements, material.subject, first + number)
            for number in range(self.samples)
        ]
        return votes[0] if len(votes) == 1 else combine(votes, discrete=known.kind == "labels")

    def fingerprint(self, rubric: str) -> str:
        """Digest of everything that decides this judge's answers by one rubric."""
        return self._opened().plan(rubric).fingerprint

    def _manner(self, facts: ModelFacts | None) -> Manner:
        facts = facts or ModelFacts(input=0, output=0)
        structured = self.structured
        if structured == "auto":
            structured = "tool" if facts.forced_tool else "json_schema"
        temperature = self.temperature
        if temperature == "auto":
            temperature = 0.0 if facts.sampling and self.samples == 1 else None
        return Manner(
            model=self.model,
            structured=structured,
            temperature=temperature,
            room=self.max_tokens,
            thinks=facts.thinks,
            min_cache=facts.min_cache,
            samples=self.samples,
        )

    def _opened(self) -> Session:
        if self._session is None:
            raise RuntimeError("the judge is not open: use core.judge.create_judge, or call open()")
        return self._session

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
