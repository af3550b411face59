"""The components a failure is attributed to, from a data file: what each means and what to try."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Component:
    """One entry of the taxonomy. `factors` names the settings that act on it, most direct first."""

    component: str
    label: str
    explanation: str
    advisor_component: str
    advisor_issue: str
    recommendation: str
    next_experiment: str
    factors: tuple[str, ...] = ()


COLUMNS = (
    "component",
    "label",
    "explanation",
    "advisor_component",
    "advisor_issue",
    "recommendation",
    "next_experiment",
)


@cache
def taxonomy() -> dict[str, Component]:
    """Components by name, in the order of the file."""
    text = files("core.attribution").joinpath("taxonomy.json").read_text(encoding="utf-8")
    return {
        row["component"]: Component(**{**row, "factors": tuple(row["factors"])}) for row in json.loads(text)
    }


# mechanism (statistics.md 6.8) → component (published name), and what it means
MECHANISMS: dict[str, tuple[str, str]] = {
    "error": ("system_error", "the system gave no usable answer"),
    "bad_reference": (
        "benchmark_ambiguity",
        "the reference answer is not supported by the document it names",
    ),
    "evidence_not_extracted": (
        "document_parsing",
        "the evidence stands in the file but not in its extracted text",
    ),
    "evidence_not_in_corpus": ("corpus_gap", "the evidence stands in no document (FP1, missing content)"),
    "evidence_split": ("chunking", "no chunk and no two neighbouring chunks hold the evidence"),
    "not_retrieved": ("candidate_generation", "the evidence is not among the candidates (FP2)"),
    "ranked_low": ("candidate_ranking", "the evidence is among the candidates, below the cut"),
    "neighbour_chosen": ("taxonomy_disambiguation", "a neighbouring code was chosen"),
    "cut_from_context": (
        "context_selection",
        "the evidence was retrieved but did not reach the answer (FP3)",
    ),
    "partial_evidence": ("context_selection", "only a part of the evidence was retrieved"),
    "distracted": ("context_selection", "the answer is right once only the evidence is shown"),
    "not_extracted": ("answer_generation", "the evidence was shown and not used (FP4)"),
    "contradicted": ("answer_generation", "the answer contradicts the evidence it was shown"),
    "noise_followed": ("answer_generation", "the answer follows another passage than the evidence"),
    "fabricated": ("answer_generation", "the answer states what no passage says"),
    "incomplete": ("answer_generation", "the answer covers only a part (FP7)"),
    "wrong_answer": ("answer_generation", "the evidence was shown and the answer is wrong"),
    "false_refusal": ("abstention", "it declined although the evidence was there"),
    "over_answered": ("abstention", "it answered a question that has no answer in the documents"),
    "uncited": ("citation_attribution", "the claims hold, their citations do not"),
    "overconfident": ("calibration", "it was wrong with high confidence"),
    "undetermined": ("unknown", "the recorded signals do not tell"),
    "none": ("success", "nothing failed"),
}
