"""Hierarchical figures of one classification, on paths of nodes from the top down (`core.metrics.code_tree`).

P are the ancestors-or-self of the prediction, G those of the gold, the root left out. An empty P is a prediction
that is missing or not in the list: it scores 0. An empty G is no gold: None.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from core.contracts import Metric, add_metric, metric
from core.metrics.code_tree import Path, common

PATHS = "path of the prediction; path of the gold"
NO_GOLD = "None without gold; 0 for a prediction that is missing or not in the list"
KIRITCHENKO = "Kiritchenko et al. 2006"


@metric(
    name="exact_top1_match",
    title="Exact code at rank 1 (accuracy)",
    family="classification",
    kind="binary",
    formula="1 if the first code is the (main) gold code, else 0",
    inputs="first predicted code; gold codes, the main one first",
    empty="None without gold; 0 for an empty list",
    source="published name",
    headline=True,
)
def exact_top1_match(predicted: str | None, gold: Sequence[str]) -> float | None:
    """1.0 when the prediction is the main gold code.

    >>> exact_top1_match("45000000", ["45000000"]), exact_top1_match(None, ["45000000"])
    (1.0, 0.0)
    """
    return float(predicted == gold[0]) if gold else None


@metric(
    name="exact_any_top1",
    title="Any gold code at rank 1",
    family="classification",
    kind="binary",
    formula="1 if the first code is one of the gold codes, else 0",
    inputs="first predicted code; all gold codes",
    empty="None without gold; 0 for an empty list",
    source="Plumbline",
)
def exact_any_top1(predicted: str | None, gold: Sequence[str]) -> float | None:
    """1.0 when the prediction is any of the gold codes.

    >>> exact_any_top1("b", ["a", "b"])
    1.0
    """
    return float(predicted in gold) if gold else None


@metric(
    name="hierarchical_precision_top1",
    title="Hierarchical precision",
    family="hierarchy",
    formula="|P ∩ G| / |P|",
    inputs=PATHS,
    empty=NO_GOLD,
    source=KIRITCHENKO,
)
def hierarchical_precision(predicted: Path, gold: Path) -> float | None:
    """Share of the prediction's ancestors-or-self that are the gold's: 1 for a prediction that is only too general.

    >>> hierarchical_precision(("45",), ("45", "452"))
    1.0
    """
    if not gold:
        return None
    return common(predicted, gold) / len(predicted) if predicted else 0.0


@metric(
    name="hierarchical_recall_top1",
    title="Hierarchical recall",
    family="hierarchy",
    formula="|P ∩ G| / |G|",
    inputs=PATHS,
    empty=NO_GOLD,
    source=KIRITCHENKO,
)
def hierarchical_recall(predicted: Path, gold: Path) -> float | None:
    """Share of the gold's ancestors-or-self that the prediction has: 1 for one that is only too specific.

    >>> hierarchical_recall(("45",), ("45", "452"))
    0.5
    """
    return common(predicted, gold) / len(gold) if gold else None


@metric(
    name="hierarchical_f1_top1",
    title="Hierarchical F1",
    family="hierarchy",
    formula="2 |P ∩ G| / (|P| + |G|); for single codes Wu–Palmer similarity",
    inputs=PATHS,
    empty=NO_GOLD,
    source=KIRITCHENKO,
    headline=True,
)
@metric(
    name="hierarchy_score_top1",
    title="Hierarchy score at rank 1",
    family="hierarchy",
    formula="2 |P ∩ G| / (|P| + |G|); under two_digit_steps the share of the four levels that agree",
    inputs=PATHS,
    empty=NO_GOLD,
    source="published name; " + KIRITCHENKO,
)
def hierarchical_f1(predicted: Path, gold: Path) -> float | None:
    """Harmonic mean of hierarchical precision and recall; under `two_digit_steps` both are the published score.

    >>> hierarchical_f1(("45", "452"), ("45", "452", "4521", "45213"))
    0.6666666666666666
    """
    if not gold:
        return None
    return 2 * common(predicted, gold) / (len(predicted) + len(gold))


@metric(
    name="cpv_hierarchy_similarity_top1",
    title="Hierarchy similarity at rank 1",
    family="hierarchy",
    formula="|P ∩ G| / |P ∪ G|; under two_digit_steps 1 − distance / 8 (reported by the evaluator)",
    inputs=PATHS,
    empty=NO_GOLD,
    source="published name; Jaccard of ancestor sets",
)
def hierarchy_similarity(predicted: Path, gold: Path) -> float | None:
    """Shared nodes over all nodes of both paths.

    >>> hierarchy_similarity(("45", "453"), ("45", "452"))
    0.3333333333333333
    """
    if not gold:
        return None
    shared = common(predicted, gold)
    return shared / (len(predicted) + len(gold) - shared)


@metric(
    name="lca_distance_top1",
    title="Steps to the gold",
    family="hierarchy",
    kind="count",
    direction=-1,
    high=None,
    unit="steps",
    formula="(|P| − |P ∩ G|) + (|G| − |P ∩ G|): edges over the lowest common ancestor",
    inputs=PATHS,
    empty="None without gold, and for a prediction that is missing or not in the list",
    source="Kosmopoulos et al. 2015",
)
def lca_distance(predicted: Path, gold: Path) -> float | None:
    """Edges between prediction and gold.

    >>> lca_distance(("45", "453"), ("45", "452"))
    2.0
    """
    if not gold or not predicted:
        return None
    return float(len(predicted) + len(gold) - 2 * common(predicted, gold))


@metric(
    name="best_hierarchy_score_at_k",
    title="Best hierarchy score@k",
    family="hierarchy",
    formula="largest hierarchy score among the first k",
    inputs="paths of the predictions, best first; path of the gold; k",
    empty="None without gold; 0 for an empty list",
    source="published name",
)
def best_hierarchy_score(ranked: Sequence[Path], gold: Path, k: int) -> float | None:
    """Hierarchical F1 of the best of the first `k`.

    >>> best_hierarchy_score([("30",), ("45",)], ("45", "452"), 2)
    0.6666666666666666
    """
    if not gold:
        return None
    return max((hierarchical_f1(path, gold) or 0.0 for path in ranked[:k]), default=0.0)


@metric(
    name="hierarchical_err_at_k",
    title="Hierarchical ERR@k",
    family="hierarchy",
    formula="Σ_i (1/i) h_i Π_{j<i} (1 − h_j), h the hierarchical F1 of the i-th code",
    inputs="paths of the predictions, best first; path of the gold; k",
    empty="None without gold; 0 for an empty list",
    source="Chapelle et al. 2009 with R = hierarchical F1",
)
def hierarchical_err(ranked: Sequence[Path], gold: Path, k: int) -> float | None:
    """Expected reciprocal rank with hierarchical relevance: 1 for the gold at rank 1, whatever follows.

    >>> hierarchical_err([("45",), ("30",)], ("45",), 5)
    1.0
    """
    if not gold:
        return None
    total, left = 0.0, 1.0
    for rank, path in enumerate(ranked[:k], 1):
        gain = hierarchical_f1(path, gold) or 0.0
        total += left * gain / rank
        left *= 1 - gain
    return total


@metric(
    name="hierarchical_f1_set_top1",
    title="Hierarchical F1 against all gold codes",
    family="hierarchy",
    formula="2 |P ∩ U| / (|P| + |U|), U the union of the gold codes' ancestors-or-self",
    inputs="path of the prediction; paths of all gold codes",
    empty=NO_GOLD,
    source=KIRITCHENKO + "; over-penalises several gold codes (Kosmopoulos et al. 2015)",
)
def hierarchical_f1_set(predicted: Path, gold: Sequence[Path]) -> float | None:
    """Hierarchical F1 against the union of several gold paths.

    >>> hierarchical_f1_set(("45",), [("45",), ("30",)])
    0.6666666666666666
    """
    union = {node for path in gold for node in path}
    if not union:
        return None
    return 2 * len(union & set(predicted)) / (len(predicted) + len(union))


# --- levels ---------------------------------------------------------------------------------------------------


def same_level(predicted: str | None, gold: str | None) -> float | None:
    """1.0 when prediction and gold have the same node at a level; None where the gold is shallower than it.

    >>> same_level("452", "452"), same_level(None, "452"), same_level("452", None)
    (1.0, 0.0, None)
    """
    return None if gold is None else float(predicted == gold)


_LEVEL = partial(
    Metric,
    family="hierarchy",
    kind="binary",
    inputs="ancestor-or-self of the prediction and of the gold at that level",
    empty="None where the gold is shallower than the level",
    source="published name; levels as hierarchy_scheme says",
    function=same_level,
)
for _name, _title in (
    ("division", "Same division"),
    ("group", "Same group"),
    ("class", "Same class"),
    ("category", "Same category"),
):
    add_metric(
        _LEVEL(
            name=f"same_{_name}_top1",
            title=_title,
            formula=f"1 if the first code and the gold have the same {_name}, else 0",
        )
    )


@metric(
    name="cpv_common_prefix_length_top1",
    title="Common prefix of rank 1 and gold",
    family="hierarchy",
    kind="count",
    high=8.0,
    unit="digits",
    formula="significant digits two codes share from the left, 8 for the whole code (two_digit_steps: padding zeros count)",
    inputs="first predicted code; gold code",
    empty="None without gold and for codes that are not eight digits",
    source="published name",
)
def common_prefix_length(predicted: str | None, gold: str | None, *, padded: bool = False) -> float | None:
    """Digits two codes share; zeros that only fill up do not count unless `padded`.

    >>> common_prefix_length("33100000", "33190000"), common_prefix_length("45000000", "45000000")
    (3.0, 8.0)
    """
    if not gold or len(gold) != 8 or not gold.isdigit():
        return None
    if predicted == gold:
        return 8.0
    limit = 8 if padded else min(_digits(predicted or ""), _digits(gold))
    shared = 0
    for one, other in zip((predicted or "")[:limit], gold[:limit], strict=False):
        if one != other:
            break
        shared += 1
    return float(shared)


def _digits(code: str) -> int:
    return max(2, len(code.rstrip("0")))


@metric(
    name="hierarchy_match_level_top1",
    title="Deepest level that agrees",
    family="hierarchy",
    kind="count",
    high=None,
    formula="digits of the deepest level on which rank 1 and gold agree, 0 for none (depth for parents as given)",
    inputs="levels that agree (digits or depths)",
    empty="None without gold",
    source="published name",
)
def hierarchy_match_level(agreeing: Sequence[int] | None) -> float | None:
    """The deepest of the levels that agree; 0 for none, None without gold.

    >>> hierarchy_match_level([2, 3]), hierarchy_match_level([])
    (3.0, 0.0)
    """
    return None if agreeing is None else float(max(agreeing, default=0))
