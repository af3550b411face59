"""Sweeps: their configurations, and the tables that core's attribution kept under their id."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from dashboard import wording
from dashboard.queries import source
from dashboard.queries.runs import like

QUALITY = "mean_design_quality_score"
# where things go and what they are called is no part of a design
_UNIMPORTANT = frozenset(
    {"run_name", "output_dir", "store_path", "cache_dir", "concurrency", "max_cost", "seed"}
)
_SHORT = {
    "chunking": "", "retriever": "", "answer_mode": "", "context_mode": "", "query_augmentation": "rewriting",
    "chunk_size": "size", "top_k": "top", "rerank_top_n": "rerank", "abstain_on_weak_evidence": "abstains",
    "hybrid_alpha": "alpha", "embedding_model": "", "answer_sentences": "sentences",
}  # fmt: skip


def listed(limit: int = 100) -> list[dict[str, Any]]:
    """Sweeps, newest first: id, name, created_at, n_runs, n_sealed, suite."""
    return source.rows(
        "SELECT sweep_id AS id, coalesce(json_extract(max(settings), '$.run_name'), 'sweep') AS name, min(created_at) AS created_at, "
        "count(*) AS n_runs, sum(status = 'sealed') AS n_sealed, max(suite) AS suite FROM runs "
        "WHERE sweep_id IS NOT NULL AND deleted_at IS NULL GROUP BY sweep_id ORDER BY min(created_at) DESC LIMIT ?",
        [limit],
    )


def resolve(reference: str) -> str | None:
    """The sweep a link means by its id or the beginning of it."""
    found = source.rows(
        "SELECT DISTINCT sweep_id AS id FROM runs WHERE sweep_id LIKE ? ESCAPE '!' AND deleted_at IS NULL",
        [like(reference).lstrip("%")],
    )
    return str(found[0]["id"]) if len(found) == 1 else None


def configurations(sweep_id: str) -> pd.DataFrame:
    """One row a run of the sweep: experiment (published name), run_id, label (what tells it from the others), status,
    verdicts, and `settings` as a dict; in the order they were started."""
    found = source.rows(
        "SELECT name AS experiment, id AS run_id, status, settings, verdicts, updated_at FROM runs "
        "WHERE sweep_id = ? AND deleted_at IS NULL ORDER BY created_at, key",
        [sweep_id],
    )
    for row in found:
        row["settings"] = json.loads(row["settings"])
    varying = factors([row["settings"] for row in found])
    seen: dict[str, int] = {}
    for row in found:
        label = " · ".join(_short(name, row["settings"].get(name)) for name in varying) or row["experiment"]
        seen[label] = seen.get(label, 0) + 1
        row["label"] = label if seen[label] == 1 else f"{label} ({seen[label]})"
    return pd.DataFrame(
        found, columns=["experiment", "run_id", "label", "status", "settings", "verdicts", "updated_at"]
    )


def factors(settings: list[dict[str, Any]]) -> list[str]:
    """Settings whose value is not the same in all configurations, in their own order."""
    names = dict.fromkeys(name for each in settings for name in each if name not in _UNIMPORTANT)
    return [
        name for name in names if len({json.dumps(each.get(name), sort_keys=True) for each in settings}) > 1
    ]


def _short(name: str, value: Any) -> str:
    word = _SHORT.get(name, wording.spelled(name))
    if isinstance(value, bool):
        return word if value else f"no {word.removesuffix('s') if word == 'abstains' else word}"
    if value is None:
        return f"{word or name}: none"
    return f"{word} {wording.setting(value)}".strip()


def _state(owner: str) -> tuple[str, int, float]:
    found = source.first(
        "SELECT (SELECT count(*) FROM attributions WHERE owner_id = ?1) AS tables, "
        "(SELECT coalesce(max(updated_at), 0) FROM runs WHERE sweep_id = ?1 OR id = ?1) AS changed",
        [owner],
    )
    return (
        str(source.store_path()),
        int(found["tables"]) if found else 0,
        float(found["changed"]) if found else 0.0,
    )


def table(owner: str, name: str) -> pd.DataFrame:
    """A table of attribution of a sweep or a run; empty (without columns) where it has none."""
    return _table(owner, name, _state(owner))


@source.cached
def _table(owner: str, name: str, version: tuple[str, int, float]) -> pd.DataFrame:
    with source.opened() as store:
        return pd.DataFrame(store.attribution(owner, name) if store is not None else [])


def one(owner: str, name: str) -> dict[str, Any]:
    """The row of a table of one row (summary, advice); empty where there is none."""
    found = table(owner, name)
    return {str(key): value for key, value in found.iloc[0].to_dict().items()} if len(found) else {}


def owners(name: str) -> set[str]:
    """Ids of sweeps and runs that have a table of this name with rows."""
    return {
        row["id"]
        for row in source.rows(
            "SELECT owner_id AS id FROM attributions WHERE table_name = ? AND n_rows > 0", [name]
        )
    }
