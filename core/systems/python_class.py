"""A Python class under audit: shared or one instance a worker, sync or async, every call bounded in time."""

from __future__ import annotations

import importlib
import inspect
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.errors import ConfigError, SystemFailure
from core.records import Case, Output
from core.systems.agent import output_from
from core.systems.bounded import call_bounded


def load_class(module: str, name: str) -> Any:
    """`module:name`, with the working directory importable. ConfigError says what could not be found."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
    except Exception as error:
        raise ConfigError(
            f"adapter.module: cannot import '{module}' ({type(error).__name__}: {error})"
        ) from error
    try:
        return getattr(found, name)
    except AttributeError:
        known = ", ".join(sorted(n for n, v in vars(found).items() if inspect.isclass(v))) or "none"
        raise ConfigError(
            f"adapter.class: module '{module}' has no '{name}'; classes in it: {known}"
        ) from None


class PythonClass:
    """Asks `query(prompt, *, conversation=None)` of an adapter instance.

    `instances` "shared" builds one adapter, "per_worker" one for each thread that asks. Each call may take the
    case's `options["timeout_s"]` or `timeout_s` seconds. `make_message` builds a turn of the conversation in
    the adapter's own class.
    """

    def __init__(
        self,
        factory: Callable[[], Any],
        make_message: Callable[[str, str], Any],
        *,
        instances: str = "shared",
        timeout_s: float = 60.0,
        concurrency: int = 1,
    ) -> None:
        self.factory, self.make_message, self.instances = factory, make_message, instances
        self.timeout_s, self.concurrency = timeout_s, concurrency
        self._own = threading.local()
        try:
            self.adapter = factory()
        except Exception as error:
            raise ConfigError(f"adapter: cannot be built ({type(error).__name__}: {error})") from error
        query = getattr(self.adapter, "query", None)
        if not callable(query):
            raise ConfigError(
                f"adapter: {type(self.adapter).__name__} has no method query(prompt, *, conversation=None)"
            )
        self.takes = _keywords(query)

    def _instance(self) -> Any:
        if self.instances == "shared":
            return self.adapter
        if not hasattr(self._own, "adapter"):
            self._own.adapter = self.factory()
        return self._own.adapter

    def ask(self, case: Case) -> Output:
        """Ask with the case's conversation and, where the adapter takes them, its credentials."""
        adapter = self._planted(case) or self._instance()
        keywords: dict[str, Any] = {}
        if "conversation" in self.takes and case.conversation:
            keywords["conversation"] = [self.make_message(m.role, m.content) for m in case.conversation]
        if case.options.get("credentials") is not None:
            if "credentials" not in self.takes:
                raise SystemFailure("the adapter's query takes no credentials=", kind="not_plantable")
            keywords["credentials"] = case.options["credentials"]
        timeout = case.options.get("timeout_s") or self.timeout_s
        begun = time.perf_counter()
        response = call_bounded(lambda: adapter.query(case.query, **keywords), timeout)
        return output_from(case, response, (time.perf_counter() - begun) * 1000)

    def _planted(self, case: Case) -> Any:
        """An adapter whose corpus holds the case's planted documents; None when nothing is planted."""
        documents = case.options.get("plant")
        if not documents:
            return None
        plant = getattr(self._instance(), "with_documents", None)
        if plant is None:
            raise SystemFailure("the adapter has no with_documents(docs)", kind="not_plantable")
        return call_bounded(lambda: plant(_source_docs(documents)), self.timeout_s)

    def close(self) -> None:
        closer = getattr(self.adapter, "close", None)
        if callable(closer):
            call_bounded(closer, self.timeout_s)


class PlantedDoc:
    """A document to plant, with the attributes of a SourceDoc."""

    def __init__(self, source_id: str, content: str, title: str = "") -> None:
        self.source_id, self.content, self.title = source_id, content, title


def _source_docs(documents: list[Mapping[str, str]]) -> list[PlantedDoc]:
    return [PlantedDoc(d["source_id"], d["content"], d.get("title", "")) for d in documents]


def _keywords(function: Callable[..., Any]) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return {"conversation", "credentials"}
    return {parameter.name for parameter in parameters}
