"""The cases of a run that did not pass (FAIL, ERROR, WEAK, unanswered) as something that runs again.

An audit becomes its own YAML with these cases alone; a run over a file of questions becomes that file, shortened,
and the settings that ask it. Case ids stay what they were, so that the new run can be held against the old one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from core.errors import StoreError
from core.records import Case, Run
from core.settings import RunSettings
from core.store.export import published
from core.store.export.tabular import write_json, write_text

_ASKING = {"document_qa": "questions", "ted_cpv": "cpv_queries", "api_classifier": "cpv_queries"}
_OWN_TO_A_RUN = ("run_name", "limit", "suite")
_MASKED = re.compile(r"\*{6,}")


def write_suite(path: Path, target: Path, run: Run, listed: Sequence[published.Item]) -> None:
    """Write to `path` what will be called `target`: a configuration that runs. Questions go to a file of their own
    beside it; a target that ends with .json is that file alone. StoreError where nothing failed, or where the run
    has only results and nobody knows what gave them."""
    failed = _failed(listed)
    if not failed:
        raise StoreError(f"every case of {run.name} passed: there is nothing to run again")
    questions = target.suffix.lower() == ".json"
    if run.kind == "audit":
        if questions:
            raise StoreError("the failing cases of an audit are YAML; name a .yaml file with --out")
        write_text(path, _yaml(*_audit(run, failed)))
        return
    entry = classification_query if published.is_classification(run, listed) else question
    entries = [entry(case) for case in failed.values()]
    if questions:
        write_json(path, entries)
        return
    asked_by = _ASKING.get(run.kind)
    if asked_by is None or "imported_from" in run.settings:
        raise StoreError(
            f"{run.name} holds ready results, so nothing here can ask its questions again; "
            "write the questions alone with --out NAME.json"
        )
    beside = target.with_name(f"{target.name.removesuffix('.yaml').removesuffix('.suite')}.questions.json")
    if beside.exists():
        raise StoreError(f"{beside} is already there; name another file with --out")
    write_text(path, _yaml(_settings(run, asked_by, beside.name), _about(run, len(failed))))
    write_json(beside, entries)


def _failed(listed: Sequence[published.Item]) -> dict[str, Case]:
    return {
        item.case.id: item.case
        for item in listed
        if item.result is None or item.result.verdict.value != "PASS"
    }


def _about(run: Run, n: int) -> list[str]:
    return [
        f"The {n} of {run.n_cases} cases of {run.name} that did not pass.",
        "Paths and modules are as they were written: run this from the same working directory"
        + (", or keep it beside the configuration it came from." if run.kind == "audit" else "."),
    ]


def _yaml(data: Mapping[str, Any], comments: Iterable[str]) -> str:
    head = "".join(f"# {' '.join(line.split())}\n" for line in comments)
    return head + yaml.safe_dump(dict(data), allow_unicode=True, sort_keys=False, width=100)


def _settings(run: Run, asked_by: str, questions: str) -> dict[str, Any]:
    """The settings that differ from the defaults, with the questions replaced."""
    usual = RunSettings.model_construct().model_dump(mode="json")
    kept = {
        name: value
        for name, value in run.settings.items()
        if name not in _OWN_TO_A_RUN and (name not in usual or value != usual[name])
    }
    return {"classifier_type": run.kind, **kept, asked_by: questions, "suite": f"{run.suite}-failed"}


def _audit(run: Run, failed: Mapping[str, Case]) -> tuple[dict[str, Any], list[str]]:
    by_test: dict[str, list[str]] = {}
    for case in failed.values():
        by_test.setdefault(case.test, []).append(case.id.removeprefix(f"{case.test}/"))
    written = {key: value for key, value in run.settings.items() if key not in ("classifier_type", "suite")}
    hidden: dict[str, str] = {}
    data = {key: _unmasked(value, (key,), hidden) for key, value in written.items() if key != "tests"}
    tests = [_test(dict(test), by_test[test["name"]]) for test in written["tests"] if test["name"] in by_test]
    comments = _about(run, len(failed))
    comments += [f"{place} is a secret and was not kept: set {name}." for place, name in hidden.items()]
    return {**data, "suite": f"{run.suite}-failed", "tests": tests}, comments


def _test(test: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The test with these cases alone: entries of `cases` under their own ids; cases an evaluator makes itself
    (one a tool, one a sample query) by name in `only_cases`."""
    entries = test.get("cases")
    found = list(_entries(entries, names)) if isinstance(entries, list) else []
    if len(found) == len(names):
        return {**test, "cases": found}
    return {**test, "only_cases": list(names)}


def _entries(entries: Sequence[Any], names: Collection[str]) -> Iterator[dict[str, Any]]:
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, Mapping):
            return
        own = {str(entry["id"])} if entry.get("id") else {str(number), f"{number}-{entry.get('kind')}"}
        for name in own & {*names}:
            yield {**entry, "id": name}


def _unmasked(value: Any, place: tuple[str, ...], hidden: dict[str, str]) -> Any:
    """The value with each masked secret as `${NAME}`; `hidden` collects place → NAME."""
    if isinstance(value, Mapping):
        return {key: _unmasked(each, (*place, str(key)), hidden) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_unmasked(each, (*place, str(at)), hidden) for at, each in enumerate(value)]
    if not isinstance(value, str) or not _MASKED.fullmatch(value):
        return value
    name = re.sub(r"\W+", "_", "_".join(place)).upper()
    hidden[".".join(place)] = name
    return f"${{{name}}}"


def question(case: Case) -> dict[str, Any]:
    """A case as an entry of a questions file; keys without a value are left out."""
    found: dict[str, Any] = {
        "id": case.id,
        "question": case.query,
        "question_type": case.question_type,
        "gold_answer": case.gold_answer,
        "expected_keywords": list(case.expected_keywords),
        "answerable": case.answerable,
        "language": case.language,
        "doc_paths": list(case.doc_paths),
        "evidence": [each.model_dump(mode="json", exclude_none=True) for each in case.evidence],
        "cluster": case.cluster,
        "gold_codes": list(case.gold_codes),
        "qrels": case.qrels,
        "metadata": case.metadata,
    }
    return {key: value for key, value in found.items() if value not in (None, "", [], {})}


def classification_query(case: Case) -> dict[str, Any]:
    """A case as an entry of a queries file of a classifier."""
    found = {
        "id": case.id,
        "query": case.query,
        "gold_cpv_code": case.gold_codes[0] if case.gold_codes else None,
        "gold_cpv_codes": list(case.gold_codes) if len(case.gold_codes) > 1 else None,
        "notes": case.metadata.get("notes"),
    }
    return {key: value for key, value in found.items() if value not in (None, "", [], {})}
