"""The measures of trec_eval 10.0 under its own names, for one topic and averaged over topics.

Here the conventions are trec_eval's, not ours: a topic without a relevant document scores 0. Measures take
parameters as trec_eval does (`P.5,10`, `ndcg.1=3,2=9`, `Rprec_mult.0.5`). Sources: trec_eval's documentation
and code; Buckley & Voorhees 2004 (bpref), Yilmaz & Aslam 2006 (infAP), Moffat & Zobel 2008 (rbp).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

NOT_IN_POOL, UNJUDGED = -1, -2
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TENTHS = tuple(n / 10 for n in range(11))
FIFTHS = tuple(n / 5 for n in range(1, 11))
MIN_GEO_MEAN = 0.00001
INFAP_EPSILON = 0.00001
PERSISTENCE = 0.9

Value = float | int | str
Gains = Mapping[int, float]
Parameters = tuple[float, ...] | Gains


@dataclass(frozen=True)
class Topic:
    """One query: the grades of its ranked documents (NOT_IN_POOL, UNJUDGED or a grade ≥ 0) and how many
    documents are judged at each grade."""

    ranked: tuple[int, ...]
    n_at_grade: Mapping[int, int]
    rel_level: int = 1

    @staticmethod
    def of(
        ranked: Sequence[str],
        judged: Mapping[str, int],
        rel_level: int = 1,
        max_docs: int | None = None,
        judged_only: bool = False,
    ) -> Topic:
        """From document ids in ranking order and grades by id. `judged_only` drops what nobody judged and closes
        the ranks (the condensed list of Sakai 2007; trec_eval's -J)."""
        counts: dict[int, int] = {}
        for grade in judged.values():
            if grade >= 0:
                counts[grade] = counts.get(grade, 0) + 1
        found = (judged.get(item) for item in ranked[:max_docs])
        grades = [NOT_IN_POOL if grade is None else UNJUDGED if grade < 0 else grade for grade in found]
        return Topic(tuple(g for g in grades if g >= 0 or not judged_only), counts, rel_level)

    @cached_property
    def num_ret(self) -> int:
        return len(self.ranked)

    @cached_property
    def num_rel(self) -> int:
        return sum(n for grade, n in self.n_at_grade.items() if grade >= self.rel_level)

    @cached_property
    def num_nonrel(self) -> int:
        return sum(n for grade, n in self.n_at_grade.items() if grade < self.rel_level)

    @cached_property
    def hits(self) -> tuple[bool, ...]:
        return tuple(grade >= self.rel_level for grade in self.ranked)

    @cached_property
    def found(self) -> tuple[int, ...]:
        """Relevant documents among the first i, for i = 0, 1, …"""
        return tuple(accumulate(self.hits, initial=0))

    @property
    def num_rel_ret(self) -> int:
        return self.found[-1]

    def found_at(self, k: int) -> int:
        return self.found[min(k, self.num_ret)]


Single = Callable[[Topic, Parameters], Value]
Many = Callable[[Topic, tuple[float, ...]], list[float]]


# --- one value a topic ----------------------------------------------------------------------------------------


def average_precision(topic: Topic, k: float = math.inf) -> float:
    total = sum(topic.found[i + 1] / (i + 1) for i, hit in enumerate(topic.hits) if hit and i < k)
    return total / topic.num_rel if topic.num_rel else 0.0


def r_precision(topic: Topic) -> float:
    return topic.found_at(topic.num_rel) / topic.num_rel if topic.num_rel else 0.0


def reciprocal_rank(topic: Topic) -> float:
    return 1.0 / (topic.hits.index(True) + 1) if topic.num_rel_ret else 0.0


def bpref(topic: Topic) -> float:
    above, total = 0, 0.0
    for grade in topic.ranked:
        if grade >= topic.rel_level:
            bound = min(topic.num_rel, topic.num_nonrel)
            total += 1.0 - min(above, topic.num_rel) / bound if above else 1.0
        elif grade >= 0:
            above += 1
    return total / topic.num_rel if topic.num_rel else 0.0


def inferred_ap(topic: Topic) -> float:
    nonrel, rel, unjudged, total = 0, 0, 0, 0.0
    for place, grade in enumerate(topic.ranked):
        if grade == NOT_IN_POOL:
            continue
        if grade == UNJUDGED:
            unjudged += 1
        elif grade < topic.rel_level:
            nonrel += 1
        else:
            total += _inferred_precision(place, rel, nonrel, unjudged)
            rel += 1
    return total / topic.num_rel if topic.num_rel else 0.0


def _inferred_precision(place: int, rel: int, nonrel: int, unjudged: int) -> float:
    if place == 0:
        return 1.0
    share = (rel + INFAP_EPSILON) / (rel + nonrel + 2 * INFAP_EPSILON)
    return 1.0 / (place + 1) + (place / (place + 1)) * ((rel + nonrel + unjudged) / place) * share


def binary_g(topic: Topic) -> float:
    total = sum(1.0 / math.log2(3 + i - topic.found[i + 1]) for i, hit in enumerate(topic.hits) if hit)
    return total / topic.num_rel if topic.num_rel_ret else 0.0


def utility(topic: Topic, weights: tuple[float, ...]) -> float:
    rel_ret, nonrel_ret = topic.num_rel_ret, topic.num_ret - topic.num_rel_ret
    a, b, c, d = (*weights, 1.0, -1.0, 0.0, 0.0)[:4] if len(weights) < 4 else weights[:4]
    judged_nonrel_ret = sum(0 <= grade < topic.rel_level for grade in topic.ranked)
    return (
        a * rel_ret
        + b * nonrel_ret
        + c * (topic.num_rel - rel_ret)
        + d * (topic.num_nonrel - judged_nonrel_ret)
    )


def set_f(topic: Topic, weight: float = 1.0) -> float:
    if not topic.num_rel_ret:
        return 0.0
    precision, recall = topic.num_rel_ret / topic.num_ret, topic.num_rel_ret / topic.num_rel
    return (weight + 1.0) * precision * recall / (recall + weight * precision)


def rbp(topic: Topic, gains: Gains, p: float = PERSISTENCE) -> float:
    """Gains above 1 are brought into [0, 1] by the highest."""
    table = gains_of(topic, gains)
    top = max([1.0, *table.values()])
    total, weight = 0.0, 1.0
    for grade in topic.ranked:
        total += table.get(grade, 0.0) / top * weight
        weight *= p
    return (1.0 - p) * total


def rbp_residual(topic: Topic, p: float = PERSISTENCE) -> float:
    total, weight, unjudged = 0.0, 1.0, 0
    for grade in topic.ranked:
        if grade < 0:
            unjudged += 1
            total += weight
        weight *= p
    return weight + (1.0 - p) * total if unjudged else 0.0


def relstring(topic: Topic, n: int = 10) -> str:
    signs = {NOT_IN_POOL: "-", UNJUDGED: "."}
    shown = [signs.get(grade, str(grade) if grade < 10 else ">") for grade in topic.ranked[:n]]
    return "'" + "".join(shown) + "'"


# --- gains ----------------------------------------------------------------------------------------------------


def gains_of(topic: Topic, given: Gains) -> dict[int, float]:
    """Gain of each grade: the grade itself unless the parameters give another."""
    top = max(topic.n_at_grade, default=0)
    return {grade: float(grade) for grade in range(top + 1)} | dict(given)


def _ideal(topic: Topic, gains: Mapping[int, float]) -> list[float]:
    ordered = sorted(((gain, topic.n_at_grade.get(grade, 0)) for grade, gain in gains.items()), reverse=True)
    return [gain for gain, count in ordered for _ in range(count) if gain > 0]


def _dcg(values: Sequence[float]) -> list[float]:
    """DCG after each place, beginning with 0 places."""
    return list(accumulate((v / math.log2(i + 2) if v else 0.0 for i, v in enumerate(values)), initial=0.0))


def ndcg(topic: Topic, given: Gains, k: float = math.inf) -> float:
    gains = gains_of(topic, given)
    cut = None if math.isinf(k) else int(k)
    ideal = _dcg(_ideal(topic, gains)[:cut])[-1]
    return _dcg([gains.get(grade, 0.0) for grade in topic.ranked[:cut]])[-1] / ideal if ideal > 0 else 0.0


def _curves(topic: Topic, given: Gains) -> tuple[list[float], list[float], list[float], list[float]]:
    gains = gains_of(topic, given)
    values = [gains.get(grade, 0.0) for grade in topic.ranked]
    ideal = _ideal(topic, gains)
    return values, ideal, _dcg(values), _dcg(ideal)


def ndcg_rel(topic: Topic, given: Gains) -> float:
    """nDCG averaged over the relevant documents, each at its own place (at the end for those not retrieved)."""
    values, ideal, dcg, best = _curves(topic, given)
    if not ideal:
        return 0.0
    places = [i + 1 for i, value in enumerate(values) if value > 0]
    total = sum(dcg[i] / best[min(i, len(ideal))] for i in places)
    total += (len(ideal) - len(places)) * dcg[-1] / best[-1]
    return total / len(ideal)


def r_ndcg(topic: Topic, given: Gains) -> float:
    """nDCG averaged over the places where the ideal gain falls, and the end of the ranking when it is longer."""
    values, ideal, dcg, best = _curves(topic, given)
    if not ideal:
        return 0.0
    steps = [i for i in range(1, len(ideal)) if ideal[i] != ideal[i - 1]] + [len(ideal)]
    n = len(values)
    points = [dcg[min(i, n)] / best[i] for i in steps if i < n or i > n or n == len(ideal)]
    if n > len(ideal):
        points.append(dcg[-1] / best[-1])
    elif n in steps[:-1]:
        points.append(dcg[n] / best[n])
    return sum(points) / len(points)


def normalised_g(topic: Topic, given: Gains) -> float:
    """Gain discounted by how far the ranking lags behind the ideal one (Buckley's experimental G)."""
    values, ideal, _, _ = _curves(topic, given)
    lag, total = 0.0, 0.0
    for place, value in enumerate(values):
        lag += max(1.0, ideal[place] if place < len(ideal) else 0.0) - value
        if value:
            total += value / math.log2(2 + lag)
    return total / sum(ideal) if ideal else 0.0


# --- several cut-offs -----------------------------------------------------------------------------------------


def interpolated_precision(topic: Topic, levels: tuple[float, ...]) -> list[float]:
    """Highest precision at or after each recall level (levels are rounded to whole documents, as v10 does)."""
    if not topic.num_ret:
        return [0.0 for _ in levels]
    best, at_found = 0.0, [0.0] * (topic.num_rel_ret + 1)
    for i in range(topic.num_ret, 0, -1):
        best = max(best, topic.found[i] / i)
        if topic.hits[i - 1]:
            at_found[topic.found[i]] = best
    at_found[0] = best
    needed = [math.floor(level * topic.num_rel + 0.5) for level in levels]
    return [at_found[n] if n <= topic.num_rel_ret else 0.0 for n in needed]


def precision_at_multiples(topic: Topic, multiples: tuple[float, ...]) -> list[float]:
    cuts = [int(multiple * topic.num_rel + 0.9) for multiple in multiples]
    return [topic.found_at(cut) / cut if cut else 0.0 for cut in cuts]


def _at(function: Callable[[Topic, int], float]) -> Many:
    return lambda topic, cutoffs: [function(topic, int(k)) for k in cutoffs]


def _unjudged(topic: Topic, k: int) -> float:
    return sum(grade < 0 for grade in topic.ranked[:k]) / k


def _relative_precision(topic: Topic, k: int) -> float:
    bound = min(k, topic.num_rel)
    return topic.found_at(k) / bound if bound else 0.0


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure and how it is averaged. `takes` says what its parameters are; `digits` of a parameter in the name."""

    name: str
    single: Single | None = None
    many: Many | None = None
    defaults: tuple[float, ...] = ()
    average: Literal["mean", "sum", "geometric", "none"] = "mean"
    takes: Literal["nothing", "gains", "numbers", "cutoffs", "levels"] = "nothing"


def _measures() -> list[Measure]:
    def plain(name: str, function: Callable[[Topic], Value], average: str = "mean") -> Measure:
        return Measure(name, lambda topic, _: function(topic), average=average)  # type: ignore[arg-type]

    def gains(name: str, function: Callable[[Topic, Gains], float]) -> Measure:
        return Measure(name, lambda topic, given: function(topic, given), takes="gains")  # type: ignore[arg-type]

    def cut(
        name: str, function: Callable[[Topic, int], float], defaults: tuple[float, ...] = CUTOFFS
    ) -> Measure:
        return Measure(name, many=_at(function), defaults=defaults, takes="cutoffs")

    def numbers(
        name: str, function: Callable[[Topic, tuple[float, ...]], Value], *defaults: float
    ) -> Measure:
        return Measure(name, lambda topic, given: function(topic, given), defaults=defaults, takes="numbers")  # type: ignore[arg-type]

    return [
        plain("num_ret", lambda t: t.num_ret, "sum"),
        plain("num_rel", lambda t: t.num_rel, "sum"),
        plain("num_rel_ret", lambda t: t.num_rel_ret, "sum"),
        plain("map", average_precision),
        plain("gm_map", average_precision, "geometric"),
        plain("Rprec", r_precision),
        plain("bpref", bpref),
        plain("recip_rank", reciprocal_rank),
        Measure("iprec_at_recall", many=interpolated_precision, defaults=TENTHS, takes="levels"),
        cut("P", lambda t, k: t.found_at(k) / k),
        Measure(
            "relstring", lambda t, n: relstring(t, int(n[0])), defaults=(10,), average="none", takes="numbers"
        ),
        cut("recall", lambda t, k: _share(t.found_at(k), t.num_rel)),
        plain("infAP", inferred_ap),
        plain("gm_bpref", bpref, "geometric"),
        Measure("Rprec_mult", many=precision_at_multiples, defaults=FIFTHS, takes="levels"),
        numbers("utility", utility, 1.0, -1.0, 0.0, 0.0),
        numbers("11pt_avg", lambda t, levels: _share_of(interpolated_precision(t, levels)), *TENTHS),
        plain("binG", binary_g),
        gains("G", normalised_g),
        gains("ndcg", ndcg),
        gains("ndcg_rel", ndcg_rel),
        gains("Rndcg", r_ndcg),
        cut("ndcg_cut", lambda t, k: ndcg(t, {}, k)),
        cut("map_cut", average_precision),
        cut("relative_P", _relative_precision),
        cut("success", lambda t, k: float(t.found_at(k) > 0), (1, 5, 10)),
        plain("set_P", lambda t: _share(t.num_rel_ret, t.num_ret)),
        plain("set_relative_P", lambda t: _share(t.num_rel_ret, min(t.num_ret, t.num_rel))),
        plain("set_recall", lambda t: _share(t.num_rel_ret, t.num_rel)),
        plain("set_map", lambda t: _share(t.num_rel_ret**2, t.num_ret * t.num_rel)),
        numbers("set_F", lambda t, x: set_f(t, x[0]), 1.0),
        plain("num_nonrel_judged_ret", lambda t: sum(0 <= g < t.rel_level for g in t.ranked), "sum"),
        gains("rbp", rbp),
        plain("rbp_resid", rbp_residual),
        cut("unj", _unjudged, (5, 10, 20)),
        cut("recip_rank_cut", lambda t, k: reciprocal_rank(t) if t.found_at(k) else 0.0, (10,)),
        cut("judged", lambda t, k: _share(sum(g >= 0 for g in t.ranked[:k]), min(k, t.num_ret)), (10,)),
    ]


def _share_of(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


MEASURES: dict[str, Measure] = {measure.name: measure for measure in _measures()}
OURS = ("recip_rank_cut", "judged")  # not in trec_eval
ALL_TREC = tuple(name for name in MEASURES if name not in OURS)
OFFICIAL = (
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "map",
    "gm_map",
    "Rprec",
    "bpref",
    "recip_rank",
    "iprec_at_recall",
    "P",
)
