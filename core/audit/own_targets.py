"""Targets of our own making: the built-in pipeline, and outputs that are there already."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from core.audit.config import PipelineAdapter, PreparedAdapter
from core.audit.loading import pipeline_settings
from core.audit.targets import Audited, read_corpus
from core.contracts import Target
from core.errors import ConfigError, SystemFailure
from core.inputs.documents import load_documents
from core.inputs.workbook import load_prepared
from core.records import Case, Output
from core.retrieval.stages import Stages
from core.systems.document_qa import DocumentQa
from core.systems.replay import Replay


def pipeline(adapter: PipelineAdapter, cache_dir: Path) -> Audited:
    """The built-in document-QA pipeline; its chunks are what citations resolve against."""
    settings = pipeline_settings(adapter)
    documents, _ = load_documents(
        settings.docs,
        root=settings.docs_root,
        parse_timeout=settings.parse_timeout,
        cache_dir=cache_dir / "parsed",
        passwords=settings.passwords,
    )
    system = DocumentQa(settings, documents, Stages(cache_dir))
    return Audited(system, Target(corpus={chunk.chunk_id: chunk.text for chunk in system.chunks}))


def prepared(adapter: PreparedAdapter, cache_dir: Path) -> Audited:
    """Ready outputs in a file, found by the text of the question."""
    sets = load_prepared(Path(adapter.path), adapter.columns or None)
    if len(sets) != 1:
        names = ", ".join(each.name for each in sets)
        raise ConfigError(
            f"adapter.path: {adapter.path} holds {len(sets)} runs ({names}); an audit needs one"
        )
    by_query = {case.query: case.id for case in sets[0].cases}
    return Audited(ByQuery(Replay(sets[0].outputs), by_query), Target(corpus=read_corpus(adapter.corpus)))


class ByQuery:
    """Ready outputs found by the text of the query instead of by id."""

    concurrency = 1

    def __init__(self, ready: Replay, ids: Mapping[str, str]) -> None:
        self.ready, self.ids = ready, ids

    def ask(self, case: Case) -> Output:
        known = self.ids.get(case.query)
        if known is None:
            raise SystemFailure(f"the prepared file has no answer to '{case.query[:80]}'", kind="malformed")
        output = self.ready.ready.get(known, [])
        if not output:
            raise SystemFailure(f"the prepared file has no answer to '{case.query[:80]}'", kind="malformed")
        return output[-1].model_copy(update={"case_id": case.id})

    def close(self) -> None:
        self.ready.close()
