"""Citations read from the answer and checked: what is cited, does it exist, does it support the sentence.

ALCE (Gao et al. 2023): a sentence is recalled when it has citations, all of them exist, and together they
support it; a citation is precise unless its sentence is unsupported or it alone does not support it while the
others still do. A citation of something that does not exist counts as imprecise (ALCE leaves it out).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.contracts import add_metrics
from core.metrics.claims import checkable, statement_spans
from core.metrics.support import support
from core.records import Citation, Hit

MARKER = re.compile(
    r"[\[【](?:(?P<numbers>\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)|(?:src|source|doc|chunk|quelle)\s*[:=]\s*(?P<ids>[^\]】\n]{1,200}))[\]】]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A marker in an answer: characters, and what it names ("3", "doc-7")."""

    start: int
    end: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cited:
    """A statement of the answer with the sources it cites: texts by id for those that exist, and the names of
    those that do not."""

    statement: str
    sources: tuple[str, ...]
    dangling: tuple[str, ...]


def mentions(text: str, pattern: re.Pattern[str] = MARKER) -> list[Mention]:
    """All citation markers, in order: `[1]`, `[1, 3]`, `[2-4]`, `[src:ID]`, `[doc:a; b]`.

    A pattern of one's own has a group `numbers` or `ids`; both are lists separated by comma or semicolon.
    """
    found = []
    for match in pattern.finditer(text):
        groups = match.groupdict()
        numbers, ids = groups.get("numbers"), groups.get("ids")
        names = (
            _numbers(numbers)
            if numbers
            else tuple(part.strip() for part in re.split(r"[,;]", ids or "") if part.strip())
        )
        if names:
            found.append(Mention(match.start(), match.end(), names))
    return found


def _numbers(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for part in re.split(r"[,;]", text):
        bounds = [int(number) for number in re.findall(r"\d+", part)]
        if len(bounds) == 2 and 0 <= bounds[1] - bounds[0] <= 50:
            found += [str(number) for number in range(bounds[0], bounds[1] + 1)]
        else:
            found += [str(number) for number in bounds]
    return tuple(dict.fromkeys(found))


def cited_statements(
    text: str,
    citations: Sequence[Citation],
    context: Sequence[Hit],
    sources: Mapping[str, str],
    pattern: re.Pattern[str] = MARKER,
) -> list[Cited]:
    """The check-worthy sentences of an answer with what each cites.

    A number is the citation with that marker, else the n-th hit of the context. A citation without marker and
    without span counts for every sentence; one with a span for the sentence that holds the span. `sources` are
    texts by id (chunks, corpus).
    """
    by_marker: dict[str, list[str]] = {}
    for citation in citations:
        for mention in mentions(citation.marker, pattern):
            for name in mention.names:
                by_marker.setdefault(name, []).append(citation.source_id)
    spans = statement_spans(text, pattern)
    marks = mentions(text, pattern)
    found = []
    for start, end in spans:
        names = [name for mark in marks if start <= mark.start < end for name in mark.names]
        ids: list[str] = []
        for name in names:
            ids += by_marker.get(name) or [_resolve(name, context)]
        body = text[start:end]
        for citation in citations:
            loose = not citation.marker and not citation.span
            if loose or (
                citation.span
                and not citation.marker
                and (citation.span in body or body.strip() in citation.span)
            ):
                ids.append(citation.source_id)
        statement = pattern.sub("", body).strip()
        unique = list(dict.fromkeys(ids))
        if checkable(statement):
            known = tuple(each for each in unique if each in sources)
            found.append(Cited(statement, known, tuple(each for each in unique if each not in sources)))
    return found


def _resolve(name: str, context: Sequence[Hit]) -> str:
    if any(hit.id == name for hit in context):
        return name
    if name.isdigit() and 1 <= int(name) <= len(context):
        return context[int(name) - 1].id
    return name


def citation_scores(
    statements: Sequence[Cited], sources: Mapping[str, str], retrieved: Sequence[Hit]
) -> tuple[dict[str, float | None], dict[str, str]]:
    """ALCE precision and recall and their kin for one answer, with the reason of each None."""
    scores: dict[str, float | None] = dict.fromkeys(CITATION_METRICS)
    if not statements:
        return scores, dict.fromkeys(CITATION_METRICS, "no_claims")
    recalled, precise, total, dangling, misattributed = 0, 0, 0, 0, 0
    for each in statements:
        texts = [sources[key] for key in each.sources]
        total += len(each.sources) + len(each.dangling)
        dangling += len(each.dangling)
        whole = bool(texts) and _holds(each.statement, texts)
        recalled += whole and not each.dangling
        precise += _precise(each.statement, texts) if whole else 0
        if (each.sources or each.dangling) and not whole:
            elsewhere = [hit.text for hit in retrieved if hit.id not in each.sources]
            misattributed += any(support(each.statement, text).label == "supported" for text in elsewhere)
    cited = sum(bool(each.sources or each.dangling) for each in statements)
    scores |= {
        "citation_recall": recalled / len(statements),
        "citation_precision": precise / total if total else None,
        "uncited_claim_rate": 1 - cited / len(statements),
        "correct_but_misattributed": misattributed / cited if cited else None,
        "dangling_citation_count": float(dangling),
        "invalid_attribution_count": float(dangling),
        "citation_count": float(total),
    }
    return scores, {name: "no_citations" for name, value in scores.items() if value is None}


def _holds(statement: str, texts: Sequence[str]) -> bool:
    return any(support(statement, text).label == "supported" for text in texts) or (
        len(texts) > 1 and support(statement, "\n\n".join(texts)).label == "supported"
    )


def _precise(statement: str, texts: Sequence[str]) -> int:
    count = 0
    for index, text in enumerate(texts):
        rest = [*texts[:index], *texts[index + 1 :]]
        count += support(statement, text).label == "supported" or not (rest and _holds(statement, rest))
    return count


CITATION_METRICS = (
    "citation_recall", "citation_precision", "uncited_claim_rate", "correct_but_misattributed",
    "dangling_citation_count", "invalid_attribution_count", "citation_count",
)  # fmt: skip
_ALCE = "Gao et al. 2023 (ALCE)"
_DECLARED = (
    ("citation_recall", "Citation recall", 1, "bounded", "sentences whose citations all exist and together support them / check-worthy sentences", _ALCE),
    ("citation_precision", "Citation precision", 1, "bounded", "citations that their sentence needs / citations; dangling ones count as imprecise", _ALCE),
    ("uncited_claim_rate", "Uncited claims", -1, "bounded", "check-worthy sentences without a citation / check-worthy sentences", "statistics 2.3"),
    ("correct_but_misattributed", "Misattributed", -1, "bounded", "cited sentences that the cited sources do not support but another retrieved chunk does / cited sentences", "statistics 2.3"),
    ("dangling_citation_count", "Dangling citations", -1, "count", "citations of something that does not exist", "published name"),
    ("invalid_attribution_count", "Invalid attributions", -1, "count", "citations of something that does not exist", "published name"),
    ("citation_count", "Citations", 0, "count", "citations, each once a sentence", "published name"),
)  # fmt: skip
add_metrics(
    _DECLARED,
    family="citations",
    inputs="answer with its citations, cited sources, retrieved chunks",
    empty="None with a reason: no_claims, no_citations",
    version="1",
    function=citation_scores,
)
