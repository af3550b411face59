"""One classified case → its verdict, its figures under their published names, and one consistent diagnosis.

The main gold code decides: exact is PASS, anything else FAIL, never WEAK for a near miss; without gold nothing
was checked. How near a miss was is told by the hierarchical figures and the diagnosis.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from core.contracts import EVALUATORS, ScoringContext, Target
from core.evaluation.classification_diagnosis import diagnose
from core.evaluation.verdicts import of_checks
from core.metrics import candidates, hierarchy, ranking
from core.metrics.code_tree import CodeTree, relation
from core.metrics.hierarchical_ranking import IdealGains, hierarchical_ndcg, ndcg_exact_at_k
from core.records import Case, Check, Failure, Hit, JsonDict, Output, Result, Verdict
from core.registry import Component
from core.text import words

Scores = dict[str, float | None]
HIGH_CONFIDENCE = 0.85
_TREES: dict[tuple[str, str], tuple[CodeTree, IdealGains]] = {}
_LOCK = threading.Lock()


@EVALUATORS.register("classification")
class Classification(Component):
    """Compares the ranked codes of an output with the gold codes of its case, in the tree of the code list."""

    def propose(self, target: Target) -> Sequence[Case]:
        """A classifier is asked the cases of its suite and nothing else."""
        return ()

    def evaluate(self, case: Case, output: Output, material: ScoringContext) -> Result:
        """Pure: the same case, output and code list give the same result."""
        if output.failure is not None:
            return _error(case, output, output.failure)
        tree, ideal = tree_of(material)
        hits = sorted(output.hits, key=lambda hit: hit.rank)
        scores, artifacts = classification_scores(case, output, tree, ideal, material)
        gold = list(case.gold_codes)
        first = hits[0].id if hits else None
        check = _check(first, gold)
        ruling = of_checks([check])
        best = _best_match(hits[: material.top_k], gold, tree)
        diagnosis, mode = diagnose(scores, best, n_candidates=len(hits)) if gold else (None, None)
        artifacts |= {
            "failure_mode": mode.name if mode else None,
            "likely_bottleneck": mode.bottleneck if mode else None,
            "best_hierarchy_match_label_at_k": best[1] if gold else None,
        }
        grades = {code: 2 if place == 0 and len(gold) > 1 else 1 for place, code in enumerate(gold)}
        return Result(
            case_id=case.id,
            repeat=output.repeat,
            verdict=ruling.verdict,
            reasons=ruling.reasons,
            unchecked=ruling.unchecked,
            scores=scores,
            undefined={name: _reason(name, gold, hits) for name, value in scores.items() if value is None},
            checks=(check,),
            relevance={hit.id: grades.get(hit.id, 0) for hit in hits} if gold else {},
            relevance_source="codes" if gold else "none",
            diagnosis=diagnosis,
            artifacts={name: value for name, value in artifacts.items() if value is not None},
        )


def tree_of(material: ScoringContext) -> tuple[CodeTree, IdealGains]:
    """The tree of a run's code list, made once: paths and ideals are shared by all its cases."""
    catalog = material.catalog
    scheme = (
        catalog.scheme
        if catalog is not None
        else str(material.settings.get("hierarchy_scheme") or "official")
    )
    key = (scheme, catalog.digest if catalog is not None else "")
    with _LOCK:
        if key not in _TREES:
            if len(_TREES) > 8:
                _TREES.clear()
            tree = CodeTree(scheme, catalog)
            _TREES[key] = (tree, IdealGains(tree))
        return _TREES[key]


def _error(case: Case, output: Output, failure: Failure) -> Result:
    names = ("exact_top1_match", "hit_at_k", "mrr_at_k", "ndcg_at_k", "recall_at_k", "hierarchical_f1_top1")
    return Result(
        case_id=case.id,
        repeat=output.repeat,
        verdict=Verdict.ERROR,
        reasons=(f"{failure.kind}: {failure.message}",),
        scores=dict.fromkeys(names),
        undefined=dict.fromkeys(names, "system_error"),
        failure=failure,
    )


