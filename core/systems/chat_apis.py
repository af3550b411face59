"""An OpenAI-compatible chat endpoint as the agent: its tools are played by canned results or Python callables."""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import ConfigError, SystemFailure
from core.llm.connections import client_for_many
from core.records import Case, Output, ToolCall, Usage
from core.systems.agent import plain
from core.systems.bounded import call_bounded
from core.systems.credentials import headers_for
from core.systems.http_retry import Reply, Retry, send
from core.systems.http_service import read_json


@dataclass(frozen=True, slots=True)
class ChatTool:
    """A tool offered to the model. `run` computes its result from the arguments; without it `canned` is given."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    canned: Any = None
    run: Callable[..., Any] | None = None


def tool_callable(path: str) -> Callable[..., Any]:
    """`module:function` as a callable; ConfigError when it is none."""
    module, _, name = path.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"tool callable '{path}': {error}; write it as module:function") from error
    if not callable(found):
        raise ConfigError(f"tool callable '{path}' is not callable")
    return found


class ChatApi:
    """Runs the tool loop: at most `max_steps` replies of the model a case; more is a malformed answer.

    Arguments that are not JSON are an error of that tool call, told to the model, as a real host would do.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        system_prompt: str = "",
        tools: Sequence[ChatTool] = (),
        headers: Mapping[str, str] | None = None,
        profiles: Mapping[str, Mapping[str, str]] | None = None,
        max_steps: int = 6,
        timeout_s: float = 60.0,
        retries: int = 2,
        temperature: float | None = None,
        max_tokens: int = 1024,
        concurrency: int = 8,
    ) -> None:
        self.url = base_url.rstrip("/") + "/chat/completions"
        self.model, self.system_prompt, self.tools = model, system_prompt, {tool.name: tool for tool in tools}
        self.headers = dict(headers or {})
        if api_key:
            self.headers["Authorization"] = f"Bearer {api_key}"
        self.profiles = dict(profiles or {})
        self.max_steps, self.timeout_s, self.concurrency = max_steps, timeout_s, concurrency
        self.temperature, self.max_tokens, self.retry = temperature, max_tokens, Retry(attempts=retries + 1)
        self.client = client_for_many(timeout=timeout_s)

    def ask(self, case: Case) -> Output:
        """Raises SystemFailure: transport, rate_limit, http_status, timeout, malformed. The time-out bounds the whole
        loop of one case, waits for a rate limit apart."""
        return self._converse(case, case.options.get("timeout_s") or self.timeout_s)

    def _converse(self, case: Case, timeout: float) -> Output:
        messages: list[dict[str, Any]] = []
        if self.system_prompt:
            messages.append({"role": "system", "content": self.system_prompt})
        messages += [message.model_dump(mode="json") for message in case.conversation]
        messages.append({"role": "user", "content": case.query})
        calls: list[ToolCall] = []
        usage, retries, spent = Usage(cost_usd=None), 0, 0.0
        headers = headers_for(case.options.get("credentials"), self.headers, self.profiles)
        for _ in range(self.max_steps):
            reply = self._complete(messages, headers, self._left(timeout, spent))
            data = read_json(reply.response)
            retries, spent = retries + reply.retries, spent + reply.latency_ms
            usage = usage + _usage(data)
            message = _message(data)
            if not message.get("tool_calls"):
                return Output(
                    case_id=case.id,
                    text=message.get("content") or "",
                    tool_calls=tuple(calls),
                    usage=usage,
                    latency_ms=spent,
                    retries=retries,
                )
            messages.append(message)
            for requested in _requested(message["tool_calls"]):
                call, told = self._call(requested, self._left(timeout, spent))
                spent += call.latency_ms or 0.0
                calls.append(call)
                messages.append({"role": "tool", "tool_call_id": requested.get("id", ""), "content": told})
        raise SystemFailure(f"no final answer after {self.max_steps} steps of tool calls", kind="malformed")

    def _left(self, timeout: float, spent_ms: float) -> float:
        """Seconds the case may still take."""
        left = timeout - spent_ms / 1000
        if left <= 0:
            raise SystemFailure(f"no answer within {timeout:.3g} s", kind="timeout")
        return left

    def _complete(self, messages: list[dict[str, Any]], headers: Mapping[str, str], timeout: float) -> Reply:
        payload: dict[str, Any] = {"model": self.model, "messages": messages, "max_tokens": self.max_tokens}
        if self.temperature is not None:
            payload["temperature"] = self.temperature
        if self.tools:
            payload["tools"] = [_declared(tool) for tool in self.tools.values()]
        return send(
            lambda seconds: self.client.post(self.url, json=payload, headers=dict(headers), timeout=seconds),
            self.retry,
            timeout,
        )

    def _call(self, requested: Mapping[str, Any], timeout: float) -> tuple[ToolCall, str]:
        function = requested.get("function") or {}
        name, begun = str(function.get("name") or ""), time.perf_counter()
        try:
            args = json.loads(function.get("arguments") or "{}")
            if not isinstance(args, dict):
                raise ValueError("arguments must be an object")
        except ValueError as error:
            return _failed(name, {}, f"arguments are not JSON: {error}", begun)
        tool = self.tools.get(name)
        if tool is None:
            return _failed(name, args, f"there is no tool '{name}'", begun)
        try:
            result = plain(_run(tool.run, args, timeout) if tool.run else tool.canned)
        except Exception as error:  # noqa: BLE001 - a user's tool may raise anything; the agent is told
            return _failed(name, args, f"{type(error).__name__}: {error}", begun)
        call = ToolCall(
            name=name, args=plain(args), result=result, latency_ms=(time.perf_counter() - begun) * 1000
        )
        return call, json.dumps(result, ensure_ascii=False)

    def close(self) -> None:
        self.client.close()


def _run(function: Callable[..., Any], args: Mapping[str, Any], timeout: float) -> Any:
    return call_bounded(lambda: function(**args), timeout)


def _requested(calls: Any) -> list[Mapping[str, Any]]:
    """The tool calls of a message; SystemFailure when they are no list of objects."""
    if not isinstance(calls, list) or not all(isinstance(each, Mapping) for each in calls):
        raise SystemFailure("tool_calls must be a list of objects", kind="malformed")
    return calls


def _declared(tool: ChatTool) -> dict[str, Any]:
    parameters = dict(tool.parameters) or {"type": "object", "properties": {}}
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _failed(name: str, args: dict[str, Any], error: str, begun: float) -> tuple[ToolCall, str]:
    call = ToolCall(
        name=name or "?", args=plain(args), error=error, latency_ms=(time.perf_counter() - begun) * 1000
    )
    return call, json.dumps({"error": error}, ensure_ascii=False)


def _message(data: Mapping[str, Any]) -> dict[str, Any]:
    try:
        message = data["choices"][0]["message"]
    except (KeyError, IndexError, TypeError) as error:
        raise SystemFailure(
            f"the reply has no choices[0].message: {str(data)[:200]}", kind="malformed"
        ) from error
    if not isinstance(message, dict):
        raise SystemFailure("choices[0].message must be an object", kind="malformed")
    return message


def _usage(data: Mapping[str, Any]) -> Usage:
    given = data.get("usage") if isinstance(data.get("usage"), Mapping) else {}
    counts = {key: value for key, value in (given or {}).items() if isinstance(value, int)}
    return Usage(
        calls=1,
        input_tokens=counts.get("prompt_tokens", 0),
        output_tokens=counts.get("completion_tokens", 0),
        cost_usd=None,
        models=(str(data["model"]),) if data.get("model") else (),
    )
