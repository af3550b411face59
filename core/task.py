"""A task: what the pipeline needs to know to run one evaluation of any kind.

`core.tasks.<kind>` builds one from settings; the pipeline then asks, scores, seals and exports without knowing
which kind it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.contracts import ScoringContext, System
from core.corpus import Document, ParsingReport
from core.records import Case, Output, Result

Tables = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Task:
    """`evaluate` is pure: (case, output, context) → Result. `digests` and `versions` go into the run and decide
    comparability. `documents` and `reports` are kept with the run, so that evidence can be shown on its page and
    the run scored again without the files. `artifacts` are writers of further files of the run folder (file name → function that writes
    it to the given path). `notices` are remarks about the input worth showing (never errors). `conclude` adds to
    the summary what follows from all results together (the verdicts of an audit's tests); a mapping is added to
    the one of the same key. `tables` gives tables to keep with the run (name → rows of plain values)."""

    kind: str
    suite: str
    suite_digest: str
    cases: Sequence[Case]
    system: System
    evaluate: Callable[[Case, Output, ScoringContext], Result]
    context: ScoringContext
    digests: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    artifacts: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    documents: Sequence[Document] | None = None
    reports: Sequence[ParsingReport] = ()
    notices: tuple[str, ...] = ()
    extra_summary: Mapping[str, Any] = field(default_factory=dict)
    conclude: Callable[[Sequence[Case], Sequence[Output], Sequence[Result]], Mapping[str, Any]] | None = None
    tables: Callable[[Sequence[Case], Sequence[Output], Sequence[Result]], Tables] | None = None
    concurrency: int | None = None
    judge_concurrency: int = 1


def merged(summary: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """A summary with further keys; where both hold a mapping under a key, its entries are joined."""
    joined = dict(summary)
    for key, value in more.items():
        present = joined.get(key)
        both = isinstance(present, Mapping) and isinstance(value, Mapping)
        joined[key] = {**present, **value} if both else value  # type: ignore[dict-item]
    return joined
