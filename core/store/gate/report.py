"""A gate decision in words: for the terminal, a pull request, JUnit and GitHub annotations."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from core.store.compare.records import Pair
from core.store.export.reports import escape
from core.store.export.tabular import xml_text
from core.store.gate.decide import Bound, Decision, Gated

_LISTED = 20
_MEANING = {
    "PASS": "no reason to stop",
    "WEAK": "inconclusive",
    "FAIL": "worse than allowed",
    "ERROR": "cannot be decided",
}


def headline(decision: Decision) -> str:
    """One line: the verdict and what it means."""
    counts = decision.comparison.counts
    return (
        f"{decision.verdict}: {_MEANING[decision.verdict]} ({decision.candidate.name} against "
        f"{decision.baseline.name}: {counts['broken']} broken, {counts['fixed']} fixed, {counts['flaky']} flaky)"
    )


def sentences(decision: Decision) -> list[str]:
    """The arithmetic in words, one sentence or two for everything that decided."""
    lines = [f"Cannot be decided: {reason}." for reason in decision.refusals]
    lines += [metric_sentence(metric, decision) for metric in decision.metrics]
    lines += [bound_sentence(bound) for bound in decision.bounds]
    lines += [f"{case.case_id} must pass: {case.verdict}, {case.why}." for case in decision.critical]
    lines += [f"Note: {p.message}." for p in decision.comparison.problems if p.severity == "label"]
    return lines


def metric_sentence(metric: Gated, decision: Decision) -> str:
    """`Pass rate: candidate 82 % vs baseline 86 % on the same 50 questions: …`"""
    evidence = metric.evidence
    if evidence is None or metric.mean_a is None or metric.mean_b is None:
        return f"{metric.title}: {metric.verdict}, {metric.why}."
    unit = _points if evidence.binary or metric.metric == "pass_rate" else _plain
    interval = ""
    if evidence.interval is not None:
        low, high = sorted(
            (evidence.interval.low * metric.direction, evidence.interval.high * metric.direction)
        )
        start = unit(low, sign=True).split(" ")[0]
        interval = f", {evidence.interval.level * 100:.0f} % interval {start} to {unit(high, sign=True)}"
    name = "mid-p" if evidence.binary else "p"
    if evidence.detectable is not None:
        able = f"this suite can detect drops of about {unit(evidence.detectable)}"
    elif not evidence.gained and not evidence.lost:
        able = "no question differs"
    else:
        able = "this suite is too small to detect any drop"
    needed = ""
    if metric.verdict != "FAIL" and evidence.needed is not None and evidence.needed > evidence.n:
        needed = (
            f" A drop of the margin, {unit(metric.margin)}, would take {evidence.needed} questions to see."
        )
    delta = evidence.delta * metric.direction
    return (
        f"{metric.title}: candidate {_level(metric.mean_b, unit)} vs baseline {_level(metric.mean_a, unit)} on the same "
        f"{evidence.n} questions: Δ {unit(delta, sign=True)}{interval}; {evidence.gained} gained, {evidence.lost} lost; "
        f"one-sided {name} {_p(evidence.p)}{_corrected(metric, decision)}. {metric.verdict}: {metric.why}; {able}.{needed}"
    )


def bound_sentence(bound: Bound) -> str:
    return f"{bound.metric} {'at least' if bound.kind == 'min' else 'at most'} {bound.limit:g}: {bound.verdict}, {bound.why}."


def _corrected(metric: Gated, decision: Decision) -> str:
    return (
        f" ({_p(metric.p_holm)} corrected for {len(decision.metrics)} metrics)"
        if len(decision.metrics) > 1
        else ""
    )


def _points(value: float, *, sign: bool = False) -> str:
    shown = f"{value * 100:{'+' if sign else ''}.0f}"
    return f"{shown} point" if shown.lstrip("+-") == "1" else f"{shown} points"


def _plain(value: float, *, sign: bool = False) -> str:
    return f"{value:{'+' if sign else ''}.3f}"


def _level(value: float, unit: object) -> str:
    return f"{value * 100:.0f} %" if unit is _points else f"{value:.3f}"


def _p(p: float | None) -> str:
    if p is None:
        return "–"
    return "< .001" if p < 0.001 else f"{p:.3f}".lstrip("0") if p < 0.1 else f"{min(p, 1):.2f}".lstrip("0")


def markdown(decision: Decision) -> str:
    """A comment for a pull request."""
    lines = [f"## Plumbline gate: {decision.verdict}", "", escape(headline(decision)), ""]
    if decision.metrics:
        lines += ["| metric | baseline | candidate | Δ | margin | verdict |", "|---|---|---|---|---|---|"]
        for metric in decision.metrics:
            delta = "–" if metric.evidence is None else f"{metric.evidence.delta * metric.direction:+.3f}"
            a, b = ("–" if mean is None else f"{mean:.3f}" for mean in (metric.mean_a, metric.mean_b))
            lines.append(
                f"| {escape(metric.title)} | {a} | {b} | {delta} | {metric.margin:g} | {metric.verdict} |"
            )
        lines.append("")
    lines += [*(f"- {escape(text)}" for text in sentences(decision)), ""]
    for title, pairs in (
        ("Broken", decision.comparison.having("broken")),
        ("Fixed", decision.comparison.having("fixed")),
    ):
        lines += _case_list(title, pairs)
    changed = [factor for factor in decision.comparison.factors if not factor.entailed_by]
    if changed:
        lines += [f"<details><summary>Settings that changed ({len(changed)})</summary>", ""]
        lines += [f"- {escape(f'{factor.name}: {factor.a} → {factor.b}')}" for factor in changed]
        lines += ["", "</details>", ""]
    return "\n".join(lines)


def _case_list(title: str, pairs: list[Pair]) -> list[str]:
    if not pairs:
        return []
    lines = [f"<details><summary>{title} ({len(pairs)})</summary>", ""]
    for pair in pairs[:_LISTED]:
        before, after = (side.verdict if side else "–" for side in (pair.a, pair.b))
        reason = f" ({escape(pair.b.reason)})" if pair.b and pair.b.reason not in ("", "ok") else ""
        lines.append(f"- {escape(pair.id)}: {before} → {after}{reason}: {escape(pair.query[:160])}")
    if len(pairs) > _LISTED:
        lines.append(f"- and {len(pairs) - _LISTED} more")
    return [*lines, "", "</details>", ""]


def junit(decision: Decision) -> str:
    """One test case for comparability, each metric, each bound and each case that must pass."""
    suite = ElementTree.Element("testsuite", name="plumbline gate")
    parts = list(_parts(decision))
    for name, verdict, message in parts:
        case = ElementTree.SubElement(suite, "testcase", classname="plumbline.gate", name=xml_text(name))
        if verdict in ("FAIL", "ERROR"):
            kind = "failure" if verdict == "FAIL" else "error"
            ElementTree.SubElement(case, kind, message=xml_text(message)).text = xml_text(message)
        else:
            ElementTree.SubElement(case, "system-out").text = xml_text(f"{verdict}: {message}")
    suite.set("tests", str(len(parts)))
    suite.set("failures", str(sum(verdict == "FAIL" for _, verdict, _ in parts)))
    suite.set("errors", str(sum(verdict == "ERROR" for _, verdict, _ in parts)))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _parts(decision: Decision) -> Iterator[tuple[str, str, str]]:
    yield "comparable", "ERROR" if decision.refusals else "PASS", "; ".join(decision.refusals) or "yes"
    for metric in decision.metrics:
        yield metric.metric, metric.verdict, metric_sentence(metric, decision)
    for bound in decision.bounds:
        yield f"{bound.metric} {bound.kind} {bound.limit:g}", bound.verdict, bound_sentence(bound)
    for case in decision.critical:
        yield f"must pass: {case.case_id}", case.verdict, case.why


def github_annotations(decision: Decision) -> list[str]:
    """GitHub workflow commands, one a finding."""
    level = {"FAIL": "error", "ERROR": "error", "WEAK": "warning", "PASS": "notice"}
    lines = [f"::{level[decision.verdict]} title=Plumbline gate::{_command(headline(decision))}"]
    for name, verdict, message in _parts(decision):
        if verdict != "PASS":
            lines.append(f"::{level[verdict]} title={_property(name)}::{_command(message)}")
    for pair in decision.comparison.having("broken")[:_LISTED]:
        text = (
            f"{pair.a.verdict if pair.a else '–'} → {pair.b.verdict if pair.b else '–'}: {pair.query[:160]}"
        )
        lines.append(f"::warning title={_property('broken ' + pair.id)}::{_command(text)}")
    return lines


def _command(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _command(text).replace(":", "%3A").replace(",", "%2C")
