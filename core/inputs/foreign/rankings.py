"""TREC run and qrels files, and the JSON, parquet and lz4 forms of them that ranx writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem
from core.inputs.foreign.imported import KIND, Imported, digest_of, raise_problems, read_json
from core.inputs.foreign.ranx_packed import read_packed
from core.inputs.table_files import read_table
from core.inputs.trec import parse_qrels, parse_run, read_lines
from core.records import Case, Hit, Output

Grades = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]
COLUMNS = {"q_id", "doc_id", "score"}


@dataclass(frozen=True, slots=True)
class RankingFile:
    """One file: judgements, or a run with its tag."""

    path: Path
    grades: Grades | None = None
    scores: Scores = field(default_factory=dict)
    tag: str = ""


def sniff(path: Path) -> bool:
    """Whether a file, or every file of a folder that is no note, is a ranking file."""
    if path.is_dir():
        files = _files(path)
        return bool(files) and any("qrel" in file.name.lower() for file in files) and all(map(_looks, files))
    return _looks(path)


def load(path: Path, mapping: Mapping[str, Any]) -> list[Imported]:
    """Runs, each with the judgements beside it: those of the same folder, or the file named as `qrels=…`.

    Judgements without a run give cases without outputs. In a folder with several judgements each run takes those
    with which it shares most queries.
    """
    files = _files(path) if path.is_dir() else [path]
    read = [read_ranking(file) for file in files]
    judged = [each for each in read if each.grades is not None]
    runs = [each for each in read if each.grades is None]
    if given := mapping.get("qrels"):
        judged = [read_ranking(Path(str(given)))]
        if judged[0].grades is None:
            raise InputError(f"{given}: holds a run, not judgements")
    if not runs:
        note = "judgements only: there is no run to score"
        return [
            Imported(
                name=each.path.stem,
                kind=KIND,
                suite=each.path.stem,
                cases=cases_of(each.grades or {}, {}),
                notices=(note,),
                digest=digest_of([each.path]),
            )
            for each in judged[:1]
        ]
    return [_imported(run, _judgements_for(run, judged), len(judged)) for run in runs]


def _judgements_for(run: RankingFile, judged: Sequence[RankingFile]) -> RankingFile | None:
    """The judgements that share most queries with a run; the first of equals, none where they share none."""
    shared = [len(set(run.scores) & set(each.grades or {})) for each in judged]
    best = max(shared, default=0)
    return judged[shared.index(best)] if best else None


def read_ranking(file: Path) -> RankingFile:
    """Read one file by its ending and contents."""
    if file.suffix == ".json":
        return _nested(file, read_json(file))
    if file.suffix == ".lz4":
        return _nested(file, read_packed(file))
    if file.suffix == ".parquet":
        return _table(file)
    lines = read_lines(file)
    fields = next((line.split() for line in lines if line.strip() and not line.startswith("#")), [])
    if len(fields) >= 6:
        run = parse_run(lines, str(file))
        return RankingFile(file, scores=run.scores, tag=run.tag)
    return RankingFile(file, grades=parse_qrels(lines, str(file)))


def cases_of(
    grades: Grades, queries: Mapping[str, str], order: Mapping[str, Any] | None = None
) -> tuple[Case, ...]:
    """A case for each query that is judged or (`order`) retrieved for; its text is the id where there is none."""
    ids = list(dict.fromkeys([*grades, *(order or {})]))
    return tuple(
        Case(id=each, query=queries.get(each, each), order=number, qrels=grades.get(each))
        for number, each in enumerate(ids)
    )


def outputs_of(scores: Scores, texts: Mapping[str, tuple[str, str]] | None = None) -> tuple[Output, ...]:
    """Rankings as trec_eval reads them: by score, ties by document id, both descending. `texts` gives (title,
    text) of documents."""
    outputs = []
    for query, documents in scores.items():
        ranked = sorted(documents.items(), key=lambda item: (item[1], item[0]), reverse=True)
        hits = tuple(
            Hit(id=name, rank=rank, score=score, title=known[0], text=known[1])
            for rank, (name, score) in enumerate(ranked, 1)
            for known in [(texts or {}).get(name, ("", ""))]
        )
        outputs.append(Output(case_id=query, hits=hits))
    return tuple(outputs)


def _imported(run: RankingFile, qrels: RankingFile | None, n_judged: int) -> Imported:
    grades = qrels.grades or {} if qrels else {}
    notices: tuple[str, ...] = ()
    if not qrels:
        notices = (*notices, "no judgements: give the qrels file with --map qrels=FILE")
    if qrels and n_judged > 1:
        notices = (*notices, f"judgements of {qrels.path.name} are used")
    unjudged = [query for query in run.scores if query not in grades]
    if qrels and unjudged:
        notices = (*notices, f"{len(unjudged)} queries of the run are not judged (e.g. {unjudged[0]})")
    missing = [query for query in grades if query not in run.scores]
    if missing:
        notices = (*notices, f"{len(missing)} judged queries have no ranking in the run (e.g. {missing[0]})")
    suite = qrels.path.name.split(".")[0] if qrels else run.path.stem
    return Imported(
        name=run.tag if run.tag not in ("", "None") else run.path.name.split(".")[0],
        kind=KIND,
        suite=suite,
        cases=cases_of(grades, {}, run.scores),
        outputs=outputs_of(run.scores),
        notices=notices,
        digest=digest_of([run.path, *([qrels.path] if qrels else [])]),
    )


def _nested(file: Path, data: Any) -> RankingFile:
    problems: list[Problem] = []
    whole = True
    if not isinstance(data, dict):
        raise InputError(f"{file}: must map queries to documents and scores, not {type(data).__name__}")
    for query, documents in data.items():
        if not isinstance(documents, dict):
            problems.append(Problem(query, f"must map documents to scores, not {type(documents).__name__}"))
            continue
        for name, score in documents.items():
            if isinstance(score, bool) or not isinstance(score, int | float):
                problems.append(Problem(f"{query}.{name}", f"the score must be a number, not {score!r}"))
            whole = whole and isinstance(score, int)
    raise_problems(file, problems)
    return _judged_or_run(file, data, whole)


def _table(file: Path) -> RankingFile:
    table = read_table(file)
    if not set(table.columns) >= COLUMNS:
        raise InputError(
            f"{file}: needs the columns q_id, doc_id and score",
            [Problem("columns", ", ".join(table.columns))],
        )
    nested: dict[str, dict[str, Any]] = {}
    problems = []
    for line, record in zip(table.lines, table.records(), strict=True):
        if not isinstance(record["score"], int | float):
            problems.append(Problem("column 'score'", f"must be a number, not {record['score']!r}", line))
        nested.setdefault(str(record["q_id"]), {})[str(record["doc_id"])] = record["score"]
    raise_problems(file, problems)
    return _judged_or_run(file, nested, all(isinstance(s, int) for d in nested.values() for s in d.values()))


def _judged_or_run(file: Path, nested: Mapping[str, Mapping[str, Any]], whole: bool) -> RankingFile:
    """Whole numbers are grades unless the file is called a run; anything else is a run."""
    if whole and not file.name.lower().startswith("run"):
        return RankingFile(file, grades={query: dict(names) for query, names in nested.items()})
    return RankingFile(
        file, scores={q: {n: float(s) for n, s in names.items()} for q, names in nested.items()}
    )


def _files(folder: Path) -> list[Path]:
    endings = (".json", ".parquet", ".trec", ".gz", ".qrels", ".run", ".lz4", ".test", ".txt")
    files = [file for file in folder.iterdir() if file.is_file() and file.name.lower().endswith(endings)]
    return sorted(
        (
            f
            for f in files
            if "qrel" in f.name.lower() or "run" in f.name.lower() or "result" in f.name.lower()
        ),
        key=_preference,
    )


def _preference(file: Path) -> tuple[int, str]:
    """Text before JSON before parquet before packed text."""
    order = {".json": 1, ".parquet": 2, ".gz": 3, ".lz4": 4}
    return order.get(file.suffix, 0), file.name


def _looks(file: Path) -> bool:
    try:
        if file.suffix == ".parquet":
            import pyarrow.parquet as parquet

            return set(parquet.read_schema(file).names) >= COLUMNS
        if file.suffix in (".json", ".lz4"):
            data = read_json(file) if file.suffix == ".json" else read_packed(file)
            first = next(iter(data.values()), None) if isinstance(data, dict) else None
            return (
                isinstance(first, dict)
                and bool(first)
                and all(
                    isinstance(score, int | float) and not isinstance(score, bool) for score in first.values()
                )
            )
        lines = [line.split() for line in read_lines(file)[:20] if line.strip() and not line.startswith("#")]
    except (InputError, OSError, ValueError):
        return False
    return _mostly(_is_run_line, lines) or _mostly(_is_qrels_line, lines)


def _mostly(fits: Callable[[list[str]], bool], lines: list[list[str]]) -> bool:
    """A wrong line among right ones is named when the file is read; here it would only hide what the file is."""
    return bool(lines) and fits(lines[0]) and 2 * sum(map(fits, lines)) >= len(lines)


def _is_run_line(fields: list[str]) -> bool:
    return len(fields) >= 6 and fields[3].lstrip("-").isdigit() and _is_number(fields[4])


def _is_qrels_line(fields: list[str]) -> bool:
    return len(fields) == 4 and fields[3].lstrip("-").isdigit()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