def _check(first: str | None, gold: Sequence[str]) -> Check:
    if not gold:
        return Check(name="exact_code", outcome="unchecked", detail="the case names no gold code")
    if first == gold[0]:
        return Check(name="exact_code", outcome="held", detail=f"{first} is the gold code", score=1.0)
    said = "no code was returned" if first is None else f"{first} was returned first"
    return Check(name="exact_code", outcome="failed", detail=f"{said}; gold is {gold[0]}", score=0.0)


def _best_match(hits: Sequence[Hit], gold: Sequence[str], tree: CodeTree) -> tuple[int, str]:
    """(level, name) of the deepest level on which any of the hits agrees with the main gold code."""
    if not gold:
        return 0, ""
    return max((tree.match_level(hit.id, gold[0]) for hit in hits), default=(0, "no_overlap"))


def classification_scores(
    case: Case, output: Output, tree: CodeTree, ideal: IdealGains, material: ScoringContext
) -> tuple[Scores, JsonDict]:
    """Every figure of a case, and the remarks that are texts. Names are the published ones."""
    k = material.top_k
    hits = sorted(output.hits, key=lambda hit: hit.rank)
    ranked = [hit.id for hit in hits]
    gold = list(case.gold_codes)
    main = gold[0] if gold else None
    returned = [*ranked[:k], *output.signals.get("repeated_codes", ())]
    divisions = [node for code in ranked[:k] if (node := tree.node(code, 1)) is not None]
    known = [hit.score for hit in hits[:k]]
    query = words(case.query)
    first = ranked[0] if ranked else None
    exact = hierarchy.exact_top1_match(first, gold)
    scores: Scores = {
        "exact_top1_match": exact,
        "exact_any_top1": hierarchy.exact_any_top1(first, gold),
        "gold_rank": candidates.gold_rank(ranked, main),
        "gold_present_at_k": candidates.gold_present(ranked, main, k),
        "hit_any_at_k": candidates.hit_any(ranked, gold, k),
        **_ranking(ranked, main, k),
        "ndcg_at_k": hierarchical_ndcg(ranked, main, k, tree, ideal),
        "ndcg_exact_at_k": ndcg_exact_at_k(ranked, main, k),
        **_hierarchical(ranked, gold, k, tree),
        "score_margin_top1_top2": candidates.score_margin(known),
        "score_entropy_at_k": candidates.score_entropy(known),
        "unique_cpv_at_k": candidates.unique_count(ranked[:k]),
        "unique_division_at_k": candidates.unique_count(divisions),
        "duplicate_cpv_at_k": candidates.duplicates(returned),
        "duplicate_cpv_rate_at_k": candidates.duplicate_rate(returned),
        "query_token_count": float(len(query)),
        "high_confidence_wrong": candidates.high_confidence_wrong(
            None if exact is None else bool(exact), output.confidence, _high(material)
        ),
        "low_margin_decision": candidates.low_margin(known),
        "duplicate_candidate_pressure": candidates.duplicate_pressure(returned),
        "low_diversity_at_k": candidates.low_diversity(divisions),
        "short_or_ambiguous_query": candidates.short_query(query),
    }
    artifacts: JsonDict = {
        "hierarchy_scheme": tree.scheme,
        "gold_division": tree.node(main, 1) if main else None,
        "top1_division": tree.node(first, 1) if first else None,
        "gold_cpv_label": tree.label(main) or None,
        "gold_cpv_description": _description(tree, main),
    }
    if main is not None and first is not None:
        artifacts["hierarchy_match_label_top1"] = tree.match_level(first, main)[1]
        artifacts["error_relation"] = relation(tree.lineage(first), tree.lineage(main))
    elif main is not None:
        artifacts["hierarchy_match_label_top1"] = "no_overlap"
        artifacts["error_relation"] = "no_prediction"
    return scores, artifacts


