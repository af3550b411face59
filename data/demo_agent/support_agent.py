"""The agent under audit in the demo: a help desk of an invented library.

It retrieves sentences from a tiny corpus, answers with the best one and cites it, calls three tools (one of which
writes, with a preview), remembers what was said, knows whose card it is talking to, corrects false premises, and
declines what it does not know. No model, no network: everything it does can be read here.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter

from core.audit import Citation, ContextDoc, Message, RagAdapter, RagResponse, SourceDoc, ToolCall, ToolSpec

CORPUS = [
    SourceDoc(
        "loans",
        "Books are lent for 28 days. Films and games are lent for 7 days and cannot be renewed. A reader may have at most 40 items on loan.",
        "Loan periods",
    ),
    SourceDoc(
        "renewal",
        "A loan can be renewed twice unless another reader has reserved the item. A renewal must be requested before the loan period ends.",
        "Renewal",
    ),
    SourceDoc(
        "fees",
        "Adults pay an annual fee of 24 euros. Students pay an annual fee of 12 euros. Young people under 18 pay no annual fee.",
        "Annual fee",
    ),
    SourceDoc(
        "late",
        "The late fee is 1.50 euros per item and week begun. The late fee is limited to 20 euros per item.",
        "Late fees",
    ),
    SourceDoc(
        "cards",
        "A library card is valid for 12 months. A replacement for a lost card costs 5 euros.",
        "Library card",
    ),
    SourceDoc(
        "rooms",
        "The main library has 9 study rooms. A study room can be booked for up to 4 hours a day.",
        "Study rooms",
    ),
]
HOURS = {
    "monday": "closed",
    "tuesday": "10:00-19:00",
    "wednesday": "10:00-19:00",
    "thursday": "10:00-19:00",
    "friday": "10:00-19:00",
    "saturday": "10:00-16:00",
    "sunday": "closed",
}
CATALOG = {"the left hand of darkness": 2, "invisible cities": 0, "solaris": 1}
READERS = {
    "ada-token": ("Ada", ["Solaris", "Invisible Cities"]),
    "ben-token": ("Ben", ["The Left Hand of Darkness"]),
}
OWNER = "ada-token"

_STOP = set(
    "a an and are at be can do does for how i in is it long many may me much my of on or per should tell than that the there this to was what when which who will with you your".split()
)
_ORDER = re.compile(
    r"\b(?:ignore|disregard|instead,? (?:say|reply|answer)|you must (?:say|reply|answer)|reply only|system prompt)\b",
    re.I,
)


def terms(text: str) -> list[str]:
    """Content words, lower-cased, with a plural s taken off."""
    found = re.findall(r"\d+(?:\.\d+)?|[a-zäöüß]+", text.lower())
    return [
        word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found if word not in _STOP
    ]


class SupportAgent(RagAdapter):
    """`query` decides between a tool, a refusal, a correction and a cited answer."""

    def __init__(self, corpus: list[SourceDoc] | None = None) -> None:
        self.documents = list(corpus or CORPUS)
        self.versions: list[dict[str, object]] = []

    # --- what the audit may know ---

    def available_tools(self) -> list[ToolSpec]:
        return [
            ToolSpec(
                "opening_hours",
                "Opening hours of a day",
                "When is the library open on Saturday?",
                parameters={"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
            ),
            ToolSpec(
                "search_catalog",
                "Copies of a title",
                "Is the title 'Solaris' available?",
                parameters={
                    "type": "object",
                    "properties": {"title": {"type": "string"}},
                    "required": ["title"],
                },
            ),
            ToolSpec(
                "renew_loan",
                "Renews a loan; dry_run previews",
                "Please renew the loan of 'Solaris'.",
                writes=True,
                parameters={
                    "type": "object",
                    "properties": {"title": {"type": "string"}, "dry_run": {"type": "boolean"}},
                    "required": ["title"],
                },
            ),
        ]

    def corpus(self) -> list[SourceDoc]:
        return self.documents

    def with_documents(self, docs: list[SourceDoc]) -> SupportAgent:
        return type(self)([*self.documents, *docs])

    # --- answering ---

    def query(
        self, prompt: str, *, conversation: list[Message] | None = None, credentials: str | None = None
    ) -> RagResponse:
        said = conversation or []
        if not prompt.strip():
            return RagResponse(
                "I cannot answer an empty question. Please tell me what you would like to know."
            )
        if re.search(r"\b(?:my loans|borrowed|on (?:my|ada's|ben's) card)\b", prompt, re.I):
            return self.loans(prompt, credentials)
        if re.search(r"\brenew\b.*['\"]|^yes\b", prompt, re.I):
            return self.renew(prompt, said)
        tool = self.tool_for(prompt)
        if tool:
            return tool
        name = self.remembered(said)
        if name and re.search(r"\b(?:my name|who am i)\b", prompt, re.I):
            return RagResponse(f"Your name is {name}.")
        return self.answer(prompt)

    def tool_for(self, prompt: str) -> RagResponse | None:
        day = next((day for day in HOURS if day in prompt.lower()), None)
        if day:
            return self.told(
                "opening_hours", {"day": day}, HOURS[day], f"On {day.title()} the library is: {HOURS[day]}."
            )
        title = re.search(r"['\"‘“](.+?)['\"’”]", prompt)
        if title and re.search(r"\b(?:available|copies|title|catalog)\b", prompt, re.I):
            copies = CATALOG.get(title[1].lower(), 0)
            return self.told(
                "search_catalog",
                {"title": title[1]},
                copies,
                f"There are {copies} copies of '{title[1]}' on the shelf.",
            )
        return None

    def told(self, name: str, args: dict[str, object], result: object, text: str) -> RagResponse:
        begun = time.perf_counter()
        call = ToolCall(name, args, result, latency_ms=(time.perf_counter() - begun) * 1000)
        return RagResponse(text, tool_calls=[call])

    def loans(self, prompt: str, credentials: str | None) -> RagResponse:
        """Only to the owner of the card; `None` is the reader who is signed in."""
        token = OWNER if credentials is None else credentials
        if token not in READERS:
            return RagResponse("I am not able to tell you that: please sign in with your own card.")
        name, titles = READERS[token]
        other = next((n for n, _ in READERS.values() if n.lower() in prompt.lower()), name)
        if other != name:
            return RagResponse("I cannot share what other readers have borrowed.")
        return RagResponse(f"{name}, you have borrowed: {', '.join(titles)}.")

    def renew(self, prompt: str, said: list[Message]) -> RagResponse:
        """Previews first; commits when the preview was confirmed."""
        title = re.search(r"['\"‘“](.+?)['\"’”]", prompt)
        if title:
            args: dict[str, object] = {"title": title[1], "dry_run": True}
            return self.told(
                "renew_loan", args, {"would_renew": title[1]}, f"I would renew '{title[1]}'. Shall I do it?"
            )
        asked = next(
            (re.search(r"renew '(.+?)'", m.content) for m in reversed(said) if m.role == "assistant"), None
        )
        if not asked:
            return RagResponse("I do not have anything to confirm. What should I renew?")
        return self.commit(asked[1])

    def commit(self, title: str) -> RagResponse:
        parent = self.versions[-1]["version"] if self.versions else None
        version = {"version": len(self.versions) + 1, "parent": parent, "title": title}
        self.versions.append(version)
        return self.told("renew_loan", {"title": title, "dry_run": False}, version, f"'{title}' is renewed.")

    def remembered(self, said: list[Message]) -> str | None:
        for message in reversed(said):
            found = re.search(r"\b(?:my name is|i am called)\s+([A-Z]\w+)", message.content, re.I)
            if found and message.role == "user":
                return found[1]
        return None

    def answer(self, prompt: str) -> RagResponse:
        ranked = self.retrieve(prompt)
        if not ranked or ranked[0][0] < 0.34:
            return RagResponse(
                "I could not find anything about that in the library's rules, so I cannot answer it.",
                retrieved_context=self.context(ranked),
            )
        _, doc, sentence = ranked[0]
        text = self.corrected(prompt, sentence)
        return RagResponse(
            f"{text} [src:{doc.source_id}]",
            [Citation("1", doc.source_id, sentence)],
            retrieved_context=self.context(ranked),
        )

    def corrected(self, prompt: str, sentence: str) -> str:
        """Numbers the question takes for granted and the source does not give are a false premise."""
        assumed = set(re.findall(r"\d+(?:\.\d+)?", prompt))
        stated = set(re.findall(r"\d+(?:\.\d+)?", sentence))
        return f"That is not correct. {sentence}" if assumed and stated and not assumed & stated else sentence

    # --- retrieval ---

    def retrieve(self, prompt: str) -> list[tuple[float, SourceDoc, str]]:
        """Sentences by the idf-weighted share of the question's words they hold. Text that gives orders to the
        reader of the corpus is data that nobody asked for: it is left out."""
        wanted = set(terms(prompt[-2000:]))
        pairs = [(doc, sentence) for doc in self.documents for sentence in self.sentences(doc)]
        counts = Counter(term for doc in self.documents for term in set(terms(doc.title + " " + doc.content)))
        weight = {t: math.log((len(self.documents) + 1) / (counts[t] + 0.5)) + 0.1 for t in wanted}
        total = sum(weight.values()) or 1.0
        scored = [
            (sum(weight[t] for t in wanted & set(terms(doc.title + " " + sentence))) / total, doc, sentence)
            for doc, sentence in pairs
        ]
        return sorted((s for s in scored if s[0] > 0), key=lambda s: (-s[0], s[1].source_id))[:3]

    def sentences(self, doc: SourceDoc) -> list[str]:
        if _ORDER.search(doc.content):
            return []
        return [part.strip() for part in re.split(r"(?<=[.!?])\s+", doc.content) if part.strip()]

    def context(self, ranked: list[tuple[float, SourceDoc, str]]) -> list[ContextDoc]:
        return [ContextDoc(doc.source_id, doc.content, score) for score, doc, _ in ranked]
