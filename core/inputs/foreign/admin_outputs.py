"""`outputs/` folders of the existing admin (reference-behaviour §16), and our own run folders, which have the
same names: rag_results.csv, retrieved_chunks.csv, run_summary.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem
from core.inputs.cells import CODE, as_list, as_number, as_text
from core.inputs.foreign.imported import Imported, digest_of, mapping_of, raise_problems, read_json
from core.inputs.table_files import Table, read_table
from core.records import Case, Failure, Hit, Output

KINDS = {
    "document_qa": "document_qa",
    "document_qa_files": "document_qa",
    "examination_regulations": "document_qa",
    "ted_cpv": "ted_cpv",
    "api_classifier": "api_classifier",
    "prepared_rag_results": "prepared_rag_results",
}
ROWS, CHUNKS, SUMMARY = "rag_results.csv", "retrieved_chunks.csv", "run_summary.json"
_SIGNALS = (
    *(
        "retrieval_query",
        "query_augmentation_mode",
        "query_augmentation_status",
        "answer_mode",
        "context_mode",
    ),
    *("runtime_retrieval_status", "runtime_retrieval_action", "runtime_retrieval_reason", "decision_action"),
)


def sniff(path: Path) -> bool:
    return (path.is_dir() and bool(_folders(path))) or path.name == ROWS


def load(path: Path, mapping: Mapping[str, Any]) -> list[Imported]:
    """One run for each experiment folder; the copy that a sweep makes of its best experiment at the top is left
    out. Answers, rankings and golds come over, the computed figures as `foreign_scores`; verdicts are not taken
    over, as they rest on rules that differ."""
    if path.is_file():
        return [_run(path.parent)]
    return [_run(folder) for folder in _folders(path)]


def _folders(path: Path) -> list[Path]:
    """Folders with results at or below `path`; a folder above others with results is a sweep's copy."""
    found = sorted(file.parent for file in path.rglob(ROWS) if len(file.relative_to(path).parts) <= 4)
    return [each for each in found if not any(each in other.parents for other in found)]


def _run(folder: Path) -> Imported:
    table = read_table(folder / ROWS)
    if not {"question_id", "question"} <= set(table.columns):
        raise InputError(
            f"{folder / ROWS}: needs the columns question_id and question",
            [Problem("columns", ", ".join(table.columns))],
        )
    files = [folder / name for name in (ROWS, CHUNKS) if (folder / name).is_file()]
    texts = _texts(folder / CHUNKS)
    kind, suite, notices = _summary(folder, table)
    problems: list[Problem] = []
    counts = Counter(as_text(record["question_id"]) for record in table.records())
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        problems.append(Problem("column 'question_id'", f"'{repeated[0]}' comes {counts[repeated[0]]} times"))
    raise_problems(folder / ROWS, problems)
    cases, outputs = [], []
    for order, (line, record) in enumerate(zip(table.lines, table.records(), strict=True)):
        cases.append(_case(record, order, kind))
        outputs.append(_output(record, line, texts, kind))
    return Imported(
        folder.name,
        kind,
        suite,
        tuple(cases),
        tuple(outputs),
        notices=tuple(notices),
        digest=digest_of(files),
    )


def _summary(folder: Path, table: Table) -> tuple[str, str, list[str]]:
    notices = list(table.notices)
    data: Any = {}
    for place in (folder, folder.parent):
        if (place / SUMMARY).is_file():
            data = read_json(place / SUMMARY)
            break
    else:
        notices.append(f"there is no {SUMMARY}; the kind of the run is read from the columns")
    data = mapping_of(data)
    coded = "expected_cpv_codes" in table.columns or "top1_predicted_cpv" in table.columns
    documents = "gold_answer" in table.columns and any(
        record.get("gold_answer") for record in table.records()
    )
    kind = KINDS.get(
        str(data.get("classifier_type")), "ted_cpv" if coded and not documents else "document_qa"
    )
    questions = str(data.get("questions_path") or "")
    suite = str(data.get("suite") or Path(questions.replace("\\", "/")).stem or folder.parent.name)
    return kind, suite, notices


