"""SQuAD 1.1 and 2.0: questions with answers inside a paragraph, and a predictions file beside them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem
from core.inputs.foreign.imported import (
    KIND,
    Imported,
    digest_of,
    objects,
    raise_problems,
    read_json,
    text_of,
    unique_ids,
)
from core.records import Case, Output


def sniff(path: Path) -> bool:
    if path.suffix != ".json" or not path.is_file():
        return False
    data = read_json(path)
    articles = data.get("data") if isinstance(data, dict) else None
    return (
        isinstance(articles, list)
        and bool(articles)
        and isinstance(articles[0], dict)
        and "paragraphs" in articles[0]
    )


def load(path: Path, mapping: Mapping[str, Any]) -> list[Imported]:
    """One case a question: `gold_answer` is the first answer, all of them stand in `metadata.gold_answers`, the
    paragraph in `metadata.context`; questions about one paragraph are one cluster. `predictions=FILE` names a
    JSON file {question id: answer}; without it there are no outputs."""
    data = read_json(path)
    problems: list[Problem] = []
    entries: list[dict[str, Any]] = []
    empty: list[str] = []
    for a, article in objects(path, data.get("data") if isinstance(data, dict) else data, "data", problems):
        for p, paragraph in objects(path, article.get("paragraphs"), f"data[{a}].paragraphs", problems):
            where = f"data[{a}].paragraphs[{p}].qas"
            for q, entry in objects(path, paragraph.get("qas"), where, problems):
                if not isinstance(entry.get("question"), str) or not entry["question"].strip():
                    empty.append(f"{where}[{q}]")
                    continue
                cluster = f"{article.get('title') or a}/{p}"
                entries.append(
                    {
                        **entry,
                        "_title": article.get("title"),
                        "_context": paragraph.get("context"),
                        "_cluster": cluster,
                    }
                )
    if empty and not entries:
        problems.append(Problem(empty[0], "question is missing"))
    raise_problems(path, problems)
    ids = unique_ids([str(entry.get("id", number)) for number, entry in enumerate(entries, 1)])
    cases = tuple(
        _case(entry, case_id, order) for order, (entry, case_id) in enumerate(zip(entries, ids, strict=True))
    )
    notices = [f"entries without a question, left out: {len(empty)} (e.g. {empty[0]})"] if empty else []
    if len(set(ids)) != len({str(entry.get("id", n)) for n, entry in enumerate(entries, 1)}):
        notices.append("some question ids come more than once and were numbered")
    sources = [path]
    outputs: tuple[Output, ...] = ()
    if given := mapping.get("predictions"):
        sources.append(Path(str(given)))
        outputs = _predictions(sources[1], {case.id for case in cases}, notices)
    else:
        notices.append("questions only: name the answers with --map predictions=FILE")
    return [
        Imported(
            path.stem, KIND, path.stem, cases, outputs, notices=tuple(notices), digest=digest_of(sources)
        )
    ]


def _case(entry: Mapping[str, Any], case_id: str, order: int) -> Case:
    answers = [
        answer for answer in entry.get("answers") or [] if isinstance(answer, dict) and answer.get("text")
    ]
    texts = list(dict.fromkeys(answer["text"] for answer in answers))
    impossible = entry.get("is_impossible")
    answerable = (not impossible) if isinstance(impossible, bool) else (True if texts else None)
    metadata = {"title": entry["_title"], "context": entry["_context"], "gold_answers": texts}
    if answers and isinstance(answers[0].get("answer_start"), int):
        metadata["answer_start"] = answers[0]["answer_start"]
    return Case(
        id=case_id,
        query=entry["question"],
        order=order,
        gold_answer=texts[0] if texts else None,
        answerable=answerable,
        cluster=entry["_cluster"],
        metadata={key: value for key, value in metadata.items() if value is not None},
    )


def _predictions(file: Path, known: set[str], notices: list[str]) -> tuple[Output, ...]:
    data = read_json(file)
    if not isinstance(data, dict):
        raise InputError(f"{file}: must map question ids to answers, not {type(data).__name__}")
    unknown = [case_id for case_id in data if case_id not in known]
    if unknown:
        notices.append(
            f"{len(unknown)} predictions belong to no question (e.g. {unknown[0]}) and were left out"
        )
    return tuple(
        Output(case_id=each, text=text_of(answer) or "") for each, answer in data.items() if each in known
    )
