"""promptfoo results, version 3 (`promptfoo eval --output results.json`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import InputError, Problem
from core.inputs.foreign.imported import (
    KIND,
    Imported,
    digest_of,
    first_of,
    hits_of,
    mapping_of,
    number_of,
    objects,
    raise_problems,
    read_json,
    scores_of,
    text_of,
)
from core.records import Case, Failure, Output, Result, Usage, Verdict

QUERY_VARS = ("question", "query", "input", "user_input", "prompt", "message")
CONTEXT_VARS = ("context", "contexts", "retrieved_contexts", "documents")
GOLD_ASSERTIONS = (
    "equals",
    "factuality",
    "similar",
    "answer-relevance",
    "context-recall",
    "model-graded-factuality",
)


def sniff(path: Path) -> bool:
    if path.suffix != ".json" or not path.is_file():
        return False
    data = read_json(path)
    inner = data.get("results") if isinstance(data, dict) else None
    return (
        isinstance(inner, dict)
        and isinstance(inner.get("results"), list)
        and ("evalId" in data or "version" in inner)
    )


def load(path: Path, mapping: Mapping[str, Any]) -> list[Imported]:
    """One run for each provider and prompt. A test is the case (its variables; `--map query=VARIABLE` says which
    one is asked), repeats of it are repeats; `success` is the verdict, `namedScores` and each assertion's score
    are `foreign_scores`; an `error` is ERROR."""
    data = read_json(path)
    inner = data.get("results") if isinstance(data, dict) else None
    if not isinstance(inner, dict):
        raise InputError(f"{path}: has no object under 'results'")
    version = inner.get("version")
    notices = [] if version == 3 else [f"results of version {version}; version 3 is the one that is known"]
    problems: list[Problem] = []
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for index, entry in objects(path, inner.get("results"), "results.results", problems):
        if not isinstance(_variables(entry), dict):
            problems.append(Problem(f"results.results[{index}]", "has no variables (vars or testCase.vars)"))
            continue
        groups.setdefault((_provider(entry), _prompt(entry)), []).append(entry)
    raise_problems(path, problems)
    if not groups:
        raise InputError(f"{path}: holds no results")
    prompts = {prompt for _, prompt in groups}
    found = []
    for (provider, prompt), entries in groups.items():
        label = f"{provider} · {prompt[:60]}" if len(prompts) > 1 else provider
        found.append(_imported(path, label, entries, mapping, notices, inner, data))
    return found


def _imported(
    path: Path,
    label: str,
    entries: list[dict[str, Any]],
    mapping: Mapping[str, Any],
    notices: list[str],
    inner: Mapping[str, Any],
    data: Mapping[str, Any],
) -> Imported:
    cases: dict[str, Case] = {}
    outputs, results = [], []
    repeats: dict[str, int] = {}
    for position, entry in enumerate(entries):
        case_id = f"test-{entry['testIdx']}" if isinstance(entry.get("testIdx"), int) else f"test-{position}"
        cases.setdefault(case_id, _case(entry, case_id, len(cases), mapping))
        repeat = repeats[case_id] = repeats.get(case_id, -1) + 1
        output = _output(entry, case_id, repeat)
        outputs.append(output)
        results.append(_result(entry, output))
    config = mapping_of(data.get("config"))
    return Imported(
        name=label,
        kind=KIND,
        suite=str(config.get("description") or path.stem),
        cases=tuple(cases.values()),
        outputs=tuple(outputs),
        results=tuple(results),
        notices=tuple(notices),
        digest=digest_of([path]),
    )


def _variables(entry: Mapping[str, Any]) -> Any:
    test = entry.get("testCase")
    return (
        first_of(entry, "vars")
        if entry.get("vars") is not None
        else mapping_of(test).get("vars", {} if test else None)
    )


def _provider(entry: Mapping[str, Any]) -> str:
    provider = entry.get("provider")
    if isinstance(provider, dict):
        return str(provider.get("label") or provider.get("id") or "provider")
    return str(provider or "provider")


def _prompt(entry: Mapping[str, Any]) -> str:
    prompt = entry.get("prompt")
    if isinstance(prompt, dict):
        return str(prompt.get("label") or prompt.get("raw") or "")
    return str(entry.get("promptIdx", ""))


def _case(entry: Mapping[str, Any], case_id: str, order: int, mapping: Mapping[str, Any]) -> Case:
    variables = _variables(entry)
    test = mapping_of(entry.get("testCase"))
    name = mapping.get("query") or next((each for each in QUERY_VARS if each in variables), None)
    prompt = mapping_of(entry.get("prompt"))
    asked = variables.get(name) if name else (prompt.get("raw") or next(iter(variables.values()), ""))
    gold = variables.get(str(mapping.get("expected") or "expected"))
    if gold is None:
        gold = next(
            (
                a.get("value")
                for a in test.get("assert") or []
                if isinstance(a, dict)
                and a.get("type") in GOLD_ASSERTIONS
                and isinstance(a.get("value"), str)
            ),
            None,
        )
    metadata: dict[str, Any] = {"vars": variables}
    if test.get("description"):
        metadata["description"] = test["description"]
    if isinstance(test.get("metadata"), dict):
        metadata["test_metadata"] = test["metadata"]
    return Case(
        id=case_id, query=text_of(asked) or "", order=order, gold_answer=text_of(gold), metadata=metadata
    )


def _output(entry: Mapping[str, Any], case_id: str, repeat: int) -> Output:
    response = mapping_of(entry.get("response"))
    error = text_of(first_of(response, "error")) or (
        text_of(entry.get("error")) if response.get("output") is None else None
    )
    variables = _variables(entry)
    contexts: Any = next((variables[name] for name in CONTEXT_VARS if variables.get(name)), [])
    meta = mapping_of(response.get("metadata"))
    contexts = meta.get("context") or contexts
    graded = mapping_of(entry.get("gradingResult"))
    return Output(
        case_id=case_id,
        repeat=repeat,
        text=text_of(response.get("output")),
        hits=hits_of(contexts if isinstance(contexts, list) else [contexts]),
        abstained=True if response.get("isRefusal") is True else None,
        latency_ms=number_of(first_of(entry, "latencyMs")),
        usage=_usage(entry, response),
        raw={"foreign_scores": _scores(entry, graded), "gradingResult": graded, "id": entry.get("id")},
        failure=Failure(where="system", kind="exception", message=error[:2_000]) if error else None,
    )


def _scores(entry: Mapping[str, Any], graded: Mapping[str, Any]) -> dict[str, float]:
    scores = scores_of({"score": entry.get("score"), **(entry.get("namedScores") or {})})
    for part in graded.get("componentResults") or []:
        if isinstance(part, dict) and (score := number_of(part.get("score"))) is not None:
            assertion = mapping_of(part.get("assertion"))
            name = str(assertion.get("metric") or assertion.get("type") or "assertion")
            number = 2
            while name in scores:
                name, number = f"{name.rsplit(' #', 1)[0]} #{number}", number + 1
            scores[name] = score
    return scores


def _result(entry: Mapping[str, Any], output: Output) -> Result:
    graded = output.raw["gradingResult"]
    parts = [part for part in graded.get("componentResults") or [] if isinstance(part, dict)]
    reasons = [str(part.get("reason")) for part in parts if part.get("pass") is False and part.get("reason")]
    if not reasons and not entry.get("success") and graded.get("reason"):
        reasons = [str(graded["reason"])]
    verdict = (
        Verdict.ERROR if output.failure else Verdict.PASS if entry.get("success") is True else Verdict.FAIL
    )
    if not output.failure and not parts and not graded:
        # Nothing was asserted: promptfoo calls that a success, we say that nothing was checked.
        return Result(
            case_id=output.case_id, repeat=output.repeat, verdict=Verdict.WEAK, reasons=("unchecked",)
        )
    return Result(
        case_id=output.case_id,
        repeat=output.repeat,
        verdict=verdict,
        reasons=tuple(reason[:1_000] for reason in reasons),
        scores=output.raw["foreign_scores"],
        failure=output.failure,
    )


def _usage(entry: Mapping[str, Any], response: Mapping[str, Any]) -> Usage | None:
    tokens = first_of(response, "tokenUsage") or entry.get("tokenUsage")
    cost = (
        number_of(first_of(response, "cost"))
        if response.get("cost") is not None
        else number_of(entry.get("cost"))
    )
    if not isinstance(tokens, dict) and cost is None:
        return None
    tokens = mapping_of(tokens)
    cached = response.get("cached") is True
    return Usage(
        calls=1,
        cached_calls=int(cached),
        input_tokens=int(number_of(tokens.get("prompt")) or 0),
        output_tokens=int(number_of(tokens.get("completion")) or 0),
        cost_usd=cost,
    )
