"""Replies that must never become a score: about eighty kinds of them, for both interfaces.

Each is what some model or server really sends: prose, half a JSON, the right form in the wrong place, a label nobody
offered, a number out of range, a missing or extra statement, a cut-off reply that looks complete. The suite runs over
real HTTP against a loopback server and asks the judge under test twice for each (the repair round gets the same).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.contracts import Judge, Material
from core.errors import JudgeFailure
from core.llm.loopback import Behaviour, Exchange, LoopbackServer, completion, message

RUBRICS = str(Path(__file__).parent / "check_rubrics")
MATERIAL: Mapping[str, Material] = {
    "claim_support": Material(
        {"context": "The exam lasts 90 minutes.", "claim": "The exam lasts 90 minutes."}
    ),
    "faithfulness": Material(
        {
            "context": "The exam lasts 90 minutes. It is written.",
            "question": "How long?",
            "answer": "It lasts 90 minutes. It is written.",
        }
    ),
    "check_number": Material(
        {"context": "The exam lasts 90 minutes.", "claim": "The exam lasts 90 minutes."}
    ),
}
_GOOD = {"evidence_quote": "The exam lasts 90 minutes.", "reasoning": "stated", "label": "supported"}
_GOOD_NUMBER = {"evidence_quote": "The exam lasts 90 minutes.", "reasoning": "stated", "score": 1.0}
_ITEMS = [{"statement": 1, **_GOOD}, {"statement": 2, **_GOOD}]


@dataclass(frozen=True, slots=True)
class Torture:
    """One malformed reply: `body` makes it for an exchange. `keeps_text` is False where nothing was said at all."""

    name: str
    rubric: str
    body: Callable[[Exchange], bytes]
    keeps_text: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the judge made of one malformed reply. `held`: it refused to score, and kept what it was sent."""

    name: str
    held: bool
    detail: str
    calls: int


def suite() -> list[Torture]:
    """Every malformed reply, in a fixed order."""
    return [*_bad_labels(), *_bad_numbers(), *_bad_statements(), *_bad_messages(), *_bad_bodies()]


def suite_control() -> Torture:
    """A well-formed reply: the same path, and it must give a score."""
    return _of("control", "claim_support", _GOOD)


def run(
    make_judge: Callable[[LoopbackServer], Judge], cases: Iterable[Torture] | None = None
) -> list[Outcome]:
    """Put a judge through the suite. `make_judge` builds it against the server's address, with the rubrics of
    `RUBRICS` beside the shipped ones."""
    current: list[Torture] = []
    server = LoopbackServer(lambda exchange: Behaviour(current[-1].body(exchange)))
    outcomes = []
    with server:
        judge = make_judge(server)
        for case in cases if cases is not None else suite():
            current.append(case)
            before = server.counts.requests
            held, detail = _try(judge, case)
            outcomes.append(Outcome(case.name, held, detail, server.counts.requests - before))
        close = getattr(judge, "close", None)
        if close is not None:
            close()
    return outcomes


def _try(judge: Judge, case: Torture) -> tuple[bool, str]:
    try:
        judgement = judge.judge(case.rubric, MATERIAL[case.rubric])
    except JudgeFailure as failure:
        if case.keeps_text and not failure.raw_text:
            return False, "refused, but did not keep what was said"
        return True, f"{failure.kind}: {failure}"
    except Exception as error:  # noqa: BLE001 - any other exception is a finding about the judge under test
        return False, f"raised {type(error).__name__} instead of JudgeFailure: {error}"
    return False, f"gave label {judgement.label!r}, score {judgement.score}"


