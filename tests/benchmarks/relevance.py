"""Relevance on the real regulations: quotes located, how far estimated relevance agrees with gold evidence, and what
the retrieval figures of one case cost."""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

from core.contracts import CHUNKERS, ScoringContext
from core.corpus import Chunk, Document
from core.inputs.cases import load_questions
from core.inputs.documents import load_documents
from core.metrics.relevance import located, relevance_of
from core.metrics.retrieval_scores import retrieval_scores
from core.records import Case, Hit, Output
from core.retrieval import chunking
from tests.real_data import REAL_DATA

CHUNKING = {"type": "fixed_words", "chunk_size": 450, "overlap": 60}
SHIPPED = chunking  # registers the chunkers


def main(argv: list[str]) -> int:
    """Prints the figures; 2 where the real inputs are absent, 1 where a quote is not located."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", default=".plumbline/cache", help="where parsed documents are kept")
    options = parser.parse_args(argv)
    folder, questions = (
        REAL_DATA / "ulm_examination_regulations_de" / "pdf",
        REAL_DATA / "ulm_questions" / "questions_by_file.json",
    )
    if not folder.exists() or not questions.exists():
        print(f"the real inputs are not there ({REAL_DATA})")
        return 2
    documents, _ = load_documents(
        [str(folder)], root=str(folder), parse_timeout=120, cache_dir=Path(options.cache)
    )
    chunker = CHUNKERS.create(CHUNKING)
    chunks = tuple(chunk for document in documents for chunk in chunker.chunk(document))
    cases = [case for case in load_questions(questions).cases if case.answerable is not False]
    context = ScoringContext(documents={d.doc_path: d for d in documents}, chunks=chunks, top_k=8)
    quotes = sum(len(case.evidence) for case in cases)
    found = sum(len(located(case, context)) for case in cases)
    print(
        f"evidence quotes located: {found} of {quotes} in {len(documents)} documents ({len(chunks)} chunks)"
    )
    _agreement(cases, context)
    _cost(cases, documents, chunks, context)
    return 0 if found == quotes else 1


def _agreement(cases: list[Case], context: ScoringContext) -> None:
    for name, change in (("in the named document", {}), ("in all documents", {"doc_paths": ()})):
        right = guessed = gold = 0
        for case in cases:
            truth = set(relevance_of(case, (), context).judged or ())
            blind = case.model_copy(update={"evidence": (), **change})
            estimate = set(relevance_of(blind, (), context).judged or ())
            right, guessed, gold = right + len(truth & estimate), guessed + len(estimate), gold + len(truth)
        print(
            f"estimated relevance {name}: precision {right / max(1, guessed):.2f}, recall {right / gold:.2f} "
            f"({guessed} chunks estimated, {gold} by evidence)"
        )


def _cost(
    cases: list[Case], documents: list[Document], chunks: tuple[Chunk, ...], context: ScoringContext
) -> None:
    rng = random.Random(0)
    outputs = []
    for case in cases:
        picked = rng.sample(chunks, 8)
        hits = tuple(
            Hit(
                id=c.chunk_id, rank=i, score=1 / i, text=c.text, doc_path=c.doc_path, start=c.start, end=c.end
            )
            for i, c in enumerate(picked, 1)
        )
        outputs.append(Output(case_id=case.id, hits=hits))
    for label in ("cold", "warm"):
        start = time.process_time()
        for case, output in zip(cases, outputs, strict=True):
            retrieval_scores(case, output, context)
        spent = 1000 * (time.process_time() - start) / len(cases)
        print(f"retrieval figures, 8 chunks of 450 words, {label}: {spent:.3f} ms CPU a case")
