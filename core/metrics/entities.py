"""Names in a text, without a model: runs of capitalised words, acronyms, quoted titles. German and English.

In German every noun has a capital, so that only runs of two capitalised words, acronyms and words with inner
capitals count there.
"""

from __future__ import annotations

import re
from functools import lru_cache

from core.contracts import metric
from core.metrics.quantities import slots
from core.text import fold, sentence_spans, stop_words

_RUN = re.compile(
    r"[^\W\d_a-zäöüß][\w'’&-]*(?:\s+(?:of\s+the\s+|of\s+|von\s+|van\s+|de\s+)?[^\W\d_a-zäöüß][\w'’&-]*)*"
)
_ACRONYM = re.compile(r"\b(?:[A-ZÄÖÜ]{2,}[a-z]?\w*|[A-ZÄÖÜ]?[a-zäöü]+[A-ZÄÖÜ]\w+)\b")
_GENERAL = frozenset("lp ects sws ii iii iv vi no yes ja nein".split())


@lru_cache(maxsize=4_096)
def names(text: str, language: str) -> frozenset[str]:
    """Names of a text, folded. The first word of a sentence counts only inside a run or as an acronym."""
    found = {fold(match.group()) for match in _ACRONYM.finditer(text)}
    starts = {start + _lead(text[start:end]) for start, end in sentence_spans(text)}
    stops = stop_words(language)
    for match in _RUN.finditer(text):
        parts = [part for part in match.group().split() if part]
        first = match.start() in starts
        while parts and parts[0].casefold() in stops:
            parts, first = parts[1:], False
        enough = len(parts) >= 2 if first or language == "de" else len(parts) >= 1
        if parts and enough:
            found.add(fold(" ".join(parts)).removesuffix("'s").removesuffix("’s"))
    return frozenset(name for name in found if len(name) > 1 and name not in _GENERAL and name not in stops)


def _lead(sentence: str) -> int:
    match = re.match(r"[\W_]*", sentence)
    return match.end() if match else 0


@lru_cache(maxsize=4_096)
def entities(text: str, language: str) -> frozenset[str]:
    """Names, numbers with units, dates, references and codes of a text, in comparable form."""
    return names(text, language) | _values(text, language)


@lru_cache(maxsize=4_096)
def _values(text: str, language: str) -> frozenset[str]:
    return frozenset(
        f"{slot.value:g} {slot.unit}".strip() if slot.value is not None else slot.key
        for slot in slots(text, language)
        if not slot.weak
    )


@lru_cache(maxsize=2_048)
def _folded(passage: str) -> str:
    return fold(passage)


def _present(wanted: frozenset[str], text: str, language: str) -> frozenset[str]:
    """Those of the entities that a text has: names as substrings of the folded text, values as values."""
    values, folded = _values(text, language), _folded(text)
    return frozenset(each for each in wanted if each in values or (not each[0].isdigit() and each in folded))


@metric(
    name="context_entities_recall",
    title="Context entity recall",
    family="claims",
    formula="entities of the gold answer found in the context / entities of the gold answer",
    inputs="gold answer, retrieved chunks",
    empty="None when the gold names no entity, or without context",
    source="RAGAS context entities recall, by rules instead of a model",
    version="2",
)
def context_entities_recall(gold: str, passages: tuple[str, ...], language: str = "en") -> float | None:
    """Share of the gold's entities that stand in some passage; None without entities or passages.

    >>> context_entities_recall("In 1889", ("Built in 1889.",))
    1.0
    """
    wanted = entities(gold, language)
    if not wanted or not passages:
        return None
    found: frozenset[str] = frozenset()
    for text in passages:
        found |= _present(wanted - found, text, language)
    return len(found) / len(wanted)


@metric(
    name="answer_entity_precision",
    title="Answer entity precision",
    family="answer",
    formula="entities of the answer that the gold answer has / entities of the answer",
    inputs="answer, gold answer",
    empty="None when the answer names no entity",
    source="published name",
    version="2",
)
def answer_entity_precision(answer: str, gold: str, language: str = "en") -> float | None:
    """Share of the answer's entities that the gold knows; None without entities.

    >>> answer_entity_precision("Built in 1890.", "In 1889")
    0.0
    """
    wanted = entities(answer, language)
    return len(_present(wanted, gold, language)) / len(wanted) if wanted else None
