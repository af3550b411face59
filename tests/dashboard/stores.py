"""Run stores of every shape the dashboard must show, written through the real `Store` API.

`BUILDERS` names them; `python -m tests.dashboard.stores NAME PATH` writes one to look at.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.corpus import Document, Page, ParsingReport
from core.evaluation.summary import aggregate, summarise
from core.records import (
    Case,
    Check,
    Citation,
    Claim,
    Diagnosis,
    Evidence,
    Failure,
    Hit,
    Judgement,
    Output,
    Result,
    Run,
    Usage,
    Verdict,
)
from core.store.runs import Store

START = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
TYPES = ("single_hop", "multi_hop", "relation")
PAGES = (
    "Library rules. Books are lent for 28 days. A loan may be re-\nnewed twice unless somebody waits for the book.",
    "Films are lent for seven days and cannot be renewed. A fee of $2 is due for every day after that.",
)
DOC = "rules/loan_rules.pdf"
HOSTILE = (
    "Größe des Prüfungsausschusses: wie viele Mitglieder?",
    "図書館の貸出期間は何日ですか",
    "The fee is $5 and $6, and $x^2$ is no formula here",
    "# Not a heading\n* not a list\n[no link](https://example.org) ![no image](https://example.org/x.png)",
    "<script>alert('x')</script><b>not bold</b> & <img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
    "كم عدد الأيام المسموح بها؟ 😀",
    "C:\\new\\table ends in a backslash \\",
    ":material/home: :red[not red] `code` ~~struck~~ -> 1. list",
    "a very long cell " + "x" * 50_000,
)


def document() -> Document:
    """Two pages, the second starting right after the first."""
    text = "\n".join(PAGES)
    middle = len(PAGES[0]) + 1
    return Document(
        doc_path=DOC, text=text, digest="d1", title="Loan rules",
        pages=(Page(number=1, start=0, end=middle), Page(number=2, start=middle, end=len(text))),
    )  # fmt: skip


def reports() -> list[ParsingReport]:
    return [
        ParsingReport(doc_path=DOC, status="read", n_pages=2, n_characters=210, n_sections=2, seconds=0.21),
        ParsingReport(
            doc_path="rules/scan.pdf",
            status="empty",
            n_pages=3,
            n_empty_pages=3,
            image_only=True,
            seconds=0.4,
            problems=("3 pages hold pictures only",),
        ),
        ParsingReport(
            doc_path="rules/broken.pdf", status="failed", seconds=0.02, problems=("the file is cut off",)
        ),
    ]


def case(number: int, query: str | None = None, **fields: object) -> Case:
    given = {
        "id": f"q{number}", "order": number, "query": query or f"How long are books number {number} lent for?",
        "gold_answer": "28 days", "question_type": TYPES[number % 3], "answerable": True,
        "evidence": (Evidence(doc_path=DOC, page=1, quote="A loan may be renewed twice"),),
    }  # fmt: skip
    return Case(**{**given, **fields})  # type: ignore[arg-type]


def hits(number: int) -> tuple[Hit, ...]:
    return tuple(
        Hit(id=f"chunk-{number % 7}-{rank}", rank=rank, score=9.5 / rank, text=PAGES[rank % 2] + f" ({number}.{rank})",
            title="Loans", doc_path=DOC, section_id=f"§ {rank}", page=rank % 2 + 1, parts={"bm25": 9.5 / rank})
        for rank in range(1, 6)
    )  # fmt: skip


def output(
    asked: Case, repeat: int = 0, text: str = "Books are lent for 28 days [1].", **fields: object
) -> Output:
    found = hits(asked.order)
    given = {
        "case_id": asked.id, "repeat": repeat, "text": text, "hits": found,
        "citations": (Citation(id="1", source_id=found[0].id, marker="[1]"),),
        "latency_ms": 20.0 + asked.order % 9 * 37, "usage": Usage(calls=1, cost_usd=0.0042), "confidence": 0.7,
        "asked_at": START.isoformat(),
    }  # fmt: skip
    return Output(**{**given, **fields})  # type: ignore[arg-type]


def result(asked: Case, verdict: Verdict, repeat: int = 0, **fields: object) -> Result:
    good = verdict is Verdict.PASS
    label = {Verdict.PASS: "correct", Verdict.WEAK: "partially_correct", Verdict.FAIL: "incorrect"}.get(
        verdict
    )
    found = hits(asked.order)
    given: dict[str, object] = {
        "case_id": asked.id, "repeat": repeat, "verdict": verdict, "label": label,
        "reasons": () if good else ("answer_incorrect",),
        "scores": {"ndcg_at_k": 0.9 if good else 0.3, "recall_at_k": 1.0 if good else 0.0, "mrr_at_k": 1.0 if good else None,
                   "first_relevant_rank": 1.0 if good else None},
        "undefined": {} if good else {"mrr_at_k": "no_relevant", "first_relevant_rank": "no_relevant"},
        "checks": (Check(name="must mention 28", outcome="held" if good else "failed", detail="28", score=1.0),),
        "unchecked": ("faithfulness",) if asked.order % 10 == 3 else (),
        "claims": (
            Claim(claim_type="answer", index=0, claim="Books are lent for 28 days", target="context",
                  label="supported" if good else "contradicted", score=0.9, scorer="lexical"),
            Claim(claim_type="gold", index=0, claim="28 days", target=f"chunk:{found[0].id}", label="supported", score=1.0,
                  scorer="lexical"),
        ),
        "relevance": {found[0].id: 1 if good else 0, found[1].id: 0}, "relevance_source": "spans",
        "diagnosis": Diagnosis(primary_reason="ok" if good else "retrieval_miss",
                               explanation="" if good else "The passage with the answer was not among the five."),
    }  # fmt: skip
    return Result(**{**given, **fields})  # type: ignore[arg-type]


def failed(asked: Case, repeat: int = 0, kind: str = "timeout") -> tuple[Output, Result]:
    failure = Failure(
        where="system", kind=kind, message="no answer within 30 seconds", raw_text="<html>504</html>"
    )
    return (
        Output(case_id=asked.id, repeat=repeat, failure=failure, latency_ms=30_000),
        Result(case_id=asked.id, repeat=repeat, verdict=Verdict.ERROR, reasons=(kind,), failure=failure),
    )


def add_run(
    store: Store,
    cases: Sequence[Case],
    outputs: Sequence[Output],
    results: Sequence[Result],
    *,
    number: int = 1,
    name: str = "",
    status: str = "sealed",
    repeats: int = 1,
    suite: str = "library",
) -> Run:
    """One run, sealed as the pipeline seals it; another status leaves it open."""
    run = Run(
        id=f"{START + timedelta(hours=number):%Y%m%dT%H%M%S}-{number:06x}", name=name or f"bm25-{number}", kind="document_qa",
        suite=suite, suite_digest="5" * 64, created_at=(START + timedelta(hours=number)).isoformat(timespec="milliseconds"),
        settings={"classifier_type": "document_qa", "retriever": "bm25", "top_k": 5, "docs": [DOC]},
        digests={"questions": "a" * 64, "corpus": "b" * 64}, versions={"plumbline": "0.1.0"}, n_cases=len(cases), repeats=repeats,
    )  # fmt: skip
    store.create_run(run, cases)
    store.add_documents(run.id, [document()], reports())
    store.add_outputs(run.id, outputs)
    store.add_results(run.id, results)
    if status != "sealed":
        store.set_status(run.id, status)
        return store.run(run.id)
    rows = aggregate(cases, results)
    summary = summarise(run.kind, cases, outputs, results, rows) | {
        "notices": ["2 questions have no evidence"]
    }
    counts = Counter(each.verdict.value for each in results)
    return store.seal(
        run.id, summary=summary, aggregates=rows, verdicts=counts, folder=str(store.path.parent / run.name)
    )


def plain(
    store: Store, size: int = 12, number: int = 1, name: str = "", shift: int = 0, **fields: object
) -> Run:
    """A sealed run: three of four pass, the others are WEAK or FAIL in turn."""
    cases = [case(n) for n in range(size)]
    verdicts = [
        Verdict.PASS if (n + shift) % 4 else (Verdict.FAIL if (n + shift) % 8 else Verdict.WEAK)
        for n in range(size)
    ]
    results = [result(each, verdict) for each, verdict in zip(cases, verdicts, strict=True)]
    return add_run(
        store, cases, [output(each) for each in cases], results, number=number, name=name, **fields
    )  # type: ignore[arg-type]


def small(path: Path) -> None:
    with Store(path) as store:
        plain(store)


def empty(path: Path) -> None:
    with Store(path):
        pass


def failures(path: Path, number: int = 1) -> None:
    """Errors, failures, flaky repeats, a judge's words, an unanswerable question."""
    rng = random.Random(7)
    cases = [case(n) for n in range(20)]
    cases.append(case(20, "What does a parking space cost?", answerable=False, gold_answer=None, evidence=()))
    outputs: list[Output] = []
    results: list[Result] = []
    for each in cases:
        for repeat in range(3):
            if each.order in (4, 9):
                out, res = failed(each, repeat, "timeout" if each.order == 4 else "rate_limit")
            else:
                verdict = (
                    rng.choice([Verdict.PASS, Verdict.PASS, Verdict.FAIL, Verdict.WEAK])
                    if each.order % 3
                    else Verdict.PASS
                )
                out, res = output(each, repeat), result(each, verdict, repeat)
                if each.order == 1:
                    judged = Judgement(
                        rubric="faithfulness",
                        rubric_version="3",
                        provider="local",
                        score=0.5,
                        reasoning="One of two claims is supported.",
                        evidence_quote="lent for 28 days",
                        quote_verified=True,
                    )
                    res = res.model_copy(update={"judgements": (judged,)})
            outputs.append(out)
            results.append(res)
    with Store(path) as store:
        add_run(store, cases, outputs, results, repeats=3, name="with failures", number=number)


