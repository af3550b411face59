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

    def places(self, case_ids: Sequence[str]) -> Any:
        """Rows of `scores` that belong to these cases."""
        return np.fromiter((self.place[case_id] for case_id in case_ids), dtype=int, count=len(case_ids))

    def column(self, metric: str, places: Any) -> Any:
        """Scores of one metric at these places (NaN where there is none)."""
        if metric not in self.metrics:
            return np.full(len(places), np.nan)
        values: Any = self.scores[places, self.metrics.index(metric)]
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
    grouped: dict[str, list[tuple[Any, ...]]] = {}
    for row in found:
        grouped.setdefault(content.case_id(row[0], row[1]), []).append(row)
    single = {verdict.value: (verdict.value,) for verdict in Verdict}
    sides = {}
    for case_id, rows in grouped.items():
        if len(rows) == 1:
            verdict, reason, label = rows[0][3:]
            passed, judged = int(verdict == "PASS"), int(verdict != "ERROR")
            sides[case_id] = Side(
                case_id, verdict, single[verdict], passed, judged, reason or "", label or ""
            )
            continue
        worst = max(rows, key=lambda row: SEVERITY[row[3]])
        verdicts = tuple(row[3] for row in rows)
        judged = sum(verdict != "ERROR" for verdict in verdicts)
        sides[case_id] = Side(
            case_id, worst[3], verdicts, verdicts.count("PASS"), judged, worst[4] or "", worst[5] or ""
        )
    return sides


def _averaged(rows: Sequence[tuple[str, int]], matrix: Any, place: dict[str, int]) -> Any:
    """Mean over the repeats of a case, by case in file order; NaN where no repeat has a value."""
    at = np.array([place[case_id] for case_id, _ in rows], dtype=int)
    shape = (len(place), matrix.shape[1])
    if len(np.unique(at)) == len(at):
        alone = np.full(shape, np.nan)
        alone[at] = matrix
        return alone
    known = ~np.isnan(matrix)
    totals, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(totals, at, np.where(known, matrix, 0.0))
    np.add.at(counts, at, known)
    with np.errstate(invalid="ignore"):
        return np.where(counts > 0, totals / counts, np.nan)
