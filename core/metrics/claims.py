"""Claims of an answer and of its gold, and the table that holds each against gold, answer and every chunk.

Every published claim, grounding and evidence-attribution metric (`core.metrics.claim_metrics`) is a count over
this one table, so that none can contradict another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from core.metrics.answers import compare
from core.metrics.overlap import answer_proxy
from core.metrics.polarity import stance
from core.metrics.quantities import slots
from core.metrics.support import SCORER, Label, Support, support
from core.records import Claim
from core.text import blank, content_words, fold, language, sentence_spans

COMPARER = "slots-1"
_BULLET = re.compile(r"^[\s\-*•–—·▪◦‣]+(?=\S)|^\(?\d{1,2}[.)]\s+(?=\D)")
_MARKER = re.compile(r"\s*(?:\[[^\[\]\n]{1,60}\]|【[^】\n]{1,40}】)")
_RUN = 4  # words on either side that make a marker the end of a statement without a full stop
_BARE = re.compile(
    r"^\W*(?:ja|nein|yes|no|doch|richtig|falsch|true|false|correct|incorrect)\W*$", re.IGNORECASE
)


@cache
def _runs_of(marker: re.Pattern[str]) -> re.Pattern[str]:
    return re.compile(rf"(?:\s*(?:{marker.pattern}))+", marker.flags)


@lru_cache(maxsize=8_192)
def statement_spans(text: str, marker: re.Pattern[str] = _MARKER) -> tuple[tuple[int, int], ...]:
    """Character ranges of the statements of an answer: its sentences, where a citation marker behind the full
    stop belongs to the sentence before it, and a marker between two runs of several words ends the first."""
    spans: list[tuple[int, int]] = []
    run = _runs_of(marker)
    for start, end in sentence_spans(text):
        leading = run.match(text, start, end)
        if leading and spans:
            spans[-1] = (spans[-1][0], leading.end())
            start = leading.end()
        at = start
        for match in run.finditer(text, start, end):
            before, after = text[at : match.start()].split(), text[match.end() : end].split()
            if min(len(before), len(after)) >= _RUN and not after[0][0].islower():
                spans.append((at, match.end()))
                at = match.end()
        if text[at:end].strip():
            spans.append((at, end))
    return tuple(spans)


@lru_cache(maxsize=8_192)
def split_claims(text: str) -> tuple[str, ...]:
    """The claims of a text: sentences, list items and parts between semicolons, without citation markers,
    each once, in order. Short ones stay ("6 Semester", "B2", "Ja."); a bare yes or no joins what follows it.

    >>> split_claims("Ja. Die Frist beträgt 3 Monate [1]; danach ist Schluss.")
    ('Ja. Die Frist beträgt 3 Monate', 'danach ist Schluss.')
    """
    pieces: list[str] = []
    for start, end in statement_spans(text):
        for line in re.split(r";|\n", text[start:end]):
            piece = _BULLET.sub("", _MARKER.sub("", line)).strip()
            if any(character.isalnum() for character in piece):
                pieces.append(piece)
    joined: list[str] = []
    for piece in pieces:
        if joined and _BARE.match(joined[-1]):
            joined[-1] = f"{joined[-1]} {piece}"
        else:
            joined.append(piece)
    return tuple({fold(piece): piece for piece in joined}.values())


def checkable(claim: str) -> bool:
    """Whether a claim can be held against a passage: a bare yes or no cannot."""
    return not _BARE.match(claim) and bool(content_words(claim, language(claim)) or slots(claim))


@dataclass(frozen=True, slots=True)
class ClaimTable:
    """Labels of all relations of one case.

    `gold` and `answer` are the claims; `gold_in_answer[i]`, `answer_in_gold[j]` are labels (empty tuples where
    the other side is missing); `gold_in_chunks[i][c]`, `answer_in_chunks[j][c]` are Supports by chunk in the
    order of `chunk_ids`, None for claims that cannot be held against a passage. `cross_language` says that the
    chunks are in another language, where this scorer cannot speak.
    """

    gold: tuple[str, ...]
    answer: tuple[str, ...]
    chunk_ids: tuple[str, ...]
    gold_in_answer: tuple[Label, ...] = ()
    answer_in_gold: tuple[Label, ...] = ()
    gold_in_chunks: tuple[tuple[Support, ...] | None, ...] = ()
    answer_in_chunks: tuple[tuple[Support, ...] | None, ...] = ()
    gold_scores: tuple[float, ...] = ()
    answer_scores: tuple[float, ...] = ()
    cross_language: bool = False


def entailed(claim: str, by: str, question: str, spoken: str) -> tuple[Label, float]:
    """Whether one answer text says a claim of another: slot by slot, both about the same question."""
    compared = compare(by, claim, question, spoken)
    score = answer_proxy(by, claim, spoken)
    if compared is not None and compared.reasons == ("further_value",):
        return "supported", score  # what else is said does not matter here
    if compared is None or compared.label == "needs_manual_review":
        stands_against = compared is not None and "polarity" in compared.reasons
        return ("contradicted" if stands_against else "not_enough_info"), score
    if compared.label == "correct":
        return "supported", max(score, compared.coverage or 0.0)
    contradicted = compared.conflicting or "polarity" in compared.reasons
    return ("contradicted" if contradicted else "not_enough_info"), score


def build(
    answer: str,
    gold: str,
    question: str,
    chunks: Sequence[tuple[str, str]],
    *,
    spoken: str,
    gold_claims: Iterable[str] = (),
) -> ClaimTable:
    """The table of one case. `chunks` are (id, text) in rank order; an id that comes twice counts once.

    `gold_claims` replaces the claims of the gold answer where there is none (expected keywords).
    """
    passages = dict(reversed([(key, text) for key, text in chunks if not blank(text)]))
    ids = tuple(dict.fromkeys(key for key, _ in chunks if key in passages))
    texts = [passages[key] for key in ids]
    golds = split_claims(gold) or tuple(dict.fromkeys(claim for claim in gold_claims if not blank(claim)))
    said = split_claims(answer)
    crossed = _crossed([*golds, *said], texts)

    def held(claims: Sequence[str]) -> tuple[tuple[Support, ...] | None, ...]:
        if crossed:
            return tuple(None for _ in claims)
        return tuple(
            tuple(support(claim, text) for text in texts) if checkable(claim) else None for claim in claims
        )

    forward = [entailed(claim, answer, question, spoken) for claim in golds] if not blank(answer) else []
    backward = [entailed(claim, gold, question, spoken) for claim in said] if not blank(gold) else []
    if stance(answer).answer and stance(gold).answer:
        backward = _by_polarity(answer, gold, said, backward)
    return ClaimTable(
        gold=golds,
        answer=said,
        chunk_ids=ids,
        gold_in_answer=tuple(label for label, _ in forward),
        answer_in_gold=tuple(label for label, _ in backward),
        gold_in_chunks=held(golds),
        answer_in_chunks=held(said),
        gold_scores=tuple(score for _, score in forward),
        answer_scores=tuple(score for _, score in backward),
        cross_language=crossed,
    )


def _by_polarity(
    answer: str, gold: str, said: Sequence[str], backward: list[tuple[Label, float]]
) -> list[tuple[Label, float]]:
    """A yes or no that opens the answer is right or wrong by the gold's own."""
    agree = stance(answer).answer == stance(gold).answer
    first: Label = "supported" if agree else "contradicted"
    if not said or (agree and not _BARE.match(said[0])):
        return backward
    return [(first, 1.0 if agree else 0.0), *backward[1:]]


