"""Retrieval over the 19 statutes: evidence quotes found among k, and CPU seconds of asking all 60 questions with
nothing cached and with documents, counts and vectors cached; then bm25 beside rank-bm25 on synthetic chunks.

`python -m tests.benchmarks retrieval [--dense] [--chunks 10000] [--k 8]`
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi

from core.inputs.cases import load_questions
from core.inputs.documents import load_documents
from core.metrics.spans import evidence_spans
from core.retrieval.counts import count_tokens, tokenise
from core.retrieval.lexical import Bm25
from core.retrieval.stages import Stages
from core.settings import RunSettings
from core.systems.document_qa import DocumentQa
from tests.benchmarks.parsing import FOLDER, cpu
from tests.real_data import REAL_DATA
from tests.retrieval.corpora import chunks_of

QUESTIONS = REAL_DATA / "ulm_questions" / "questions_by_file.json"
LEXICAL: dict[str, dict[str, Any]] = {
    "bm25 words": {"retriever": "bm25", "analyzer": "words"},
    "bm25 stems": {"retriever": "bm25"},
    "bm25 okapi_eps": {"retriever": "bm25", "retriever_options": {"idf": "okapi_eps"}},
    "bm25 atire": {"retriever": "bm25", "retriever_options": {"idf": "atire"}},
    "bm25 + rerank": {"retriever": "bm25", "rerank_top_n": 20},
    "tfidf words": {"retriever": "tfidf", "analyzer": "words"},
    "tfidf stems": {"retriever": "tfidf"},
    "tfidf 2-grams": {"retriever": "tfidf", "retriever_options": {"ngrams": 2}},
}
DENSE: dict[str, dict[str, Any]] = {
    "dense": {"retriever": "dense"},
    "hybrid": {"retriever": "hybrid"},
    "hybrid rrf": {"retriever": "hybrid", "hybrid_fusion": "rrf"},
}
CHUNKINGS: dict[str, dict[str, Any]] = {
    "fixed_words 450/60": {"chunking": "fixed_words"},
    "fixed_tokens 200/40": {"chunking": "fixed_tokens", "chunk_size": 200, "overlap": 40},
    "by_section": {"chunking": "by_section"},
    "by_paragraph": {"chunking": "by_paragraph"},
    "by_sentence 6/1": {"chunking": "by_sentence", "chunk_size": 6, "overlap": 1},
}


def statutes() -> list[str]:
    return [str(p) for p in sorted(FOLDER.iterdir()) if p.name.startswith(("IN__", "2013-03-12_rahmen"))]


def recall_table(cache: Path, k: int, with_dense: bool) -> None:
    """Quotes found: at least half of the quote in one of the first k chunks."""
    documents, _ = load_documents(statutes(), root=None, parse_timeout=60, cache_dir=cache / "parsed")
    by_path = {document.doc_path: document for document in documents}
    cases = load_questions(QUESTIONS).cases
    gold = [evidence_spans(case, by_path) for case in cases]
    stages = Stages(cache)
    print(
        f"\nevidence quotes found among {k} (of {sum(map(len, gold))}), mean reciprocal rank, right document first"
    )
    for name, chunking in CHUNKINGS.items():
        for label, options in (LEXICAL | (DENSE if with_dense else {})).items():
            system = DocumentQa(RunSettings(top_k=k, **chunking, **options), documents, stages)
            found, ranks, first = 0, [], 0
            for spans, output in zip(gold, system.ask_many(cases), strict=True):
                if not spans:
                    continue
                covering = [[hit.rank for hit in output.hits if _covers(hit, span)] for span in spans]
                found += sum(map(bool, covering))
                ranks.append(max((1 / min(each) for each in covering if each), default=0.0))
                first += bool(output.hits) and output.hits[0].doc_path in {span.doc_path for span in spans}
            print(
                f"  {name:20} {label:15} {found:3}   {sum(ranks) / len(ranks):.3f}   {first}/{len(ranks)}"
                f"   ({len(system.chunks)} chunks)"
            )


def _covers(hit: Any, span: Any) -> bool:
    shared = min(hit.end, span.end) - max(hit.start, span.start)
    return hit.doc_path == span.doc_path and 2 * shared >= span.end - span.start


def ask_all(cache: str, options: str) -> None:
    """Parse, index and ask everything once: what a fresh process does."""
    documents, _ = load_documents(statutes(), root=None, parse_timeout=60, cache_dir=Path(cache) / "parsed")
    system = DocumentQa(RunSettings(**json.loads(options)), documents, Stages(Path(cache)))
    outputs = list(system.ask_many(load_questions(QUESTIONS).cases))
    assert not any(output.failure for output in outputs)
    print(cpu())


def cold_and_cached(label: str, options: dict[str, Any]) -> None:
    """CPU seconds of whole processes: nothing cached, then everything cached."""
    with tempfile.TemporaryDirectory() as cache:
        code = "import sys; from tests.benchmarks.retrieval import ask_all; ask_all(sys.argv[1], sys.argv[2])"
        seconds = []
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-c", code, cache, json.dumps(options)],
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "HF_HUB_OFFLINE": "1"},
            )
            seconds.append(float(done.stdout.splitlines()[-1]))
    print(f"  {label:15} cold {seconds[0]:6.1f} s   cached {seconds[1]:5.1f} s", flush=True)


def synthetic(n: int, seed: int = 0) -> list[list[str]]:
    """Chunks of about 150 tokens over 200,000 words with a Zipf-Mandelbrot distribution."""
    rng = np.random.default_rng(seed)
    weights = 1 / (np.arange(200_000) + 2.7)
    lengths = rng.integers(100, 200, size=n)
    drawn = rng.choice(200_000, size=int(lengths.sum()), p=weights / weights.sum())
    words = np.array([f"w{i}" for i in range(200_000)])[drawn].tolist()
    ends = np.cumsum(lengths)
    return [words[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def beside_rank_bm25(n: int) -> None:
    corpus = synthetic(n)
    rng = random.Random(1)
    queries = [rng.sample(rng.choice(corpus), 10) for _ in range(20)]
    texts = [" ".join(tokens) for tokens in corpus]
    chunks = chunks_of(texts)
    library_time, library = _timed(lambda: BM25Okapi(corpus))
    count_time, _ = _timed(lambda: count_tokens(corpus))
    index_time, index = _timed(lambda: Bm25(idf="okapi_eps").index(chunks))
    token_time, _ = _timed(lambda: [tokenise(text) for text in texts])
    slow, theirs = _timed(lambda: [library.get_scores(query) for query in queries])
    fast, _ = _timed(lambda: [index.search_positions(" ".join(query), 10) for query in queries])
    ours = index.all_scores([" ".join(query) for query in queries])
    difference = max(float(np.abs(a - b).max()) for a, b in zip(ours, theirs, strict=True))
    print(f"\nbm25 on {n:,} synthetic chunks beside rank-bm25")
    print(
        f"  index from tokens   {count_time:.2f} s, rank-bm25 {library_time:.2f} s: {count_time / library_time:.2f}x"
    )
    print(f"  index from texts    {index_time:.2f} s, of which tokenising {token_time:.2f} s")
    print(
        f"  a query             {fast / 20 * 1e3:.3f} ms, rank-bm25 {slow / 20 * 1e3:.1f} ms: {slow / fast:.0f}x faster"
    )
    print(f"  largest difference of scores (okapi_eps): {difference}")


def _timed(job: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    result = job()
    return time.process_time() - began, result


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="retrieval", description=__doc__)
    parser.add_argument(
        "--dense", action="store_true", help="also dense and hybrid (minutes when nothing is cached)"
    )
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--k", type=int, default=8)
    options = parser.parse_args(argv)
    beside_rank_bm25(options.chunks)
    if not QUESTIONS.exists():
        print(f"\nthe real inputs are not beside the repository ({REAL_DATA}); nothing more to measure")
        return 0
    print("\nCPU seconds of a process that parses, indexes and answers 60 questions over 19 PDFs")
    wanted = ["bm25 stems", "bm25 + rerank", "tfidf stems"] + (["dense", "hybrid"] if options.dense else [])
    for label in wanted:
        cold_and_cached(label, (LEXICAL | DENSE)[label])
    with tempfile.TemporaryDirectory() as cache:
        recall_table(Path(cache), options.k, options.dense)
    return 0
