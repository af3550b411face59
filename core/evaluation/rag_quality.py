"""rag_quality: hard assertions on an answer, all of them reported; then faithfulness and relevance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from core.contracts import ScoringContext, Target
from core.evaluation.audit import (
    AuditScoring,
    TestOutcome,
    case_counts,
    case_rows,
    concluded,
    gave_up,
    judged,
    mean_scores,
    unanswered,
    worst_of,
)
from core.evaluation.mentions import mentions, which_mentioned
from core.evaluation.shapes import RagQualityCase, RagQualitySpec
from core.metrics.refusal import is_refusal
from core.records import Case, Check, Judgement, Output, Result


def check(name: str, good: bool, detail: str = "", **more: Any) -> Check:
    """A hard assertion that held or failed; the detail stands only where it failed."""
    return Check(name=name, outcome="held" if good else "failed", detail="" if good else detail, **more)


class RagQuality:
    """One case a question of the test."""

    def __init__(self, spec: RagQualitySpec, scoring: AuditScoring) -> None:
        self.spec, self.scoring = spec, scoring

    def propose(self, target: Target) -> list[Case]:
        return [
            Case(
                id=f"{self.spec.name}/{each.id or index}",
                query=each.query,
                test=self.spec.name,
                evaluator="rag_quality",
                conversation=each.conversation,
                answerable=False if each.must_refuse else None,
                options={
                    "expect": each.model_dump(mode="json"),
                    **({"timeout_s": each.timeout_s} if each.timeout_s else {}),
                    **({"credentials": each.credentials} if each.credentials else {}),
                },
            )
            for index, each in enumerate(self.spec.cases, 1)
        ]

    def evaluate(self, case: Case, output: Output, context: ScoringContext) -> Result:
        """All hard assertions first; the judge speaks even when one failed, so that a report is complete."""
        error = unanswered(case, output)
        if error:
            return error
        expect = RagQualityCase.model_validate(case.options["expect"])
        checks = list(self._assertions(expect, output))
        judgements: list[Judgement | None] = []
        if expect.must_refuse:
            refusal, judgement = self._refusal(case, output, context)
            checks.append(refusal)
            judgements.append(judgement)
        else:
            for rubric, parts in self._questions(case, output):
                if gave_up(judgements):
                    checks.append(
                        Check(name=rubric, outcome="error", detail="not asked: the judge is out of reach")
                    )
                    continue
                made, judgement = judged(
                    context.judge, rubric, parts, f"{rubric} of {case.id}", self.scoring.thresholds[rubric]
                )
                checks.append(made)
                judgements.append(judgement)
        return concluded(case, output, checks, judgements)

    def _assertions(self, expect: RagQualityCase, output: Output) -> Iterator[Check]:
        text, locale = output.text or "", self.scoring.locale
        if not text.strip() and not expect.must_refuse:
            yield check("answered", False, "the answer is empty")
        elif not _asserts(expect) and (output.abstained or is_refusal(text).refused):
            yield check("answered", False, "declines, although must_refuse is not set")
        if expect.must_mention:
            lacking = [each for each in expect.must_mention if not mentions(text, each, locale)]
            yield check("must_mention", not lacking, f"does not mention {_list(lacking)}")
        if expect.must_mention_any:
            found = which_mentioned(text, expect.must_mention_any, locale)
            yield check("must_mention_any", bool(found), f"mentions none of {_list(expect.must_mention_any)}")
        if expect.must_not_mention:
            found = which_mentioned(text, expect.must_not_mention, locale)
            yield check("must_not_mention", not found, f"mentions {_list(found)}")
        for pattern in expect.must_match:
            yield check("must_match", re.search(pattern, text) is not None, f"does not match /{pattern}/")
        cited = self.cited(output)
        if expect.expects_citations:
            yield check("expects_citations", bool(cited), "cites nothing")
        if expect.must_cite:
            lacking = [each for each in expect.must_cite if each not in cited]
            yield check("must_cite", not lacking, f"does not cite {_list(lacking)}")
        if expect.must_not_cite:
            yield check("must_not_cite", not cited, f"cites {_list(cited)}")
        if expect.max_latency_ms is not None and output.latency_ms is None:
            yield Check(name="max_latency_ms", outcome="unchecked", detail="the latency is not known")
        elif expect.max_latency_ms is not None and output.latency_ms is not None:
            good = output.latency_ms <= expect.max_latency_ms
            yield check(
                "max_latency_ms", good, f"took {output.latency_ms:.0f} ms (limit {expect.max_latency_ms:g})"
            )
        if expect.max_tokens is not None:
            yield self._tokens(expect.max_tokens, output)

    def _tokens(self, limit: int, output: Output) -> Check:
        if output.usage is None:
            return Check(name="max_tokens", outcome="unchecked", detail="the system reports no usage")
        spent = output.usage.output_tokens
        return check("max_tokens", spent <= limit, f"{spent} output tokens (limit {limit})")

    def cited(self, output: Output) -> list[str]:
        """Source ids of the structured citations and of the markers in the text, each once."""
        structured = [citation.source_id for citation in output.citations]
        return list(
            dict.fromkeys([*structured, *(source for source, _, _ in self.scoring.named_sources(output))])
        )

    def _refusal(self, case: Case, output: Output, context: ScoringContext) -> tuple[Check, Judgement | None]:
        """A judge that decides is asked; otherwise the speech-act classifier speaks."""
        if output.abstained is not None:
            return check("must_refuse", output.abstained, "the system did not abstain"), None
        if context.judge is not None and context.judge.decides:
            parts = {"question": case.query, "answer": output.text or ""}
            made, judgement = judged(context.judge, "refusal", parts, f"refusal of {case.id}", (0.5, 0.5))
            if made.outcome != "unchecked":
                detail = "" if made.outcome == "held" else made.detail or "the judge saw no refusal"
                return made.model_copy(
                    update={"name": "must_refuse", "detail": detail, "score": None}
                ), judgement
        if not (output.text or "").strip():
            return check("must_refuse", False, "the answer is empty, which is no refusal"), None
        refused = is_refusal(output.text or "").refused
        return check("must_refuse", refused, "answers instead of declining"), None

    def _questions(self, case: Case, output: Output) -> Iterator[tuple[str, dict[str, str]]]:
        answer = self.scoring.unmarked(output.text or "")
        passages = "\n\n".join(hit.text for hit in output.hits if hit.text.strip())
        yield "faithfulness", {"context": passages, "question": case.query, "answer": answer}
        yield "relevance", {"question": case.query, "answer": answer}

    def conclude(self, cases: Sequence[Case], results: Sequence[Result]) -> TestOutcome:
        verdict, detail = worst_of(results)
        return TestOutcome(
            verdict,
            detail,
            {**case_counts(results), **mean_scores(results)},
            {"cases": case_rows(cases, results)},
        )


def _asserts(expect: RagQualityCase) -> bool:
    """Whether a case says anything of the answer's content; one that leaves it all to the judge asks for an answer."""
    return bool(
        expect.must_refuse
        or expect.must_mention
        or expect.must_mention_any
        or expect.must_not_mention
        or expect.must_match
        or expect.must_not_cite
    )


def _list(items: Sequence[str]) -> str:
    return ", ".join(f"'{item}'" for item in items)
