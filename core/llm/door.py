"""The one door to language models: cache → budget → limits → transport → check → record.

One `Door` serves all threads of a run. Concurrency is bounded by a semaphore, so callers may use as many threads as
they like.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from core.llm.attempts import Attempts, CallLimits
from core.llm.cache import ReplyCache, cache_key
from core.llm.client import LlmFailure, LlmReply, LlmRequest, Transport
from core.llm.usage import Budget, Prices, prices
from core.records import Usage

T = TypeVar("T")


class Door:
    """Asks one provider at one address. `transport` is None in replay: then nothing can be sent at all."""

    def __init__(
        self,
        transport: Transport | None,
        *,
        provider: str,
        address: str,
        limits: CallLimits | None = None,
        cache: ReplyCache | None = None,
        budget: Budget | None = None,
        table: Prices | None = None,
    ) -> None:
        self.provider, self.address = provider, address
        self.limits = limits or CallLimits()
        self.table = table or prices()
        self._transport = transport
        self._cache = cache or ReplyCache(None, "off")
        self._budget = budget
        self._attempts = Attempts(self.limits)
        self._slots = threading.BoundedSemaphore(self.limits.concurrency)
        self._lock = threading.Lock()
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """Everything asked through this door so far, failed and rejected replies included."""
        return self._usage

    def ask(self, request: LlmRequest, check: Callable[[LlmReply], T]) -> tuple[LlmReply, T]:
        """A reply that passes `check`, and what `check` made of it.

        `check` raises LlmFailure for a reply that cannot be used; such a reply is never recorded. A recorded reply
        that no longer passes counts as missing.
        """
        key = cache_key(self.provider, self.address, request)
        known = self._recorded(key, check)
        if known is not None:
            return known
        if self._transport is None:
            raise self._cache.missing(key)
        with self._slots:
            reply = self._send(request)
        try:
            value = check(reply)
        except LlmFailure as error:
            error.usage = reply.usage
            error.retries = reply.retries
            error.raw_text = error.raw_text or reply.raw_text
            raise
        self._cache.put(key, request, reply)
        return reply, value

    def record(self, request: LlmRequest, reply: LlmReply) -> None:
        """Record a reply as the answer to another request too: a repaired reply answers the first question."""
        self._cache.put(cache_key(self.provider, self.address, request), request, reply)

    def close(self) -> None:
        """Free the connections and the cache file. May be called twice."""
        if self._transport is not None:
            self._transport.close()
        self._cache.close()

    def _recorded(self, key: str, check: Callable[[LlmReply], T]) -> tuple[LlmReply, T] | None:
        reply = self._cache.get(key)
        if reply is None:
            return None
        try:
            value = check(reply)
        except LlmFailure:
            if self._cache.mode == "only":
                raise
            return None
        # a replayed reply costs nothing now; what it once took stays in the record itself
        replayed = Usage(cached_calls=1, models=(reply.model,) if reply.model else ())
        self._count(replayed)
        return reply.model_copy(update={"usage": replayed, "latency_ms": 0.0, "retries": 0}), value

    def _send(self, request: LlmRequest) -> LlmReply:
        transport = self._transport
        if transport is None:
            raise RuntimeError("a door without transport cannot send")

        def attempt(seconds: float) -> LlmReply:
            reserved = (
                self._budget.reserve(self.table.at_most(request), request.model) if self._budget else 0.0
            )
            cost: float | None = None
            unsent = False
            try:
                reply = transport.send(request, seconds)
                cost = (
                    self.table.cost(request.model, reply.usage) if reply.usage.cost_usd is not None else None
                )
                return reply.model_copy(update={"usage": reply.usage.model_copy(update={"cost_usd": cost})})
            except LlmFailure as error:
                unsent = error.kind in ("rate_limit", "http_status", "transport")
                raise
            finally:
                if self._budget:
                    self._budget.settle(reserved, 0.0 if unsent else cost)

        transport.prepare()
        reply, retries = self._attempts.run(attempt)
        self._count(reply.usage)
        return reply.model_copy(update={"retries": retries})

    def _count(self, usage: Usage) -> None:
        with self._lock:
            self._usage = self._usage + usage
