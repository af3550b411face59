"""Records as rows of their tables, and rows as records. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from core.contracts import METRICS, Metric
from core.records import Aggregate, Hit, Output, Result, Run
from core.store.content import Content, hit_content
from core.store.packing import from_json, is_clean, pack, pack_scores, sql_text, unpack, unpack_scores

PREVIEW = (
    4_000  # characters of an answer kept as plain text, for lists and search; the rest stands in the body
)

# An answer that is there stays; a failed record gives way only to one that worked.
INSERT_OUTPUT = (
    "INSERT INTO outputs (run_key, case_key, repeat, failure, latency_ms, cost_usd, confidence, abstained, n_hits, "
    "text, hits, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (run_key, case_key, repeat) DO UPDATE SET failure = NULL, latency_ms = excluded.latency_ms, "
    "cost_usd = excluded.cost_usd, confidence = excluded.confidence, abstained = excluded.abstained, "
    "n_hits = excluded.n_hits, text = excluded.text, hits = excluded.hits, body = excluded.body "
    "WHERE outputs.failure IS NOT NULL AND excluded.failure IS NULL"
)
INSERT_RESULT = (
    "INSERT INTO results (run_key, case_key, repeat, verdict, label, evaluator, test, question_type, primary_reason, "
    "failure, n_unchecked, layout, scores, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (run_key, case_key, repeat) DO UPDATE SET verdict = excluded.verdict, label = excluded.label, "
    "primary_reason = excluded.primary_reason, failure = excluded.failure, n_unchecked = excluded.n_unchecked, "
    "layout = excluded.layout, scores = excluded.scores, body = excluded.body "
    "WHERE results.failure IS NOT NULL AND excluded.failure IS NULL"
)
INSERT_AGGREGATE = (
    "INSERT OR REPLACE INTO aggregates (run_key, group_by, group_name, metric, position, mean, n_scored, "
    "n_not_applicable, n_error, low, high, level, method, note, version) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
METRIC_COLUMNS = "name, version, title, family, kind, direction, low, high, unit, headline"
INSERT_METRIC = f"INSERT OR IGNORE INTO metrics ({METRIC_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
RUN_COLUMNS = (
    "key, id, name, kind, suite, suite_digest, created_at, status, sealed_at, settings, digests, versions, "
    "git_revision, seed, parent_id, sweep_id, folder, n_cases, repeats, verdicts, summary"
)
OUTPUT_COLUMNS = "repeat, text, hits, body, failure, latency_ms, confidence, abstained"
RESULT_COLUMNS = "repeat, verdict, label, layout, scores, body"
_OUTPUT_ELSEWHERE = {
    "case_id",
    "repeat",
    "hits",
    "retrieved",
    "text",
    "latency_ms",
    "confidence",
    "abstained",
}
_RESULT_ELSEWHERE = {"case_id", "repeat", "verdict", "label", "scores"}


def output_row(
    run_key: int, case_key: int, output: Output, passages: Mapping[Content, int]
) -> tuple[Any, ...]:
    """Values for INSERT_OUTPUT."""
    body = output.model_dump(mode="json", exclude_defaults=True, exclude=_OUTPUT_ELSEWHERE, fallback=repr)
    text = output.text
    if text is not None and (len(text) > PREVIEW or not is_clean(text)):
        body["text"] = text
        text = sql_text(text[:PREVIEW])
    hits = None
    if output.hits or output.retrieved is not None:
        lists = [_hit_list(output.hits, passages)]
        if output.retrieved is not None:
            lists.append(_hit_list(output.retrieved, passages))
        hits = pack(lists)
    return (
        run_key,
        case_key,
        output.repeat,
        output.failure.kind if output.failure else None,
        output.latency_ms,
        output.usage.cost_usd if output.usage else None,
        output.confidence,
        output.abstained,
        len(output.hits),
        text,
        hits,
        pack(body) if body else None,
    )


def _hit_list(hits: tuple[Hit, ...], passages: Mapping[Content, int]) -> list[Any]:
    """[passage keys, scores, ranks or None for 1..n, parts or None when there are none]"""
    ranks = [hit.rank for hit in hits]
    parts = [hit.parts for hit in hits]
    return [
        [passages[hit_content(hit)] for hit in hits],
        [hit.score for hit in hits],
        None if ranks == list(range(1, len(hits) + 1)) else ranks,
        parts if any(parts) else None,
    ]


def passage_keys(blob: bytes | None) -> list[int]:
    """Keys of the passages a `hits` column names."""
    return [] if blob is None else [key for hits in unpack(blob) for key in hits[0]]


def load_output(case_id: str, row: tuple[Any, ...], passages: Mapping[int, Mapping[str, Any]]) -> Output:
    """An output from its OUTPUT_COLUMNS."""
    repeat, text, hits, body, _, latency, confidence, abstained = row
    fields: dict[str, Any] = {"text": text, **(unpack(body) or {})}
    lists = [] if hits is None else [_load_hits(part, passages) for part in unpack(hits)]
    return Output.model_validate(
        {
            **fields,
            "case_id": case_id,
            "repeat": repeat,
            "latency_ms": latency,
            "confidence": confidence,
            "abstained": None if abstained is None else bool(abstained),
            "hits": lists[0] if lists else (),
            "retrieved": lists[1] if len(lists) > 1 else None,
        }
    )


def _load_hits(part: list[Any], passages: Mapping[int, Mapping[str, Any]]) -> list[dict[str, Any]]:
    keys, scores, ranks, parts = part
    return [
        {
            **passages[key],
            "rank": ranks[i] if ranks else i + 1,
            "score": scores[i],
            "parts": parts[i] if parts else {},
        }
        for i, key in enumerate(keys)
    ]


def result_row(
    run_key: int,
    case_key: int,
    result: Result,
    layout: int,
    names: tuple[str, ...],
    place: tuple[str, str, str],
) -> tuple[Any, ...]:
    """Values for INSERT_RESULT. `place` is the case's (evaluator, test, question type)."""
    body = result.model_dump(mode="json", exclude_defaults=True, exclude=_RESULT_ELSEWHERE, fallback=repr)
    label = result.label
    if label is not None and not is_clean(label):
        body["label"], label = label, sql_text(label)
    return (
        run_key,
        case_key,
        result.repeat,
        result.verdict.value,
        label,
        *place,
        sql_text(result.diagnosis.primary_reason) if result.diagnosis else None,
        result.failure.kind if result.failure else None,
        len(result.unchecked),
        layout,
        pack_scores(result.scores[name] for name in names),
        pack(body) if body else None,
    )


