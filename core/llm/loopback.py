"""A local model server for tests and for `plumbline judge check`: real HTTP on the loopback, scripted replies.

It speaks the Messages API (`POST /v1/messages`) and chat completions (`POST /v1/chat/completions`), refuses what the
real ones refuse (no key, an unknown field, a forced tool that is not declared), keeps connections alive, and counts.
What it answers is decided by a script: a function from the exchange to a `Behaviour`.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from types import TracebackType
from typing import Any, Literal

from core.llm.strict_json import parse

Flavour = Literal["messages", "chat"]
_MESSAGE_FIELDS = {
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "temperature",
    "top_p",
    "top_k",
}
_MESSAGE_FIELDS |= {
    "stop_sequences",
    "stream",
    "metadata",
    "thinking",
    "output_config",
    "service_tier",
    "cache_control",
}


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request as it arrived. `number` counts from 1 over all requests of the server."""

    number: int
    flavour: Flavour
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def tool(self) -> Mapping[str, Any] | None:
        """Name and schema of the form that was asked for, in one shape for both interfaces; None without one."""
        if self.flavour == "messages":
            if self.body.get("tools"):
                given = self.body["tools"][0]
                return {"name": given["name"], "schema": given["input_schema"], "forced": True}
            form = (self.body.get("output_config") or {}).get("format")
            return {"name": "", "schema": form["schema"], "forced": False} if form else None
        if self.body.get("tools"):
            function = self.body["tools"][0]["function"]
            return {"name": function["name"], "schema": function["parameters"], "forced": True}
        form = (self.body.get("response_format") or {}).get("json_schema")
        return {"name": "", "schema": form["schema"], "forced": False} if form else None

    @property
    def prompt(self) -> str:
        """All text of the user's turns."""
        texts = []
        for message in self.body["messages"]:
            content = message["content"]
            if message["role"] == "user":
                texts += [content] if isinstance(content, str) else [block["text"] for block in content]
        return "\n\n".join(texts)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the server does with a request. `kind`: `reply` (after `delay_s`), `hang` (never answers), `reset` (cuts
    the connection), `drip` (sends one byte every `delay_s` seconds, and never finishes)."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    kind: Literal["reply", "hang", "reset", "drip"] = "reply"


Script = Callable[[Exchange], Behaviour]


@dataclass
class Counts:
    """What the server has seen so far."""

    requests: int = 0
    connections: int = 0
    in_flight: int = 0
    most_in_flight: int = 0


class LoopbackServer:
    """A server on a free port of 127.0.0.1; a context manager. `url` is the address for the Messages API, `chat_url`
    the one for chat completions. `exchanges` keeps every request."""

    def __init__(self, script: Script, *, key: str | None = None) -> None:
        self.script, self.key = script, key
        self.counts = Counts()
        self.exchanges: list[Exchange] = []
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.prefixes: set[str] = set()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def chat_url(self) -> str:
        return f"{self.url}/v1"

    def __enter__(self) -> LoopbackServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def usage(self, exchange: Exchange, output_tokens: int) -> dict[str, Any]:
        """Usage as the interface reports it, with a prompt cache that remembers prefixes up to its breakpoints."""
        total = len(json.dumps(exchange.body, ensure_ascii=False)) // 4 + 1
        if exchange.flavour == "chat":
            return {
                "prompt_tokens": total,
                "completion_tokens": output_tokens,
                "total_tokens": total + output_tokens,
            }
        longest, known = 0, 0
        with self.lock:
            for prefix in _cacheable(exchange.body):
                longest = len(prefix) // 4
                known = longest if prefix in self.prefixes else known
                self.prefixes.add(prefix)
        return {
            "input_tokens": max(total - longest, 1),
            "output_tokens": output_tokens,
            "cache_read_input_tokens": known,
            "cache_creation_input_tokens": longest - known,
        }


