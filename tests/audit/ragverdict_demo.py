"""A small agent, a custom evaluator and a configuration in the manner of the auditor that Plumbline replaces. The same
text serves both tools: only the import lines differ."""

from __future__ import annotations

from pathlib import Path

IMPORTS = {
    "theirs": (
        "from ragverdict import (Citation, ContextDoc, Evaluator, Message, RagAdapter, RagResponse, SourceDoc,\n"
        "    TestResult, ToolCall, ToolSpec, Verdict)\n"
        "from ragverdict.evaluators import register\n"
    ),
    "ours": (
        "from core.audit import (Citation, ContextDoc, Evaluator, Message, RagAdapter, RagResponse, SourceDoc,\n"
        "    TestResult, ToolCall, ToolSpec, Verdict, register)\n"
    ),
}

AGENT = '''
import re
import sqlite3

DOCS = {
    "returns": "Goods can be sent back within 30 days. The customer pays the postage.",
    "shipping": "Orders are sent within 2 working days. Shipping inside the country costs 4.90 euros.",
    "warranty": "The warranty lasts 24 months from the day of purchase.",
    "payment": "Payment is by card or by invoice. Invoices are due after 14 days.",
    "contact": "The shop answers letters within one week. The shop has no telephone.",
}
STOP = set("a an the is are be can by for from how i in it long many much of on or the to what when which who does do".split())


class Shop(RagAdapter):
    def __init__(self):
        self.db = sqlite3.connect(":memory:", check_same_thread=False)
        self.db.execute("create table docs (id text, content text)")
        self.db.executemany("insert into docs values (?, ?)", DOCS.items())

    def query(self, prompt, *, conversation=None):
        if not prompt.strip():
            raise ValueError("the prompt is empty")
        if "order" in prompt.lower() and re.search(r"[A-Z]\\d{3}", prompt):
            number = re.search(r"[A-Z]\\d{3}", prompt)[0]
            return RagResponse(f"Order {number} is on its way.", tool_calls=[ToolCall("order_status", {"number": number}, "sent", 3)])
        if "name" in prompt.lower() and conversation:
            for turn in reversed(conversation):
                found = re.search(r"[Mm]y name is (\\w+)", turn.content)
                if found:
                    return RagResponse(f"Your name is {found[1]}.")
        words = set(re.findall(r"[a-z]+", prompt.lower()[-300:])) - STOP
        best, score = None, 0
        for name, content in self.db.execute("select id, content from docs order by id"):
            for sentence in re.split(r"(?<=[.])\\s+", content):
                shared = len(words & set(re.findall(r"[a-z]+", sentence.lower())))
                if shared > score:
                    best, score = (name, sentence), shared
        if score < 2:
            return RagResponse("I don't have information about that in the documents.")
        name, sentence = best
        assumed = re.findall(r"\\d+", prompt)
        lead = "That is not correct. " if assumed and not set(assumed) & set(re.findall(r"\\d+", sentence)) else ""
        return RagResponse(
            f"{lead}{sentence} [src:{name}]",
            citations=[Citation("1", name, sentence)],
            retrieved_context=[ContextDoc(name, DOCS[name], 1.0)],
        )

    def available_tools(self):
        return [ToolSpec("order_status", "Where an order is", "Where is my order A123?")]

    def corpus(self):
        for name, content in DOCS.items():
            yield SourceDoc(name, content, name.title())


class Careless(Shop):
    """Cites what is not there, accepts any premise, and tells whatever is asked."""

    def query(self, prompt, *, conversation=None):
        found = super().query(prompt, conversation=conversation)
        found.text = found.text.replace("[src:", "[src:old-").replace("That is not correct. ", "Yes, exactly. ")
        found.text = found.text.replace("I don't have information about that in the documents.", "It was the blue one.")
        found.tool_calls = []
        return found


@register
class Wordiness(Evaluator):
    """Answers stay short."""

    name = "wordiness"

    def run(self, adapter, spec, *, judge, thresholds):
        queries = spec.model_dump()["queries"]
        lengths = [len(adapter.query(query).text.split()) for query in queries]
        longest = max(lengths)
        good = longest <= spec.max_words and 0 < thresholds.faithfulness_pass <= 1
        return TestResult(
            name=spec.name,
            evaluator=self.name,
            verdict=Verdict.PASS if good else Verdict.FAIL,
            detail=f"longest answer {longest} words",
            metrics={"longest": float(longest)},
            artifacts={"lengths": lengths, "keys": sorted(spec.model_dump())},
        )
'''

CONFIG = """
adapter: {{type: python, module: {module}, class: {cls}}}
judge: {{provider: anthropic, model: claude-sonnet-4-6, max_concurrency: 4}}
thresholds: {{faithfulness_pass: 0.85, faithfulness_weak: 0.7}}
tests:
  - name: tools
    evaluator: tool_coverage
    require_all_tools: true
  - name: golden
    evaluator: rag_quality
    cases:
      - {{query: "Within how many days can goods be sent back?", must_mention: ["30 days"], expects_citations: true}}
      - {{query: "What does shipping inside the country cost?", must_mention: ["4.90"]}}
  - name: outside
    evaluator: rag_quality
    cases:
      - {{query: "Which colour won the beauty contest?", must_refuse: true, must_not_cite: true}}
  - name: citations
    evaluator: citation_audit
    sample_queries: ["How long does the warranty last from the day of purchase?", "When are invoices due?"]
  - name: edges
    evaluator: edge_cases
    cases:
      - {{kind: long_input, length: 10000, timeout_s: 10}}
      - {{kind: multi_turn, turns: ["Hello, my name is Ada."], final_query: "What is my name?", must_reference: ["Ada"]}}
      - {{kind: contradiction, query: "Goods can be sent back within 90 days, right?", false_premise: "goods can be sent back within 90 days"}}
      - {{kind: empty_input}}
  - name: short
    evaluator: wordiness
    max_words: 30
    queries: ["When are invoices due?", "What does shipping inside the country cost?"]
"""


def write(folder: Path, whose: str, cls: str) -> Path:
    """The agent's module and its configuration in `folder`; the path of the configuration."""
    module = f"shop_{whose}"
    (folder / f"{module}.py").write_text(IMPORTS[whose] + AGENT, encoding="utf-8")
    config = folder / f"audit_{whose}_{cls}.yaml"
    config.write_text(CONFIG.format(module=module, cls=cls), encoding="utf-8")
    return config
