"""A Python class under audit: shared or one instance a worker, sync or async, every call bounded in time."""

from __future__ import annotations

import contextlib
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
from core.systems.bounded import Desk, EventLoop


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


BUILD_SECONDS = 600.0


class PythonClass:
    """Asks `query(prompt, *, conversation=None)` of an adapter instance.

    `instances` "shared" builds one adapter, "per_worker" one for each thread that asks. Each call may take the
    case's `options["timeout_s"]` or `timeout_s` seconds. `make_message` builds a turn of the conversation in
    the adapter's own class. An adapter is built where it is asked (see `core.systems.bounded`); one whose call never
    came back is asked from a new thread.
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
        self._opening = threading.Lock()
        self._places: list[Desk | EventLoop] = []
        self._home: Desk | EventLoop = self._open(Desk)
        try:
            self.adapter = self._home.call(factory, BUILD_SECONDS)
        except Exception as error:
            self.close()
            raise ConfigError(f"adapter: cannot be built ({type(error).__name__}: {error})") from error
        query = getattr(self.adapter, "query", None)
        if not callable(query):
            raise ConfigError(
                f"adapter: {type(self.adapter).__name__} has no method query(prompt, *, conversation=None)"
            )
        self.takes = _keywords(query)
        self._kind: type[Desk] | type[EventLoop] = Desk
        if inspect.iscoroutinefunction(query) and instances == "shared":
            self._kind = EventLoop
            self._home = self._open(EventLoop)

    def _open(self, kind: type[Desk] | type[EventLoop]) -> Desk | EventLoop:
        place = kind()
        self._places.append(place)
        return place

    def _seat(self) -> tuple[Desk | EventLoop, Any]:
        """Where this thread's calls are made, and the adapter that is asked there."""
        if self.instances == "shared" and (self.concurrency <= 1 or self._kind is EventLoop):
            with self._opening:
                if self._home.abandoned:
                    self._home = self._open(self._kind)
                return self._home, self.adapter
        held = self._own.__dict__
        if "desk" not in held or held["desk"].abandoned:
            with self._opening:
                held["desk"] = self._open(Desk)
            if self.instances == "per_worker":
                held["adapter"] = held["desk"].call(self.factory, BUILD_SECONDS)
        return held["desk"], held.get("adapter", self.adapter)

    def call(self, function: Callable[[Any], Any], timeout_s: float | None = None) -> Any:
        """`function(adapter)` where the adapter lives; SystemFailure(kind="timeout") when it does not come back."""
        desk, adapter = self._seat()
        return desk.call(lambda: function(adapter), timeout_s or self.timeout_s)

    def ask(self, case: Case) -> Output:
        """Ask with the case's conversation and, where the adapter takes them, its credentials."""
        keywords: dict[str, Any] = {}
        if "conversation" in self.takes and case.conversation:
            keywords["conversation"] = [self.make_message(m.role, m.content) for m in case.conversation]
        if case.options.get("credentials") is not None:
            if "credentials" not in self.takes:
                raise SystemFailure("the adapter's query takes no credentials=", kind="not_plantable")
            keywords["credentials"] = case.options["credentials"]
        planted = self._planted(case)
        timeout = case.options.get("timeout_s") or self.timeout_s
        begun = time.perf_counter()
        response = self.call(
            lambda adapter: (adapter if planted is None else planted).query(case.query, **keywords), timeout
        )
        return output_from(case, response, (time.perf_counter() - begun) * 1000)

    def _planted(self, case: Case) -> Any:
        """An adapter whose corpus holds the case's planted documents; None when nothing is planted."""
        documents = case.options.get("plant")
        if not documents:
            return None
        if not hasattr(self.adapter, "with_documents"):
            raise SystemFailure("the adapter has no with_documents(docs)", kind="not_plantable")
        return self.call(lambda adapter: adapter.with_documents(_source_docs(documents)))

    def close(self) -> None:
        """Lets the adapter close itself, then ends the threads; may be called twice."""
        places, self._places = self._places, []
        closer = getattr(getattr(self, "adapter", None), "close", None)
        if callable(closer) and places and not self._home.abandoned:
            with contextlib.suppress(Exception):
                self._home.call(closer, min(self.timeout_s, 5.0))
        for place in places:
            place.close()


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
