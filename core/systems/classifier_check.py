"""Does a classifier service keep the contract? Small probes, and for each what is wrong and what to do."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.errors import SystemFailure
from core.records import Case, Output
from core.systems.classifier_api import ClassifierApi
from core.systems.classifier_replies import REMARKS

Outcome = Literal["ok", "advice", "wrong"]
TEXTS = (
    "Construction work for a primary school",
    "Supply of electricity for street lighting",
    "Reinigung von Bürogebäuden",
    "Fourniture de matériel informatique",
)
LONG_CHARACTERS = 20_000
_WRONG = (
    "wrong_id",
    "repeated_code",
    "unknown_code",
    "skipped_candidate",
    "bad_score",
    "confidence_out_of_range",
)
_HINTS = {
    "wrong_id": "give back the id of the request, or none",
    "missing_id": "add the id of the request, so that replies can be told apart in logs",
    "repeated_code": "list each code once, at its best place",
    "unknown_code": "return codes of the code list only",
    "check_digit": "send codes without check digit (it is dropped here)",
    "lost_zero": "send codes as text: numbers lose their leading zero (it is put back here)",
    "skipped_candidate": "each candidate needs a code under 'label', 'code' or 'cpv_code'",
    "missing_score": "without scores there is no margin and nothing to calibrate",
    "bad_score": "scores must be finite numbers",
    "beyond_top_k": "return at most top_k candidates",
    "unsorted": "list candidates best first: their order is what is scored",
    "confidence_out_of_range": "a 'confidence' or 'probability' lies in 0 to 1; call anything else 'score'",
    "empty_list": "an empty list counts as a wrong answer",
}
_TOKEN = "set the variable that --api-auth-token-env names to a valid token"
_BY_STATUS = {
    401: _TOKEN,
    403: _TOKEN,
    404: "is the path of the address right?",
    405: "the address must take POST",
    413: "accept requests of some hundred kilobytes",
    415: "accept content-type application/json",
    422: "accept the fields id, query and top_k",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: `ok`, `advice` (works, could be better) or `wrong`."""

    name: str
    outcome: Outcome
    detail: str
    hint: str = ""


def check_service(api: ClassifierApi, texts: Sequence[str] = TEXTS) -> list[Finding]:
    """Probe a service with a handful of requests. Never raises for what the service does."""
    found: list[Finding] = []
    answered = _answers(api, texts, found)
    if not answered:
        return found
    found += _remarks(answered)
    found += [_depth(api, texts[0]), _repeats(api, texts[0]), _odd_id(api, texts[0])]
    found += [_tolerates(api, "an empty query", ""), _tolerates(api, "a long query", _long(texts[0]))]
    if any(output.confidence is not None for output in answered):
        found.append(
            Finding("confidence", "ok", "the first code carries a confidence: calibration can be measured")
        )
    else:
        hint = "name a score 'confidence' or 'probability' if it is one"
        found.append(
            Finding("confidence", "advice", "no confidence is given: only the order is scored", hint)
        )
    slow = max(output.latency_ms or 0.0 for output in answered)
    found.append(Finding("latency", "ok", f"{len(answered)} replies, slowest {slow:.0f} ms"))
    return found


def _answers(api: ClassifierApi, texts: Sequence[str], found: list[Finding]) -> list[Output]:
    """The replies that can be read; one finding for each kind of failure among the others."""
    answered: list[Output] = []
    failed: dict[str, list[SystemFailure]] = {}
    for place, text in enumerate(texts, 1):
        output = _ask(api, f"check-{place}", text)
        if isinstance(output, SystemFailure):
            failed.setdefault(f"{output.kind} {output.status or ''}", []).append(output)
        else:
            answered.append(output)
    for failures in failed.values():
        first = failures[0]
        said = f"{len(failures)} of {len(texts)} failed: {first.kind}: {first}"
        found.append(Finding("requests", "wrong", said, _advice(first)))
    if not failed:
        found.append(Finding("requests", "ok", f"{len(texts)} of {len(texts)} were answered"))
    if answered and not any(output.hits for output in answered):
        said = "no reply names a code that can be read"
        found.append(Finding("codes", "wrong", said, _HINTS["skipped_candidate"]))
    return answered


