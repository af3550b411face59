"""Does a response decline to answer? By its speech act, not by a phrase anywhere: who says that what is missing.

A response refuses when its speaker says that the question is not answered, or that the speaker or the sources
have nothing on it, and says nothing else of substance. "You cannot exceed 80 credits", quoted refusals,
conditions and other people's inability are not refusals; half an answer with a gap is an answer.

Measured with Wilson bounds (`python -m tests.benchmarks refusal`; a test holds these figures):
held back (113 responses, German and English): precision 0.981 [0.902, 0.997], recall 0.981 [0.902, 0.997];
graded answers (120): precision 1.000 [0.816, 1.000], recall 1.000 [0.816, 1.000].
The list was written by one person; responses of another style will fare worse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from core.metrics import refusal_patterns as patterns
from core.metrics.quantities import slots
from core.text import content_words, sentence_spans
from core.text import language as language_of

_SUPPORTED = ("de", "en")
_CLAUSE = re.compile(
    r";|:(?=\s)|\s[–—]\s|,\s+(?=(?:but|aber|so|daher|deshalb|sonst|jedenfalls|because|weil)\b)", re.I
)
_SUBSTANCE = 3  # content words from which a clause that is no talk about sources says something
_LONGEST = 400  # characters of a clause that are looked at: what declines says so sooner
_APOSTROPHES = str.maketrans("’‘ʼ", "'''")


@dataclass(frozen=True, slots=True)
class Refusal:
    """`span` is the clause that refuses (None where nothing does). `language` is "de", "en" or "other";
    `reliable` is False for other languages, whose few patterns miss much: say so wherever it shows."""

    refused: bool
    span: tuple[int, int] | None
    language: str
    reliable: bool = True


@cache
def _compiled(strength: str, language: str) -> tuple[re.Pattern[str], ...]:
    table = patterns.STRONG if strength == "strong" else patterns.LACKING
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in table[language])


@lru_cache(maxsize=8_192)
def is_refusal(text: str, language: str | None = None) -> Refusal:
    """Whether a response declines to answer. An empty text is no speech act: not refused.

    `language` ("de", "en", other ISO codes) is detected where it is not given.
    """
    spoken = language or language_of(text)
    reliable = spoken in _SUPPORTED
    shown = spoken if reliable else "other"
    plain = text.translate(_APOSTROPHES)
    if any(map(plain.__contains__, '„“«"')):
        plain = patterns.ASIDE.sub(lambda match: " " * len(match.group()), plain)
    if patterns.TERSE.match(plain):
        return Refusal(True, (0, len(text)), shown, reliable or language_of(text) == "other")
    if not patterns.hinted(plain):
        return Refusal(False, None, shown, reliable)
    tongues = ("de", "en") if reliable else ("de", "en", "fr", "es")
    refusing: tuple[int, int] | None = None
    strong = substance = False
    for start, end in _clauses(plain):
        kind = _clause_kind(plain[start:end], tongues)
        if kind in ("strong", "lacking"):
            refusing = refusing or (start, end)
            strong = strong or kind == "strong"
        elif kind == "substance":
            substance = True
        elif kind == "figures":
            return Refusal(False, None, shown, reliable)
    refused = refusing is not None and (strong or not substance)
    return Refusal(refused, refusing if refused else None, shown, reliable)


def _clauses(text: str) -> list[tuple[int, int]]:
    spans = []
    for start, end in sentence_spans(text):
        at = start
        for match in _CLAUSE.finditer(text, start, end):
            spans.append((at, match.start()))
            at = match.end()
        spans.append((at, end))
    return [span for span in spans if text[slice(*span)].strip()]


def _clause_kind(clause: str, tongues: tuple[str, ...]) -> str:
    """strong | lacking | figures (an answer with numbers) | substance | talk."""
    clause = clause[:_LONGEST]
    if not patterns.CONDITION.match(clause) or patterns.SPEAKER.match(clause):
        for strength in ("strong", "lacking"):
            for tongue in tongues:
                if any(pattern.search(clause) for pattern in _compiled(strength, tongue)):
                    return strength
    if patterns.META.search(clause):
        return "talk"
    spoken = language_of(clause)
    if any(not slot.weak for slot in slots(clause, spoken)):
        return "figures"
    words = content_words(clause, spoken)
    return "substance" if len(words) >= _SUBSTANCE else "talk"
