"""The type of a question where its author gave none: used to group results, never to score them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

TAXONOMY_KEYS = ("cpv_code", "expected_cpv", "classification_type")
TYPE_KEYS = ("question_type", "task_type", "query_type")

_SUMMARY = re.compile(
    r"\b(?:summar\w+|overview|overall|across|zusammenfass\w*|zusammenzufassen|überblick\w*|übersicht\w*|insgesamt"
    r"|übergreifend\w*)\b|\bfass\w* .*\bzusammen\b",
    re.IGNORECASE,
)
_RELATION = re.compile(
    r"\b(?:requir\w+|deadline\w*|depend\w*|prerequisite\w*|condition\w*|eligib\w+|\w*voraussetz\w*|vorausgesetzt"
    r"|\w*fristen|\w*frist|abhäng\w*|abhängt|erforder\w*|bedingung\w*)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r" and | und |\b(?:both|several|compar\w+|beide\w*|mehrere\w*|vergleich\w*)\b", re.IGNORECASE
)


def question_type(question: str, given: Mapping[str, Any]) -> str:
    """The explicit type, else the first that applies (reference-behaviour §4.1): taxonomy where a code is
    expected, summary_global, relation, multi_hop, single_hop. `given` is the question as its file has it."""
    for key in TYPE_KEYS:
        value = given.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip().lower()
    if any(given.get(key) for key in TAXONOMY_KEYS):
        return "taxonomy"
    if _SUMMARY.search(question):
        return "summary_global"
    if _RELATION.search(question):
        return "relation"
    triples = given.get("must_have_triples")
    if (isinstance(triples, list) and len(triples) >= 2) or _SEVERAL.search(question):
        return "multi_hop"
    return "single_hop"
