"""Clients for many calls at once: connections are reused, never shared by two calls, and freed by failures."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.llm.connections import client_for_many
from tests.audit.auditing import HttpAgent


def test_as_many_connections_as_calls_in_flight_and_each_is_used_again() -> None:
    together = threading.Barrier(8)
    peers: set[str] = set()

    def answer(body: dict[str, Any], headers: dict[str, str], number: int) -> dict[str, Any]:
        if body["wait"]:
            together.wait(30)
        return {"text": body["text"]}

    with HttpAgent(answer) as agent, client_for_many(timeout=30) as client, ThreadPoolExecutor(8) as pool:

        def ask(number: int) -> str:
            with client.stream("POST", agent.url, json={"text": str(number), "wait": number < 8}) as response:
                peers.add(str(response.extensions["network_stream"].get_extra_info("client_addr")))
                return str(httpx.Response(200, content=response.read()).json()["text"])

        assert list(pool.map(ask, range(200))) == [str(number) for number in range(200)]
    assert len(peers) == 8


def test_a_connection_that_failed_or_timed_out_is_replaced() -> None:
    def answer(body: dict[str, Any], headers: dict[str, str], number: int) -> Any:
        return {1: "reset", 2: "hang"}.get(number, {"text": "fine"})

    with HttpAgent(answer) as agent, client_for_many(timeout=0.3) as client:
        with pytest.raises(httpx.TransportError):
            client.post(agent.url, json={})
        with pytest.raises(httpx.TimeoutException):
            client.post(agent.url, json={})
        for _ in range(3):
            assert client.post(agent.url, json={}).json() == {"text": "fine"}


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def answer(body: dict[str, Any], headers: dict[str, str], number: int) -> dict[str, Any]:
        seen.append(headers["host"])
        return {"text": "through the proxy"}

    with HttpAgent(answer) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        with client_for_many(timeout=10) as client:
            assert client.post("http://agent.invalid/ask", json={}).json() == {"text": "through the proxy"}
    assert seen == ["agent.invalid"]


def test_an_encrypted_connection_verifies_its_certificate(tmp_path: Path) -> None:
    """A certificate that nobody vouches for is refused, also after calls without encryption."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    made = tmp_path / "own.pem"
    order = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost"
    subprocess.run(
        ["openssl", *order.split(), "-keyout", made, "-out", tmp_path / "certificate.pem"],
        check=True,
        capture_output=True,
    )
    made.write_bytes(made.read_bytes() + (tmp_path / "certificate.pem").read_bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made)
    with HttpAgent(lambda *asked: {"text": "fine"}) as agent, client_for_many(timeout=10) as client:
        assert client.post(agent.url, json={}).json() == {"text": "fine"}
        agent.server.socket = context.wrap_socket(agent.server.socket, server_side=True)
        with pytest.raises(httpx.ConnectError, match=r"(?i)certificate"):
            client.post(agent.url.replace("http://", "https://"), json={})
