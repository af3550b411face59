"""What a RAG agent under audit speaks: the classes users subclass and return.

Field names, order and defaults are public: an adapter written for the auditor that Plumbline replaces needs
only its import line changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass
class Message:
    """One earlier turn of a conversation."""

    role: Literal["user", "assistant", "system"]
    content: str


@dataclass
class Citation:
    """A reference from the answer to a source; `span` is the cited claim, empty when the marker's own sentence
    is meant."""

    id: str
    source_id: str
    span: str = ""


@dataclass
class ToolCall:
    """A tool the agent called while it answered; `error` is None when the call went well."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)
    result: Any = None
    latency_ms: float = 0
    error: str | None = None


@dataclass
class ContextDoc:
    """A retrieved passage the agent saw while it answered."""

    source_id: str
    chunk: str
    score: float = 0.0


@dataclass
class ToolSpec:
    """A tool the agent offers. `writes` marks tools that change something; `parameters` is a JSON Schema of
    their arguments."""

    name: str
    description: str = ""
    trigger_prompt: str | None = None
    writes: bool = False
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass
class SourceDoc:
    """A document that citations may name."""

    source_id: str
    content: str
    title: str = ""


@dataclass
class RagResponse:
    """What `query` returns. `usage` holds token counts where the agent knows them (`input_tokens`,
    `output_tokens`, `cost_usd`)."""

    text: str
    citations: list[Citation] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    retrieved_context: list[ContextDoc] = field(default_factory=list)
    raw: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)


class RagAdapter(ABC):
    """Subclass it and implement `query` to put an agent under audit.

    `query` may be `async def`. It may take `credentials=` as well: then `auth_negative` cases pass them. Two
    more methods are used where they exist: `with_documents(docs)` returns an adapter whose corpus also holds
    the given SourceDocs (for planted instructions).
    """

    @abstractmethod
    def query(self, prompt: str, *, conversation: list[Message] | None = None) -> RagResponse:
        """Answer one prompt; `conversation` holds the earlier turns, oldest first."""

    def available_tools(self) -> list[ToolSpec]:
        """Tools the agent offers; none by default."""
        return []

    def corpus(self) -> Iterable[SourceDoc] | None:
        """Documents that citations resolve against; None when the agent does not say."""
        return None
