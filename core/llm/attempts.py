"""Attempts at one call: each bounded in time, repeated with jittered back-off, all within one deadline.

A socket's read time-out bounds the gap between two bytes, not the wait: a server that sends one byte a second
never trips it. So each attempt runs on a thread of its own that is abandoned when its time is up. The threads are
daemons; one that never returns cannot keep the process alive.
"""

from __future__ import annotations

import email.utils
import random
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import Field
from tenacity import RetryCallState, Retrying, retry_if_exception
from tenacity.stop import stop_base
from tenacity.wait import wait_base

from core.bounded import TimeIsUp, within
from core.llm.client import LlmFailure
from core.records import Record

T = TypeVar("T")

RETRIED_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_OUTAGES = frozenset({"timeout", "transport", "http_status", "rate_limit"})


class CallLimits(Record):
    """Bounds of one call. `timeout_s` bounds an attempt; `deadline_s` the whole call with its waits (default: three
    times the time-out); `retries` counts attempts after the first; `backoff_s` is the first wait's upper bound,
    doubled each time up to `backoff_max_s`.

    After `breaker_after` calls in a row that ended in an outage, further calls fail at once for `breaker_s`
    seconds: a dead provider must not cost every case its full deadline.
    """

    timeout_s: float = Field(60.0, gt=0)
    deadline_s: float | None = Field(None, gt=0)
    retries: int = Field(4, ge=0, le=20)
    backoff_s: float = Field(1.0, gt=0)
    backoff_max_s: float = Field(30.0, gt=0)
    concurrency: int = Field(4, ge=1, le=256)
    breaker_after: int = Field(5, ge=1)
    breaker_s: float = Field(30.0, ge=0)

    @property
    def deadline(self) -> float:
        return self.deadline_s if self.deadline_s is not None else 3 * self.timeout_s


def bounded(function: Callable[[], T], seconds: float) -> T:
    """The function's value, or LlmFailure of kind `timeout` after `seconds`; the function is then abandoned."""
    try:
        return within(function, seconds)
    except TimeIsUp as error:
        raise LlmFailure(str(error), "timeout", retryable=True) from None


class Attempts:
    """Runs calls within `CallLimits`, for all threads of one run: a rate limit met by one makes all wait."""

    def __init__(self, limits: CallLimits) -> None:
        self.limits = limits
        self._random = random.Random()  # jitter must differ between processes, so it takes no seed
        self._lock = threading.Lock()
        self._not_before = 0.0
        self._outages = 0
        self._open_until = 0.0
        self._last = ""

    def run(self, attempt: Callable[[float], T]) -> tuple[T, int]:
        """`attempt(seconds)` until it succeeds; (value, number of retries). LlmFailure carries the retries made."""
        self._check_breaker()
        begun = time.monotonic()
        end = begun + self.limits.deadline
        made = 0

        def once() -> T:
            nonlocal made
            self._wait_for_turn(end)
            made += 1
            seconds = min(self.limits.timeout_s, end - time.monotonic())
            return bounded(lambda: attempt(seconds), seconds)

        retrying = Retrying(
            retry=retry_if_exception(lambda error: isinstance(error, LlmFailure) and error.retryable),
            stop=_Stop(self.limits.retries, end),
            wait=_Wait(self),
            sleep=time.sleep,
            reraise=True,
        )
        try:
            value = retrying(once)
        except LlmFailure as error:
            error.retries = max(made - 1, 0)
            if error.kind == "timeout" and made > 1:
                # the last attempt had what was left of the deadline: its seconds alone would mislead
                spent = time.monotonic() - begun
                error.message = f"no answer in {made} attempts within {spent:.3g} s"
                error.args = (error.message,)
            self._note(error)
            raise
        self._note(None)
        return value, made - 1

    def pause(self, seconds: float) -> None:
        """Make every thread's next attempt wait at least this long."""
        with self._lock:
            self._not_before = max(self._not_before, time.monotonic() + seconds)

    def jitter(self, attempt: int) -> float:
        """Seconds to wait after the `attempt`-th failure (from 1): between half and all of an exponential bound."""
        bound = min(self.limits.backoff_s * 2 ** (attempt - 1), self.limits.backoff_max_s)
        return bound * (0.5 + 0.5 * self._random.random())

    def spread(self) -> float:
        """A little extra after `retry-after`, so that waiting threads do not all return in one instant."""
        return self._random.random() * min(self.limits.backoff_s, 1.0) * 0.25

    def _wait_for_turn(self, end: float) -> None:
        wait = self._not_before - time.monotonic()
        if wait > 0:
            wait += self.spread()
        if wait > 0 and time.monotonic() + wait >= end:
            raise LlmFailure(
                "the provider asked to wait longer than the deadline of the call allows", "rate_limit"
            )
        if wait > 0:
            time.sleep(wait)

    def _check_breaker(self) -> None:
        with self._lock:
            if self._outages >= self.limits.breaker_after and time.monotonic() < self._open_until:
                raise LlmFailure(
                    f"not asked: the last {self._outages} calls failed ({self._last}); "
                    f"asking again in {max(self._open_until - time.monotonic(), 0):.0f} s",
                    "transport",
                )

    def _note(self, error: LlmFailure | None) -> None:
        with self._lock:
            if error is None or error.kind not in _OUTAGES or not error.retryable:
                self._outages = 0
                return
            self._outages += 1
            self._last = error.message
            self._open_until = time.monotonic() + self.limits.breaker_s


class _Stop(stop_base):
    """Stop after the last retry, or when the next wait would pass the deadline."""

    def __init__(self, retries: int, end: float) -> None:
        self.retries, self.end = retries, end

    def __call__(self, retry_state: RetryCallState) -> bool:
        return (
            retry_state.attempt_number > self.retries
            or time.monotonic() + retry_state.upcoming_sleep >= self.end
        )


class _Wait(wait_base):
    """`retry-after` in full where the provider gave one, else exponential back-off with jitter."""

    def __init__(self, attempts: Attempts) -> None:
        self.attempts = attempts

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        asked = error.retry_after if isinstance(error, LlmFailure) else None
        if asked is not None and asked > 0:
            self.attempts.pause(min(asked, self.attempts.limits.deadline))
            return asked + self.attempts.spread()
        return self.attempts.jitter(retry_state.attempt_number)


def retry_after_seconds(headers: Any) -> float | None:
    """Seconds of a `retry-after-ms` or `retry-after` header (seconds or an HTTP date); None without a usable one."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if not value:
            continue
        try:
            seconds = float(value) * scale
        except ValueError:
            when = email.utils.parsedate_tz(value)
            seconds = email.utils.mktime_tz(when) - time.time() if when else float("nan")
        if 0 <= seconds < 86_400:
            return float(seconds)
    return None


def is_retried(status: int, headers: Any) -> bool:
    """Whether a status is worth another attempt; the provider's `x-should-retry` header decides where it is sent."""
    told = headers.get("x-should-retry")
    if told in ("true", "false"):
        return bool(told == "true")
    return status in RETRIED_STATUS or status >= 500


def status_kind(status: int) -> str:
    """The failure kind of an error status."""
    return "rate_limit" if status in (429, 529) else "http_status"
