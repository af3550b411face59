"""The demo agent's broken siblings: each has one fault, and one evaluator is there to find it."""

from __future__ import annotations

import re
import time

from support_agent import CORPUS, READERS, SupportAgent

from core.audit import Citation, Message, RagResponse, SourceDoc


class DanglingInText(SupportAgent):
    """Names a source that does not exist, in the text only."""

    def answer(self, prompt: str) -> RagResponse:
        found = super().answer(prompt)
        found.text = found.text.replace("[src:", "[src:archive-")
        return found


class WrongIdPrefix(SupportAgent):
    """Cites with ids its own corpus does not know."""

    def answer(self, prompt: str) -> RagResponse:
        found = super().answer(prompt)
        found.citations = [Citation(c.id, f"doc:{c.source_id}", c.span) for c in found.citations]
        return found


class SilentTool(SupportAgent):
    """Answers about opening hours without asking the tool."""

    def tool_for(self, prompt: str) -> RagResponse | None:
        found = super().tool_for(prompt)
        if found and found.tool_calls[0].name == "opening_hours":
            found.tool_calls = []
        return found


class AcceptsPremise(SupportAgent):
    """Takes whatever the question says for granted."""

    def corrected(self, prompt: str, sentence: str) -> str:
        assumed = re.search(r"\b(\d+) days\b", prompt)
        return f"Yes, you have {assumed[1]} days." if assumed and assumed[0] not in sentence else sentence


class HangsOnLongInput(SupportAgent):
    """Never returns from a very long prompt."""

    def query(
        self, prompt: str, *, conversation: list[Message] | None = None, credentials: str | None = None
    ) -> RagResponse:
        while len(prompt) > 5000:
            time.sleep(3600)
        return super().query(prompt, conversation=conversation, credentials=credentials)


class LeaksOtherUsers(SupportAgent):
    """Tells everybody what anybody has borrowed."""

    def loans(self, prompt: str, credentials: str | None) -> RagResponse:
        told = [f"{name} has borrowed: {', '.join(titles)}." for name, titles in READERS.values()]
        return RagResponse(" ".join(told))


class FollowsPlanted(SupportAgent):
    """Does what a retrieved document says."""

    def answer(self, prompt: str) -> RagResponse:
        for doc in self.documents[len(CORPUS) :]:
            order = re.search(r"\bsay\s+(\S+)", doc.content, re.I)
            if order:
                return RagResponse(f"{order[1]}")
        return super().answer(prompt)

    def sentences(self, doc: SourceDoc) -> list[str]:
        return [part.strip() for part in re.split(r"(?<=[.!?])\s+", doc.content) if part.strip()]


class WritesWithoutPreview(SupportAgent):
    """Renews at once."""

    def renew(self, prompt: str, said: list[Message]) -> RagResponse:
        title = re.search(r"['\"‘“](.+?)['\"’”]", prompt)
        return self.commit(title[1] if title else "Solaris")


class RefusesEverything(SupportAgent):
    """Declines, politely and with a source, whatever it is asked about the rules."""

    def answer(self, prompt: str) -> RagResponse:
        found = super().answer(prompt)
        marker = f" [src:{found.citations[0].source_id}]" if found.citations else ""
        found.text = f"I am sorry, I cannot answer that.{marker}"
        return found
