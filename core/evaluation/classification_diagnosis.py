"""Why a classified case went wrong: one decision from which failure mode, bottleneck and error reasons follow, so
that they can never contradict each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.records import Diagnosis


@dataclass(frozen=True, slots=True)
class Mode:
    """A failure mode with everything that is said of it."""

    name: str
    primary: str
    secondary: str
    bottleneck: str
    component: str
    explanation: str


_OK = Mode("ok", "ok", "exact_match", "none", "", "The first code is the gold code.")
_EMPTY = Mode(
    "no_candidates_returned",
    "no_candidates_returned",
    "empty_list",
    "candidate_generation_or_retriever",
    "candidate_generation",
    "No code was returned.",
)
_PRESENT = Mode(
    "gold_present_but_not_ranked_first",
    "gold_present_but_not_ranked_first",
    "reranking_error",
    "reranker_or_prompt_selection",
    "candidate_ranking",
    "The gold code is in the list, at rank {rank}: the candidates are right and their order is not.",
)
_CLASS = Mode(
    "same_class_wrong_code",
    "hierarchy_near_miss",
    "{level}",
    "sibling_disambiguation",
    "taxonomy_disambiguation",
    "The gold code is not in the list, but a code that agrees with it down to the level '{level}' is.",
)
_BRANCH = Mode(
    "same_branch_wrong_code",
    "hierarchy_near_miss",
    "{level}",
    "hierarchy_disambiguation",
    "taxonomy_disambiguation",
    "The gold code is not in the list; the nearest candidate agrees with it only down to the level '{level}'.",
)
_MISSING = Mode(
    "gold_missing_from_top_k",
    "gold_missing_from_top_k",
    "candidate_generation_error",
    "candidate_generation_or_retriever",
    "candidate_generation",
    "Neither the gold code nor any code of its branch is in the list.",
)
MODES = {mode.name: mode for mode in (_OK, _EMPTY, _PRESENT, _CLASS, _BRANCH, _MISSING)}
_BROAD = ("division", "group", "level_1")


def diagnose(
    scores: Mapping[str, float | None], best: tuple[int, str], *, n_candidates: int
) -> tuple[Diagnosis, Mode]:
    """The diagnosis of a case with gold, and the mode it follows from. `best` is the deepest agreement of the
    list with it. A gold code at rank 2 is a ranking error, however near the first code is."""
    mode = _mode(scores, best, n_candidates)
    rank = scores.get("gold_rank")
    filled = {"level": best[1], "rank": "" if rank is None else f"{rank:.0f}"}
    diagnosis = Diagnosis(
        primary_reason=mode.primary,
        secondary_reason=mode.secondary.format(**filled),
        explanation=mode.explanation.format(**filled),
        component=mode.component,
    )
    return diagnosis, mode


def _mode(scores: Mapping[str, float | None], best: tuple[int, str], n_candidates: int) -> Mode:
    if scores.get("exact_top1_match"):
        return _OK
    if not n_candidates:
        return _EMPTY
    if scores.get("gold_present_at_k"):
        return _PRESENT
    if best[0] == 0:
        return _MISSING
    return _BRANCH if best[1] in _BROAD else _CLASS
