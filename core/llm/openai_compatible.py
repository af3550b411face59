"""Any server with OpenAI's chat-completions interface, through one httpx client a run."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import httpx

from core.llm.attempts import is_retried, retry_after_seconds, status_kind
from core.llm.claude import RAW_LIMIT, is_count
from core.llm.client import LlmFailure, LlmReply, LlmRequest
from core.llm.connections import client_for_many
from core.llm.strict_json import parse, well_formed
from core.records import JsonDict, Usage

DEFAULT_ADDRESS = "https://api.openai.com/v1"
DEFAULT_KEY_ENV = "OPENAI_API_KEY"


class OpenAiCompatible:
    """Chat-completions transport. `key_env` names the environment variable with the key; empty for servers that
    want none."""

    provider = "openai"

    def __init__(
        self, address: str | None = None, key_env: str = DEFAULT_KEY_ENV, connect_s: float = 10.0
    ) -> None:
        self.address = (address or DEFAULT_ADDRESS).rstrip("/")
        self._key_env, self._connect_s = key_env, connect_s
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._key = ""

    def prepare(self) -> None:
        """Make the client. LlmFailure when there is no key."""
        self._open()

    def send(self, request: LlmRequest, timeout_s: float) -> LlmReply:
        """One attempt. Raises LlmFailure; never retries."""
        client = self._open()
        started = time.perf_counter()
        timeout = httpx.Timeout(timeout_s, connect=min(self._connect_s, timeout_s))
        try:
            response = client.post(
                f"{self.address}/chat/completions", json=body(request, self.address), timeout=timeout
            )
        except httpx.TimeoutException as error:
            raise LlmFailure(f"no answer within {timeout_s:.3g} s", "timeout", retryable=True) from error
        except httpx.HTTPError as error:
            raise LlmFailure(
                self._clean(f"connection failed: {error}"), "transport", retryable=True
            ) from error
        except (httpx.InvalidURL, UnicodeError) as error:
            raise LlmFailure(f"the address {self.address} cannot be used: {error}", "exception") from error
        text = self._clean(response.text)
        if response.status_code >= 300:
            raise LlmFailure(
                f"HTTP {response.status_code} from {self.address}: {text[:300]}",
                status_kind(response.status_code),
                raw_text=text[:RAW_LIMIT],
                retryable=is_retried(response.status_code, response.headers),
                retry_after=retry_after_seconds(response.headers),
            )
        return read_completion(text, request, (time.perf_counter() - started) * 1000)

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _open(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                self._key = os.environ.get(self._key_env, "") if self._key_env else ""
                if self._key_env and not self._key:
                    raise LlmFailure(f"the environment variable {self._key_env} is not set", "http_status")
                headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
                self._client = client_for_many(headers=headers)
            return self._client

    def _clean(self, text: str) -> str:
        # a server may echo the key; what is recorded must not hold it (a very short "key" is a placeholder)
        return text.replace(self._key, "[key]") if len(self._key) >= 8 else text


def body(request: LlmRequest, address: str) -> JsonDict:
    """JSON body of a chat completion for a request."""
    messages: list[JsonDict] = [{"role": "system", "content": request.system}] if request.system else []
    for message in request.messages:
        if messages and messages[-1]["role"] == message.role:
            messages[-1]["content"] += "\n\n" + message.text
        else:
            messages.append({"role": message.role, "content": message.text})
    # OpenAI's own newer models refuse the old name of the limit; other servers know only that one
    limit = "max_completion_tokens" if address == DEFAULT_ADDRESS else "max_tokens"
    data: JsonDict = {"model": request.model, "messages": messages, limit: request.max_tokens}
    if request.temperature is not None:
        data["temperature"] = request.temperature
    if request.tool is not None and request.structured == "tool":
        function = {
            "name": request.tool.name,
            "description": request.tool.description,
            "parameters": request.tool.parameters,
        }
        data["tools"] = [{"type": "function", "function": function}]
        data["tool_choice"] = {"type": "function", "function": {"name": request.tool.name}}
    elif request.tool is not None:
        schema = {"name": request.tool.name, "schema": request.tool.parameters, "strict": True}
        data["response_format"] = {"type": "json_schema", "json_schema": schema}
    return data


def read_completion(text: str, request: LlmRequest, latency_ms: float) -> LlmReply:
    """A chat-completions body as a reply. LlmFailure of kind `malformed` when it is not one."""
    raw_text = well_formed(text[:RAW_LIMIT])
    try:
        data = parse(text)
        choice = data["choices"][0]
        message = choice["message"]
        said, calls = message.get("content"), message.get("tool_calls") or []
        functions = [(str(call["function"]["name"]), call["function"]["arguments"]) for call in calls]
    except ValueError as error:
        raise LlmFailure(f"the reply is not JSON: {error}", "malformed", raw_text=raw_text) from error
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise LlmFailure("the reply is not a chat completion", "malformed", raw_text=raw_text) from error
    if len(functions) > 1:
        raise LlmFailure(
            f"the reply holds {len(functions)} tool calls instead of one", "malformed", raw_text=raw_text
        )
    name, arguments = functions[0] if functions else ("", None)
    refusal = message.get("refusal")
    return LlmReply(
        text=well_formed(str(refusal or said or "")),
        tool_name=well_formed(name),
        tool_input=_arguments(name, arguments, request, raw_text),
        stop_reason="refusal"
        if refusal
        else _STOP.get(str(choice.get("finish_reason")), str(choice.get("finish_reason") or "")),
        model=str(data.get("model") or ""),
        usage=read_usage(data.get("usage"), request.model),
        latency_ms=latency_ms,
        raw_text=raw_text,
    )


_STOP = {"length": "max_tokens", "content_filter": "refusal", "tool_calls": "tool_use", "stop": "end_turn"}


def _arguments(name: str, arguments: Any, request: LlmRequest, raw_text: str) -> JsonDict | None:
    if request.tool is None or name != request.tool.name:
        return None
    if isinstance(arguments, dict):  # some servers send the object itself
        return arguments
    if not isinstance(arguments, str):
        return None
    try:
        value = parse(arguments)
    except ValueError:
        return None  # whoever asked sees that the call has no readable arguments, and the body as it came
    return value if isinstance(value, dict) else None


def read_usage(usage: Any, model: str) -> Usage:
    """Tokens of a chat-completions usage object; cached prompt tokens are counted apart from the rest."""
    given = usage if isinstance(usage, dict) else {}
    prompt, completion = given.get("prompt_tokens"), given.get("completion_tokens")
    if not (is_count(prompt) and is_count(completion)):
        return Usage(calls=1, models=(model,), cost_usd=None)
    details = given.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    read = min(cached, prompt) if is_count(cached) else 0
    return Usage(
        calls=1,
        models=(model,),
        input_tokens=prompt - read,
        output_tokens=completion,
        cache_read_tokens=read,
    )
