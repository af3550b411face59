"""Claude through the official SDK, synchronous, one client a run.

The SDK is imported when the first request is sent: its import takes longer than a whole run from the cache. Its
own retries are off, because ours honour the deadline and count. Replies are read from the raw body, so that a body
the SDK would patch up is seen as it came.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any, TypeGuard

from core.llm.attempts import is_retried, retry_after_seconds, status_kind
from core.llm.client import LlmFailure, LlmReply, LlmRequest
from core.llm.strict_json import parse, well_formed
from core.records import JsonDict, Usage

DEFAULT_ADDRESS = "https://api.anthropic.com"
DEFAULT_KEY_ENV = "ANTHROPIC_API_KEY"
RAW_LIMIT = 20_000


class Claude:
    """Messages API transport. `key_env` names the environment variable with the key (empty: the address wants
    none); the value is read when the first request is sent and goes nowhere but into the client."""

    provider = "anthropic"

    def __init__(
        self, address: str | None = None, key_env: str = DEFAULT_KEY_ENV, connect_s: float = 10.0
    ) -> None:
        self.address = (address or os.environ.get("ANTHROPIC_BASE_URL") or DEFAULT_ADDRESS).rstrip("/")
        self._key_env, self._connect_s = key_env, connect_s
        self._lock = threading.Lock()
        self._client: Any = None
        self._key = ""

    def prepare(self) -> None:
        """Make the client. LlmFailure when there is no key."""
        self._open()

    def send(self, request: LlmRequest, timeout_s: float) -> LlmReply:
        """One attempt. Raises LlmFailure; never retries."""
        import anthropic

        client = self._open()
        started = time.perf_counter()
        try:
            raw = client.messages.with_raw_response.create(
                **body(request), timeout=anthropic.Timeout(timeout_s, connect=min(self._connect_s, timeout_s))
            )
            text = raw.http_response.text
        except anthropic.APIStatusError as error:
            raise self._status_failure(error) from error
        except anthropic.APITimeoutError as error:
            raise LlmFailure(f"no answer within {timeout_s:.3g} s", "timeout", retryable=True) from error
        except anthropic.APIConnectionError as error:
            cause = error.__cause__ or error
            raise LlmFailure(
                self._clean(f"connection failed: {cause}"), "transport", retryable=True
            ) from error
        except anthropic.AnthropicError as error:
            raise LlmFailure(self._clean(f"the SDK refused the call: {error}"), "exception") from error
        return read_message(self._clean(text), request, (time.perf_counter() - started) * 1000)

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _open(self) -> Any:
        with self._lock:
            if self._client is None:
                import anthropic

                # a gateway on one's own machine may want no key; the SDK wants some text
                self._key = os.environ.get(self._key_env, "") if self._key_env else "none"
                if not self._key:
                    raise LlmFailure(f"the environment variable {self._key_env} is not set", "http_status")
                self._client = anthropic.Anthropic(api_key=self._key, base_url=self.address, max_retries=0)
            return self._client

    def _status_failure(self, error: Any) -> LlmFailure:
        status, headers = error.status_code, error.response.headers
        hint = f"; is the key in {self._key_env} right?" if status in (401, 403) else ""
        if status == 400 and "tool_choice" in error.response.text:
            hint = "; this model takes no forced tool call: set judge.structured to json_schema"
        if status == 400 and "temperature" in error.response.text:
            hint = "; this model takes no temperature: leave judge.temperature out"
        return LlmFailure(
            self._clean(
                f"HTTP {status} from {self.address}: {error.api_message if hasattr(error, 'api_message') and error.api_message else error.message}{hint}"
            ),
            status_kind(status),
            raw_text=self._clean(error.response.text[:RAW_LIMIT]),
            retryable=is_retried(status, headers),
            retry_after=retry_after_seconds(headers),
        )

    def _clean(self, text: str) -> str:
        # a server may echo the key; what is recorded must not hold it (a very short "key" is a placeholder)
        return text.replace(self._key, "[key]") if len(self._key) >= 8 else text


def body(request: LlmRequest) -> JsonDict:
    """Arguments of `messages.create` for a request."""
    arguments: JsonDict = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "messages": _turns(request),
    }
    if request.system:
        block: JsonDict = {"type": "text", "text": request.system}
        if request.cache_system:
            block["cache_control"] = {"type": "ephemeral"}
        arguments["system"] = [block]
    if request.tool is not None and request.structured == "tool":
        arguments["tools"] = [
            {
                "name": request.tool.name,
                "description": request.tool.description,
                "input_schema": request.tool.parameters,
            }
        ]
        arguments["tool_choice"] = {
            "type": "tool",
            "name": request.tool.name,
            "disable_parallel_tool_use": True,
        }
    extra: JsonDict = {}
    if request.tool is not None and request.structured == "json_schema":
        extra["output_config"] = {"format": {"type": "json_schema", "schema": request.tool.parameters}}
    if request.temperature is not None:
        # the SDK no longer has the parameter, because newer models refuse it; older ones still take it
        extra["temperature"] = request.temperature
    if extra:
        arguments["extra_body"] = extra
    return arguments


def _turns(request: LlmRequest) -> list[JsonDict]:
    turns: list[JsonDict] = []
    for message in request.messages:
        block: JsonDict = {"type": "text", "text": message.text}
        if message.cache:
            block["cache_control"] = {"type": "ephemeral"}
        if turns and turns[-1]["role"] == message.role:
            turns[-1]["content"].append(block)
        else:
            turns.append({"role": message.role, "content": [block]})
    return turns


def read_message(text: str, request: LlmRequest, latency_ms: float) -> LlmReply:
    """A Messages API body as a reply. LlmFailure of kind `malformed` when it is not a message; a message without
    the expected call is a reply (whoever asked decides what to make of it)."""
    raw_text = well_formed(text[:RAW_LIMIT])
    try:
        data = parse(text)
    except ValueError as error:
        raise LlmFailure(f"the reply is not JSON: {error}", "malformed", raw_text=raw_text) from error
    if (
        not isinstance(data, dict)
        or data.get("type") != "message"
        or not isinstance(data.get("content"), list)
    ):
        raise LlmFailure("the reply is not a message", "malformed", raw_text=raw_text)
    said: list[str] = []
    calls: list[tuple[str, Any]] = []
    for block in data["content"]:
        if not isinstance(block, dict):
            raise LlmFailure("a content block of the reply is not an object", "malformed", raw_text=raw_text)
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            said.append(block["text"])
        elif block.get("type") == "tool_use":
            calls.append((str(block.get("name", "")), block.get("input")))
    if len(calls) > 1:
        raise LlmFailure(
            f"the reply holds {len(calls)} tool calls instead of one", "malformed", raw_text=raw_text
        )
    name, given = calls[0] if calls else ("", None)
    wanted = request.tool is not None and name == request.tool.name and isinstance(given, dict)
    return LlmReply(
        text=well_formed("\n".join(said)),
        tool_name=well_formed(name),
        tool_input=given if wanted else None,
        stop_reason=str(data.get("stop_reason") or ""),
        model=str(data.get("model") or ""),
        usage=read_usage(data.get("usage"), request.model),
        latency_ms=latency_ms,
        raw_text=raw_text,
    )


def read_usage(usage: Any, model: str) -> Usage:
    """Tokens of a Messages API usage object; unreadable numbers make the cost unknown, not the reply useless."""
    given = usage if isinstance(usage, dict) else {}
    names = {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "cache_read_tokens": "cache_read_input_tokens",
        "cache_write_tokens": "cache_creation_input_tokens",
    }
    counts = {ours: given.get(theirs) for ours, theirs in names.items()}
    required = (counts["input_tokens"], counts["output_tokens"])
    readable = all(is_count(value) for value in required) and all(
        value is None or is_count(value) for value in counts.values()
    )
    return Usage(
        calls=1,
        models=(model,),
        cost_usd=0.0 if readable else None,
        **{name: value for name, value in counts.items() if is_count(value)},
    )


def is_count(value: Any) -> TypeGuard[int]:
    """A whole number that is not negative (and not a bool)."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12
