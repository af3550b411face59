"""The tables of a run store, as numbered migrations.

Each migration runs once, inside a transaction: `sqlite_utils.migrations` brings an older store up to date; an empty
file gets all of them at once, with the same ledger. A released migration is never edited: a change of the schema is a new one at the end, and `tests/store/released` keeps a store of every
released version. `PRAGMA user_version` repeats the number of applied migrations, so that an older program can
tell a newer store at once.

What goes where:

- `cases`, `passages`, `texts`, `documents`, `layouts` hold content once, by digest, for all runs; `metrics` what
  each metric meant (kind, direction) when a run was sealed;
- `outputs` and `results` have one narrow row a (run, case, repeat): columns for what is filtered and counted,
  a packed blob for the scores (`layouts` names them), a compressed JSON body for the rest;
- the view `case_results` joins them under readable names and is what a query should read;
- triggers refuse every change of a sealed run. Only a run that was deleted before may be purged.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from core.errors import StoreError

APPLICATION_ID = 0x504C4D42  # "PLMB": tells a run store from any other SQLite file

_TABLES = (
    """CREATE TABLE runs (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        suite TEXT NOT NULL,
        suite_digest TEXT NOT NULL,
        created_at TEXT NOT NULL,
        status TEXT NOT NULL,
        sealed_at TEXT,
        settings TEXT NOT NULL,
        digests TEXT NOT NULL,
        versions TEXT NOT NULL,
        git_revision TEXT,
        seed INTEGER NOT NULL,
        parent_id TEXT,
        sweep_id TEXT,
        folder TEXT,
        n_cases INTEGER NOT NULL,
        repeats INTEGER NOT NULL,
        verdicts TEXT NOT NULL,
        summary BLOB NOT NULL,
        note TEXT NOT NULL DEFAULT '',
        archived_at TEXT,
        deleted_at TEXT,
        updated_at REAL NOT NULL
    )""",
    "CREATE INDEX runs_suite ON runs (suite, created_at)",
    "CREATE INDEX runs_sweep ON runs (sweep_id)",
    """CREATE TABLE cases (
        key INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        content BLOB NOT NULL,
        id TEXT NOT NULL,
        query TEXT NOT NULL,
        test TEXT NOT NULL,
        evaluator TEXT NOT NULL,
        question_type TEXT NOT NULL,
        cluster TEXT,
        answerable INTEGER,
        body BLOB NOT NULL
    )""",
    "CREATE INDEX cases_id ON cases (id)",
    """CREATE TABLE run_cases (
        run_key INTEGER NOT NULL,
        case_key INTEGER NOT NULL,
        position INTEGER NOT NULL,
        PRIMARY KEY (run_key, case_key)
    ) WITHOUT ROWID""",
    "CREATE INDEX run_cases_case ON run_cases (case_key)",
    "CREATE TABLE texts (key INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, body BLOB NOT NULL)",
    """CREATE TABLE passages (
        key INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        item_id TEXT NOT NULL,
        text_key INTEGER NOT NULL,
        body BLOB NOT NULL
    )""",
    """CREATE TABLE outputs (
        key INTEGER PRIMARY KEY,
        run_key INTEGER NOT NULL,
        case_key INTEGER NOT NULL,
        repeat INTEGER NOT NULL,
        failure TEXT,
        latency_ms REAL,
        cost_usd REAL,
        confidence REAL,
        abstained INTEGER,
        n_hits INTEGER NOT NULL,
        text TEXT,
        hits BLOB,
        body BLOB
    )""",
    "CREATE UNIQUE INDEX outputs_case ON outputs (run_key, case_key, repeat)",
    "CREATE TABLE layouts (key INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, names TEXT NOT NULL)",
    """CREATE TABLE results (
        key INTEGER PRIMARY KEY,
        run_key INTEGER NOT NULL,
        case_key INTEGER NOT NULL,
        repeat INTEGER NOT NULL,
        verdict TEXT NOT NULL,
        label TEXT,
        evaluator TEXT NOT NULL,
        test TEXT NOT NULL,
        question_type TEXT NOT NULL,
        primary_reason TEXT,
        failure TEXT,
        n_unchecked INTEGER NOT NULL,
        layout INTEGER NOT NULL,
        scores BLOB NOT NULL,
        body BLOB
    )""",
    "CREATE UNIQUE INDEX results_case ON results (run_key, case_key, repeat)",
    "CREATE INDEX results_verdict ON results (run_key, verdict)",
    "CREATE INDEX results_evaluator ON results (run_key, evaluator)",
    """CREATE TABLE aggregates (
        run_key INTEGER NOT NULL,
        group_by TEXT NOT NULL,
        group_name TEXT NOT NULL,
        metric TEXT NOT NULL,
        position INTEGER NOT NULL,
        mean REAL,
        n_scored INTEGER NOT NULL,
        n_not_applicable INTEGER NOT NULL,
        n_error INTEGER NOT NULL,
        low REAL,
        high REAL,
        level REAL NOT NULL,
        method TEXT NOT NULL,
        note TEXT NOT NULL,
        version TEXT,
        PRIMARY KEY (run_key, group_by, group_name, metric)
    ) WITHOUT ROWID""",
    """CREATE TABLE run_figures (
        run_key INTEGER NOT NULL,
        name TEXT NOT NULL,
        value REAL,
        PRIMARY KEY (run_key, name)
    ) WITHOUT ROWID""",
    """CREATE TABLE metrics (
        name TEXT NOT NULL,
        version TEXT NOT NULL,
        title TEXT NOT NULL,
        family TEXT NOT NULL,
        kind TEXT NOT NULL,
        direction INTEGER NOT NULL,
        low REAL,
        high REAL,
        unit TEXT NOT NULL,
        headline INTEGER NOT NULL,
        PRIMARY KEY (name, version)
    ) WITHOUT ROWID""",
    """CREATE TABLE documents (
        key INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        body BLOB NOT NULL
    )""",
    """CREATE TABLE run_documents (
        run_key INTEGER NOT NULL,
        doc_path TEXT NOT NULL,
        document_key INTEGER,
        report TEXT,
        PRIMARY KEY (run_key, doc_path)
    ) WITHOUT ROWID""",
    """CREATE TABLE attributions (
        owner_id TEXT NOT NULL,
        table_name TEXT NOT NULL,
        n_rows INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (owner_id, table_name)
    )""",
    """CREATE TABLE jobs (
        id TEXT PRIMARY KEY,
        token TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        settings TEXT NOT NULL,
        status TEXT NOT NULL,
        run_id TEXT,
        pid INTEGER,
        total INTEGER,
        done INTEGER NOT NULL DEFAULT 0,
        message TEXT NOT NULL DEFAULT '',
        error TEXT NOT NULL DEFAULT '',
        cancel_requested INTEGER NOT NULL DEFAULT 0,
        created_at TEXT NOT NULL,
        started_at TEXT,
        finished_at TEXT,
        heartbeat REAL,
        updated_at REAL NOT NULL
    )""",
    "CREATE TABLE tags (run_key INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (run_key, tag)) WITHOUT ROWID",
    """CREATE TABLE baselines (
        name TEXT PRIMARY KEY,
        run_key INTEGER NOT NULL,
        pinned_at TEXT NOT NULL
    )""",
    """CREATE TABLE gates (
        key INTEGER PRIMARY KEY,
        run_key INTEGER NOT NULL,
        baseline_key INTEGER,
        decided_at TEXT NOT NULL,
        verdict TEXT NOT NULL,
        report BLOB NOT NULL
    )""",
    "CREATE INDEX gates_run ON gates (run_key)",
    """CREATE TABLE labels (
        key INTEGER PRIMARY KEY,
        run_key INTEGER NOT NULL,
        case_key INTEGER NOT NULL,
        repeat INTEGER NOT NULL,
        subject TEXT NOT NULL,
        value TEXT NOT NULL,
        author TEXT NOT NULL,
        reason TEXT NOT NULL,
        created_at TEXT NOT NULL,
        undone_at TEXT
    )""",
    "CREATE INDEX labels_case ON labels (run_key, case_key)",
    """CREATE TABLE preferences (
        scope TEXT NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (scope, name)
    )""",
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "INSERT INTO meta VALUES ('generation', '0')",
)

_VIEW = """CREATE VIEW case_results AS
    SELECT runs.id AS run_id, runs.key AS run_key, c.id AS case_id, rc.position AS position, r.repeat AS repeat,
        r.verdict AS verdict, r.label AS label, r.evaluator AS evaluator, r.test AS test,
        r.question_type AS question_type, r.primary_reason AS primary_reason, r.failure AS failure,
        r.n_unchecked AS n_unchecked, r.layout AS layout, r.scores AS scores, r.body AS body,
        c.key AS case_key, c.query AS query, c.cluster AS cluster, c.answerable AS answerable,
        o.text AS answer, o.latency_ms AS latency_ms, o.cost_usd AS cost_usd, o.confidence AS confidence,
        o.abstained AS abstained, o.n_hits AS n_hits
    FROM results r
    JOIN runs ON runs.key = r.run_key
    LEFT JOIN cases c ON c.key = r.case_key
    LEFT JOIN run_cases rc ON rc.run_key = r.run_key AND rc.case_key = r.case_key
    LEFT JOIN outputs o ON o.run_key = r.run_key AND o.case_key = r.case_key AND o.repeat = r.repeat"""

GUARDED = ("run_cases", "outputs", "results", "aggregates", "run_figures", "run_documents")
MUTABLE_WHEN_SEALED = ("folder", "note", "archived_at", "deleted_at", "updated_at")


def _guards() -> list[str]:
    """Triggers that keep a sealed run as it is, whatever program writes to the file."""
    sealed = "(SELECT sealed_at FROM runs WHERE key = {row}.run_key) IS NOT NULL"
    purged = "(SELECT deleted_at FROM runs WHERE key = OLD.run_key) IS NULL"
    stop = "BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END"
    made = []
    for table in GUARDED:
        made += [
            f"CREATE TRIGGER {table}_no_insert BEFORE INSERT ON {table} WHEN {sealed.format(row='NEW')} {stop}",
            f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} WHEN {sealed.format(row='OLD')} {stop}",
            f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} WHEN {sealed.format(row='OLD')} AND {purged} {stop}",
        ]
    fixed = (
        "id, name, kind, suite, suite_digest, created_at, status, sealed_at, settings, digests, versions, "
        "git_revision, seed, parent_id, sweep_id, n_cases, repeats, verdicts, summary"
    )
    made += [
        f"CREATE TRIGGER runs_no_update BEFORE UPDATE OF {fixed} ON runs WHEN OLD.sealed_at IS NOT NULL {stop}",
        f"CREATE TRIGGER runs_no_delete BEFORE DELETE ON runs WHEN OLD.sealed_at IS NOT NULL AND OLD.deleted_at IS NULL {stop}",
    ]
    return made


_SET = "plumbline"
_LEDGER = (
    """CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
)""",
    """CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name")""",
)

