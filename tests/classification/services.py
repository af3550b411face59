"""A classifier service and a notice search on the loopback, for tests: real HTTP, scripted behaviour."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What the service does with a request: `status` and `body` after `delay_s`; `hang_s` keeps it silent."""

    body: Any = None
    status: int = 200
    delay_s: float = 0.0
    hang_s: float = 0.0
    raw: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


Script = Callable[[int, dict[str, Any], Mapping[str, str]], Answer]


class Service:
    """A context manager. `script(number, body, headers)` decides the answer; `requests` keeps what came."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.connections = 0
        self.most_in_flight = 0
        self._in_flight = 0
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                with owner._lock:
                    owner.connections += 1

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with owner._lock:
                    owner.requests.append(body)
                    number = len(owner.requests)
                    owner._in_flight += 1
                    owner.most_in_flight = max(owner.most_in_flight, owner._in_flight)
                try:
                    self._answer(owner.script(number, body, dict(self.headers.items())))
                finally:
                    with owner._lock:
                        owner._in_flight -= 1

            def _answer(self, answer: Answer) -> None:
                time.sleep(answer.delay_s)
                if answer.hang_s:
                    owner._stopping.wait(answer.hang_s)
                    self.close_connection = True
                    return
                content = answer.raw if answer.raw is not None else json.dumps(answer.body).encode()
                try:
                    self.send_response(answer.status)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(content)))
                    for name, value in answer.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
                """Silent."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/classify"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Service:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
