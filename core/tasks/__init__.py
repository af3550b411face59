"""Settings → Task, one module a kind of run. `TASKS` is the table the pipeline looks a kind up in; the module of a
kind is loaded when a run of that kind is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.config_files import read_mapping
from core.contracts import System
from core.deferred import Deferred
from core.records import Run
from core.retrieval.stages import Stages
from core.settings import RunSettings
from core.store.runs import Store
from core.task import Task

TASKS: Deferred[Callable[[RunSettings, Stages], Task]] = Deferred(
    {
        "document_qa": "core.tasks.document_qa:document_qa",
        "ted_cpv": "core.tasks.classification:ted_cpv",
        "api_classifier": "core.tasks.classification:api_classifier",
        "prepared_rag_results": "core.tasks.prepared:prepared_rag_results",
    }
)

_REBUILDERS: Deferred[Callable[[Run, RunSettings, Store, Stages, System], Task]] = Deferred(
    {
        "document_qa": "core.tasks.document_qa:document_qa_again",
        "ted_cpv": "core.tasks.classification:classification_again",
        "api_classifier": "core.tasks.classification:classification_again",
        "prepared_rag_results": "core.tasks.prepared:prepared_again",
    }
)

_MODELS: Deferred[Callable[[RunSettings, Stages], list[tuple[str, int]]]] = Deferred(
    {"prepared_rag_results": "core.tasks.prepared:prepared_models"}
)


def rebuild(run: Run, settings: RunSettings, store: Store, stages: Stages, system: System) -> Task:
    """The task of a stored run with another source of outputs (its own stored ones), from what the store keeps."""
    return _REBUILDERS[run.kind](run, settings, store, stages, system)


def each_run(settings: RunSettings, stages: Stages) -> list[RunSettings]:
    """The runs that settings ask for: one, but for a prepared file with several models, which is one each."""
    if settings.classifier_type not in _MODELS or settings.prepared_model is not None:
        return [settings]
    models = _MODELS[settings.classifier_type](settings, stages)
    base = settings.run_name
    if len(models) < 2:
        return [
            settings.model_copy(update={"repeats": max(repeats, settings.repeats)}) for _, repeats in models
        ]
    return [
        settings.model_copy(
            update={
                "prepared_model": name,
                "run_name": f"{base}-{name}" if base else name.replace("/", "-"),
                "repeats": repeats,
            }
        )
        for name, repeats in models
    ]


def is_audit(source: str | Path | Mapping[str, Any]) -> bool:
    """Whether a settings file, or a mapping of settings, holds behavioural tests."""
    return "tests" in (
        source if isinstance(source, Mapping) else read_mapping(source, refuse_repeated=False).data
    )
