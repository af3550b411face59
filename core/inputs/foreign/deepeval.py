"""DeepEval test runs (`testCases` with `metricsData`, optionally traces) and its datasets of test cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from core.errors import Problem
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
    text_of,
    unique_ids,
)
from core.records import Case, Failure, Message, Output, Result, ToolCall, Usage, Verdict

_EMPTY = ("", "{...}", "null", "None")


def sniff(path: Path) -> bool:
    if path.suffix != ".json" or not path.is_file():
        return False
    return _entries(read_json(path)) is not None


def _entries(data: Any) -> list[Any] | None:
    """The test cases of a run file, of its wrapper, or of a dataset; None where the data is something else."""
    if isinstance(data, dict):
        data = data.get("testRunData", data)
        found = first_of(data, "testCases", "test_cases") if isinstance(data, dict) else None
        return found if isinstance(found, list) else None
    if isinstance(data, list) and data and isinstance(data[0], dict):
        keys = set(data[0])
        return data if "input" in keys and keys & {"actual_output", "actualOutput"} else None
    return None


def load(path: Path, mapping: Mapping[str, Any]) -> list[Imported]:
    """One case a test case, its metrics as `foreign_scores`, its own verdict as the result (metrics that failed
    are the reasons). What the answer lacks is taken from the trace: retrieved texts, tool calls, tokens, time."""
    data = read_json(path)
    problems: list[Problem] = []
    notices: list[str] = []
    entries = [entry for _, entry in objects(path, _entries(data) or [], "testCases", problems)]
    for index, entry in enumerate(entries):
        if text_of(entry.get("input")) is None:
            problems.append(Problem(f"testCases[{index}]", "input is missing"))
    raise_problems(path, problems)
    inner = data.get("testRunData", data) if isinstance(data, dict) else {}
    talks = [t for t in inner.get("conversationalTestCases") or [] if isinstance(t, dict) and t.get("turns")]
    names = [str(entry.get("name") or f"test_case_{n}") for n, entry in enumerate([*entries, *talks], 1)]
    cases, outputs, results = [], [], []
    for order, (entry, case_id) in enumerate(zip([*entries, *talks], unique_ids(names), strict=True)):
        case = _conversation(entry, case_id, order) if "turns" in entry else _case(entry, case_id, order)
        cases.append(case)
        output = _output(entry, case_id)
        outputs.append(output)
        if (result := _result(entry, output)) is not None:
            results.append(result)
    if results and len(results) < len(cases):
        notices.append(f"{len(cases) - len(results)} test cases have no verdict of their own")
    return [
        Imported(
            name=path.stem,
            kind=KIND,
            suite=str(inner.get("datasetAlias") or path.stem),
            cases=tuple(cases),
            outputs=tuple(outputs),
            results=tuple(results) if results else None,
            notices=tuple(notices),
            digest=digest_of([path]),
        )
    ]


def _case(entry: Mapping[str, Any], case_id: str, order: int) -> Case:
    context = first_of(entry, "context")
    metadata = {"context": context} if isinstance(context, list) else {}
    return Case(
        id=case_id,
        query=text_of(entry.get("input")) or "",
        order=order,
        gold_answer=text_of(first_of(entry, "expectedOutput", "expected_output")),
        metadata=metadata,
    )


def _conversation(entry: Mapping[str, Any], case_id: str, order: int) -> Case:
    turns = [turn for turn in entry["turns"] if isinstance(turn, dict)]
    asked = max((n for n, turn in enumerate(turns) if turn.get("role") == "user"), default=0)
    before = tuple(
        Message(
            role="assistant" if turn.get("role") == "assistant" else "user",
            content=text_of(turn.get("content")) or "",
        )
        for turn in turns[:asked]
    )
    query = text_of(turns[asked].get("content")) if turns else ""
    gold = text_of(first_of(entry, "expectedOutcome", "expected_outcome"))
    return Case(id=case_id, query=query or "", order=order, gold_answer=gold, conversation=before)


def _output(entry: Mapping[str, Any], case_id: str) -> Output:
    trace = mapping_of(entry.get("trace"))
    metrics = [m for m in first_of(entry, "metricsData", "metrics_data") or [] if isinstance(m, dict)]
    text = text_of(first_of(entry, "actualOutput", "actual_output"))
    if "turns" in entry:
        said = [t for t in entry["turns"] if isinstance(t, dict) and t.get("role") == "assistant"]
        text = text_of(said[-1].get("content")) if said else None
    if text is None or text.strip() in _EMPTY:
        text = _answer(trace.get("output")) or text
    contexts = first_of(entry, "retrievalContext", "retrieval_context") or _retrieved(trace)
    seconds = number_of(entry.get("runDuration"))
    errors = [str(span["error"]) for span in _spans(trace) if span.get("error")]
    failed = trace.get("status") == "ERRORED" and not text
    return Output(
        case_id=case_id,
        text=text,
        hits=hits_of(contexts if isinstance(contexts, list) else []),
        tool_calls=_tools(entry, trace),
        usage=_usage(trace),
        latency_ms=seconds * 1000 if seconds is not None else _duration(trace),
        raw={
            "foreign_scores": {str(m.get("name")): number_of(m.get("score")) for m in metrics},
            "foreign_metrics": metrics,
            "trace": trace,
        },
        failure=Failure(
            where="system", kind="exception", message="; ".join(errors) or "the trace ended in an error"
        )
        if failed
        else None,
        asked_at=str(trace.get("startTime") or ""),
    )


def _result(entry: Mapping[str, Any], output: Output) -> Result | None:
    success = entry.get("success")
    if not isinstance(success, bool):
        return None
    metrics = output.raw["foreign_metrics"]
    failed = tuple(
        f"{m.get('name')}: {m.get('reason') or 'failed'}"[:1_000]
        for m in metrics
        if m.get("success") is False
    )
    verdict = Verdict.ERROR if output.failure else Verdict.PASS if success else Verdict.FAIL
    return Result(
        case_id=output.case_id,
        verdict=verdict,
        reasons=failed,
        scores=output.raw["foreign_scores"],
        failure=output.failure,
    )


def _spans(trace: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key, values in trace.items():
        if key.endswith("Spans") and isinstance(values, list):
            yield from (span for span in values if isinstance(span, dict))


def _answer(value: Any) -> str | None:
    if isinstance(value, dict):
        found = first_of(value, "answer", "output", "response", "text", "content")
        return text_of(found if found is not None else value)
    return text_of(value)


def _retrieved(trace: Mapping[str, Any]) -> list[Any]:
    for span in _spans(trace):
        if span.get("type") == "retriever":
            output = span.get("output")
            if isinstance(output, list) and output:
                return output
            return list(span.get("retrievalContext") or [])
    return []


def _tools(entry: Mapping[str, Any], trace: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    given = first_of(entry, "toolsCalled", "tools_called")
    calls = (
        given if isinstance(given, list) else [span for span in _spans(trace) if span.get("type") == "tool"]
    )
    found = []
    for call in calls:
        if isinstance(call, dict):
            args = first_of(call, "inputParameters", "input_parameters", "input")
            found.append(
                ToolCall(
                    name=str(call.get("name") or ""),
                    args=args if isinstance(args, dict) else {"input": args} if args is not None else {},
                    result=call.get("output"),
                    latency_ms=_duration(call),
                    error=text_of(call.get("error")),
                )
            )
    return tuple(found)


def _usage(trace: Mapping[str, Any]) -> Usage | None:
    spans = [span for span in _spans(trace) if span.get("type") == "llm"]
    if not spans:
        return None
    costs = [_cost(span) for span in spans]
    return Usage(
        calls=len(spans),
        input_tokens=sum(int(number_of(span.get("inputTokenCount")) or 0) for span in spans),
        output_tokens=sum(int(number_of(span.get("outputTokenCount")) or 0) for span in spans),
        cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
        models=tuple(sorted({str(span["model"]) for span in spans if span.get("model")})),
    )


def _cost(span: Mapping[str, Any]) -> float | None:
    """Dollars of one call; None where its tokens have no price."""
    total = 0.0
    for tokens, price in (
        ("inputTokenCount", "costPerInputToken"),
        ("outputTokenCount", "costPerOutputToken"),
    ):
        count, each = number_of(span.get(tokens)) or 0.0, number_of(span.get(price))
        if count and each is None:
            return None
        total += count * (each or 0.0)
    return total


def _duration(span: Mapping[str, Any]) -> float | None:
    try:
        begun, ended = (
            datetime.fromisoformat(str(span[key]).replace("Z", "+00:00")) for key in ("startTime", "endTime")
        )
        return (ended - begun).total_seconds() * 1000
    except (KeyError, ValueError, TypeError):
        return None
