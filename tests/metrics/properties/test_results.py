"""Properties of whole results: every score of the document evaluator is a declared metric inside its range, every None
has a reason, and what a case lacks takes exactly the scores that need it."""

from __future__ import annotations

import random

import pytest

from core.contracts import METRICS, ScoringContext
from core.corpus import Chunk, Document
from core.evaluation.document_answers import DocumentAnswers
from core.metrics.retrieval_scores import RETRIEVAL_METRICS
from core.records import Case, Evidence, Hit, Output, Result

SENTENCES = [
    f"Module {i} takes {i + 2} semesters and ends with an oral examination in Ulm." for i in range(12)
]
TEXT = " ".join(SENTENCES)
DOCUMENT = Document(doc_path="rules.pdf", text=TEXT)
STARTS = [TEXT.index(sentence) for sentence in SENTENCES]
CHUNKS = tuple(
    Chunk(chunk_id=f"c{i}", doc_path="rules.pdf", ordinal=i, text=s, start=at, end=at + len(s))
    for i, (s, at) in enumerate(zip(SENTENCES, STARTS, strict=True))
)  # fmt: skip
CONTEXT = ScoringContext(documents={"rules.pdf": DOCUMENT}, chunks=CHUNKS, top_k=4)


def _random(rng: random.Random) -> tuple[Case, Output]:
    i = rng.randrange(len(SENTENCES))
    answerable = rng.choice([True, True, True, False, None])
    case = Case(
        id="q",
        query=f"How long is module {i}?",
        answerable=answerable,
        gold_answer=None
        if answerable is False
        else rng.choice([f"{i + 2} semesters", SENTENCES[i], "", None]),
        evidence=(Evidence(doc_path="rules.pdf", quote=SENTENCES[i]),)
        if answerable and rng.random() < 0.7
        else (),
        expected_keywords=rng.choice([(), (f"{i + 2} semesters",)]),
    )
    answers = [
        SENTENCES[i] + " [1]",
        f"{i + 3} semesters.",
        "",
        None,
        "I cannot say this from the documents.",
        "? [9]",
    ]
    hits = tuple(
        Hit(
            id=c.chunk_id,
            rank=rank,
            score=1 / rank,
            text=c.text,
            doc_path=c.doc_path,
            start=c.start,
            end=c.end,
        )
        for rank, c in enumerate(rng.sample(CHUNKS, rng.randint(0, 6)), 1)
    )
    return case, Output(case_id="q", text=rng.choice(answers), hits=hits)


def _evaluate(case: Case, output: Output) -> Result:
    return DocumentAnswers().evaluate(case, output, CONTEXT)


@pytest.mark.parametrize("seed", range(80))
def test_scores_are_declared_in_range_and_every_none_has_a_reason(seed: int) -> None:
    case, output = _random(random.Random(seed))
    result = _evaluate(case, output)
    assert set(result.scores) <= set(METRICS)
    for name, value in result.scores.items():
        metric = METRICS[name]
        if value is None:
            assert result.undefined.get(name), name
        else:
            assert name not in result.undefined, name
            assert metric.low is None or metric.low <= value, name
            assert metric.high is None or value <= metric.high, name


@pytest.mark.parametrize("seed", range(20))
def test_the_same_case_gives_the_same_result_twice(seed: int) -> None:
    case, output = _random(random.Random(seed))
    assert _evaluate(case, output) == _evaluate(case.model_copy(deep=True), output.model_copy(deep=True))


def test_without_gold_nothing_about_gold_is_scored() -> None:
    case = Case(id="q", query="How long is module 3?")
    output = Output(case_id="q", text=SENTENCES[3], hits=())
    scores = _evaluate(case, output).scores
    assert [name for name in RETRIEVAL_METRICS if scores.get(name) is not None] == []
    for name in (
        "answer_claim_f1",
        "exact_match",
        "token_f1",
        "answer_proxy",
        "context_claim_recall",
        "citation_precision",
    ):
        assert scores.get(name) is None, name
