"""Agent traces with OpenTelemetry GenAI or OpenInference attributes → ready outputs, one case a trace."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem
from core.inputs.foreign.imported import (
    KIND,
    Imported,
    digest_of,
    first_of,
    hits_of,
    raise_problems,
    read_json,
    read_json_lines,
    text_of,
)
from core.inputs.foreign.spans import Span, Unread, decoded, looks_like_span, spans_of
from core.records import Case, Failure, Hit, Message, Output, ToolCall, Usage

_DOCUMENT = re.compile(
    r"^(?:retrieval|reranker)\.(?:documents|output_documents)\.(\d+)\.document\.(content|id|score)$"
)
_MESSAGE = re.compile(
    r"^(llm\.(?:input|output)_messages|gen_ai\.(?:prompt|completion))\.(\d+)\.(?:message\.)?(role|content)$"
)
_QUESTION_KEYS = ("query", "question", "input", "user_input", "prompt", "message")
_ANSWER_KEYS = ("answer", "output", "response", "result", "text", "content", "completion")


def sniff(path: Path) -> bool:
    if path.suffix not in (".json", ".jsonl", ".ndjson") or not path.is_file():
        return False
    data = _read(path)
    entry = data[0] if isinstance(data, list) and data else data
    if isinstance(entry, dict) and isinstance(entry.get("spans"), list) and entry["spans"]:
        entry = entry["spans"][0]
    return isinstance(entry, dict) and (
        "resourceSpans" in entry or "resource_spans" in entry or looks_like_span(entry)
    )


def load(path: Path, mapping: Mapping[str, Any]) -> list[Imported]:
    """The question is the root's input or the last user message of the first model call, the answer the root's
    output or the last model reply; retrieved documents, tool calls, tokens and the time come along. There is no
    gold: give the cases one by joining them to a suite, or judge them without."""
    unread = Unread()
    traces: dict[str, list[Span]] = {}
    for span in spans_of(_read(path), unread):
        traces.setdefault(span.trace_id, []).append(span)
    raise_problems(path, [Problem(f"[{index}]", why) for index, why in unread.problems])
    if not traces:
        raise InputError(f"{path}: holds no spans")
    cases: list[Case] = []
    outputs: list[Output] = []
    skipped = 0
    for trace_id, spans in traces.items():
        spans.sort(key=lambda span: (span.start, span.span_id))
        case = _case(trace_id, spans, len(cases))
        if case is None:
            skipped += 1
            continue
        cases.append(case)
        outputs.append(_output(trace_id, spans))
    notices = [f"{skipped} traces hold no question and were left out"] if skipped else []
    if not cases:
        hint = "record the contents of messages (gen_ai.input.messages or input.value)"
        raise InputError(
            f"{path}: no trace holds a question", [Problem("traces", f"{skipped} read", hint=hint)]
        )
    return [
        Imported(
            path.stem,
            KIND,
            path.stem,
            tuple(cases),
            tuple(outputs),
            notices=tuple(notices),
            digest=digest_of([path]),
        )
    ]


def _read(path: Path) -> Any:
    return read_json_lines(path) if path.suffix in (".jsonl", ".ndjson") else read_json(path)


def _root(spans: Sequence[Span]) -> Span:
    known = {span.span_id for span in spans}
    return next((span for span in spans if not span.parent_id or span.parent_id not in known), spans[0])


def _calls(spans: Sequence[Span]) -> list[Span]:
    """The calls to models."""
    return [span for span in spans if span.kind == "llm" or _messages(span, "input")]


def _case(trace_id: str, spans: Sequence[Span], order: int) -> Case | None:
    root = _root(spans)
    messages = next((found for span in [root, *_calls(spans)] if (found := _messages(span, "input"))), [])
    asked = max((n for n, message in enumerate(messages) if message.role == "user"), default=None)
    query = _picked(decoded(root.first("input.value", "gen_ai.task.input")), _QUESTION_KEYS)
    if not query and asked is not None:
        query = messages[asked].content
    if not query:
        return None
    before = messages[:asked] if asked is not None and messages[asked].content == query else []
    conversation = tuple(message for message in before if message.role != "system")
    session = root.first("session.id", "gen_ai.conversation.id")
    return Case(
        id=trace_id,
        query=query,
        order=order,
        conversation=conversation,
        cluster=str(session) if session is not None else None,
        metadata={"trace": root.name},
    )


def _output(trace_id: str, spans: Sequence[Span]) -> Output:
    root = _root(spans)
    calls = _calls(spans)
    text: str | None = _picked(decoded(root.first("output.value", "gen_ai.task.output")), _ANSWER_KEYS)
    if not text:
        replies = [found[-1].content for span in [root, *calls] if (found := _messages(span, "output"))]
        text = next((reply for reply in reversed(replies) if reply), None)
    failed = root.error if root.error or not text else ""
    if not text and not failed:
        failed = next((span.error for span in reversed(spans) if span.error), "")
    return Output(
        case_id=trace_id,
        text=text or None,
        hits=_hits(spans),
        tool_calls=tuple(_tool(span) for span in spans if span.kind == "tool"),
        usage=_usage(calls),
        latency_ms=(root.end - root.start) / 1e6 if root.end > root.start > 0 else None,
        stages=_stages(spans),
        raw={
            "spans": [
                {"name": s.name, "kind": s.kind, "ms": (s.end - s.start) / 1e6, "error": s.error}
                for s in spans
            ]
        },
        failure=Failure(where="system", kind="exception", message=failed[:2_000]) if failed else None,
        asked_at=datetime.fromtimestamp(root.start / 1e9, UTC).isoformat() if root.start else "",
    )


def _messages(span: Span, side: str) -> list[Message]:
    """Messages of one side ("input" or "output") in any of the conventions: a JSON list of messages with parts,
    numbered attributes, or events."""
    whole = decoded(span.first(f"gen_ai.{side}.messages"))
    if isinstance(whole, list):
        return [message for entry in whole if (message := _message(entry)) is not None]
    prefixes = (f"llm.{side}_messages", "gen_ai.prompt" if side == "input" else "gen_ai.completion")
    numbered: dict[int, dict[str, Any]] = {}
    for key, value in span.attributes.items():
        if (found := _MESSAGE.match(key)) and found[1] in prefixes:
            numbered.setdefault(int(found[2]), {})[found[3]] = value
    if numbered:
        return [m for _, entry in sorted(numbered.items()) if (m := _message(entry)) is not None]
    return _from_events(span, side)


def _from_events(span: Span, side: str) -> list[Message]:
    names = (
        ("gen_ai.user.message", "gen_ai.system.message", "gen_ai.assistant.message")
        if side == "input"
        else ("gen_ai.choice",)
    )
    found = []
    for event in span.events:
        if event["name"] in names:
            body = event["attributes"]
            entry = decoded(body.get("message")) if isinstance(decoded(body.get("message")), dict) else body
            role = event["name"].split(".")[1] if side == "input" else "assistant"
            message = _message({"role": role, "content": entry.get("content")})
            found.extend([message] if message else [])
    return found


def _message(entry: Any) -> Message | None:
    if not isinstance(entry, dict):
        return None
    content = entry.get("content")
    parts = (
        entry.get("parts")
        if isinstance(entry.get("parts"), list)
        else content
        if isinstance(content, list)
        else None
    )
    if parts is not None:
        texts = [
            text_of(first_of(part, "content", "text"))
            for part in parts
            if isinstance(part, dict) and part.get("type", "text") == "text"
        ]
        content = "\n".join(text for text in texts if text)
    if not content:
        return None
    role = str(entry.get("role") or "user").lower()
    known = {"human": "user", "ai": "assistant", "model": "assistant", "developer": "system"}.get(role, role)
    return Message(
        role=known if known in ("user", "assistant", "system") else "user", content=text_of(content) or ""
    )


def _picked(value: Any, keys: Sequence[str]) -> str:
    """The text of a value that is text, or an object with one of `keys`, or a list of messages."""
    if isinstance(value, dict):
        if isinstance(value.get("messages"), list):
            return _picked(value["messages"], keys)
        inner = first_of(value, *keys)
        return _picked(inner, keys) if inner is not None else ""
    if isinstance(value, list):
        messages = [message for entry in value if (message := _message(entry)) is not None]
        return messages[-1].content if messages else ""
    return text_of(value) or ""


def _hits(spans: Sequence[Span]) -> tuple[Hit, ...]:
    """The documents of the last reranking, else of all retrievals in order."""
    rerankers = [span for span in spans if span.kind == "reranker"]
    entries: list[dict[str, Any]] = []
    for span in rerankers[-1:] or [span for span in spans if span.kind == "retriever"]:
        numbered: dict[int, dict[str, Any]] = {}
        for key, value in span.attributes.items():
            if (found := _DOCUMENT.match(key)) and not (rerankers and "output_documents" not in key):
                numbered.setdefault(int(found[1]), {})[found[2]] = value
        entries += [entry for _, entry in sorted(numbered.items())]
        whole = decoded(span.first("gen_ai.retrieval.documents"))
        if not numbered and isinstance(whole, list):
            entries += [entry for entry in whole if isinstance(entry, dict)]
    return hits_of(entries)


def _tool(span: Span) -> ToolCall:
    args = decoded(span.first("gen_ai.tool.call.arguments", "tool.parameters", "input.value"))
    return ToolCall(
        name=str(span.first("gen_ai.tool.name", "tool.name") or span.name),
        args=args if isinstance(args, dict) else {"input": args} if args is not None else {},
        result=decoded(span.first("gen_ai.tool.call.result", "output.value")),
        latency_ms=(span.end - span.start) / 1e6 if span.end > span.start > 0 else None,
        error=span.error or None,
    )


def _usage(calls: Sequence[Span]) -> Usage | None:
    if not calls:
        return None

    def total(*names: str) -> int:
        return sum(int(value) for span in calls if isinstance(value := span.first(*names), int | float))

    models = {
        str(model)
        for span in calls
        if (model := span.first("gen_ai.response.model", "gen_ai.request.model", "llm.model_name"))
    }
    return Usage(
        calls=len(calls),
        input_tokens=total(
            "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"
        ),
        output_tokens=total(
            "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"
        ),
        cost_usd=None,
        models=tuple(sorted(models)),
    )


def _stages(spans: Sequence[Span]) -> dict[str, float]:
    """Milliseconds by kind of step; steps of one kind add up."""
    stages: dict[str, float] = {}
    for span in spans:
        if span.kind and span.end > span.start:
            stages[span.kind] = stages.get(span.kind, 0.0) + (span.end - span.start) / 1e6
    return stages
