"""quality_report.md and error_report.md: what the run came to, in plain words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from core.contracts import METRICS
from core.records import Aggregate, Run, Verdict
from core.store.export.published import Item

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|])")


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def quality_report(run: Run, listed: Sequence[Item], *, canonical: bool = False) -> str:
    """Verdicts, headline figures with interval and coverage, what went wrong most, what to know of the input."""
    lines = [f"# {escape(run.name)}", ""]
    total = sum(run.verdicts.values())
    lines += [f"{total} of {run.n_cases * run.repeats} answered. Suite: {escape(run.suite)}.", ""]
    if not canonical:
        lines += [f"Run {run.id}, made {run.created_at}.", ""]
    lines += ["## Verdicts", "", "| verdict | cases | share |", "|---|---|---|"]
    for verdict in Verdict:
        n = run.verdicts.get(verdict.value, 0)
        lines.append(
            f"| {verdict.value} | {n} | {n / total:.1%} |" if total else f"| {verdict.value} | {n} | – |"
        )
    lines += ["", *_figures(run.aggregates), *_reasons(listed), *_groups(run.aggregates)]
    if run.summary.get("detectable"):
        lines += ["## What this question set can tell", "", escape(_sentence(run.summary["detectable"])), ""]
    notices = run.summary.get("notices") or []
    if notices:
        lines += ["## Notices", "", *(f"- {escape(str(notice))}" for notice in notices), ""]
    return "\n".join(lines)


def _sentence(value: object) -> str:
    if isinstance(value, dict):
        return str(value.get("sentence") or "; ".join(f"{key}: {each}" for key, each in value.items()))
    return str(value)


def _figures(aggregates: Sequence[Aggregate]) -> list[str]:
    rows = [row for row in aggregates if not row.group_by]
    shown = [row for row in rows if (known := METRICS.get(row.metric)) and known.headline] or rows[:15]
    if not shown:
        return []
    lines = [
        "## Figures",
        "",
        "| metric | mean | interval | scored | not applicable | error |",
        "|---|---|---|---|---|---|",
    ]
    for row in shown:
        known = METRICS.get(row.metric)
        interval = "–" if row.low is None or row.high is None else f"{row.low:.3f} to {row.high:.3f}"
        mean = "–" if row.mean is None else f"{row.mean:.3f}"
        title = escape(known.title if known else row.metric)
        title += f" ({row.estimate})" if row.estimate else ""
        lines.append(
            f"| {title} | {mean} | {interval} | {row.n_scored} | {row.n_not_applicable} | {row.n_error} |"
        )
    return [*lines, ""]


def _reasons(listed: Sequence[Item]) -> list[str]:
    found = [item.result.diagnosis for item in listed if item.result is not None and item.result.diagnosis]
    counts = Counter(diagnosis.primary_reason for diagnosis in found if diagnosis.primary_reason != "ok")
    if not counts:
        return []
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ["## What went wrong", "", *(f"- {escape(reason)}: {n}" for reason, n in ranked), ""]


def _groups(aggregates: Sequence[Aggregate]) -> list[str]:
    rows = [row for row in aggregates if row.group_by == "question_type" and row.metric == "pass_rate"]
    if len(rows) < 2:
        return []
    lines = [
        "## By question type",
        "",
        "| question type | pass rate | interval | cases |",
        "|---|---|---|---|",
    ]
    for row in rows:
        mean = "–" if row.mean is None else f"{row.mean:.1%}"
        interval = "–" if row.low is None or row.high is None else f"{row.low:.1%} to {row.high:.1%}"
        n = row.n_scored + row.n_not_applicable + row.n_error
        lines.append(f"| {escape(row.group)} | {mean} | {interval} | {n} |")
    return [*lines, ""]


def error_report(listed: Sequence[Item]) -> str:
    """Every case that is not PASS: question, verdict, reasons, explanation."""
    lines = ["# Cases that did not pass", ""]
    for item in listed:
        result = item.result
        if result is None or result.verdict is Verdict.PASS:
            continue
        lines += [f"## {escape(item.case.id)}: {result.verdict.value}", "", escape(item.case.query), ""]
        if result.diagnosis is not None:
            reasons = [result.diagnosis.primary_reason, result.diagnosis.secondary_reason]
            lines += [f"- reason: {escape(' / '.join(reason for reason in reasons if reason))}"]
            if result.diagnosis.explanation:
                lines += [f"- {escape(result.diagnosis.explanation)}"]
        lines += [f"- {escape(reason)}" for reason in result.reasons]
        if result.failure is not None:
            failure = result.failure
            lines += [f"- {failure.where} failed ({failure.kind}): {escape(failure.message)}"]
        lines.append("")
    if len(lines) == 2:
        lines += ["Every case passed.", ""]
    return "\n".join(lines)
