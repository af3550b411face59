"""One run as one HTML file, for people without the app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.contracts import Metric
from core.records import Run, Verdict
from core.store.export import published
from core.store.export.page import esc, fold, number, page, table, text, tiles, verdict
from core.store.runs import Store

LISTED = 2_000  # cases with their text; further ones are counted (the file stays one a browser opens)
_ATTENTION = {"FAIL": 0, "ERROR": 1, "WEAK": 2, "PASS": 3}


def run_page(store: Store, run: Run, *, canonical: bool = False) -> str:
    """The report of a run: verdicts, figures with interval and coverage, what went wrong, every case."""
    listed = published.items(store, run.id)
    body = [
        *_head(run, canonical),
        *_figures(run, store.metrics(run.id)),
        *_by_type(run),
        *_settings(run),
        *_cases(listed),
    ]
    return page(f"{run.name} · Plumbline", body)


def _head(run: Run, canonical: bool) -> Iterator[str]:
    yield f"<h1>{esc(run.name)}</h1>"
    when = "" if canonical else f" · {esc(run.created_at)} · run {esc(run.id)}"
    yield f'<p class="dim">{esc(run.kind)} · suite {esc(run.suite)}{when} · {esc(run.status)}</p>'
    total = sum(run.verdicts.values())
    yield tiles((verdict(name), str(run.verdicts.get(name, 0))) for name in (v.value for v in Verdict))
    yield f"<p>{total} of {run.n_cases * run.repeats} answered.</p>"
    for notice in run.summary.get("notices") or []:
        yield f'<p class="note">{esc(notice)}</p>'


def _figures(run: Run, metrics: Mapping[str, Metric]) -> Iterator[str]:
    rows = [row for row in run.aggregates if not row.group_by]
    if not rows:
        return
    yield "<h2>Figures</h2>"
    yield "<p class='dim'>Scored, not applicable and error add up to the cases. None is never counted as 0.</p>"
    order = sorted(rows, key=lambda row: not (row.metric in metrics and metrics[row.metric].headline))
    yield table(
        ("metric", "mean", "low", "high", "scored", "not applicable", "error"),
        (
            (
                esc(metrics[row.metric].title if row.metric in metrics else row.metric)
                + (f" ({esc(row.estimate)})" if row.estimate else ""),
                number(row.mean),
                number(row.low),
                number(row.high),
                str(row.n_scored),
                str(row.n_not_applicable),
                str(row.n_error),
            )
            for row in order
        ),
        numeric=range(1, 7),
    )


def _by_type(run: Run) -> Iterator[str]:
    rows = [row for row in run.aggregates if row.group_by and row.metric == "pass_rate"]
    if rows:
        yield "<h2>Pass rate by group</h2>"
        yield table(
            ("group", "value", "pass rate", "low", "high", "cases"),
            (
                (
                    esc(row.group_by),
                    esc(row.group),
                    number(row.mean),
                    number(row.low),
                    number(row.high),
                    str(row.n_scored + row.n_not_applicable + row.n_error),
                )
                for row in rows
            ),
            numeric=range(2, 6),
        )


def _settings(run: Run) -> Iterator[str]:
    entries = {**{f"settings.{k}": v for k, v in run.settings.items()}, **run.digests, **run.versions}
    rows = ((esc(name), esc(value)) for name, value in entries.items() if value not in (None, "", [], {}))
    yield "<h2>How it was made</h2>"
    yield fold("Settings, digests and versions", [table(("name", "value"), rows)])


def _cases(listed: Sequence[published.Item]) -> Iterator[str]:
    order = sorted(
        listed, key=lambda item: _ATTENTION.get(item.result.verdict.value if item.result else "ERROR", 1)
    )
    yield f"<h2>Cases ({len(listed)})</h2>"
    for item in order[:LISTED]:
        yield _case(item)
    if len(order) > LISTED:
        yield f'<p class="note">{len(order) - LISTED} further cases are not listed here; export the run as CSV or JSONL.</p>'


def _case(item: published.Item) -> str:
    name = item.result.verdict.value if item.result else "not answered"
    repeat = f" · repeat {item.repeat}" if item.repeat else ""
    summary = f"{verdict(name)} {esc(item.case.id)}{repeat} · {esc(item.case.query[:200])}"
    body = ["<h3>Question</h3>", text(item.case.query)]
    if item.case.gold_answer is not None or item.case.gold_codes:
        body += ["<h3>Expected</h3>", text(item.case.gold_answer or ", ".join(item.case.gold_codes))]
    if item.output is not None:
        body += ["<h3>Answer</h3>", text(item.output.text)]
        if item.output.failure is not None:
            failure = item.output.failure
            body.append(
                f'<p class="note refused">{esc(failure.where)} failed ({esc(failure.kind)}): {esc(failure.message)}</p>'
            )
    body += _why(item)
    if item.output is not None and item.output.hits:
        grades = item.result.relevance if item.result else {}
        rows = (
            (
                str(hit.rank),
                number(hit.score),
                esc(hit.id),
                esc(hit.title),
                esc(grades.get(hit.id, "–")),
                text(hit.text, 600),
            )
            for hit in item.output.hits
        )
        body += [
            "<h3>Retrieved</h3>",
            table(("rank", "score", "id", "title", "relevance", "text"), rows, numeric=(0, 1)),
        ]
    return fold(summary, body)


def _why(item: published.Item) -> list[str]:
    result = item.result
    if result is None:
        return []
    lines = [f"<p>{esc(reason)}</p>" for reason in result.reasons]
    if result.diagnosis is not None:
        reasons = " / ".join(
            r for r in (result.diagnosis.primary_reason, result.diagnosis.secondary_reason) if r
        )
        lines.append(f"<p>{esc(reasons)}: {esc(result.diagnosis.explanation)}</p>")
    if result.unchecked:
        lines.append(f'<p class="note">unchecked: {esc(", ".join(result.unchecked))}</p>')
    if result.scores:
        rows = ((esc(name), number(value)) for name, value in sorted(result.scores.items()))
        lines.append(fold("Scores", [table(("metric", "score"), rows, numeric=(1,))]))
    return ["<h3>Why</h3>", *lines] if lines else []
