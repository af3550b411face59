"""Behavioural audits of RAG agents: the names users import.

from core.audit import RagAdapter, RagResponse, Citation, ToolSpec, SourceDoc
"""

from core.audit.adapter import (
    Citation,
    ContextDoc,
    Message,
    RagAdapter,
    RagResponse,
    SourceDoc,
    ToolCall,
    ToolSpec,
)
from core.audit.custom import Evaluator, TestResult, register
from core.records import Verdict

__all__ = [
    "Citation",
    "ContextDoc",
    "Evaluator",
    "Message",
    "RagAdapter",
    "RagResponse",
    "SourceDoc",
    "TestResult",
    "ToolCall",
    "ToolSpec",
    "Verdict",
    "register",
]
