"""Agent traces in OTLP JSON, in the console exporter's JSON and in Phoenix's flat form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.inputs.foreign import Imported, detect, load_foreign


def otlp_value(value: Any) -> dict[str, Any]:
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": value}


def otlp_span(
    span_id: str, parent: str, name: str, start: int, end: int, attributes: dict[str, Any], **more: Any
) -> dict[str, Any]:
    return {
        "traceId": "t1",
        "spanId": span_id,
        "parentSpanId": parent,
        "name": name,
        "startTimeUnixNano": str(10**18 + start * 10**6),
        "endTimeUnixNano": str(10**18 + end * 10**6),
        "attributes": [{"key": key, "value": otlp_value(value)} for key, value in attributes.items()],
        **more,
    }


def loaded(tmp_path: Path, data: Any, name: str = "trace.json") -> Imported:
    file = tmp_path / name
    file.write_text(json.dumps(data), encoding="utf-8")
    assert detect(file) == "traces"
    (found,) = load_foreign(file)
    return found


MESSAGES_IN = json.dumps(
    [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "content": "Hello"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "Hi"}]},
        {"role": "user", "parts": [{"type": "text", "content": "How long?"}]},
    ]
)
MESSAGES_OUT = json.dumps(
    [{"role": "assistant", "parts": [{"type": "text", "content": "Six semesters."}], "finish_reason": "stop"}]
)


def test_otlp_with_genai_messages_tools_and_retrieval(tmp_path: Path) -> None:
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.input.messages": MESSAGES_IN,
        "gen_ai.output.messages": MESSAGES_OUT,
    }
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "lookup",
        "gen_ai.tool.call.arguments": '{"id": 3}',
        "gen_ai.tool.call.result": "[1]",
    }
    documents = json.dumps(
        [{"id": "d1", "content": "Six semesters.", "score": 0.9}, {"id": "d2", "content": "Other"}]
    )
    retrieval = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": documents}
    spans = [
        otlp_span("b", "a", "chat m-1", 30, 90, chat),
        otlp_span(
            "a",
            "",
            "invoke_agent",
            0,
            100,
            {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "s-1"},
        ),
        otlp_span("c", "a", "execute_tool lookup", 10, 15, tool),
        otlp_span("d", "a", "retrieval", 15, 25, retrieval),
    ]
    found = loaded(tmp_path, {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    (case,), (output,) = found.cases, found.outputs
    assert (case.id, case.query, case.cluster) == ("t1", "How long?", "s-1")
    assert [message.content for message in case.conversation] == ["Hello", "Hi"]
    assert output.text == "Six semesters."
    assert [(hit.id, hit.score, hit.text) for hit in output.hits] == [
        ("d1", 0.9, "Six semesters."),
        ("d2", None, "Other"),
    ]
    assert [(call.name, call.args, call.result) for call in output.tool_calls] == [("lookup", {"id": 3}, [1])]
    assert output.usage is not None
    assert (
        output.usage.input_tokens,
        output.usage.output_tokens,
        output.usage.models,
        output.usage.cost_usd,
    ) == (100, 20, ("m-1",), None)
    assert output.latency_ms == pytest.approx(100)
    assert output.stages == {"agent": 100.0, "llm": 60.0, "tool": 5.0, "retriever": 10.0}
    assert output.asked_at.startswith("2001-09-09")


def test_openinference_spans_of_the_console_exporter_line_by_line(tmp_path: Path) -> None:
    def span(
        span_id: str, parent: str | None, kind: str, attributes: dict[str, Any], status: str = "UNSET"
    ) -> dict[str, Any]:
        return {
            "name": kind.lower(),
            "context": {"trace_id": "0xabc", "span_id": f"0x{span_id}"},
            "parent_id": f"0x{parent}" if parent else None,
            "start_time": f"2026-01-01T00:00:0{span_id}.000000Z",
            "end_time": f"2026-01-01T00:00:0{int(span_id) + 1}.000000Z",
            "status": {"status_code": status},
            "attributes": {"openinference.span.kind": kind, **attributes},
        }

    spans = [
        span(
            "1",
            None,
            "CHAIN",
            {
                "input.value": '{"query": "How long?"}',
                "input.mime_type": "application/json",
                "output.value": "Six semesters.",
            },
        ),
        span(
            "2",
            "1",
            "RETRIEVER",
            {
                "retrieval.documents.0.document.id": "d1",
                "retrieval.documents.0.document.content": "one",
                "retrieval.documents.1.document.content": "two",
            },
        ),
        span(
            "3",
            "1",
            "RERANKER",
            {
                "reranker.output_documents.0.document.content": "two",
                "reranker.output_documents.0.document.score": 0.7,
            },
        ),
        span(
            "4",
            "1",
            "LLM",
            {
                "llm.model_name": "m",
                "llm.token_count.prompt": 7,
                "llm.input_messages": [{"message": {"role": "user", "content": "ctx"}}],
            },
        ),
    ]
    file = tmp_path / "spans.jsonl"
    file.write_text("\n".join(json.dumps(each) for each in spans), encoding="utf-8")
    (found,) = load_foreign(file)
    (case,), (output,) = found.cases, found.outputs
    assert (case.query, output.text) == ("How long?", "Six semesters.")
    assert [(hit.text, hit.score) for hit in output.hits] == [("two", 0.7)]
    assert output.usage is not None
    assert output.usage.input_tokens == 7
    assert output.failure is None


def test_a_trace_that_ended_in_an_error_is_a_failure(tmp_path: Path) -> None:
    root = otlp_span(
        "a",
        "",
        "agent",
        0,
        10,
        {"input.value": "Q?", "openinference.span.kind": "AGENT"},
        status={"code": 2, "message": "429"},
    )
    found = loaded(tmp_path, [root])
    assert found.outputs[0].failure is not None
    assert (found.outputs[0].text, found.outputs[0].failure.message) == (None, "429")


def test_older_prompt_attributes_and_events(tmp_path: Path) -> None:
    older = otlp_span(
        "a",
        "",
        "chat",
        0,
        10,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "Q1?",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "A1",
        },
    )
    events = [
        {"name": "gen_ai.user.message", "attributes": [{"key": "content", "value": {"stringValue": "Q2?"}}]},
        {
            "name": "gen_ai.choice",
            "attributes": [{"key": "message", "value": {"stringValue": '{"content": "A2"}'}}],
        },
    ]
    newer = otlp_span("b", "", "chat", 0, 10, {"gen_ai.operation.name": "chat"}, events=events) | {
        "traceId": "t2"
    }
    found = loaded(tmp_path, [older, newer])
    assert [(case.query, output.text) for case, output in zip(found.cases, found.outputs, strict=True)] == [
        ("Q1?", "A1"),
        ("Q2?", "A2"),
    ]


def test_traces_without_contents_say_what_to_record(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text(
        json.dumps([otlp_span("a", "", "chat", 0, 1, {"gen_ai.operation.name": "chat"})]), encoding="utf-8"
    )
    with pytest.raises(InputError, match="record the contents"):
        load_foreign(file)
