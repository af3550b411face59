"""Where relevance comes from, and the retrieval figures of one case under their published names."""

from __future__ import annotations

import pytest

from core.contracts import ScoringContext
from core.corpus import Chunk, Document
from core.metrics.relevance import estimated_grade, grade_hits, holds_quote, relevance_of
from core.metrics.retrieval_scores import RETRIEVAL_METRICS, ragas_recall, retrieval_scores
from core.records import Case, Evidence, Hit, Output

TEXT = "".join(f"Sentence number {i:02d} of the statute says something. " for i in range(20))
WIDTH = len(TEXT) // 20
DOCUMENT = Document(doc_path="rules/a.pdf", text=TEXT)


def _chunks(size: int, overlap: int = 0) -> tuple[Chunk, ...]:
    starts = range(0, len(TEXT), size - overlap)
    return tuple(
        Chunk(
            chunk_id=f"c{i}", doc_path="rules/a.pdf", ordinal=i, text=TEXT[s : s + size], start=s, end=min(len(TEXT), s + size)
        )
        for i, s in enumerate(starts)
    )  # fmt: skip


def _hits(chunks: tuple[Chunk, ...], *wanted: int) -> tuple[Hit, ...]:
    return tuple(
        Hit(
            id=c.chunk_id,
            rank=rank,
            score=1.0 / rank,
            text=c.text,
            doc_path=c.doc_path,
            start=c.start,
            end=c.end,
        )
        for rank, c in enumerate((chunks[i] for i in wanted), 1)
    )


def _case(*sentences: int, **fields: object) -> Case:
    quotes = tuple(
        Evidence(doc_path="a.pdf", quote=f"Sentence number {i:02d} of the statute says something.")
        for i in sentences
    )
    return Case(id="q", query="What does it say?", evidence=quotes, **fields)  # type: ignore[arg-type]


def _context(chunks: tuple[Chunk, ...] | None, k: int = 3) -> ScoringContext:
    return ScoringContext(documents={DOCUMENT.doc_path: DOCUMENT}, chunks=chunks, top_k=k)