# name and statements of each released step, in order
_STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (("1_first_release", (*_TABLES, _VIEW, *_guards())),)


def schema_version() -> int:
    """Number of the newest schema this program knows."""
    return len(_STEPS)


def version_of(connection: sqlite3.Connection) -> int:
    """Schema version of a store; 0 for an empty file. StoreError where the file is no store or a newer one."""
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if owner != APPLICATION_ID and tables:
        raise StoreError("this SQLite file is not a Plumbline run store; name another file with --store-path")
    if found > schema_version():
        raise StoreError(
            f"the store has schema {found} and this version of Plumbline knows schemas up to {schema_version()}: "
            "it was written by a newer version. Update plumbline-eval, or name another store with --store-path"
        )
    return found


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a store to the newest schema; several processes may try at once. One transaction for all steps."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = version_of(connection)
        if found == 0:
            create(connection)
        elif found < schema_version():
            upgrade(connection)
        connection.execute(f"PRAGMA user_version = {schema_version()}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def create(connection: sqlite3.Connection) -> None:
    """All steps in an empty file, and the ledger as sqlite-utils keeps it, so that `upgrade` can go on from here.
    What sqlite-utils would make of the file is the same, but loading it (and pandas) costs more than a short run."""
    for statement in _LEDGER:
        connection.execute(statement)
    for name, statements in _STEPS:
        for statement in statements:
            connection.execute(statement)
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)",
            (_SET, name, str(datetime.now(UTC))),
        )


def upgrade(connection: sqlite3.Connection) -> None:
    """The steps that the store has not seen."""
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

    migrations = Migrations(_SET)
    for name, statements in _STEPS:
        migrations(name=name)(_step(statements))
    migrations.apply(Database(connection, execute_plugins=False, recursive_triggers=False))


def _step(statements: Sequence[str]) -> Callable[[Any], None]:
    def apply(db: Any) -> None:
        for statement in statements:
            db.execute(statement)

    return apply
