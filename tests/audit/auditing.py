"""What the tests of audits share: running the real command, agents written to a folder, a local HTTP agent."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]

AGENT = """
import os, pathlib, time
from core.audit import Citation, ContextDoc, RagAdapter, RagResponse, SourceDoc, ToolCall, ToolSpec


def note(text):
    if os.environ.get("AGENT_DIARY"):
        with open(os.environ["AGENT_DIARY"], "a", encoding="utf-8") as diary:
            diary.write(text.replace("\\n", " ") + "\\n")


class Agent(RagAdapter):
    def __init__(self):
        note("built")

    def query(self, prompt, *, conversation=None):
        note(f"asked {prompt[:40]}")
        time.sleep(float(os.environ.get("AGENT_SECONDS", "0")))
        return RagResponse("Books are lent for 28 days. [src:loans]", [Citation("1", "loans", "")],
                           retrieved_context=[ContextDoc("loans", "Books are lent for 28 days.", 1.0)])

    def corpus(self):
        return [SourceDoc("loans", "Books are lent for 28 days.")]


class Hanging(Agent):
    def query(self, prompt, *, conversation=None):
        while True:
            time.sleep(3600)
"""


def write_audit(folder: Path, tests: list[dict[str, Any]], agent: str = AGENT, **config: Any) -> Path:
    """`agent_under_test.py` and `audit.yaml` in `folder`; the adapter is its class `Agent` unless `config` says so."""
    (folder / "agent_under_test.py").write_text(agent, encoding="utf-8")
    data = {"adapter": {"module": "agent_under_test", "class": "Agent"}, **config, "tests": tests}
    path = folder / "audit.yaml"
    path.write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    return path


def plumbline(
    folder: Path, *arguments: str, timeout: float = 120, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own; ANTHROPIC_API_KEY is not set unless it is given."""
    return subprocess.run(
        [sys.executable, "-m", "core", *arguments],
        cwd=folder,
        env=env(**environment),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def env(**environment: str) -> dict[str, str]:
    kept = {
        key: value for key, value in os.environ.items() if key not in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
    }
    return {**kept, "PYTHONPATH": str(ROOT), **environment}


def report_of(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "report" / "report.json").read_text(encoding="utf-8"))
    return loaded


def verdicts(folder: Path) -> dict[str, str]:
    return {test["name"]: test["verdict"] for test in report_of(folder)["tests"]}


Answer = Callable[[dict[str, Any], dict[str, str], int], Any]


class HttpAgent:
    """A local HTTP agent. `answer(body, headers, number)` gives a mapping (200), (status, headers, text), or one of
    "hang", "reset", "drip"."""

    def __init__(self, answer: Answer) -> None:
        owner = self
        self.requests: list[tuple[dict[str, Any], dict[str, str]]] = []
        self.in_flight = self.most = 0
        self.lock = threading.Lock()
        self.stopping = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with owner.lock:
                    owner.requests.append((body, dict(self.headers)))
                    number = len(owner.requests)
                    owner.in_flight += 1
                    owner.most = max(owner.most, owner.in_flight)
                try:
                    owner.give(self, answer(body, {k.lower(): v for k, v in self.headers.items()}, number))
                finally:
                    with owner.lock:
                        owner.in_flight -= 1

            def log_message(self, *arguments: Any) -> None:
                """Silent."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request: Any, address: Any) -> None:
                """A client that gave up is part of these tests."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def give(self, handler: BaseHTTPRequestHandler, what: Any) -> None:
        if what == "hang":
            self.stopping.wait(120)
        elif what == "reset":
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            socket.close(handler.connection.detach())
            handler.close_connection = True
        elif what == "drip":
            handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
            while not self.stopping.wait(0.2):
                handler.wfile.write(b" ")
                handler.wfile.flush()
        else:
            status, headers, text = what if isinstance(what, tuple) else (200, {}, json.dumps(what))
            data = text.encode() if isinstance(text, str) else text
            handler.send_response(status)
            for name, value in headers.items():
                handler.send_header(name, value)
            handler.send_header("content-length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)

    def __enter__(self) -> HttpAgent:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()


def waited(until: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether `until` became true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if until():
            return True
        time.sleep(0.02)
    return False
