"""nDCG of a ranked list of codes with hierarchical gain, its ideal taken over the whole code list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from core.contracts import metric
from core.metrics.code_tree import CodeTree, Path, common
from core.metrics.hierarchy import hierarchical_f1
from core.metrics.ranking import dcg, distinct


class IdealGains:
    """The best gains any ranking of the code list could have for a gold code. Computed once a gold code."""

    def __init__(self, tree: CodeTree) -> None:
        self.tree = tree
        self._known: dict[tuple[str, int], tuple[float, ...]] = {}

    @cached_property
    def _below(self) -> Mapping[str, Sequence[Path]]:
        """Node → paths of the codes at or below it, shallow ones first."""
        found: dict[str, list[Path]] = defaultdict(list)
        codes = self.tree.catalog.codes if self.tree.catalog is not None else ()
        for path in sorted((self.tree.path(code.code) for code in codes), key=lambda each: (len(each), each)):
            for node in path:
                found[node].append(path)
        return found

    def of(self, gold: str, k: int) -> tuple[float, ...]:
        """The `k` highest gains in the code list, best first; fewer where fewer codes are related at all."""
        if (gold, k) not in self._known:
            self._known[gold, k] = self._of(self.tree.path(gold), k)
        return self._known[gold, k]

    def _of(self, gold: Path, k: int) -> tuple[float, ...]:
        gains: list[float] = []
        for depth in range(len(gold), 0, -1):
            taken = 0
            for path in self._below[gold[depth - 1]]:
                if common(path, gold) > depth:
                    continue  # counted at the deeper node already
                gains.append(2 * depth / (len(path) + len(gold)))
                taken += 1
                if taken == k:
                    break
        return tuple(sorted(gains, reverse=True)[:k])


def hierarchical_ndcg(
    ranked: Sequence[str], gold: str | None, k: int, tree: CodeTree, ideal: IdealGains
) -> float | None:
    """nDCG@k with gain = hierarchical F1 against the gold code. None without gold or without a code list.

    A code that comes again gains nothing; the ideal is that of the whole list, so a ranking without the gold
    stays below 1.
    """
    if not gold or tree.catalog is None or not tree.path(gold):
        return None
    return ndcg_of_gains([_gain(tree, code, gold) for code in distinct(ranked)[:k]], ideal.of(gold, k))


def _gain(tree: CodeTree, code: str, gold: str) -> float:
    return hierarchical_f1(tree.path(code), tree.path(gold)) or 0.0


def ndcg_of_gains(gains: Sequence[float], ideal: Sequence[float]) -> float | None:
    """DCG of the gains over the DCG of the best possible gains (as many places as there are); None for no ideal.

    >>> ndcg_of_gains([1.0, 0.5], [1.0, 0.5])
    1.0
    """
    best = dcg(ideal)
    return min(1.0, dcg(gains) / best) if best else None


@metric(
    name="ndcg_exact_at_k",
    title="nDCG@k, exact codes only",
    family="classification",
    formula="1 / log2(rank + 1) of the gold code, 0 when it is not among the first k",
    inputs="ranked codes; the gold code; k",
    empty="None without gold; 0 for an empty list",
    source="Järvelin & Kekäläinen 2002 with one relevant code",
)
def ndcg_exact_at_k(ranked: Sequence[str], gold: str | None, k: int) -> float | None:
    """nDCG with a gain for the gold code alone.

    >>> ndcg_exact_at_k(["a", "b", "c"], "c", 3)
    0.5
    """
    if not gold:
        return None
    top = distinct(ranked)[:k]
    return dcg([float(code == gold) for code in top]) / dcg([1.0])