def _crossed(claims: Sequence[str], texts: Sequence[str]) -> bool:
    ours = language(*claims)
    theirs = [language(text[:2000]) for text in texts]
    return (
        ours in ("de", "en")
        and bool(theirs)
        and all(each in ("de", "en") and each != ours for each in theirs)
    )


def over_chunks(supports: Sequence[Support]) -> Label:
    """The label against the whole context: supported by any chunk, else contradicted by any, else unknown."""
    labels = {each.label for each in supports}
    return (
        "supported"
        if "supported" in labels
        else "contradicted"
        if "contradicted" in labels
        else "not_enough_info"
    )


def rows(table: ClaimTable) -> list[Claim]:
    """The table as records: against gold or answer, against the context, and against each chunk that supports
    or contradicts (a chunk that says nothing about a claim has no row)."""
    found: list[Claim] = []
    _Side = tuple[Literal["gold", "answer"], str, tuple[str, ...], tuple[Label, ...], tuple[float, ...]]
    sides: tuple[_Side, ...] = (
        ("gold", "answer", table.gold, table.gold_in_answer, table.gold_scores),
        ("answer", "gold", table.answer, table.answer_in_gold, table.answer_scores),
    )
    for kind, other, claims, labels, scores in sides:
        supports = table.gold_in_chunks if kind == "gold" else table.answer_in_chunks
        for index, claim in enumerate(claims):
            bare = Claim(claim_type=kind, index=index, claim=claim, target=other, label="not_enough_info")
            if labels:
                told = {"label": labels[index], "score": scores[index], "scorer": COMPARER}
                found.append(bare.model_copy(update=told))
            against = supports[index] if supports else None
            if against:
                found += _chunk_rows(bare, table.chunk_ids, against)
    return found


def _chunk_rows(bare: Claim, ids: Sequence[str], against: Sequence[Support]) -> list[Claim]:
    best = max(against, key=lambda each: each.score)
    whole = {"target": "context", "label": over_chunks(against), "score": best.score, "scorer": SCORER}
    found = [bare.model_copy(update=whole)]
    for key, each in zip(ids, against, strict=True):
        if each.label != "not_enough_info":
            told = {"label": each.label, "score": each.score, "start": each.start, "end": each.end}
            found.append(bare.model_copy(update=told | {"target": f"chunk:{key}", "scorer": SCORER}))
    return found
