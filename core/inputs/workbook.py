"""Prepared results (Excel, CSV, JSON, JSON Lines, parquet; wide or long) → cases with ready outputs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem
from core.inputs.cells import CodeReader, as_list, as_number, as_text, code_width
from core.inputs.column_names import RANKED_ROLES
from core.inputs.columns import MappingGuess, guess_mapping
from core.inputs.prepared_items import Item, chunk_hits, label_hits
from core.inputs.table_files import MAX_PROBLEMS, Table, missing, read_table
from core.records import Case, Failure, Output, digest

_TRUE = frozenset(("true", "1", "yes", "y", "ja", "answerable", "1.0"))
_FALSE = frozenset(("false", "0", "no", "n", "nein", "unanswerable", "0.0"))
LISTS = ("prediction", "retrieved", "chunk_id", "chunk_text")  # roles that give a ranked list
_PROBABILITY_NAMES = ("confidence", "probability")


@dataclass(frozen=True, slots=True)
class PreparedSet:
    """The results of one system. `outputs` belong to `cases` by id (several a case are repeats); `digest` covers
    the file, the mapping and the name."""

    name: str
    cases: tuple[Case, ...]
    outputs: tuple[Output, ...]
    notices: tuple[str, ...]
    digest: str


def load_prepared(
    path: str | Path, mapping: Mapping[str, Any] | None = None, *, width: int | None = None
) -> list[PreparedSet]:
    """Read prepared results; one set for each value of the `model` column, in order of appearance.

    `mapping` maps roles (`core.inputs.columns.ALIASES`) to columns; the rest is guessed, and a guess that is not
    sure is said in the notices. `width` is the length of a full code, from a catalogue. Missing scores stay None.
    Raises InputError (file, row, column) for what cannot be read and ConfigError for an impossible mapping.
    """
    file = Path(path)
    table = read_table(file)
    guess = guess_mapping(table, mapping)
    if not any(
        guess.columns(role)
        for role in ("prediction", "answer", "retrieved", "chunk_id", "chunk_text", "error")
    ):
        there = Problem(
            "columns", ", ".join(table.columns), hint="name one with --map prediction=… or answer=…"
        )
        said = [Problem("guess", doubt) for doubt in guess.doubts if doubt.startswith("column ")]
        raise InputError(f"{file}: no column holds predictions, answers or retrieved texts", [there, *said])
    base = digest([hashlib.sha256(file.read_bytes()).hexdigest(), dict(mapping or {}), width])
    return prepared_sets(table, guess, name=file.stem, source=str(file), width=width, base_digest=base)


def prepared_sets(
    table: Table,
    guess: MappingGuess,
    *,
    name: str,
    source: str,
    width: int | None = None,
    base_digest: str = "",
) -> list[PreparedSet]:
    """Sets from a table that is already read and mapped; `source` is what messages call it."""
    reader = _Reader(table, guess, source, width)
    groups: dict[str, list[int]] = {}
    for index in range(len(table.rows)):
        groups.setdefault(as_text(reader.first(index, "model")), []).append(index)
    sets = []
    for model, indexes in groups.items():
        label = f"{name} {model}".strip() if len(groups) > 1 else name
        cases, outputs = reader.read(indexes)
        sets.append((label, cases, outputs))
    reader.raise_problems()
    notices = (*table.notices, *guess.doubts, *reader.notices())
    return [
        PreparedSet(label, tuple(cases), tuple(outputs), notices, digest([base_digest, label]))
        for label, cases, outputs in sets
    ]


@dataclass(slots=True)
class _Reader:
    table: Table
    guess: MappingGuess
    source: str
    width: int | None
    problems: list[Problem] = field(default_factory=list)
    codes: CodeReader = field(init=False)
    place: dict[str, int] = field(init=False)
    foreign: tuple[str, ...] = field(init=False)
    present: tuple[str, ...] = field(init=False)
    tells_retrieval: bool = field(init=False)
    remarks: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.place = {column: index for index, column in enumerate(self.table.columns)}
        coded = [
            self.place[c]
            for role in ("expected", "prediction", "retrieved")
            for c in self.guess.columns(role)
        ]
        values = (row[place] for row in self.table.rows for place in coded)
        self.codes = CodeReader(code_width(values, self.width))
        used = self.guess.used()
        self.present = tuple(role for role in RANKED_ROLES if self.guess.columns(role))
        self.tells_retrieval = any(self.guess.columns(role) for role in LISTS)
        loose = () if self.tells_retrieval else self.guess.columns("score")
        self.foreign = tuple(c for c in self.table.columns if c not in used or c in loose)

    # cells

    def first(self, index: int, role: str) -> Any:
        """The first cell of a role that is not missing, or None."""
        row = self.table.rows[index]
        for column in self.guess.roles.get(role, ()):
            if not missing(row[self.place[column]]):
                return row[self.place[column]]
        return None

    def number(self, index: int, column: str, value: Any, *, whole: bool = False) -> float | None:
        number = as_number(value)
        if number is None or (whole and (number < 0 or not number.is_integer())):
            wanted = "a whole number from 0" if whole else "a number"
            self.wrong(index, column, f"must be {wanted}, not {str(value)[:60]!r}")
            return None
        return number

    def wrong(self, index: int, column: str, message: str) -> None:
        self.problems.append(Problem(f"column '{column}'", message, self.table.lines[index]))

    def raise_problems(self) -> None:
        if self.problems:
            more = (
                f" (and {len(self.problems) - MAX_PROBLEMS} more)"
                if len(self.problems) > MAX_PROBLEMS
                else ""
            )
            sheet = f", sheet '{self.table.sheet}'" if self.table.sheet else ""
            raise InputError(
                f"{self.source}{sheet}: the rows cannot be used{more}", self.problems[:MAX_PROBLEMS]
            )

    def notices(self) -> list[str]:
        counted = [f"{text} ({count})" for text, count in self.remarks.items()]
        return [*self.codes.notices(), *counted]

    def remark(self, text: str) -> None:
        self.remarks[text] = self.remarks.get(text, 0) + 1

    # rows

    def read(self, indexes: Sequence[int]) -> tuple[list[Case], list[Output]]:
        groups: dict[str, list[int]] = {}
        for index in indexes:
            groups.setdefault(self._id(index), []).append(index)
        cases: list[Case] = []
        outputs: list[Output] = []
        for order, (case_id, rows) in enumerate(groups.items()):
            self._check_query(case_id, rows)
            case = self._case(case_id, rows, order)
            cases.append(case)
            long = len(rows) > 1 and any(
                self.guess.columns(role) for role in ("prediction", "retrieved", "rank")
            )
            attempts = [rows] if long else [[row] for row in rows]
            outputs.extend(self._output(case, each, repeat) for repeat, each in enumerate(attempts))
        return cases, outputs

    def _id(self, index: int) -> str:
        given = as_text(self.first(index, "id"))
        if given:
            return given
        if self.guess.columns("rank") and (query := as_text(self.first(index, "query"))):
            return query[:200]  # a long table without ids: the rows of one question belong together
        return f"row {self.table.lines[index]}" if self.guess.columns("id") else str(index + 1)

    def _check_query(self, case_id: str, rows: Sequence[int]) -> None:
        texts = {as_text(self.first(index, "query")): index for index in reversed(rows)}
        texts.pop("", None)
        if len(texts) > 1:
            column = self.guess.columns("id")[0] if self.guess.columns("id") else "id"
            self.wrong(
                max(texts.values()),
                column,
                f"'{case_id}' stands for another question in row {self.table.lines[rows[0]]}",
            )

    def _case(self, case_id: str, rows: Sequence[int], order: int) -> Case:
        def one(role: str) -> Any:
            return next((value for index in rows if (value := self.first(index, role)) is not None), None)

        expected = [
            (value, column)
            for index in rows
            for column in self.guess.columns("expected")[:1] or ()
            if (value := self.first(index, "expected")) is not None
        ]
        gold: dict[str, Any] = {}
        if self.guess.columns("prediction") or self.guess.columns("retrieved"):
            gold["gold_codes"] = tuple(
                dict.fromkeys(c for v, col in expected for c in self.codes.labels(v, col))
            )
        texts = list(dict.fromkeys(as_text(item) for value, _ in expected for item in as_list(value)))
        if texts and self.guess.columns("answer"):
            gold["gold_answer"] = texts[0]
        metadata = {"gold_answers": texts} if len(texts) > 1 and "gold_answer" in gold else {}
        if (difficulty := as_text(one("difficulty"))) != "":
            metadata["difficulty"] = difficulty  # type: ignore[assignment]
        paths = tuple(as_text(path) for path in as_list(one("doc_path")))
        return Case(
            id=case_id,
            query=as_text(one("query")),
            order=order,
            question_type=as_text(one("question_type")).lower(),
            language=as_text(one("language")) or None,
            answerable=self._truth(rows[0], one("answerable")),
            expected_keywords=tuple(as_text(word) for word in as_list(one("expected_keywords"))),
            doc_paths=paths,
            cluster=paths[0] if len(paths) == 1 else None,
            metadata=metadata,
            **gold,
        )

    def _truth(self, index: int, value: Any) -> bool | None:
        word = as_text(value).lower()
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
        if word:
            self.wrong(index, self.guess.columns("answerable")[0], f"must be true or false, not {word!r}")
        return None

    def _output(self, case: Case, rows: Sequence[int], repeat: int) -> Output:
        predicted = [item for index in rows for item in self._items(index, "prediction", "score")]
        retrieved = [item for index in rows for item in self._items(index, "retrieved", "retrieved_score")]
        texts = [value for index in rows if (value := self.first(index, "answer")) is not None]
        chunks = [item for index in rows for item in self._items(index, "", "score")] if not predicted else []
        hits = label_hits(predicted) or label_hits(retrieved) or chunk_hits(chunks)
        second = label_hits(retrieved) if predicted and retrieved else ()
        error = as_text(next((v for index in rows if (v := self.first(index, "error")) is not None), None))
        failed = bool(error) and not texts and not hits
        latency = self.first(rows[0], "latency_ms")
        column = self.guess.columns("latency_ms")[0] if latency is not None else ""
        return Output(
            case_id=case.id,
            repeat=repeat,
            text=as_text(as_list(texts[0])[0]) if texts else None,
            hits=hits,
            retrieved=second or None,
            confidence=self._confidence(hits[0].score if predicted and hits else None),
            explanation=as_text(self.first(rows[0], "explanation")),
            latency_ms=self.number(rows[0], column, latency) if latency is not None else None,
            signals={} if self.tells_retrieval else {"retrieval": "not_given"},
            raw=self._raw(rows),
            failure=Failure(where="system", kind="exception", message=error[:2_000]) if failed else None,
        )

    def _confidence(self, score: float | None) -> float | None:
        """The score, where its column is called a confidence or probability and it can be one."""
        names = {column.casefold() for column in self.guess.columns("score")}
        called = any(word in name for name in names for word in _PROBABILITY_NAMES)
        return score if called and score is not None and 0 <= score <= 1 else None

    def _items(self, index: int, label_role: str, score_role: str) -> Iterator[Item]:
        """The ranked items of one row. `label_role` "" asks for chunks: texts and ids without labels."""
        lead = label_role or ("chunk_text" if self.guess.columns("chunk_text") else "chunk_id")
        if not self.guess.columns(lead):
            return
        rank_cell = self.first(index, "rank")
        row_rank = None
        if rank_cell is not None:
            row_rank = self.number(index, self.guess.columns("rank")[0], rank_cell, whole=True)
        for rank in [None, *self.guess.ranked.get(lead, {})]:
            cells = {role: self._cell(index, role, rank) for role in self.present}
            columns = {role: self._column(role, rank) for role in self.present}
            if missing(cells[lead]) and not (lead == "chunk_text" and not missing(cells.get("chunk_id"))):
                continue
            given = rank if rank is not None else row_rank
            yield from self._row_items(index, label_role, score_role, cells, columns, given)

    def _row_items(
        self,
        index: int,
        label_role: str,
        score_role: str,
        cells: Mapping[str, Any],
        columns: Mapping[str, str],
        rank: float | None,
    ) -> Iterator[Item]:
        parts = {role: as_list(cells.get(role)) for role in ("chunk_text", "chunk_id", "title")}
        scores = as_list(cells.get(score_role))
        if label_role:
            labels = self.codes.labels(cells[label_role], columns[label_role])
        else:
            labels = [""] * max(len(parts["chunk_text"]), len(parts["chunk_id"]))
        for position, label in enumerate(labels):
            score = (
                scores[position] if len(scores) == len(labels) else scores[0] if len(scores) == 1 else None
            )
            if score is None and scores:
                self.remark(
                    f"column '{columns[score_role]}': lists of another length than the ranking were left out"
                )
            extra = {
                role: as_text(_content(values[position] if len(values) > 1 else values[0]))
                for role, values in parts.items()
                if len(values) == len(labels) or (len(values) == 1 and len(labels) == 1)
            }
            yield Item(
                label=label,
                rank=rank,
                score=self.number(index, columns[score_role], score) if score is not None else None,
                text=extra.get("chunk_text", ""),
                chunk_id=extra.get("chunk_id", ""),
                title=extra.get("title", ""),
            )

    def _column(self, role: str, rank: int | None) -> str:
        if rank is not None and rank in self.guess.ranked.get(role, {}):
            return self.guess.ranked[role][rank]
        return next(iter(self.guess.roles.get(role, ())), role)

    def _cell(self, index: int, role: str, rank: int | None) -> Any:
        if rank is None:
            return self.first(index, role)
        column = self.guess.ranked.get(role, {}).get(rank)
        return self.table.rows[index][self.place[column]] if column else None

    def _raw(self, rows: Sequence[int]) -> dict[str, Any]:
        """The rows as they were, and the numbers in columns that have no role, under their exact names."""
        records = [dict(zip(self.table.columns, self.table.rows[index], strict=True)) for index in rows]
        raw: dict[str, Any] = {"row": records[0], "line": self.table.lines[rows[0]]}
        if len(records) > 1:
            raw["rows"] = records[1:]
        scores = {
            column: number for column in self.foreign if (number := as_number(records[0][column])) is not None
        }
        return raw | ({"foreign_scores": scores} if scores else {})


def _content(value: Any) -> Any:
    """The text of a chunk given as an object."""
    if isinstance(value, dict):
        return next(
            (value[key] for key in ("text", "content", "page_content", "doc_id", "id") if value.get(key)),
            value,
        )
    return value
