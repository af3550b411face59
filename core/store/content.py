"""Content that many runs share, stored once by digest: cases, retrieved passages and their texts, score names."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.records import Case, Hit, Output
from core.store.packing import fingerprint, from_json, pack, sql_text, to_json, unpack

HIT_CONTENT = ("id", "text", "title", "doc_path", "section_id", "page", "start", "end", "source")
# what makes two cases the same question with the same right answer, whatever they are called
_ESSENCE = (
    "query",
    "gold_answer",
    "gold_codes",
    "qrels",
    "evidence",
    "expected_keywords",
    "answerable",
    "conversation",
    "test",
    "evaluator",
)
_REMEMBERED = 200_000
Content = tuple[Any, ...]


def hit_content(hit: Hit) -> Content:
    """What of a hit does not depend on the query."""
    return (
        hit.id,
        hit.text,
        hit.title,
        hit.doc_path,
        hit.section_id,
        hit.page,
        hit.start,
        hit.end,
        hit.source,
    )


def add_cases(connection: sqlite3.Connection, run_key: int, cases: Sequence[Case]) -> None:
    """Store the cases that are new and name all of them in the run. The place in the file (`order`) belongs to
    the run, so that a question inserted on top leaves the others what they were."""
    rows = [_case_row(case) for case in cases]
    connection.executemany(
        "INSERT OR IGNORE INTO cases (digest, content, id, query, test, evaluator, question_type, cluster, answerable, "
        "body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
    connection.executemany(
        "INSERT OR IGNORE INTO run_cases (run_key, case_key, position) "
        "VALUES (?, (SELECT key FROM cases WHERE digest = ?), ?)",
        [(run_key, row[0], case.order) for row, case in zip(rows, cases, strict=True)],
    )


def _case_row(case: Case) -> tuple[Any, ...]:
    body = case.model_dump(mode="json", exclude_defaults=True, exclude={"order"}, fallback=repr)
    return (
        fingerprint("case", body),
        fingerprint("content", [body.get(name) for name in _ESSENCE])[:8],
        sql_text(case.id),
        sql_text(case.query),
        sql_text(case.test),
        sql_text(case.evaluator),
        sql_text(case.question_type),
        None if case.cluster is None else sql_text(case.cluster),
        case.answerable,
        pack(body),
    )


# two columns that together give a case's exact id: the body is only needed where the text is not exact
CASE_ID = "c.id, CASE WHEN instr(c.id, char(65533)) THEN c.body END"


def case_id(text: str, body: bytes | None) -> str:
    """The exact id from the CASE_ID columns."""
    return text if body is None else str(unpack(body)["id"])


def load_case(body: bytes, position: int) -> Case:
    return Case.model_validate({**unpack(body), "order": position})


class ContentKeys:
    """Keys of passages and layouts, remembered between transactions.

    What is remembered is forgotten when another process has purged content (`meta.generation` changed), and
    when a transaction that made new keys was rolled back.
    """

    def __init__(self) -> None:
        self._passages: dict[Content, int] = {}
        self._layouts: dict[tuple[str, ...], int] = {}
        self._generation = ""

    def forget(self) -> None:
        self._passages.clear()
        self._layouts.clear()

    def check(self, connection: sqlite3.Connection) -> None:
        """Call at the start of a transaction that will use keys."""
        generation = connection.execute("SELECT value FROM meta WHERE name = 'generation'").fetchone()[0]
        if generation != self._generation or len(self._passages) > _REMEMBERED:
            self.forget()
            self._generation = generation

    def passage_keys(
        self, connection: sqlite3.Connection, outputs: Iterable[Output]
    ) -> Mapping[Content, int]:
        """Keys of everything the outputs retrieved; what is new is stored."""
        seen: dict[Content, int] = {}
        for output in outputs:
            for hit in (*output.hits, *(output.retrieved or ())):
                content = hit_content(hit)
                if content not in seen:
                    seen[content] = self._passage(connection, content)
        return seen

    def _passage(self, connection: sqlite3.Connection, content: Content) -> int:
        known = self._passages.get(content)
        if known is None:
            identity, text, *rest = content
            text_key = _keep(connection, "texts", fingerprint(text), body=lambda: pack(text))
            known = self._passages[content] = _keep(
                connection,
                "passages",
                fingerprint(content),
                item_id=lambda: sql_text(identity),
                text_key=lambda: text_key,
                body=lambda: pack([identity, *rest]),
            )
        return known

    def layout(self, connection: sqlite3.Connection, names: tuple[str, ...]) -> int:
        """Key of a list of score names."""
        known = self._layouts.get(names)
        if known is None:
            known = self._layouts[names] = _keep(
                connection, "layouts", fingerprint(names), names=lambda: to_json(list(names))
            )
        return known


def _keep(connection: sqlite3.Connection, table: str, digest: bytes, **columns: Any) -> int:
    """Key of the row with this digest; it is inserted when it is new (only then are the columns made)."""
    found = connection.execute(f"SELECT key FROM {table} WHERE digest = ?", (digest,)).fetchone()
    if found is not None:
        return int(found[0])
    marks = ", ".join("?" * (len(columns) + 1))
    made = connection.execute(
        f"INSERT INTO {table} (digest, {', '.join(columns)}) VALUES ({marks})",
        (digest, *(make() for make in columns.values())),
    )
    return int(made.lastrowid or 0)


def load_passages(connection: sqlite3.Connection, keys: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The query-independent fields of hits, by passage key."""
    wanted = sorted(set(keys))
    texts: dict[int, str] = {}
    found: dict[int, dict[str, Any]] = {}
    for at in range(0, len(wanted), 900):
        part = wanted[at : at + 900]
        marks = ", ".join("?" * len(part))
        rows = connection.execute(
            f"SELECT p.key, p.body, p.text_key, t.body FROM passages p JOIN texts t ON t.key = p.text_key "
            f"WHERE p.key IN ({marks})",
            part,
        )
        for key, body, text_key, text in rows:
            if text_key not in texts:
                texts[text_key] = unpack(text)
            identity, *rest = unpack(body)
            found[key] = dict(zip(HIT_CONTENT, (identity, texts[text_key], *rest), strict=True))
    return found


def layouts(connection: sqlite3.Connection) -> dict[int, tuple[str, ...]]:
    """All score layouts: key → names in the order of the blob."""
    return {
        key: tuple(from_json(names)) for key, names in connection.execute("SELECT key, names FROM layouts")
    }
