from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import ConfigError
from core.judge.replies import read_decisions
from core.judge.rubrics import CANNOT_TELL, Rubrics
from core.llm.client import LlmFailure

NAMES = ["citation_support", "claim_support", "faithfulness", "pushback", "refusal", "relevance"]


def test_the_shipped_rubrics() -> None:
    assert Rubrics().names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_rubric_is_complete(name: str) -> None:
    rubric = Rubrics().get(name)
    assert 2 <= len(rubric.scores) <= 3
    assert CANNOT_TELL in [label.label for label in rubric.labels]
    assert {0.0, 1.0} <= set(rubric.scores.values())
    assert all(label.anchor and label.counter_example for label in rubric.labels)
    assert rubric.label(max(rubric.scores, key=lambda label: rubric.scores[label])).quote


@pytest.mark.parametrize("name", NAMES)
def test_the_form_asks_for_evidence_first_and_the_decision_last(name: str) -> None:
    rubric = Rubrics().get(name)
    form = rubric.form(3)
    inner = form["properties"]["statements"]["items"] if rubric.kind == "statements" else form
    fields = [field for field in inner["properties"] if field != "statement"]
    assert fields == ["evidence_quote", "reasoning", "label"]
    assert inner["additionalProperties"] is False
    assert inner["required"] == list(inner["properties"])


@pytest.mark.parametrize("name", NAMES)
def test_every_legal_label_is_read_with_its_score(name: str) -> None:
    rubric = Rubrics().get(name)
    for label in rubric.labels:
        entry = {"evidence_quote": "q", "reasoning": "r", "label": label.label}
        form = {"statements": [{"statement": 1, **entry}]} if rubric.kind == "statements" else entry
        (decision,) = read_decisions(form, rubric, 1)
        assert (decision.label, decision.score) == (label.label, label.score)


def test_statements_may_come_in_any_order() -> None:
    entries = [
        {"statement": n, "evidence_quote": "", "reasoning": str(n), "label": "unsupported"} for n in (2, 3, 1)
    ]
    decisions = read_decisions({"statements": entries}, Rubrics().get("faithfulness"), 3)
    assert [decision.reasoning for decision in decisions] == ["1", "2", "3"]
    with pytest.raises(LlmFailure, match="without an entry: 4"):
        read_decisions({"statements": entries}, Rubrics().get("faithfulness"), 4)


def own(tmp_path: Path, text: str) -> Rubrics:
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    return Rubrics(tmp_path)


GOOD = """
name: mine
version: "1"
criterion: Is it short?
parts: {answer: what was answered}
labels:
  - {label: short, score: 1.0, anchor: a, counter_example: b}
  - {label: long, score: 0.0, anchor: a, counter_example: b}
  - {label: cannot_tell, score: null, anchor: a, counter_example: b}
"""


def test_rubrics_of_the_user_s_own(tmp_path: Path) -> None:
    rubrics = own(tmp_path, GOOD)
    assert rubrics.names() == sorted([*NAMES, "mine"])
    assert rubrics.versions()["mine"].startswith("1 ")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("criterion:", "criterium:"), "criterion"),
        (("label: cannot_tell", "label: dunno"), "cannot_tell"),
        (("label: long", "label: short"), "twice"),
        (("score: 1.0", "score: 7"), "less than or equal to 1"),
        (("score: 1.0", "score: .nan"), "finite|less than"),
        (("name: mine", "name: mine\nquote_from: context"), "quote_from"),
        (("name: mine", "name: mine\nkind: statements"), "statements_of"),
    ],
)
def test_a_wrong_rubric_is_explained(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said):
        own(tmp_path, GOOD.replace(*change))
