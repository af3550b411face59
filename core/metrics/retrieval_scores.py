"""Every retrieval figure of one case, under its published name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

from core.contracts import Metric, ScoringContext, add_metric, metric
from core.metrics import judgements, ranking
from core.metrics.numerals import spelled, spelled_set
from core.metrics.relevance import RelevanceOf, evidence_recall, relevance_of
from core.metrics.spans import Span, coverage, documents_by_path
from core.metrics.ties import tie_spread
from core.records import Case, Hit, Output

Scores = dict[str, float | None]
Reasons = dict[str, str]

NEED_POOL = (
    "recall_at_k", "ndcg_at_k", "ndcg_exp_at_k", "average_precision", "average_precision_at_k", "r_precision", "bpref",
    "judged_at_k", "tie_spread", "n_relevant_chunks",
)  # fmt: skip
NEED_RELEVANT = (
    *NEED_POOL, "mrr_at_k", "precision_at_k", "hit_at_k", "ragas_context_precision", "first_relevant_rank",
    "n_retrieved_relevant_chunks",
)  # fmt: skip
OF_SPANS = ("char_recall", "char_precision", "char_iou", "evidence_recall")
OF_DOCUMENTS = ("target_doc_retrieved_at_k", "first_target_doc_rank", "n_retrieved_target_doc_chunks")
NOT_GIVEN = "not_given"  # signal `retrieval` of an output that says nothing about what was retrieved
RETRIEVAL_METRICS = (*NEED_RELEVANT, *OF_SPANS, *OF_DOCUMENTS, "ragas_recall_at_k", "duplicate_rate_at_k")


_count = partial(Metric, family="ranking", kind="count", high=None, source="published name")
add_metric(
    _count(
        name="first_relevant_rank",
        title="First relevant place",
        direction=-1,
        low=1.0,
        formula="place of the first relevant hit, from 1",
        inputs="ranked ids; judgements by id",
        empty="None when no relevant hit was retrieved",
        function=ranking.first_relevant_rank,
    )
)
add_metric(
    _count(
        name="n_relevant_chunks",
        title="Relevant in the pool",
        direction=0,
        formula="R: relevant items in the whole pool",
        inputs="judgements by id",
        empty="None when the pool is unknown",
        function=ranking.n_relevant,
    )
)
add_metric(
    _count(
        name="n_retrieved_relevant_chunks",
        title="Relevant in the first k",
        formula="relevant hits among the first k",
        inputs="ranked ids; judgements by id",
        empty="None when nothing relevant exists",
        function=ranking.n_retrieved_relevant,
    )
)


def retrieval_scores(
    case: Case, output: Output, context: ScoringContext
) -> tuple[Scores, Reasons, RelevanceOf]:
    """Scores and reasons of each None for `output.hits` cut at `context.top_k`, and the relevance they rest on.

    Reason codes: not_answerable, no_gold, no_relevant (nothing in the pool is relevant), evidence_not_found (no
    gold quote stands in the documents), pool_unknown (how much was missed cannot be known), no_hits, no_scores,
    no_evidence, no_target_document, not_retrieved, no_reference_text, no_retrieval (what was retrieved is not
    known, which is not the same as nothing).
    """
    if not output.hits and output.signals.get("retrieval") == NOT_GIVEN:
        blank = dict.fromkeys(RETRIEVAL_METRICS, "no_retrieval")
        return dict.fromkeys(RETRIEVAL_METRICS), blank, RelevanceOf(reason="no_retrieval")
    k = context.top_k
    hits = sorted(output.hits, key=lambda hit: hit.rank)
    relevance = relevance_of(case, hits, context)
    scores: Scores = dict.fromkeys(RETRIEVAL_METRICS)
    reasons: Reasons = {}
    if relevance.reason:
        reasons.update(dict.fromkeys(NEED_RELEVANT, relevance.reason))
        if relevance.judged is not None:
            scores["n_relevant_chunks"] = float(relevance.n_relevant_in_pool or 0)
    else:
        _ranking_scores(hits, relevance, k, scores, reasons)
    _span_scores(hits[:k], relevance, scores, reasons)
    _document_scores(case, hits[:k], context, scores, reasons)
    scores["duplicate_rate_at_k"] = judgements.duplicate_rate_at_k([hit.id for hit in hits], k)
    if case.answerable is not False:
        scores["ragas_recall_at_k"] = ragas_recall(
            [hit.text for hit in hits], case.gold_answer, case.expected_keywords
        )
    defaults = dict.fromkeys(
        RETRIEVAL_METRICS, "not_answerable" if case.answerable is False else "no_reference_text"
    )
    defaults["duplicate_rate_at_k"] = "no_hits"
    undefined = {name: reasons.get(name) or defaults[name] for name, value in scores.items() if value is None}
    return scores, undefined, relevance


def _as_float(count: int | None) -> float | None:
    return None if count is None else float(count)


def _ranking_scores(
    hits: Sequence[Hit], relevance: RelevanceOf, k: int, scores: Scores, reasons: Reasons
) -> None:
    ranked = ranking.distinct([hit.id for hit in hits])
    judged = relevance.judged
    known = judged if judged is not None else {**relevance.grades, "": 1}  # R is unknown but at least 1
    scores["mrr_at_k"] = ranking.reciprocal_rank(ranked, known, k)
    scores["hit_at_k"] = ranking.success_at_k(ranked, known, k)
    scores["precision_at_k"] = ranking.precision_at_k(ranked, known, k)
    scores["ragas_context_precision"] = ranking.ragas_context_precision(ranked, known, k)
    scores["n_retrieved_relevant_chunks"] = _as_float(ranking.n_retrieved_relevant(ranked, known, k))
    scores["first_relevant_rank"] = _as_float(ranking.first_relevant_rank(ranked, known))
    reasons["first_relevant_rank"] = "not_retrieved"
    if judged is None:
        reasons.update(dict.fromkeys(NEED_POOL, "pool_unknown"))
        return
    scores["n_relevant_chunks"] = float(ranking.n_relevant(judged))
    scores["recall_at_k"] = ranking.recall_at_k(ranked, judged, k)
    scores["ndcg_at_k"] = ranking.ndcg_at_k(ranked, judged, k)
    scores["ndcg_exp_at_k"] = ranking.ndcg_exp_at_k(ranked, judged, k)
    scores["average_precision"] = ranking.average_precision(ranked, judged)
    scores["average_precision_at_k"] = ranking.average_precision(ranked, judged, k)
    scores["r_precision"] = ranking.r_precision(ranked, judged)
    scores["tie_spread"] = tie_spread([hit.id for hit in hits], [hit.score for hit in hits], judged, k)
    reasons["tie_spread"] = "no_scores"
    if relevance.source == "qrels":
        scores["bpref"] = judgements.bpref(ranked, judged)
        scores["judged_at_k"] = judgements.judged_at_k(ranked, judged, k)
        reasons["judged_at_k"] = "no_hits"
    else:  # a rule decides every item of the pool, so all are judged
        scores["judged_at_k"] = 1.0 if ranked else None
        reasons.update({"judged_at_k": "no_hits", "bpref": "no_judgements"})


def _span_scores(top: Sequence[Hit], relevance: RelevanceOf, scores: Scores, reasons: Reasons) -> None:
    reason = (
        relevance.reason
        if relevance.source == "spans" or relevance.reason == "not_answerable"
        else "no_evidence"
    )
    reasons.update(dict.fromkeys(OF_SPANS, reason or "no_evidence"))
    if not relevance.gold:
        return
    gold, retrieved = _on_one_line(relevance, top)
    scores["char_recall"], scores["char_precision"], scores["char_iou"] = coverage(gold, retrieved)
    reasons["char_precision"] = "no_hits"
    by_document: dict[str, list[Span]] = {}
    for hit in top:
        if hit.start is not None and hit.end is not None:
            by_document.setdefault(hit.doc_path, []).append((hit.start, hit.end))
    scores["evidence_recall"] = evidence_recall(relevance.gold, by_document)


def _on_one_line(relevance: RelevanceOf, top: Sequence[Hit]) -> tuple[list[Span], list[Span]]:
    """Gold and retrieved ranges of all documents laid end to end, so that ranges of different documents never meet."""
    paths = sorted({span.doc_path for span in relevance.gold} | {hit.doc_path for hit in top})
    far = 1 + max([span.end for span in relevance.gold] + [hit.end or 0 for hit in top])
    base = {path: index * far for index, path in enumerate(paths)}
    gold = [(base[span.doc_path] + span.start, base[span.doc_path] + span.end) for span in relevance.gold]
    placed = [
        (hit.doc_path, hit.start, hit.end) for hit in top if hit.start is not None and hit.end is not None
    ]
    return gold, [(base[path] + start, base[path] + end) for path, start, end in placed]


# --- documents and reference text -----------------------------------------------------------------------------


@metric(
    name="target_doc_retrieved_at_k",
    title="Target document@k",
    family="documents",
    kind="binary",
    formula="1 if one of the first k hits comes from a document the question names, else 0",
    inputs="documents of the hits; documents of the question",
    empty="None when the question names no document",
    source="published name",
)
def target_doc_retrieved_at_k(
    documents: Sequence[str], targets: Sequence[str], k: int | None = None
) -> float | None:
    """1.0 when one of the first `k` documents is a target, else 0.0; None without targets.

    >>> target_doc_retrieved_at_k(["a", "b"], ["b"], 1)
    0.0
    """
    return float(any(path in targets for path in documents[:k])) if targets else None


@metric(
    name="first_target_doc_rank",
    title="First place of the target document",
    family="documents",
    kind="count",
    direction=-1,
    low=1.0,
    high=None,
    formula="place of the first hit from a document the question names, from 1",
    inputs="documents of the hits; documents of the question",
    empty="None when it was not retrieved",
    source="published name",
)
def first_target_doc_rank(
    documents: Sequence[str], targets: Sequence[str], k: int | None = None
) -> int | None:
    """Place of the first target document, from 1; None when there is none within `k`.

    >>> first_target_doc_rank(["a", "b"], ["b"])
    2
    """
    return next((i for i, path in enumerate(documents[:k], 1) if path in targets), None)


@metric(
    name="n_retrieved_target_doc_chunks",
    title="Hits from the target document",
    family="documents",
    kind="count",
    direction=0,
    high=None,
    formula="hits among the first k from a document the question names",
    inputs="documents of the hits; documents of the question",
    empty="None when the question names no document",
    source="published name",
)
def n_retrieved_target_doc_chunks(
    documents: Sequence[str], targets: Sequence[str], k: int | None = None
) -> int | None:
    """How many of the first `k` come from a target document; None without targets.

    >>> n_retrieved_target_doc_chunks(["a", "b", "b"], ["b"], 2)
    1
    """
    return sum(path in targets for path in documents[:k]) if targets else None


def target_documents(case: Case, context: ScoringContext) -> frozenset[str]:
    """Documents a question names itself or through its evidence, under the paths the corpus knows them by."""
    named = {*case.doc_paths, *(evidence.doc_path for evidence in case.evidence)}
    if not context.documents:
        return frozenset(named)
    known = documents_by_path(context.documents)
    found = {path: known.get(path) or known.get(path.rsplit("/", 1)[-1]) for path in named}
    return frozenset(path if document is None else document.doc_path for path, document in found.items())


def _document_scores(
    case: Case, top: Sequence[Hit], context: ScoringContext, scores: Scores, reasons: Reasons
) -> None:
    targets = tuple(target_documents(case, context))
    answerable = case.answerable is not False
    reasons.update(dict.fromkeys(OF_DOCUMENTS, "no_target_document" if answerable else "not_answerable"))
    if not targets or not answerable:
        return
    documents = [hit.doc_path for hit in top]
    scores["target_doc_retrieved_at_k"] = target_doc_retrieved_at_k(documents, targets)
    first, count = (
        first_target_doc_rank(documents, targets),
        n_retrieved_target_doc_chunks(documents, targets),
    )
    scores["first_target_doc_rank"] = None if first is None else float(first)
    scores["n_retrieved_target_doc_chunks"] = None if count is None else float(count)
    reasons["first_target_doc_rank"] = "not_retrieved"


_SENTENCE = 8  # characters below which a piece of the gold answer is no unit of its own


_Unit = tuple[frozenset[str], frozenset[str]]  # numbers; longer words (all words where there are neither)


@lru_cache(maxsize=8_192)
def _reference_units(gold_answer: str, keywords: tuple[str, ...]) -> tuple[_Unit, ...]:
    units = [spelled(keyword) for keyword in keywords]
    for sentence in gold_answer.replace("\n", ". ").replace("; ", ". ").split(". "):
        if len(sentence.strip()) >= _SENTENCE:
            units.append(spelled(sentence))
    return tuple(_unit(unit) for unit in dict.fromkeys(filter(None, units)))


def _unit(unit: tuple[str, ...]) -> _Unit:
    numbers = frozenset(word for word in unit if word[0].isdigit())
    content = frozenset(word for word in unit if len(word) > 3 and not word[0].isdigit())
    return numbers, content or (frozenset() if numbers else frozenset(unit))


def _unit_found(unit: _Unit, texts: Sequence[frozenset[str]]) -> bool:
    """Whether one text holds at least 70 % of the unit's longer words, and all its numbers."""
    numbers, content = unit
    needed = 0.7 * len(content)
    return any(numbers <= text and len(content & text) >= needed for text in texts)


@metric(
    name="ragas_recall_at_k",
    title="Reference recall (RAGAS-like)",
    family="reference text",
    formula="reference units (keywords, sentences of the gold answer) found in one hit / reference units; found: 70 % of the words and every number",
    inputs="texts of all hits; gold answer; expected keywords",
    empty="None without a gold answer and keywords",
    source="published name; after Es et al. 2023 context recall, without a model: an estimate",
)
def ragas_recall(texts: Sequence[str], gold_answer: str | None, keywords: Sequence[str] = ()) -> float | None:
    """Share of the reference units that stand in one of the texts; None without any unit.

    >>> ragas_recall(["The thesis takes six months."], None, ["six months", "two weeks"])
    0.5
    """
    units = _reference_units(gold_answer or "", tuple(keywords))
    if not units:
        return None
    present = [spelled_set(text) for text in texts]
    return sum(_unit_found(unit, present) for unit in units) / len(units)
