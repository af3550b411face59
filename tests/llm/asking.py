"""Doors and requests for the tests of `core.llm`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.llm.attempts import CallLimits
from core.llm.cache import CacheMode, ReplyCache
from core.llm.claude import Claude
from core.llm.client import LlmMessage, LlmReply, LlmRequest, LlmTool
from core.llm.door import Door
from core.llm.forms import filled_form
from core.llm.loopback import LoopbackServer
from core.llm.openai_compatible import OpenAiCompatible
from core.llm.usage import Budget, Prices

KEY = "sk-placeholder-0123456789"
TOOL = LlmTool(
    name="answer",
    description="Give the answer.",
    parameters={
        "type": "object",
        "properties": {"value": {"type": "string"}},
        "required": ["value"],
        "additionalProperties": False,
    },
)
QUICK = CallLimits(timeout_s=5, deadline_s=10, retries=3, backoff_s=0.02, backoff_max_s=0.05, concurrency=8)


def request(**changes: Any) -> LlmRequest:
    given = {
        "model": "claude-sonnet-4-6",
        "system": "Answer.",
        "messages": (LlmMessage(role="user", text="What?"),),
        "tool": TOOL,
    }
    return LlmRequest(**{**given, **changes})


def door(
    server: LoopbackServer,
    *,
    provider: str = "anthropic",
    limits: CallLimits = QUICK,
    cache_dir: Path | None = None,
    mode: CacheMode = "use",
    budget: Budget | None = None,
    table: Prices | None = None,
    key_env: str = "",
) -> Door:
    transport = (
        Claude(server.url, key_env) if provider == "anthropic" else OpenAiCompatible(server.chat_url, key_env)
    )
    return Door(
        None if mode == "only" else transport,
        provider=provider,
        address=transport.address,
        limits=limits,
        cache=ReplyCache(cache_dir, mode),
        budget=budget,
        table=table,
    )


def ask(opened: Door, question: LlmRequest | None = None) -> tuple[LlmReply, Any]:
    asked = question or request()
    return opened.ask(asked, lambda reply: filled_form(reply, asked)["value"])