def load_result(case_id: str, row: tuple[Any, ...], layouts: Mapping[int, tuple[str, ...]]) -> Result:
    """A result from its RESULT_COLUMNS."""
    repeat, verdict, label, layout, scores, body = row
    return Result.model_validate(
        {
            "label": label,
            **(unpack(body) or {}),
            "case_id": case_id,
            "repeat": repeat,
            "verdict": verdict,
            "scores": unpack_scores(layouts[layout], scores),
        }
    )


def aggregate_row(run_key: int, position: int, a: Aggregate) -> tuple[Any, ...]:
    """Values for INSERT_AGGREGATE."""
    return (
        run_key,
        sql_text(a.group_by),
        sql_text(a.group),
        sql_text(a.metric),
        position,
        a.mean,
        a.n_scored,
        a.n_not_applicable,
        a.n_error,
        a.low,
        a.high,
        a.level,
        a.method,
        a.note,
        METRICS[a.metric].version if a.metric in METRICS else None,
    )


def metric_rows(names: Iterable[str]) -> list[tuple[Any, ...]]:
    """Values for INSERT_METRIC of the metrics that are registered."""
    columns = METRIC_COLUMNS.split(", ")
    return [
        tuple(getattr(METRICS[name], column) for column in columns)
        for name in dict.fromkeys(names)
        if name in METRICS
    ]


def load_metric(row: tuple[Any, ...]) -> Metric:
    """What a metric meant, from its METRIC_COLUMNS (without formula and function)."""
    fields = dict(zip(METRIC_COLUMNS.split(", "), row, strict=True))
    return Metric(**{**fields, "headline": bool(fields["headline"])})


AGGREGATE_COLUMNS = (
    "group_by, group_name, metric, mean, n_scored, n_not_applicable, n_error, low, high, level, method, note"
)


def load_aggregate(row: tuple[Any, ...]) -> Aggregate:
    """An aggregate from its AGGREGATE_COLUMNS."""
    names = AGGREGATE_COLUMNS.replace("group_name", "group").split(", ")
    return Aggregate.model_validate(dict(zip(names, row, strict=True)))


def load_run(row: tuple[Any, ...], aggregates: tuple[Aggregate, ...]) -> Run:
    """A run from its RUN_COLUMNS."""
    fields = dict(zip(RUN_COLUMNS.split(", "), row, strict=True))
    del fields["key"]
    for name in ("settings", "digests", "versions", "verdicts"):
        fields[name] = from_json(fields[name])
    return Run.model_validate({**fields, "summary": unpack(fields["summary"]), "aggregates": aggregates})
