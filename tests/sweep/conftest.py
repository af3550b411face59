"""A small corpus whose answers can be found, hidden or missed on purpose."""

from __future__ import annotations

import json

import pytest

from core.sweep import run_sweep
from core.sweep_grid import load_sweep

FACTORS = {"chunking": ["fixed_words", "by_section"], "rerank_top_n": [0, 6], "retriever": ["bm25", "tfidf"]}

TOPICS = {
    "library": "The library opens at eight in the morning and closes at ten in the evening.",
    "exam": "An examination may be repeated twice; the third attempt needs the consent of the board.",
    "thesis": "The thesis has to be handed in within six months after the topic was given.",
    "fees": "The administrative fee is seventy euros for each semester.",
    "parking": "Parking on the campus is free for bicycles and costs two euros a day for cars.",
    "language": "Applicants must show German at level B2 before they enrol.",
    "canteen": "The canteen serves warm meals from eleven until half past two.",
    "internship": "The internship lasts twelve weeks and is not graded.",
    "grades": "The final grade is the mean of all module grades, weighted by credit points.",
    "appeal": "An appeal must be lodged in writing within one month.",
    "leave": "Leave of absence is granted for at most two semesters.",
    "computer": "The computer rooms are locked during examinations.",
}


@pytest.fixture
def corpus(tmp_path):
    """Settings of a document QA over twelve short documents with two questions each, and one that has no answer."""
    return make_corpus(tmp_path)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A design over a corpus of its own, what running it gave, and the settings it started from."""
    settings = make_corpus(tmp_path_factory.mktemp("swept"))
    design = load_sweep(settings, factors=FACTORS, run_name="demo")
    return design, run_sweep(design, jobs=1), settings


def make_corpus(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    questions = []
    for number, (name, sentence) in enumerate(TOPICS.items()):
        filler = f"This part is about the {name}. It was agreed by the senate. Further rules may follow. "
        (docs / f"{name}.md").write_text(
            f"# The {name}\n\n{filler * 6}\n\n{sentence}\n\n{filler * 6}\n", encoding="utf-8"
        )
        for kind, question in (
            ("fact", f"What is the rule about the {name}?"),
            ("detail", f"{name.title()}: what holds?"),
        ):
            questions.append({
                "id": f"{kind}-{number:02d}", "question": question, "gold_answer": sentence, "question_type": kind, "answerable": True,
                "doc_path": f"{name}.md", "evidence": [{"doc_path": f"{name}.md", "quote": sentence}],
            })  # fmt: skip
    questions.append(
        {
            "id": "none-00",
            "question": "What colour is the dean's bicycle?",
            "gold_answer": "",
            "question_type": "unanswerable",
            "answerable": False,
            "evidence": [],
        }
    )
    path = tmp_path / "questions.json"
    path.write_text(json.dumps({"questions": questions}), encoding="utf-8")
    return {
        "docs": [str(docs)], "docs_root": str(docs), "questions": str(path), "output_dir": str(tmp_path / "out"),
        "cache_dir": str(tmp_path / "cache"), "chunk_size": 60, "overlap": 0, "top_k": 3,
    }  # fmt: skip
