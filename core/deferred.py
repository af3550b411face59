"""Names whose module is imported when they are first asked for: what a process does not do, it does not load."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


class Deferred(Mapping[str, T_co], Generic[T_co]):
    """A table of name → object, written as name → "module:attribute". Looking a name up imports its module."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(places)

    def __getitem__(self, name: str) -> T_co:
        module, _, attribute = self._places[name].partition(":")
        found: T_co = getattr(importlib.import_module(module), attribute)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
