"""The columns of a run that a comparison needs, in a few SELECTs: no bodies are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.contracts import Metric
from core.records import Run, Verdict
from core.store import content
from core.store.compare.records import Side
from core.store.runs import Store

PASS_RATE = "pass_rate"
SEVERITY = {verdict.value: place for place, verdict in enumerate(Verdict)}


@dataclass(frozen=True, slots=True)
class Asked:
    """A case of a run: where it stands, what it asks, and its digest of content."""

    case_id: str
    content: bytes
    position: int
    query: str
    question_type: str
    cluster: str | None


@dataclass(slots=True)
class Table:
    """One run: its cases in file order, verdicts by case, and scores averaged over the repeats of a case.

    `scores` is cases × metrics with NaN for None; `versions` are those of the metrics' definitions,
    `infos` what they mean.
    """

    run: Run
    cases: list[Asked]
    sides: dict[str, Side]
    metrics: list[str]
    scores: Any
    versions: dict[str, str]
    infos: dict[str, Metric]
    place: dict[str, int] = field(default_factory=dict)

    def info(self, metric: str) -> Metric:
        """What a metric means; an unknown one has no direction."""
        known = self.infos.get(metric)
        if known is not None:
            return known
        if metric == PASS_RATE:
            return Metric(PASS_RATE, "Pass rate", "verdict", "binary")
        return Metric(metric, metric, "", "unbounded", 0, None, None)

    def column(self, metric: str, case_ids: Sequence[str]) -> Any:
        """Scores of one metric for these cases (NaN where there is none)."""
        if metric not in self.metrics:
            return np.full(len(case_ids), np.nan)
        values: Any = self.scores[[self.place[case_id] for case_id in case_ids], self.metrics.index(metric)]
        return values


def load_table(store: Store, run: Run) -> Table:
    """Read one run."""
    key = store.run_key(run.id)
    cases = [
        Asked(content.case_id(name, body), digest, position, query, question_type, cluster)
        for name, body, digest, position, query, question_type, cluster in store.rows(
            f"SELECT {content.CASE_ID}, c.content, rc.position, c.query, c.question_type, c.cluster FROM run_cases rc "
            "JOIN cases c ON c.key = rc.case_key WHERE rc.run_key = ? ORDER BY rc.position, rc.case_key",
            (key,),
        )
    ]
    found = store.rows(
        f"SELECT {content.CASE_ID}, r.repeat, r.verdict, r.primary_reason, r.label FROM results r "
        "JOIN cases c ON c.key = r.case_key WHERE r.run_key = ? ORDER BY r.case_key, r.repeat",
        (key,),
    )
    rows, metrics, matrix = store.score_matrix(run.id)
    place = {case.case_id: i for i, case in enumerate(cases)}
    return Table(
        run=run,
        cases=cases,
        sides=_sides(found),
        metrics=metrics,
        scores=_averaged(rows, matrix, place),
        versions=store.metric_versions(run.id),
        infos=store.metrics(run.id),
        place=place,
    )


def _sides(found: list[tuple[Any, ...]]) -> dict[str, Side]:
    grouped: dict[str, list[tuple[str, str, str]]] = {}
    for name, body, _, verdict, reason, label in found:
        grouped.setdefault(content.case_id(name, body), []).append((verdict, reason or "", label or ""))
    sides = {}
    for case_id, results in grouped.items():
        worst = max(results, key=lambda result: SEVERITY[result[0]])
        verdicts = tuple(result[0] for result in results)
        n = sum(verdict != "ERROR" for verdict in verdicts)
        sides[case_id] = Side(case_id, worst[0], verdicts, verdicts.count("PASS"), n, worst[1], worst[2])
    return sides


def _averaged(rows: Sequence[tuple[str, int]], matrix: Any, place: dict[str, int]) -> Any:
    """Mean over the repeats of a case, by case in file order; NaN where no repeat has a value."""
    at = np.array([place[case_id] for case_id, _ in rows], dtype=int)
    shape = (len(place), matrix.shape[1])
    known = ~np.isnan(matrix)
    totals, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(totals, at, np.where(known, matrix, 0.0))
    np.add.at(counts, at, known)
    with np.errstate(invalid="ignore"):
        return np.where(counts > 0, totals / counts, np.nan)
