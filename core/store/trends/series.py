"""Metrics, verdict rates, cost and latency of a suite, run after run. Reads only what was summed up at the seal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.records import Verdict
from core.statistics.intervals import wilson
from core.store.compare.comparability import settings_differences
from core.store.packing import from_json
from core.store.runs import Store
from core.store.trends.changes import ChangePoint, change_points

NEWEST = 100  # runs a trend looks back
_IDENTITY = ("questions", "corpus", "judge", "rubric", "parser", "catalog")


@dataclass(frozen=True, slots=True)
class Point:
    """One run in a series. `low`/`high` bound the value where an interval can be given; the counts say on how
    many cases it rests (None for cost and latency). `comparable` is False where the questions differ from the
    newest run's."""

    run_id: str
    run_name: str
    created_at: str
    value: float | None
    low: float | None
    high: float | None
    n_scored: int | None
    n_not_applicable: int | None
    n_error: int | None
    comparable: bool


@dataclass(frozen=True, slots=True)
class Series:
    """A figure over time, oldest first. `noise` is the standard deviation between runs of an unchanged system
    (None where nobody knows): differences below about 2·√2·noise mean nothing. `noise_source` says whether it
    comes from A/A pairs or repeats."""

    name: str
    title: str
    kind: str
    direction: int
    unit: str
    points: tuple[Point, ...]
    changes: tuple[ChangePoint, ...]
    noise: float | None
    noise_source: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """What changed from the run before to this one: settings, inputs, code."""

    run_id: str
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trend:
    """A suite over time. `gates` maps a run to the verdict of its newest gate; `expected_false_alarms` is what
    gates on an unchanged system would have raised in this time."""

    suite: str
    run_ids: tuple[str, ...]
    series: tuple[Series, ...]
    annotations: tuple[Annotation, ...]
    gates: Mapping[str, str]
    n_gates: int
    expected_false_alarms: float

    def named(self, name: str) -> Series | None:
        """The series of a metric, or None."""
        return next((series for series in self.series if series.name == name), None)


@dataclass(frozen=True, slots=True)
class _RunRow:
    key: int
    id: str
    name: str
    created_at: str
    settings: Mapping[str, Any]
    digests: Mapping[str, str]
    versions: Mapping[str, str]
    git_revision: str | None
    verdicts: Mapping[str, int]
    suite_digest: str


def suites(store: Store) -> list[tuple[str, int, str]]:
    """(suite, sealed runs, time of the newest) of every suite, newest first."""
    found = store.rows(
        "SELECT suite, count(*), max(created_at) FROM runs WHERE status = 'sealed' AND deleted_at IS NULL "
        "GROUP BY suite ORDER BY 3 DESC"
    )
    return [(row[0], row[1], row[2]) for row in found]


def trend(
    store: Store, suite: str, *, metrics: Sequence[str] | None = None, newest: int = NEWEST, seed: int = 0
) -> Trend:
    """The newest sealed runs of a suite. `metrics` are names of metrics; by default the headline metrics and
    the pass rate. Verdict rates, cost and latency are always there."""
    runs = _runs(store, suite, newest)
    keys = [run.key for run in runs]
    infos = store.metrics(runs[-1].id) if runs else {}
    rows = _aggregates(store, keys)
    known = {name for by_metric in rows.values() for name in by_metric}
    if metrics is None:
        chosen = sorted(
            name for name in known if name == "pass_rate" or (name in infos and infos[name].headline)
        )
    else:
        chosen = [name for name in metrics if name in known]
    replicas = _replicas(runs)
    figures = _figures(store, keys)
    made = []
    for name in chosen:
        info = infos.get(name)
        points = [_metric_point(run, runs[-1], rows.get(run.key, {}).get(name)) for run in runs]
        noise, source = _noise(
            [point.value for point in points], replicas, [figures[k].get(f"noise:{name}") for k in keys]
        )
        title, kind = (info.title, info.kind) if info else (name, "unbounded")
        direction, unit = (info.direction, info.unit) if info else (0, "")
        made.append(
            Series(name, title, kind, direction, unit, tuple(points), _changes(points, seed), noise, source)
        )
    made += _verdict_series(runs, replicas, seed)
    made += _figure_series(runs, figures, replicas, seed)
    gates = store.gates(suite=suite)
    within = {run.id for run in runs}
    recent = [gate for gate in gates if gate.run_id in within]
    return Trend(
        suite=suite,
        run_ids=tuple(run.id for run in runs),
        series=tuple(made),
        annotations=tuple(_annotations(runs)),
        gates={gate.run_id: gate.verdict for gate in reversed(recent)},
        n_gates=len(recent),
        expected_false_alarms=sum(float(gate.report.get("alpha", 0.05)) for gate in recent),
    )


def _runs(store: Store, suite: str, newest: int) -> list[_RunRow]:
    found = store.rows(
        "SELECT key, id, name, created_at, settings, digests, versions, git_revision, verdicts, suite_digest FROM runs "
        "WHERE suite = ? AND status = 'sealed' AND deleted_at IS NULL AND archived_at IS NULL "
        "ORDER BY created_at DESC, key DESC LIMIT ?",
        (suite, newest),
    )
    return [
        _RunRow(
            key=row[0],
            id=row[1],
            name=row[2],
            created_at=row[3],
            settings=from_json(row[4]),
            digests=from_json(row[5]),
            versions=from_json(row[6]),
            git_revision=row[7],
            verdicts=from_json(row[8]),
            suite_digest=row[9],
        )
        for row in reversed(found)
    ]


