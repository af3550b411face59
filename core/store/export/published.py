"""The published tables of a run (`reference-behaviour` 16.3, 16.4) as columns and rows.

A column takes its value from what the store has: the case, the scores, the system's own signals, remarks of the
evaluator. Columns that came later stand behind the published ones; scores of no published name behind those.
Several repeats of a case are several rows, told apart by `repeat`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.contracts import METRICS
from core.records import Case, Hit, Output, Result, Run
from core.store.export import columns as named
from core.store.runs import Store

CLASSIFIERS = frozenset({"ted_cpv", "api_classifier"})
_RETRIEVAL_FAMILIES = frozenset({"ranking", "spans", "documents", "reference text"})
_PREVIEW = 800
_TIMES = frozenset({"latency_ms", "cost_usd", "api_latency_ms"})


@dataclass(frozen=True, slots=True)
class Item:
    """A case with one of its outputs and its result; None where a run ended before it got there."""

    case: Case
    output: Output | None
    result: Result | None

    @property
    def repeat(self) -> int:
        return self.output.repeat if self.output else self.result.repeat if self.result else 0


def timeless(run: Run) -> Run:
    """The run without what differs between two equal runs: its name, the places it was written to, and how many
    cases were asked at once."""
    places = ("run_name", "output_dir", "store_path", "cache_dir", "concurrency")
    settings = {key: value for key, value in run.settings.items() if key not in places}
    return run.model_copy(update={"name": run.suite or run.kind, "settings": settings})


def items(store: Store, run_id: str) -> list[Item]:
    """Every case of a run in file order, once for each repeat (once without output where it was not asked)."""
    return joined(store.cases(run_id), store.iter_outputs(run_id), store.iter_results(run_id))


def joined(cases: Iterable[Case], outputs: Iterable[Output], results: Iterable[Result]) -> list[Item]:
    """The same from records at hand."""
    answers = {(o.case_id, o.repeat): o for o in outputs}
    found = {(r.case_id, r.repeat): r for r in results}
    repeats: dict[str, set[int]] = {}
    for case_id, repeat in (*answers, *found):
        repeats.setdefault(case_id, set()).add(repeat)
    return [
        Item(case, answers.get((case.id, repeat)), found.get((case.id, repeat)))
        for case in cases
        for repeat in sorted(repeats.get(case.id, {0}))
    ]


def is_classification(run: Run, listed: Sequence[Item]) -> bool:
    """Whether the run's tables are those of a classifier."""
    return run.kind in CLASSIFIERS or any(
        "exact_top1_match" in item.result.scores for item in listed if item.result is not None
    )


def is_retrieval(name: str) -> bool:
    """Whether a score belongs into the retrieval tables."""
    known = METRICS.get(name)
    return name in named.RETRIEVAL or (known is not None and known.family in _RETRIEVAL_FAMILIES)


def score_names(listed: Iterable[Item]) -> list[str]:
    """Names of all scores, sorted."""
    return sorted({name for item in listed if item.result is not None for name in item.result.scores})


def result_columns(run: Run, listed: Sequence[Item]) -> list[str]:
    """Columns of rag_results.csv."""
    base = (
        named.CLASSIFIED
        if is_classification(run, listed)
        else (*named.DOCUMENT, *named.ANSWERS, *named.CONCLUSION)
    )
    return list(dict.fromkeys([*base, *score_names(listed), *named.OURS]))


def chunk_columns(run: Run, listed: Sequence[Item]) -> list[str]:
    """Columns of retrieved_chunks.csv: the published ones, then every part of a score by name."""
    base = named.CLASSIFIED_CHUNKS if is_classification(run, listed) else named.CHUNKS
    parts = {name for item in listed if item.output for hit in item.output.hits for name in hit.parts}
    return list(dict.fromkeys([*base, *sorted(parts)]))


def metric_columns(listed: Sequence[Item], *, retrieval: bool) -> list[str]:
    """Columns of retrieval_metrics.csv or answer_metrics.csv."""
    base = named.RETRIEVAL if retrieval else ("answer_accuracy_label", *named.ANSWERS)
    others = [name for name in score_names(listed) if is_retrieval(name) == retrieval]
    source = ("relevance_source",) if retrieval else ()
    return list(
        dict.fromkeys(["question_id", "question", "question_type", "repeat", *base, *others, *source])
    )


def row(run: Run, item: Item, columns: Sequence[str], *, canonical: bool = False) -> list[Any]:
    """Values of one item; None where a column does not apply. Canonical rows leave times and costs out."""
    known = values(run, item)
    return [None if canonical and name in _TIMES else known.get(name) for name in columns]


def values(run: Run, item: Item) -> dict[str, Any]:
    """Everything that can be said about an item, by column name; what is more specific wins."""
    case, output, result = item.case, item.output, item.result
    found: dict[str, Any] = {**case.metadata}
    if output is not None:
        found.update(output.signals)
        found.update(_of_output(output))
    if result is not None:
        found.update(result.artifacts)
        found.update(result.scores)
        found.update(_of_result(run, item, result))
    found.update(
        question_id=case.id,
        question=case.query,
        question_type=case.question_type,
        gold_answer=case.gold_answer,
        expected_keywords=list(case.expected_keywords),
        expected_answerable=found.get("expected_answerable", case.answerable),
        expected_cpv_codes=list(case.gold_codes),
        repeat=item.repeat,
        manual_flag=None,
        manual_comment=None,
    )
    found.setdefault("program_id", case.metadata.get("program_id"))
    return found


