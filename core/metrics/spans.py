"""Where a quote stands in a document, and how much of the gold text a retrieval covers.

Spans are half-open character ranges of `Document.text`. A quote is looked for in a *skeleton* of the text:
compatibility-decomposed, case-folded, without white space, hyphens, dashes and quotation marks. So line breaks,
hyphens at line ends, ligatures, non-breaking blanks and typographic variants make no difference.
"""

from __future__ import annotations

import difflib
import itertools
import re
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from core.contracts import metric
from core.corpus import Document
from core.records import Case

Span = tuple[int, int]
T = TypeVar("T")

FUZZY_MINIMUM = 0.9
_SEED = 12  # characters of an exact piece from which an inexact match is grown
_DROPPED_CATEGORIES = {"Zs", "Zl", "Zp", "Cc", "Cf", "Pd", "Pi", "Pf", "Co", "Cn", "Cs"}
_DROPPED = set("\"'`´‚„‹›«»′″¬⁃−­\ufffe\ufffd")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class IdentityCache(Generic[T]):
    """Values computed from big immutable objects, found again by the identity of the object, not by its
    content (hashing a corpus would cost more than what is saved). Keeps the last `size`; thread-safe."""

    def __init__(self, size: int) -> None:
        self._size, self._lock = size, threading.Lock()
        self._kept: OrderedDict[int, tuple[Any, T]] = OrderedDict()

    def get(self, owner: Any, make: Callable[[], T]) -> T:
        with self._lock:
            found = self._kept.get(id(owner))
            if found is not None:
                self._kept.move_to_end(id(owner))
                return found[1]
        value = make()
        with self._lock:
            self._kept[id(owner)] = (owner, value)  # the owner is kept alive, so its id stays its own
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return value


class _Folding(dict[int, str]):
    """One code point → what stays of it in the skeleton ("" for white space, hyphens, quotation marks)."""

    def __missing__(self, code: int) -> str:
        kept = "".join(
            part
            for part in unicodedata.normalize("NFKD", chr(code)).casefold()
            if part not in _DROPPED and unicodedata.category(part) not in _DROPPED_CATEGORIES
        )
        self[code] = kept
        return kept


_FOLDING = _Folding()


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A folded text; `origin[i]` is the place in the text from which character i of the skeleton came."""

    text: str
    origin: Any

    def span(self, start: int, end: int) -> Span:
        """The range of the original text behind `[start, end)` of the skeleton (end > start)."""
        return int(self.origin[start]), int(self.origin[end - 1]) + 1

    def places(self, start: int, end: int) -> Span:
        """The range of the skeleton that came from `[start, end)` of the original text."""
        low, high = np.searchsorted(self.origin, [start, end])
        return int(low), int(high)


def skeleton(text: str) -> Skeleton:
    """Fold a text for locating; linear in its length."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    lengths = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int32)
    for char in set(text):
        lengths[ord(char)] = len(_FOLDING[ord(char)])
    origin = np.repeat(np.arange(len(codes), dtype=np.int32), lengths[codes])
    return Skeleton(fold_for_locating(text), origin)


def fold_for_locating(text: str) -> str:
    """The skeleton's text alone."""
    return text.translate(_FOLDING)


_SKELETONS: IdentityCache[Skeleton] = IdentityCache(512)


def document_skeleton(document: Document) -> Skeleton:
    """The skeleton of a document, made once."""
    return _SKELETONS.get(document, lambda: skeleton(document.text))


def locate(quote: str, document: Document, page: int | None = None) -> Span | None:
    """Characters of `document.text` that are the quote; None when it does not stand there.

    Tried in turn: exactly (up to the folding of this module) on the page, on the page and its neighbours,
    anywhere in the document (printed and counted page numbers differ); then inexactly, with a similarity of at
    least 0.9 and the same numbers, on the page and its neighbours or, without a page, anywhere. Of several
    places the first that begins and ends with whole words wins.
    """
    wanted = fold_for_locating(quote)
    if not wanted:
        return None
    folded = document_skeleton(document)
    whole = (0, len(folded.text))
    ranges = [whole]
    if page is not None and (on_page := _page_range(document, page, 0)) is not None:
        near = _page_range(document, page, 1) or on_page
        ranges = [folded.places(*on_page), folded.places(*near), whole]
    for low, high in ranges:
        found = _exact(wanted, folded, document.text, low, high)
        if found is not None:
            return _with_edges(quote.strip(), document.text, found)
    low, high = ranges[-2] if len(ranges) > 1 else whole
    return _fuzzy(wanted, _NUMBER.findall(quote), folded, document.text, low, high)