def _ranking(ranked: Sequence[str], main: str | None, k: int) -> Scores:
    judged = {main: 1} if main is not None else {}
    return {
        "hit_at_k": ranking.success_at_k(ranked, judged, k),
        "precision_at_k": ranking.precision_at_k(ranked, judged, k),
        "recall_at_k": ranking.recall_at_k(ranked, judged, k),
        "mrr_at_k": ranking.reciprocal_rank(ranked, judged, k),
    }


def _hierarchical(ranked: Sequence[str], gold: Sequence[str], k: int, tree: CodeTree) -> Scores:
    main = gold[0] if gold else None
    first = ranked[0] if ranked else None
    own = tree.path(main) if main else ()
    top = tree.path(first) if first else ()
    paths = [tree.path(code) for code in ranked[:k]]
    agreeing = None
    if main is not None and own:
        agreeing = [tree.match_level(first, main)[0]] if first else []
    kind = (
        None
        if not own
        else relation(tree.lineage(first), tree.lineage(main or ""))
        if first
        else "no_prediction"
    )
    score = hierarchy.hierarchical_f1(top, own)
    published = tree.scheme == "two_digit_steps"
    levels = {
        f"same_{name}_top1": hierarchy.same_level(
            tree.node(first, level) if first else None, tree.node(main, level) if main else None
        )
        for level, name in enumerate(("division", "group", "class", "category"), 1)
        if level <= len(tree.levels)
    }
    return {
        "hierarchical_precision_top1": hierarchy.hierarchical_precision(top, own),
        "hierarchical_recall_top1": hierarchy.hierarchical_recall(top, own),
        "hierarchical_f1_top1": score,
        "hierarchy_score_top1": score,
        "cpv_hierarchy_similarity_top1": score if published else hierarchy.hierarchy_similarity(top, own),
        "lca_distance_top1": hierarchy.lca_distance(top, own),
        "best_hierarchy_score_at_k": hierarchy.best_hierarchy_score(paths, own, k),
        "hierarchical_err_at_k": hierarchy.hierarchical_err(paths, own, k),
        "hierarchical_f1_set_top1": hierarchy.hierarchical_f1_set(top, [tree.path(code) for code in gold]),
        "cpv_common_prefix_length_top1": hierarchy.common_prefix_length(first, main, padded=published),
        "hierarchy_match_level_top1": hierarchy.hierarchy_match_level(agreeing),
        **levels,
        **{f"{each}_error_top1": candidates.is_error_kind(kind, each) for each in candidates.ERROR_KINDS},
    }


def _high(material: ScoringContext) -> float:
    given = material.settings.get("high_confidence")
    return HIGH_CONFIDENCE if given is None else float(given)


def _description(tree: CodeTree, code: str | None) -> str | None:
    entry = tree.catalog.by_code.get(code) if tree.catalog is not None and code else None
    return entry.description or None if entry is not None else None


_LISTED = {
    "score_margin_top1_top2": "no_scores",
    "score_entropy_at_k": "no_scores",
    "low_margin_decision": "no_scores",
    "high_confidence_wrong": "no_confidence",
    "duplicate_cpv_rate_at_k": "no_candidates",
    "duplicate_candidate_pressure": "no_candidates",
    "low_diversity_at_k": "one_candidate",
    "gold_rank": "not_in_list",
    "ndcg_at_k": "no_code_list",
    "lca_distance_top1": "no_valid_prediction",
}


def _reason(name: str, gold: Sequence[str], hits: Sequence[Hit]) -> str:
    if name in ("score_margin_top1_top2", "score_entropy_at_k", "low_margin_decision") or (
        gold and name in _LISTED
    ):
        return _LISTED[name]
    if name in ("duplicate_cpv_rate_at_k", "duplicate_candidate_pressure", "low_diversity_at_k"):
        return _LISTED[name]
    if not gold:
        return "no_gold"
    return "gold_shallower" if name.startswith("same_") else "gold_not_in_list"
