"""What people say about cases (with author, reason and undo), and view settings kept with a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.errors import StoreError
from core.store.database import now
from core.store.packing import from_json, sql_text, to_json
from core.store.writing import Writing


@dataclass(frozen=True, slots=True)
class Label:
    """One judgement of a person. `subject` says what was judged (a rubric, "verdict", a claim); `undone_at` is
    None while it stands."""

    id: int
    case_id: str
    repeat: int
    subject: str
    value: str
    author: str
    reason: str
    created_at: str
    undone_at: str | None


class Labels(Writing):
    """Labels never change a result; they stand beside it."""

    def add_label(
        self,
        run_id: str,
        case_id: str,
        subject: str,
        value: str,
        *,
        author: str = "",
        reason: str = "",
        repeat: int = 0,
    ) -> int:
        """Store a label and return its id. A newer label of one author on one subject replaces the older."""
        with self.write() as connection:
            key = self.run_key(run_id)
            row = connection.execute(
                "SELECT c.key FROM cases c CROSS JOIN run_cases rc ON rc.case_key = c.key "
                "WHERE c.id = ? AND rc.run_key = ?",
                (sql_text(case_id), key),
            ).fetchone()
            if row is None:
                raise StoreError(f"the run {run_id} has no case '{case_id}'")
            place = (key, row[0], repeat, sql_text(subject), sql_text(author))
            connection.execute(
                "UPDATE labels SET undone_at = ? WHERE run_key = ? AND case_key = ? AND repeat = ? AND subject = ? "
                "AND author = ? AND undone_at IS NULL",
                (now(), *place),
            )
            made = connection.execute(
                "INSERT INTO labels (run_key, case_key, repeat, subject, author, value, reason, created_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*place, sql_text(value), sql_text(reason), now()),
            )
        return int(made.lastrowid or 0)

    def undo_label(self, label_id: int) -> None:
        """Take a label back; it stays on record as undone."""
        with self.write() as connection:
            changed = connection.execute(
                "UPDATE labels SET undone_at = ? WHERE key = ? AND undone_at IS NULL", (now(), label_id)
            )
            if not changed.rowcount:
                raise StoreError(f"no label {label_id} that stands")

    def labels(self, run_id: str, subject: str | None = None, *, undone: bool = False) -> list[Label]:
        """Labels of a run in the order they were given; `undone` gives those that were taken back as well."""
        conditions, params = ["l.run_key = ?"], [self.run_key(run_id)]
        values: list[Any] = list(params)
        if subject is not None:
            conditions.append("l.subject = ?")
            values.append(sql_text(subject))
        if not undone:
            conditions.append("l.undone_at IS NULL")
        found = self.rows(
            "SELECT l.key, c.id, l.repeat, l.subject, l.value, l.author, l.reason, l.created_at, l.undone_at "
            f"FROM labels l JOIN cases c ON c.key = l.case_key WHERE {' AND '.join(conditions)} ORDER BY l.key",
            values,
        )
        return [Label(*row) for row in found]

    # --- view settings ------------------------------------------------------------------------------------

    def set_preference(self, scope: str, name: str, value: Any) -> None:
        """Keep a view setting (any JSON value) under a scope such as a run id; None removes it."""
        with self.write() as connection:
            if value is None:
                connection.execute("DELETE FROM preferences WHERE scope = ? AND name = ?", (scope, name))
            else:
                connection.execute(
                    "INSERT OR REPLACE INTO preferences (scope, name, value) VALUES (?, ?, ?)",
                    (scope, name, to_json(value)),
                )

    def preferences(self, scope: str) -> dict[str, Any]:
        """View settings of a scope."""
        found = self.rows("SELECT name, value FROM preferences WHERE scope = ?", (scope,))
        return {name: from_json(value) for name, value in found}
