"""Which column of a results table plays which role (reference-behaviour §4.5), each column one role only.

A column is recognised by its name without case, blanks and punctuation; a rank number at its end or start, or
`rankN` inside, makes it one place of a wide ranking ("Predicted CPV #2", "2. candidate", "rank3_score").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import ConfigError, Problem, nearest
from core.inputs.table_files import Table, missing

ALIASES: dict[str, tuple[str, ...]] = {
    "id": (
        "Record ID",
        "id",
        "query_id",
        "question_id",
        "qid",
        "banf_id",
        "case_id",
        "item_id",
        "record",
        "test_case_id",
    ),
    "query": (
        *(
            "Query Text",
            "query",
            "question",
            "user_query",
            "query_banf",
            "banf",
            "Notice Description",
            "user_input",
        ),
        *("input", "prompt", "frage", "suchanfrage", "anfrage", "question_text", "pregunta"),
    ),
    "expected": (
        *(
            "Ground Truth CPV",
            "Expected CPV",
            "Gold CPV",
            "Reference CPV",
            "Expected Answer",
            "Expected",
            "Gold",
        ),
        *(
            "Reference",
            "Target",
            "Label",
            "ground_truth",
            "ground_truths",
            "gold_answer",
            "gt_answer",
            "reference_answer",
        ),
        *(
            "expected_output",
            "correct_answer",
            "gold_label",
            "true_label",
            "expected_code",
            "gold_code",
            "gold_cpv_code",
        ),
        *("Réponse Attendue", "erwartete Antwort", "Musterantwort", "expected_cpv_codes"),
    ),
    "prediction": (
        *("Predicted CPV", "Predicted CPV Code", "Predicted answer", "Prediction", "Predicted", "Candidate"),
        *(
            "Answer CPV",
            "Answer",
            "CPV",
            "Label",
            "Code",
            "predicted_label",
            "predicted_code",
            "top1_predicted_cpv",
        ),
    ),
    "score": (
        *("Predicted Vector Score", "Vector Score", "RRF Score", "Score", "Confidence", "Probability"),
        *("Retrieval Score", "Reranker Score", "Final Score", "predicted_score", "similarity"),
    ),
    "chunk_id": (
        *(
            "Chunk ID",
            "Chunk IDs",
            "Retrieved Chunk ID",
            "Retrieved Chunk IDs",
            "Candidate ID",
            "retrieved_ids",
        ),
        *("retrieved_context_ids", "doc_id", "document_id"),
    ),
    "title": ("Chunk Titel", "Chunk Title", "Title", "Retrieved Chunk Title", "Candidate Title"),
    "chunk_text": (
        *("Chunk Text", "Chunk", "Chunks", "Retrieved Chunk Text", "Retrieved Chunks", "Retrieved Context"),
        *(
            "Retrieved Contexts",
            "Context",
            "Contexts",
            "Candidate Text",
            "retrieved_contents",
            "retrieval_context",
        ),
    ),
    "answer": (
        *(
            "LLM Answer",
            "Answer",
            "Generated Answer",
            "Final Answer",
            "RAG Answer",
            "Agent Answer",
            "response",
        ),
        *(
            "actual_output",
            "model_answer",
            "system_answer",
            "generated_text",
            "generated_texts",
            "output",
            "completion",
        ),
        *("Antwort", "Réponse", "Réponse de l'agent", "predicted_text"),
    ),
    "retrieved": ("Retrieved CPV", "Retrieved CPV Code", "Retrieved Code", "Retrieved Label"),
    "retrieved_score": ("Retrieved Vector Score", "Retrieved Score"),
    "rank": ("rank", "position", "candidate_rank", "topkrank"),
    "model": (
        "model",
        "model_name",
        "system",
        "system_name",
        "run",
        "run_name",
        "run_id",
        "experiment",
        "variant",
        "llm",
    ),
    "language": ("language", "lang", "sprache", "langue"),
    "question_type": ("question_type", "query_type", "task_type"),
    "answerable": ("answerable", "is_answerable", "expected_answerable"),
    "expected_keywords": ("expected_keywords", "keywords"),
    "doc_path": ("doc_path", "doc_paths", "source_document"),
    "difficulty": ("difficulty", "Schwierigkeit", "Difficulté", "category", "topic", "domain"),
    "latency_ms": ("latency_ms", "duration_ms", "response_time_ms", "elapsed_ms", "api_latency_ms"),
    "explanation": ("classifier_explanation", "api_explanation"),
    "error": ("error", "error_message", "exception"),
}
for _role, _score in (("prediction", "score"), ("retrieved", "retrieved_score")):
    ALIASES[_score] += tuple(f"{name} score" for name in ALIASES[_role])
ALIASES["chunk_text"] += tuple(f"{name} text" for name in ALIASES["prediction"])
ALIASES["title"] += tuple(f"{name} title" for name in ALIASES["prediction"])
RANKED_ROLES = ("prediction", "score", "chunk_id", "title", "chunk_text", "retrieved", "retrieved_score")
CONTENT_ROLES = ("prediction", "answer", "retrieved", "chunk_id", "chunk_text", "error")
CODE = re.compile(r"(?<!\d)(\d{8})(?:-\d)?(?!\d)")
SAMPLE = 200


@dataclass(frozen=True, slots=True)
class MappingGuess:
    """Columns by role: `roles` in order of preference (the first that is not empty in a row counts), `ranked`
    by rank for wide tables. `candidates` are all columns whose name fits a role. `sure` is False where a column
    fits several roles and its content does not decide, or where nothing is predicted; `doubts` says so in words."""

    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ranked: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    candidates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sure: bool = True
    doubts: tuple[str, ...] = ()

    def columns(self, role: str) -> tuple[str, ...]:
        """All columns of a role, ranked ones last."""
        return (*self.roles.get(role, ()), *self.ranked.get(role, {}).values())

    def used(self) -> set[str]:
        return {column for role in {*self.roles, *self.ranked} for column in self.columns(role)}


def normal_name(name: str) -> str:
    """`Query (BANF)` → `querybanf`; accents are dropped."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    return "".join(char for char in plain if char.isalnum() and not unicodedata.combining(char))


