"""What a file of prepared results would be read as: the role of each column and why, and the first rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.inputs.cells import as_text
from core.inputs.column_names import ALIASES
from core.inputs.columns import MappingGuess, column_map, guess_mapping
from core.inputs.table_files import Table, missing, read_table
from core.inputs.workbook import PreparedSet, load_prepared
from core.records import JsonDict

PREVIEW = 5
EXAMPLES = 3
_SHOWN = 160


def column_report(
    path: str | Path, mapping: Mapping[str, Any] | None = None, wanted: Mapping[str, str] | None = None
) -> JsonDict:
    """How a file is read with a mapping, or with the role each column is wanted in (column → role, "" for none).

    Keys: `sheet`, `n_rows`, `sure`, `doubts`, `roles` (all there are), `columns` (name, role, rank, grounds as in
    `MappingGuess`, examples), `column_map` (what to give a run), `sets` (name, n_cases, n_outputs; one run each),
    `preview` (case, query, expected, given, confidence) and `problem`, which says why nothing can be read ("").
    Raises InputError for a file that is no table and ConfigError for an impossible mapping.
    """
    table = read_table(path)
    given = dict(mapping or {})
    if wanted is not None:
        given = dict(column_map(table, guess_mapping(table), wanted))
    guess = guess_mapping(table, given)
    sets, problem = _sets(path, given)
    return {
        "sheet": table.sheet,
        "n_rows": len(table.rows),
        "sure": guess.sure,
        "doubts": list(guess.doubts),
        "roles": list(ALIASES),
        "columns": [_column(table, guess, column) for column in table.columns],
        "column_map": given,
        "sets": [
            {"name": each.name, "n_cases": len(each.cases), "n_outputs": len(each.outputs)} for each in sets
        ],
        "preview": _preview(sets[0]) if sets else [],
        "problem": problem,
    }


def report_lines(report: Mapping[str, Any]) -> list[str]:
    """The report for a terminal."""
    width = max((len(each["name"]) for each in report["columns"]), default=0)
    lines = []
    for each in report["columns"]:
        role = f"{each['role']} {each['rank'] or ''}".strip() or "–"
        why = {"name": "by its name", "content": "by its values", "given": "given", "unsure": "NOT SURE"}
        lines.append(f"{each['name']:{width}}  {role:18} {why.get(each['grounds'], '')}".rstrip())
    lines += [f"not sure: {doubt}" for doubt in report["doubts"]]
    if report["problem"]:
        lines.append(f"cannot be read: {report['problem']}")
    lines += [
        f"{each['name']}: {each['n_cases']} cases, {each['n_outputs']} results" for each in report["sets"]
    ]
    return lines


def _sets(path: str | Path, given: Mapping[str, Any]) -> tuple[list[PreparedSet], str]:
    try:
        return load_prepared(path, given), ""
    except InputError as error:
        return [], str(error)


def _column(table: Table, guess: MappingGuess, column: str) -> JsonDict:
    role = guess.role_of(column)
    ranks = [rank for rank, name in guess.ranked.get(role, {}).items() if name == column]
    place = table.columns.index(column)
    values = (as_text(row[place]) for row in table.rows if not missing(row[place]))
    examples = list(dict.fromkeys(_short(value) for _, value in zip(range(50), values, strict=False)))
    return {
        "name": column,
        "role": role,
        "rank": ranks[0] if ranks else None,
        "grounds": guess.grounds.get(column, ""),
        "examples": examples[:EXAMPLES],
    }


def _preview(first: PreparedSet) -> list[JsonDict]:
    outputs = {output.case_id: output for output in reversed(first.outputs)}
    rows = []
    for case in first.cases[:PREVIEW]:
        output = outputs[case.id]
        given = output.text or "; ".join(hit.id for hit in output.hits[:5])
        rows.append(
            {
                "case": case.id,
                "query": _short(case.query),
                "expected": _short("; ".join(case.gold_codes) or case.gold_answer or ""),
                "given": _short(given),
                "confidence": output.confidence,
            }
        )
    return rows


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _SHOWN else plain[: _SHOWN - 1] + "…"
