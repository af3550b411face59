"""A judge that follows a small rule, behind a real local server: tests can score real material through real HTTP.

The rule reads the fenced material out of the prompt, as a model would, and calls a text supported when every content
word and number of it stands in one sentence of the evidence. It is deaf to instructions, except where a test makes it
gullible.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from core.llm.loopback import Behaviour, Exchange, LoopbackServer, Script, form_reply
from core.text import content_words, sentences

_FENCED = re.compile(r"^([\w ]+) \(([^\n]*)\):\n<<<(\w{20})\n(.*?)\n\3>>>", re.DOTALL | re.MULTILINE)
_EVIDENCE = ("context", "source", "answer")


def material_of(prompt: str) -> dict[str, str]:
    """The parts of a judge's prompt by name, as they stand between the fences."""
    return {name: text for name, _, _, text in _FENCED.findall(prompt)}


def filled(exchange: Exchange) -> Any:
    """The form of this exchange, filled in by the rule."""
    parts = material_of(exchange.prompt)
    schema = (exchange.tool or {})["schema"]
    if "statements" in schema["properties"]:
        item = schema["properties"]["statements"]["items"]["properties"]
        texts = re.findall(r"^\(\d+\) (.*)$", parts["answer"], re.MULTILINE)
        return {
            "statements": [
                {"statement": number, **decided(text, parts["context"], item)}
                for number, text in enumerate(texts, 1)
            ]
        }
    evidence = next(parts[name] for name in _EVIDENCE if name in parts)
    claim = parts.get("claim") or parts.get("question") or parts.get("premise") or ""
    return decided(claim, evidence, schema["properties"])


def decided(text: str, evidence: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Evidence, reasoning and label (the first one for support, the one before cannot_tell without) for one text."""
    quote = next((sentence for sentence in sentences(evidence) if _covers(sentence, text)), "")
    decision: dict[str, Any] = {"evidence_quote": quote, "reasoning": "by the rule"}
    if "score" in properties:
        return {**decision, "score": 1.0 if quote else 0.0}
    labels = [each for each in properties["label"]["enum"] if each not in ("cannot_tell", "no_claim")]
    return {**decision, "label": labels[0] if quote else labels[-1]}


def _covers(sentence: str, text: str) -> bool:
    wanted = set(content_words(text, "en"))
    return bool(wanted) and wanted <= set(content_words(sentence, "en"))


class RuleServer(LoopbackServer):
    """Answers by the rule, after `delay_s`. `first` are behaviours for the first requests, in order."""

    def __init__(self, *first: Behaviour, delay_s: float = 0.0, key: str | None = None) -> None:
        self._first = list(first)
        self._delay_s = delay_s
        self._taking = threading.Lock()
        super().__init__(self._answer, key=key)

    def _answer(self, exchange: Exchange) -> Behaviour:
        with self._taking:
            if self._first:
                return self._first.pop(0)
        return form_reply(self, exchange, filled(exchange), delay_s=self._delay_s)


def scripted(script: Callable[[LoopbackServer, Exchange], Behaviour]) -> LoopbackServer:
    """A server whose script may use the server itself."""
    held: list[LoopbackServer] = []
    answer: Script = lambda exchange: script(held[0], exchange)  # noqa: E731
    held.append(LoopbackServer(answer))
    return held[0]


def main(argv: list[str]) -> int:
    """Serve by the rule until standard input closes; prints the address and, at the end, the counts as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers.messages_api")
    parser.add_argument("--delay", type=float, default=0.0)
    options = parser.parse_args(argv)
    with RuleServer(delay_s=options.delay) as server:
        print(server.url, flush=True)
        sys.stdin.read()
        print(json.dumps(vars(server.counts)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
