"""An answer mode for tests: extractive, slow, and keeping a diary of what it was asked (`SLOW_ANSWERS_DIARY`)."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.contracts import ANSWERERS, Draft
from core.records import Case, Hit
from core.systems.answering import Extractive


@ANSWERERS.register("slow_extractive")
class SlowExtractive(Extractive):
    """The extractive answer after a pause."""

    def answer(self, case: Case, context: Sequence[Hit], idf: Mapping[str, float] | None = None) -> Draft:
        with Path(os.environ["SLOW_ANSWERS_DIARY"]).open("a", encoding="utf-8") as diary:
            diary.write(case.id + "\n")
        time.sleep(float(os.environ.get("SLOW_ANSWERS_SECONDS", "0.3")))
        return super().answer(case, context, idf)
