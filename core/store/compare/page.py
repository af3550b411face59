"""A comparison as one HTML file, for people without the app."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.contracts import METRICS
from core.store.compare.detail import CaseDifference, case_difference
from core.store.compare.loading import PASS_RATE
from core.store.compare.records import Comparison, MetricDifference, Pair, sentence
from core.store.export.page import esc, fold, number, page, table, tiles, verdict
from core.store.runs import Store

LISTED = 300  # changed cases shown with their differences
_TITLES = {
    "broken": "Broken",
    "fixed": "Fixed",
    "flaky": "Flaky",
    "not_comparable": "Not comparable",
    "only_in_a": "Only in the baseline",
    "only_in_b": "Only in the candidate",
    "unchanged": "Unchanged",
}


def compare_page(store: Store, comparisons: Sequence[Comparison]) -> str:
    """Baseline first; one part for each candidate."""
    base = comparisons[0].a
    body = [
        f"<h1>Against {esc(base.name)}</h1>",
        f'<p class="dim">baseline {esc(base.id)}, made {esc(base.created_at)}</p>',
    ]
    for comparison in comparisons:
        body += _part(store, comparison)
    names = ", ".join(comparison.b.name for comparison in comparisons)
    return page(f"{names} against {base.name} · Plumbline", body)


def _part(store: Store, comparison: Comparison) -> Iterator[str]:
    run = comparison.b
    yield f"<h2>{esc(run.name)}</h2>"
    yield f'<p class="dim">candidate {esc(run.id)}, made {esc(run.created_at)} · {esc(comparison.design)}</p>'
    for problem in comparison.problems:
        kind = " refused" if problem.severity == "refused" else ""
        yield f'<p class="note{kind}">{esc(problem.what)}: {esc(problem.message)}</p>'
    yield tiles((esc(_TITLES[status]), str(n)) for status, n in comparison.counts.items())
    if comparison.pass_rate is not None:
        yield f"<p>{esc(sentence(comparison.pass_rate))}</p>"
    if comparison.metrics:
        yield "<h3>Metrics</h3>"
        first = [metric for metric in comparison.metrics if _matters(metric)]
        rest = [metric for metric in comparison.metrics if not _matters(metric)]
        yield _metrics(first)
        if rest:
            more = (
                "1 more metric, which did not change"
                if len(rest) == 1
                else f"{len(rest)} more metrics, none of which changed"
            )
            yield fold(f"{more} beyond chance", [_metrics(rest)])
    if comparison.settings:
        yield "<h3>Settings that differ</h3>"
        yield table(
            ("setting", "baseline", "candidate"),
            ((esc(d.name), esc(d.a), esc(d.b)) for d in comparison.settings),
        )
    for status in ("broken", "fixed", "flaky", "not_comparable", "only_in_a", "only_in_b"):
        pairs = comparison.having(status)
        if pairs:
            yield f"<h3>{_TITLES[status]} ({len(pairs)})</h3>"
            for pair in pairs[:LISTED]:
                yield _pair(store, comparison, pair)
            if len(pairs) > LISTED:
                yield f'<p class="note">{len(pairs) - LISTED} more are not listed here.</p>'


def _matters(metric: MetricDifference) -> bool:
    """A headline, or one that changed."""
    known = METRICS.get(metric.metric)
    headline = metric.metric == PASS_RATE or (known is not None and known.headline)
    return headline or metric.change in ("better", "worse")


def _metrics(metrics: Sequence[MetricDifference]) -> str:
    rows = (
        (
            esc(metric.title),
            number(metric.mean_a),
            number(metric.mean_b),
            number(metric.delta, sign=True),
            "–" if metric.interval is None else f"{metric.interval.low:+.3f} to {metric.interval.high:+.3f}",
            number(metric.p_holm),
            number(metric.detectable),
            f"{metric.win} / {metric.tie} / {metric.loss}",
            str(metric.n),
            f"{metric.n_only_a} / {metric.n_only_b}",
            esc(metric.change),
        )
        for metric in metrics
    )
    columns = (
        "metric",
        "baseline",
        "candidate",
        "Δ",
        "95 % interval",
        "p corrected",
        "detectable",
        "up / same / down",
        "questions",
        "only in baseline / candidate",
        "change",
    )
    return table(columns, rows, numeric=range(1, 10))


def _pair(store: Store, comparison: Comparison, pair: Pair) -> str:
    before, after = (verdict(side.verdict) if side else "–" for side in (pair.a, pair.b))
    note = f" · {esc(pair.note)}" if pair.note else ""
    summary = f"{before} → {after} · {esc(pair.id)} · {esc(pair.query[:200])}{note}"
    if pair.a is None or pair.b is None:
        return fold(summary, [f'<p class="text">{esc(pair.query)}</p>'])
    found = case_difference(store, comparison.a.id, comparison.b.id, pair.a.case_id, pair.b.case_id)
    return fold(summary, [f'<p class="text">{esc(pair.query)}</p>', *_difference(found)])


def _difference(found: CaseDifference) -> Iterator[str]:
    yield "<p><b>Answer</b></p>"
    tags = {"removed": "del", "added": "ins"}
    parts = (
        f"<{tags[op]}>{esc(part)}</{tags[op]}>" if op in tags else esc(part) for op, part in found.answer
    )
    yield f'<div class="text">{"".join(parts) or "(empty)"}</div>'
    for name, reasons in (("baseline", found.reasons_a), ("candidate", found.reasons_b)):
        if reasons:
            yield f"<p><b>Why, {name}:</b> {esc('; '.join(reasons))}</p>"
    moved = [chunk for chunk in found.chunks if chunk.move != "stayed"]
    if moved:
        rows = (
            (esc(c.move), esc(c.chunk_id), esc(c.title), esc(c.rank_a or "–"), esc(c.rank_b or "–"))
            for c in moved
        )
        yield table(("chunk", "id", "title", "rank before", "rank after"), rows, numeric=(3, 4))
    if found.claims:
        claims = (
            (esc(c.claim), esc(c.target), esc(c.label_a or "–"), esc(c.label_b or "–")) for c in found.claims
        )
        yield table(("claim", "against", "before", "after"), claims)
    if found.scores:
        scores = ((esc(s.metric), number(s.a), number(s.b), number(s.delta, sign=True)) for s in found.scores)
        yield table(("score", "before", "after", "Δ"), scores, numeric=(1, 2, 3))