def form_reply(server: LoopbackServer, exchange: Exchange, form: Any, *, delay_s: float = 0.0) -> Behaviour:
    """The reply of a model that fills in the form it was given, in the exchange's interface."""
    tool = exchange.tool or {"name": "", "forced": False}
    if exchange.flavour == "messages":
        content = (
            [{"type": "tool_use", "id": f"toolu_{exchange.number:08d}", "name": tool["name"], "input": form}]
            if tool["forced"]
            else [{"type": "text", "text": json.dumps(form, ensure_ascii=False)}]
        )
        body = message(exchange, content, usage=server.usage(exchange, len(json.dumps(form)) // 4))
    else:
        body = completion(
            exchange, _chat_message(tool, form), usage=server.usage(exchange, len(json.dumps(form)) // 4)
        )
    return Behaviour(json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass"), delay_s=delay_s)


def message(exchange: Exchange, content: Any, *, stop_reason: str = "", usage: Any = None) -> dict[str, Any]:
    """A Messages API body around content blocks."""
    calls = isinstance(content, list) and any(
        isinstance(b, dict) and b.get("type") == "tool_use" for b in content
    )
    return {
        "id": f"msg_{exchange.number:08d}",
        "type": "message",
        "role": "assistant",
        "model": exchange.body.get("model", ""),
        "content": content,
        "stop_reason": stop_reason or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20} if usage is None else usage,
    }


def completion(exchange: Exchange, said: Any, *, finish: str = "", usage: Any = None) -> dict[str, Any]:
    """A chat-completions body around an assistant message."""
    calls = isinstance(said, dict) and said.get("tool_calls")
    return {
        "id": f"chatcmpl-{exchange.number:08d}",
        "object": "chat.completion",
        "model": exchange.body.get("model", ""),
        "choices": [
            {"index": 0, "message": said, "finish_reason": finish or ("tool_calls" if calls else "stop")}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        if usage is None
        else usage,
    }


def error_reply(status: int, text: str, **headers: str) -> Behaviour:
    """An error in the shape of the Messages API; header names take `_` for `-` (`retry_after="1"`)."""
    body = {"type": "error", "error": {"type": _ERROR_TYPES.get(status, "api_error"), "message": text}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Behaviour(json.dumps(body).encode(), status=status, headers=named)


_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def _chat_message(tool: Mapping[str, Any], form: Any) -> dict[str, Any]:
    text = json.dumps(form, ensure_ascii=False)
    if not tool["forced"]:
        return {"role": "assistant", "content": text}
    call = {"id": "call_1", "type": "function", "function": {"name": tool["name"], "arguments": text}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _cacheable(body: Mapping[str, Any]) -> list[str]:
    """Every prefix of a request that ends at a cache breakpoint, shortest first."""
    whole = json.dumps(body.get("tools", []), ensure_ascii=False)
    prefixes = []
    blocks = list(body.get("system") or []) if not isinstance(body.get("system"), str) else []
    for turn in body["messages"]:
        blocks += turn["content"] if isinstance(turn["content"], list) else []
    for block in blocks:
        whole += block["text"]
        if block.get("cache_control"):
            prefixes.append(whole)
    return prefixes


def _refused(exchange: Exchange) -> Behaviour | None:
    """The error the real interface would give for this request; None when it is in order."""
    body = exchange.body
    if not body.get("model") or not body.get("messages"):
        return error_reply(400, "model and messages are required")
    if exchange.flavour == "chat":
        return None
    unknown = set(body) - _MESSAGE_FIELDS
    if unknown:
        return error_reply(400, f"{sorted(unknown)[0]}: Extra inputs are not permitted")
    if not isinstance(body.get("max_tokens"), int):
        return error_reply(400, "max_tokens: Field required")
    if "anthropic-version" not in exchange.headers:
        return error_reply(400, "anthropic-version: header is required")
    choice = body.get("tool_choice") or {}
    if choice.get("type") == "tool" and choice.get("name") not in [
        tool["name"] for tool in body.get("tools", [])
    ]:
        return error_reply(400, f"Tool '{choice.get('name')}' not found in provided tools")
    if sum(bool(block.get("cache_control")) for turn in body["messages"] for block in turn["content"]) > 4:
        return error_reply(400, "A maximum of 4 blocks with cache_control may be provided")
    return None


class _Server(ThreadingMixIn, TCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 256
    owner: LoopbackServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is no error of the server's."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def setup(self) -> None:
        super().setup()
        with self.server.owner.lock:
            self.server.owner.counts.connections += 1

    def log_message(self, *arguments: Any) -> None:
        """Nothing is logged: requests hold material and keys."""

    def do_POST(self) -> None:
        owner = self.server.owner
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        flavour: Flavour = "chat" if self.path.endswith("/chat/completions") else "messages"
        with owner.lock:
            owner.counts.requests += 1
            owner.counts.in_flight += 1
            owner.counts.most_in_flight = max(owner.counts.most_in_flight, owner.counts.in_flight)
            number = owner.counts.requests
        try:
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._behave(self._decide(Exchange(number, flavour, parse(data.decode()), headers)))
        finally:
            with owner.lock:
                owner.counts.in_flight -= 1

    def _decide(self, exchange: Exchange) -> Behaviour:
        owner = self.server.owner
        with owner.lock:
            owner.exchanges.append(exchange)
        if not self.path.endswith(("/v1/messages", "/chat/completions")):
            return error_reply(404, "not found")
        sent = exchange.headers.get("authorization", "").removeprefix("Bearer ") or exchange.headers.get(
            "x-api-key"
        )
        if owner.key is not None and sent != owner.key:
            return error_reply(401, f"invalid key {sent}")
        return _refused(exchange) or owner.script(exchange)

    def _behave(self, behaviour: Behaviour) -> None:
        stopping = self.server.owner.stopping
        if behaviour.kind == "hang":
            stopping.wait()
        if behaviour.kind in ("hang", "reset"):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        if behaviour.kind == "reply" and behaviour.delay_s:
            time.sleep(behaviour.delay_s)
        self.send_response(behaviour.status)
        length = len(behaviour.body) + (10**6 if behaviour.kind == "drip" else 0)
        for name, value in {
            "content-type": "application/json",
            "content-length": str(length),
            **behaviour.headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if behaviour.kind == "reply":
            self.wfile.write(behaviour.body)
            return
        while not stopping.wait(behaviour.delay_s):
            self.wfile.write(b" ")
            self.wfile.flush()
