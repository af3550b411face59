"""Texts to classify → cases: CPV queries JSON, CSV of queries, CSV of tender notices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem, nearest
from core.inputs.cases import LoadedCases
from core.inputs.cells import as_text
from core.inputs.codes import CodeForm
from core.inputs.near_duplicates import duplicate_groups
from core.inputs.question_files import read_entries
from core.inputs.table_files import MAX_PROBLEMS, read_table
from core.records import Case, digest

QUERY_TEXTS = ("title", "title_description")
# columns that hold the gold in words; a classifier never sees them
NEVER_READ = ("en_cpv_title",)
NEVER_READ_ENDING = "_label_en"
_ID = ("id", "notice_id", "query_id", "question_id", "pub_number")
_QUERY = ("query", "question", "text", "title")
_DESCRIPTION = ("short_description", "description", "text_description")
_MAIN = ("gold_cpv_code", "cpv_main", "gold_code", "gold", "expected_cpv", "main_cpv", "code")
_ALL = ("gold_cpv_codes", "gold_codes", "cpv_all", "codes")
_LANGUAGE = ("language", "lang")
_TYPE = ("question_type", "nature")
_KEPT = ("year", "country", "form", "doc_type", "nature", "buyer", "notes", "n_lots")
_KEYS = (*_ID, *_QUERY, *_DESCRIPTION, *_MAIN, *_ALL, *_LANGUAGE, *_TYPE, *_KEPT)


def load_cpv_queries(
    path: str | Path, form: CodeForm | None = None, *, query_text: str = "title_description"
) -> LoadedCases:
    """Read queries with their gold codes (reference-behaviour §4.3; also CSV, JSON Lines and tender notices).

    `form` reads codes as the code list writes them. `query_text` says what a notice is asked with: its title, or
    title and description. The main code stands first in `gold_codes`. Nearly equal texts share a cluster. A query
    without gold is kept and said. Raises InputError with every row that cannot be used.
    """
    file = Path(path)
    form = form or CodeForm()
    records, lines, notices = _records(file)
    problems: list[Problem] = []
    cases: dict[str, Case] = {}
    without_gold = 0
    for place, (record, line) in enumerate(zip(records, lines, strict=True)):
        known = {str(key).strip().casefold(): value for key, value in record.items()}
        case = _case(known, place, line, form, query_text, problems)
        if case is None:
            continue
        if case.id in cases:
            problems.append(Problem(f"id '{case.id}'", "is used twice", line, "ids must be unique"))
        without_gold += not case.gold_codes
        cases[case.id] = case
    if problems:
        more = f" (and {len(problems) - MAX_PROBLEMS} more)" if len(problems) > MAX_PROBLEMS else ""
        raise InputError(f"{file}: the queries cannot be used{more}", problems[:MAX_PROBLEMS])
    if not cases:
        raise InputError(f"{file}: holds no queries")
    if without_gold:
        notices.append(
            f"{without_gold} quer{'y has' if without_gold == 1 else 'ies have'} no gold code: unchecked"
        )
    notices += form.notices("queries")
    clustered, said = _clustered(list(cases.values()))
    return LoadedCases(
        cases=tuple(clustered),
        notices=(*notices, *said),
        digest=digest([query_text, [case.model_dump(mode="json", exclude={"order"}) for case in clustered]]),
        suite=file.stem,
    )


def _records(file: Path) -> tuple[list[Mapping[str, Any]], list[int | None], list[str]]:
    if file.suffix.lower() in (".json", ".yaml", ".yml", ".jsonl", ".ndjson"):
        entries = read_entries(file, keys=("queries", "questions"))
        wrong = [place for place, entry in enumerate(entries) if not isinstance(entry, dict)]
        if wrong:
            raise InputError(
                f"{file}: queries must be objects",
                [Problem(f"queries[{place}]", "is none") for place in wrong],
            )
        return entries, [None] * len(entries), []
    table = read_table(file)
    return list(table.records()), list(table.lines), list(table.notices)


def _case(
    record: Mapping[str, Any],
    place: int,
    line: int | None,
    form: CodeForm,
    query_text: str,
    problems: list[Problem],
) -> Case | None:
    def first(keys: Sequence[str]) -> Any:
        return next((record[key] for key in keys if record.get(key) not in (None, "")), None)

    where = f"queries[{place}]" if line is None else "row"
    query = as_text(first(_QUERY))
    description = as_text(first(_DESCRIPTION)) if query_text == "title_description" else ""
    if not query and not description:
        known = nearest("query", [key for key in record if isinstance(key, str)])
        problems.append(Problem(where, f"has no text to classify{known}", line, "needed: query (or title)"))
        return None
    gold = form.read_many(first(_MAIN))
    gold += [code for code in form.read_many(_separated(first(_ALL))) if code not in gold]
    case_id = as_text(first(_ID)) or f"q{place + 1}"
    if form.known is not None and gold and gold[0] not in form.known:
        shown = f"gold code '{gold[0]}' of '{case_id}' is not in the code list"
        problems.append(Problem(where, shown, line, "correct it, or use the code list it comes from"))
        return None
    return Case(
        id=case_id,
        query=query if not description or description == query else f"{query}\n{description}".strip(),
        order=place,
        gold_codes=tuple(gold),
        language=as_text(first(_LANGUAGE)).lower() or None,
        question_type=as_text(first(_TYPE)).lower(),
        metadata={key: record[key] for key in _KEPT if record.get(key) not in (None, "")},
    )


def _separated(value: Any) -> Any:
    """`cpv_all` holds codes between blanks."""
    return ";".join(value.split()) if isinstance(value, str) and not value.startswith("[") else value


def _clustered(cases: list[Case]) -> tuple[list[Case], list[str]]:
    """Nearly equal queries are not independent: they share a cluster."""
    groups = duplicate_groups([case.query for case in cases])
    sizes: dict[int, int] = {}
    for group in groups:
        sizes[group] = sizes.get(group, 0) + 1
    shared = sum(size for size in sizes.values() if size > 1)
    if not shared:
        return cases, []
    marked = [
        case.model_copy(update={"cluster": cases[group].id}) if sizes[group] > 1 else case
        for case, group in zip(cases, groups, strict=True)
    ]
    return marked, [f"{shared} queries are nearly equal to another one: intervals count them by group"]


def queries_json(cases: Sequence[Case]) -> dict[str, list[dict[str, Any]]]:
    """Cases as a CPV queries file; the notes never hold more than the file it came from gave."""
    return {
        "queries": [
            {
                "id": case.id,
                "query": case.query,
                "gold_cpv_code": case.gold_codes[0] if case.gold_codes else None,
                **({"gold_cpv_codes": list(case.gold_codes)} if len(case.gold_codes) > 1 else {}),
                **({"language": case.language} if case.language else {}),
            }
            for case in cases
        ]
    }
