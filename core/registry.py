"""How a component declares its parameters, and how a registry finds it by name.

From one declaration come validation, help on typos, the spec stored with a run, the New-run form, the sweep
grid and the reference tables.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from core.errors import ConfigError, Problem, UnknownNameError, nearest

T = TypeVar("T")


class Component(BaseModel):
    """A frozen model whose fields are the component's parameters. Unknown parameters and NaN are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)
    name: ClassVar[str] = ""

    def spec(self) -> dict[str, Any]:
        """`{"type": name, **parameters}`: enough for `Registry.create` to build an equal component."""
        return {"type": self.name, **self.model_dump(mode="json")}


class Registry(Generic[T]):
    """Names to component classes. `kind` is the word used in messages ("retriever"). `shipped` are the modules
    whose components are always known; they are imported when a name is first looked up."""

    def __init__(self, kind: str, *, shipped: Sequence[str] = ()) -> None:
        self.kind = kind
        self._shipped = tuple(shipped)
        self._classes: dict[str, type[Any]] = {}
        self._aliases: dict[str, str] = {}

    def register(self, name: str, *, aliases: Sequence[str] = ()) -> Callable[[type[Any]], type[Any]]:
        """Decorator that files a class under `name`. A second class under one name is a ConfigError."""

        def decorate(cls: type[Any]) -> type[Any]:
            for each in (name, *aliases):
                present = self._classes.get(self._aliases.get(each, each))
                if present is not None and present.__qualname__ != cls.__qualname__:
                    raise ConfigError(f"{self.kind} '{each}' is registered twice: {present!r} and {cls!r}")
            cls.name = name
            self._classes[name] = cls
            self._aliases.update(dict.fromkeys(aliases, name))
            return cls

        return decorate

    @contextmanager
    def registered(self, name: str, cls: type[Any]) -> Iterator[None]:
        """A class filed under `name` for the length of a `with` block, and gone after it."""
        self.register(name)(cls)
        try:
            yield
        finally:
            del self._classes[name]

    def _load(self) -> None:
        for module in self._shipped:
            importlib.import_module(module)
        self._shipped = ()

    def get(self, name: str) -> type[Any]:
        """The class called `name`; UnknownNameError names the nearest."""
        self._load()
        try:
            return self._classes[self._aliases.get(name, name)]
        except KeyError:
            raise UnknownNameError(self.kind, name, self.names()) from None

    def create(self, spec: str | Mapping[str, Any], **defaults: Any) -> T:
        """Build a component from its name or its spec; `defaults` fill parameters the spec leaves out."""
        given = {"type": spec} if isinstance(spec, str) else dict(spec)
        cls = self.get(str(given.pop("type", "")))
        known = set(getattr(cls, "model_fields", {}))
        parameters = {k: v for k, v in defaults.items() if k in known} | given
        try:
            return cls(**parameters)
        except ValidationError as error:
            raise ConfigError(
                f"{self.kind} '{cls.name}' cannot be built",
                [_problem(self.kind, cls.name, known, detail) for detail in error.errors()],
            ) from error

    def names(self) -> list[str]:
        self._load()
        return sorted(self._classes)

    def __contains__(self, name: object) -> bool:
        self._load()
        return name in self._classes or name in self._aliases

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def describe(self) -> list[dict[str, Any]]:
        """One row a component: name, first docstring line, and its parameters with default, bounds and help."""
        return [
            {"kind": self.kind, "name": name, "summary": summary(cls), "parameters": parameters(cls)}
            for name, cls in ((name, self._classes[name]) for name in self.names())
        ]


def summary(obj: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(obj) or "").split("\n\n")[0].split())


def parameters(cls: type[Any]) -> list[dict[str, Any]]:
    """Declared parameters of a component class: name, JSON type, default, bounds, description."""
    if not hasattr(cls, "model_json_schema"):
        return []
    schema = cls.model_json_schema()
    return [{"name": key, **value} for key, value in schema.get("properties", {}).items()]


def load_plugins(modules: Sequence[str]) -> None:
    """Import the user's own modules so that their decorators run. The working directory is importable."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    problems = []
    for module in modules:
        try:
            importlib.import_module(module)
        except Exception as error:  # noqa: BLE001 - a user's module may raise anything; all are listed at once
            problems.append(Problem("plugins", f"cannot load {module} ({type(error).__name__}: {error})"))
    if problems:
        raise ConfigError("plugins could not be loaded", problems)


def _problem(kind: str, name: str, known: set[str], detail: Any) -> Problem:
    field = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        return Problem(f"{kind} '{name}'", f"has no parameter '{field}'{nearest(field, known)}")
    return Problem(f"{kind} '{name}'", f"{field}: {detail['msg']}")
