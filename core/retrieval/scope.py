"""Metadata filters: exact. An empty value matches nothing; a condition that is not given restricts nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from core.corpus import Chunk
from core.records import Case

FIELDS = ("doc_path", "program_id", "program_name", "section_id")


def positions_where(chunks: Sequence[Chunk], conditions: Mapping[str, Sequence[str]]) -> list[int]:
    """Positions of the chunks that meet every condition: a field of FIELDS equals one of the values (Unicode
    composed, nothing else folded), or `year` stands as a number in the document's path."""
    wanted = {name: {_same(value) for value in values if value} for name, values in conditions.items()}
    return [
        position
        for position, chunk in enumerate(chunks)
        if all(_meets(chunk, name, values) for name, values in wanted.items())
    ]


def conditions_of(case: Case) -> dict[str, tuple[str, ...]]:
    """What a question says about where its answer stands: documents if it names any, else programme and year."""
    if case.doc_paths:
        return {"doc_path": case.doc_paths}
    found: dict[str, tuple[str, ...]] = {}
    for name in ("program_id", "program_name", "year"):
        given: Any = case.metadata.get(name, case.metadata.get(f"{name}s"))
        if given not in (None, "", [], ()):
            values = given if isinstance(given, list | tuple) else [given]
            found[name] = tuple(str(value) for value in values)
    return found


def _meets(chunk: Chunk, name: str, values: set[str]) -> bool:
    if name == "year":
        return bool(values & set(re.findall(r"\d+", chunk.doc_path)))
    return _same(str(getattr(chunk, name))) in values


def _same(value: str) -> str:
    return unicodedata.normalize("NFC", value)
