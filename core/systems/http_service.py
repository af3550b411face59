"""An agent behind an HTTP endpoint: POST {prompt, conversation}, a JSON reply in the shape of RagResponse."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx

from core.errors import SystemFailure
from core.llm.connections import client_for_many
from core.records import Case, Output
from core.systems.agent import output_from
from core.systems.credentials import headers_for
from core.systems.http_retry import Retry, send


class HttpService:
    """One client, one connection pool for the whole run.

    `profiles` are named header sets that replace the default headers when a case asks for those credentials;
    "none" sends no headers of the profile at all. Header values are never stored nor logged: failures name the
    endpoint, the status and the body only.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        headers: Mapping[str, str] | None = None,
        profiles: Mapping[str, Mapping[str, str]] | None = None,
        timeout_s: float = 30.0,
        retries: int = 2,
        concurrency: int = 8,
    ) -> None:
        self.endpoint, self.headers, self.profiles = endpoint, dict(headers or {}), dict(profiles or {})
        self.timeout_s, self.retry, self.concurrency = timeout_s, Retry(attempts=retries + 1), concurrency
        self.client = client_for_many(timeout=timeout_s)

    def ask(self, case: Case) -> Output:
        """Raises SystemFailure: transport, rate_limit, http_status, timeout, malformed. The latency is that of the
        attempt that was answered, without the waits before it."""
        timeout = case.options.get("timeout_s") or self.timeout_s
        payload = {
            "prompt": case.query,
            "conversation": [message.model_dump(mode="json") for message in case.conversation],
        }
        headers = headers_for(case.options.get("credentials"), self.headers, self.profiles)
        reply = send(
            lambda seconds: self.client.post(self.endpoint, json=payload, headers=headers, timeout=seconds),
            self.retry,
            timeout,
        )
        output = output_from(case, read_json(reply.response), reply.latency_ms)
        return output.model_copy(update={"retries": reply.retries})

    def close(self) -> None:
        self.client.close()


def read_json(response: httpx.Response) -> dict[str, Any]:
    """The body as a JSON object; SystemFailure(kind="malformed") names what came instead."""
    try:
        data = json.loads(response.content, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:  # nested without end: no reply either
        raise SystemFailure(
            f"the reply is not JSON ({error}): {response.text[:200]!r}", kind="malformed"
        ) from error
    if not isinstance(data, dict):
        raise SystemFailure(f"the reply must be a JSON object, not {type(data).__name__}", kind="malformed")
    return data


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")
