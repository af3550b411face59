"""Rerankers and query writers that ask a language model, against a local server."""

from __future__ import annotations

import re
from typing import Any

import pytest

from core.llm.loopback import Behaviour, Exchange, LoopbackServer, error_reply, form_reply
from core.records import Hit
from core.systems.code_rerank import LlmQueryWriter, LlmReranker
from tests.llm.asking import QUICK, door

MODEL = "claude-sonnet-4-6"
HITS = [
    Hit(id="45000000", rank=1, score=9.0, title="Construction work"),
    Hit(id="09310000", rank=2, score=8.0, title="Electricity"),
    Hit(id="33100000", rank=3, score=7.0, title="Medical equipments"),
]


def _server(form: Any) -> LoopbackServer:
    def script(exchange: Exchange) -> Behaviour:
        if form is None:
            return error_reply(400, "no")
        return form_reply(server, exchange, form)

    server = LoopbackServer(script)
    return server


@pytest.mark.parametrize(
    ("codes", "order"),
    [
        (["09310000", "45000000", "33100000"], ["09310000", "45000000", "33100000"]),
        (["09310000"], ["09310000", "45000000", "33100000"]),
        (["99999999", "33100000", "33100000"], ["33100000", "45000000", "09310000"]),
    ],
)
def test_the_models_order_with_full_weight(codes: list[str], order: list[str]) -> None:
    with _server({"codes": codes}) as server:
        reranker = LlmReranker(door(server), MODEL, weight=1.0)
        hits, said = reranker.rerank("Power for schools", HITS)
        prompt = server.exchanges[0].prompt
        reranker.close()
    assert [hit.id for hit in hits] == order
    assert [hit.rank for hit in hits] == [1, 2, 3]
    assert said["llm_rerank_status"] == "success"
    assert re.search(r"<text>\nPower for schools\n</text>", prompt)
    assert "09310000: Electricity" in prompt


@pytest.mark.parametrize("form", [{"codes": []}, {"codes": ["99999999"]}, {"codes": "09310000"}, {}, None])
def test_an_unusable_reply_leaves_the_order_and_says_so(form: Any) -> None:
    with _server(form) as server:
        reranker = LlmReranker(door(server, limits=QUICK), MODEL, weight=1.0)
        hits, said = reranker.rerank("Power", HITS)
        reranker.close()
    assert hits == HITS
    assert said["llm_rerank_status"].startswith("error")


def test_no_weight_changes_nothing_and_one_hit_asks_nobody() -> None:
    with _server({"codes": ["33100000"]}) as server:
        reranker = LlmReranker(door(server), MODEL, weight=0.0)
        hits, _ = reranker.rerank("Power", HITS)
        assert [hit.id for hit in hits] == [hit.id for hit in HITS]
        _, said = reranker.rerank("Power", HITS[:1])
        assert said == {"llm_rerank_status": "skipped"}
        assert len(server.exchanges) == 1
        reranker.close()


def test_a_query_is_translated_or_stays() -> None:
    with _server({"text": " Electricity for schools "}) as server:
        writer = LlmQueryWriter(door(server), MODEL)
        text, status, usage = writer.write("Strom für Schulen", "translate_en")
        writer.close()
    assert (text, status) == ("Electricity for schools", "success")
    assert usage is not None
    assert usage.calls == 1
    with _server({"text": "  "}) as server:
        writer = LlmQueryWriter(door(server), MODEL)
        text, status, _ = writer.write("Strom für Schulen", "translate_en")
        writer.close()
    assert text == "Strom für Schulen"
    assert status == "error: malformed"
