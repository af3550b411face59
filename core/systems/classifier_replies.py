"""Replies of classifier services → hits: every published spelling, and a count of everything that is not as it
should be. Scores that are missing stay missing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from core.errors import SystemFailure
from core.records import Hit

LISTS = ("predictions", "top_k_answers")
CODES = (
    "label", "cpv_code", "cpv", "answer", "candidate", "prediction", "predicted", "predicted_answer", "predicted_cpv",
    "id", "code",
)  # fmt: skip
SCORES = (
    "score", "confidence", "probability", "retrieval_score", "vector_score", "rrf_score", "reranker_score", "final_score",
)  # fmt: skip
PROBABILITIES = ("confidence", "probability")
TITLES = ("title", "name", "description")
# what can be wrong with a reply without making it unusable
REMARKS = {
    "wrong_id": "the reply carries another id than the request",
    "missing_id": "the reply carries no id",
    "empty_list": "the list of predictions is empty",
    "repeated_code": "a code stands in the list more than once",
    "unknown_code": "a code is not in the code list",
    "check_digit": "a code carries its check digit",
    "lost_zero": "a code has lost its leading zero (sent as a number)",
    "skipped_candidate": "a candidate is no object or has no code",
    "missing_score": "a candidate has no score",
    "bad_score": "a score is not a finite number",
    "beyond_top_k": "more candidates than asked for",
    "unsorted": "candidates are not in the order of their scores",
    "confidence_out_of_range": "a confidence or probability lies outside of 0 to 1",
}


@dataclass(slots=True)
class Reading:
    """A reply as read. `confidence` is that of the first candidate where the service calls its scores a confidence
    or probability, else None. `remarks` counts what was not as it should be, by the names of `REMARKS`."""

    hits: tuple[Hit, ...]
    confidence: float | None
    explanation: str
    repeated: tuple[str, ...]
    remarks: Counter[str] = field(default_factory=Counter)


def read_reply(
    body: Any,
    *,
    case_id: str,
    top_k: int,
    normalise: Callable[[Any], str],
    known: Collection[str] | None = None,
) -> Reading:
    """Read one reply. SystemFailure("malformed") for what is no object with a list of predictions.

    The list belongs to the question that was asked, whatever id the reply carries.
    """
    if not isinstance(body, Mapping):
        raise SystemFailure(f"the reply must be a JSON object, not {type(body).__name__}", "malformed")
    given = next((body[key] for key in LISTS if key in body), None)
    if not isinstance(given, list):
        keys = ", ".join(map(str, body)) or "none"
        raise SystemFailure(f"the reply has no list '{LISTS[0]}' (keys: {keys[:200]})", "malformed")
    remarks: Counter[str] = Counter()
    _remark_id(body, case_id, remarks)
    if not given:
        remarks["empty_list"] += 1
    found: dict[str, Hit] = {}
    repeated: list[str] = []
    confidence: float | None = None
    for candidate in given:
        code = _code(candidate, normalise, known, remarks)
        if not code:
            remarks["skipped_candidate"] += 1
            continue
        if code in found:
            remarks["repeated_code"] += 1
            repeated.append(code)
            continue
        if len(found) == top_k:
            remarks["beyond_top_k"] += 1
            break
        name, score = _score(candidate, remarks)
        if not found and name in PROBABILITIES and score is not None and 0 <= score <= 1:
            confidence = score
        found[code] = Hit(
            id=code,
            rank=len(found) + 1,
            score=score,
            title=_first_text(candidate, TITLES, code),
            source="api",
        )
    scores = [hit.score for hit in found.values() if hit.score is not None]
    remarks["unsorted"] += any(a < b for a, b in pairwise(scores))
    return Reading(
        tuple(found.values()),
        confidence,
        str(body.get("explanation") or ""),
        tuple(repeated),
        +remarks,
    )


def _remark_id(body: Mapping[str, Any], case_id: str, remarks: Counter[str]) -> None:
    if "id" not in body:
        remarks["missing_id"] += 1
    elif str(body["id"]) != case_id:
        remarks["wrong_id"] += 1


def _code(
    candidate: Any, normalise: Callable[[Any], str], known: Collection[str] | None, remarks: Counter[str]
) -> str:
    raw = candidate
    if isinstance(candidate, Mapping):
        raw = next((candidate[key] for key in CODES if candidate.get(key) not in (None, "")), None)
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        return ""
    code = normalise(raw)
    text = str(raw).strip()
    if code != text:
        remarks["check_digit" if len(text) > len(code) and "-" in text else "lost_zero"] += 1
    if known is not None and code and code not in known:
        remarks["unknown_code"] += 1
    return code


def _score(candidate: Any, remarks: Counter[str]) -> tuple[str, float | None]:
    """(name of the key, score); None where the service gave none."""
    if isinstance(candidate, Mapping):
        for name in SCORES:
            value = candidate.get(name)
            if value is None:
                continue
            try:
                number = float(value)
            except (TypeError, ValueError):
                number = math.nan
            if not math.isfinite(number):
                remarks["bad_score"] += 1
                return name, None
            remarks["confidence_out_of_range"] += name in PROBABILITIES and not 0 <= number <= 1
            return name, number
    remarks["missing_score"] += 1
    return "", None


def _first_text(candidate: Any, keys: tuple[str, ...], code: str) -> str:
    if not isinstance(candidate, Mapping):
        return ""
    return next(
        (str(candidate[key]) for key in keys if candidate.get(key) and str(candidate[key]) != code), ""
    )
