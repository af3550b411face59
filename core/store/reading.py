"""Reading runs, cases, outputs and results back, exactly as they were written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.contracts import METRICS, Metric
from core.errors import StoreError, nearest
from core.records import Aggregate, Case, Output, Result, Run
from core.store import content, rows
from core.store.database import Database
from core.store.packing import sql_text

_SHORTEST_PREFIX = 4


class Reading(Database):
    """Everything of a run, by its id. Deleted runs are not found."""

    def run(self, ref: str) -> Run:
        """The run with this id, name, or unique beginning of an id, or "latest" (the newest sealed run). Of
        several runs with one name the newest is meant. StoreError names what comes nearest."""
        return self._load_run(self.run_key(ref))

    def run_key(self, ref: str) -> int:
        """The key that `run_key` columns hold for a run."""
        if ref == "latest":
            row = self.one(
                "SELECT key FROM runs WHERE status = 'sealed' AND deleted_at IS NULL ORDER BY created_at DESC, key DESC"
            )
            if row is None:
                raise StoreError("the store holds no sealed run yet")
            return int(row[0])
        for column in ("id", "name"):
            row = self.one(
                f"SELECT key FROM runs WHERE {column} = ? AND deleted_at IS NULL ORDER BY created_at DESC, key DESC",
                (sql_text(ref),),
            )
            if row is not None:
                return int(row[0])
        if len(ref) >= _SHORTEST_PREFIX:
            found = self.rows(
                "SELECT key, id FROM runs WHERE substr(id, 1, ?) = ? AND deleted_at IS NULL ORDER BY id",
                (len(ref), sql_text(ref)),
            )
            if len(found) == 1:
                return int(found[0][0])
            if found:
                raise StoreError(
                    f"several runs begin with '{ref}': {', '.join(row[1] for row in found[:10])}"
                )
        raise StoreError(self._unknown(ref))

    def _unknown(self, ref: str) -> str:
        deleted = self.one(
            "SELECT id FROM runs WHERE (id = ? OR name = ?) AND deleted_at IS NOT NULL", (ref, ref)
        )
        if deleted:
            return f"the run '{ref}' was deleted; `plumbline store undo {deleted[0]}` brings it back"
        names = {
            name for row in self.rows("SELECT id, name FROM runs WHERE deleted_at IS NULL") for name in row
        }
        return f"no run '{ref}' in the store{nearest(ref, names) if names else ': it is empty'}"

    def _load_run(self, key: int) -> Run:
        row = self.one(f"SELECT {rows.RUN_COLUMNS} FROM runs WHERE key = ?", (key,))
        if row is None:
            raise StoreError("the run was deleted from the store a moment ago")
        return rows.load_run(row, self._aggregates(key))

    def _aggregates(self, key: int) -> tuple[Aggregate, ...]:
        found = self.rows(
            f"SELECT {rows.AGGREGATE_COLUMNS} FROM aggregates WHERE run_key = ? ORDER BY position", (key,)
        )
        return tuple(rows.load_aggregate(row) for row in found)

    def metrics(self, run_id: str) -> dict[str, Metric]:
        """What each metric of a sealed run meant when it was sealed (title, kind, direction, version). For a run
        that is not sealed, what is registered now."""
        found = self.rows(
            f"SELECT {', '.join('m.' + name for name in rows.METRIC_COLUMNS.split(', '))} FROM aggregates a "
            "JOIN metrics m ON m.name = a.metric AND m.version = a.version WHERE a.run_key = ? AND a.group_by = ''",
            (self._key(run_id),),
        )
        return {**METRICS, **{row[0]: rows.load_metric(row) for row in found}}

    def metric_versions(self, run_id: str) -> dict[str, str]:
        """Version of the definition of each metric a sealed run has, where it was known."""
        return dict(
            self.rows(
                "SELECT metric, version FROM aggregates WHERE run_key = ? AND group_by = '' AND version IS NOT NULL",
                (self._key(run_id),),
            )
        )

    def runs(
        self,
        kind: str | None = None,
        suite: str | None = None,
        status: str | None = None,
        sweep_id: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        *,
        archived: bool | None = False,
        tag: str | None = None,
        light: bool = False,
    ) -> list[Run]:
        """Runs that match, newest first. `archived=None` gives both. `light` leaves aggregates out."""
        wanted = {"kind": kind, "suite": suite, "status": status, "sweep_id": sweep_id}
        given = {name: value for name, value in wanted.items() if value is not None}
        conditions = ["deleted_at IS NULL", *(f"{name} = ?" for name in given)]
        params: list[Any] = list(given.values())
        if archived is not None:
            conditions.append(f"archived_at IS {'NOT ' if archived else ''}NULL")
        if tag is not None:
            conditions.append("key IN (SELECT run_key FROM tags WHERE tag = ?)")
            params.append(tag)
        found = self.rows(
            f"SELECT {rows.RUN_COLUMNS} FROM runs WHERE {' AND '.join(conditions)} "
            "ORDER BY created_at DESC, key DESC LIMIT ? OFFSET ?",
            (*params, -1 if limit is None else limit, offset),
        )
        return [rows.load_run(row, () if light else self._aggregates(row[0])) for row in found]

    def version(self) -> tuple[int, float]:
        """(number of runs, time of the last change to any run or job): changes whenever a list of them would.
        A cache of lists is keyed by it; of a sealed run, by its id."""
        row = self.one(
            "SELECT (SELECT count(*) FROM runs), "
            "max(coalesce((SELECT max(updated_at) FROM runs), 0), coalesce((SELECT max(updated_at) FROM jobs), 0))"
        )
        return (int(row[0]), float(row[1])) if row else (0, 0.0)

    # --- cases --------------------------------------------------------------------------------------------

    def cases(self, run_id: str) -> list[Case]:
        """The cases of a run in the order of their file."""
        found = self.rows(
            "SELECT c.body, rc.position FROM run_cases rc JOIN cases c ON c.key = rc.case_key WHERE rc.run_key = ? "
            "ORDER BY rc.position, rc.case_key",
            (self._key(run_id),),
        )
        return [content.load_case(body, position) for body, position in found]

    def case(self, run_id: str, case_id: str) -> Case:
        """One case of a run; StoreError when the run has none of this id."""
        row = self.one(
            "SELECT c.body, rc.position FROM cases c CROSS JOIN run_cases rc ON rc.case_key = c.key "
            "WHERE c.id = ? AND rc.run_key = ?",
            (sql_text(case_id), self._key(run_id)),
        )
        if row is None:
            raise StoreError(f"the run {run_id} has no case '{case_id}'")
        return content.load_case(*row)

    # --- outputs and results ------------------------------------------------------------------------------

    def answered(self, run_id: str) -> dict[tuple[str, int], bool]:
        """(case id, repeat) of every stored output → whether it is a failure."""
        return self._present("outputs", run_id)

    def scored(self, run_id: str) -> dict[tuple[str, int], bool]:
        """(case id, repeat) of every stored result → whether it is a failure of judge or evaluator."""
        return self._present("results", run_id)

    def outputs(self, run_id: str) -> list[Output]:
        """All outputs of a run, by case in file order, then by repeat. `iter_outputs` needs less memory."""
        return list(self.iter_outputs(run_id))

    def iter_outputs(self, run_id: str, *, block: int = 2_000) -> Iterator[Output]:
        """Outputs in the order of `outputs`, read in blocks."""
        for found in self._blocks("outputs", rows.OUTPUT_COLUMNS, self._key(run_id), block):
            passages = self._passages_of([row[3:] for row in found])
            for row in found:
                yield rows.load_output(row[0], row[1:], passages)

    def results(self, run_id: str) -> list[Result]:
        """All results of a run, by case in file order, then by repeat."""
        return list(self.iter_results(run_id))

    def iter_results(self, run_id: str, *, block: int = 2_000) -> Iterator[Result]:
        """Results in the order of `results`, read in blocks."""
        for found in self._blocks("results", rows.RESULT_COLUMNS, self._key(run_id), block):
            for row in found:
                yield rows.load_result(row[0], row[1:], self.layouts())

    def output(self, run_id: str, case_id: str, repeat: int = 0) -> Output | None:
        """One output, or None when the case was not asked yet."""
        row = self._row("outputs", rows.OUTPUT_COLUMNS, run_id, case_id, repeat)
        return None if row is None else rows.load_output(case_id, row, self._passages_of([row[2:]]))

    def result(self, run_id: str, case_id: str, repeat: int = 0) -> Result | None:
        """One result, or None when the case was not scored yet."""
        row = self._row("results", rows.RESULT_COLUMNS, run_id, case_id, repeat)
        return None if row is None else rows.load_result(case_id, row, self.layouts())

    def layouts(self) -> dict[int, tuple[str, ...]]:
        """Score names by layout key, in the order of the blobs."""
        return {key: tuple(self.layout(key)) for (key,) in self.rows("SELECT key FROM layouts")}

    def score_matrix(
        self, run_id: str, metrics: list[str] | None = None
    ) -> tuple[list[tuple[str, int]], list[str], Any]:
        """((case id, repeat) of each row, metric names, float64 array rows × metrics with NaN for None or
        absent). The quick way to many scores at once; `metrics=None` gives all the run has, sorted."""
        found = self.rows(
            f"SELECT {content.CASE_ID}, r.repeat, r.layout, r.scores FROM results r JOIN cases c ON c.key = r.case_key "
            "JOIN run_cases rc ON rc.run_key = r.run_key AND rc.case_key = r.case_key "
            "WHERE r.run_key = ? ORDER BY rc.position, r.case_key, r.repeat",
            (self._key(run_id),),
        )
        used = {layout: list(self.layout(layout)) for layout in {row[3] for row in found}}
        names = (
            sorted({name for some in used.values() for name in some}) if metrics is None else list(metrics)
        )
        matrix = np.full((len(found), len(names)), np.nan)
        for layout, some in used.items():
            at = [i for i, row in enumerate(found) if row[3] == layout]
            block = np.frombuffer(b"".join(found[i][4] for i in at), dtype="<f8").reshape(len(at), len(some))
            for column, name in enumerate(names):
                if name in some:
                    matrix[at, column] = block[:, some.index(name)]
        return [(content.case_id(row[0], row[1]), row[2]) for row in found], names, matrix

    def figures(self, run_id: str) -> dict[str, float | None]:
        """What `measure` found when the run was sealed; measured now for one that is not."""
        found = self.rows("SELECT name, value FROM run_figures WHERE run_key = ?", (self._key(run_id),))
        return dict(found) if found else self.measure(run_id)

    def measure(self, run_id: str) -> dict[str, float | None]:
        """Figures over the outputs of a run: `latency_mean`, `latency_p50`, `latency_p95` (ms), `cost_usd` (None
        where a price is unknown), `n_outputs`, `n_failed`, `n_flaky` (cases whose repeats disagree), and with
        repeats `noise:<metric>`, the standard error of a metric's mean that comes from asking again."""
        key = self._key(run_id)
        answered = self.rows(
            "SELECT latency_ms, cost_usd, failure IS NOT NULL FROM outputs WHERE run_key = ?", (key,)
        )
        found: dict[str, float | None] = {
            "n_outputs": float(len(answered)),
            "n_failed": float(sum(row[2] for row in answered)),
        }
        latencies = [row[0] for row in answered if row[0] is not None]
        if latencies:
            median, late = np.quantile(latencies, (0.5, 0.95))
            found |= {
                "latency_mean": float(np.mean(latencies)),
                "latency_p50": float(median),
                "latency_p95": float(late),
            }
        unknown = any(row[1] is None and not row[2] for row in answered)
        costs = [row[1] for row in answered if row[1] is not None]
        found["cost_usd"] = float(sum(costs)) if costs and not unknown else None
        flaky = self.one(
            "SELECT count(*) FROM (SELECT 1 FROM results WHERE run_key = ? GROUP BY case_key "
            "HAVING count(DISTINCT verdict) > 1)",
            (key,),
        )
        found["n_flaky"] = float(flaky[0]) if flaky else 0.0
        repeated = self.one("SELECT max(repeat) FROM results WHERE run_key = ?", (key,))
        if repeated and repeated[0]:
            found |= self._noise(run_id)
        return found

    def _noise(self, run_id: str) -> dict[str, float | None]:
        keys, names, matrix = self.score_matrix(run_id)
        cases: dict[str, list[int]] = {}
        for at, (case_id, _) in enumerate(keys):
            cases.setdefault(case_id, []).append(at)
        passed = {
            (case_id, repeat): float(verdict == "PASS")
            for case_id, repeat, verdict in self.rows(
                "SELECT c.id, r.repeat, r.verdict FROM results r JOIN cases c ON c.key = r.case_key "
                "WHERE r.run_key = ? AND r.verdict <> 'ERROR'",
                (self._key(run_id),),
            )
        }
        column = np.array([passed.get(key, np.nan) for key in keys]).reshape(-1, 1)
        matrix = np.concatenate([matrix, column], axis=1)
        total, counted = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
        for places in cases.values():
            block = matrix[places]
            n = (~np.isnan(block)).sum(axis=0)
            several = n > 1
            if several.any():
                total[several] += np.nanvar(block[:, several], axis=0, ddof=1) / n[several]
                counted[several] += 1
        return {
            f"noise:{name}": float(np.sqrt(total[i]) / counted[i])
            for i, name in enumerate([*names, "pass_rate"])
            if counted[i]
        }

    # --- inside -------------------------------------------------------------------------------------------

    def _key(self, run_id: str) -> int:
        row = self.one("SELECT key FROM runs WHERE id = ? AND deleted_at IS NULL", (run_id,))
        return int(row[0]) if row is not None else self.run_key(run_id)

    def _present(self, table: str, run_id: str) -> dict[tuple[str, int], bool]:
        found = self.rows(
            f"SELECT {content.CASE_ID}, x.repeat, x.failure IS NOT NULL FROM {table} x "
            "JOIN cases c ON c.key = x.case_key WHERE x.run_key = ?",
            (self._key(run_id),),
        )
        return {(content.case_id(name, body), repeat): bool(failed) for name, body, repeat, failed in found}

    def _blocks(self, table: str, columns: str, key: int, block: int) -> Iterator[list[tuple[Any, ...]]]:
        order = self.rows(
            f"SELECT x.key FROM {table} x JOIN run_cases rc ON rc.run_key = x.run_key AND rc.case_key = x.case_key "
            "WHERE x.run_key = ? ORDER BY rc.position, rc.case_key, x.repeat",
            (key,),
        )
        chosen = ", ".join(f"x.{name}" for name in columns.split(", "))
        for at in range(0, len(order), block):
            keys = [row[0] for row in order[at : at + block]]
            found = {
                row[0]: (content.case_id(row[1], row[2]), *row[3:])
                for row in self.rows(
                    f"SELECT x.key, {content.CASE_ID}, {chosen} FROM {table} x JOIN cases c ON c.key = x.case_key "
                    f"WHERE x.key IN ({', '.join('?' * len(keys))})",
                    keys,
                )
            }
            yield [found[k] for k in keys]

    def _row(
        self, table: str, columns: str, run_id: str, case_id: str, repeat: int
    ) -> tuple[Any, ...] | None:
        chosen = ", ".join(f"x.{name}" for name in columns.split(", "))
        return self.one(
            f"SELECT {chosen} FROM {table} x WHERE x.run_key = ? AND x.repeat = ? "
            "AND x.case_key IN (SELECT key FROM cases WHERE id = ?)",
            (self._key(run_id), repeat, sql_text(case_id)),
        )

    def _passages_of(self, tails: list[tuple[Any, ...]]) -> dict[int, dict[str, Any]]:
        keys = {key for tail in tails for key in rows.passage_keys(tail[0])}
        return content.load_passages(self._connection(), keys)
