"""Cache, budget and cost: what is recorded, what is refused, what is counted."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from core.errors import ConfigError
from core.llm.cache import FILE_NAME, ReplyCache, cache_key
from core.llm.client import LlmFailure, LlmMessage
from core.llm.door import Door
from core.llm.loopback import Behaviour, Exchange, LoopbackServer, error_reply, form_reply
from core.llm.usage import Budget, estimate, prices, tokens_of
from core.records import Usage
from tests.llm.asking import KEY, TOOL, ask, door, request
from tests.servers.messages_api import scripted


def counting() -> LoopbackServer:
    """Answers with the number of the request, so that two answers can be told apart."""
    return scripted(lambda server, x: form_reply(server, x, {"value": str(x.number)}))


CHANGES: dict[str, Any] = {
    "model": "claude-haiku-4-5",
    "system": "Answer otherwise.",
    "messages": (LlmMessage(role="user", text="Why?"),),
    "tool": TOOL.model_copy(update={"parameters": {**TOOL.parameters, "title": "changed"}}),
    "structured": "json_schema",
    "max_tokens": 77,
    "temperature": 0.3,
    "repeat": 1,
    "purpose": {"rubric": "other", "version": "2"},
    "cache_system": True,
}


def test_every_field_of_a_request_is_in_the_key() -> None:
    assert set(CHANGES) == set(type(request()).model_fields)
    keys = {cache_key("anthropic", "https://a", request(**{name: value})) for name, value in CHANGES.items()}
    keys |= {
        cache_key("anthropic", "https://a", request()),
        cache_key("openai", "https://a", request()),
        cache_key("anthropic", "https://b", request()),
    }
    assert len(keys) == len(CHANGES) + 3
    assert cache_key("anthropic", "https://a", request()) == cache_key("anthropic", "https://a", request())


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_second_run_asks_nothing(provider: str, tmp_path: Path) -> None:
    with counting() as server:
        first = ask(door(server, provider=provider, cache_dir=tmp_path))
        again = door(server, provider=provider, cache_dir=tmp_path)
        second = ask(again)
        assert server.counts.requests == 1
        assert server.counts.connections == 1
    assert (first[1], second[1]) == ("1", "1")
    assert (first[0].cached, second[0].cached) == (False, True)
    assert (again.usage.calls, again.usage.cached_calls, again.usage.cost_usd) == (0, 1, 0.0)


def test_modes(tmp_path: Path) -> None:
    with counting() as server:
        assert ask(door(server, cache_dir=tmp_path))[1] == "1"
        assert ask(door(server, cache_dir=tmp_path, mode="refresh"))[1] == "2"
        assert ask(door(server, cache_dir=tmp_path))[1] == "2"
        assert ask(door(server, cache_dir=tmp_path, mode="off"))[1] == "3"
        assert ask(door(server, cache_dir=tmp_path))[1] == "2"
        assert ask(door(server, cache_dir=None))[1] == "4"


def test_only_replays_and_never_connects(tmp_path: Path) -> None:
    with counting() as server:
        ask(door(server, cache_dir=tmp_path))
        seen = server.counts.connections
        replay = door(server, cache_dir=tmp_path, mode="only")
        assert ask(replay)[1] == "1"
        with pytest.raises(LlmFailure, match="judge-cache") as caught:
            ask(replay, request(repeat=5))
        assert caught.value.kind == "not_cached"
        assert server.counts.connections == seen


def test_only_works_in_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with counting() as server:
        opened = door(server, cache_dir=tmp_path)
        ask(opened)
        opened.close()
        os.chmod(tmp_path, 0o500)
        try:
            assert ask(door(server, cache_dir=tmp_path, mode="only"))[1] == "1"
        finally:
            os.chmod(tmp_path, 0o700)


def test_only_without_records_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="record them"):
        ReplyCache(tmp_path, "only")


@pytest.mark.parametrize(
    "fault",
    [
        error_reply(400, "bad"),
        Behaviour(b"half a re"),
        Behaviour(b'{"type": "message", "content": []}'),
        error_reply(529, "overloaded"),
    ],
    ids=["400", "half", "empty", "529"],
)
def test_failures_are_never_recorded(fault: Behaviour, tmp_path: Path) -> None:
    waiting = [fault] * 4
    server = scripted(lambda s, x: waiting.pop() if waiting else form_reply(s, x, {"value": "good"}))
    with server:
        with pytest.raises(LlmFailure):
            ask(door(server, cache_dir=tmp_path))
        waiting.clear()
        reply, value = ask(door(server, cache_dir=tmp_path))
    assert (value, reply.cached) == ("good", False)


def test_a_damaged_record_counts_as_missing(tmp_path: Path) -> None:
    with counting() as server:
        opened = door(server, cache_dir=tmp_path)
        ask(opened)
        opened.close()
        with sqlite3.connect(tmp_path / FILE_NAME) as database:
            database.execute("UPDATE replies SET reply = '{\"text\": 7'")
        assert ask(door(server, cache_dir=tmp_path))[1] == "2"


def test_the_cache_holds_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_JUDGE_KEY", KEY)
    with counting() as server:
        opened = door(server, cache_dir=tmp_path, key_env="A_JUDGE_KEY")
        ask(opened)
        opened.close()
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_threads_share_one_cache_and_stay_within_the_limit(tmp_path: Path) -> None:
    server = scripted(lambda s, x: form_reply(s, x, {"value": "yes"}, delay_s=0.02))
    with server:
        opened = door(server, cache_dir=tmp_path)
        with ThreadPoolExecutor(24) as pool:
            list(pool.map(lambda n: ask(opened, request(repeat=n)), range(60)))
        assert server.counts.most_in_flight <= 8
        assert server.counts.connections <= 8
        with ThreadPoolExecutor(24) as pool:
            again = list(pool.map(lambda n: ask(opened, request(repeat=n))[0].cached, range(60)))
    assert all(again)
    assert server.counts.requests == 60
    assert opened.usage.calls == 60


# --- cost --------------------------------------------------------------------------------------------------------


def test_cost_of_known_tokens() -> None:
    table = prices()
    used = Usage(input_tokens=1000, output_tokens=100, cache_read_tokens=2000, cache_write_tokens=400)
    # sonnet 4.6: 3 in, 15 out, 0.3 read, 3.75 written, dollars per million tokens
    assert table.cost("claude-sonnet-4-6", used) == pytest.approx((3000 + 1500 + 600 + 1500) / 1e6)
    assert table.cost("claude-haiku-4-5-20251001", Usage(input_tokens=1_000_000)) == pytest.approx(1.0)


def test_a_long_prompt_is_priced_as_one() -> None:
    table = prices()
    assert table.cost("claude-haiku-5-5", Usage(input_tokens=100_000)) == pytest.approx(0.01)
    assert table.cost("claude-haiku-5-5", Usage(input_tokens=100_001)) == pytest.approx(0.0500005)


def test_an_unknown_price_is_unknown() -> None:
    assert prices().cost("some-model", Usage(input_tokens=10)) is None
    assert (
        prices({"some-model": {"input": 1, "output": 2}}).cost("some-model", Usage(output_tokens=500_000))
        == 1.0
    )
    assert estimate(10, model="some-model", prompt_chars=100).cost_usd is None


def test_wrong_prices_are_refused_with_their_name() -> None:
    with pytest.raises(ConfigError, match=r"prices\.m"):
        prices({"m": {"input": -1, "output": 2}})
    with pytest.raises(ConfigError, match=r"prices\.m"):
        prices({"m": {"input": 1}})


def test_what_a_reply_took_is_counted_with_the_provider_s_cache() -> None:
    long = "A standing instruction that many questions share. " * 200
    with counting() as server:
        opened = door(server)
        first, _ = ask(opened, request(system=long, cache_system=True))
        second, _ = ask(opened, request(system=long, cache_system=True, repeat=1))
    assert first.usage.cache_write_tokens > 1000
    assert first.usage.cache_read_tokens == 0
    assert second.usage.cache_read_tokens == first.usage.cache_write_tokens
    assert (second.usage.cost_usd or 1) < (first.usage.cost_usd or 0)
    assert opened.usage.cost_usd == pytest.approx((first.usage.cost_usd or 0) + (second.usage.cost_usd or 0))


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"input_tokens": "many", "output_tokens": 1}, {"input_tokens": -3, "output_tokens": 1}, [1]],
)
def test_unreadable_usage_makes_the_cost_unknown_and_not_zero(usage: Any) -> None:
    import json

    def script(server: LoopbackServer, x: Exchange) -> Behaviour:
        body = json.loads(form_reply(server, x, {"value": "yes"}).body)
        body["usage"] = usage
        return Behaviour(json.dumps(body).encode())

    with scripted(script) as server:
        reply, value = ask(door(server))
    assert (value, reply.usage.cost_usd) == ("yes", None)


def _outcome(opened: Door, number: int) -> str:
    """What was answered, or the kind of the failure."""
    try:
        return str(ask(opened, request(repeat=number))[1])
    except LlmFailure as failure:
        return failure.kind


def test_a_budget_refuses_the_call_that_might_exceed_it() -> None:
    most = prices().at_most(request())
    assert most is not None
    budget = Budget(most * 1.5)
    with counting() as server:
        opened = door(server, budget=budget)
        ask(opened)
        spent = budget.spent_usd
        assert 0 < spent < most
        outcomes = [_outcome(opened, number) for number in range(1, 200)]
        assert set(outcomes) - {"budget"} == {str(number) for number in range(2, 1 + server.counts.requests)}
        assert outcomes.count("budget") == 200 - server.counts.requests > 0
    assert budget.spent_usd <= budget.max_usd


def test_a_budget_holds_under_threads() -> None:
    most = prices().at_most(request()) or 0.0
    budget = Budget(most * 3)
    server = scripted(lambda s, x: form_reply(s, x, {"value": "yes"}, delay_s=0.05))

    with server:
        opened = door(server, budget=budget)
        with ThreadPoolExecutor(16) as pool:
            outcomes = list(pool.map(lambda number: _outcome(opened, number), range(16)))
        assert server.counts.most_in_flight <= 3
    assert "budget" in outcomes
    assert budget.spent_usd <= budget.max_usd


def test_a_budget_needs_a_price() -> None:
    with counting() as server, pytest.raises(LlmFailure, match="unknown"):
        ask(door(server, budget=Budget(1.0)), request(model="some-model"))
    assert server.counts.requests == 0


def test_refused_calls_cost_nothing() -> None:
    budget = Budget(1.0)
    with scripted(lambda s, x: error_reply(400, "bad")) as server, pytest.raises(LlmFailure):
        ask(door(server, budget=budget))
    assert budget.spent_usd == 0.0


def test_tokens_are_estimated_upwards() -> None:
    assert tokens_of("") == 0
    assert tokens_of("word " * 300) >= 300
    assert tokens_of("试验" * 100) >= 170


# --- what is sent ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
@pytest.mark.parametrize("structured", ["tool", "json_schema"])
def test_the_form_is_enforced(provider: str, structured: str) -> None:
    with counting() as server:
        assert ask(door(server, provider=provider), request(structured=structured))[1] == "1"
    tool = server.exchanges[0].tool
    assert tool is not None
    assert tool["schema"] == TOOL.parameters
    assert tool["forced"] == (structured == "tool")


def test_temperature_is_sent_only_when_set() -> None:
    with counting() as server:
        opened = door(server)
        ask(opened)
        ask(opened, request(temperature=0.0))
    assert "temperature" not in server.exchanges[0].body
    assert server.exchanges[1].body["temperature"] == 0.0


def test_neighbours_of_one_role_form_one_turn() -> None:
    pieces = (LlmMessage(role="user", text="one", cache=True), LlmMessage(role="user", text="two"))
    with counting() as server:
        ask(door(server), request(messages=pieces))
        ask(door(server, provider="openai"), request(messages=pieces))
    turns = server.exchanges[0].body["messages"]
    assert len(turns) == 1
    assert [bool(block.get("cache_control")) for block in turns[0]["content"]] == [True, False]
    assert server.exchanges[1].body["messages"][-1]["content"] == "one\n\ntwo"