def _page_range(document: Document, page: int, around: int) -> Span | None:
    chosen = [each for each in document.pages if abs(each.number - page) <= around]
    return (chosen[0].start, chosen[-1].end) if chosen else None


def _exact(wanted: str, folded: Skeleton, text: str, low: int, high: int) -> Span | None:
    first: Span | None = None
    at = folded.text.find(wanted, low, high)
    while at >= 0:
        span = folded.span(at, at + len(wanted))
        if _whole_words(text, span):
            return span
        first = first or span
        at = folded.text.find(wanted, at + 1, high)
    return first if len(wanted) >= _SEED else None


def _with_edges(quote: str, text: str, span: Span) -> Span:
    """The span with the quotation marks and dashes at the quote's own ends, which the skeleton leaves out."""
    start, end = span
    before = sum(1 for _ in itertools.takewhile(lambda char: not _FOLDING[ord(char)], quote.replace(" ", "")))
    after = sum(
        1 for _ in itertools.takewhile(lambda char: not _FOLDING[ord(char)], quote.replace(" ", "")[::-1])
    )
    while before and (at := start - 1) >= 0 and not _FOLDING[ord(text[at])]:
        start, before = at, before - (not text[at].isspace())
    while after and end < len(text) and not _FOLDING[ord(text[end])]:
        end, after = end + 1, after - (not text[end].isspace())
    found = text[start:end]
    return start + len(found) - len(found.lstrip()), end - len(found) + len(found.rstrip())


def _whole_words(text: str, span: Span) -> bool:
    start, end = span
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    after = end < len(text) and text[end].isalnum() and text[end - 1].isalnum()
    return not (before or after)


def _fuzzy(wanted: str, numbers: list[str], folded: Skeleton, text: str, low: int, high: int) -> Span | None:
    best: tuple[float, Span] | None = None
    for shift in _candidate_starts(wanted, folded.text, low, high):
        slack = len(wanted) // 8 + 8
        start, end = max(low, shift - slack), min(high, shift + len(wanted) + slack)
        window = folded.text[start:end]
        blocks = difflib.SequenceMatcher(None, wanted, window, autojunk=False).get_matching_blocks()
        solid = [block for block in blocks if block.size >= 3]
        if not solid:
            continue
        begin, finish = solid[0].b, solid[-1].b + solid[-1].size
        ratio = 2.0 * sum(block.size for block in solid) / (len(wanted) + finish - begin)
        span = folded.span(start + begin, start + finish)
        same_numbers = sorted(_NUMBER.findall(text[span[0] : span[1]])) == sorted(numbers)
        if same_numbers and ratio >= FUZZY_MINIMUM and (best is None or ratio > best[0]):
            best = (ratio, span)
    return best[1] if best else None


def _candidate_starts(wanted: str, text: str, low: int, high: int) -> list[int]:
    """Where the quote would begin, judged by exact pieces of it; the places most pieces agree on come first."""
    votes: dict[int, int] = {}
    for offset in range(0, max(1, len(wanted) - _SEED + 1), _SEED):
        at, seen = text.find(wanted[offset : offset + _SEED], low, high), 0
        while at >= 0 and seen < 20:
            near = (at - offset) // 16
            votes[near] = votes.get(near, 0) + 1
            at, seen = text.find(wanted[offset : offset + _SEED], at + 1, high), seen + 1
    return [near * 16 for near, _ in sorted(votes.items(), key=lambda item: (-item[1], item[0]))[:5]]


