"""A whole run against judgements, as trec_eval evaluates it: which topics count, in which order, what is averaged."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.errors import ConfigError, UnknownNameError
from core.metrics import expected_ties
from core.metrics.judgements import judged_at_k
from core.metrics.ties import ordered, tie_groups, tie_spread
from core.metrics.trec import (
    ALL_TREC,
    MEASURES,
    MIN_GEO_MEAN,
    OFFICIAL,
    Gains,
    Measure,
    Topic,
    Value,
)

_FAMILIES = {
    "ndcg": "ndcg_cut", "p": "P", "precision": "P", "recall": "recall", "r": "recall", "map": "map_cut", "ap": "map_cut",
    "success": "success", "hit": "success", "recip_rank": "recip_rank_cut", "rr": "recip_rank_cut", "mrr": "recip_rank_cut",
    "judged": "judged", "unj": "unj", "relative_p": "relative_P",
}  # fmt: skip
_SINGLE = {
    "ap": "map",
    "rr": "recip_rank",
    "mrr": "recip_rank",
    "r_precision": "Rprec",
    "rprec": "Rprec",
    "infap": "infAP",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A measure with its parameters and the label of each of its values."""

    measure: Measure
    labels: tuple[str, ...]
    numbers: tuple[float, ...] = ()
    gains: Gains | None = None

    def values(self, topic: Topic) -> list[Value]:
        """The values for one topic, one for each label."""
        if self.measure.many is not None:
            return list(self.measure.many(topic, self.numbers))
        assert self.measure.single is not None
        return [self.measure.single(topic, self.gains if self.gains is not None else self.numbers)]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Per-topic values and averages by label, in printing order; `n_topics` were averaged over.

    `missing` are judged topics the run does not answer, `unjudged` topics of the run nobody judged, and
    `without_relevant` topics whose measures are 0 because nothing is relevant. `judged_at_10` and `tie_spread` (the widest
    span nDCG@10 has over orders of ties, averaged over topics) stand beside the headline; None without topics.
    """

    per_topic: dict[str, dict[str, Value]]
    average: dict[str, Value]
    n_topics: int
    missing: tuple[str, ...]
    unjudged: tuple[str, ...]
    without_relevant: tuple[str, ...]
    judged_at_10: float | None
    tie_spread: float | None


def parse_measures(names: Sequence[str]) -> list[Wanted]:
    """Measures from names like `ndcg@10`, `P_5`, `P.5,10`, `map`, `official`, `all_trec`; ConfigError names the known ones."""
    wanted: list[Wanted] = []
    for name in names:
        if name in ("official", "all_trec"):
            wanted += [
                _with_defaults(MEASURES[each]) for each in (OFFICIAL if name == "official" else ALL_TREC)
            ]
        else:
            _place(wanted, parse_measure(name))
    return list({each.labels: each for each in wanted}.values())


def _place(wanted: list[Wanted], new: Wanted) -> None:
    """A measure with parameters takes the place of the same one with its defaults, as in trec_eval."""
    plain = _with_defaults(new.measure)
    if plain in wanted and not all("@" in label for label in new.labels):
        wanted[wanted.index(plain)] = new
    else:
        wanted.append(new)


def parse_measure(name: str) -> Wanted:
    """One measure from its name."""
    if match := re.fullmatch(r"([A-Za-z_]+)@(\d+)", name):
        family = _FAMILIES.get(match[1].lower())
        if family and int(match[2]) > 0:
            return Wanted(MEASURES[family], (name,), (float(match[2]),))
    if "." in name and (base := name.split(".", 1)[0]) in MEASURES:
        return _with_parameters(MEASURES[base], name.split(".", 1)[1])
    if name in MEASURES:
        return _with_defaults(MEASURES[name])
    if name.lower() in _SINGLE:
        return Wanted(MEASURES[_SINGLE[name.lower()]], (name,))
    match = re.fullmatch(r"(\w+?)_(\d+(?:\.\d+)?)", name)
    if match and match[1] in MEASURES and MEASURES[match[1]].takes in ("cutoffs", "levels"):
        return Wanted(MEASURES[match[1]], (name,), (float(match[2]),))
    known = [*MEASURES, "official", "all_trec", *(f"{family}@10" for family in _FAMILIES)]
    raise UnknownNameError("ranking measure", name, known)


def _with_defaults(measure: Measure) -> Wanted:
    if measure.takes == "gains":
        return Wanted(measure, (measure.name,), (), {})
    return Wanted(measure, _labels(measure, measure.defaults), measure.defaults)


def _with_parameters(measure: Measure, text: str) -> Wanted:
    try:
        if measure.takes == "gains":
            gains = {int(k): float(v) for k, v in (pair.split("=") for pair in text.split(","))}
            return Wanted(measure, (f"{measure.name}_{text}",), (), gains)
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(f"the parameters '{text}' of measure '{measure.name}' cannot be read") from None
    if measure.takes == "nothing" or not all(map(math.isfinite, numbers)):
        raise ConfigError(f"measure '{measure.name}' takes no parameters like '{text}'")
    if measure.takes in ("cutoffs", "levels"):
        numbers = tuple(
            sorted({float(int(n)) for n in numbers} if measure.takes == "cutoffs" else set(numbers))
        )
        if measure.takes == "cutoffs" and numbers[0] < 1:
            raise ConfigError(f"cut-offs of '{measure.name}' must be at least 1")
        return Wanted(measure, _labels(measure, numbers), numbers)
    return Wanted(measure, (f"{measure.name}_{text}",), numbers)


def _labels(measure: Measure, numbers: tuple[float, ...]) -> tuple[str, ...]:
    if measure.takes == "cutoffs":
        return tuple(f"{measure.name}_{int(n)}" for n in numbers)
    if measure.takes == "levels":
        return tuple(f"{measure.name}_{n:.2f}" for n in numbers)
    return (measure.name,)


def evaluate(
    qrels: Mapping[str, Mapping[str, int]],
    scores: Mapping[str, Mapping[str, float]],
    wanted: Sequence[Wanted],
    *,
    complete: bool = False,
    rel_level: int = 1,
    max_docs: int | None = None,
    precision: str = "double",
    judged_only: bool = False,
    tie_mode: Literal["trec", "expected"] = "trec",
) -> Evaluated:
    """Evaluate a run. Topics of the run that nobody judged are left out. Judged topics that the run does not
    answer are left out too unless `complete` (trec_eval's -c), when they count as empty rankings.
    `judged_only` evaluates condensed lists (-J); judged@10 is of the full lists all the same. `tie_mode` expected
    averages over all orders of equal scores instead of breaking ties by id (ConfigError for measures that have no
    such value here)."""
    if tie_mode == "expected":
        _refuse_unexpected(wanted, max_docs)
    missing = tuple(sorted(set(qrels) - set(scores)))
    answered = sorted(set(qrels) & set(scores))
    order = sorted([*answered, *missing]) if complete else answered
    per_topic: dict[str, dict[str, Value]] = {}
    empty: list[str] = []
    judged_shares: list[float] = []
    spreads: list[float] = []
    for name in order:
        of_topic = scores.get(name, {})
        ranked = ordered(of_topic.items(), "trec", precision)
        topic = Topic.of(ranked, qrels[name], rel_level, max_docs, judged_only)
        per_topic[name] = _values(topic, wanted)
        if tie_mode == "expected":
            shown = [item for item in ranked if not judged_only or qrels[name].get(item, -1) >= 0]
            per_topic[name] |= _expected(shown, of_topic, qrels[name], wanted, rel_level, precision)
        if not topic.num_rel:
            empty.append(name)
        if ranked:
            judged_shares.append(judged_at_k(ranked[:max_docs], qrels[name], 10) or 0.0)
            spread = tie_spread(ranked, [of_topic[item] for item in ranked], qrels[name], 10)
            spreads += [] if spread is None else [spread]
    return Evaluated(
        per_topic,
        _averages(per_topic, wanted),
        len(order),
        missing,
        tuple(sorted(set(scores) - set(qrels))),
        tuple(empty),
        sum(judged_shares) / len(judged_shares) if judged_shares else None,
        sum(spreads) / len(spreads) if spreads else None,
    )


def _values(topic: Topic, wanted: Sequence[Wanted]) -> dict[str, Value]:
    return {
        label: value for each in wanted for label, value in zip(each.labels, each.values(topic), strict=True)
    }


_ORDERLESS = ("num_", "set_")  # measures that no order changes


def _refuse_unexpected(wanted: Sequence[Wanted], max_docs: int | None) -> None:
    others = [
        each.measure.name
        for each in wanted
        if (each.measure.name not in expected_ties.MEASURES or each.gains)
        and not each.measure.name.startswith(_ORDERLESS)
    ]
    if others:
        raise ConfigError(
            f"no value averaged over ties is known for {', '.join(others)}; "
            f"there is one for {', '.join(expected_ties.MEASURES)}"
        )
    if max_docs is not None:
        raise ConfigError("a limit on documents would cut through ties: leave out one of the two")


def _expected(
    ranked: Sequence[str],
    scores: Mapping[str, float],
    judged: Mapping[str, int],
    wanted: Sequence[Wanted],
    rel_level: int,
    precision: str,
) -> dict[str, Value]:
    read = np.float32 if precision == "single" else float
    groups = tie_groups(ranked, [float(read(scores[item])) for item in ranked])
    found: dict[str, Value] = {}
    for each in wanted:
        measure = expected_ties.MEASURES.get(each.measure.name)
        if measure is None:
            continue
        cuts = each.numbers if each.measure.takes == "cutoffs" else (None,)
        for label, cut in zip(each.labels, cuts, strict=True):
            found[label] = measure(groups, judged, None if cut is None else int(cut), rel_level) or 0.0
    return found


def _averages(per_topic: Mapping[str, Mapping[str, Value]], wanted: Sequence[Wanted]) -> dict[str, Value]:
    averages: dict[str, Value] = {}
    n = len(per_topic)
    for each in wanted:
        for label in each.labels:
            if each.measure.average == "none":
                continue
            values = [float(of_topic[label]) for of_topic in per_topic.values()]
            if each.measure.average == "sum":
                averages[label] = int(sum(values))
            elif each.measure.average == "geometric":
                logs = [math.log(max(value, MIN_GEO_MEAN)) for value in values]
                averages[label] = math.exp(sum(logs) / n) if n else 0.0
            else:
                averages[label] = sum(values) / n if n else 0.0
    return averages


def only_average(wanted: Sequence[Wanted]) -> frozenset[str]:
    """Labels that trec_eval prints for the average only (geometric means)."""
    return frozenset(label for each in wanted if each.measure.average == "geometric" for label in each.labels)
