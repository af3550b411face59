from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from core.contracts import ANSWERERS, BatchSystem, Draft
from core.corpus import Document
from core.errors import ConfigError, InputError, SystemFailure
from core.records import Case, Hit
from core.registry import Component
from core.retrieval.stages import Stages
from core.settings import RunSettings
from core.systems.answering import Extractive, abstention_text
from core.systems.context import assemble
from core.systems.document_qa import DocumentQa
from tests.retrieval.corpora import document

DOCS = [
    document(
        [
            ("§ 1", "Scope", "This statute applies to the master in physics."),
            (
                "§ 2",
                "Duration",
                "The standard period of study is four semesters. It may be extended by two semesters.",
            ),
            (
                "§ 3",
                "Thesis",
                "The thesis comprises 30 credits. The topic may be returned once within one month.",
            ),
        ],
        "physics_2012.pdf",
    ),
    document(
        [
            ("§ 1", "Scope", "This statute applies to the master in biology."),
            ("§ 2", "Duration", "The standard period of study is three semesters. There is no extension."),
        ],
        "biology_2014.pdf",
    ),
]


def system(documents: Sequence[Document] = DOCS, answerer: Any = None, **settings: Any) -> DocumentQa:
    given = {"chunking": "by_section", "top_k": 3} | settings
    return DocumentQa(RunSettings(**given), documents, Stages(None), answerer=answerer)


def ask(query: str, case: dict[str, Any] | None = None, **settings: Any):  # type: ignore[no-untyped-def]
    return system(**settings).ask(Case(id="q", query=query, **(case or {})))


def test_the_answer_is_a_sentence_with_the_citation_of_its_chunk() -> None:
    output = ask("What is the standard period of study in physics (statute of 2012)?")
    assert output.text is not None
    assert output.text.startswith("The standard period of study is four semesters. [1]")
    first = output.hits[0]
    assert (first.doc_path, first.section_id, first.title) == ("physics_2012.pdf", "§ 2", "Duration")
    assert first.text == DOCS[0].text[first.start : first.end]
    assert output.citations[0].source_id == first.id
    assert output.citations[0].marker == "[1]"
    assert output.context_ids == tuple(hit.id for hit in output.hits)
    assert not output.abstained
    assert [hit.rank for hit in output.hits] == [1, 2, 3]


def test_the_document_named_in_the_question_decides_between_versions() -> None:
    assert "three semesters" in (ask("What is the standard period of study in biology 2014?").text or "")
    assert "four semesters" in (ask("What is the standard period of study in physics 2012?").text or "")


def test_signals_have_their_published_names() -> None:
    signals = ask("How many credits has the thesis?").signals
    assert signals["retrieval_query"] == "How many credits has the thesis?"
    assert signals["query_augmentation_mode"] == "none"
    assert signals["query_augmentation_status"] == "disabled"
    assert (signals["answer_mode"], signals["context_mode"], signals["scope"]) == (
        "extractive",
        "ranked",
        "all",
    )
    assert signals["runtime_retrieval_status"] == "good_evidence"
    assert signals["runtime_retrieval_action"] == "answer"
    assert 0 <= signals["runtime_retrieval_score"] <= 1
    assert signals["answerability_confidence"] == signals["runtime_retrieval_score"]


def test_latencies_are_given_by_stage_and_add_up() -> None:
    output = ask("How many credits has the thesis?", rerank_top_n=5)
    assert set(output.stages) == {"retrieve", "rerank", "assemble", "weigh", "answer"}
    assert output.latency_ms == pytest.approx(sum(output.stages.values()))


def test_many_give_the_same_as_one_by_one() -> None:
    qa = system()
    cases = [
        Case(id=str(i), query=q)
        for i, q in enumerate(["thesis credits?", "", "zebra", "period of study biology"])
    ]
    drop = {"asked_at", "stages", "latency_ms"}
    many = [output.model_dump(exclude=drop) for output in qa.ask_many(cases)]
    assert many == [qa.ask(case).model_dump(exclude=drop) for case in cases]
    assert isinstance(qa, BatchSystem)
    qa.close()
    qa.close()


def test_without_any_hit_it_abstains() -> None:
    for query in ("zebra", "", "   "):
        output = ask(query)
        assert output.hits == ()
        assert output.abstained
        assert output.text == abstention_text(query)
        assert output.citations == ()
        assert output.confidence == 0.0
        assert output.signals["runtime_retrieval_status"] == "missing_evidence"
        assert output.signals["runtime_retrieval_action"] == "abstain"


def test_weak_evidence_is_declined_only_when_asked_to() -> None:
    query = "Which parking permit does a thesis on Sundays need?"
    answered = ask(query)
    assert not answered.abstained
    assert answered.text
    output = ask(query, abstain_on_weak_evidence=True)
    assert output.abstained
    assert output.signals["answer_mode"] == "runtime_abstention"
    assert not ask("How many credits has the thesis in physics?", abstain_on_weak_evidence=True).abstained


def test_passages_without_a_sentence_to_quote_are_declined() -> None:
    output = ask("Which parking permit does the physics library issue on Sundays?")
    assert output.hits
    assert output.abstained
    assert output.text == abstention_text("Which")
    assert output.signals["answer_mode"] == "runtime_abstention"


@pytest.mark.parametrize("retriever", ["bm25", "tfidf"])
def test_evidence_is_on_one_scale_for_all_retrievers(retriever: str) -> None:
    output = ask("The thesis comprises how many credits?", retriever=retriever)
    reference = ask("The thesis comprises how many credits?")
    assert output.hits[0].id == reference.hits[0].id
    assert output.confidence == pytest.approx(reference.confidence)


