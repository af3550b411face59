"""Documents, parsing reports and attribution tables of runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.corpus import Document, ParsingReport
from core.errors import StoreError
from core.store.packing import fingerprint, from_json, pack, sql_text, to_json, unpack
from core.store.writing import Writing

_REMEMBERED = 2_000  # documents whose digest is remembered by identity


def _body(document: Document) -> dict[str, Any]:
    return document.model_dump(mode="json", exclude_defaults=True)


class Documents(Writing):
    """A document is stored once for all runs that read the same text."""

    def __init__(self, path: str | Path, *, readonly: bool = False) -> None:
        super().__init__(path, readonly=readonly)
        self._digests: dict[int, tuple[Document, bytes]] = {}

    def add_documents(
        self, run_id: str, documents: Iterable[Document], reports: Iterable[ParsingReport] = ()
    ) -> None:
        """Store what a run searched, and the parsing report of each file (also of those that failed)."""
        with self._filling(run_id) as (connection, key):
            for document in documents:
                connection.execute(
                    "INSERT INTO run_documents (run_key, doc_path, document_key) VALUES (?, ?, ?) "
                    "ON CONFLICT DO UPDATE SET document_key = excluded.document_key",
                    (key, sql_text(document.doc_path), self._document_key(connection, document)),
                )
            connection.executemany(
                "INSERT INTO run_documents (run_key, doc_path, report) VALUES (?, ?, ?) "
                "ON CONFLICT DO UPDATE SET report = excluded.report",
                [(key, sql_text(r.doc_path), to_json(r.model_dump(mode="json"))) for r in reports],
            )

    def _document_key(self, connection: sqlite3.Connection, document: Document) -> int:
        """Key of a document's content; what is new is stored. The configurations of a sweep bring the very same
        objects again and again: their digests are remembered."""
        known = self._digests.get(id(document))
        digest = known[1] if known else fingerprint("document", _body(document))
        if known is None and len(self._digests) < _REMEMBERED:
            self._digests[id(document)] = document, digest  # held, so that its id stays its own
        row = connection.execute("SELECT key FROM documents WHERE digest = ?", (digest,)).fetchone()
        if row is not None:
            return int(row[0])
        made = connection.execute(
            "INSERT INTO documents (digest, body) VALUES (?, ?)", (digest, pack(_body(document)))
        )
        return int(made.lastrowid or 0)

    def has_documents(self, run_id: str) -> bool:
        """Whether any document is kept with the run."""
        return bool(
            self.one(
                "SELECT 1 FROM run_documents WHERE run_key = ? AND document_key IS NOT NULL LIMIT 1",
                (self._key(run_id),),
            )
        )

    def document(self, run_id: str, doc_path: str) -> Document | None:
        """One document as the run read it; None where it has none of this path (or could not read it)."""
        row = self.one(
            "SELECT d.body FROM run_documents rd JOIN documents d ON d.key = rd.document_key "
            "WHERE rd.run_key = ? AND rd.doc_path = ?",
            (self._key(run_id), sql_text(doc_path)),
        )
        return None if row is None else Document.model_validate(unpack(row[0]))

    def documents(self, run_id: str) -> list[Document]:
        """All documents a run read, by path."""
        found = self.rows(
            "SELECT d.body FROM run_documents rd JOIN documents d ON d.key = rd.document_key "
            "WHERE rd.run_key = ? ORDER BY rd.doc_path",
            (self._key(run_id),),
        )
        return [Document.model_validate(unpack(body)) for (body,) in found]

    def parsing_reports(self, run_id: str) -> list[ParsingReport]:
        """The parsing report of every file of a run, by path."""
        found = self.rows(
            "SELECT report FROM run_documents WHERE run_key = ? AND report IS NOT NULL ORDER BY doc_path",
            (self._key(run_id),),
        )
        return [ParsingReport.model_validate(from_json(report)) for (report,) in found]

    # --- attribution tables -------------------------------------------------------------------------------

    def add_attribution(
        self, owner_id: str, table_name: str, frame_rows: Sequence[Mapping[str, Any]]
    ) -> None:
        """Store one table of an open run or of a sweep (rows of plain values); replaces one of the same name.

        Columns are kept even when there are no rows to show them: give `[]` for an empty table.
        """
        columns = list(dict.fromkeys(name for row in frame_rows for name in row))
        cells = [[row.get(name) for name in columns] for row in frame_rows]
        with self.write() as connection:
            owner = connection.execute("SELECT sealed_at FROM runs WHERE id = ?", (owner_id,)).fetchone()
            if owner is not None and owner[0] is not None:
                raise StoreError(f"the run {owner_id} is sealed and takes no further tables")
            connection.execute(
                "INSERT OR REPLACE INTO attributions (owner_id, table_name, n_rows, body) VALUES (?, ?, ?, ?)",
                (owner_id, table_name, len(cells), pack([columns, cells])),
            )

    def attribution(self, owner_id: str, table_name: str) -> list[dict[str, Any]]:
        """Rows of a stored table; empty where there is none."""
        row = self.one(
            "SELECT body FROM attributions WHERE owner_id = ? AND table_name = ?", (owner_id, table_name)
        )
        if row is None:
            return []
        columns, cells = unpack(row[0])
        return [dict(zip(columns, values, strict=True)) for values in cells]

    def attribution_tables(self, owner_id: str) -> dict[str, int]:
        """Names of the stored tables of a run or sweep → their number of rows."""
        found = self.rows(
            "SELECT table_name, n_rows FROM attributions WHERE owner_id = ? ORDER BY table_name", (owner_id,)
        )
        return dict(found)
