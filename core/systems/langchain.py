"""A LangChain runnable under audit: anything with `invoke(input)`. Found by its shape; LangChain itself is not
needed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from core.errors import ConfigError
from core.records import Case, Output
from core.systems.agent import as_mapping, output_from, plain
from core.systems.bounded import call_bounded

TEXT_KEYS = ("answer", "output", "result", "text", "content", "response")
CONTEXT_KEYS = ("context", "source_documents", "documents", "retrieved_context")


class LangchainRunnable:
    """Asks `invoke`. Replies may be text, a message with `content`, or a mapping with an answer, the documents it
    rests on (`page_content`, `metadata`), and messages whose `tool_calls` are read."""

    def __init__(
        self,
        runnable: Any,
        *,
        input_key: str | None = None,
        history_key: str | None = None,
        output_key: str | None = None,
        timeout_s: float = 60.0,
        concurrency: int = 1,
    ) -> None:
        if not callable(getattr(runnable, "invoke", None)):
            raise ConfigError(f"adapter: {type(runnable).__name__} has no method invoke(input)")
        self.runnable, self.input_key, self.history_key = runnable, input_key, history_key
        self.output_key, self.timeout_s, self.concurrency = output_key, timeout_s, concurrency

    def ask(self, case: Case) -> Output:
        question: Any = case.query
        if self.input_key or self.history_key:
            question = {self.input_key or "input": case.query}
            if self.history_key:
                question[self.history_key] = [(m.role, m.content) for m in case.conversation]
        begun = time.perf_counter()
        reply = call_bounded(
            lambda: self.runnable.invoke(question), case.options.get("timeout_s") or self.timeout_s
        )
        return output_from(case, self._shape(reply), (time.perf_counter() - begun) * 1000)

    def _shape(self, reply: Any) -> dict[str, Any]:
        if isinstance(reply, str):
            return {"text": reply}
        if not isinstance(reply, Mapping) and hasattr(reply, "content"):
            return {"text": _content(reply.content), "tool_calls": _tool_calls([reply])}
        data = as_mapping(reply) or {}
        messages = data.get("messages") or []
        keys = (self.output_key,) if self.output_key else TEXT_KEYS
        text = next((_content(data[key]) for key in keys if data.get(key) is not None), None)
        if text is None and messages:
            text = _content(getattr(messages[-1], "content", None))
        documents: list[Any] = next(
            (data[key] for key in CONTEXT_KEYS if isinstance(data.get(key), list)), []
        )
        shaped = {
            "tool_calls": [*_tool_calls(messages), *_steps(data.get("intermediate_steps") or [])],
            "retrieved_context": [_document(doc, index) for index, doc in enumerate(documents, 1)],
            "citations": data.get("citations"),
            "raw": {"keys": plain(sorted(map(str, data)))},
        }
        return shaped if text is None else {"text": text, **shaped}

    def close(self) -> None:
        """The runnable is the user's own."""


def _content(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "content"):
        return _content(value.content)
    if isinstance(value, list):
        return "".join(part if isinstance(part, str) else str(part.get("text", "")) for part in value)
    return str(value)


def _document(doc: Any, index: int) -> dict[str, Any]:
    if isinstance(doc, str):
        return {"source_id": f"context-{index}", "chunk": doc}
    data = doc if isinstance(doc, Mapping) else vars(doc)
    metadata = data.get("metadata") or {}
    source = metadata.get("source_id") or metadata.get("source") or data.get("id") or f"context-{index}"
    return {
        "source_id": str(source),
        "chunk": str(data.get("page_content", data.get("text", ""))),
        "score": metadata.get("score"),
    }


def _tool_calls(messages: list[Any]) -> list[dict[str, Any]]:
    results = {getattr(m, "tool_call_id", None): m for m in messages if getattr(m, "tool_call_id", None)}
    calls = []
    for message in messages:
        for call in getattr(message, "tool_calls", None) or []:
            data = call if isinstance(call, Mapping) else vars(call)
            answer = results.get(data.get("id"))
            failed = getattr(answer, "status", "success") == "error"
            content = _content(getattr(answer, "content", None))
            calls.append(
                {
                    "name": data.get("name"),
                    "args": data.get("args") or {},
                    "result": None if failed else content,
                    "error": content if failed else None,
                }
            )
    return calls


def _steps(steps: list[Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": getattr(action, "tool", None),
            "args": {"input": plain(getattr(action, "tool_input", None))},
            "result": plain(result),
        }
        for action, result in steps
    ]
