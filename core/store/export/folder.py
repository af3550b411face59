"""The folder of a run: every published file, written beside and renamed into place, no folder overwritten."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from core.corpus import Document, ParsingReport
from core.errors import StoreError
from core.records import Run
from core.store.export import columns, published, reports
from core.store.export.tabular import write_csv, write_json, write_jsonl, write_text
from core.store.runs import Store

Writer = Callable[[Path], None]
_SECTIONS = ["doc_id", "doc_path", "program_id", "program_name", "section_id", "title", "text"]
_PARAGRAPHS = [*_SECTIONS, "paragraph_id", "paragraph_index"]
_UNSTABLE = ("runtime_seconds", "latency_ms", "timings", "usage")


def write_run_folder(
    store: Store,
    run_id: str,
    folder: str | Path,
    artifacts: Mapping[str, Writer] | None = None,
    *,
    canonical: bool = False,
    listed: Sequence[published.Item] | None = None,
    common: Path | None = None,
) -> dict[str, str]:
    """Write the published files of a run; returns key → path of every file.

    `artifacts` are further files by name (they win over ours of the same name). The folder of another run is
    never touched: `folder`, then `folder-2`, `folder-3`… is taken, and the run record names the one that was.
    The files are written to a hidden folder beside it and renamed at once, so that a crash leaves nothing
    half-written. `canonical` leaves out ids and times, so that equal runs give equal bytes. `listed` are the
    run's items where they are at hand. `common` is a folder for files that several runs have in common (the
    documents they read): they are written there once and linked into each run's folder.
    """
    run = store.run(run_id)
    wanted = Path(folder)
    try:
        wanted.parent.mkdir(parents=True, exist_ok=True)
        staging = wanted.parent / f".{wanted.name[:60]}.{uuid.uuid4().hex[:8]}.partial"
        staging.mkdir()
    except OSError as error:
        raise StoreError(f"the run folder {wanted} cannot be written: {error}") from error
    try:
        shown = published.timeless(run) if canonical else run
        items = published.items(store, run_id) if listed is None else listed
        files = _tables(shown, items, canonical) | _document_files(store, shown, canonical, common)
        names = _write_files(store, shown, staging, {**files, **(artifacts or {})})
        final = _free(wanted, run.id)
        while True:
            outputs = {key: str(final / name) for key, name in names.items()}
            summary = _run_summary(shown, final, {} if canonical else outputs, store, canonical)
            write_json(staging / "run_summary.json", summary)
            if _rename(staging, final, run.id):
                break
            final = _free(wanted, run.id)
    except OSError as error:
        raise StoreError(f"the run folder {wanted} cannot be written: {error}") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    if not store.readonly and run.folder != str(final):
        store.set_folder(run.id, str(final))
    return {"run_summary": str(final / "run_summary.json"), **outputs}


def _free(wanted: Path, run_id: str) -> Path:
    """The folder to use: `wanted`, unless another run (or anything else) is in it."""
    number, candidate = 1, wanted
    while candidate.exists() and not _belongs(candidate, run_id) and _is_used(candidate):
        number += 1
        candidate = wanted.with_name(f"{wanted.name}-{number}")
    return candidate


def _is_used(folder: Path) -> bool:
    return not folder.is_dir() or any(folder.iterdir())


def _belongs(folder: Path, run_id: str) -> bool:
    try:
        found = json.loads((folder / "run_summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("run_id") == run_id


def _rename(staging: Path, final: Path, run_id: str) -> bool:
    """Move the finished files into place; False when somebody else took the name in between."""
    if final.exists() and _belongs(final, run_id):
        old = staging.with_suffix(".old")
        os.rename(final, old)
        os.rename(staging, final)
        shutil.rmtree(old, ignore_errors=True)
        return True
    try:
        if final.is_dir():
            final.rmdir()  # an empty folder; fails when it is not
        os.rename(staging, final)
    except OSError:
        if final.exists():
            return False
        raise
    return True


def _write_files(store: Store, run: Run, folder: Path, files: dict[str, Writer]) -> dict[str, str]:
    for name in store.attribution_tables(run.id):
        files.setdefault(name if "." in name else f"{name}.csv", _attribution(store, run.id, name))
    for name, writer in files.items():
        if Path(name).name != name:
            raise StoreError(f"'{name}' is no plain file name")
        writer(folder / name)
    return {_key(name): name for name in sorted(p.name for p in folder.iterdir())}


def _key(name: str) -> str:
    """`rag_results` for rag_results.csv; other endings are part of the key."""
    stem, _, ending = name.partition(".")
    return stem if ending in ("csv", "json") else f"{stem}_{ending.replace('.', '_')}"


def _tables(run: Run, listed: Sequence[published.Item], canonical: bool) -> dict[str, Writer]:
    results, chunks = published.result_columns(run, listed), published.chunk_columns(run, listed)
    classified = published.is_classification(run, listed)

    def rows(names: Sequence[str]) -> Iterator[list[Any]]:
        return (published.row(run, item, names, canonical=canonical) for item in listed)

    def metrics(*, retrieval: bool) -> Writer:
        names = published.metric_columns(listed, retrieval=retrieval)
        return lambda path: write_csv(path, names, rows(names))

    def claims() -> Iterator[dict[str, Any]]:
        for item in listed:
            for claim in published.claim_rows(item):
                yield {
                    "question_id": item.case.id,
                    "question": item.case.query,
                    **claim,
                    "repeat": item.repeat,
                }

    written: dict[str, Writer] = {
        "summary.json": lambda path: write_json(path, experiment_summary(run, canonical=canonical)),
        "rag_results.csv": lambda path: write_csv(path, results, rows(results)),
        "retrieved_chunks.csv": lambda path: write_csv(
            path, chunks, (row for item in listed for row in published.chunk_rows(run, item, chunks))
        ),
        "retrieval_metrics.csv": metrics(retrieval=True),
        "retrieval_metrics_summary.json": _summary_part(run, "retrieval_metrics"),
        "diagnostics.csv": lambda path: write_csv(path, columns.DIAGNOSTICS, rows(columns.DIAGNOSTICS)),
        "diagnostics_summary.json": lambda path: write_json(path, run.summary.get("diagnostics", {})),
        "quality_report.md": lambda path: write_text(
            path, reports.quality_report(run, listed, canonical=canonical)
        ),
        "error_report.md": lambda path: write_text(path, reports.error_report(listed)),
    }
    if "evidence_graph" in run.summary:
        found = run.summary["evidence_graph"]
        written["evidence_graph_summary.json"] = lambda path: write_json(path, found)
    if not classified:
        written |= {
            "answer_metrics.csv": metrics(retrieval=False),
            "answer_metrics_summary.json": _summary_part(run, "answer_metrics"),
            "claim_evidence_map.csv": lambda path: write_csv(
                path, columns.CLAIMS, ([claim[name] for name in columns.CLAIMS] for claim in claims())
            ),
            "claim_evidence_map.jsonl": lambda path: write_jsonl(path, claims()),
        }
    if any(item.result is not None and item.result.judgements for item in listed):
        written["claim_judge_results.jsonl"] = lambda path: write_jsonl(path, _judgements(listed))
    return written


def _summary_part(run: Run, name: str) -> Writer:
    part = dict(run.summary.get(name, {}))
    by_type = run.summary.get(f"{name}_by_question_type")
    return lambda path: write_json(path, part | ({"by_question_type": by_type} if by_type else {}))


def _judgements(listed: Sequence[published.Item]) -> Iterator[dict[str, Any]]:
    for item in listed:
        for judgement in item.result.judgements if item.result is not None else ():
            yield {
                "question_id": item.case.id,
                "status": "error" if judgement.failure else "success",
                "error": judgement.failure.message if judgement.failure else None,
                "model": judgement.model,
                "rubric": judgement.rubric,
                "rubric_version": judgement.rubric_version,
                "subject": judgement.subject,
                "metrics": {
                    "label": judgement.label,
                    "score": judgement.score,
                    "votes": list(judgement.votes),
                },
                "reasoning": judgement.reasoning,
                "raw_response": judgement.raw_text[:12_000],
            }


def _attribution(store: Store, owner: str, name: str) -> Writer:
    found = store.attribution(owner, name)
    names = list(found[0]) if found else []
    return lambda path: write_csv(path, names, ([row.get(name) for name in names] for row in found))


# --- documents ------------------------------------------------------------------------------------------------


def _document_files(store: Store, run: Run, canonical: bool, common: Path | None) -> dict[str, Writer]:
    parsed = store.parsing_reports(run.id)
    if not parsed and not store.has_documents(run.id):
        return {}
    unstable = {"seconds", "cached"} if canonical else set()
    fields = [name for name in ParsingReport.model_fields if name not in unstable]
    reports_file: Writer = lambda path: write_csv(  # noqa: E731 - one writer among the others
        path,
        ["doc_id", *fields, "empty_section_rate"],
        (
            [each.doc_path, *(_plain(getattr(each, name)) for name in fields), _rate_of_empty(each)]
            for each in parsed
        ),
    )
    texts = _texts(store, run.id)
    if common is not None:
        kept = common / f"documents-{str(run.digests.get('corpus', ''))[:12]}"
        texts = {name: partial(_link, kept / name, writer) for name, writer in texts.items()}
    return {**texts, "parsing_diagnostics.csv": reports_file}


def _rate_of_empty(report: ParsingReport) -> float | None:
    return report.n_empty_sections / report.n_sections if report.n_sections else None


def _texts(store: Store, run_id: str) -> dict[str, Writer]:
    """Writers of the documents' texts; they are read when the first of them is written."""
    documents = cache(partial(store.documents, run_id))
    return {
        "sections.csv": lambda path: write_csv(path, _SECTIONS, _section_rows(documents())),
        "paragraphs.csv": lambda path: write_csv(path, _PARAGRAPHS, _paragraph_rows(documents())),
        "raw_documents.txt": lambda path: write_text(
            path, "".join(f"===== {document.doc_path} =====\n{document.text}\n\n" for document in documents())
        ),
    }


