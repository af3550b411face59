"""What crosses a layer: Case → Output → Result, gathered in a Run.

A *system* turns a `Case` into an `Output`; everything after is a pure function of (Case, Output). `None` is
"does not apply" and never 0 or NaN; records refuse NaN and unknown fields.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

JsonDict = dict[str, Any]

FAILURE_KINDS = (
    "exception",  # the system raised
    "timeout",  # it did not answer in time
    "transport",  # connection refused or reset
    "rate_limit",  # 429 or 529 after all retries
    "http_status",  # another error status after all retries
    "malformed",  # it answered something that cannot be read
    "judge",  # no usable judgement
    "evaluator",  # the evaluator itself failed
    "not_plantable",  # a probe could not be set up
    "refusal",  # a model declined to do what it was asked
    "truncated",  # a reply was cut off at its length limit
    "budget",  # the next call might have cost more than allowed
    "not_cached",  # replay only, and the reply was never recorded
    "cancelled",
)


class Record(BaseModel):
    """A frozen value. Unknown fields and NaN are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Verdict(StrEnum):
    """What a case, a test or a run comes to. The order of the members is the order of severity."""

    PASS = "PASS"
    WEAK = "WEAK"
    FAIL = "FAIL"
    ERROR = "ERROR"

    @classmethod
    def worst(cls, verdicts: Iterable[Verdict]) -> Verdict | None:
        """The severest of them in the order PASS < WEAK < FAIL < ERROR; None for none."""
        order = list(cls)
        return max(verdicts, key=order.index, default=None)


class Message(Record):
    role: Literal["user", "assistant", "system"]
    content: str


class Evidence(Record):
    """Where a gold answer stands: a verbatim quote (page from 1) or a character range of the document."""

    doc_path: str
    page: int | None = None
    quote: str | None = None
    start: int | None = None
    end: int | None = None


class Case(Record):
    """One thing to ask the system.

    `id` is unique in its suite and stable over runs. `order` is the place in the file. `gold_codes` are the
    right codes of a classification, best first; `qrels` are graded judgements by hit id (0 = judged and not
    relevant). `answerable` is None where nobody said. `cluster` groups cases that are not independent (same
    document, notice, paraphrase). `conversation` precedes the query. `options` belong to the evaluator that
    proposed the case and to the system that answers it (time-out, credentials…).
    """

    id: str
    query: str
    order: int = 0
    test: str = ""
    evaluator: str = ""
    gold_answer: str | None = None
    gold_codes: tuple[str, ...] = ()
    qrels: dict[str, int] | None = None
    evidence: tuple[Evidence, ...] = ()
    expected_keywords: tuple[str, ...] = ()
    answerable: bool | None = None
    question_type: str = ""
    language: str | None = None
    doc_paths: tuple[str, ...] = ()
    cluster: str | None = None
    conversation: tuple[Message, ...] = ()
    options: JsonDict = Field(default_factory=dict)
    metadata: JsonDict = Field(default_factory=dict)


class Hit(Record):
    """One item of a ranking: a chunk, a catalogue code, a cited source.

    `rank` counts from 1 in the order the system returned. `score` is on the system's own scale, None where it
    gave none. `parts` explains the score (base score, rerank score, channel…). `start`/`end` are characters of
    the document where they are known.
    """

    id: str
    rank: int = Field(ge=1)
    score: float | None = None
    text: str = ""
    title: str = ""
    doc_path: str = ""
    section_id: str = ""
    page: int | None = None
    start: int | None = None
    end: int | None = None
    source: str = ""
    parts: dict[str, float | str | None] = Field(default_factory=dict)


class Citation(Record):
    """A source the answer names. `span` is the cited claim, empty when the marker's own sentence is meant;
    `marker` is the text of the marker when the citation was read from the answer."""

    id: str
    source_id: str
    span: str = ""
    marker: str = ""


