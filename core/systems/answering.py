"""How an answer is written from the passages found. LLM answers come in through the same contract (`Answerer`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import Field

from core.contracts import ANSWERERS, Draft
from core.metrics.quantities import slots
from core.metrics.question_terms import QuestionTerms, question_terms
from core.records import Case, Hit
from core.registry import Component
from core.text import language, sentence_spans, words

ABSTENTION = {
    "de": "Die gefundenen Textstellen reichen nicht aus, um diese Frage zu beantworten.",
    "en": "There is not enough evidence in the documents found to answer this question.",
}
LONGEST_SENTENCE = 600
_SPACE = re.compile(r"\s+")
_LEAD = re.compile(r"^(?:\(\d{1,2}[a-z]?\)|\d{1,2}[.)]|[a-z]\)|[-–•▪*])\s+")
RANK_DISCOUNT = 0.04
HEADING_SHARE = 0.5
_NAME = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the context: its text with white space folded, the hit it stands in, its place there."""

    text: str
    hit: int
    place: int


@ANSWERERS.register("extractive")
class Extractive(Component):
    """The best supported sentences of the context, word for word, each with the citation of its passage."""

    answer_sentences: int = Field(2, ge=1, le=10, description="sentences at most")

    def answer(self, case: Case, context: Sequence[Hit], idf: Mapping[str, float] | None = None) -> Draft:
        """Pick sentences by what they hold of the question (weighted by `idf` where it is given), by the kind of
        value it asks for, and by the rank of their passage; a further sentence must add something. `[n]` is the
        place of the passage in the context, from 1. An empty context gives an empty text."""
        terms = question_terms(case.query, idf)
        chosen = self.select(terms, context)
        if not chosen:
            return Draft(text="", mode="extractive")
        text = " ".join(f"{sentence.text} [{sentence.hit + 1}]" for sentence in chosen)
        cited = tuple(dict.fromkeys(context[sentence.hit].id for sentence in chosen))
        return Draft(text=text, cited_ids=cited, mode="extractive")

    def select(self, terms: QuestionTerms, context: Sequence[Hit]) -> list[Sentence]:
        """The sentences of the answer in the order they are given: best first, neighbours in text order."""
        pool = [sentence for i, hit in enumerate(context) for sentence in split(hit, i)]
        around = [_lent(terms, hit) for hit in context]
        scored = [(_score(terms, sentence, around[sentence.hit]), sentence) for sentence in pool]
        ranked = sorted(scored, key=lambda each: (-each[0], each[1].hit, each[1].place))
        chosen: list[Sentence] = []
        held: dict[str, float] = {}
        for score, sentence in ranked:
            if len(chosen) == self.answer_sentences:
                break
            if score <= 0 or any(_repeats(sentence.text, other.text) for other in chosen):
                continue
            if chosen and score < 0.6 * ranked[0][0]:
                break
            chosen.append(sentence)
            held |= terms.matches(sentence.text)
        return sorted(chosen, key=lambda s: (s.hit != chosen[0].hit, s.hit, s.place))


def _score(terms: QuestionTerms, sentence: Sentence, lent: dict[str, float]) -> float:
    """What a sentence holds of the question, what its document and heading lend it, the kind of value asked for,
    its length and the rank of its passage. 0 where the sentence itself adds nothing to document and heading."""
    own = terms.matches(sentence.text)
    held = {term: max(own.get(term, 0.0), lent.get(term, 0.0)) for term in {**own, **lent}}
    added = sum(terms.weights[term] * share for term, share in own.items() if lent.get(term, 0.0) < share)
    if not added:
        return 0.0
    score = sum(terms.weights[term] * share for term, share in held.items())
    if terms.cues & {"number", "duration", "time"}:
        values = slots(sentence.text)
        score *= (
            1.25 if any(slot.kind in ("number", "date", "time") and not slot.weak for slot in values) else 0.8
        )
    length = len(words(sentence.text))
    if length < 4:
        score *= 0.4
    elif length > 60:
        score *= 60 / length
    return score / (1 + RANK_DISCOUNT * sentence.hit)


def _lent(terms: QuestionTerms, hit: Hit) -> dict[str, float]:
    """Question terms that every sentence of a passage may count as met: those of the document's name, and half
    of those of the heading. So the title page, which holds the same words, gains nothing by them."""
    lent = {
        term: HEADING_SHARE * share for term, share in terms.matches(f"{hit.section_id} {hit.title}").items()
    }
    named = terms.matches(_NAME.sub(" ", hit.doc_path))
    return lent | {term: max(share, lent.get(term, 0.0)) for term, share in named.items()}


def split(hit: Hit, position: int) -> list[Sentence]:
    """The sentences of a passage without the heading it begins with; runs without a full stop (tables) are cut
    at line ends."""
    pieces = _pieces(hit.text, hit.section_id, hit.title)
    return [Sentence(text, position, place) for place, text in enumerate(pieces)]


@lru_cache(maxsize=4_096)  # the configurations of a sweep show the same passages again and again
def _pieces(passage: str, section_id: str, title: str) -> tuple[str, ...]:
    found: list[str] = []
    body = passage[_heading_end(passage, section_id, title) :]
    for start, end in sentence_spans(body):
        raw = body[start:end]
        pieces = raw.split("\n") if end - start > LONGEST_SENTENCE else [raw]
        texts = (_LEAD.sub("", _SPACE.sub(" ", piece).strip()) for piece in pieces)
        found += [text for text in texts if text]
    return tuple(found)


def abstention_text(question: str) -> str:
    """What is said instead of an answer, in German to a German question, else in English."""
    return ABSTENTION["de" if language(question) == "de" else "en"]


def _heading_end(passage: str, section_id: str, title: str) -> int:
    """Where the passage's heading ends, if it begins with it; 0 otherwise, and where it is nothing else."""
    heading = [re.escape(part) for part in f"{section_id} {title}".split()]
    match = re.match(r"\s*" + r"\s+".join(heading) + r"(?=\s)\s*", passage) if heading else None
    return match.end() if match and match.end() < len(passage) else 0


def _repeats(a: str, b: str) -> bool:
    """Whether two sentences say the same in nearly the same words (versions of one statute)."""
    first, second = set(words(a)), set(words(b))
    return len(first & second) >= 0.85 * min(len(first), len(second))