def _link(kept: Path, writer: Writer, path: Path) -> None:
    """The file at `kept` under another name; it is written when it is not there yet."""
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        fresh = kept.with_name(f".{kept.name}.{uuid.uuid4().hex[:8]}")
        writer(fresh)
        os.replace(fresh, kept)  # another process may have written the same meanwhile
    try:
        os.link(kept, path)
    except OSError:  # the file system has no links
        shutil.copyfile(kept, path)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _section_rows(documents: Sequence[Document]) -> Iterator[list[Any]]:
    for document in documents:
        for section in document.sections:
            text = document.text[section.start : section.end]
            yield [*_place(document), section.section_id, section.title, text]


def _paragraph_rows(documents: Sequence[Document]) -> Iterator[list[Any]]:
    for document in documents:
        by_ordinal = {section.ordinal: section for section in document.sections}
        for paragraph in document.paragraphs:
            section = by_ordinal.get(paragraph.section)
            yield [
                *_place(document),
                section.section_id if section else "",
                section.title if section else "",
                document.text[paragraph.start : paragraph.end],
                f"{document.doc_path}#p{paragraph.ordinal}",
                paragraph.ordinal,
            ]


def _place(document: Document) -> list[str]:
    return [document.doc_path, document.doc_path, document.program_id, document.program_name]