def _ask(api: ClassifierApi, case_id: str, text: str) -> Output | SystemFailure:
    try:
        return api.ask(Case(id=case_id, query=text))
    except SystemFailure as failure:
        return failure


def _advice(failure: SystemFailure) -> str:
    if failure.status in _BY_STATUS:
        return _BY_STATUS[failure.status]
    return {
        "malformed": 'answer with {"predictions": [{"label": "45000000", "score": 0.9}]}',
        "timeout": "answer sooner, or give --api-timeout-seconds",
        "transport": "is the service running, and is the address right?",
        "http_status": "look into the log of the service: it failed on a request that keeps the contract",
        "rate_limit": "send retry-after, or allow more requests",
    }.get(failure.kind, "")


def _remarks(answered: Sequence[Output]) -> list[Finding]:
    counts: Counter[str] = Counter()
    for output in answered:
        counts.update(output.signals.get("response_remarks", {}))
    return [
        Finding(
            name.replace("_", " "),
            "wrong" if name in _WRONG else "advice",
            f"{REMARKS[name]} ({count}×)",
            _HINTS.get(name, ""),
        )
        for name, count in sorted(counts.items())
        if name != "beyond_top_k"
    ]


def _depth(api: ClassifierApi, text: str) -> Finding:
    wanted = api.top_k
    output = _ask(api, "check-depth", text)
    if isinstance(output, SystemFailure):
        return Finding("top_k", "wrong", f"{output.kind}: {output}")
    if "beyond_top_k" in output.signals["response_remarks"]:
        return Finding(
            "top_k", "advice", f"more than the {wanted} candidates asked for", _HINTS["beyond_top_k"]
        )
    if len(output.hits) < wanted:
        hint = "longer lists show whether the right code is near"
        return Finding("top_k", "advice", f"{len(output.hits)} of {wanted} candidates returned", hint)
    return Finding("top_k", "ok", f"{wanted} candidates returned")


def _repeats(api: ClassifierApi, text: str) -> Finding:
    first, second = _ask(api, "check-again", text), _ask(api, "check-again", text)
    if isinstance(first, SystemFailure) or isinstance(second, SystemFailure):
        return Finding("repeatable", "wrong", "one of two equal requests failed")
    same = [hit.id for hit in first.hits] == [hit.id for hit in second.hits]
    if same:
        return Finding("repeatable", "ok", "equal requests get equal codes")
    return Finding("repeatable", "advice", "equal requests get different codes", "measure it with --repeats")


def _odd_id(api: ClassifierApi, text: str) -> Finding:
    output = _ask(api, "ß/ü id \u2013 \U0001f600", text)
    if isinstance(output, SystemFailure):
        return Finding("ids of any kind", "wrong", f"{output.kind}: {output}", "treat the id as text")
    if "wrong_id" in output.signals["response_remarks"]:
        return Finding("ids of any kind", "wrong", "the id came back changed", "treat the id as text")
    return Finding("ids of any kind", "ok", "an id with blanks, umlauts and an emoji is accepted")


def _tolerates(api: ClassifierApi, what: str, text: str) -> Finding:
    begun = time.perf_counter()
    output = _ask(api, "check-odd", text)
    if not isinstance(output, SystemFailure):
        return Finding(what, "ok", f"answered with {len(output.hits)} code(s)")
    refused = output.kind == "http_status" and 400 <= (output.status or 0) < 500
    if refused:
        return Finding(what, "ok", f"refused with HTTP {output.status}")
    took = time.perf_counter() - begun
    return Finding(
        what, "wrong", f"{output.kind} after {took:.1f} s: {output}", "answer, or refuse with a 4xx status"
    )


def _long(text: str) -> str:
    return (f"{text}. " * (LONG_CHARACTERS // (len(text) + 2) + 1))[:LONG_CHARACTERS]
