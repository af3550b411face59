"""Stores of every released schema still open, and hold what they held."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from core.errors import StoreError
from core.records import Output, Result
from core.store import schema
from core.store.runs import Store
from tests.store.made import an_output, some_cases

RELEASED = sorted((Path(__file__).parent / "released").glob("schema_*.sql"))


def test_every_released_schema_has_its_store() -> None:
    assert [path.name for path in RELEASED] == [
        f"schema_{i}.sql" for i in range(1, schema.schema_version() + 1)
    ]


@pytest.mark.parametrize("dump", RELEASED, ids=lambda path: path.stem)
def test_a_store_of_every_released_schema_opens(tmp_path: Path, dump: Path) -> None:
    path = tmp_path / "old.db"
    connection = sqlite3.connect(path)
    connection.executescript(dump.read_text(encoding="utf-8"))
    connection.close()
    shutil.copy(path, tmp_path / "copy.db")
    with Store(path) as store:
        assert store.check() == []
        run = store.run("run-1")
        assert (run.status, run.verdicts) == ("sealed", {"PASS": 2, "WEAK": 0, "FAIL": 1, "ERROR": 0})
        assert [case.query for case in store.cases("run-1")] == ["Frage 0?", "Frage 1?", "Frage 2?"]
        assert store.outputs("run-1")[0] == an_output(some_cases(1)[0])
        assert store.results("run-1")[0].scores == {"mrr_at_k": 1.0, "ndcg_at_k": None}
        assert store.tags("run-1") == ["released"]
        assert isinstance(store.results("run-1")[2], Result)
        assert isinstance(store.outputs("run-1")[2], Output)
        with pytest.raises(StoreError, match="sealed"):
            store.set_status("run-1", "running")


def test_a_new_store_is_what_sqlite_utils_would_make_of_it() -> None:
    made, migrated = sqlite3.connect(":memory:"), sqlite3.connect(":memory:")
    schema.create(made)
    schema.upgrade(migrated)
    everything = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    assert made.execute(everything).fetchall() == migrated.execute(everything).fetchall()
    ledger = "SELECT id, migration_set, name FROM _sqlite_migrations"
    assert made.execute(ledger).fetchall() == migrated.execute(ledger).fetchall()
    before = made.total_changes
    schema.upgrade(made)  # nothing is left for sqlite-utils to do
    assert made.total_changes == before
