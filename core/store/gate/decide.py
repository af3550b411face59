"""A gate decision: comparable? errors? each gating metric, each bound, each case that must pass."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from core.contracts import Metric
from core.errors import ConfigError, Problem, StoreError, nearest
from core.records import Run, Verdict
from core.statistics.intervals import Interval, clustered_mean, interval_for
from core.statistics.multiplicity import holm
from core.statistics.power import all_pass_needed
from core.store.compare import Comparison, MetricDifference, compare_runs
from core.store.compare.differences import pass_values
from core.store.compare.loading import Table, load_table
from core.store.gate.critical import Critical, judge_critical, unknown_cases
from core.store.gate.policy import PASS_RATE, RATE_MARGIN, SCORE_MARGIN, GateMetric, GatePolicy
from core.store.gate.rule import Evidence, gather, verdict
from core.store.runs import Store

EXIT = {"PASS": 0, "WEAK": 0, "FAIL": 1, "ERROR": 3}


@dataclass(frozen=True, slots=True)
class Bound:
    """An absolute bound on the candidate's mean. `conclusive` where the interval lies on one side of it."""

    metric: str
    kind: str
    limit: float
    mean: float | None
    interval: Interval | None
    verdict: str
    conclusive: bool
    why: str


@dataclass(frozen=True, slots=True)
class Gated:
    """A gating metric: the evidence (None where no question has it in both runs), p after Holm, the verdict."""

    metric: str
    title: str
    margin: float
    direction: int
    mean_a: float | None
    mean_b: float | None
    evidence: Evidence | None
    p_holm: float | None
    verdict: str
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The gate's verdict and everything it rests on. `watched` are the other metrics; they decide nothing."""

    verdict: str
    mode: str
    alpha: float
    baseline: Run
    candidate: Run
    comparison: Comparison
    metrics: tuple[Gated, ...]
    bounds: tuple[Bound, ...]
    critical: tuple[Critical, ...]
    refusals: tuple[str, ...]
    watched: tuple[MetricDifference, ...]

    def exit_code(self, *, strict: bool = False) -> int:
        """0 PASS or WEAK (strict: WEAK is 1), 1 FAIL, 3 not comparable or too many errors."""
        return 1 if strict and self.verdict == "WEAK" else EXIT[self.verdict]

    def to_dict(self) -> dict[str, Any]:
        """Plain values; the comparison by its counts only."""
        return {
            "verdict": self.verdict,
            "mode": self.mode,
            "alpha": self.alpha,
            "baseline": {"id": self.baseline.id, "name": self.baseline.name},
            "candidate": {"id": self.candidate.id, "name": self.candidate.name},
            "counts": self.comparison.counts,
            "design": self.comparison.design,
            "refusals": list(self.refusals),
            "metrics": [asdict(metric) for metric in self.metrics],
            "bounds": [asdict(bound) for bound in self.bounds],
            "critical": [asdict(case) for case in self.critical],
            "problems": [asdict(problem) for problem in self.comparison.problems],
        }


def resolve_baseline(store: Store, candidate: Run, ref: str) -> Run:
    """A baseline by its name, by a run's id or name, or "latest": the newest earlier sealed run of the same
    suite with comparable digests. StoreError where there is none."""
    if ref != "latest":
        return store.baseline(ref) or store.run(ref)
    for run in store.runs(kind=candidate.kind, suite=candidate.suite, status="sealed", light=True):
        if run.id == candidate.id or run.created_at > candidate.created_at:
            continue
        same = run.digests.get("questions", run.suite_digest) == candidate.digests.get(
            "questions", candidate.suite_digest
        )
        if same and run.digests.get("judge") == candidate.digests.get("judge"):
            return store.run(run.id)
    raise StoreError(
        f"no earlier sealed run of suite '{candidate.suite}' with the same questions to compare with"
    )


def decide(store: Store, candidate: str, baseline: str, policy: GatePolicy, *, seed: int = 0) -> Decision:
    """Apply a policy. ConfigError where it names metrics or cases the run does not have."""
    run = store.run(candidate)
    base = resolve_baseline(store, run, baseline)
    comparison = compare_runs(store, base.id, run.id, seed=seed, max_error_rate=policy.max_error_rate)
    a, b = load_table(store, base), load_table(store, run)
    _check_fit(policy, b)
    refusals = [problem.message for problem in comparison.problems if problem.severity == "refused"]
    critical = tuple(judge_critical(store, b, policy.must_pass))
    metrics = tuple(_gated(policy, comparison, a, b, seed)) if not refusals else ()
    bounds = (
        tuple(bound for metric in policy.metrics for bound in _bounds(metric, b, policy))
        if not refusals
        else ()
    )
    refusals += [f"{case.case_id} must pass, and {case.why}" for case in critical if case.verdict == "ERROR"]
    parts: list[Gated | Bound | Critical] = [*metrics, *bounds, *critical]
    worst = "ERROR" if refusals else Verdict.worst([Verdict(part.verdict) for part in parts]) or Verdict.PASS
    gating = {metric.name for metric in policy.metrics}
    return Decision(
        verdict=str(worst),
        mode=policy.mode,
        alpha=policy.alpha,
        baseline=base,
        candidate=run,
        comparison=comparison,
        metrics=metrics,
        bounds=bounds,
        critical=critical,
        refusals=tuple(refusals),
        watched=tuple(metric for metric in comparison.metrics if metric.metric not in gating),
    )