# --- summaries ------------------------------------------------------------------------------------------------


def experiment_summary(run: Run, *, canonical: bool = False) -> dict[str, Any]:
    """summary.json (16.2): the design, the counts, the metrics. Keys that do not apply are absent."""
    settings = run.settings
    names = ["retriever", "chunk_size", "overlap", "hybrid_alpha", "top_k", "embedding_model"]
    design = {name: settings[name] for name in names if name in settings}
    if settings.get("retriever") != "hybrid":
        design.pop("hybrid_alpha", None)
    found: dict[str, Any] = {
        "experiment": run.name,
        "chunking_strategy": settings.get("chunking"),
        **{("chunk_overlap" if name == "overlap" else name): value for name, value in design.items()},
        "reranker": _reranker(settings),
        "n_questions": run.n_cases,
        "verdicts": run.verdicts,
        **run.summary,
        "aggregates": [row.model_dump(mode="json") for row in run.aggregates],
    }
    return _stable(found, canonical)


def _run_summary(
    run: Run, folder: Path, outputs: Mapping[str, str], store: Store, canonical: bool
) -> dict[str, Any]:
    settings = run.settings
    doc = run.kind == "document_qa"
    found: dict[str, Any] = {
        "run_id": run.id,
        "run_dir": str(folder),
        "run_name": run.name,
        "mode": settings.get("mode", "classifier"),
        "classifier_type": run.kind,
        "suite": run.suite,
        "suite_digest": run.suite_digest,
        "status": run.status,
        "created_at": run.created_at,
        "sealed_at": run.sealed_at,
        "git_revision": run.git_revision,
        "seed": run.seed,
        "repeats": run.repeats,
        "parent_id": run.parent_id,
        "sweep_id": run.sweep_id,
        "digests": run.digests,
        "versions": run.versions,
        "top_k": settings.get("top_k"),
        "n_questions": run.n_cases,
        "verdicts": run.verdicts,
    }
    if doc:
        found |= {
            "docs_root": settings.get("docs_root"),
            "questions_path": settings.get("questions"),
            "chunking_mode": settings.get("chunking"),
            "retriever_mode": settings.get("retriever"),
            "llm": {"enabled": settings.get("llm_enable", False), "model": settings.get("llm_model")},
            "reranker": _reranker(settings),
        }
    found["judge"] = {"enabled": settings.get("judge_enable", False), "model": settings.get("judge_model")}
    found |= {key: value for key, value in run.summary.items() if key not in found}
    found["experiments" if doc else "classifier_summary"] = (
        [experiment_summary(run, canonical=canonical)]
        if doc
        else experiment_summary(run, canonical=canonical)
    )
    found["settings"] = settings
    found["attribution_tables"] = store.attribution_tables(run.id)
    found["outputs"] = dict(outputs)
    if canonical:
        for name in ("run_id", "run_dir", "created_at", "sealed_at", "parent_id", "sweep_id", "run_name"):
            found.pop(name)
    return _stable(found, canonical)


def _reranker(settings: Mapping[str, Any]) -> dict[str, Any]:
    n = settings.get("rerank_top_n") or 0
    return {"enabled": n > 0, "type": "lexical_overlap", "top_n": n, "weight": settings.get("rerank_weight")}


def _stable(found: dict[str, Any], canonical: bool) -> dict[str, Any]:
    return {k: v for k, v in found.items() if k not in _UNSTABLE} if canonical else found
