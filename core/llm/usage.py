"""Tokens and money: a dated price table that can be overridden, estimates before, a guard during, costs after.

An unknown price is None, never 0. Prices are US dollars per million tokens (`models.yaml`, with its date).
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError

from core.errors import ConfigError, Problem
from core.llm.client import LlmFailure, LlmRequest
from core.records import Record, Usage

_DATED = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")
_CHARS_PER_TOKEN = 3.0  # English runs near 4; German and code near 3: estimates err on the dear side
_TOOL_TOKENS = 350  # what providers add for a tool definition, at most
DEFAULT_MIN_CACHE = 1024


class LongPrompt(Record):
    """Prices of a request whose prompt is longer than `over` tokens."""

    over: int = Field(ge=0)
    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_write: float | None = Field(None, ge=0)
    cache_read: float | None = Field(None, ge=0)


class ModelFacts(Record):
    """Prices (US dollars per million tokens; a missing cache price counts as input) and traits of one model."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_write: float | None = Field(None, ge=0)
    cache_read: float | None = Field(None, ge=0)
    long: LongPrompt | None = None
    min_cache: int = DEFAULT_MIN_CACHE
    forced_tool: bool = True
    sampling: bool = False
    thinks: bool = False


class Prices(Record):
    """The price table of a run: the shipped one with the user's overrides on top. `as_of` dates the shipped one."""

    as_of: str
    models: dict[str, ModelFacts]

    def facts(self, model: str) -> ModelFacts | None:
        """Facts of a model id, also of its dated snapshots (`…-20251001`); None when nothing is known."""
        known = self.models.get(model)
        return known if known is not None else self.models.get(_DATED.sub("", model))

    def cost(self, model: str, usage: Usage) -> float | None:
        """Dollars for these tokens; None when the price is unknown. `usage.input_tokens` excludes what was read
        from or written to the prompt cache."""
        facts = self.facts(model)
        if facts is None:
            return None
        prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        rates = facts.long if facts.long is not None and prompt > facts.long.over else facts
        read = rates.input if rates.cache_read is None else rates.cache_read
        write = rates.input if rates.cache_write is None else rates.cache_write
        dollars = (
            usage.input_tokens * rates.input
            + usage.output_tokens * rates.output
            + usage.cache_read_tokens * read
            + usage.cache_write_tokens * write
        )
        return dollars / 1_000_000

    def at_most(self, request: LlmRequest) -> float | None:
        """What a request can cost at most: half as many prompt tokens again as estimated (tokenizers differ), all
        written to the prompt cache where one is used, and a reply of full length. None: price unknown."""
        facts = self.facts(request.model)
        if facts is None:
            return None
        cached = request.cache_system or any(message.cache for message in request.messages)
        tokens = math.ceil(1.5 * prompt_tokens(request))
        spent = Usage(
            input_tokens=0 if cached else tokens,
            cache_write_tokens=tokens if cached else 0,
            output_tokens=request.max_tokens,
        )
        return self.cost(request.model, spent)


def prices(overrides: Mapping[str, Any] | None = None) -> Prices:
    """The shipped table with overrides: `{model: {input: 3, output: 15}}`. ConfigError names what is wrong."""
    shipped = _shipped()
    if not overrides:
        return shipped
    models = dict(shipped.models)
    problems = []
    for name, given in overrides.items():
        present = shipped.facts(str(name))
        base = present.model_dump(exclude={"long"}) if present is not None else {}
        try:
            models[str(name)] = ModelFacts.model_validate({**base, **dict(given)})
        except (ValidationError, TypeError, ValueError) as error:
            first = error.errors()[0] if isinstance(error, ValidationError) else None
            text = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first else str(error)
            problems.append(
                Problem(f"prices.{name}", text, hint="give input and output in dollars per million tokens")
            )
    if problems:
        raise ConfigError("the prices cannot be used", problems)
    return Prices(as_of=shipped.as_of, models=models)


def tokens_of(text: str) -> int:
    """Tokens of a text, estimated without a tokenizer and rather too many than too few."""
    # characters beyond Latin scripts take about one token each, and their UTF-8 is that much longer
    return math.ceil(max(len(text) / _CHARS_PER_TOKEN, len(text.encode("utf-8", "replace")) / 3.5))


def prompt_tokens(request: LlmRequest) -> int:
    """Estimated tokens of a whole prompt, tool definition included."""
    texts = [request.system, *(message.text for message in request.messages)]
    tool = 0
    if request.tool is not None:
        tool = _TOOL_TOKENS + tokens_of(f"{request.tool.description}{request.tool.parameters}")
    return sum(tokens_of(text) + 8 for text in texts if text) + tool


class Estimate(Record):
    """What a number of calls would take: tokens, dollars (None: price unknown) and seconds at a concurrency."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    seconds: float
    prices_as_of: str


def estimate(
    calls: int,
    *,
    model: str,
    prompt_chars: float,
    reply_tokens: int = 250,
    latency_s: float = 3.0,
    concurrency: int = 4,
    table: Prices | None = None,
) -> Estimate:
    """Tokens, dollars and time of `calls` calls whose prompts have `prompt_chars` characters on average."""
    table = table or prices()
    used = Usage(
        input_tokens=round(calls * (prompt_chars / _CHARS_PER_TOKEN + _TOOL_TOKENS)),
        output_tokens=calls * reply_tokens,
    )
    each = Usage(input_tokens=used.input_tokens // max(calls, 1), output_tokens=reply_tokens)
    price = table.cost(model, each)
    return Estimate(
        calls=calls,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost_usd=None if price is None else price * calls,
        seconds=math.ceil(calls / max(concurrency, 1)) * latency_s,
        prices_as_of=table.as_of,
    )


class Budget:
    """A limit in dollars that many threads share. A call reserves the most it can cost before it is made, so the
    limit holds whatever the calls under way turn out to cost."""

    def __init__(self, max_usd: float) -> None:
        self.max_usd = max_usd
        self._spent = 0.0
        self._reserved = 0.0
        self._lock = threading.Lock()

    @property
    def spent_usd(self) -> float:
        """Dollars spent so far; calls whose price turned out unknown count with the most they could cost."""
        return self._spent

    def reserve(self, at_most: float | None, model: str) -> float:
        """Set dollars aside for the next call. LlmFailure of kind `budget` when the limit could be passed, or when
        nobody knows what the call costs."""
        if at_most is None:
            raise LlmFailure(
                f"the price of {model} is unknown, so a cost limit cannot be kept; give it under judge.prices",
                "budget",
            )
        with self._lock:
            if self._spent + self._reserved + at_most > self.max_usd:
                raise LlmFailure(
                    f"the next call may cost up to ${at_most:.4f}; ${self._spent:.4f} of the limit of "
                    f"${self.max_usd:.2f} are spent and ${self._reserved:.4f} set aside for calls under way",
                    "budget",
                )
            self._reserved += at_most
        return at_most

    def settle(self, reserved: float, cost: float | None) -> None:
        """Replace a reservation by what the call cost; None (unknown) keeps the whole reservation as spent."""
        with self._lock:
            self._reserved = max(self._reserved - reserved, 0.0)
            self._spent += reserved if cost is None else cost


@lru_cache(maxsize=1)
def _shipped() -> Prices:
    data = yaml.safe_load((Path(__file__).parent / "models.yaml").read_text(encoding="utf-8"))
    return Prices(as_of=data["as_of"], models={k: ModelFacts(**v) for k, v in data["models"].items()})