_BY_NAME: dict[str, tuple[str, ...]] = {}
for _role, _names in ALIASES.items():
    for _name in _names:
        _key = normal_name(_name)
        if _role not in _BY_NAME.get(_key, ()):
            _BY_NAME[_key] = (*_BY_NAME.get(_key, ()), _role)
_PLACE = {
    (role, normal_name(name)): place for role, names in ALIASES.items() for place, name in enumerate(names)
}


def split_rank(name: str) -> tuple[str, int | None]:
    """(name without its rank, rank or None). A name that is itself known keeps its number."""
    key = normal_name(name)
    if key in _BY_NAME:
        return key, None
    for pattern in (
        r"^()top(\d{1,3})(\D.*)$",
        r"^(.*?)rank(\d{1,3})(.*)$",
        r"^(.*?\D)()(\d{1,3})$",
        r"^()(\d{1,3})(\D.*)$",
    ):
        found = re.match(pattern, key)
        if not found:
            continue
        first, middle, last = found.groups()
        base, number = (first, last) if pattern.endswith(r"(\d{1,3})$") else (first + last, middle)
        base = re.sub(r"(?:top|no|nr)$", "", base)
        if base in _BY_NAME and number.isdigit():
            return base, int(number)
    return key, None


def guess_mapping(table: Table, given: Mapping[str, Any] | None = None) -> MappingGuess:
    """The roles of a table's columns. `given` maps roles to a column or to several ("" leaves a role out): it is
    taken as it is, and only the other roles are guessed. Unknown roles and columns are a ConfigError."""
    fixed = _given(table, given or {})
    taken = {column for columns in fixed.values() for column in columns}
    fits: dict[str, tuple[str, int | None, tuple[str, ...]]] = {}
    for column in table.columns:
        base, rank = split_rank(column)
        roles = tuple(role for role in _BY_NAME.get(base, ()) if role not in fixed)
        if column not in taken and roles and (rank is None or set(roles) & set(RANKED_ROLES)):
            fits[column] = (base, rank, roles)
    candidates = _candidates(fits, fixed)
    chosen: dict[str, list[str]] = {role: list(columns) for role, columns in fixed.items()}
    ranked: dict[str, dict[int, str]] = {}
    doubts: list[str] = []
    for column, (_, rank, roles) in sorted(fits.items(), key=lambda item: len(item[1][2])):
        role = roles[0] if len(roles) == 1 else _decide(table, column, roles, rank, chosen, ranked, doubts)
        if not role:
            continue
        if rank is not None and role in RANKED_ROLES:
            ranked.setdefault(role, {}).setdefault(rank, column)
        else:
            chosen.setdefault(role, []).append(column)
    for role in list(chosen):
        if role in fixed and role in RANKED_ROLES and len(chosen[role]) > 1:
            ranked[role] = dict(enumerate(chosen.pop(role), 1))
        elif role not in fixed:
            chosen[role].sort(key=lambda column: (_PLACE[role, fits[column][0]], table.columns.index(column)))
    guess = MappingGuess(
        roles={role: tuple(columns) for role, columns in chosen.items() if columns},
        ranked={role: dict(sorted(places.items())) for role, places in ranked.items()},
        candidates=candidates,
    )
    if not any(guess.columns(role) for role in CONTENT_ROLES):
        doubts.append("no column holds predictions, answers or retrieved texts")
    if not guess.columns("query"):
        doubts.append("no column holds the questions")
    return MappingGuess(guess.roles, guess.ranked, guess.candidates, not doubts, tuple(doubts))


