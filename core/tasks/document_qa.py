"""Document QA: PDFs and questions → the built-in pipeline under test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.contracts import ScoringContext, System
from core.corpus import Chunk, Document, ParsingReport
from core.errors import InputError
from core.evaluation.document_answers import DocumentAnswers
from core.inputs.cases import load_questions
from core.inputs.documents import PARSER_VERSION, load_documents
from core.metrics.spans import evidence_spans
from core.records import Case, Output, Result, Run, Verdict, digest
from core.retrieval.stages import Stages
from core.settings import RunSettings
from core.statistics.calibration_summary import calibration_summary, calibration_tables
from core.store.export import write_csv
from core.store.runs import Store
from core.systems.document_qa import DocumentQa
from core.task import Task


def document_qa(settings: RunSettings, stages: Stages) -> Task:
    """Parse, read the questions, build the system. Raises InputError when no document could be read."""
    asked = ("questions", settings.questions, settings.limit)
    loaded = stages.shared(asked[:2], lambda: load_questions(Path(settings.questions or "")))
    cases = stages.shared(asked, lambda: loaded.cases[: settings.limit])
    read = ("documents", settings.docs, settings.docs_root, settings.parse_timeout, settings.passwords)
    documents, reports = stages.shared(
        read,
        lambda: load_documents(
            settings.docs,
            root=settings.docs_root,
            parse_timeout=settings.parse_timeout,
            cache_dir=Path(settings.cache_dir) / "parsed",
            passwords=settings.passwords,
        ),
    )
    if not any(document.text.strip() for document in documents):
        failed = "; ".join(f"{report.doc_path}: {', '.join(report.problems)}" for report in reports[:5])
        raise InputError(f"none of the {len(reports)} documents has readable text ({failed})")
    # one mapping for all configurations: what is located in the documents is found again by its identity
    by_path = stages.shared(("by path", read), lambda: _by_path(documents))
    system = DocumentQa(settings, documents, stages)
    return _task(
        settings,
        system,
        system.chunks,
        cases=cases,
        by_path=by_path,
        reports=reports,
        suite=settings.suite or loaded.suite,
        suite_digest=loaded.digest if settings.limit is None else digest([loaded.digest, settings.limit]),
        questions_digest=loaded.digest,
        notices=(
            *loaded.notices,
            *_parse_notices(reports),
            *stages.shared(("lost evidence", read, asked), lambda: _evidence_notices(cases, by_path)),
        ),
    )


def document_qa_again(run: Run, settings: RunSettings, store: Store, stages: Stages, system: System) -> Task:
    """The task of a stored run, from the documents and cases the store keeps."""
    documents = [store.document(run.id, report.doc_path) for report in store.parsing_reports(run.id)]
    present = [document for document in documents if document is not None]
    by_path, reports, cases = _by_path(present), store.parsing_reports(run.id), store.cases(run.id)
    return _task(
        settings,
        system,
        DocumentQa(settings, present, stages).chunks,
        cases=cases,
        by_path=by_path,
        reports=reports,
        suite=run.suite,
        suite_digest=run.suite_digest,
        questions_digest=run.digests.get("questions", run.suite_digest),
        notices=(*_parse_notices(reports), *_evidence_notices(cases, by_path)),
    )


def _task(
    settings: RunSettings,
    system: System,
    chunks: Sequence[Chunk],
    *,
    cases: Sequence[Case],
    by_path: Mapping[str, Document],
    reports: Sequence[ParsingReport],
    suite: str,
    suite_digest: str,
    questions_digest: str,
    notices: Sequence[str],
) -> Task:
    documents = list(by_path.values())
    return Task(
        kind="document_qa",
        suite=suite,
        suite_digest=suite_digest,
        cases=cases,
        system=system,
        evaluate=DocumentAnswers().evaluate,
        context=ScoringContext(
            documents=by_path, chunks=chunks, top_k=settings.top_k, settings=settings.model_dump(mode="json")
        ),
        digests={
            "questions": questions_digest,
            "corpus": digest(sorted((document.doc_path, document.digest) for document in documents)),
        },
        versions={"parser": PARSER_VERSION},
        documents=documents,
        reports=reports,
        notices=tuple(notices),
        extra_summary={
            "n_documents": len(documents),
            "n_sections": sum(len(document.sections) for document in documents),
            "n_paragraphs": sum(len(document.paragraphs) for document in documents),
            "n_chunks": len(chunks),
            "documents": [report.doc_path for report in reports],
            "questions_path": settings.questions,
        },
        conclude=lambda _, outputs, results: {
            "notices": [*notices, *getattr(system, "notices", ())],
            "calibration": {
                "answerability_confidence": calibration_summary(
                    _confidences(outputs, results), probabilities=False, high=settings.high_confidence
                )
            },
        },
        tables=lambda _, outputs, results: calibration_tables(
            _confidences(outputs, results), probabilities=False
        ),
        artifacts={"chunks.csv": lambda path: _write_chunks(path, chunks, by_path)},
    )


def _confidences(outputs: Sequence[Output], results: Sequence[Result]) -> list[tuple[float, bool]]:
    """(evidence score, passed) of every answer that has both. The score ranks answers; it is no probability."""
    given = {(output.case_id, output.repeat): output.confidence for output in outputs}
    return [
        (confidence, result.verdict is Verdict.PASS)
        for result in results
        if result.verdict is not Verdict.ERROR
        and (confidence := given.get((result.case_id, result.repeat))) is not None
    ]


def _parse_notices(reports: Sequence[ParsingReport]) -> list[str]:
    return [
        f"{report.doc_path}: {report.status.replace('_', ' ')} ({'; '.join(report.problems) or 'no text found'})"
        for report in reports
        if report.status != "read"
    ]


def _by_path(documents: Sequence[Document]) -> dict[str, Document]:
    return {document.doc_path: document for document in documents}


def _evidence_notices(cases: Sequence[Case], documents: Mapping[str, Document]) -> list[str]:
    """Evidence that cannot be found in the parsed text would silently lower recall: say so."""
    notices = []
    for case in cases:
        found = {span.evidence_index for span in evidence_spans(case, documents)}
        lost = [index for index in range(len(case.evidence)) if index not in found]
        if lost:
            named = ", ".join(sorted({case.evidence[index].doc_path for index in lost}))
            notices.append(
                f"question {case.id}: {len(lost)} of {len(case.evidence)} evidence quotes not found in {named}"
            )
    return notices


def _write_chunks(path: Path, chunks: Sequence[Chunk], documents: Mapping[str, Document]) -> None:
    """chunks.csv: the published columns, then ours. Words are counted from the start of the chunk's section."""
    ours = ("ordinal", "start", "end", "page", "page_end", "strategy")
    write_csv(
        path,
        (*_CHUNK_COLUMNS, *ours),
        (
            [
                chunk.chunk_id, chunk.doc_path, chunk.doc_path, chunk.program_id, chunk.program_name,
                chunk.section_id, chunk.title, chunk.text, chunk.n_words, chunk.ordinal, chunk.strategy,
                "paragraph" if chunk.strategy == "by_paragraph" else "section",
                f"{chunk.doc_path}|{chunk.section_id}", before, before + chunk.n_words,
                *(getattr(chunk, name) for name in ours),
            ]
            for chunk, before in ((chunk, _words_before(chunk, documents)) for chunk in chunks)
        ),
    )  # fmt: skip


_CHUNK_COLUMNS = (
    "chunk_id", "doc_id", "doc_path", "program_id", "program_name", "section_id", "title", "text", "n_words",
    "chunk_index", "chunking_strategy", "source_type", "source_id", "start_word", "end_word",
)  # fmt: skip


def _words_before(chunk: Chunk, documents: Mapping[str, Document]) -> int:
    """Words between the start of the section a chunk begins in and the chunk."""
    document = documents[chunk.doc_path]
    section = max((s.start for s in document.sections if s.start <= chunk.start), default=0)
    return len(document.text[section : chunk.start].split())
