"""Settings → Task, one module a kind of run. `TASKS` is the table the pipeline looks a kind up in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.config_files import read_mapping
from core.contracts import System
from core.records import Run
from core.retrieval.stages import Stages
from core.settings import RunSettings
from core.store.runs import Store
from core.task import Task
from core.tasks.document_qa import document_qa, document_qa_again

TASKS: dict[str, Callable[[RunSettings, Stages], Task]] = {"document_qa": document_qa}

_REBUILDERS: dict[str, Callable[[Run, RunSettings, Store, Stages, System], Task]] = {
    "document_qa": document_qa_again,
}


def rebuild(run: Run, settings: RunSettings, store: Store, stages: Stages, system: System) -> Task:
    """The task of a stored run with another source of outputs (its own stored ones), from what the store keeps."""
    return _REBUILDERS[run.kind](run, settings, store, stages, system)


def is_audit(source: str | Path | Mapping[str, Any]) -> bool:
    """Whether a settings file, or a mapping of settings, holds behavioural tests."""
    return "tests" in (source if isinstance(source, Mapping) else read_mapping(source).data)