# --- gold spans of a case -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """Characters `[start, end)` of a document that are gold evidence; `evidence_index` is the place of the
    evidence in `Case.evidence`."""

    doc_path: str
    start: int
    end: int
    evidence_index: int


_BY_PATH: IdentityCache[dict[str, Document]] = IdentityCache(8)


def documents_by_path(documents: Mapping[str, Document] | Sequence[Document]) -> dict[str, Document]:
    """Documents by full path and, where it is unique, by file name."""

    def make() -> dict[str, Document]:
        listed = list(documents.values()) if isinstance(documents, Mapping) else list(documents)
        short: dict[str, Document | None] = {}
        for document in listed:
            name = document.doc_path.rsplit("/", 1)[-1]
            short[name] = None if name in short else document
        unique = {name: document for name, document in short.items() if document is not None}
        return unique | {document.doc_path: document for document in listed}

    return _BY_PATH.get(documents, make)


def evidence_spans(case: Case, documents: Mapping[str, Document] | Sequence[Document]) -> list[GoldSpan]:
    """The gold evidence of a case, located; what cannot be found is left out (its index is missing). The same
    passage named twice is one span."""
    known = documents_by_path(documents)
    spans: dict[tuple[str, int, int], GoldSpan] = {}
    for index, evidence in enumerate(case.evidence):
        document = known.get(evidence.doc_path) or known.get(evidence.doc_path.rsplit("/", 1)[-1])
        if document is None:
            continue
        span: Span | None = None
        if evidence.start is not None and evidence.end is not None:
            span = (evidence.start, min(evidence.end, len(document.text)))
        elif evidence.quote:
            span = locate(evidence.quote, document, evidence.page)
        if span is not None and span[0] < span[1]:
            spans.setdefault((document.doc_path, *span), GoldSpan(document.doc_path, *span, index))
    return list(spans.values())


# --- coverage (chunking evaluation) ---------------------------------------------------------------------------


def union(spans: Iterable[Span]) -> list[Span]:
    """Sorted, disjoint ranges that cover the same characters."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def length(spans: Iterable[Span]) -> int:
    return sum(end - start for start, end in spans)


def overlap(left: Iterable[Span], right: Iterable[Span]) -> int:
    """How many characters lie in both; each counts once."""
    a, b = union(left), union(right)
    total = i = j = 0
    while i < len(a) and j < len(b):
        total += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total


_SPANS = "gold ranges; retrieved ranges of one document (or of all, keyed by document)"
_CHROMA = "Smith & Troynikov 2024, Evaluating Chunking Strategies for Retrieval (chunking_evaluation)"
_NO_GOLD = "None without gold ranges"


def coverage(
    gold: Sequence[Span], retrieved: Sequence[Span]
) -> tuple[float | None, float | None, float | None]:
    """(recall, precision, IoU) of characters at once; see the three functions below."""
    total, fetched = length(union(gold)), length(set(retrieved))
    if not total:
        return None, None, None
    both = overlap(gold, retrieved)
    return both / total, both / fetched if fetched else None, both / (fetched + total - both)


@metric(
    name="char_recall",
    title="Character recall",
    family="spans",
    formula="gold characters that were retrieved / gold characters",
    inputs=_SPANS,
    empty=_NO_GOLD,
    source=_CHROMA,
)
def char_recall(gold: Sequence[Span], retrieved: Sequence[Span]) -> float | None:
    """Share of the gold characters that lie in a retrieved range; None without gold.

    >>> char_recall([(0, 10), (20, 30)], [(5, 25)])
    0.5
    """
    return coverage(gold, retrieved)[0]


@metric(
    name="char_precision",
    title="Character precision",
    family="spans",
    formula="gold characters that were retrieved / characters retrieved (overlapping chunks count each time)",
    inputs=_SPANS,
    empty=_NO_GOLD + " or when nothing was retrieved",
    source=_CHROMA,
)
def char_precision(gold: Sequence[Span], retrieved: Sequence[Span]) -> float | None:
    """Share of the retrieved characters that are gold; text retrieved twice through overlapping chunks weighs
    twice in the denominator, the same range given twice once. None without gold or without retrieval.

    >>> char_precision([(0, 10)], [(0, 20), (10, 30)])
    0.25
    """
    return coverage(gold, retrieved)[1]


@metric(
    name="char_iou",
    title="Character IoU",
    family="spans",
    formula="gold characters retrieved / (characters retrieved, overlaps each time, + gold characters missed)",
    inputs=_SPANS,
    empty=_NO_GOLD,
    source=_CHROMA,
)
def char_iou(gold: Sequence[Span], retrieved: Sequence[Span]) -> float | None:
    """Intersection over union of gold and retrieved characters as published: each gold character counts once
    above, overlapping chunks count each time below. None without gold.

    >>> char_iou([(0, 10)], [(5, 15)])
    0.3333333333333333
    """
    return coverage(gold, retrieved)[2]
