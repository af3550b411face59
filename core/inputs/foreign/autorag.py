"""AutoRAG: QA and corpus parquet files, and the parquet results of its nodes, which follow the QA row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem
from core.inputs.cells import as_list, as_text
from core.inputs.foreign.imported import (
    KIND,
    Imported,
    digest_of,
    number_of,
    raise_problems,
    scores_of,
    unique_ids,
)
from core.inputs.table_files import Table, read_table
from core.records import Case, Hit, Output

QA, CORPUS = {"qid", "query", "retrieval_gt"}, {"doc_id", "contents"}
RETRIEVAL, GENERATION = {"retrieved_ids"}, {"generated_texts"}


def sniff(path: Path) -> bool:
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path] if path.suffix == ".parquet" else []
    kinds = {_kind(file) for file in files[:50]}
    return bool(kinds & {"qa", "result"}) or (path.is_file() and "corpus" in kinds)


def load(path: Path, mapping: Mapping[str, Any]) -> list[Imported]:
    """A folder: one run for each result, with the QA file that has as many rows. A single result needs
    `qa=FILE`. A QA file alone gives cases without outputs. `generation_gt`: the first is the gold answer, all
    stand in `metadata.gold_answers`; `retrieval_gt` (groups of ids) become judgements, each id relevant."""
    files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    kinds = {file: _kind(file) for file in files}
    if set(kinds.values()) == {"corpus"}:
        raise InputError(
            f"{path}: is AutoRAG's corpus, which holds no results; name the folder that has both"
        )
    asked = (
        [Path(str(mapping["qa"]))]
        if mapping.get("qa")
        else [file for file, kind in kinds.items() if kind == "qa"]
    )
    questions = {file: read_table(file) for file in asked}
    results = [file for file, kind in kinds.items() if kind == "result"]
    if not results:
        return [_cases_only(file, table) for file, table in questions.items()]
    texts = _texts([file for file, kind in kinds.items() if kind == "corpus"])
    found, problems = [], []
    for file in results:
        table = read_table(file)
        fitting = [qa for qa, each in questions.items() if len(each.rows) == len(table.rows)]
        if not fitting:
            rows = ", ".join(f"{qa.name} {len(each.rows)}" for qa, each in questions.items()) or "none"
            problems.append(
                Problem(
                    file.name,
                    f"has {len(table.rows)} rows and no QA file has as many ({rows})",
                    hint="name one with --map qa=FILE",
                )
            )
            continue
        found.append(_imported(file, path, table, fitting[0], questions[fitting[0]], texts))
    raise_problems(path, problems)
    return found


def _kind(file: Path) -> str:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        names = set(parquet.read_schema(file).names)
    except (arrow.ArrowException, OSError, ValueError):
        return ""
    if names >= QA:
        return "qa"
    if names & (RETRIEVAL | GENERATION):
        return "result"
    return "corpus" if names >= CORPUS else ""


def _cases(file: Path, table: Table) -> tuple[Case, ...]:
    problems = [
        Problem("column 'query'", "is empty", line)
        for line, record in zip(table.lines, table.records(), strict=True)
        if not as_text(record["query"])
    ]
    raise_problems(file, problems)
    records = table.records()
    ids = unique_ids([as_text(record["qid"]) for record in records])
    return tuple(
        _case(record, case_id, order)
        for order, (record, case_id) in enumerate(zip(records, ids, strict=True))
    )


def _case(record: Mapping[str, Any], case_id: str, order: int) -> Case:
    groups = [[as_text(each) for each in as_list(group)] for group in as_list(record.get("retrieval_gt"))]
    golds = [as_text(answer) for answer in as_list(record.get("generation_gt"))]
    relevant = {each: 1 for group in groups for each in group if each}
    return Case(
        id=case_id,
        query=as_text(record["query"]),
        order=order,
        gold_answer=golds[0] if golds else None,
        qrels=relevant or None,
        metadata={"gold_answers": golds, "retrieval_gt": groups},
    )


def _cases_only(file: Path, table: Table) -> Imported:
    note = "questions only: there is no result to score"
    return Imported(
        file.stem, KIND, file.stem, _cases(file, table), notices=(note,), digest=digest_of([file])
    )


def _imported(
    file: Path, root: Path, table: Table, qa: Path, asked: Table, texts: Mapping[str, str]
) -> Imported:
    cases = _cases(qa, asked)
    outputs = tuple(
        _output(record, case.id, texts) for record, case in zip(table.records(), cases, strict=True)
    )
    name = file.relative_to(root).with_suffix("").as_posix() if root.is_dir() else file.stem
    notice = f"rows are matched by their order to {qa.name}"
    return Imported(
        name.replace("/", " "), KIND, qa.stem, cases, outputs, notices=(notice,), digest=digest_of([file, qa])
    )


def _output(record: Mapping[str, Any], case_id: str, texts: Mapping[str, str]) -> Output:
    ids, contents = as_list(record.get("retrieved_ids")), as_list(record.get("retrieved_contents"))
    scores = as_list(record.get("retrieve_scores"))
    hits: dict[str, Hit] = {}
    for position, each in enumerate(ids):
        name = as_text(each)
        if name not in hits:
            hits[name] = Hit(
                id=name,
                rank=len(hits) + 1,
                score=number_of(scores[position]) if position < len(scores) else None,
                text=as_text(contents[position]) if position < len(contents) else texts.get(name, ""),
            )
    generated = record.get("generated_texts")
    return Output(
        case_id=case_id,
        text=as_text(generated) if generated is not None else None,
        hits=tuple(hits.values()),
        raw={"foreign_scores": scores_of(record), "n_repeated": len(ids) - len(hits)},
    )


def _texts(files: Sequence[Path]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for file in files:
        for record in read_table(file).records():
            texts.setdefault(as_text(record["doc_id"]), as_text(record["contents"]))
    return texts
