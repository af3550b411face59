"""Ranked items of prepared results → hits, in the order the file gives them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from core.records import Hit


@dataclass(frozen=True, slots=True)
class Item:
    """One place of a ranking as a file has it; `rank` and `score` are None where the file gives none."""

    label: str
    rank: float | None = None
    score: float | None = None
    text: str = ""
    chunk_id: str = ""
    title: str = ""


def ordered(items: Sequence[Item]) -> list[Item]:
    """By rank, then by score from the highest, then in the order of the file; ranks and scores that are missing
    come last."""

    def key(position: int) -> tuple[float, bool, float, int]:
        item = items[position]
        rank = item.rank if item.rank is not None else float("inf")
        return rank, item.score is None, -(item.score or 0.0), position

    return [items[position] for position in sorted(range(len(items)), key=key)]


def label_hits(items: Sequence[Item]) -> tuple[Hit, ...]:
    """Hits whose id is the label; a label that comes again counts at its best place."""
    found: dict[str, Item] = {}
    for item in ordered(items):
        found.setdefault(item.label, item)
    return tuple(
        Hit(id=label, rank=rank, score=item.score, text=item.text, title=item.title, source=item.chunk_id)
        for rank, (label, item) in enumerate(found.items(), 1)
    )


def chunk_hits(items: Sequence[Item]) -> tuple[Hit, ...]:
    """Hits for retrieved texts; one without an id gets the digest of its text, so that equal texts are equal."""
    found: dict[str, Item] = {}
    for item in ordered(items):
        found.setdefault(item.chunk_id or text_id(item.text), item)
    return tuple(
        Hit(id=chunk_id, rank=rank, score=item.score, text=item.text, title=item.title)
        for rank, (chunk_id, item) in enumerate(found.items(), 1)
    )


def text_id(text: str) -> str:
    """The id of a retrieved text that has none: `text-` and 16 hex digits of its SHA-256."""
    return "text-" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