def form(exchange: Exchange, filled: Any, *, tool: str | None = None, stop: str = "") -> bytes:
    """A reply with `filled` (any JSON value, or JSON text as `Raw`) in the place of the form."""
    value = filled.text if isinstance(filled, Raw) else json.dumps(filled, ensure_ascii=False)
    asked = exchange.tool or {"name": "", "forced": False}
    name = tool if tool is not None else asked["name"]
    if exchange.flavour == "messages":
        content = (
            [{"type": "tool_use", "id": "toolu_1", "name": name, "input": "<<>>"}]
            if asked["forced"]
            else [{"type": "text", "text": value}]
        )
        text = json.dumps(message(exchange, content, stop_reason=stop), ensure_ascii=False)
        return text.replace('"<<>>"', value).encode("utf-8", "surrogatepass")
    finish = {"max_tokens": "length", "refusal": "content_filter"}.get(stop, "")
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": value}}
    said = (
        {"role": "assistant", "content": None, "tool_calls": [call]}
        if asked["forced"]
        else {"role": "assistant", "content": value}
    )
    return json.dumps(completion(exchange, said, finish=finish), ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


@dataclass(frozen=True, slots=True)
class Raw:
    """JSON text that `json.dumps` would not write."""

    text: str


def _bad_labels() -> list[Torture]:
    labels: dict[str, Any] = {
        "false in words": "false",
        "zero in words": "0",
        "number zero": 0,
        "number one": 1,
        "false": False,
        "true": True,
        "nein": "nein",
        "no in Chinese": "非",
        "null": None,
        "empty": "",
        "another case": "Supported",
        "blank before": " supported",
        "line end after": "supported\n",
        "with a remark": "supported, mostly",
        "one nobody offered": "fully_supported",
        "two at once": "supported|contradicted",
        "in a list": ["supported"],
        "in an object": {"value": "supported"},
        "a score": 0.97,
    }
    cases = [
        _of(f"label: {name}", "claim_support", {**_GOOD, "label": value}) for name, value in labels.items()
    ]
    forms: dict[str, Any] = {
        "without label": {k: v for k, v in _GOOD.items() if k != "label"},
        "without evidence": {k: v for k, v in _GOOD.items() if k != "evidence_quote"},
        "without reasoning": {k: v for k, v in _GOOD.items() if k != "reasoning"},
        "with a score beside": {**_GOOD, "score": 1.0},
        "with another label beside": {**_GOOD, "final_label": "supported"},
        "keys in another case": {"Evidence_Quote": "", "Reasoning": "", "Label": "supported"},
        "evidence null": {**_GOOD, "evidence_quote": None},
        "evidence a list": {**_GOOD, "evidence_quote": ["The exam lasts 90 minutes."]},
        "reasoning a number": {**_GOOD, "reasoning": 3},
        "empty": {},
        "nested one deeper": {"judgement": _GOOD},
        "the schema itself": {"type": "object", "properties": {"label": {"enum": ["supported"]}}},
        "an empty list": [],
        "in a list": [_GOOD],
        "text": "supported",
        "JSON in text": json.dumps(_GOOD),
        "a number": 1,
        "true": True,
        "null": None,
        "label given twice": Raw(
            '{"evidence_quote": "", "reasoning": "", "label": "contradicted", "label": "supported"}'
        ),
    }
    return cases + [_of(f"form: {name}", "claim_support", value) for name, value in forms.items()]


def _bad_numbers() -> list[Torture]:
    numbers: dict[str, Any] = {
        "7": 7,
        "100": 100,
        "a hair above 1": 1.0000001,
        "negative": -0.1,
        "in words": "0.9",
        "percent": "90 %",
        "true": True,
        "null": None,
        "NaN in words": "NaN",
        "a list": [1.0],
        "NaN": Raw("NaN"),
        "Infinity": Raw("Infinity"),
        "too large for a double": Raw("1e999"),
        "an endless whole number": Raw("1" + "0" * 400),
        "decimal comma": Raw("0,9"),
    }
    cases = []
    for name, value in numbers.items():
        text = value.text if isinstance(value, Raw) else json.dumps(value)
        filled = Raw(json.dumps({**_GOOD_NUMBER, "score": "<>"}).replace('"<>"', text))
        cases.append(_of(f"score: {name}", "check_number", filled))
    return cases


def _bad_statements() -> list[Torture]:
    lists: dict[str, Any] = {
        "none": [],
        "one missing": _ITEMS[:1],
        "one too many": [*_ITEMS, {"statement": 3, **_GOOD}],
        "one twice": [_ITEMS[0], _ITEMS[0]],
        "counted from zero": [{**_ITEMS[0], "statement": 0}, {**_ITEMS[1], "statement": 1}],
        "numbers in words": [{**item, "statement": str(item["statement"])} for item in _ITEMS],
        "number true": [{**_ITEMS[0], "statement": True}, _ITEMS[1]],
        "number with a fraction": [{**_ITEMS[0], "statement": 1.0}, _ITEMS[1]],
        "labels alone": ["supported", "supported"],
        "null": None,
        "an object": {"1": _GOOD, "2": _GOOD},
        "one null": [_ITEMS[0], None],
        "one without label": [_ITEMS[0], {"statement": 2, "evidence_quote": "", "reasoning": ""}],
        "one with nein": [_ITEMS[0], {**_ITEMS[1], "label": "nein"}],
        "all in one": [{"statement": 1, **_GOOD, "also": 2}],
    }
    cases = [
        _of(f"statements: {name}", "faithfulness", {"statements": value}) for name, value in lists.items()
    ]
    return [
        *cases,
        _of("statements: a bare list", "faithfulness", _ITEMS),
        _of("statements: one label for all", "faithfulness", _GOOD),
    ]


def _bad_messages() -> list[Torture]:
    def text(said: str, stop: str = "") -> Callable[[Exchange], bytes]:
        def make(exchange: Exchange) -> bytes:
            if exchange.flavour == "messages":
                return _dump(message(exchange, [{"type": "text", "text": said}], stop_reason=stop))
            finish = {"max_tokens": "length", "refusal": "content_filter"}.get(stop, "")
            return _dump(completion(exchange, {"role": "assistant", "content": said}, finish=finish))

        return make

    def content(blocks: Any, said: Any) -> Callable[[Exchange], bytes]:
        return lambda x: _dump(message(x, blocks) if x.flavour == "messages" else completion(x, said))

    block = {"type": "tool_use", "id": "toolu_1", "name": "give_judgement", "input": _GOOD}
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "give_judgement", "arguments": json.dumps(_GOOD)},
    }
    prose = "The claim is fully supported. Score: 1.0"
    return [
        Torture("message: prose", "claim_support", text(prose)),
        Torture(
            "message: a perfect form in a code fence",
            "claim_support",
            text(f"```json\n{json.dumps(_GOOD)}\n```"),
        ),
        Torture("message: false", "claim_support", text("false")),
        Torture("message: a declined request", "claim_support", text("I cannot judge this.", "refusal")),
        Torture("message: declined with a form", "claim_support", lambda x: form(x, _GOOD, stop="refusal")),
        Torture("message: cut off with a form", "claim_support", lambda x: form(x, _GOOD, stop="max_tokens")),
        Torture(
            "message: cut off in the middle",
            "claim_support",
            text('{"evidence_quote": "The ex', "max_tokens"),
        ),
        Torture("message: another tool", "claim_support", lambda x: _another_tool(x)),
        Torture(
            "message: the same call twice",
            "claim_support",
            content([block, block], {"role": "assistant", "tool_calls": [call, call]}),
        ),
        Torture("message: no content", "claim_support", content([], {"role": "assistant", "content": ""})),
        Torture(
            "message: content null", "claim_support", content(None, {"role": "assistant", "content": None})
        ),
        Torture("message: content is text", "claim_support", content("supported", "supported")),
        Torture("message: a block is text", "claim_support", content(["supported"], ["supported"])),
        Torture("message: white space", "claim_support", text("  \n ")),
    ]