def test_a_chunk_is_relevant_from_half_of_a_quote_on() -> None:
    chunks = _chunks(WIDTH * 2)
    found = relevance_of(_case(3, 9), _hits(chunks, 0, 1, 4), _context(chunks))
    assert (found.source, found.grades) == ("spans", {"c0": 0, "c1": 1, "c4": 1})
    assert found.n_relevant_in_pool == 2
    halves = _chunks(WIDTH // 2)  # 25 and 24 of the 49 characters
    assert relevance_of(_case(0), (), _context(halves)).judged == {"c0": 1}
    thirds = _chunks(WIDTH // 3)
    assert relevance_of(_case(0), (), _context(thirds)).n_relevant_in_pool == 0


def test_recall_of_evidence_is_the_same_whatever_the_chunking() -> None:
    case = _case(2, 3, 10)
    for size in (WIDTH // 3, WIDTH, WIDTH * 2):
        chunks = _chunks(size)
        inside = [i for i, c in enumerate(chunks) if 2 * WIDTH - size < c.start < 4 * WIDTH]
        scores, _, _ = retrieval_scores(
            case, Output(case_id="q", hits=_hits(chunks, *inside)), _context(chunks, k=50)
        )
        assert scores["evidence_recall"] == pytest.approx(2 / 3)


def test_no_relevant_chunk_is_said_and_evidence_still_counts() -> None:
    chunks = _chunks(WIDTH // 3)
    scores, reasons, _ = retrieval_scores(
        _case(0), Output(case_id="q", hits=_hits(chunks, 0, 1, 2)), _context(chunks)
    )
    assert scores["ndcg_at_k"] is None
    assert reasons["ndcg_at_k"] == "no_relevant"
    assert scores["n_relevant_chunks"] == 0.0
    assert scores["evidence_recall"] == 1.0


def test_published_figures_of_a_small_case() -> None:
    chunks = _chunks(WIDTH)
    hits = _hits(chunks, 7, 2, 5, 3)
    scores, reasons, _ = retrieval_scores(_case(2, 3), Output(case_id="q", hits=hits), _context(chunks))
    assert scores["mrr_at_k"] == 0.5
    assert scores["recall_at_k"] == 0.5
    assert scores["precision_at_k"] == pytest.approx(1 / 3)
    assert scores["hit_at_k"] == 1.0
    assert scores["average_precision"] == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert (
        scores["first_relevant_rank"],
        scores["n_relevant_chunks"],
        scores["n_retrieved_relevant_chunks"],
    ) == (2, 2, 1)
    assert (scores["target_doc_retrieved_at_k"], scores["first_target_doc_rank"]) == (1.0, 1.0)
    assert scores["char_recall"] == pytest.approx(0.5, abs=0.02)
    assert scores["tie_spread"] == 0.0
    assert set(scores) == set(RETRIEVAL_METRICS)
    assert set(reasons) == {name for name, value in scores.items() if value is None}


def test_unanswerable_questions_have_no_retrieval_figures() -> None:
    chunks = _chunks(WIDTH)
    output = Output(case_id="q", hits=_hits(chunks, 0))
    scores, reasons, relevance = retrieval_scores(_case(answerable=False), output, _context(chunks))
    assert {name for name, value in scores.items() if value is not None} == {"duplicate_rate_at_k"}
    assert set(reasons.values()) == {"not_answerable"}
    assert relevance.source == "none"


def test_judgements_by_id_come_first_and_keep_their_grades() -> None:
    chunks = _chunks(WIDTH)
    case = _case(2, qrels={"c7": 3, "c1": 0, "c2": -1})
    found = relevance_of(case, _hits(chunks, 7, 1, 2, 4), _context(chunks))
    assert (found.source, found.grades) == ("qrels", {"c7": 3, "c1": 0, "c2": 0, "c4": 0})
    scores, _, _ = retrieval_scores(
        case, Output(case_id="q", hits=_hits(chunks, 7, 1, 2, 4)), _context(chunks)
    )
    assert scores["judged_at_k"] == pytest.approx(2 / 3)
    none, reasons, _ = retrieval_scores(
        _case(qrels={"c1": 0}), Output(case_id="q", hits=_hits(chunks, 1)), _context(chunks)
    )
    assert (none["recall_at_k"], reasons["recall_at_k"]) == (None, "no_relevant")


def test_gold_codes_are_judgements_too() -> None:
    case = Case(id="q", query="bridges", gold_codes=("45221100",))
    hits = tuple(Hit(id=code, rank=i, score=1.0) for i, code in enumerate(("45000000", "45221100"), 1))
    scores, _, relevance = retrieval_scores(case, Output(case_id="q", hits=hits), ScoringContext(top_k=5))
    assert relevance.source == "codes"
    assert (scores["mrr_at_k"], scores["recall_at_k"], scores["precision_at_k"]) == (0.5, 1.0, 0.2)


def test_without_documents_quotes_are_looked_for_in_the_texts_and_the_pool_stays_unknown() -> None:
    quote = "The thesis has to be handed in within six months after the topic was given out."
    case = Case(id="q", query="?", evidence=(Evidence(doc_path="x", quote=quote),))
    hits = (Hit(id="a", rank=1, text="Nothing here."), Hit(id="b", rank=2, text=f"Before. {quote[:50]}"))
    scores, reasons, relevance = retrieval_scores(
        case, Output(case_id="q", hits=hits), ScoringContext(top_k=2)
    )
    assert relevance.grades == {"a": 0, "b": 1}
    assert scores["mrr_at_k"] == 0.5
    assert (scores["recall_at_k"], reasons["recall_at_k"]) == (None, "pool_unknown")
    assert not holds_quote(quote[:30], quote)


def test_hits_without_offsets_are_placed_by_their_text() -> None:
    chunks = _chunks(WIDTH * 2)
    hits = tuple(hit.model_copy(update={"start": None, "end": None}) for hit in _hits(chunks, 0, 1))
    found = relevance_of(_case(3), hits, _context(chunks))
    assert found.grades == {"c0": 0, "c1": 1}


def test_evidence_that_is_nowhere_is_not_replaced_by_an_estimate() -> None:
    chunks = _chunks(WIDTH)
    case = Case(
        id="q",
        query="?",
        gold_answer="Sentence",
        evidence=(Evidence(doc_path="a.pdf", quote="it stands nowhere"),),
    )
    scores, reasons, relevance = retrieval_scores(
        case, Output(case_id="q", hits=_hits(chunks, 0)), _context(chunks)
    )
    assert (relevance.source, relevance.unlocated) == ("spans", (0,))
    assert (scores["mrr_at_k"], reasons["mrr_at_k"]) == (None, "evidence_not_found")


def test_estimates_say_so_and_demand_the_numbers() -> None:
    case = Case(id="q", query="How long is the thesis?", gold_answer="The thesis takes 6 months.")
    right = Hit(id="a", rank=1, text="A Bachelor's degree takes time, 6 months of it at the end.")
    wrong = Hit(id="b", rank=2, text="The thesis takes 8 months.")
    found = grade_hits(case, (right, wrong), None)
    assert (found.source, found.judged) == ("estimated", None)
    assert found.grades["a"] >= 2
    assert found.grades["b"] == 0
    assert estimated_grade("The thesis takes 8 months.", "The thesis takes 6 months.", ()) == 1
    assert grade_hits(Case(id="q", query="?"), (right,), None).reason == "no_gold"


def test_an_estimate_stays_inside_the_documents_the_question_names() -> None:
    case = Case(id="q", query="?", expected_keywords=("six months",), doc_paths=("a.pdf",))
    hits = [
        Hit(id=path, rank=i, text="It takes six months.", doc_path=path)
        for i, path in enumerate(("x/a.pdf", "b.pdf"), 1)
    ]
    assert grade_hits(case, hits, None).grades == {"x/a.pdf": 3, "b.pdf": 0}


def test_an_estimate_over_the_pool_equals_the_grades_of_its_hits() -> None:
    chunks = _chunks(WIDTH)
    case = Case(id="q", query="Which?", gold_answer="number 07", expected_keywords=("number 07",))
    found = relevance_of(case, _hits(chunks, 7, 8), _context(chunks))
    assert found.source == "estimated"
    assert found.judged == {"c7": 3}
    assert found.grades == {"c7": 3, "c8": 0}


def test_an_estimate_reads_a_number_in_any_spelling() -> None:
    assert estimated_grade("Die Frist beträgt sechs Wochen.", "6 Wochen", ()) == 3
    assert estimated_grade("The fee is 12,50 EUR.", "12.50 EUR", ("12.50 EUR",)) == 3
    assert estimated_grade("Die Frist beträgt sieben Wochen.", "6 Wochen", ()) <= 1
    assert (
        ragas_recall(["Die Gebühr ist 12,50 EUR, die Frist sechs Wochen."], None, ["12.50 EUR", "6 Wochen"])
        == 1.0
    )
