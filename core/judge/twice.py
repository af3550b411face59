"""Judging a share of the material twice: how often does the judge agree with itself?"""

from __future__ import annotations

import hashlib
import threading
from typing import Any

from core.contracts import Judge, Material
from core.errors import JudgeFailure
from core.judge.votes import self_agreement
from core.records import Judgement, digest


class TwiceAsked:
    """A judge that asks again for a fixed share of its material and keeps the pairs.

    Which material is asked twice follows from the material itself, so that a repeated run asks the same twice. The
    verdict rests on the first answer; a second answer that fails is no pair.
    """

    def __init__(self, judge: Judge, share: float) -> None:
        self.inner, self.share = judge, share
        self.provider, self.model, self.decides = judge.provider, judge.model, judge.decides
        self.concurrency = judge.concurrency
        self.pairs: list[tuple[Judgement, Judgement]] = []
        self._lock = threading.Lock()

    def judge(self, rubric: str, material: Material) -> Judgement:
        first = self.inner.judge(rubric, material)
        if self._chosen(rubric, material):
            again: Any = self.inner
            try:
                second = again.judge(rubric, material, repeat=1)
            except JudgeFailure:
                return first
            with self._lock:
                self.pairs.append((first, second))
        return first

    def _chosen(self, rubric: str, material: Material) -> bool:
        key = hashlib.sha256(digest([rubric, dict(material.parts)]).encode()).digest()
        return int.from_bytes(key[:8], "big") / 2**64 < self.share

    def fingerprint(self, rubric: str) -> str:
        return self.inner.fingerprint(rubric)

    def agreement(self) -> dict[str, Any] | None:
        """Pairs, agreeing pairs and a Wilson interval of the agreement; None when nothing was asked twice."""
        if not self.pairs:
            return None
        agreeing, pairs, interval = self_agreement(self.pairs)
        return {
            "pairs": pairs,
            "agreeing": agreeing,
            "agreement": agreeing / pairs if pairs else None,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
        }

    def close(self) -> None:
        closer = getattr(self.inner, "close", None)
        if callable(closer):
            closer()
