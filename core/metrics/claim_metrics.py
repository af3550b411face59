"""Every claim, grounding and evidence-attribution metric, as counts over one claim table.

Invariants (property tests): grounded + hallucination + self_knowledge = 1; noise_relevant + noise_irrelevant +
hallucination = 1 − precision; correct and grounded = precision − self_knowledge, all over the same claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.contracts import add_metrics
from core.metrics.claims import ClaimTable

_RAGCHECKER = "Ru et al. 2024 (RAGChecker)"
_RAGAS = "Es et al. 2023 (RAGAS)"


@dataclass(frozen=True, slots=True)
class Relations:
    """The table as booleans. `correct[j]`: answer claim j is in the gold. `entailed[j][c]`, `gold_entailed[i][c]`:
    chunk c supports it. `said[i]`: gold claim i is in the answer. None where a side is missing; rows of claims
    that cannot be held against a passage are left out of the chunk relations."""

    correct: Sequence[bool] | None
    said: Sequence[bool] | None
    entailed: Sequence[Sequence[bool]] | None
    gold_entailed: Sequence[Sequence[bool]] | None
    n_chunks: int = 0


def ratio(part: int, whole: int) -> float | None:
    """part / whole, None for an empty whole."""
    return part / whole if whole else None


def f1(precision: float | None, recall: float | None) -> float | None:
    """Harmonic mean; 0 where both are 0, None where one is None."""
    if precision is None or recall is None:
        return None
    return 0.0 if precision + recall == 0 else 2 * precision * recall / (precision + recall)


def against_gold(correct: Sequence[bool], said: Sequence[bool]) -> dict[str, float | None]:
    """Claim precision, recall and F1, and RAGAS factual correctness (recall there counts TP / (TP + FN), TP the
    supported answer claims)."""
    right, found = sum(correct), sum(said)
    precision, recall = ratio(right, len(correct)), ratio(found, len(said))
    missing = len(said) - found
    factual_recall = ratio(right, right + missing)
    return {
        "answer_claim_precision": precision,
        "answer_claim_recall": recall,
        "answer_claim_f1": f1(precision, recall),
        "factual_correctness_precision": precision,
        "factual_correctness_recall": factual_recall,
        "factual_correctness_f1": f1(precision, factual_recall),
        "missing_gold_claim_count": float(missing),
    }


def against_chunks(relations: Relations) -> dict[str, float | None]:
    """Grounding of the answer's claims; with gold also RAGChecker's split of the wrong and the ungrounded ones."""
    rows = relations.entailed or ()
    total = len(rows)
    grounded = [any(row) for row in rows]
    scores: dict[str, float | None] = {
        "grounded_claim_ratio": ratio(sum(grounded), total),
        "hallucinated_claim_ratio": ratio(total - sum(grounded), total),
        "unsupported_claim_count": float(total - sum(grounded)) if total else None,
        "attributed_answer_claim_count": float(sum(grounded)) if total else None,
    }
    if relations.correct is None or not total:
        return scores
    relevant = relevant_chunks(relations)
    wrong = [not right for right in relations.correct]
    by_relevant = [any(cell and relevant[c] for c, cell in enumerate(row)) for row in rows]
    noisy = [bad and here for bad, here in zip(wrong, by_relevant, strict=True)]
    elsewhere = [
        bad and held and not here for bad, held, here in zip(wrong, grounded, by_relevant, strict=True)
    ]
    invented = sum(bad and not held for bad, held in zip(wrong, grounded, strict=True))
    known = sum(not bad and not held for bad, held in zip(wrong, grounded, strict=True))
    return scores | {
        "noise_sensitivity_relevant": ratio(sum(noisy), total),
        "noise_sensitivity_irrelevant": ratio(sum(elsewhere), total),
        "hallucination": ratio(invented, total),
        "self_knowledge": ratio(known, total),
    }


def relevant_chunks(relations: Relations) -> list[bool]:
    """Chunks that entail at least one gold claim."""
    rows = relations.gold_entailed or ()
    return [any(row[chunk] for row in rows) for chunk in range(relations.n_chunks)]


def of_retrieval(relations: Relations) -> dict[str, float | None]:
    """What the chunks hold of the gold, and how much of that the answer used."""
    rows = relations.gold_entailed or ()
    retrieved = [any(row) for row in rows]
    scores: dict[str, float | None] = {
        "context_claim_recall": ratio(sum(retrieved), len(rows)),
        "context_precision": ratio(sum(relevant_chunks(relations)), relations.n_chunks) if rows else None,
        "attributed_gold_claim_count": float(sum(retrieved)) if rows else None,
    }
    if relations.said is not None and rows:
        used = sum(held and told for held, told in zip(retrieved, relations.said, strict=True))
        scores["context_utilization"] = ratio(used, sum(retrieved))
    return scores


def claim_scores(
    table: ClaimTable, *, abstained: bool = False
) -> tuple[dict[str, float | None], dict[str, str]]:
    """(scores, reason of each None) of one table. A refusal makes no claims: reason `abstained`."""
    scores: dict[str, float | None] = dict.fromkeys(CLAIM_METRICS)
    correct = (
        None
        if abstained or not table.answer_in_gold
        else [label == "supported" for label in table.answer_in_gold]
    )
    if correct and table.gold:
        said = [label == "supported" for label in table.gold_in_answer]
        scores |= against_gold(correct, said)
    elif abstained and table.gold:
        scores |= {"answer_claim_recall": 0.0, "missing_gold_claim_count": float(len(table.gold))}
    held = (
        [index for index, row in enumerate(table.answer_in_chunks) if row is not None]
        if not abstained
        else []
    )
    kept = [index for index, row in enumerate(table.gold_in_chunks) if row is not None]
    if table.chunk_ids:
        relations = Relations(
            correct=None if correct is None else [correct[index] for index in held],
            said=[table.gold_in_answer[index] == "supported" for index in kept]
            if table.gold_in_answer and not abstained
            else None,
            entailed=[_supported(table.answer_in_chunks[index] or ()) for index in held],
            gold_entailed=[_supported(table.gold_in_chunks[index] or ()) for index in kept],
            n_chunks=len(table.chunk_ids),
        )
        scores |= against_chunks(relations)
        scores |= of_retrieval(relations)
        scores |= _attribution(scores)
    scores["contradicted_claim_count"] = _contradicted(table) if table.answer and not abstained else None
    reasons = {name: _reason(name, table, abstained) for name, value in scores.items() if value is None}
    return scores, reasons


def _supported(supports: Sequence[object]) -> list[bool]:
    return [getattr(each, "label", "") == "supported" for each in supports]


def _attribution(scores: dict[str, float | None]) -> dict[str, float | None]:
    """Published names; by construction precision equals the grounded ratio and recall the context recall."""
    precision, recall = scores["grounded_claim_ratio"], scores["context_claim_recall"]
    return {
        "evidence_attribution_precision": precision,
        "evidence_attribution_recall": recall,
        "evidence_attribution_f1": f1(precision, recall),
        "evidence_coverage": recall,
    }


def _contradicted(table: ClaimTable) -> float:
    count = 0
    for index in range(len(table.answer)):
        row = table.answer_in_chunks[index] if table.answer_in_chunks else None
        labels = [each.label for each in row or ()]
        by_context = "contradicted" in labels and "supported" not in labels
        by_gold = bool(table.answer_in_gold) and table.answer_in_gold[index] == "contradicted"
        count += by_context or by_gold
    return float(count)


def _reason(name: str, table: ClaimTable, abstained: bool) -> str:
    if abstained and name not in OF_RETRIEVAL:
        return "abstained"
    if name not in OF_GOLD and not table.chunk_ids:
        return "no_context"
    if name not in OF_GOLD and table.cross_language:
        return "cross_language"
    if not table.gold and name not in OF_ANSWER:
        return "no_gold"
    if not table.answer and name not in OF_RETRIEVAL:
        return "no_claims"
    return "nothing_retrieved" if name == "context_utilization" else "not_checkable"


OF_GOLD = (
    "answer_claim_precision", "answer_claim_recall", "answer_claim_f1", "factual_correctness_precision",
    "factual_correctness_recall", "factual_correctness_f1", "missing_gold_claim_count", "contradicted_claim_count",
)  # fmt: skip
OF_ANSWER = (
    "grounded_claim_ratio", "hallucinated_claim_ratio", "unsupported_claim_count", "attributed_answer_claim_count",
    "evidence_attribution_precision", "contradicted_claim_count",
)  # fmt: skip
OF_RETRIEVAL = (
    "context_claim_recall", "context_precision", "attributed_gold_claim_count", "evidence_attribution_recall",
    "evidence_coverage",
)  # fmt: skip
OF_BOTH = (
    "noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "hallucination", "self_knowledge",
    "context_utilization", "evidence_attribution_f1",
)  # fmt: skip
CLAIM_METRICS = tuple(dict.fromkeys((*OF_GOLD, *OF_ANSWER, *OF_RETRIEVAL, *OF_BOTH)))

# name, title, direction, kind, formula, source; A answer claims, G gold claims, C chunks, ⊨ "supports"
_DECLARED = (
    ("answer_claim_precision", "Claim precision", 1, "bounded", "|{a ∈ A: gold ⊨ a}| / |A|", _RAGCHECKER),
    ("answer_claim_recall", "Claim recall", 1, "bounded", "|{g ∈ G: answer ⊨ g}| / |G|", _RAGCHECKER),
    ("answer_claim_f1", "Claim F1", 1, "bounded", "harmonic mean of claim precision and recall, 0 at p = r = 0", _RAGCHECKER),
    ("factual_correctness_precision", "Factual precision", 1, "bounded", "TP / (TP + FP), TP answer claims the gold supports", _RAGAS),
    ("factual_correctness_recall", "Factual recall", 1, "bounded", "TP / (TP + FN), FN gold claims that the answer lacks", _RAGAS),
    ("factual_correctness_f1", "Factual F1", 1, "bounded", "harmonic mean of factual precision and recall, 0 at p = r = 0", _RAGAS),
    ("missing_gold_claim_count", "Missing gold claims", -1, "count", "|{g ∈ G: not answer ⊨ g}|", "published name"),
    ("contradicted_claim_count", "Contradicted claims", -1, "count", "answer claims that gold or (unsupported) context contradicts", "published name"),
    ("grounded_claim_ratio", "Grounded claims", 1, "bounded", "|{a ∈ A: some c ⊨ a}| / |A| (faithfulness)", _RAGCHECKER),
    ("hallucinated_claim_ratio", "Ungrounded claims", -1, "bounded", "1 − grounded_claim_ratio; includes self-knowledge", "published name"),
    ("unsupported_claim_count", "Unsupported claims", -1, "count", "|{a ∈ A: no c ⊨ a}|", "published name"),
    ("attributed_answer_claim_count", "Attributed answer claims", 0, "count", "|{a ∈ A: some c ⊨ a}|", "published name"),
    ("attributed_gold_claim_count", "Attributed gold claims", 0, "count", "|{g ∈ G: some c ⊨ g}|", "published name"),
    ("context_claim_recall", "Context claim recall", 1, "bounded", "|{g ∈ G: some c ⊨ g}| / |G|", _RAGCHECKER),
    ("context_precision", "Context precision", 1, "bounded", "|{c ∈ C: c ⊨ some g}| / |C|", _RAGCHECKER),
    ("context_utilization", "Context utilisation", 1, "bounded", "|{g: some c ⊨ g and answer ⊨ g}| / |{g: some c ⊨ g}|", _RAGCHECKER),
    ("noise_sensitivity_relevant", "Noise (relevant chunks)", -1, "bounded", "wrong a entailed by a chunk that entails a gold claim / |A|", _RAGCHECKER),
    ("noise_sensitivity_irrelevant", "Noise (irrelevant chunks)", -1, "bounded", "wrong a entailed only by other chunks / |A|", _RAGCHECKER),
    ("hallucination", "Hallucination", -1, "bounded", "wrong a that no chunk entails / |A|", _RAGCHECKER),
    ("self_knowledge", "Self-knowledge", 0, "bounded", "right a that no chunk entails / |A|", _RAGCHECKER),
    ("evidence_attribution_precision", "Attribution precision", 1, "bounded", "answer claims with a supporting chunk / |A|", "published name"),
    ("evidence_attribution_recall", "Attribution recall", 1, "bounded", "gold claims with a supporting chunk / |G|", "published name"),
    ("evidence_attribution_f1", "Attribution F1", 1, "bounded", "harmonic mean of attribution precision and recall", "published name"),
    ("evidence_coverage", "Evidence coverage", 1, "bounded", "gold claims that the context supports / |G|", "published name"),
)  # fmt: skip

add_metrics(
    _DECLARED,
    headline=("grounded_claim_ratio", "answer_claim_f1"),
    family="claims",
    inputs="the claim table of the case",
    empty="None with a reason: no_gold, no_claims, no_context, abstained, cross_language",
    version="2",
    function=claim_scores,
)
