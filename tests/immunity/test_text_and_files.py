"""Text and files (immunity D): what stands in a file comes out of the store and of every export as it was."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from core import api
from core.errors import EvalError
from core.metrics.refusal import is_refusal
from core.store.export import export
from core.store.export.tabular import restore
from core.store.runs import Store

TEXTS = {
    "umlauts": "Prüfungsordnung ÄÖÜß",
    "cjk": "漢字かな交じり文",
    "arabic": "مرحبا بالعالم",
    "emoji": "👩‍👩‍👧 emoji",
    "backslash": "ends with a backslash \\",
    "path": "C:\\new\\table",
    "dollars": "$5 and $6, $\\alpha$",
    "markdown": "# Markdown *bold* `code` [x](y) | a | b |",
    "html": "<script>alert(1)</script> & <b>bold</b>",
    "formula": "=1+1",
    "quoted": "'=cmd|' /C calc'!A0",
    "at": "@SUM(A1)",
    "lines": "first line\nsecond, \"quoted\"; third",
    "long": "word " * 20_000 + "end",
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, str, Path]:
    folder = tmp_path_factory.mktemp("größe und , Komma")
    (folder / "docs").mkdir()
    for name, text in TEXTS.items():
        (folder / "docs" / f"{name} ü.txt").write_text(
            f"{text}\n\nThe loan {name} takes 6 weeks.\n", encoding="utf-8"
        )
    asked = [
        {"id": f"{text[:40]} {name}", "question": f"{text} How long is the loan {name}?", "gold_answer": text}
        for name, text in TEXTS.items()
    ]
    questions = folder / "fragen.json"
    questions.write_text(json.dumps(asked, ensure_ascii=False), encoding="utf-8-sig")
    made = api.evaluate(
        {
            "docs": [str(folder / "docs")], "questions": str(questions), "output_dir": str(folder / "out"),
            "cache_dir": str(folder / "cache"),
        }
    )  # fmt: skip
    return Store(folder / "out" / "plumbline.db"), made.id, folder


def test_texts_come_through_file_store_and_exports(run: tuple[Store, str, Path]) -> None:
    store, run_id, folder = run
    cases = store.cases(run_id)
    assert {case.gold_answer for case in cases} == set(TEXTS.values())
    outputs = {output.case_id: output for output in store.outputs(run_id)}
    made = Path(store.run(run_id).folder or "")
    with (made / "rag_results.csv").open(encoding="utf-8", newline="") as file:
        rows = {restore(row["question_id"]): row for row in csv.DictReader(file)}
    lines = export(store, run_id, "jsonl", folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    for case in cases:
        assert restore(rows[case.id]["question"]) == case.query
        assert restore(rows[case.id]["gold_answer"]) == case.gold_answer
        assert restore(rows[case.id]["answer"]) == (outputs[case.id].text or "")
        assert not rows[case.id]["question"].startswith(("=", "+", "-", "@"))
    told = json.dumps([json.loads(line) for line in lines], ensure_ascii=False)
    for text in TEXTS.values():
        assert json.dumps(text, ensure_ascii=False)[1:-1] in told


def test_texts_are_shown_as_text_in_html(run: tuple[Store, str, Path]) -> None:
    store, run_id, folder = run
    page = export(store, run_id, "html", folder / "out.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


@pytest.mark.parametrize(
    "text",
    [
        '[{"question": "x?", "year": NaN}]',
        '[{"question": "x?"',
        '{"question": "x?"}',
        '[{"question": null}]',
        '[{"question": "x?", "evidence": [{"doc_path": "a", "start": 5, "end": 2}]}]',
        '[{"question": "x?", "id": "a"}, {"question": "y?", "id": "a"}]',
        "[]",
        "",
    ],
)
def test_questions_that_cannot_be_used_are_refused_with_the_file_and_the_place(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "fragen.json"
    file.write_text(text, encoding="utf-8")
    (tmp_path / "a.txt").write_text("A loan takes 6 weeks.", encoding="utf-8")
    with pytest.raises(EvalError, match="fragen") as caught:
        api.evaluate(
            {"docs": [str(tmp_path / "a.txt")], "questions": str(file), "output_dir": str(tmp_path / "o"),
             "cache_dir": str(tmp_path / "c")}
        )  # fmt: skip
    assert caught.value.exit_code == 2
    assert not list((tmp_path / "o").glob("fragen*")), "nothing is half-written"


def test_a_language_whose_refusals_are_hardly_known_says_so() -> None:
    assert is_refusal("Das steht nicht in den Unterlagen.", "de").reliable
    assert not is_refusal("Nie ma tego w dokumentach.", "pl").reliable
