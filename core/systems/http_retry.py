"""Retries of HTTP calls: what is worth another try, how long to wait, when to stop."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from core.errors import SystemFailure

RETRYABLE = {408, 425, 429, 500, 502, 503, 504, 529}


@dataclass(frozen=True, slots=True)
class Retry:
    """`attempts` in all; waits double from `first_wait` seconds with full jitter and never exceed `max_wait`;
    a `retry-after` of the server is honoured up to `max_wait`."""

    attempts: int = 3
    first_wait: float = 0.5
    max_wait: float = 20.0

    @property
    def longest_wait(self) -> float:
        """Seconds all the waits together can take."""
        return sum(self.max_wait for _ in range(self.attempts - 1))

    def wait(self, attempt: int, response: httpx.Response | None) -> float:
        asked = retry_after(response) if response is not None else None
        if asked is not None:
            return min(asked, self.max_wait)
        return random.uniform(0.5, 1.0) * min(self.first_wait * 2**attempt, self.max_wait)


def retry_after(response: httpx.Response) -> float | None:
    """Seconds the server asks to wait (number or HTTP date); None when it does not say."""
    value = response.headers.get("retry-after")
    if not value:
        return None
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    except (TypeError, ValueError):
        return None


def send(call: Callable[[], httpx.Response], retry: Retry) -> tuple[httpx.Response, int]:
    """The response and how many retries it took.

    Raises SystemFailure: "timeout", "transport" (refused, reset), "rate_limit" (429, 529), "http_status" (any
    other status of 400 and above), each after all attempts that make sense.
    """
    for attempt in range(retry.attempts):
        response: httpx.Response | None = None
        try:
            response = call()
            if response.status_code < 400:
                return response, attempt
            kind = "rate_limit" if response.status_code in (429, 529) else "http_status"
            failure = SystemFailure(f"HTTP {response.status_code}: {response.text[:200]!r}", kind, attempt)
            worth_it = response.status_code in RETRYABLE
        except httpx.TimeoutException:
            failure, worth_it = SystemFailure("no reply in time", "timeout", attempt), False
        except httpx.TransportError as error:
            failure, worth_it = SystemFailure(f"{type(error).__name__}: {error}", "transport", attempt), True
        except (httpx.InvalidURL, httpx.HTTPError, ValueError) as error:
            raise SystemFailure(f"{type(error).__name__}: {error}", "transport", attempt) from error
        if not worth_it or attempt + 1 == retry.attempts:
            raise failure
        time.sleep(retry.wait(attempt, response))
    raise SystemFailure("no attempt was allowed", "transport")