def two_runs(path: Path) -> None:
    with Store(path) as store:
        plain(store, 16, 1, "baseline")
        plain(store, 16, 2, "candidate", shift=1)


def hostile_id(number: int) -> str:
    return f"{HOSTILE[number][:30]}·{number}"


def hostile(path: Path) -> None:
    """Text that breaks screens, as question, gold, answer, passage and name."""
    cases = [
        case(n, text, id=hostile_id(n), gold_answer=text, question_type=text[:20])
        for n, text in enumerate(HOSTILE)
    ]
    outputs = [
        output(
            each,
            text=text,
            hits=(Hit(id=f"h{n}", rank=1, text=text, title=text[:40], doc_path=text[:20]),),
            citations=(),
        )
        for n, (each, text) in enumerate(zip(cases, HOSTILE, strict=True))
    ]
    results = [
        result(
            each,
            Verdict.FAIL,
            reasons=(each.query[:60],),
            diagnosis=Diagnosis(primary_reason="answer_incorrect", explanation=each.query),
        )
        for each in cases
    ]
    with Store(path) as store:
        add_run(store, cases, outputs, results, name="<b>*hostile*</b> $5 and $6", suite="suite_with_*marks*")


def running(path: Path) -> None:
    """A run that was stopped half way, and one that is going, each with its job."""
    cases = [case(n) for n in range(30)]
    with Store(path) as store:
        for number, (status, upto) in enumerate((("cancelled", 12), ("running", 18)), 1):
            done = cases[:upto]
            run = add_run(
                store,
                cases,
                [output(c) for c in done],
                [result(c, Verdict.PASS) for c in done],
                number=number,
                name=f"{status} run",
                status=status,
            )
            job = store.request_job({"run_name": run.name}, token=f"t{number}")
            store.start_job(job, run.id, len(cases))
            store.beat(job, upto, f"{upto} of {len(cases)} answered")
            if status == "cancelled":
                store.finish_job(job, "cancelled")


def errors_only(path: Path) -> None:
    cases = [case(n) for n in range(6)]
    pairs = [failed(each, kind="transport") for each in cases]
    with Store(path) as store:
        add_run(store, cases, [out for out, _ in pairs], [res for _, res in pairs], name="outage")


def large(path: Path, runs: int = 40, size: int = 2_500) -> None:
    """100,000 case-results."""
    with Store(path) as store:
        for number in range(1, runs + 1):
            plain(store, size, number, f"run-{number}", shift=number)


BUILDERS: dict[str, Callable[[Path], None]] = {
    "empty": empty,
    "small": small,
    "failures": failures,
    "two_runs": two_runs,
    "hostile": hostile,
    "running": running,
    "errors_only": errors_only,
    "large": large,
}

if __name__ == "__main__":
    BUILDERS[sys.argv[1]](Path(sys.argv[2]))
