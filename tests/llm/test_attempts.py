"""Retries, back-off and bounds, through the real SDK and httpx against a local server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.llm.attempts import CallLimits, is_retried, retry_after_seconds
from core.llm.client import LlmFailure
from core.llm.loopback import Behaviour, LoopbackServer, error_reply, form_reply
from tests.llm.asking import KEY, QUICK, ask, door, request
from tests.servers.messages_api import scripted

PROVIDERS = ["anthropic", "openai"]


def after(*first: Behaviour) -> LoopbackServer:
    """A server that behaves like `first`, then answers."""
    waiting = list(first)
    return scripted(lambda server, x: waiting.pop(0) if waiting else form_reply(server, x, {"value": "yes"}))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "first",
    [
        error_reply(429, "slow down", retry_after="0.05"),
        error_reply(529, "overloaded"),
        error_reply(500, "oops"),
        error_reply(503, "unavailable"),
        error_reply(408, "too slow"),
        Behaviour(kind="reset"),
    ],
    ids=["429", "529", "500", "503", "408", "reset"],
)
def test_passing_faults_are_retried_and_counted(provider: str, first: Behaviour) -> None:
    with after(first, first) as server:
        reply, value = ask(door(server, provider=provider))
    assert (value, reply.retries, server.counts.requests) == ("yes", 2, 3)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_lasting_faults_are_not_retried(provider: str, status: int) -> None:
    with after(*[error_reply(status, "no")] * 5) as server, pytest.raises(LlmFailure) as caught:
        ask(door(server, provider=provider))
    assert server.counts.requests == 1
    assert caught.value.kind == "http_status"
    assert str(status) in caught.value.message
    assert "no" in caught.value.raw_text


def test_the_provider_may_forbid_a_retry() -> None:
    with after(error_reply(500, "no use", x_should_retry="false")) as server, pytest.raises(LlmFailure):
        ask(door(server))
    assert server.counts.requests == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_retries_end(provider: str) -> None:
    with after(*[error_reply(529, "overloaded")] * 9) as server, pytest.raises(LlmFailure) as caught:
        ask(door(server, provider=provider))
    assert server.counts.requests == 1 + QUICK.retries
    assert (caught.value.kind, caught.value.retries) == ("rate_limit", QUICK.retries)


@pytest.mark.parametrize("header", [{"retry_after": "0.4"}, {"retry_after_ms": "400"}])
def test_retry_after_is_honoured_in_full(header: dict[str, str]) -> None:
    times: list[float] = []
    waiting = [error_reply(429, "slow down", **header)]

    def script(server: LoopbackServer, x: object) -> Behaviour:
        times.append(time.monotonic())
        return waiting.pop() if waiting else form_reply(server, x, {"value": "yes"})  # type: ignore[arg-type]

    with scripted(script) as server:
        ask(door(server))
    assert times[1] - times[0] >= 0.4


def test_a_rate_limit_met_by_one_call_makes_the_others_wait() -> None:
    with after(error_reply(429, "slow down", retry_after="0.4")) as server:
        opened = door(server)
        ask(opened)
        first = time.monotonic()
        opened._attempts.pause(0.3)
        ask(opened, request(repeat=1))
        assert time.monotonic() - first >= 0.3


def test_a_wait_longer_than_the_deadline_is_not_begun() -> None:
    begun = time.monotonic()
    with (
        after(error_reply(429, "tomorrow", retry_after="3600")) as server,
        pytest.raises(LlmFailure) as caught,
    ):
        ask(door(server))
    assert caught.value.kind == "rate_limit"
    assert server.counts.requests == 1
    assert time.monotonic() - begun < QUICK.deadline


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_a_server_that_never_finishes_is_given_up(provider: str, kind: str) -> None:
    """A dripping server sends a byte before every read time-out: only a bound on the whole wait ends it."""
    limits = CallLimits(timeout_s=0.4, deadline_s=1.0, retries=5, backoff_s=0.01)
    never = Behaviour(kind=kind, delay_s=0.05)  # type: ignore[arg-type]
    with scripted(lambda server, x: never) as server:
        opened = door(server, provider=provider, limits=limits)
        opened._transport.prepare()  # type: ignore[union-attr]
        begun = time.monotonic()
        with pytest.raises(LlmFailure) as caught:
            ask(opened)
    assert caught.value.kind == "timeout"
    assert re.fullmatch(r"no answer in \d attempts within [\d.]+ s", str(caught.value))
    assert 0.4 <= time.monotonic() - begun < 5
    assert server.counts.requests >= 2


def test_a_dead_provider_does_not_cost_every_call_its_deadline() -> None:
    limits = CallLimits(timeout_s=2, retries=0, breaker_after=3, breaker_s=60)
    with scripted(lambda server, x: error_reply(500, "down")) as server:
        opened = door(server, limits=limits)
        failures = []
        for number in range(6):
            with pytest.raises(LlmFailure) as caught:
                ask(opened, request(repeat=number))
            failures.append(caught.value)
    assert server.counts.requests == 3
    assert "not asked" in failures[-1].message
    assert failures[-1].kind == "transport"


def test_refused_requests_do_not_count_as_an_outage() -> None:
    limits = CallLimits(timeout_s=2, retries=0, breaker_after=2)
    with scripted(lambda server, x: error_reply(400, "bad")) as server:
        opened = door(server, limits=limits)
        for number in range(5):
            with pytest.raises(LlmFailure):
                ask(opened, request(repeat=number))
    assert server.counts.requests == 5


def test_connection_refused_is_a_transport_failure() -> None:
    with LoopbackServer(lambda x: Behaviour()) as gone:
        pass
    with pytest.raises(LlmFailure) as caught:
        ask(door(gone, limits=CallLimits(timeout_s=2, retries=1, backoff_s=0.01)))
    assert (caught.value.kind, caught.value.retries) == ("transport", 1)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_key_is_sent_but_never_shown(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_JUDGE_KEY", KEY)
    server = LoopbackServer(lambda x: form_reply(server, x, {"value": "yes"}), key=KEY)
    with server:
        _, value = ask(door(server, provider=provider, key_env="A_JUDGE_KEY"))
        assert value == "yes"
        server.key = "another"
        with pytest.raises(LlmFailure) as caught:
            ask(door(server, provider=provider, key_env="A_JUDGE_KEY"))
    assert "[key]" in caught.value.raw_text
    assert KEY not in caught.value.raw_text + caught.value.message


def test_a_missing_key_is_named() -> None:
    with LoopbackServer(lambda x: Behaviour()) as server, pytest.raises(LlmFailure, match="NO_SUCH_KEY_HERE"):
        ask(door(server, key_env="NO_SUCH_KEY_HERE"))
    assert server.counts.requests == 0


def test_the_process_ends_though_the_judge_never_answers(tmp_path: Path) -> None:
    script = tmp_path / "ask.py"
    script.write_text(
        "from core.contracts import Material\n"
        "from core.errors import JudgeFailure\n"
        "from core.judge import create_judge\n"
        "from core.llm.loopback import Behaviour, LoopbackServer\n"
        "with LoopbackServer(lambda x: Behaviour(kind='hang')) as server:\n"
        "    judge = create_judge({'base_url': server.url, 'api_key_env': '', 'timeout_s': 0.5}, cache_dir=None)\n"
        "    try:\n"
        "        judge.judge('claim_support', Material({'context': 'a b c', 'claim': 'a b c'}))\n"
        "    except JudgeFailure as failure:\n"
        "        print(failure.kind)\n"
        "    server.stopping.clear()\n",
        encoding="utf-8",
    )
    root = Path(__file__).resolve().parents[2]
    ended = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert (ended.returncode, ended.stdout.strip()) == (0, "timeout"), ended.stderr


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "999999999"}, None),
        ({}, None),
    ],
)
def test_retry_after_header(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers) == seconds


def test_retry_after_date_lies_ahead() -> None:
    ahead = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 60))
    assert 50 < (retry_after_seconds({"retry-after": ahead}) or 0) <= 60


def test_which_statuses_are_retried() -> None:
    assert [status for status in (200, 400, 401, 404, 408, 409, 422, 429, 500, 502, 529) if is_retried(status, {})] == [
        408, 409, 429, 500, 502, 529,
    ]  # fmt: skip
