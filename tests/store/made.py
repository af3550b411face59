"""Small runs to store: what the tests of the store have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.records import (
    Aggregate,
    Case,
    Citation,
    Claim,
    Diagnosis,
    Failure,
    Hit,
    Output,
    Result,
    Run,
    Usage,
    Verdict,
)
from core.store.runs import Store

AWKWARD = (
    "Prüfungsordnung ÄÖÜß",
    "漢字かな交じり文",
    "مرحبا",
    "👩‍👩‍👧 emoji",
    "trailing backslash \\",
    "C:\\new",
    "$5 and $6",
    "# Markdown *bold* `code`",
    "<script>alert(1)</script> & <b>",
    "nul \0 inside",
    "lone \ud800 surrogate",
    "line\nbreak\r\nand\rreturn\tand tab",
    "=1+1",
    "'=1+1",
    "",
)


def a_run(run_id: str = "run-1", **changes: Any) -> Run:
    fields: dict[str, Any] = {
        "id": run_id,
        "name": f"name of {run_id}",
        "kind": "document_qa",
        "suite": "regulations",
        "suite_digest": "suite-1",
        "created_at": "2026-01-01T00:00:00+00:00",
        "settings": {"classifier_type": "document_qa", "retriever": "bm25", "top_k": 8},
        "digests": {"questions": "q1", "corpus": "c1"},
        "versions": {"plumbline": "0.1.0", "parser": "1"},
    }
    return Run(**{**fields, **changes})


def some_cases(n: int = 3, **changes: Any) -> list[Case]:
    return [
        Case(
            id=f"q{i}",
            query=f"Frage {i}?",
            gold_answer=f"Antwort {i}",
            order=i,
            question_type="single_hop",
            **changes,
        )
        for i in range(n)
    ]


def an_output(case: Case, repeat: int = 0, **changes: Any) -> Output:
    fields: dict[str, Any] = {
        "text": f"Antwort auf {case.query}",
        "hits": tuple(
            Hit(
                id=f"doc.pdf#{rank}",
                rank=rank,
                score=1 / rank,
                text=f"Text {rank}",
                title="T",
                doc_path="doc.pdf",
                page=rank,
            )
            for rank in (1, 2, 3)
        ),
        "citations": (Citation(id="1", source_id="doc.pdf#1", marker="[1]"),),
        "usage": Usage(calls=1, input_tokens=10, cost_usd=0.01, models=("m",)),
        "latency_ms": 12.5,
        "signals": {"retriever": "bm25", "answer_mode": "extractive"},
        "asked_at": "2026-01-01T00:00:01+00:00",
    }
    return Output(case_id=case.id, repeat=repeat, **{**fields, **changes})


def a_failure(case: Case, repeat: int = 0) -> Output:
    return Output(
        case_id=case.id, repeat=repeat, failure=Failure(where="system", kind="timeout", message="too late")
    )


def a_result(case: Case, verdict: Verdict | str = Verdict.PASS, repeat: int = 0, **changes: Any) -> Result:
    fields: dict[str, Any] = {
        "verdict": Verdict(verdict),
        "reasons": ("because",),
        "label": "correct" if verdict == "PASS" else "incorrect",
        "scores": {"mrr_at_k": 1.0, "ndcg_at_k": 1 / 3, "answer_claim_f1": None},
        "undefined": {"answer_claim_f1": "no_claims"},
        "claims": (
            Claim(
                claim_type="gold", index=0, claim="6 Semester", target="answer", label="supported", score=1.0
            ),
            Claim(
                claim_type="gold",
                index=0,
                claim="6 Semester",
                target="chunk:doc.pdf#1",
                label="supported",
                score=0.9,
            ),
        ),
        "relevance": {"doc.pdf#1": 3},
        "relevance_source": "spans",
        "diagnosis": Diagnosis(
            primary_reason="ok" if verdict == "PASS" else "retrieval_miss", explanation="why"
        ),
    }
    return Result(case_id=case.id, repeat=repeat, **{**fields, **changes})


def an_aggregate(metric: str = "mrr_at_k", **changes: Any) -> Aggregate:
    fields: dict[str, Any] = {
        "mean": 0.5,
        "n_scored": 2,
        "n_not_applicable": 1,
        "n_error": 0,
        "low": 0.1,
        "high": 0.9,
    }
    return Aggregate(metric=metric, **{**fields, **changes})


def store_run(
    store: Store, run: Run, verdicts: Sequence[str], *, repeats: int = 1, **scores: Sequence[float | None]
) -> Run:
    """A sealed run with one case for each verdict ("PASS,FAIL" are two repeats) and the scores by case."""
    cases = some_cases(len(verdicts))
    store.create_run(run.model_copy(update={"repeats": repeats}), cases)
    results = []
    for i, (case, text) in enumerate(zip(cases, verdicts, strict=True)):
        for repeat, verdict in enumerate(text.split(",")):
            values = {name: column[i] for name, column in scores.items()}
            results.append(a_result(case, verdict, repeat, scores=values, undefined={}))
    store.add_outputs(run.id, [an_output(cases[int(r.case_id[1:])], r.repeat) for r in results])
    store.add_results(run.id, results)
    counts = {verdict.value: sum(r.verdict is verdict for r in results) for verdict in Verdict}
    return store.seal(run.id, summary={}, aggregates=[an_aggregate()], verdicts=counts)


def a_store(folder: Path) -> Store:
    return Store(folder / "plumbline.db")