def _another_tool(exchange: Exchange) -> bytes:
    if (exchange.tool or {}).get("forced"):
        return form(exchange, _GOOD, tool="search")
    return form(exchange, {"tool": "search", **_GOOD})


def _bad_bodies() -> list[Torture]:
    def fixed(body: bytes) -> Callable[[Exchange], bytes]:
        return lambda exchange: body

    deep = b'{"type": "message", "content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    return [
        Torture("body: half of it", "claim_support", lambda x: form(x, _GOOD)[:-40]),
        Torture("body: twice", "claim_support", lambda x: form(x, _GOOD) * 2),
        Torture("body: empty", "claim_support", fixed(b""), keeps_text=False),
        Torture("body: null", "claim_support", fixed(b"null")),
        Torture("body: true", "claim_support", fixed(b"true")),
        Torture("body: a list", "claim_support", lambda x: b"[" + form(x, _GOOD) + b"]"),
        Torture(
            "body: a web page", "claim_support", fixed(b"<html><body>Welcome to the proxy</body></html>")
        ),
        Torture(
            "body: an error with status 200",
            "claim_support",
            fixed(b'{"type": "error", "error": {"message": "overloaded"}}'),
        ),
        Torture("body: the form alone", "claim_support", fixed(json.dumps(_GOOD).encode())),
        Torture("body: not UTF-8", "claim_support", fixed(b'\xff\xfe{"type": "message"\x00')),
        Torture("body: nested a hundred thousand deep", "claim_support", fixed(deep)),
        Torture("body: tokens NaN", "claim_support", lambda x: form(x, _GOOD).replace(b"100", b"NaN", 1)),
    ]


def _of(name: str, rubric: str, filled: Any) -> Torture:
    return Torture(name, rubric, lambda exchange: form(exchange, filled))


def _dump(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()
