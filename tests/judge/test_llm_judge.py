"""What a judge makes of well-formed replies: scores, evidence, repair, votes, cache, empty material."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.errors import ConfigError, JudgeFailure, UnknownNameError
from core.judge import create_judge, missing_key
from core.judge.votes import flip_rate_of, straddles
from core.llm.loopback import Behaviour
from tests.judge.judging import CONTEXT, PROVIDERS, SUPPORTED, UNSUPPORTED, answer, claim, judge, saying
from tests.servers.messages_api import RuleServer


@pytest.mark.parametrize("provider", PROVIDERS)
def test_real_material_is_scored(provider: str) -> None:
    with RuleServer() as server:
        used = judge(server, provider)
        held = used.judge("claim_support", claim())
        wrong = used.judge("claim_support", claim("The exam lasts 120 minutes"))
        mixed = used.judge("faithfulness", answer("The exam lasts 90 minutes. Ten credits are awarded."))
    assert (held.label, held.score, held.quote_verified) == ("supported", 1.0, True)
    assert (wrong.label, wrong.score) == ("not_enough_info", 0.0)
    assert (mixed.label, mixed.score) == ("1/2", 0.5)
    assert [each.label for each in mixed.statements] == ["supported", "unsupported"]
    assert held.provider == provider
    assert held.usage is not None
    assert held.usage.calls == 1
    assert (held.usage.cost_usd or 0) > 0
    assert held.raw_text
    assert held.subject == "a claim"


@pytest.mark.parametrize(
    "quote",
    [
        "The exam lasts 9O minutes and is oral, as everyone knows.",
        "",
        "supported",
        "Six credits are given away for free.",
    ],
)
def test_support_without_evidence_is_unverified_and_has_no_score(quote: str) -> None:
    with saying({**SUPPORTED, "evidence_quote": quote}) as server:
        judgement = judge(server).judge("claim_support", claim())
    assert (judgement.label, judgement.score, judgement.quote_verified) == ("unverified", None, False)
    assert judgement.flags == ("unverified",)


def statements(*decisions: tuple[str, str]) -> dict[str, Any]:
    return {
        "statements": [
            {"statement": number, "evidence_quote": quote, "reasoning": "", "label": label}
            for number, (label, quote) in enumerate(decisions, 1)
        ]
    }


GOOD, BAD, MADE_UP = (
    ("supported", "A dictionary may be used."),
    ("unsupported", ""),
    ("supported", "Pigs fly on Fridays."),
)
UNCLEAR, GREETING = ("cannot_tell", ""), ("no_claim", "")


@pytest.mark.parametrize(
    ("decisions", "label", "score"),
    [
        ([GOOD, GOOD, BAD], "2/3", 2 / 3),
        ([GOOD, GREETING, GREETING], "1/1", 1.0),
        ([GREETING, GREETING, GREETING], "no_claim", None),
        ([GOOD, UNCLEAR, UNCLEAR], "cannot_tell", None),
        ([GOOD, BAD, UNCLEAR], "1/2", 0.5),
        ([GOOD, MADE_UP, MADE_UP], "1/3", 1 / 3),
        ([MADE_UP, MADE_UP, GREETING], "unverified", None),
        ([("partly_supported", "Six credits are awarded."), GOOD, GOOD], "2/3", 2.5 / 3),
    ],
)
def test_how_statements_add_up(decisions: list[tuple[str, str]], label: str, score: float | None) -> None:
    with saying(statements(*decisions)) as server:
        judgement = judge(server).judge("faithfulness", answer("One thing. Another thing. A third thing."))
    assert judgement.label == label
    assert judgement.score == (None if score is None else pytest.approx(score))
    assert len(judgement.statements) == 3


@pytest.mark.parametrize("provider", PROVIDERS)
def test_one_repair_round(provider: str, tmp_path: Path) -> None:
    with saying({"label": "nein"}, SUPPORTED) as server:
        judgement = judge(server, provider, cache_dir=tmp_path).judge("claim_support", claim())
        assert server.counts.requests == 2
        assert "evidence_quote, reasoning missing" in server.exchanges[1].prompt
        replayed = judge(server, provider, cache_dir=tmp_path, cache="only").judge("claim_support", claim())
    assert (judgement.score, judgement.flags) == (1.0, ("repaired",))
    assert (replayed.score, replayed.flags, replayed.cached) == (1.0, ("repaired",), True)


def test_what_was_said_is_kept_from_both_rounds() -> None:
    with saying({"label": "nein"}, {"label": "vielleicht"}) as server, pytest.raises(JudgeFailure) as caught:
        judge(server).judge("claim_support", claim())
    assert "nein" in caught.value.raw_text
    assert "vielleicht" in caught.value.raw_text
    assert caught.value.kind == "malformed"


def test_a_cut_off_reply_gets_more_room() -> None:
    import json

    def cut(server: Any, exchange: Any) -> Behaviour:
        from core.llm.loopback import form_reply

        body = json.loads(form_reply(server, exchange, SUPPORTED).body)
        if exchange.body["max_tokens"] < 200:
            body["stop_reason"] = "max_tokens"
        return Behaviour(json.dumps(body).encode())

    from tests.servers.messages_api import scripted

    with scripted(cut) as server:
        judgement = judge(server, max_tokens=150).judge("claim_support", claim())
    assert [exchange.body["max_tokens"] for exchange in server.exchanges] == [150, 300]
    assert judgement.score == 1.0


def test_transport_faults_are_counted_and_named() -> None:
    from core.llm.loopback import error_reply

    with saying(error_reply(529, "overloaded", retry_after_ms="10"), SUPPORTED) as server:
        assert judge(server).judge("claim_support", claim()).retries == 1
    with (
        saying(error_reply(529, "overloaded", retry_after_ms="10")) as server,
        pytest.raises(JudgeFailure) as caught,
    ):
        judge(server, retries=2).judge("claim_support", claim())
    assert (caught.value.kind, caught.value.retries, server.counts.requests) == ("rate_limit", 2, 3)


@pytest.mark.parametrize("empty", ["", " ", "\n\t", "\u200b\u200b", "\u00a0"])
@pytest.mark.parametrize("part", ["context", "question", "answer"])
def test_nothing_to_judge_is_not_asked_about(part: str, empty: str) -> None:
    with RuleServer() as server:
        material = answer("The exam lasts 90 minutes.")
        judgement = judge(server).judge("faithfulness", type(material)({**material.parts, part: empty}))
        assert server.counts.requests == 0
    assert (judgement.label, judgement.score) == ("not_applicable", None)
    assert part in judgement.reasoning


def test_missing_material_and_unknown_rubrics_are_configuration_errors() -> None:
    with RuleServer() as server:
        used = judge(server)
        with pytest.raises(ConfigError, match="claim"):
            used.judge("claim_support", type(claim())({"context": "a"}))
        with pytest.raises(UnknownNameError, match="faithfulness"):
            used.judge("faithfulnes", claim())


def test_material_that_was_not_asked_for_is_not_shown() -> None:
    with RuleServer() as server:
        material = answer("The exam lasts 90 minutes.")
        judge(server).judge("faithfulness", type(material)({**material.parts, "gold": "SECRET GOLD"}))
    assert "SECRET GOLD" not in str(server.exchanges[0].body)


# --- votes -------------------------------------------------------------------------------------------------------


def test_votes_are_asked_apart_and_the_median_counts(tmp_path: Path) -> None:
    with saying(SUPPORTED, UNSUPPORTED, SUPPORTED) as server:
        judgement = judge(server, samples=3, cache_dir=tmp_path).judge("claim_support", claim())
        again = judge(server, samples=3, cache_dir=tmp_path).judge("claim_support", claim())
        assert server.counts.requests == 3
    assert (judgement.label, judgement.score, judgement.votes) == ("supported", 1.0, (1.0, 0.0, 1.0))
    assert flip_rate_of([judgement]) == 0.0
    assert straddles(judgement, 0.85)
    assert "votes_differ" in judgement.flags
    assert judgement.usage is not None
    assert judgement.usage.calls == 3
    assert (again.votes, again.cached) == (judgement.votes, True)


def test_a_vote_without_a_reply_is_no_vote_for_the_others() -> None:
    with saying(SUPPORTED, {"label": "?"}) as server, pytest.raises(JudgeFailure):
        judge(server, samples=3).judge("claim_support", claim())


def test_asking_afresh_is_not_answered_from_the_cache(tmp_path: Path) -> None:
    with saying(SUPPORTED, UNSUPPORTED) as server:
        used = judge(server, cache_dir=tmp_path)
        assert used.judge("claim_support", claim()).score == 1.0
        assert used.judge("claim_support", claim(), repeat=1).score == 0.0  # type: ignore[call-arg]
        assert used.judge("claim_support", claim()).score == 1.0


# --- identity ----------------------------------------------------------------------------------------------------


def test_the_fingerprint_knows_what_decides() -> None:
    with RuleServer() as server:
        base = judge(server).fingerprint("relevance")
        others = [
            judge(server).fingerprint("refusal"),
            judge(server, model="claude-haiku-4-5").fingerprint("relevance"),
            judge(server, temperature=0.7).fingerprint("relevance"),
            judge(server, samples=3).fingerprint("relevance"),
            judge(server, "openai").fingerprint("relevance"),
            judge(server, structured="json_schema").fingerprint("relevance"),
        ]
        assert base == judge(server, timeout_s=3, max_concurrency=9, cache="off").fingerprint("relevance")
    assert len({base, *others}) == 7


def test_an_edited_rubric_is_another_rubric(tmp_path: Path) -> None:
    import shutil

    from core.judge.rubrics import SHIPPED

    folder = tmp_path / "mine"
    shutil.copytree(SHIPPED, folder)
    file = folder / "relevance.yaml"
    file.write_text(
        file.read_text(encoding="utf-8").replace("another topic", "some other topic"), encoding="utf-8"
    )
    with RuleServer() as server:
        shipped, mine = judge(server), judge(server, rubrics=str(folder))
        assert shipped.fingerprint("relevance") != mine.fingerprint("relevance")
        assert shipped.fingerprint("refusal") == mine.fingerprint("refusal")


def test_models_that_take_no_forced_call_get_a_schema() -> None:
    with RuleServer() as server:
        judge(server, model="claude-sonnet-5-5").judge("claim_support", claim())
        judge(server, model="claude-sonnet-4-6").judge("claim_support", claim())
    new, old = (exchange.body for exchange in server.exchanges)
    assert "tools" not in new
    assert new["output_config"]["format"]["type"] == "json_schema"
    assert "temperature" not in new
    assert old["tool_choice"]["type"] == "tool"
    assert old["temperature"] == 0.0


def test_long_shared_context_is_kept_in_the_provider_s_cache() -> None:
    long = " ".join(f"Sentence number {n} is about subject {n}." for n in range(400))
    with RuleServer() as server:
        used = judge(server)
        first = used.judge("claim_support", claim("Sentence number 7 is about subject 7.", long))
        second = used.judge("claim_support", claim("Sentence number 8 is about subject 8.", long))
        short = used.judge("claim_support", claim())
    assert first.usage is not None
    assert second.usage is not None
    assert short.usage is not None
    assert second.usage.cache_read_tokens == first.usage.cache_write_tokens > 2000
    assert short.usage.cache_write_tokens == 0
    assert (first.score, second.score) == (1.0, 1.0)


# --- building ----------------------------------------------------------------------------------------------------


def test_a_missing_key_is_named_and_replay_needs_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert missing_key({"provider": "anthropic"}) == "ANTHROPIC_API_KEY"
    assert missing_key({"provider": "openai", "api_key_env": "MY_KEY"}) == "MY_KEY"
    assert missing_key({"provider": "local"}) is None
    assert missing_key({"provider": "anthropic", "cache": "only"}) is None
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        create_judge({"provider": "anthropic"}, cache_dir=None)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "placeholder")
    assert missing_key({"provider": "anthropic"}) is None


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"provider": "antropic"}, "did you mean 'anthropic'"),
        ({"provider": "anthropic", "modle": "x"}, "did you mean 'model'"),
        ({"provider": "anthropic", "samples": 0}, "samples"),
        ({"provider": "anthropic", "cache": "always"}, "cache"),
        ({"provider": "anthropic", "api_key_env": "", "prices": {"m": {"input": -1}}}, "prices.m"),
        ({"provider": "anthropic", "api_key_env": "", "rubrics": "/no/such/folder"}, "no such folder"),
        ({"provider": 7}, "must be a name"),
    ],
)
def test_wrong_settings_are_explained(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        create_judge(spec, cache_dir=None)


def test_keys_of_the_replaced_tool_are_accepted() -> None:
    used = create_judge({"provider": "local", "fixtures_path": "x.json", "sample_size": 3}, cache_dir=None)
    assert used.provider == "local"


def test_odd_text_comes_back_as_it_was() -> None:
    odd = 'Das „Modul“ kostet $5 — 日本語, עברית, 😀 C:\\new <b>"x"</b> \\'
    with saying({**SUPPORTED, "evidence_quote": odd, "reasoning": odd}) as server:
        judgement = judge(server).judge("claim_support", claim("x", context=f"{CONTEXT} {odd}"))
    assert (judgement.evidence_quote, judgement.reasoning, judgement.quote_verified) == (odd, odd, True)
