"""Plumbline: does a RAG system, RAG agent or classifier work, what is wrong, and which design choice made it so?

The public names; each is loaded when it is first used, so that `import core` stays quick.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Case": "core.records",
    "ConfigError": "core.errors",
    "EvalError": "core.errors",
    "Hit": "core.records",
    "InputError": "core.errors",
    "Output": "core.records",
    "Result": "core.records",
    "Run": "core.records",
    "RunSettings": "core.settings",
    "Store": "core.store.runs",
    "Verdict": "core.records",
    "compare": "core.api",
    "evaluate": "core.api",
    "load_settings": "core.settings",
    "score": "core.api",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'core' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
