"""ragas results and datasets: CSV, JSON, JSON Lines or parquet, in the present and the earlier column names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.inputs.cells import as_list, as_text
from core.inputs.columns import guess_mapping
from core.inputs.foreign.imported import KIND, Imported, digest_of
from core.inputs.prepared_items import text_id
from core.inputs.table_files import Table, missing, read_table
from core.inputs.workbook import prepared_sets
from core.records import Case, Message

NAMES = {
    "query": ("user_input", "question"),
    "answer": ("response", "answer"),
    "expected": ("reference", "ground_truth", "ground_truths"),
    "chunk_text": ("retrieved_contexts", "contexts"),
    "chunk_id": ("retrieved_context_ids",),
}
_ROLES = {"human": "user", "ai": "assistant", "user": "user", "assistant": "assistant", "system": "system"}


def sniff(path: Path) -> bool:
    if path.suffix not in (".csv", ".jsonl", ".json", ".parquet") or not path.is_file():
        return False
    columns = set(read_table(path).columns)
    return (
        {"user_input", "response"} <= columns
        or {"question", "answer", "contexts"} <= columns
        or ("user_input" in columns and "retrieved_contexts" in columns)
    )


def load(path: Path, mapping: Mapping[str, Any]) -> list[Imported]:
    """One case a row. Metric columns go to `foreign_scores`; empty ones stay unscored. `reference_contexts`
    become judgements by text; a `user_input` that is a list of messages becomes a conversation."""
    table = read_table(path)
    given: dict[str, Any] = {"model": "", "id": ""}
    for role, names in NAMES.items():
        if found_names := [name for name in names if name in table.columns]:
            given[role] = found_names[0]
    guess = guess_mapping(table, given | dict(mapping))
    (found,) = prepared_sets(table, guess, name=path.stem, source=str(path))
    references = _column(table, "reference_contexts")
    inputs = _column(table, given.get("query", ""))
    cases = tuple(
        _with_turns(_judged(case, references[number]), inputs[number])
        for number, case in enumerate(found.cases)
    )
    digest = digest_of([path])
    return [Imported(path.stem, KIND, path.stem, cases, found.outputs, notices=found.notices, digest=digest)]


def _column(table: Table, name: str) -> list[Any]:
    if name not in table.columns:
        return [None] * len(table.rows)
    place = table.columns.index(name)
    return [row[place] for row in table.rows]


def _judged(case: Case, references: Any) -> Case:
    texts = [as_text(text) for text in as_list(references)]
    if not texts:
        return case
    return case.model_copy(
        update={
            "qrels": {text_id(text): 1 for text in texts},
            "metadata": {**case.metadata, "reference_contexts": texts},
        }
    )


def _with_turns(case: Case, value: Any) -> Case:
    """A multi-turn `user_input`: the last message of the user is the query, what precedes it the conversation."""
    turns = as_list(value) if not missing(value) else []
    if len(turns) < 1 or not all(isinstance(turn, dict) and "content" in turn for turn in turns):
        return case
    messages = [
        Message(
            role=_ROLES.get(str(turn.get("type") or turn.get("role")), "user"),
            content=as_text(turn["content"]),
        )
        for turn in turns
    ]
    last = max((n for n, message in enumerate(messages) if message.role == "user"), default=len(messages) - 1)
    return case.model_copy(update={"query": messages[last].content, "conversation": tuple(messages[:last])})
