"""Judges and material for the tests of `core.judge`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.contracts import Judge, Material
from core.judge import create_judge
from core.llm.loopback import Behaviour, Exchange, LoopbackServer, form_reply
from tests.servers.messages_api import scripted

PROVIDERS = ["anthropic", "openai"]
CONTEXT = "The exam lasts 90 minutes and is written. A dictionary may be used. Six credits are awarded."
SUPPORTED = {"evidence_quote": "The exam lasts 90 minutes", "reasoning": "stated", "label": "supported"}
UNSUPPORTED = {"evidence_quote": "", "reasoning": "not there", "label": "not_enough_info"}


def claim(text: str = "The exam lasts 90 minutes", context: str = CONTEXT) -> Material:
    return Material({"context": context, "claim": text}, "a claim")


def answer(text: str, context: str = CONTEXT, question: str = "How long?") -> Material:
    return Material({"context": context, "question": question, "answer": text}, "an answer")


def judge(
    server: LoopbackServer, provider: str = "anthropic", cache_dir: Path | None = None, **spec: Any
) -> Judge:
    address = server.url if provider == "anthropic" else server.chat_url
    given = {"provider": provider, "base_url": address, "api_key_env": "", "timeout_s": 10, **spec}
    return create_judge(given, cache_dir=cache_dir)


def saying(*forms: Any) -> LoopbackServer:
    """A model that fills in these forms one after the other, the last one for ever."""
    waiting = list(forms)

    def script(server: LoopbackServer, exchange: Exchange) -> Behaviour:
        form = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return form if isinstance(form, Behaviour) else form_reply(server, exchange, form)

    return scripted(script)