def _check_fit(policy: GatePolicy, table: Table) -> None:
    known = [PASS_RATE, *table.metrics]
    found = []
    for i, metric in enumerate(policy.metrics):
        if metric.name not in known:
            found.append(
                Problem(
                    f"metrics.{i}.name", f"the run has no metric '{metric.name}'{nearest(metric.name, known)}"
                )
            )
        elif not table.info(metric.name).direction:
            found.append(
                Problem(f"metrics.{i}.name", f"'{metric.name}' has no better direction and cannot gate")
            )
        elif table.info(metric.name).kind in ("binary", "bounded"):
            found += _beyond_a_share(i, metric)
    found += unknown_cases(table, policy.must_pass)
    if found:
        raise ConfigError("the policy does not fit the run", found)


def _beyond_a_share(i: int, metric: GateMetric) -> list[Problem]:
    """Limits of a figure between 0 and 1 that nothing could break, or nothing could keep."""
    hint = "the figure lies between 0 and 1: 5 points are 0.05"
    given = {"margin": metric.margin, "min": metric.min, "max": metric.max}
    problems = []
    for name, value in given.items():
        outside = value is not None and (value >= 1 if name == "margin" else not 0 <= value <= 1)
        if outside:
            problems.append(Problem(f"metrics.{i}.{name}", f"{value:g} decides nothing", hint=hint))
    return problems


def _gated(policy: GatePolicy, comparison: Comparison, a: Table, b: Table, seed: int) -> list[Gated]:
    pairs = [pair for pair in comparison.pairs if pair.matched_by and "changed" not in pair.note]
    in_a = a.places([pair.a.case_id for pair in pairs if pair.a])
    in_b = b.places([pair.b.case_id for pair in pairs if pair.b])
    gathered = []
    for metric in policy.metrics:
        x, y = (
            pass_values(pairs)
            if metric.name == PASS_RATE
            else (a.column(metric.name, in_a), b.column(metric.name, in_b))
        )
        both = ~np.isnan(x) & ~np.isnan(y)
        x, y = x[both], y[both]
        binary = b.info(metric.name).kind == "binary" and bool(
            np.isin(np.concatenate([x, y]), (0.0, 1.0)).all()
        )
        clusters = [pair.cluster for pair, there in zip(pairs, both, strict=True) if there]
        evidence = gather(
            x,
            y,
            margin=margin_of(metric, b.info(metric.name)),
            binary=binary,
            direction=b.info(metric.name).direction,
            clusters=clusters,
            alpha=policy.alpha,
            seed=seed,
        )
        gathered.append(
            (metric, evidence, float(x.mean()) if len(x) else None, float(y.mean()) if len(y) else None)
        )
    corrected = holm([None if evidence is None else evidence.p for _, evidence, *_ in gathered])
    return [
        _judged(policy, b.info(each[0].name), *each, p) for each, p in zip(gathered, corrected, strict=True)
    ]


def _judged(
    policy: GatePolicy,
    info: Metric,
    metric: GateMetric,
    evidence: Evidence | None,
    mean_a: float | None,
    mean_b: float | None,
    p: float | None,
) -> Gated:
    margin = margin_of(metric, info)
    if evidence is None or p is None:
        word, why = "WEAK", "no question has it in both runs"
    else:
        word, why = verdict(evidence, p, margin=margin, mode=policy.mode, alpha=policy.alpha)
    return Gated(metric.name, info.title, margin, info.direction, mean_a, mean_b, evidence, p, word, why)


def margin_of(metric: GateMetric, info: Metric) -> float:
    """The margin of a gating metric: its own, or the default of its kind."""
    if metric.margin is not None:
        return metric.margin
    return RATE_MARGIN if info.kind == "binary" else SCORE_MARGIN


def _bounds(metric: GateMetric, table: Table, policy: GatePolicy) -> list[Bound]:
    limits = [("min", metric.min, 1), ("max", metric.max, -1)]
    return [
        _bound(metric, kind, limit, sign, table, policy) for kind, limit, sign in limits if limit is not None
    ]


def _bound(metric: GateMetric, kind: str, limit: float, sign: int, table: Table, policy: GatePolicy) -> Bound:
    ids = [case.case_id for case in table.cases]
    if metric.name == PASS_RATE:
        sides = [table.sides.get(case_id) for case_id in ids]
        values = np.array([s.passes / s.n if s and s.n else math.nan for s in sides])
    else:
        values = table.column(metric.name, table.places(ids))
    there = ~np.isnan(values)
    values = values[there]
    if not len(values):
        return Bound(metric.name, kind, limit, None, None, "WEAK", False, "no question has it")
    clusters = [case.cluster for case, kept in zip(table.cases, there, strict=True) if kept]
    level, number = 1 - 2 * policy.alpha, table.info(metric.name).kind
    interval = interval_for(list(values), number, clusters, level) or clustered_mean(
        list(values), None, level, None
    )
    mean = float(values.mean())
    holds = (mean - limit) * sign >= 0
    ends = (interval.low, interval.high) if interval else (mean, mean)
    near, far = ends if sign > 0 else ends[::-1]
    conclusive = (near - limit) * sign >= 0 if holds else (far - limit) * sign < 0
    if policy.mode == "detect":
        word = "PASS" if holds else "FAIL"
    else:
        word = ("PASS" if holds else "FAIL") if conclusive else "WEAK"
    why = f"{mean:.3f} {'keeps' if holds else 'breaks'} the bound {limit:g}, {'conclusively' if conclusive else 'inconclusively'}"
    if number == "binary" and kind == "min" and not conclusive and 0 < limit < 1:
        why += f"; {all_pass_needed(limit)} questions that all pass would show it"
    return Bound(metric.name, kind, limit, mean, interval, word, conclusive, why)
