"""The statements of an answer with the sources they cite, and whether a source supports a statement."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.contracts import ScoringContext
from core.evaluation.audit import AuditScoring, gave_up, judged
from core.metrics.claims import checkable
from core.metrics.support import SCORER, support
from core.records import Case, Check, Judgement, Output
from core.text import sentence_spans


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim without its markers, and the sources named for it, each once; `origin`: marker | structured | uncited.
    `ids` are the structured citations' own ids by source."""

    claim: str
    sources: tuple[str, ...]
    origin: str
    ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found of a source's support. `whole`: it supports the whole claim; None where nobody could say."""

    check: Check
    scorer: str | None
    whole: bool | None
    reasoning: str = ""


def statements(output: Output, scoring: AuditScoring) -> list[Statement]:
    """Sentences with the sources their markers name, the spans of structured citations, and, last, the whole answer
    with the structured citations that have no span. Sentences that cite nothing are statements too, unless a citation
    stands for the whole answer."""
    text = output.text or ""
    found: dict[str, tuple[list[str], str]] = {}
    for claim, sources in _by_marker(text, output, scoring):
        found.setdefault(claim, ([], "marker" if sources else "uncited"))[0].extend(sources)
    marked = {source for sources, _ in found.values() for source in sources}
    loose = []
    for citation in output.citations:
        if citation.span:
            known = found.setdefault(citation.span.strip(), ([], "structured"))[0]
            known.append(citation.source_id)
        elif citation.source_id not in marked:
            loose.append(citation.source_id)
    spans = [citation.span.strip() for citation in output.citations if citation.span]
    whole = scoring.unmarked(text)
    if loose:
        found.setdefault(whole, ([], "structured"))[0].extend(loose)
    ids = {citation.source_id: citation.id for citation in output.citations}
    return [
        Statement(claim, tuple(dict.fromkeys(sources)), _origin(sources, origin), ids)
        for claim, (sources, origin) in found.items()
        if sources or not (loose or any(span and span in claim for span in spans) or not checkable(claim))
    ]


def _origin(sources: list[str], origin: str) -> str:
    """A sentence without a marker that a structured citation stands behind is not uncited."""
    return "structured" if sources and origin == "uncited" else origin


def _by_marker(text: str, output: Output, scoring: AuditScoring) -> Iterator[tuple[str, list[str]]]:
    """Each sentence without its markers, with what they name. A marker belongs to the sentence it stands in or
    behind; one that begins a line belongs to the sentence after it."""
    plain, placed = _without_markers(text, scoring.named_sources(output))
    spans = [(a, b) for a, b in sentence_spans(plain) if any(letter.isalnum() for letter in plain[a:b])]
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    sources: list[list[str]] = [[] for _ in range(max(len(spans), 1))]
    for source, at, leads in placed:
        index = bisect_right(ends, at) if leads else bisect_left(starts, at) - 1
        sources[min(max(index, 0), len(sources) - 1)].append(source)
    if spans or placed:
        claims = [plain[start:end] for start, end in spans] or [plain.strip()]
        yield from zip(claims, sources, strict=True)


def _without_markers(
    text: str, named: Sequence[tuple[str, int, int]]
) -> tuple[str, list[tuple[str, int, bool]]]:
    """The text without its markers, and for each what it names, where in that text it stood, and whether it begins
    a line that goes on."""
    plain, done = "", 0
    placed: list[tuple[str, int, bool]] = []
    for source, start, end in named:
        plain += text[done:start] if start > done else ""
        done = max(done, end)
        line = text[done:].split("\n", 1)[0]
        shown = plain.rstrip(" \t")
        leads = (not shown or shown.endswith("\n")) and any(letter.isalnum() for letter in line)
        plain = shown if leads else plain.rstrip()
        placed.append((source, len(plain), leads))
    return plain + text[done:], placed


class Supporting:
    """Asks whether sources support claims, for one answer. Keeps the judgements it was given."""

    def __init__(self, case: Case, scoring: AuditScoring, context: ScoringContext) -> None:
        self.case, self.judge = case, context.judge
        self.levels = scoring.thresholds["citation_support"]
        self.judgements: list[Judgement | None] = []

    def support(self, name: str, claim: str, source: str) -> Found:
        """One citation below `weak` makes its test at best WEAK however good the mean is: here it is `weak`, and the
        test's verdict looks at the mean as well.
        """
        if self.judge is None:
            found = support(claim, source)
            detail = f"no judge; the offline scorer says {found.score:.2f} and decides nothing"
            made = Check(
                name="citation_support", outcome="unchecked", detail=detail, hard=False, score=found.score
            )
            return Found(made, SCORER, found.label == "supported")
        if gave_up(self.judgements):
            detail = "not asked: the judge is out of reach"
            return Found(Check(name="citation_support", outcome="error", detail=detail), None, None)
        parts = {"source": source, "claim": claim}
        subject = f"citation of {name} in {self.case.id}"
        made, judgement = judged(self.judge, "citation_support", parts, subject, self.levels)
        self.judgements.append(judgement)
        if made.outcome == "failed":
            made = made.model_copy(update={"outcome": "weak", "hard": False})
        whole = None if made.score is None else made.score >= self.levels[0]
        return Found(made, _scorer(judgement), whole, judgement.reasoning if judgement else "")


def _scorer(judgement: Judgement | None) -> str | None:
    if judgement is None:
        return None
    return f"{judgement.provider}:{judgement.model}" if judgement.model else judgement.provider
