"""What follows from all classified cases together: classes, levels, groups, confusions, calibration."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core.evaluation.summary import worst_repeats
from core.metrics.class_tables import Pair, class_rows, confusions, macro_f1, micro_f1, top_k_curve
from core.metrics.code_tree import CodeTree
from core.records import Case, Output, Result, Verdict
from core.statistics.calibration_summary import calibration_summary, calibration_tables
from core.statistics.intervals import interval_for, wilson

Row = dict[str, Any]
FLAGS = (
    "high_confidence_wrong",
    "low_margin_decision",
    "duplicate_candidate_pressure",
    "low_diversity_at_k",
    "short_or_ambiguous_query",
)
CONFUSION_MIN = 5  # a rate on fewer is not given


class Classified:
    """The cases of a run that have gold and an answer, with their outputs; of several repeats the worst counts."""

    def __init__(
        self,
        cases: Sequence[Case],
        outputs: Sequence[Output],
        results: Sequence[Result],
        tree: CodeTree,
        top_k: int,
    ) -> None:
        self.tree, self.top_k = tree, top_k
        by_output = {(output.case_id, output.repeat): output for output in outputs}
        by_case = {case.id: case for case in cases}
        self.worst = worst_repeats(results)
        self.rows = [
            (by_case[result.case_id], output, result)
            for result in self.worst
            if result.scores.get("exact_top1_match") is not None
            and result.verdict is not Verdict.ERROR
            and result.case_id in by_case
            and (output := by_output.get((result.case_id, result.repeat))) is not None
        ]

    def pairs(self, level: int | None = None) -> list[Pair]:
        """(gold, predicted) codes, or their nodes at a level; cases whose gold is shallower are left out."""
        found: list[Pair] = []
        for case, output, _ in self.rows:
            gold: str | None = case.gold_codes[0]
            predicted = output.hits[0].id if output.hits else None
            if level is not None:
                gold = self.tree.node(case.gold_codes[0], level)
                predicted = self.tree.node(predicted, level) if predicted else None
            if gold is not None:
                found.append((gold, predicted))
        return found

    # --- summary ----------------------------------------------------------------------------------------------

    def classes(self) -> Row:
        """macro_f1, micro_f1, accuracy by level, top-k curve, kinds of error, groups; counts and intervals."""
        pairs = self.pairs()
        ranks = [result.scores.get("gold_rank") for _, _, result in self.rows]
        relations = Counter(str(result.artifacts.get("error_relation", "")) for _, _, result in self.rows)
        unknown = sum(
            1
            for _, output, _ in self.rows
            for hit in output.hits[: self.top_k]
            if not self.tree.known(hit.id)
        )
        return {
            "n_scored": len(pairs),
            "n_classes_gold": len({gold for gold, _ in pairs}),
            "n_classes_predicted": len({predicted for _, predicted in pairs if predicted}),
            "macro_f1": macro_f1(pairs),
            "micro_f1": micro_f1(pairs),
            "by_level": self._levels(),
            "top_k_curve": top_k_curve(ranks, self.top_k),
            "error_relations": dict(relations.most_common()),
            "over_general_rate": relations["ancestor"] / len(pairs) if pairs else None,
            "over_specific_rate": relations["descendant"] / len(pairs) if pairs else None,
            "n_unknown_candidates": unknown,
            "hierarchy_scheme": self.tree.scheme,
        }

    def _levels(self) -> list[Row]:
        found = []
        for level, (name, size) in enumerate(self.tree.levels, 1):
            pairs = self.pairs(level)
            if not pairs:
                continue
            right = sum(gold == predicted for gold, predicted in pairs)
            interval = wilson(right, len(pairs))
            found.append(
                {
                    "level": level,
                    "name": name,
                    "size": size,
                    "n": len(pairs),
                    "accuracy": right / len(pairs),
                    "low": interval.low if interval else None,
                    "high": interval.high if interval else None,
                    "macro_f1": macro_f1(pairs),
                }
            )
        return found

    def diagnostics(self) -> Row:
        """`classifier.cpv_diagnostics` under its published keys."""
        wrong = [row for row in self.rows if not row[2].scores["exact_top1_match"]]

        def counts(name: str, rows: Sequence[tuple[Case, Output, Result]]) -> dict[str, int]:
            return dict(Counter(str(result.artifacts.get(name, "")) for _, _, result in rows).most_common())

        modes, bottlenecks = counts("failure_mode", wrong), counts("likely_bottleneck", wrong)
        found: Row = {
            "n_items": len(self.rows),
            "n_errors": len(wrong),
            "failure_mode_counts": counts("failure_mode", self.rows),
            "likely_bottleneck_counts": counts("likely_bottleneck", self.rows),
            "dominant_failure_mode": next(iter(modes), None),
            "dominant_bottleneck": next(iter(bottlenecks), None),
            "top_division_confusions": [
                f"{row['gold']}->{row['predicted']}" for row in self.confusion(1) if not row["correct"]
            ][:10],
        }
        for flag in FLAGS:
            found[f"{flag}_rate"] = _mean(result.scores.get(flag) for _, _, result in self.rows)
            found[f"error_{flag}_rate"] = _mean(result.scores.get(flag) for _, _, result in wrong)
        for name in (
            "score_margin_top1_top2",
            "score_entropy_at_k",
            "unique_cpv_at_k",
            "unique_division_at_k",
        ):
            found[f"mean_{name}"] = _mean(result.scores.get(name) for _, _, result in self.rows)
        found["additional_data_that_would_help"] = self._wishes()
        return found

    def _wishes(self) -> list[dict[str, str]]:
        wishes = []
        if self.top_k < 10:
            wishes.append(
                {
                    "data": "larger lists (top_k of 10 or more)",
                    "why": "shows whether gold codes lie just below the cut",
                }
            )
        if not any(output.explanation for _, output, _ in self.rows):
            wishes.append({"data": "explanations", "why": "shows what the classifier went by"})
        if not self.confidences():
            wishes.append(
                {
                    "data": "confidences that are probabilities",
                    "why": "without them nothing can be accepted automatically",
                }
            )
        if all(len(case.gold_codes) == 1 for case, _, _ in self.rows):
            wishes.append(
                {"data": "alternative right codes", "why": "some texts have more than one right code"}
            )
        return wishes

    def confidences(self) -> list[tuple[float, bool]]:
        return [
            (output.confidence, bool(result.scores["exact_top1_match"]))
            for _, output, result in self.rows
            if output.confidence is not None
        ]

    def _ranking(self) -> list[tuple[float, bool]]:
        return [
            (float(output.hits[0].score), bool(result.scores["exact_top1_match"]))
            for _, output, result in self.rows
            if output.hits and output.hits[0].score is not None
        ]

    def calibration(self, *, high: float, seed: int = 0) -> Row:
        """`prediction_confidence` where the system gives probabilities, else `top1_score` as a ranking."""
        confident = [row for row in self.rows if row[1].confidence is not None]
        if confident:
            return {
                "prediction_confidence": calibration_summary(
                    self.confidences(),
                    clusters=[case.cluster for case, _, _ in confident],
                    ids=[case.id for case, _, _ in confident],
                    high=high,
                    seed=seed,
                )
            }
        scored = [row for row in self.rows if row[1].hits and row[1].hits[0].score is not None]
        found: Row = {"prediction_confidence": calibration_summary([])}
        if scored:
            clusters = [case.cluster for case, _, _ in scored]
            found["top1_score"] = calibration_summary(
                self._ranking(), probabilities=False, clusters=clusters, seed=seed
            )
        return found

    # --- tables -----------------------------------------------------------------------------------------------

    def tables(self, *, seed: int = 0) -> dict[str, list[Row]]:
        """Tables of the run by name: see `core.tasks.classification`."""
        confident = self.confidences()
        kinds = calibration_tables(confident or self._ranking(), probabilities=bool(confident), seed=seed)
        confusion = {
            f"confusion_{name}": self.confusion(level)
            for level, (name, _) in enumerate(self.tree.levels, 1)
            if self.pairs(level)
        }
        return {
            "per_class": self.per_class(),
            "class_tree": self.branches(),
            "class_paths": self.paths(),
            "confusion_code": self.confusion(None),
            **confusion,
            **kinds,
            "by_language": self.grouped(lambda case: case.language or "(not given)"),
            "by_division": self.grouped(
                lambda case: self.tree.node(case.gold_codes[0], 1) or "(unknown)", named=True
            ),
        }

    def per_class(self) -> list[Row]:
        return [
            {"code": row.label, **asdict(row), "label": self.tree.label(row.label)}
            for row in class_rows(self.pairs())
        ]

    def confusion(self, level: int | None) -> list[Row]:
        """gold, predicted, n, correct, and the share of the gold's cases with its interval (from five on)."""
        pairs = self.pairs(level)
        support = Counter(gold for gold, _ in pairs)
        rows = []
        for gold, predicted, n in confusions(pairs):
            interval = wilson(n, support[gold]) if n >= CONFUSION_MIN else None
            rows.append(
                {
                    "gold": gold,
                    "gold_label": self.tree.label(gold),
                    "predicted": predicted,
                    "predicted_label": self.tree.label(predicted),
                    "n": n,
                    "support": support[gold],
                    "correct": gold == predicted,
                    "share": n / support[gold] if n >= CONFUSION_MIN else None,
                    "low": interval.low if interval else None,
                    "high": interval.high if interval else None,
                }
            )
        return rows

    def paths(self) -> list[Row]:
        """Each code that is gold or was predicted first: code, nodes (one a level, null where it has none)."""
        codes = {code for pair in self.pairs() for code in pair if code is not None}
        return [{"code": code, "nodes": list(self.tree.nodes(code))} for code in sorted(codes)]

    def branches(self) -> list[Row]:
        """Each node that gold codes lie under, from the top: node, level, parent, label; n cases, `wrong` of them
        with another code than the gold, `left` with one outside the branch."""
        found: dict[str, Row] = {}
        for gold, predicted in self.pairs():
            above = None
            others = self.tree.nodes(predicted) if predicted is not None else ()
            for level, node in enumerate(self.tree.nodes(gold), 1):
                if node is None:
                    continue
                row = found.setdefault(
                    node,
                    {
                        "node": node, "level": level, "parent": above, "label": self.tree.label(node),
                        "n": 0, "wrong": 0, "left": 0,
                    },
                )  # fmt: skip
                row["n"] += 1
                row["wrong"] += gold != predicted
                row["left"] += node not in others
                above = node
        return sorted(found.values(), key=lambda row: (row["level"], -row["wrong"], row["node"]))

    def grouped(self, key: Callable[[Case], str], *, named: bool = False) -> list[Row]:
        """Accuracy, hit@k and same division of each group, with intervals, large groups first."""
        groups: dict[str, list[tuple[Case, Result]]] = defaultdict(list)
        for case, _, result in self.rows:
            groups[key(case)].append((case, result))
        rows = []
        for group, members in sorted(groups.items(), key=lambda each: (-len(each[1]), each[0])):
            row: Row = {"group": group, "n": len(members)}
            if named:
                row["label"] = self.tree.label(group)
            for name, short in (
                ("exact_top1_match", "accuracy"),
                ("hit_at_k", "hit_at_k"),
                ("same_division_top1", "same_division"),
            ):
                scored = [
                    (case.cluster, value)
                    for case, result in members
                    if (value := result.scores.get(name)) is not None
                ]
                values = [value for _, value in scored]
                interval = (
                    interval_for(values, "binary", [cluster for cluster, _ in scored]) if values else None
                )
                row[short] = sum(values) / len(values) if values else None
                row[f"{short}_low"] = interval.low if interval else None
                row[f"{short}_high"] = interval.high if interval else None
            rows.append(row)
        return rows


def next_steps(diagnostics: Mapping[str, Any], leakage: Mapping[str, Any]) -> list[str]:
    """What to try, from what was counted; nothing is proposed without a count behind it."""
    steps = []
    if leakage.get("n_leaking"):
        steps.append(
            f"Read the figures without the {leakage['n_leaking']} leaking queries: their answer may have been given away."
        )
    said = {
        "candidate_generation_or_retriever": "Most wrong answers miss the gold code altogether: work on what is searched (labels in the queries' languages, examples, another retriever) before any reranking.",
        "reranker_or_prompt_selection": "Most wrong answers have the gold code in the list: try a reranker.",
        "sibling_disambiguation": "Most wrong answers are close relatives of the gold code: add descriptions or examples that tell siblings apart.",
        "hierarchy_disambiguation": "Most wrong answers are in the right branch only: classify level by level, or search longer lists.",
    }
    dominant = diagnostics.get("dominant_bottleneck")
    if dominant in said:
        steps.append(said[dominant])
    return steps


def _mean(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