def _candidates(
    fits: Mapping[str, tuple[str, int | None, tuple[str, ...]]], fixed: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {role: list(columns) for role, columns in fixed.items()}
    for column, (_, _, roles) in fits.items():
        for role in roles:
            found.setdefault(role, []).append(column)
    return {role: tuple(columns) for role, columns in found.items()}


def _given(table: Table, given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    problems: list[Problem] = []
    fixed: dict[str, tuple[str, ...]] = {}
    by_name = {normal_name(column): column for column in reversed(table.columns)}
    for role, columns in given.items():
        if role not in ALIASES:
            problems.append(Problem(f"map: {role}", f"unknown role{nearest(role, ALIASES)}"))
            continue
        names = [columns] if isinstance(columns, str) else list(columns or ())
        found = []
        for name in filter(None, names):
            column = name if name in table.columns else by_name.get(normal_name(name))
            if column is None:
                problems.append(
                    Problem(f"map: {role}", f"there is no column '{name}'{nearest(name, table.columns)}")
                )
            else:
                found.append(column)
        fixed[role] = tuple(found)
    twice = [c for c in table.columns if sum(c in columns for columns in fixed.values()) > 1]
    problems.extend(Problem("map", f"column '{column}' is given two roles") for column in twice)
    if problems:
        raise ConfigError("the columns cannot be mapped", problems)
    return fixed


def _decide(
    table: Table,
    column: str,
    roles: Sequence[str],
    rank: int | None,
    chosen: Mapping[str, list[str]],
    ranked: Mapping[str, Mapping[int, str]],
    doubts: list[str],
) -> str:
    """The role of a column whose name fits several ("Label": gold or prediction; "Answer": text or code); none
    where all of them have their column already."""
    if rank is not None:
        return next(role for role in roles if role in RANKED_ROLES)
    open_roles = [role for role in roles if not chosen.get(role) and not ranked.get(role)]
    codes = _share_of_codes(table, column)
    if set(roles) == {"prediction", "answer"}:
        if "prediction" in open_roles and codes > 0.5:
            return "prediction"
        return "answer" if "answer" in open_roles else ""
    if len(open_roles) <= 1:
        return open_roles[0] if open_roles else ""
    role = "expected" if "expected" in open_roles else open_roles[0]
    words = " or ".join(open_roles)
    doubts.append(f"column '{column}' may hold {words}; it is taken for {role}")
    return role


def _share_of_codes(table: Table, column: str) -> float:
    place = table.columns.index(column)
    values = [row[place] for row in table.rows[:SAMPLE] if not missing(row[place])]
    hits = sum(1 for value in values if len(str(value)) <= 40 and CODE.search(str(value)))
    hits += sum(
        1 for value in values if type(value) is int and 10**6 <= value < 10**8 and not CODE.search(str(value))
    )
    return hits / len(values) if values else 0.0