def _of_output(output: Output) -> dict[str, Any]:
    first = output.hits[0] if output.hits else None
    failure = output.failure
    return {
        "answer": output.text,
        "classifier_explanation": output.explanation or None,
        "api_explanation": output.explanation or None,
        "api_latency_ms": output.latency_ms,
        "latency_ms": output.latency_ms,
        "cost_usd": output.usage.cost_usd if output.usage else None,
        "prediction_confidence": output.confidence,
        "prediction_score_raw": first.score if first else None,
        "top1_predicted_cpv": first.id if first else None,
        "retrieved_chunk_ids": [hit.id for hit in output.hits],
        "retrieved_chunks": [_preview(hit) for hit in output.hits],
        "prepared_candidate_count": len(output.hits),
        "prepared_retrieved_candidate_count": None if output.retrieved is None else len(output.retrieved),
        "failure_where": failure.where if failure else None,
        "failure_kind": failure.kind if failure else None,
        "failure_message": failure.message if failure else None,
    }


def _of_result(run: Run, item: Item, result: Result) -> dict[str, Any]:
    diagnosis, failure = result.diagnosis, result.failure
    found: dict[str, Any] = {
        "verdict": result.verdict.value,
        "verdict_reasons": list(result.reasons),
        "unchecked": list(result.unchecked),
        "relevance_source": result.relevance_source,
        "answer_accuracy_label": result.label,
        "auto_flag": result.label or _flag(run, item, result),
        "claim_evidence_map": claim_rows(item),
        "primary_error_reason": diagnosis.primary_reason if diagnosis else None,
        "secondary_error_reason": diagnosis.secondary_reason if diagnosis else None,
        "diagnostic_explanation": diagnosis.explanation if diagnosis else None,
        "component": diagnosis.component if diagnosis else None,
        "claim_diagnostic": diagnosis.claim_diagnostic if diagnosis else None,
    }
    if failure is not None:
        found.update(failure_where=failure.where, failure_kind=failure.kind, failure_message=failure.message)
    return found


def _flag(run: Run, item: Item, result: Result) -> str | None:
    exact = result.scores.get("exact_top1_match")
    return None if exact is None else "correct" if exact else "incorrect"


def _preview(hit: Hit) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "chunk_id": hit.id,
        "score": hit.score,
        "section_id": hit.section_id,
        "title": hit.title,
        "retrieval_source": hit.source,
        "text_preview": hit.text[:_PREVIEW],
    }


def chunk_rows(run: Run, item: Item, columns: Sequence[str]) -> Iterator[list[Any]]:
    """One row a hit, best first."""
    if item.output is None:
        return
    known = values(run, item)
    known.update(
        question_program_id=item.case.metadata.get("program_id"),
        question_program_name=item.case.metadata.get("program_name"),
        question_doc_id=item.case.metadata.get("doc_id") or next(iter(item.case.doc_paths), None),
        answer_scope=known.get("scope"),
        evaluation_scope=list(item.case.doc_paths),
        retriever=known.get("retriever") or run.settings.get("retriever"),
        chunking_strategy=run.settings.get("chunking"),
        source_type=None,
    )
    grades = item.result.relevance if item.result is not None else {}
    graded = item.result is not None and item.result.relevance_source != "none"
    for hit in item.output.hits:
        grade = grades.get(hit.id, 0 if graded else None)
        own: dict[str, Any] = {
            **hit.parts,
            "rank": hit.rank,
            "chunk_id": hit.id,
            "score": hit.score,
            "base_retrieval_score": hit.parts.get("base", hit.parts.get("base_retrieval_score", hit.score)),
            "retrieval_source": hit.source,
            "doc_id": hit.doc_path,
            "doc_path": hit.doc_path,
            "section_id": hit.section_id,
            "title": hit.title,
            "text": hit.text,
            "page": hit.page,
            "start": hit.start,
            "end": hit.end,
            "relevance_grade": grade,
            "is_relevant": None if grade is None else grade >= 1,
        }
        yield [own[name] if name in own else known.get(name) for name in columns]


def claim_rows(item: Item) -> list[dict[str, Any]]:
    """The claim table of an item under its published columns, one row a claim."""
    if item.result is None or not item.result.claims:
        return []
    ranks = {hit.id: hit for hit in item.output.hits} if item.output else {}
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for claim in item.result.claims:
        entry = rows.setdefault(
            (claim.claim_type, claim.index),
            {
                "claim_index": claim.index,
                "claim_type": claim.claim_type,
                "claim": claim.claim,
                "context_nli": None,
                "answer_nli": None,
                "gold_nli": None,
                "supporting_chunk_ids": [],
                "raw_supporting_chunk_ids": [],
                "invalid_attribution_count": 0,
                "supporting_chunks": [],
            },
        )
        if claim.target in ("context", "answer", "gold"):
            entry[f"{claim.target}_nli"] = claim.label
        elif claim.target.startswith("chunk:") and claim.label == "supported":
            chunk_id = claim.target.removeprefix("chunk:")
            hit = ranks.get(chunk_id)
            entry["supporting_chunk_ids"].append(chunk_id)
            entry["raw_supporting_chunk_ids"].append(chunk_id)
            entry["supporting_chunks"].append(
                {
                    "chunk_id": chunk_id,
                    "rank": hit.rank if hit else None,
                    "support_score": claim.score,
                    "section_id": hit.section_id if hit else None,
                    "title": hit.title if hit else None,
                }
            )
    return [rows[key] for key in sorted(rows)]