def _texts(file: Path) -> dict[tuple[str, str], dict[str, Any]]:
    if not file.is_file():
        return {}
    table = read_table(file)
    if not {"question_id", "chunk_id"} <= set(table.columns):
        return {}
    return {(as_text(r["question_id"]), as_text(r["chunk_id"])): r for r in table.records()}


def _case(record: Mapping[str, Any], order: int, kind: str) -> Case:
    expected = [
        code
        for value in as_list(record.get("expected_cpv_codes"))
        for code in CODE.findall(as_text(value)) or [as_text(value)]
    ]
    answerable = as_text(record.get("expected_answerable")).lower()
    paths = tuple(as_text(path) for path in as_list(record.get("doc_path")))
    metadata = {
        key: record[key] for key in ("program_id", "section_id", "doc_id") if record.get(key) is not None
    }
    return Case(
        id=as_text(record["question_id"]),
        query=as_text(record["question"]),
        order=order,
        gold_answer=None
        if kind == "ted_cpv"
        else record.get("gold_answer") and as_text(record["gold_answer"]),
        gold_codes=tuple(dict.fromkeys(expected)),
        expected_keywords=tuple(as_text(word) for word in as_list(record.get("expected_keywords"))),
        question_type=as_text(record.get("question_type")),
        answerable={"true": True, "false": False, "1": True, "0": False}.get(answerable),
        doc_paths=paths,
        cluster=paths[0] if len(paths) == 1 else None,
        metadata=metadata,
    )


def _output(
    record: Mapping[str, Any], line: int, texts: Mapping[tuple[str, str], dict[str, Any]], kind: str
) -> Output:
    case_id = as_text(record["question_id"])
    entries = [entry for entry in as_list(record.get("retrieved_chunks")) if isinstance(entry, dict)]
    if not entries:
        entries = [{"chunk_id": each} for each in as_list(record.get("retrieved_chunk_ids"))]
    hits: dict[str, Hit] = {}
    for entry in entries:
        chunk_id = as_text(entry.get("chunk_id"))
        hit_id = (CODE.findall(chunk_id) or [chunk_id])[0] if kind == "ted_cpv" else chunk_id
        if hit_id and hit_id not in hits:
            hits[hit_id] = _hit(entry, hit_id, texts.get((case_id, chunk_id), {}), len(hits) + 1)
    failure = as_text(record.get("failure_message"))
    scores = {
        name: number
        for name, value in record.items()
        if name not in ("question_id", "question", "answer", "gold_answer")
        and (number := _figure(value)) is not None
    }
    abstained = as_text(record.get("abstained")).lower()
    return Output(
        case_id=case_id,
        text=as_text(record["answer"]) if record.get("answer") is not None else None,
        hits=tuple(hits.values()),
        abstained={"true": True, "false": False}.get(abstained),
        explanation=as_text(record.get("classifier_explanation")),
        latency_ms=as_number(record.get("latency_ms"))
        if record.get("latency_ms")
        else as_number(record.get("api_latency_ms")),
        signals={name: record[name] for name in _SIGNALS if record.get(name) is not None},
        raw={"foreign_scores": scores, "row": dict(record), "line": line},
        failure=Failure(
            where="system", kind=as_text(record.get("failure_kind")) or "exception", message=failure
        )
        if failure
        else None,
    )


def _hit(entry: Mapping[str, Any], hit_id: str, row: Mapping[str, Any], rank: int) -> Hit:
    page = as_number(row.get("page"))
    return Hit(
        id=hit_id,
        rank=rank,
        score=as_number(entry.get("score", row.get("score"))),
        text=as_text(row.get("text") or entry.get("text") or entry.get("text_preview")),
        title=as_text(entry.get("title") or row.get("title")),
        doc_path=as_text(row.get("doc_path") or row.get("doc_id")),
        section_id=as_text(entry.get("section_id") or row.get("section_id")),
        page=int(page) if page is not None else None,
        source=as_text(entry.get("retrieval_source")),
    )


def _figure(value: Any) -> float | None:
    if isinstance(value, str) and value in ("True", "False"):
        return float(value == "True")
    return as_number(value)
