"""What passes through the one door to language models: requests, replies, failures, and the transport contract.

Nothing here talks to a network. `core.llm.door` composes a transport with retries, cache, budget and limits.
"""

from __future__ import annotations

from typing import Literal, Protocol

from pydantic import Field

from core.errors import EvalError, JudgeFailure, SystemFailure
from core.records import JsonDict, Record, Usage


class LlmMessage(Record):
    """One piece of a turn. Neighbours of one role form one turn. `cache`: everything up to here is worth keeping
    in the provider's prompt cache, because other requests begin the same way."""

    role: Literal["user", "assistant"]
    text: str
    cache: bool = False


class LlmTool(Record):
    """The form a reply must take. `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: JsonDict


class LlmRequest(Record):
    """One question to a model, complete: two equal requests to one address deserve one answer.

    `structured` says how the form is enforced: `tool` (a forced tool call) or `json_schema` (the provider's
    structured output). `temperature` None leaves it to the provider. `repeat` counts repetitions of the same
    question and is part of the cache key, not of the prompt. `purpose` names what else decides the answer
    (rubric and its version); it is part of the key too.
    """

    model: str
    system: str = ""
    messages: tuple[LlmMessage, ...]
    tool: LlmTool | None = None
    structured: Literal["tool", "json_schema"] = "tool"
    max_tokens: int = Field(1024, ge=1)
    temperature: float | None = None
    cache_system: bool = False
    repeat: int = Field(0, ge=0)
    purpose: JsonDict = Field(default_factory=dict)


class LlmReply(Record):
    """What the model said. `tool_input` is the argument object of the one call of the tool that was asked for,
    None when there was none (`text` then holds whatever was said instead, `tool_name` the name of another tool).

    `usage.cost_usd` is None where the price is unknown. `latency_ms` is the time of the successful attempt;
    `retries` counts the attempts before it. `repaired`: it was given in answer to a second question, after a first
    reply that could not be used. `raw_text` is the body as received.
    """

    text: str = ""
    tool_name: str = ""
    tool_input: JsonDict | None = None
    stop_reason: str = ""
    model: str = ""
    usage: Usage = Usage()
    latency_ms: float = 0.0
    retries: int = 0
    cached: bool = False
    repaired: bool = False
    raw_text: str = ""


class LlmFailure(EvalError):
    """No usable reply. Never leaves `core.llm` and its callers: a judge translates it to JudgeFailure, a system
    to SystemFailure. `kind` is one of `core.records.FAILURE_KINDS`; `retry_after` is in seconds; `usage` is what
    the failed reply took, where that is known."""

    def __init__(
        self,
        message: str,
        kind: str,
        *,
        raw_text: str = "",
        retryable: bool = False,
        retry_after: float | None = None,
        retries: int = 0,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.message, self.kind, self.raw_text = message, kind, raw_text
        self.retryable, self.retry_after = retryable, retry_after
        self.retries, self.usage = retries, usage

    def as_judge_failure(self) -> JudgeFailure:
        return JudgeFailure(self.message, self.kind, self.raw_text, self.retries)

    def as_system_failure(self) -> SystemFailure:
        return SystemFailure(self.message, self.kind, self.retries)


class Transport(Protocol):
    """One attempt at one address. `send` raises LlmFailure for anything but a readable reply; it neither retries
    nor caches. `prepare` does what must be done once before the first attempt (imports, the connection pool) and
    is not part of an attempt's time. `address` (the base URL) is part of the cache key."""

    provider: str
    address: str

    def prepare(self) -> None: ...

    def send(self, request: LlmRequest, timeout_s: float) -> LlmReply: ...

    def close(self) -> None: ...
