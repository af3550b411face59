"""citation_audit: ALCE's precision and recall (Gao et al. 2023) counted by hand, and votes that disagree."""

from __future__ import annotations

from typing import Any

import pytest

from core.contracts import Material, ScoringContext, Target
from core.evaluation.audit import AuditScoring
from core.evaluation.citation_audit import CitationAudit
from core.evaluation.citing import statements
from core.evaluation.rag_quality import RagQuality
from core.evaluation.shapes import CitationAuditSpec, RagQualitySpec
from core.records import Citation, Hit, Judgement, Output, Verdict

CORPUS = {"a": "text a", "b": "text b", "c": "text c"}


class Table:
    """A judge that knows which texts, alone or joined, support which claim; `votes` are returned as they are."""

    provider, model, decides, concurrency = "table", "", True, 1

    def __init__(self, supported: set[tuple[str, str]], votes: tuple[float, ...] = ()) -> None:
        self.supported, self.votes = supported, votes

    def judge(self, rubric: str, material: Material) -> Judgement:
        if self.votes:
            score = sorted(self.votes)[len(self.votes) // 2]
            labels = tuple(str(vote) for vote in self.votes)
            return Judgement(
                rubric=rubric, rubric_version="1", provider="table", score=score, votes=self.votes, vote_labels=labels
            )  # fmt: skip
        sources = "".join(word for word in material.parts["source"].split() if word != "text")
        score = float(any(sources == who and said in material.parts["claim"] for who, said in self.supported))
        return Judgement(rubric=rubric, rubric_version="1", provider="table", score=score)

    def fingerprint(self, rubric: str) -> str:
        return "table"


def audited(answers: list[str], supported: set[tuple[str, str]], **fields: Any) -> dict[str, float]:
    """Metrics of a citation audit over these answers."""
    queries = tuple(f"question {number}" for number in range(len(answers)))
    spec = CitationAuditSpec(name="c", evaluator="citation_audit", sample_queries=queries)
    audit = CitationAudit(spec, AuditScoring())
    cases = audit.propose(Target())
    context = ScoringContext(judge=Table(supported), settings={"corpus": CORPUS})
    results = [
        audit.evaluate(case, Output(case_id=case.id, text=text, **fields), context)
        for case, text in zip(cases, answers, strict=True)
    ]
    return audit.conclude(cases, results).metrics


@pytest.mark.parametrize(
    ("answer", "supported", "precision", "recall"),
    [
        # both sentences are supported by the one source each cites
        ("Red is warm. [src:a] Blue is cold. [src:b]", {("a", "Red"), ("b", "Blue")}, 1.0, 1.0),
        # the second sentence cites nothing: a statement without support
        ("Red is warm. [src:a] Blue paint dries within three hours.", {("a", "Red")}, 1.0, 0.5),
        # b supports nothing and a is enough without it: one of two citations is precise
        ("Red is warm. [src:a] [src:b]", {("a", "Red"), ("ab", "Red")}, 0.5, 1.0),
        # each alone is enough: both are precise, although one would do
        ("Red is warm. [src:a] [src:b]", {("a", "Red"), ("b", "Red"), ("ab", "Red")}, 1.0, 1.0),
        # neither is enough alone, both together are: both are needed
        ("Red is warm. [src:a] [src:b]", {("ab", "Red")}, 1.0, 1.0),
        # three, of which a and b together are enough: c is needless
        ("Red is warm. [src:a] [src:b] [src:c]", {("ab", "Red"), ("abc", "Red")}, 2 / 3, 1.0),
        # three that are all needed
        ("Red is warm. [src:a] [src:b] [src:c]", {("abc", "Red")}, 1.0, 1.0),
        # an unsupported statement: none of its citations is precise
        ("Red is warm. [src:a] [src:b]", set(), 0.0, 0.0),
        # a source that does not exist supports nothing, and the citation counts
        ("Red is warm. [src:a] [src:zzz]", {("a", "Red")}, 0.5, 1.0),
    ],
)
def test_alce_by_hand(answer: str, supported: set[tuple[str, str]], precision: float, recall: float) -> None:
    metrics = audited([answer], supported)
    assert metrics["citation_precision"] == pytest.approx(precision)
    assert metrics["citation_recall"] == pytest.approx(recall)


def test_alce_counts_statements_and_citations_over_all_answers() -> None:
    answers = [
        "Red is warm. [src:a]",
        "Blue is cold. [src:a] [src:b] Green paint dries within three hours. Grey is dull. [src:c]",
    ]
    metrics = audited(answers, {("a", "Red"), ("b", "Blue"), ("ab", "Blue")})
    # precise: a for Red, b for Blue; not: a for Blue, c for Grey. Supported: Red and Blue of four statements
    assert metrics["citation_precision"] == pytest.approx(2 / 4)
    assert metrics["citation_recall"] == pytest.approx(2 / 4)


def test_a_citation_of_the_whole_answer_stands_for_its_sentences() -> None:
    metrics = audited(["Red is warm."], {("a", "Red")}, citations=(Citation(id="1", source_id="a", span=""),))
    assert (metrics["citation_precision"], metrics["citation_recall"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Red is warm. [src:a] Blue is cold. [src:b]", [("Red is warm.", "a"), ("Blue is cold.", "b")]),
        ("Red is warm [src:a]. Blue is cold [src:b].", [("Red is warm.", "a"), ("Blue is cold.", "b")]),
        ("Red is warm.[src:a][src:b]", [("Red is warm.", "ab")]),
        ("[src:a] Red is warm.\n[src:b] Blue is cold.", [("Red is warm.", "a"), ("Blue is cold.", "b")]),
        ("- Rot [src:a]\n- Blau [src:b]", [("- Rot", "a"), ("- Blau", "b")]),
        ("Red is warm.\n\n[src:a]\n[src:b]", [("Red is warm.", "ab")]),
        ("Dr. Red [src:a] is warm, e.g. in May. [src:b]", [("Dr. Red is warm, e.g. in May.", "ab")]),
    ],
)
def test_which_sentence_a_marker_belongs_to(answer: str, expected: list[tuple[str, str]]) -> None:
    found = statements(Output(case_id="x", text=answer), AuditScoring())
    assert [(each.claim, "".join(each.sources)) for each in found] == expected


@pytest.mark.parametrize(
    ("votes", "verdict", "unstable"),
    [
        ((1.0, 1.0, 1.0), Verdict.PASS, False),
        ((1.0, 0.5, 1.0), Verdict.WEAK, True),  # the median passes, one vote does not
        ((0.0, 0.0, 1.0), Verdict.WEAK, True),  # the median fails, one vote passes
        ((0.8, 0.75, 0.8), Verdict.WEAK, False),  # all between the thresholds
        ((0.0, 0.5, 0.2), Verdict.FAIL, False),  # they differ, all on one side
    ],
)
def test_votes_on_both_sides_of_a_threshold_are_weak(
    votes: tuple[float, ...], verdict: Verdict, unstable: bool
) -> None:
    spec = RagQualitySpec.model_validate(
        {"name": "q", "evaluator": "rag_quality", "cases": [{"query": "Is red warm?"}]}
    )
    quality = RagQuality(spec, AuditScoring())
    (case,) = quality.propose(Target())
    output = Output(case_id=case.id, text="Red is warm.", hits=(Hit(id="a", rank=1, text="Red is warm."),))
    result = quality.evaluate(case, output, ScoringContext(judge=Table(set(), votes)))
    assert result.verdict is verdict
    assert any("judge_unstable" in reason for reason in result.reasons) is unstable
    assert result.judgements[0].votes == votes
