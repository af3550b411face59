"""BEIR folders: corpus.jsonl, queries.jsonl, qrels/<split>.tsv, and runs beside them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem
from core.inputs.foreign import rankings
from core.inputs.foreign.imported import KIND, Imported, digest_of, objects, raise_problems, read_json_lines
from core.inputs.table_files import read_table

SPLITS = ("test", "dev", "train")


def sniff(path: Path) -> bool:
    return path.is_dir() and (path / "queries.jsonl").is_file() and (path / "qrels").is_dir()


def load(path: Path, mapping: Mapping[str, Any]) -> list[Imported]:
    """Cases with graded judgements; one run for each TREC or JSON run file in the folder (or named as `run=…`).
    `split=…` chooses the judgements: test, else dev, else train by default."""
    split_file, notices = _split(path, mapping)
    queries = _queries(path / "queries.jsonl")
    grades = _grades(split_file)
    unknown = [query for query in grades if query not in queries]
    if unknown:
        notices.append(f"{len(unknown)} judged queries have no text in queries.jsonl (e.g. {unknown[0]})")
    given = mapping.get("run")
    runs = [Path(str(given))] if given else [f for f in sorted(path.iterdir()) if f.is_file() and _is_run(f)]
    sources = [split_file, path / "queries.jsonl"]
    if not runs:
        note = "judgements only: there is no run to score (name one with --map run=FILE)"
        cases = rankings.cases_of(grades, queries)
        return [
            Imported(path.name, KIND, path.name, cases, notices=(*notices, note), digest=digest_of(sources))
        ]
    texts = _texts(path / "corpus.jsonl")
    found = []
    for file in runs:
        run = rankings.read_ranking(file)
        found.append(
            Imported(
                name=file.stem,
                kind=KIND,
                suite=path.name,
                cases=rankings.cases_of(grades, queries, run.scores),
                outputs=rankings.outputs_of(run.scores, texts),
                notices=tuple(notices),
                digest=digest_of([*sources, file]),
            )
        )
    return found


def _split(path: Path, mapping: Mapping[str, Any]) -> tuple[Path, list[str]]:
    files = {file.stem: file for file in sorted((path / "qrels").glob("*.tsv"))}
    if not files:
        raise InputError(f"{path / 'qrels'}: holds no .tsv file")
    wanted = mapping.get("split")
    if wanted and wanted not in files:
        raise InputError(f"{path}: has no split '{wanted}'", [Problem("splits", ", ".join(files))])
    chosen = wanted or next((split for split in SPLITS if split in files), next(iter(files)))
    others = ", ".join(name for name in files if name != chosen)
    return files[chosen], [f"judgements of the split '{chosen}' are used; others: {others}"] if others else []


def _queries(file: Path) -> dict[str, str]:
    problems: list[Problem] = []
    queries = {}
    for index, entry in objects(file, read_json_lines(file), "line", problems):
        if entry.get("_id") is None or not isinstance(entry.get("text"), str):
            problems.append(Problem("_id, text", "are both needed", index + 1))
            continue
        queries[str(entry["_id"])] = entry["text"]
    raise_problems(file, problems)
    return queries


def _grades(file: Path) -> rankings.Grades:
    table = read_table(file)
    if len(table.columns) < 3:
        raise InputError(
            f"{file}: needs the columns query-id, corpus-id and score",
            [Problem("columns", ", ".join(table.columns))],
        )
    grades: rankings.Grades = {}
    problems = []
    for line, row in zip(table.lines, table.rows, strict=True):
        query, document, grade = row[:3]
        if not str(grade).lstrip("-").isdigit():
            problems.append(
                Problem(f"column '{table.columns[2]}'", f"must be a whole number, not {grade!r}", line)
            )
            continue
        grades.setdefault(str(query), {})[str(document)] = int(grade)
    raise_problems(file, problems)
    return grades


def _texts(file: Path) -> dict[str, tuple[str, str]]:
    if not file.is_file():
        return {}
    entries = read_json_lines(file)
    return {
        str(e["_id"]): (e.get("title") or "", e.get("text") or "")
        for e in entries
        if isinstance(e, dict) and "_id" in e
    }


def _is_run(file: Path) -> bool:
    return file.suffix in (".trec", ".run", ".txt", ".gz", ".json") and rankings.sniff(file)
