"""The filled-in form of a structured reply, or the reason why there is none."""

from __future__ import annotations

from core.llm.client import LlmFailure, LlmReply, LlmRequest
from core.llm.strict_json import parse
from core.records import JsonDict

_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})


def filled_form(reply: LlmReply, request: LlmRequest) -> JsonDict:
    """The object the model filled in for `request.tool`.

    LlmFailure of kind `refusal` when the model declined, `truncated` when the reply ended at its length limit (its
    content may look complete and is not read), `malformed` for text instead of a call, another tool, no content,
    or arguments that are not one JSON object.
    """
    if request.tool is None:
        raise ValueError("the request asks for no form")
    if reply.stop_reason == "refusal":
        raise LlmFailure(f"the model declined: {reply.text[:300] or 'no reason given'}", "refusal")
    if reply.stop_reason in _CUT:
        raise LlmFailure(f"the reply was cut off ({reply.stop_reason})", "truncated")
    if request.structured == "json_schema":
        return _from_text(reply)
    if reply.tool_input is not None:
        return reply.tool_input
    if reply.tool_name and reply.tool_name != request.tool.name:
        raise LlmFailure(
            f"the model called '{reply.tool_name[:80]}' instead of '{request.tool.name}'", "malformed"
        )
    if reply.tool_name:
        raise LlmFailure("the arguments of the tool call are not one JSON object", "malformed")
    if reply.text.strip():
        raise LlmFailure("the model wrote text instead of calling the tool", "malformed")
    raise LlmFailure("the reply is empty", "malformed")


def _from_text(reply: LlmReply) -> JsonDict:
    if not reply.text.strip():
        raise LlmFailure("the reply is empty", "malformed")
    try:
        value = parse(reply.text)
    except ValueError as error:
        raise LlmFailure(f"the reply is not JSON: {error}", "malformed") from error
    if not isinstance(value, dict):
        raise LlmFailure("the reply is not a JSON object", "malformed")
    return value
