"""From a ranking to the passages the answerer reads: order, selection, limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from core.records import Hit

ContextMode = Literal["ranked", "group_by_doc", "dedupe_section"]


def assemble(
    hits: Sequence[Hit], mode: ContextMode, *, max_chunks: int | None = None, max_chars: int | None = None
) -> list[Hit]:
    """The passages in the order they are read.

    ranked: as they are. group_by_doc: passages of one document together, documents in the order of their best
    passage, within a document by place. dedupe_section: only the first passage of each section. Then cut to
    `max_chunks`, then before the passage that would exceed `max_chars` (the first is always kept whole).
    """
    chosen = list(hits)
    if mode == "group_by_doc":
        first = {hit.doc_path: hit.rank for hit in reversed(chosen)}
        chosen.sort(key=lambda hit: (first[hit.doc_path], hit.start if hit.start is not None else hit.rank))
    elif mode == "dedupe_section":
        seen: dict[tuple[str, str, str], Hit] = {}
        for hit in chosen:
            seen.setdefault((hit.doc_path, hit.section_id, hit.title), hit)
        chosen = list(seen.values())
    chosen = chosen[:max_chunks]
    if max_chars is None:
        return chosen
    total = 0
    kept: list[Hit] = []
    for hit in chosen:
        total += len(hit.text)
        if kept and total > max_chars:
            break
        kept.append(hit)
    return kept
