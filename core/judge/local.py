"""The offline scorers behind a judge's contract: no model, no network, no cost, and it says so.

Its scores are shown. They decide a verdict only with a threshold fitted on claims that people labelled
(`plumbline judge fit`), because no threshold carries over from one collection to another.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, PrivateAttr, ValidationError, field_validator

from core.contracts import JUDGES, Material
from core.errors import ConfigError, Problem
from core.judge.fitting import Fit
from core.judge.judgements import not_applicable
from core.judge.rubrics import CANNOT_TELL, NO_CLAIM, Rubric, Rubrics
from core.llm.usage import Budget
from core.metrics.refusal import is_refusal
from core.metrics.support import SCORER, support
from core.records import JudgedStatement, Judgement, Usage, digest
from core.registry import Component
from core.text import sentences

SCORE_ONLY = "score_only"
_SUPPORT = {"faithfulness": "context", "claim_support": "context", "citation_support": "source"}


@JUDGES.register("local")
class LocalJudge(Component):
    """Offline scorers: lexical support for faithfulness, claims and citations; the refusal classifier for refusals.

    Relevance and pushback have no offline scorer here: they come back as `cannot_tell`. Without `fitted` the score of
    a text is the mean support of its sentences, with the label `score_only`; with a usable fit it is the share of
    sentences at or above the threshold.
    """

    model: str = Field(SCORER, description="the offline scorer; nothing else can be chosen")
    max_concurrency: int = Field(4, ge=1, le=256, description="judgements at once")
    fitted: str | dict[str, Any] | None = Field(
        None, description="a fit of `plumbline judge fit`: file or its content"
    )
    audit_share: ClassVar[float] = 0.0

    _fit: Fit | None = PrivateAttr(None)
    _rubrics: Rubrics = PrivateAttr(default_factory=Rubrics)

    @field_validator("model")
    @classmethod
    def _known_scorer(cls, value: str) -> str:
        if value != SCORER:
            raise ValueError(f"the local judge asks no model; leave it out (its scorer is '{SCORER}')")
        return value

    @property
    def provider(self) -> str:
        return self.name

    @property
    def concurrency(self) -> int:
        return self.max_concurrency

    @property
    def decides(self) -> bool:
        """Whether its scores may decide a verdict: only with a fit that was shown to be usable."""
        return self._fit is not None and self._fit.usable

    @property
    def usage(self) -> Usage:
        return Usage()

    def open(self, cache_dir: Path | None = None, budget: Budget | None = None) -> LocalJudge:
        """Read the fit, if there is one. ConfigError when it cannot be used."""
        if self.fitted is None:
            return self
        try:
            if isinstance(self.fitted, str):
                self._fit = Fit.model_validate_json(Path(self.fitted).read_text(encoding="utf-8"))
            else:
                self._fit = Fit.model_validate(self.fitted)
        except (OSError, ValidationError) as error:
            raise ConfigError(
                "the local judge cannot be built",
                [
                    Problem(
                        "judge.fitted", str(error).splitlines()[0], hint="make one with: plumbline judge fit"
                    )
                ],
            ) from error
        return self

    def close(self) -> None:
        """Nothing is held."""

    def fingerprint(self, rubric: str) -> str:
        fit = self._fit.model_dump(mode="json") if self._fit else None
        return digest({"provider": self.name, "scorer": SCORER, "rubric": rubric, "fit": fit})

    def judge(self, rubric: str, material: Material, *, repeat: int = 0) -> Judgement:
        """The same judgement every time; `repeat` changes nothing."""
        known = self._rubrics.get(rubric)
        lacking = [name for name in known.needed if name not in material.parts]
        if lacking:
            raise ConfigError(f"rubric '{rubric}' needs material it was not given: {', '.join(lacking)}")
        about = {
            "provider": self.name,
            "model": SCORER,
            "fingerprint": self.fingerprint(rubric),
        }
        empty = [name for name in known.needed if not material.parts[name].strip()]
        if empty:
            return not_applicable(known, empty, about, material.subject)
        base = Judgement(
            rubric=rubric, rubric_version=known.version, subject=material.subject, usage=Usage(), **about
        )
        if rubric == "refusal":
            refused = is_refusal(material.parts["answer"]).refused
            label = "refused" if refused else "answered"
            return base.model_copy(
                update={"label": label, "score": float(refused), "reasoning": "refusal classifier, no model"}
            )
        if rubric not in _SUPPORT:
            return base.model_copy(
                update={"label": CANNOT_TELL, "reasoning": "the local judge has no scorer for this"}
            )
        return self._support(base, known, material)

    def _support(self, base: Judgement, rubric: Rubric, material: Material) -> Judgement:
        text = material.parts[rubric.statements_of or "claim"]
        source = material.parts[_SUPPORT[rubric.name]]
        pieces = sentences(text) if rubric.statements_of else (text,)
        judged = [self._piece(number, piece, source) for number, piece in enumerate(pieces, 1)]
        scores = [each.score for each in judged if each.score is not None]
        held = sum(each.label == "supported" for each in judged)
        fit = self._fit if self.decides else None
        method = (
            f"lexical support, threshold {fit.threshold:.2f} fitted on {fit.n} claims"
            if fit
            else "lexical support, no fitted threshold: a score, not a verdict"
        )
        alone = not rubric.statements_of
        return base.model_copy(
            update={
                "label": judged[0].label
                if alone and judged
                else f"{held}/{len(judged)}"
                if fit
                else SCORE_ONLY,
                "score": sum(scores) / len(scores) if scores else None,
                "reasoning": method,
                "evidence_quote": judged[0].evidence_quote if judged else "",
                "statements": () if alone else tuple(judged),
            }
        )

    def _piece(self, number: int, text: str, source: str) -> JudgedStatement:
        found = support(text, source)
        if found.start is None:
            return JudgedStatement(index=number, text=text, label=NO_CLAIM)
        quote = source[found.start : found.end] if found.end is not None else ""
        score, label = found.score, SCORE_ONLY
        if self.decides and self._fit is not None:
            held = score >= self._fit.threshold
            score, label = float(held), "supported" if held else "unsupported"
        return JudgedStatement(
            index=number,
            text=text,
            label=label,
            score=score,
            evidence_quote=quote,
            quote_verified=True if quote else None,
        )