class ToolCall(Record):
    name: str
    args: JsonDict = Field(default_factory=dict)
    result: Any = None
    latency_ms: float | None = None
    error: str | None = None


class Usage(Record):
    """What calls to models took. `cost_usd` is None where a price is unknown, which is not 0."""

    calls: int = 0
    cached_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = 0.0
    models: tuple[str, ...] = ()

    def __add__(self, other: Usage) -> Usage:
        unknown = self.cost_usd is None or other.cost_usd is None
        return Usage(
            **{
                name: getattr(self, name) + getattr(other, name)
                for name in (
                    "calls",
                    "cached_calls",
                    "input_tokens",
                    "output_tokens",
                    "cache_read_tokens",
                    "cache_write_tokens",
                )
            },
            cost_usd=None if unknown else (self.cost_usd or 0.0) + (other.cost_usd or 0.0),
            models=tuple(sorted({*self.models, *other.models})),
        )


class Failure(Record):
    """Why there is no answer or no judgement. `kind` is one of FAILURE_KINDS; `where` is system | judge |
    evaluator | input; `raw_text` keeps what could not be used; `status` is the HTTP status of the answer."""

    where: str
    kind: str
    message: str
    raw_text: str = ""
    retries: int = 0
    status: int | None = None


class Output(Record):
    """What the system gave for one case, stored the moment it arrives.

    `hits` is its ranking (chunks retrieved, codes predicted); `retrieved` is a second, longer list where a
    system keeps one apart from its predictions. `context_ids` names the hits that reached the answer; None
    means all of `hits`. `abstained` is set only by systems that say so themselves. `confidence` is a
    probability in [0, 1] or None; raw scores stay in the hits. `signals` are the system's own remarks under
    their published names. `stages` are milliseconds by stage. `asked_at` is an ISO time.
    """

    case_id: str
    repeat: int = 0
    text: str | None = None
    hits: tuple[Hit, ...] = ()
    retrieved: tuple[Hit, ...] | None = None
    context_ids: tuple[str, ...] | None = None
    citations: tuple[Citation, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    abstained: bool | None = None
    confidence: float | None = None
    explanation: str = ""
    usage: Usage | None = None
    latency_ms: float | None = None
    stages: dict[str, float] = Field(default_factory=dict)
    signals: JsonDict = Field(default_factory=dict)
    raw: JsonDict = Field(default_factory=dict)
    failure: Failure | None = None
    retries: int = 0
    asked_at: str = ""


class Check(Record):
    """One assertion about an output. `outcome`: held | failed | weak | unchecked | error."""

    name: str
    outcome: Literal["held", "failed", "weak", "unchecked", "error"]
    detail: str = ""
    hard: bool = True
    score: float | None = None


class Claim(Record):
    """One row of the claim table: a claim of the gold or of the answer held against one target.

    `target` is gold | answer | context | chunk:<hit id> | source:<id>; `label` is supported | contradicted |
    not_enough_info; `scorer` says who spoke; `start`/`end` mark the supporting passage in the target.
    """

    claim_type: Literal["gold", "answer"]
    index: int
    claim: str
    target: str
    label: Literal["supported", "contradicted", "not_enough_info"]
    score: float | None = None
    scorer: str = ""
    start: int | None = None
    end: int | None = None


class JudgedStatement(Record):
    """One statement of a text that a rubric judges statement by statement. `score` None: nothing to decide
    (no_claim) or not decided (cannot_tell, unverified)."""

    index: int = Field(ge=1)
    text: str
    label: str
    score: float | None = None
    reasoning: str = ""
    evidence_quote: str = ""
    quote_verified: bool | None = None


class Judgement(Record):
    """One answer of a judge. `score` in [0, 1]; None together with `failure` or with one of the labels
    "cannot_tell", "unverified" (the quoted evidence is not in the material), "no_claim" and "not_applicable"
    (nothing to judge; the judge was not asked).

    `fingerprint` covers everything that decides the answer (provider, model, rubric version, sampling).
    `votes` are the scores of repeated judging, `vote_labels` their labels (a vote without a score appears only
    there). `statements` are the parts of a statement-by-statement judgement. `flags` are remarks that change no
    score (injection_suspected, repaired, judge_unstable…).
    """

    rubric: str
    rubric_version: str
    provider: str
    model: str = ""
    fingerprint: str = ""
    subject: str = ""
    label: str = ""
    score: float | None = None
    reasoning: str = ""
    evidence_quote: str = ""
    quote_verified: bool | None = None
    votes: tuple[float, ...] = ()
    vote_labels: tuple[str, ...] = ()
    statements: tuple[JudgedStatement, ...] = ()
    flags: tuple[str, ...] = ()
    raw_text: str = ""
    usage: Usage | None = None
    latency_ms: float | None = None
    retries: int = 0
    cached: bool = False
    failure: Failure | None = None


class Diagnosis(Record):
    """What went wrong, once and consistently: published names, and one explanation in plain words."""

    primary_reason: str
    secondary_reason: str = ""
    explanation: str = ""
    component: str = ""
    claim_diagnostic: str = ""


class Result(Record):
    """The verdict of one case and everything it rests on.

    `scores` maps a metric name to its value or None; `undefined` gives the reason code of each None.
    `unchecked` names checks that could not be made; `label` is the answer's (correct, partially_correct,
    incorrect, unsupported, needs_manual_review) where one applies. `relevance` maps hit ids to grades and
    `relevance_source` says where they come from (spans | qrels | codes | estimated | none).
    """

    case_id: str
    repeat: int = 0
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    label: str | None = None
    scores: dict[str, float | None] = Field(default_factory=dict)
    undefined: dict[str, str] = Field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    unchecked: tuple[str, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    claims: tuple[Claim, ...] = ()
    relevance: dict[str, int] = Field(default_factory=dict)
    relevance_source: str = "none"
    diagnosis: Diagnosis | None = None
    artifacts: JsonDict = Field(default_factory=dict)
    failure: Failure | None = None


class Aggregate(Record):
    """A mean over the cases of a run (or of one `group`, e.g. question_type = "relation").

    `n_scored + n_not_applicable + n_error` is the number of cases. `low`/`high` bound the mean at `level`;
    None where no interval can be given, and `note` says why; it also says "estimated" (or "estimated for 3 of 8")
    where relevance was estimated from the gold text.
    """

    metric: str
    mean: float | None
    n_scored: int
    n_not_applicable: int
    n_error: int
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    method: str = ""
    note: str = ""
    group_by: str = ""
    group: str = ""

    @property
    def estimate(self) -> str:
        """The part of the note that says relevance was estimated; "" where none was."""
        return next((part for part in self.note.split("; ") if part.startswith("estimated")), "")


class Run(Record):
    """One evaluation. Sealed when done and never changed; scoring it again makes a new run with a parent.

    `kind`: document_qa | ted_cpv | api_classifier | prepared_rag_results | audit. `suite_digest`, the digests
    (questions, corpus, parser, judge, metrics…) and `versions` decide whether two runs can be compared.
    `status`: queued | running | cancelling | cancelled | failed | sealed. Times are ISO 8601 in UTC.
    """

    id: str
    name: str
    kind: str
    suite: str
    suite_digest: str
    created_at: str
    status: str = "running"
    sealed_at: str | None = None
    settings: JsonDict = Field(default_factory=dict)
    digests: dict[str, str] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    git_revision: str | None = None
    seed: int = 0
    parent_id: str | None = None
    sweep_id: str | None = None
    folder: str | None = None
    n_cases: int = 0
    repeats: int = 1
    verdicts: dict[str, int] = Field(default_factory=dict)
    summary: JsonDict = Field(default_factory=dict)
    aggregates: tuple[Aggregate, ...] = ()


def digest(value: Any) -> str:
    """SHA-256 (hex) of a value's canonical JSON: equal values, equal digests, in every process."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
