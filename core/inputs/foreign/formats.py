"""The formats by name, and which one a file has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem, UnknownNameError
from core.inputs.foreign import (
    admin_outputs,
    autorag,
    beir,
    deepeval,
    generic,
    promptfoo,
    ragas,
    ragchecker,
    ragverdict,
    rankings,
    squad,
    traces,
)
from core.inputs.foreign.imported import Imported


@dataclass(frozen=True, slots=True)
class Format:
    """`sniff` says whether a path has this format; `load` reads it with the user's mapping."""

    title: str
    sniff: Callable[[Path], bool]
    load: Callable[[Path, Mapping[str, Any]], list[Imported]]


FORMATS: dict[str, Format] = {
    "beir": Format("BEIR folder", beir.sniff, beir.load),
    "admin_outputs": Format(
        "outputs folder of the RAG Evaluation Admin or of Plumbline", admin_outputs.sniff, admin_outputs.load
    ),
    "autorag": Format("AutoRAG parquet files", autorag.sniff, autorag.load),
    "trec": Format("TREC run and qrels, also as JSON or parquet (ranx)", rankings.sniff, rankings.load),
    "ragverdict": Format("report.json of an audit", ragverdict.sniff, ragverdict.load),
    "promptfoo": Format("promptfoo results, version 3", promptfoo.sniff, promptfoo.load),
    "deepeval": Format("DeepEval test run", deepeval.sniff, deepeval.load),
    "ragchecker": Format("RAGChecker input or output", ragchecker.sniff, ragchecker.load),
    "squad": Format("SQuAD 1.1 or 2.0", squad.sniff, squad.load),
    "traces": Format("traces: OpenTelemetry GenAI or OpenInference, as JSON", traces.sniff, traces.load),
    "ragas": Format("ragas results: CSV, JSON, JSON Lines or parquet", ragas.sniff, ragas.load),
    "generic": Format("any table of results, by mapping", generic.sniff, generic.load),
}


def detect(path: str | Path) -> str:
    """The name of the first format that fits. InputError where none does, or the file cannot be read at all."""
    file = Path(path)
    if not file.exists():
        raise InputError(f"no such file or folder: {file}")
    first: InputError | None = None
    for name, form in FORMATS.items():
        try:
            if form.sniff(file):
                return name
        except InputError as error:
            first = first or error
    if first is not None:
        raise first
    known = "; ".join(f"{name}: {form.title}" for name, form in FORMATS.items())
    raise InputError(f"{file}: no known format fits", [Problem("--format", known)])


def load_foreign(
    path: str | Path,
    format: str | None = None,  # noqa: A002 - the name of the command's option
    mapping: Mapping[str, Any] | None = None,
) -> list[Imported]:
    """Read another tool's results: one `Imported` a run in them.

    `format` is a name of FORMATS, by default `detect`'s. `mapping` maps roles to columns for tables, and names
    companion files elsewhere (`qrels`, `run`, `split`, `predictions`, `qa`). InputError names file, row and
    column of what cannot be read; nothing is returned then.
    """
    file = Path(path)
    name = format or detect(file)
    if name not in FORMATS:
        raise UnknownNameError("format", name, FORMATS)
    if not file.exists():
        raise InputError(f"no such file or folder: {file}")
    return FORMATS[name].load(file, dict(mapping or {}))