def test_a_german_question_is_declined_in_german() -> None:
    assert ask("Wie viele Zebras gibt es?").text == abstention_text("Wie viele Zebras gibt es?")
    assert "Textstellen" in abstention_text("Wie viele Zebras gibt es?")


def test_scope_question_searches_only_the_named_document() -> None:
    query = "What is the standard period of study?"
    output = ask(query, {"doc_paths": ("biology_2014.pdf",)}, scope="question")
    assert {hit.doc_path for hit in output.hits} == {"biology_2014.pdf"}
    assert output.signals["scope"] == "question"
    everywhere = ask(query, {"doc_paths": ("biology_2014.pdf",)})
    assert {hit.doc_path for hit in everywhere.hits} == {"biology_2014.pdf", "physics_2012.pdf"}
    missing = ask(query, {"doc_paths": ("absent.pdf",)}, scope="question")
    assert missing.abstained
    assert missing.hits == ()
    assert ask(query, scope="question").signals["scope"] == "all"


def test_rerank_keeps_top_k_of_the_longer_list() -> None:
    output = ask("thesis credits topic semesters", rerank_top_n=5, top_k=2)
    assert len(output.hits) == 2
    assert all("base_score_before_rerank" in hit.parts for hit in output.hits)


class Echo(Component):
    """Answers with the context it sees; fails for one question."""

    def answer(self, case: Case, context: Sequence[Hit]) -> Draft:
        if case.query == "fail please, thesis":
            raise RuntimeError("model is down")
        return Draft(text=" | ".join(hit.section_id for hit in context), cited_ids=("unknown",), mode="echo")


def test_another_answerer_and_one_failing_case() -> None:
    qa = system(answerer=Echo())
    cases = [Case(id=str(i), query=q) for i, q in enumerate(["thesis", "fail please, thesis", "thesis"])]
    outputs = list(qa.ask_many(cases))
    assert [output.failure is None for output in outputs] == [True, False, True]
    assert outputs[0].signals["answer_mode"] == "echo"
    assert outputs[0].citations == ()
    failure = outputs[1].failure
    assert failure is not None
    assert (failure.where, failure.kind, failure.message) == (
        "system",
        "exception",
        "RuntimeError: model is down",
    )
    assert outputs[1].text is None
    with pytest.raises(SystemFailure, match="model is down"):
        qa.ask(cases[1])


def test_a_rehearsal_changes_no_answer_and_asks_no_model() -> None:
    cases = [Case(id="a", query="thesis credits"), Case(id="b", query="standard period of study")]
    plain, rehearsed = system(), system()
    rehearsed.rehearse(cases)

    def said(qa: DocumentQa) -> list[Any]:
        return [(each.text, each.hits, each.citations, each.confidence) for each in qa.ask_many(cases)]

    assert said(rehearsed) == said(plain)
    asked: list[str] = []

    class Model(Echo):
        def answer(self, case: Case, context: Sequence[Hit]) -> Draft:
            asked.append(case.id)
            return super().answer(case, context)

    system(answerer=Model()).rehearse(cases)
    assert asked == []


def test_bad_settings_are_said_before_anything_is_asked() -> None:
    with pytest.raises(ConfigError, match="k9"):
        system(retriever_options={"k9": 1})
    with pytest.raises(ConfigError, match="unknown retriever"):
        system(retriever="bm52")
    with pytest.raises(InputError):
        system(documents=[Document(doc_path="empty.pdf", text=" \n")])


def test_retriever_options_and_analyzer_reach_the_retriever() -> None:
    assert system(retriever_options={"idf": "atire", "b": 0.1}).retriever.spec() == {
        "type": "bm25",
        "analyzer": "stems",
        "idf": "atire",
        "k1": 1.5,
        "b": 0.1,
        "epsilon": 0.25,
    }


def hit(name: str, rank: int, doc: str, section: str, text: str = "x" * 10, start: int = 0) -> Hit:
    return Hit(id=name, rank=rank, doc_path=doc, section_id=section, text=text, start=start)


def test_context_modes_and_limits() -> None:
    hits = [
        hit("a", 1, "d1", "1", start=50),
        hit("b", 2, "d2", "1"),
        hit("c", 3, "d1", "1", start=10),
        hit("d", 4, "d1", "2", start=90),
    ]

    def ids(*args: Any, **limits: Any) -> str:
        return "".join(each.id for each in assemble(hits, *args, **limits))

    assert ids("ranked") == "abcd"
    assert ids("group_by_doc") == "cadb"
    assert ids("dedupe_section") == "abd"
    assert ids("ranked", max_chunks=2) == "ab"
    assert ids("ranked", max_chars=25) == "ab"
    assert ids("ranked", max_chars=1) == "a"
    assert assemble([], "ranked", max_chars=5) == []


def test_extractive_answers_respect_their_number_and_do_not_repeat() -> None:
    text = "The fee is 20 euros. The fee is 20 euros. The fee may be waived. The office is open."
    context = [Hit(id="c1", rank=1, text=text), Hit(id="c2", rank=2, text="The fee is 20 euros.")]
    case = Case(id="1", query="How high is the fee?")
    assert Extractive(answer_sentences=1).answer(case, context).text == "The fee is 20 euros. [1]"
    several = Extractive(answer_sentences=3).answer(case, context)
    assert several.text.count("20 euros") == 1
    assert set(several.cited_ids) == {"c1"}
    assert Extractive().answer(case, []).text == ""
    assert "extractive" in ANSWERERS
