"""Spans of agent traces from the several JSON forms in which they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.inputs.foreign.imported import mapping_of


@dataclass(frozen=True, slots=True)
class Span:
    """One step of a trace. Times are nanoseconds; `attributes` are flat, keys joined by dots."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: int
    end: int
    attributes: dict[str, Any]
    events: tuple[dict[str, Any], ...] = ()
    error: str = ""

    @property
    def kind(self) -> str:
        """llm | retriever | reranker | tool | agent | chain…, from either convention; empty where neither says."""
        stated = str(self.attributes.get("openinference.span.kind") or "").lower()
        operation = str(self.attributes.get("gen_ai.operation.name") or "")
        by_operation = {
            "chat": "llm",
            "text_completion": "llm",
            "generate_content": "llm",
            "execute_tool": "tool",
            "invoke_agent": "agent",
            "retrieval": "retriever",
        }
        return stated or by_operation.get(operation, "")

    def first(self, *names: str) -> Any:
        return next((self.attributes[name] for name in names if self.attributes.get(name) is not None), None)


@dataclass(slots=True)
class Unread:
    """What was found that is no span: index and why."""

    problems: list[tuple[int, str]] = field(default_factory=list)


def spans_of(data: Any, unread: Unread) -> Iterator[Span]:
    """Spans of OTLP JSON (`resourceSpans`), of a list of spans (OTLP, SDK console exporter, Phoenix), of an
    object that holds such a list under `spans`, or of several of these one after another."""
    if isinstance(data, dict) and ("resourceSpans" in data or "resource_spans" in data):
        for resource in data.get("resourceSpans") or data.get("resource_spans") or []:
            for scope in resource.get("scopeSpans") or resource.get("scope_spans") or []:
                for entry in scope.get("spans") or []:
                    yield _span(entry)
    elif isinstance(data, dict) and isinstance(data.get("spans"), list):
        yield from spans_of(data["spans"], unread)
    elif isinstance(data, list):
        for index, entry in enumerate(data):
            if isinstance(entry, dict) and (
                "resourceSpans" in entry or "resource_spans" in entry or "spans" in entry
            ):
                yield from spans_of(entry, unread)
            elif isinstance(entry, dict) and looks_like_span(entry):
                yield _span(entry)
            else:
                unread.problems.append((index, "is no span"))
    elif isinstance(data, dict) and looks_like_span(data):
        yield _span(data)


def looks_like_span(entry: Mapping[str, Any]) -> bool:
    context = mapping_of(entry.get("context"))
    return bool(entry.keys() & {"traceId", "trace_id", "context.trace_id"} or "trace_id" in context)


def _span(entry: Mapping[str, Any]) -> Span:
    context: Mapping[str, Any] = mapping_of(entry.get("context"))

    def pick(*names: str) -> Any:
        return next(
            (source[name] for source in (entry, context) for name in names if source.get(name) is not None),
            None,
        )

    status = mapping_of(entry.get("status"))
    code = str(status.get("code", status.get("status_code", entry.get("status_code", ""))))
    attributes = _attributes(entry)
    events = tuple(
        {"name": event.get("name"), "attributes": _attributes(event)}
        for event in entry.get("events") or []
        if isinstance(event, dict)
    )
    message = status.get("message") or status.get("description") or entry.get("status_message") or ""
    failed = code.upper().rsplit(".", 1)[-1] in ("2", "ERROR", "STATUS_CODE_ERROR")
    raised = next(
        (mapping_of(e["attributes"]).get("exception.message") for e in events if e["name"] == "exception"),
        None,
    )
    return Span(
        trace_id=str(pick("traceId", "trace_id", "context.trace_id") or ""),
        span_id=str(pick("spanId", "span_id", "context.span_id", "id") or ""),
        parent_id=str(pick("parentSpanId", "parent_span_id", "parent_id") or "").removeprefix("0x"),
        name=str(entry.get("name") or ""),
        start=_time(pick("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")),
        end=_time(pick("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")),
        attributes=attributes,
        events=events,
        error=str(message or raised or attributes.get("error.type") or "the span ended in an error")
        if failed
        else "",
    )


def _attributes(entry: Mapping[str, Any]) -> dict[str, Any]:
    given = entry.get("attributes")
    flat: dict[str, Any] = {}
    if isinstance(given, list):
        for pair in given:
            if isinstance(pair, dict) and "key" in pair:
                flat[str(pair["key"])] = _otlp(pair.get("value"))
    elif isinstance(given, dict):
        _flatten(given, "", flat)
    for key, value in entry.items():  # a table of spans has one column for each attribute
        if key.startswith("attributes.") and value is not None:
            flat[key.removeprefix("attributes.")] = value
    return flat


def _otlp(value: Any) -> Any:
    """An OTLP AnyValue as plain value."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    if kind == "intValue":
        return int(inner)
    if kind == "arrayValue":
        return [_otlp(each) for each in inner.get("values") or []]
    if kind == "kvlistValue":
        return {pair["key"]: _otlp(pair.get("value")) for pair in inner.get("values") or []}
    return inner


def _flatten(values: Mapping[str, Any], prefix: str, flat: dict[str, Any]) -> None:
    """Nested attributes under dotted keys; the nested value stays too."""
    for key, value in values.items():
        name = f"{prefix}{key}"
        flat[name] = value
        if isinstance(value, dict):
            _flatten(value, f"{name}.", flat)
        elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
            _flatten({str(number): each for number, each in enumerate(value)}, f"{name}.", flat)


def _time(value: Any) -> int:
    """Nanoseconds from nanoseconds, or from ISO text; 0 for none."""
    if isinstance(value, int | float):
        return int(value)
    text = str(value or "")
    if text.isdigit():
        return int(text)
    try:
        return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1e9)
    except ValueError:
        return 0


def decoded(value: Any) -> Any:
    """A value that may be JSON text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
