"""Does the answer stand in the training texts or in the query itself? Checked on every classifier run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from core.corpus import Catalog
from core.inputs.near_duplicates import near_pairs
from core.records import Case, Result, Verdict
from core.statistics.intervals import interval_for
from core.store.export import write_csv
from core.systems.catalog_texts import Example
from core.text import words

LEAKS = ("exact_example", "query_in_example", "near_example", "label_in_title", "label_in_query")
NO_TRAINING = "no_training_text"
COLUMNS = (
    "question_id",
    "kind",
    "leaks",
    "gold_code",
    "example_code",
    "example_notice",
    "similarity",
    "detail",
)
MEANING = {
    "exact_example": "the query stands among the training texts, word for word",
    "query_in_example": "the whole query stands inside a longer training text",
    "near_example": "a training text is nearly the same as the query",
    "label_in_title": "the query is shaped 'Country – label – title' and its middle part is the gold label",
    "label_in_query": "the label of the gold code stands in the query, word for word",
    NO_TRAINING: "the gold code has no training text: the examples cannot find it",
}
_MIN_WORDS = 5
_DASHES = (" – ", " - ", " — ")


@dataclass(frozen=True, slots=True)
class Finding:
    question_id: str
    kind: str
    gold_code: str = ""
    example_code: str = ""
    example_notice: str = ""
    similarity: float | None = None
    detail: str = ""

    @property
    def leaks(self) -> bool:
        return self.kind in LEAKS

    def row(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in COLUMNS}


class Leakage:
    """What was found for the cases of a run. `examples` are the training texts the system really searches."""

    def __init__(
        self,
        cases: Sequence[Case],
        examples: Sequence[Example],
        catalog: Catalog | None,
        *,
        excluded: Mapping[str, int] | None = None,
    ) -> None:
        self.cases, self.examples, self.catalog = cases, examples, catalog
        self.excluded = dict(excluded or {})

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        found = [*self._examples(), *self._labels(), *self._untrained()]
        place = {case.id: at for at, case in enumerate(self.cases)}
        return tuple(
            sorted(found, key=lambda each: (place[each.question_id], each.kind, each.example_notice))
        )

    @cached_property
    def leaking(self) -> frozenset[str]:
        """Ids of the cases whose answer may have been given away."""
        return frozenset(finding.question_id for finding in self.findings if finding.leaks)

    def write(self, path: Path) -> None:
        write_csv(path, COLUMNS, ([finding.row()[name] for name in COLUMNS] for finding in self.findings))

    def summary(self, results: Sequence[Result]) -> dict[str, Any]:
        """Counts by kind, and the headline with and without the leaking cases."""
        by_kind: dict[str, set[str]] = defaultdict(set)
        for finding in self.findings:
            by_kind[finding.kind].add(finding.question_id)
        clusters = {case.id: case.cluster for case in self.cases}
        return {
            "n_cases": len(self.cases),
            "n_leaking": len(self.leaking),
            "n_training_texts": len(self.examples),
            "counts_by_kind": {kind: len(by_kind[kind]) for kind in (*LEAKS, NO_TRAINING)},
            "meaning": MEANING,
            "self_excluded": self.excluded,
            "headline_all": _headline(results, clusters, lambda _: True),
            "headline_without_leaking": _headline(results, clusters, lambda each: each not in self.leaking),
            "headline_leaking": _headline(results, clusters, lambda each: each in self.leaking),
            "headline_without_leaking_examples": _headline(
                results,
                clusters,
                lambda each: not any(each in by_kind[kind] for kind in LEAKS[:3]),
            ),
        }

    def _examples(self) -> list[Finding]:
        if not self.examples:
            return []
        queries = [words(case.query) for case in self.cases]
        texts = [words(example.text) for example in self.examples]
        found: dict[tuple[int, int], Finding] = {}
        exact: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for at, text in enumerate(texts):
            exact[text].append(at)
        for place, query in enumerate(queries):
            for at in exact.get(query, ()):
                found[place, at] = self._finding(place, at, "exact_example", 1.0)
        for place, at in _contained(queries, texts):
            found.setdefault((place, at), self._finding(place, at, "query_in_example", None))
        near = near_pairs([case.query for case in self.cases], [example.text for example in self.examples])
        for place, at, alike in near:
            found.setdefault((place, at), self._finding(place, at, "near_example", alike))
        return list(found.values())

    def _finding(self, place: int, at: int, kind: str, alike: float | None) -> Finding:
        case, example = self.cases[place], self.examples[at]
        same = example.code in case.gold_codes
        return Finding(
            case.id,
            kind,
            case.gold_codes[0] if case.gold_codes else "",
            example.code,
            example.notice,
            alike,
            "carries the gold code" if same else "carries another code",
        )

    def _labels(self) -> list[Finding]:
        if self.catalog is None:
            return []
        found = []
        for case in self.cases:
            entry = self.catalog.by_code.get(case.gold_codes[0]) if case.gold_codes else None
            if entry is None:
                continue
            asked = f" {' '.join(words(case.query))} "
            middle = _middle(case.query)
            for label in dict.fromkeys([entry.label, *entry.labels.values()]):
                plain = " ".join(words(label))
                if plain and f" {plain} " in asked:
                    kind = "label_in_title" if middle == plain else "label_in_query"
                    found.append(Finding(case.id, kind, entry.code, detail=label))
                    break
        return found

    def _untrained(self) -> list[Finding]:
        if not self.examples:
            return []
        trained = {example.code for example in self.examples}
        return [
            Finding(case.id, NO_TRAINING, case.gold_codes[0])
            for case in self.cases
            if case.gold_codes and case.gold_codes[0] not in trained
        ]


def _middle(query: str) -> str:
    for dash in _DASHES:
        parts = query.split(dash)
        if len(parts) >= 3:
            return " ".join(words(parts[1]))
    return ""


def _contained(queries: Sequence[tuple[str, ...]], texts: Sequence[tuple[str, ...]]) -> list[tuple[int, int]]:
    """(query, text) where a query of at least five words is a run of words of a longer text."""
    holders: dict[str, list[int]] = defaultdict(list)
    for at, text in enumerate(texts):
        for word in set(text):
            holders[word].append(at)
    found = []
    for place, query in enumerate(queries):
        if len(query) < _MIN_WORDS or any(word not in holders for word in query):
            continue
        rarest = min(set(query), key=lambda word: len(holders[word]))
        run = f" {' '.join(query)} "
        found += [
            (place, at)
            for at in holders[rarest]
            if len(texts[at]) > len(query) and run in f" {' '.join(texts[at])} "
        ]
    return found


def _headline(
    results: Sequence[Result], clusters: Mapping[str, str | None], wanted: Callable[[str], bool]
) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    chosen = [result for result in results if wanted(result.case_id) and result.verdict is not Verdict.ERROR]
    for name in ("exact_top1_match", "hit_at_k"):
        scored = [
            (result.case_id, value) for result in chosen if (value := result.scores.get(name)) is not None
        ]
        values = [value for _, value in scored]
        interval = (
            interval_for(values, "binary", [clusters.get(case) for case, _ in scored]) if values else None
        )
        figures[name] = {
            "mean": sum(values) / len(values) if values else None,
            "n": len(values),
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
        }
    return figures


def without_own(
    examples: Sequence[Example], cases: Sequence[Case]
) -> tuple[tuple[Example, ...], dict[str, int]]:
    """Examples that are not the test's own: those of a notice that is asked, or with the very text of a query, are
    taken out for all queries. Returns them and how many went for which reason."""
    numbers = {case.id for case in cases}
    queries = {words(case.query) for case in cases} | {words(case.query.split("\n")[0]) for case in cases}
    counts: Counter[str] = Counter()
    kept = []
    for example in examples:
        if example.notice and example.notice in numbers:
            counts["same_notice"] += 1
        elif words(example.text) in queries:
            counts["same_text"] += 1
        else:
            kept.append(example)
    return tuple(kept), dict(counts)
