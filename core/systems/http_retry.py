"""Retries of HTTP calls: what is worth another try, how long to wait, when to stop."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from core.errors import SystemFailure
from core.llm.attempts import is_retried, retry_after_seconds, status_kind
from core.systems.bounded import call_bounded


@dataclass(frozen=True, slots=True)
class Retry:
    """`attempts` in all; waits double from `first_wait` seconds with jitter and never exceed `max_wait`; a
    `retry-after` of the server is honoured up to `max_wait`."""

    attempts: int = 3
    first_wait: float = 0.5
    max_wait: float = 20.0

    def wait(self, state: RetryCallState) -> float:
        """Seconds before the next attempt."""
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, _TryAgain) else None
        bound = min(self.first_wait * 2 ** (state.attempt_number - 1), self.max_wait)
        jittered = bound * random.uniform(0.5, 1.0)
        return jittered if asked is None else min(asked, self.max_wait) + jittered * 0.1


@dataclass(frozen=True, slots=True)
class Reply:
    """A response, the milliseconds of the attempt that gave it, and how many retries came before."""

    response: httpx.Response
    latency_ms: float
    retries: int


class _TryAgain(Exception):
    """An attempt that may go better the next time; `failure` is what it means when it does not."""

    def __init__(self, failure: SystemFailure, retry_after: float | None = None) -> None:
        super().__init__(str(failure))
        self.failure, self.retry_after = failure, retry_after


def send(call: Callable[[float], httpx.Response], retry: Retry, timeout_s: float) -> Reply:
    """`call(seconds)` until it gives a usable response; each attempt is bounded by `timeout_s` as a whole, so that a
    server that drips bytes is bounded too.

    Raises SystemFailure: "timeout" (not tried again), "transport" (refused, reset), "rate_limit" (429, 529),
    "http_status" (any other status of 400 and above, which `status` names), after all attempts that make sense.
    """
    made = 0

    def once() -> tuple[httpx.Response, float]:
        nonlocal made
        made += 1
        begun = time.perf_counter()
        response = _attempt(call, timeout_s)
        return response, (time.perf_counter() - begun) * 1000

    retrying = Retrying(
        retry=retry_if_exception(lambda error: isinstance(error, _TryAgain)),
        stop=stop_after_attempt(max(retry.attempts, 1)),
        wait=retry.wait,
        reraise=True,
    )
    try:
        response, latency = retrying(once)
    except _TryAgain as error:
        failure = error.failure
        raise SystemFailure(str(failure), failure.kind, made - 1, failure.status) from error
    except SystemFailure as failure:
        failure.retries = made - 1
        raise
    return Reply(response, latency, made - 1)


def _attempt(call: Callable[[float], httpx.Response], timeout_s: float) -> httpx.Response:
    try:
        response: httpx.Response = call_bounded(lambda: call(timeout_s), timeout_s + 0.2)
    except httpx.TimeoutException:
        raise SystemFailure(f"no answer within {timeout_s:.3g} s", "timeout") from None
    except httpx.TransportError as error:
        raise _TryAgain(SystemFailure(f"{type(error).__name__}: {error}", "transport")) from error
    except (httpx.InvalidURL, httpx.HTTPError, ValueError) as error:
        raise SystemFailure(f"{type(error).__name__}: {error}", "transport") from error
    status = response.status_code
    if status < 400:
        return response
    failure = SystemFailure(f"HTTP {status}: {response.text[:200]!r}", status_kind(status), status=status)
    if is_retried(status, response.headers):
        raise _TryAgain(failure, retry_after_seconds(response.headers))
    raise failure
