"""Gold "6 Semester": "8 Semester" fails, "sechs Semester" passes, from a PDF to the verdict in the store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from core import pipeline
from core.records import Verdict
from core.settings import load_settings
from core.store.runs import Store


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("8 Semester", Verdict.FAIL),
        ("sechs Semester", Verdict.PASS),
        ("16 Semester", Verdict.FAIL),
        ("6 Monate", Verdict.FAIL),
    ],
)
def test_numbers_decide(said: str, verdict: Verdict, tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "ordnung.pdf"), pagesize=A4)
    canvas.drawString(72, 760, "§ 1 Regelstudienzeit")
    canvas.drawString(72, 740, f"(1) Die Regelstudienzeit des Bachelorstudiengangs beträgt {said}.")
    canvas.save()
    question = {
        "id": "q",
        "question": "Wie lang ist die Regelstudienzeit des Bachelorstudiengangs?",
        "gold_answer": "6 Semester",
    }
    (tmp_path / "questions.json").write_text(json.dumps([question]), encoding="utf-8")
    settings = load_settings(
        {
            "docs": [str(tmp_path / "ordnung.pdf")],
            "questions": str(tmp_path / "questions.json"),
            "output_dir": str(tmp_path / "outputs"),
            "cache_dir": str(tmp_path / "cache"),
            "chunking": "by_section",
        }
    )
    store = Store(tmp_path / "store.db")
    run = pipeline.run(settings, store=store)
    (result,) = store.results(run.id)
    assert said in (store.output(run.id, "q").text or "")
    assert result.verdict is verdict, (result.label, result.reasons)
