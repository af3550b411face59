"""What a comparison says. A difference is candidate − baseline; `improvement` has the sign turned so that
positive is better, and is None for a metric without a direction."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from core.records import Run
from core.statistics.intervals import Interval

Status = Literal["fixed", "broken", "unchanged", "flaky", "only_in_a", "only_in_b", "not_comparable"]
STATUSES: tuple[Status, ...] = (
    "broken",
    "fixed",
    "flaky",
    "not_comparable",
    "only_in_a",
    "only_in_b",
    "unchanged",
)
Severity = Literal["refused", "label"]


@dataclass(frozen=True, slots=True)
class Side:
    """One case in one run. `verdict` is the worst over the repeats, `verdicts` all of them in order; `passes`
    of `n` repeats are PASS (ERRORs not counted in `n`). `reason` is the diagnosis' primary reason."""

    case_id: str
    verdict: str
    verdicts: tuple[str, ...]
    passes: int
    n: int
    reason: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """One question in both runs, or in one of them. `matched_by` is id | content | "" (only in one).

    `status`: broken (the verdict got worse), fixed (got better), unchanged; flaky where repeats disagree and a
    verdict occurs on both sides; not_comparable where one side is ERROR or the question or its gold changed.
    """

    status: Status
    position: int
    query: str
    question_type: str
    a: Side | None
    b: Side | None
    matched_by: str = ""
    note: str = ""
    cluster: str | None = None

    @property
    def id(self) -> str:
        side = self.b or self.a
        return side.case_id if side else ""


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """One metric over the questions that have it in both runs (`n`); `n_only_a`/`n_only_b` have it in one only.

    `p` is McNemar's mid-p for a binary metric asked once, else a sign-flip p (t from 1,000 questions on);
    `p_holm` is corrected over the metrics of the comparison. `detectable` is the smallest true difference such
    a comparison finds with 80 % power; None where the set is too small for any. `change`: better | worse |
    unclear | none. `win/tie/loss` count questions.
    """

    metric: str
    title: str
    kind: str
    direction: int
    mean_a: float | None
    mean_b: float | None
    delta: float | None
    interval: Interval | None
    p: float | None
    p_holm: float | None
    n: int
    n_only_a: int
    n_only_b: int
    win: int
    tie: int
    loss: int
    detectable: float | None
    test: str
    change: str
    note: str = ""

    @property
    def improvement(self) -> float | None:
        return None if self.delta is None or not self.direction else self.delta * self.direction


@dataclass(frozen=True, slots=True)
class Difference:
    """Something in which the runs differ: a digest, a version, a setting. None is "does not apply"."""

    name: str
    a: Any
    b: Any
    entailed_by: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why two runs cannot be compared (`refused`), or what a reader must know (`label`)."""

    severity: Severity
    what: str
    message: str
    a: str = ""
    b: str = ""


@dataclass(frozen=True, slots=True)
class Errors:
    """ERROR is missing data. `p` asks whether the two runs failed equally often; `low`/`high` bound the
    difference in pass rate if every error were a loss for the candidate or a gain."""

    n_a: int
    n_b: int
    n: int
    p: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """A baseline `a` and a candidate `b`. `design` is replicate | controlled | confounded by how many design
    factors changed. Without `comparable`, no metric is tested: `problems` say why."""

    a: Run
    b: Run
    comparable: bool
    problems: tuple[Problem, ...]
    design: str
    factors: tuple[Difference, ...]
    settings: tuple[Difference, ...]
    counts: dict[str, int]
    pairs: tuple[Pair, ...]
    metrics: tuple[MetricDifference, ...]
    errors: Errors
    flips: dict[str, int]

    @property
    def pass_rate(self) -> MetricDifference | None:
        return next((metric for metric in self.metrics if metric.metric == "pass_rate"), None)

    def having(self, *statuses: Status) -> list[Pair]:
        """The pairs with one of these statuses."""
        return [pair for pair in self.pairs if pair.status in statuses]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, the runs by id, name and verdicts."""
        found = {name: getattr(self, name) for name in ("comparable", "design", "counts", "flips")}
        found |= {
            name: [asdict(each) for each in getattr(self, name)]
            for name in ("problems", "factors", "settings", "pairs", "metrics")
        }
        for entry, metric in zip(found["metrics"], self.metrics, strict=True):
            entry["improvement"] = metric.improvement
        found["errors"] = asdict(self.errors)
        for side in ("a", "b"):
            run: Run = getattr(self, side)
            found[side] = run.model_dump(
                mode="json",
                include={"id", "name", "kind", "suite", "created_at", "verdicts", "n_cases", "repeats"},
            )
        found["sentences"] = [sentence(metric) for metric in self.metrics]
        return found


def sentence(metric: MetricDifference) -> str:
    """The fixed report phrase of one metric."""
    if metric.delta is None or metric.mean_a is None or metric.mean_b is None:
        return f"{metric.title}: no question has it in both runs."
    if metric.kind == "binary":
        return _rate_sentence(metric)
    interval = (
        ""
        if metric.interval is None
        else f", 95 % interval {metric.interval.low:+.3f} to {metric.interval.high:+.3f}"
    )
    tail = (
        ""
        if metric.detectable is None
        else f" This suite can detect differences of about {metric.detectable:.3f}."
    )
    return (
        f"{metric.title}: candidate {metric.mean_b:.3f} vs baseline {metric.mean_a:.3f} on the same {metric.n} "
        f"questions: Δ {metric.delta:+.3f}{interval}; {metric.win} up, {metric.loss} down; p {_p(metric.p)}. "
        f"{_CHANGE[metric.change]}{tail}"
    )


_CHANGE = {"better": "Better.", "worse": "Worse.", "unclear": "Inconclusive.", "none": "No difference."}


def _rate_sentence(metric: MetricDifference) -> str:
    mean_a, mean_b, delta = metric.mean_a or 0.0, metric.mean_b or 0.0, metric.delta or 0.0
    interval = ""
    if metric.interval is not None:
        interval = f", 95 % interval {metric.interval.low * 100:+.0f} to {metric.interval.high * 100:+.0f}"
    if metric.detectable is None:
        tail = "; this suite is too small to detect a difference" if metric.n else ""
    else:
        tail = f"; this suite can detect differences of about {metric.detectable * 100:.0f} points"
    gained, lost = (metric.win, metric.loss)
    return (
        f"{metric.title}: candidate {mean_b * 100:.0f} % vs baseline {mean_a * 100:.0f} % on the same {metric.n} "
        f"questions: Δ {delta * 100:+.0f} points{interval}; {gained} gained, {lost} lost; "
        f"{'mid-p' if metric.test == 'mcnemar_midp' else 'p'} {_p(metric.p)}. "
        f"{_CHANGE[metric.change].rstrip('.')}{tail}."
    )


def _p(p: float | None) -> str:
    if p is None:
        return "–"
    return (
        "< .001"
        if p < 0.001
        else f"{p:.3f}".lstrip("0")
        if p < 0.1
        else f"{p:.2f}".lstrip("0")
        if p < 1
        else "1"
    )
