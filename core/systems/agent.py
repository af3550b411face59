"""Between the records of the core and what a RAG agent speaks: answers in, Outputs out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from core.errors import SystemFailure
from core.records import Case, Citation, Hit, Output, ToolCall, Usage


def output_from(case: Case, response: Any, latency_ms: float | None = None) -> Output:
    """An agent's reply (a RagResponse, anything with its attributes, or a mapping of its shape) as an Output.

    Unknown keys of a mapping are kept in `raw`. Raises SystemFailure(kind="malformed") when the reply has no
    text or a part of it has the wrong shape.
    """
    data = as_mapping(response)
    if data is None or "text" not in data:
        raise SystemFailure(f"the reply has no 'text' ({_shown(response)})", kind="malformed")
    text = data["text"]
    if text is not None and not isinstance(text, str):
        raise SystemFailure(f"'text' must be a string, not {type(text).__name__}", kind="malformed")
    known = {
        "text",
        "citations",
        "tool_calls",
        "retrieved_context",
        "usage",
        "raw",
        "abstained",
        "confidence",
    }
    raw = data.get("raw") if isinstance(data.get("raw"), Mapping) else {}
    return Output(
        case_id=case.id,
        text=text,
        hits=tuple(_hits(data.get("retrieved_context"))),
        citations=tuple(_citations(data.get("citations"))),
        tool_calls=tuple(_tool_calls(data.get("tool_calls"))),
        abstained=data.get("abstained") if isinstance(data.get("abstained"), bool) else None,
        confidence=_probability(data.get("confidence")),
        usage=usage_from(data.get("usage")),
        latency_ms=latency_ms,
        raw=plain({**(raw or {}), **{key: value for key, value in data.items() if key not in known}}),
    )


def as_mapping(value: Any) -> dict[str, Any] | None:
    """A mapping, dataclass or object with attributes as a dict; None for anything else."""
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    if hasattr(value, "model_dump"):
        return dict(value.model_dump())
    if hasattr(value, "text"):
        names = ("text", "citations", "tool_calls", "retrieved_context", "usage", "raw")
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    return None


def plain(value: Any) -> Any:
    """A value that fits JSON: mappings, lists, text, numbers; NaN and foreign objects become text."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else str(value)
    return str(value)


def usage_from(value: Any) -> Usage | None:
    """Token counts as agents report them; a cost that is not said is unknown, not 0."""
    data = as_mapping(value)
    if not data:
        return None

    def count(*names: str) -> int:
        found = next((data[name] for name in names if isinstance(data.get(name), int)), 0)
        return max(int(found), 0)

    cost = data.get("cost_usd")
    return Usage(
        calls=count("calls") or 1,
        input_tokens=count("input_tokens", "prompt_tokens"),
        output_tokens=count("output_tokens", "completion_tokens"),
        cost_usd=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    )


def corpus_texts(docs: Iterable[Any] | None) -> dict[str, str] | None:
    """source_id → content; None when the agent does not say."""
    if docs is None:
        return None
    found = {}
    for doc in docs:
        data = doc if isinstance(doc, Mapping) else as_mapping(doc) or vars(doc)
        found[str(data["source_id"])] = str(data.get("content", ""))
    return found


def _rows(name: str, value: Any) -> list[dict[str, Any]]:
    if value is None:
        return []
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise SystemFailure(f"'{name}' must be a list, not {type(value).__name__}", kind="malformed")
    rows = []
    for index, each in enumerate(value):
        data = as_mapping(each) if not hasattr(each, "__dict__") or is_dataclass(each) else vars(each)
        if data is None:
            raise SystemFailure(
                f"{name}[{index}] must hold keys and values ({_shown(each)})", kind="malformed"
            )
        rows.append(dict(data))
    return rows


def _hits(value: Any) -> Iterable[Hit]:
    for rank, row in enumerate(_rows("retrieved_context", value), 1):
        score = row.get("score")
        yield Hit(
            id=str(row.get("source_id", f"context-{rank}")),
            rank=rank,
            score=float(score) if isinstance(score, int | float) and score == score else None,
            text=str(row.get("chunk", row.get("text", ""))),
            title=str(row.get("title", "") or ""),
        )


def _citations(value: Any) -> Iterable[Citation]:
    for index, row in enumerate(_rows("citations", value), 1):
        source = row.get("source_id", row.get("id"))
        if source is None:
            raise SystemFailure(f"citations[{index - 1}] names no source_id", kind="malformed")
        yield Citation(id=str(row.get("id", index)), source_id=str(source), span=str(row.get("span") or ""))


def _tool_calls(value: Any) -> Iterable[ToolCall]:
    for index, row in enumerate(_rows("tool_calls", value)):
        if not row.get("name"):
            raise SystemFailure(f"tool_calls[{index}] has no name", kind="malformed")
        arguments = row.get("args") if row.get("args") is not None else row.get("arguments", {})
        latency = row.get("latency_ms")
        yield ToolCall(
            name=str(row["name"]),
            args=plain(arguments) if isinstance(arguments, Mapping) else {"value": plain(arguments)},
            result=plain(row.get("result")),
            latency_ms=float(latency) if isinstance(latency, int | float) else None,
            error=None if row.get("error") in (None, "", False) else str(row["error"]),
        )


def _probability(value: Any) -> float | None:
    return (
        float(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
        else None
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "…"