def _aggregates(store: Store, keys: Sequence[int]) -> dict[int, dict[str, tuple[Any, ...]]]:
    found = store.rows(
        "SELECT run_key, metric, mean, low, high, n_scored, n_not_applicable, n_error FROM aggregates "
        f"WHERE group_by = '' AND group_name = '' AND run_key IN ({', '.join('?' * len(keys))})",
        keys,
    )
    rows: dict[int, dict[str, tuple[Any, ...]]] = {}
    for key, metric, *rest in found:
        rows.setdefault(key, {})[metric] = tuple(rest)
    return rows


def _figures(store: Store, keys: Sequence[int]) -> dict[int, dict[str, float | None]]:
    found: dict[int, dict[str, float | None]] = {key: {} for key in keys}
    marks = ", ".join("?" * len(keys))
    for key, name, value in store.rows(
        f"SELECT run_key, name, value FROM run_figures WHERE run_key IN ({marks})", keys
    ):
        found[key][name] = value
    return found


def _same_questions(run: _RunRow, other: _RunRow) -> bool:
    return run.digests.get("questions", run.suite_digest) == other.digests.get(
        "questions", other.suite_digest
    )


def _metric_point(run: _RunRow, newest: _RunRow, row: tuple[Any, ...] | None) -> Point:
    mean, low, high, scored, not_applicable, error = row or (None,) * 6
    same = _same_questions(run, newest)
    return Point(run.id, run.name, run.created_at, mean, low, high, scored, not_applicable, error, same)


def _replicas(runs: Sequence[_RunRow]) -> list[tuple[int, int]]:
    """Neighbouring runs of one unchanged system: same settings, inputs and code (A/A pairs)."""
    return [(i - 1, i) for i in range(1, len(runs)) if not _changed(runs[i - 1], runs[i])]


def _changed(a: _RunRow, b: _RunRow) -> list[str]:
    found = [f"{d.name}: {d.a} → {d.b}" for d in settings_differences(a.settings, b.settings)]
    known_a, known_b = {**a.versions, **a.digests}, {**b.versions, **b.digests}
    found += [f"{name} changed" for name in _IDENTITY if known_a.get(name) != known_b.get(name)]
    for name in ("plumbline", "metrics"):
        if a.versions.get(name) != b.versions.get(name):
            found.append(f"{name}: {a.versions.get(name)} → {b.versions.get(name)}")
    if a.git_revision != b.git_revision:
        found.append(f"code: {(a.git_revision or 'none')[:9]} → {(b.git_revision or 'none')[:9]}")
    return found


def _annotations(runs: Sequence[_RunRow]) -> list[Annotation]:
    pairs = ((runs[i], _changed(runs[i - 1], runs[i])) for i in range(1, len(runs)))
    return [Annotation(run.id, tuple(changes)) for run, changes in pairs if changes]


def _noise(
    values: Sequence[float | None], replicas: Sequence[tuple[int, int]], repeats: Iterable[float | None]
) -> tuple[float | None, str]:
    """Standard deviation between runs of an unchanged system: from at least three A/A pairs, else from repeats."""
    differences = [
        second - first
        for i, j in replicas
        if (first := values[i]) is not None and (second := values[j]) is not None
    ]
    if len(differences) >= 3:
        return math.sqrt(sum(d * d for d in differences) / len(differences) / 2), "A/A pairs"
    known = [value for value in repeats if value is not None]
    return (float(np.median(known)), "repeats") if known else (None, "")


def _changes(points: Sequence[Point], seed: int) -> tuple[ChangePoint, ...]:
    return tuple(change_points([point.value if point.comparable else None for point in points], seed=seed))


def _verdict_series(runs: Sequence[_RunRow], replicas: Sequence[tuple[int, int]], seed: int) -> list[Series]:
    made = []
    for verdict in Verdict:
        points = []
        for run in runs:
            n, total = run.verdicts.get(verdict.value, 0), sum(run.verdicts.values())
            interval = wilson(n, total) if total else None
            points.append(
                Point(
                    run.id,
                    run.name,
                    run.created_at,
                    n / total if total else None,
                    interval.low if interval else None,
                    interval.high if interval else None,
                    total,
                    0,
                    0,
                    _same_questions(run, runs[-1]),
                )
            )
        noise, source = _noise([point.value for point in points], replicas, ())
        direction = 1 if verdict is Verdict.PASS else -1
        name, title = f"verdict:{verdict.value}", f"Share of {verdict.value}"
        made.append(
            Series(name, title, "binary", direction, "", tuple(points), _changes(points, seed), noise, source)
        )
    return made


_FIGURES = (
    ("latency_p50", "Latency, median", "duration", "ms"),
    ("latency_p95", "Latency, 95 % point", "duration", "ms"),
    ("cost_usd", "Cost", "money", "USD"),
    ("n_flaky", "Flaky cases", "count", ""),
)


def _figure_series(
    runs: Sequence[_RunRow],
    figures: Mapping[int, Mapping[str, float | None]],
    replicas: Sequence[tuple[int, int]],
    seed: int,
) -> list[Series]:
    made = []
    for name, title, kind, unit in _FIGURES:
        points = [
            Point(
                run.id,
                run.name,
                run.created_at,
                figures[run.key].get(name),
                None,
                None,
                None,
                None,
                None,
                _same_questions(run, runs[-1]),
            )
            for run in runs
        ]
        if any(point.value is not None for point in points):
            noise, source = _noise([point.value for point in points], replicas, ())
            made.append(
                Series(name, title, kind, -1, unit, tuple(points), _changes(points, seed), noise, source)
            )
    return made
