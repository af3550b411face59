"""What a question asks for, as weighted terms, and how much of it a text holds. No gold, no model, no retriever."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from core.metrics.spans import IdentityCache
from core.text import content_words, language, stem, stem_set, word_set, words

_COMPOUND = 5  # letters from which a stem inside a longer word counts ("prüfung" in "modulprüfung")
_PARTIAL = 0.7  # what such a match is worth
_ASKING = """wie viel viele welche welcher welches welchem welchen wann wer wo warum wieso wieviel wieviele worin
wodurch womit gilt gelten laut nach gemäß how many much which what when who where why does according"""
_QUESTION_WORDS = frozenset(_ASKING.split())
_CUES = (
    (
        "number",
        r"\bwie\s*viele?n?\b|\bwie hoch\b|\bhow (?:many|much|high)\b|\bhöchstens\b|\bmindestens\b|\banzahl\b",
    ),
    (
        "duration",
        r"\bwie lange?\b|\bhow long\b|\bdauer|\bfrist|\bdeadline\b|\bbis wann\b|\bwithin\b|\bzeitraum\b",
    ),
    ("time", r"\bwann\b|\bwhen\b|\bdatum\b|\bdate\b|\bseit\b"),
    ("person", r"\bwer\b|\bwem\b|\bwen\b|\bwho(?:m|se)?\b"),
)


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """Stems of a question's content words with their weights (idf, or 1 each), which sum to 1 where there are
    any. `numbers` are the numbers it names; `cues` what kind of answer it wants (number, duration, time, person).
    """

    language: str
    weights: Mapping[str, float]
    numbers: frozenset[str]
    cues: frozenset[str]

    def matches(self, text: str) -> Mapping[str, float]:
        """How well each term is met in a text: 1 for its stem, less for a part of a compound; absent terms are
        left out. Not to be changed: it is kept for the next time."""
        return _matches(tuple(self.weights), text, self.language)

    def coverage(self, text: str) -> float:
        """Weighted share of the question's terms that a text holds, in [0, 1]; 0 for a question without any."""
        return sum(self.weights[term] * share for term, share in self.matches(text).items())


@lru_cache(maxsize=65_536)
def _matches(terms: tuple[str, ...], text: str, asked_in: str) -> dict[str, float]:
    # configurations of a sweep show the same passages for the same question again and again
    found: dict[str, float] = {}
    stems, joined = _stems_of(text, asked_in)
    for term in terms:
        if term in stems:
            found[term] = 1.0
        elif (
            len(term) >= _COMPOUND
            and term.isalpha()
            and (term in joined or not _tails(term).isdisjoint(stems))
        ):
            found[term] = _PARTIAL
    return found


@lru_cache(maxsize=16_384)
def _tails(term: str) -> frozenset[str]:
    """Ends of a compound that may stand alone."""
    return frozenset(term[i:] for i in range(2, len(term) - _COMPOUND + 1))


@lru_cache(maxsize=32_768)
def _stems_of(text: str, asked_in: str) -> tuple[frozenset[str], str]:
    spoken = language(text)
    found = stem_set(word_set(text), spoken if spoken != "other" else asked_in)
    return found, " ".join(sorted(found))


_READERS: IdentityCache[Callable[[str], QuestionTerms]] = IdentityCache(8)


def question_terms(question: str, idf: Mapping[str, float] | None = None) -> QuestionTerms:
    """Read a question. `idf` maps words of the corpus to weights (it is not to change afterwards); a word that is
    not in it weighs as much as the rarest that is."""
    return _READERS.get(idf, lambda: _reader(idf))(question)


def _reader(idf: Mapping[str, float] | None) -> Callable[[str], QuestionTerms]:
    rarest = max(idf.values(), default=1.0) if idf else 1.0
    return lru_cache(maxsize=4_096)(lambda question: _read(question, idf, rarest))


def _read(question: str, idf: Mapping[str, float] | None, rarest: float) -> QuestionTerms:
    spoken = language(question)
    raw: dict[str, float] = {}
    for word in content_words(question, spoken):
        if word in _QUESTION_WORDS:
            continue
        term = stem(word, spoken)
        weight = idf.get(word, rarest) if idf else 1.0
        raw[term] = max(raw.get(term, 0.0), weight)
    total = sum(raw.values())
    weights = {term: weight / total for term, weight in raw.items()} if total else {}
    folded = question.casefold()
    return QuestionTerms(
        language=spoken,
        weights=weights,
        numbers=frozenset(word for word in words(question) if word[:1].isdigit()),
        cues=frozenset(name for name, pattern in _CUES if re.search(pattern, folded)),
    )
