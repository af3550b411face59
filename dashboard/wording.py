"""Numbers and sentences as people read them. The published names stand in tooltips and exports, not here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from dashboard.charts.palette import ORDER, look

MISSING = "–"
THIN = "\u202f"
MINUS = "−"
FRACTION_KINDS = ("binary", "bounded")


def count(number: int | float) -> str:
    """12345 → "12 345" with thin separators."""
    return f"{number:,.0f}".replace(",", THIN)


def plural(number: int, noun: str, nouns: str = "") -> str:
    """(1, "case") → "1 case"; (3, "case") → "3 cases"."""
    return f"{count(number)} {noun if number == 1 else nouns or noun + 's'}"


def rate(share: float | None) -> str:
    """0.82 → "82 %"; None → "–". 99.6 % is not rounded up to a false 100 %, nor 0.3 % down to 0."""
    if share is None:
        return MISSING
    percent = share * 100
    if 0 < percent < 1 or 99 < percent < 100:
        return f"{percent:.1f} %" if 0.05 <= percent < 99.95 else ("<0.1 %" if percent < 1 else ">99.9 %")
    return f"{percent:.0f} %"


def points(difference: float | None) -> str:
    """-0.04 → "−4 points", always with its sign; None → "–"."""
    if difference is None:
        return MISSING
    rounded = round(difference * 100)
    sign = "+" if rounded > 0 else MINUS if rounded < 0 else "±"
    return f"{sign}{abs(rounded)} {'point' if abs(rounded) == 1 else 'points'}"


def interval(low: float | None, high: float | None, kind: str = "binary") -> str:
    """(0.76, 0.87) → "[76, 87]" for shares, "[1.2, 3.4]" otherwise; "" where there is none."""
    if low is None or high is None:
        return ""
    if kind in FRACTION_KINDS:
        return f"[{low * 100:.0f}, {high * 100:.0f}]"
    return f"[{plain(low)}, {plain(high)}]"


def plain(number: float | None) -> str:
    """A number on its own scale with three significant digits: 3.1416 → "3.14", 1234.5 → "1 234"."""
    if number is None:
        return MISSING
    if abs(number) >= 1000:
        return count(number)
    return f"{number:.3g}".replace("-", MINUS)


def duration(milliseconds: float | None) -> str:
    """340 → "340 ms", 1240 → "1.2 s", 185000 → "3 min 5 s"; None → "–"."""
    if milliseconds is None:
        return MISSING
    if milliseconds < 1:
        return "<1 ms"
    if milliseconds < 999.5:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def money(dollars: float | None) -> str:
    """0.0042 → "$0.0042"; None → "price unknown", which is not nothing."""
    if dollars is None:
        return "price unknown"
    return "$0" if dollars == 0 else f"${dollars:.2f}" if dollars >= 1 else f"${dollars:.2g}"


def cost(dollars: float | None, n_unpriced: int) -> str:
    """What the answers of a run cost; what is unknown is said and never counted as nothing."""
    if n_unpriced:
        rest = f"price unknown for {plural(n_unpriced, 'answer')}"
        return f"at least {money(dollars)}; {rest}" if dollars else rest
    return "no model was called" if dollars is None else money(dollars)


def value(number: float | None, kind: str = "bounded") -> str:
    """A metric's value by its kind (see `core.contracts.MetricKind`)."""
    if kind in FRACTION_KINDS:
        return rate(number)
    return {"duration": duration, "money": money}.get(kind, plain)(number)


def ago(moment: str | None, now: datetime | None = None) -> str:
    """An ISO time → "3 min ago"; None or unreadable → "–"."""
    then = parsed(moment)
    if then is None:
        return MISSING
    seconds = ((now or datetime.now(UTC)) - then).total_seconds()
    if seconds < 45:
        return "just now"
    for limit, size, unit in ((3600, 60, "min"), (86400, 3600, "h"), (86400 * 45, 86400, "day")):
        if seconds < limit:
            number = max(1, round(seconds / size))
            return f"{number} {unit if unit != 'day' or number == 1 else 'days'} ago"
    return then.strftime("%d %B %Y").lstrip("0")


def date(moment: str | None) -> str:
    """An ISO time → "30 November 2026, 21:14 UTC", for hovers."""
    then = parsed(moment)
    return then.strftime("%d %B %Y, %H:%M UTC").lstrip("0") if then else MISSING


def moment(text: str | None, number: int) -> str:
    """An ISO time → its day, its minute and `number`, a line each: the place of a run on an axis of runs, of which
    the first two lines are shown."""
    then = parsed(text)
    day, minute = (then.strftime("%d %b").lstrip("0"), then.strftime("%H:%M")) if then else (MISSING, "")
    return f"{day}\n{minute}\n{number}"


def parsed(moment: str | None) -> datetime | None:
    """An ISO time with its zone (UTC where it names none); None where it cannot be read."""
    try:
        then = datetime.fromisoformat(moment or "")
    except ValueError:
        return None
    return then if then.tzinfo else then.replace(tzinfo=UTC)


def listed(parts: Iterable[str]) -> str:
    """["a", "b", "c"] → "a, b and c"."""
    items = list(parts)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def shortened(text: str, limit: int = 90) -> str:
    """One line of at most `limit` characters, cut at a word with "…"."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut).rstrip(" ,;:") + "…"


def title(name: str) -> str:
    """A published name in words: "mean_ndcg_at_k" → "Mean nDCG at k"."""
    known = {
        "ndcg": "nDCG",
        "mrr": "MRR",
        "iou": "IoU",
        "f1": "F1",
        "llm": "LLM",
        "r": "R",
        "k": "k",
        "mae": "MAE",
        "ece": "ECE",
        "ragas": "ragas",
        "cpv": "CPV",
        "qa": "QA",
        "rag": "RAG",
        "api": "API",
        "ted": "TED",
    }
    words = " ".join(known.get(word, word) for word in name.split("_") if word)
    return words[:1].upper() + words[1:] if words[:4] != "nDCG" else words


SPOKEN = {
    "bm25": "BM25",
    "tfidf": "TF-IDF",
    "llm": "LLM",
    "cpv": "CPV",
    "rrf": "RRF",
    "ndcg": "nDCG",
    "mrr": "MRR",
}
_PUBLISHED = re.compile(r"(?<![\w./\\-])[a-z][a-z0-9]*(?:_[a-z0-9]+)*(?![\w/\\-]|\.\w)")


def spelled(text: str) -> str:
    """Published names inside a text in words: "top_k: 4 → 8, tfidf → bm25" → "top k: 4 → 8, TF-IDF → BM25"."""
    return _PUBLISHED.sub(
        lambda found: " ".join(SPOKEN.get(word, word) for word in found[0].split("_")), text
    )


def setting(value: Any, limit: int = 60) -> str:
    """The value of a setting as it is read: True → "on", None → "–", "by_section" → "by section"."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "on" if value else "off"
    return shortened(spelled(str(value)), limit)


def verdict_counts(verdicts: Mapping[str, int], zero: bool = False) -> str:
    """{"FAIL": 7, "PASS": 50} → "✕ 7 Fail · ● 50 Pass", in the fixed order."""
    shown = [
        f"{look(verdict).mark} {count(verdicts.get(verdict, 0))} {look(verdict).word}"
        for verdict in ORDER
        if zero or verdicts.get(verdict, 0)
    ]
    return " · ".join(shown) or "no verdicts yet"


def denominator(n_scored: int, n_not_applicable: int, n_error: int) -> str:
    """ "57 of 60; 1 not applicable; 2 errors": what a mean is over."""
    text = f"{count(n_scored)} of {count(n_scored + n_not_applicable + n_error)}"
    if n_not_applicable:
        text += f"; {count(n_not_applicable)} not applicable"
    return text + (f"; {plural(n_error, 'error')}" if n_error else "")


def run_sentence(
    verdicts: Mapping[str, int],
    passing: Mapping[str, Any] | None,
    n_cases: int,
    status: str,
    repeats: int = 1,
) -> str:
    """The first line of a run. `passing` holds the pass rate's mean, low and high where core gave one: the share
    of PASS among the cases that could be judged, which an ERROR is not. With repeats `verdicts` counts each case
    by its worst, and the rate is the mean over them."""
    done = sum(verdicts.values())
    broken = verdicts.get("ERROR", 0)
    if not done:
        return (
            "No case has been judged yet."
            if status in ("running", "queued")
            else "This run holds no judged case."
        )
    if broken == done:
        return f"Nothing could be judged: all {plural(done, 'case')} ended in an error. This says nothing about quality."
    passed, judged = verdicts.get("PASS", 0), done - broken
    share = passing["mean"] if passing and passing.get("mean") is not None else passed / judged
    bounds = (
        f"95 % interval {interval(passing['low'], passing['high'])}"
        if passing and passing.get("low") is not None
        else ""
    )
    if repeats > 1:
        text = f"{rate(share)} of the answers pass{', ' + bounds if bounds else ''}" if passing else ""
        text += (
            f"{'; ' if text else ''}{count(passed)} of {plural(judged, 'judged question')} pass every time"
        )
    else:
        text = f"{rate(share)} pass: {count(passed)} of {plural(judged, 'judged question')}{', ' + bounds if bounds else ''}"
    rest = [
        f"{count(verdicts[verdict])} {one if verdicts[verdict] == 1 else many}"
        for verdict, one, many in (
            ("FAIL", "fails", "fail"),
            ("WEAK", "is weak", "are weak"),
            ("ERROR", "ended in an error", "ended in an error"),
        )
        if verdicts.get(verdict)
    ]
    text += f". {listed(rest)}." if rest else "."
    if status == "running":
        text += f" {count(n_cases - done)} to go." if n_cases > done else ""
    elif status != "sealed":
        text += f" {status_word(status)} after {count(done)} of {plural(n_cases, 'case')}."
    return text


STATUS = {
    "queued": "Waiting to start",
    "running": "Running",
    "cancelling": "Stopping",
    "cancelled": "Stopped",
    "failed": "Failed",
    "sealed": "Complete",
    "done": "Complete",
    "lost": "Lost contact",
}


def status_word(status: str) -> str:
    return STATUS.get(status, status.capitalize())


def signed(share: float) -> str:
    """A difference of shares without its unit: -0.14 → "−14", 0.06 → "+6"."""
    rounded = round(share * 100)
    return f"+{rounded}" if rounded > 0 else f"{MINUS}{-rounded}" if rounded < 0 else "0"


def signed_value(number: float | None, kind: str) -> str:
    """A difference of a metric by its kind with its sign and unit: (0.636, "duration") → "+0.6 ms"."""
    if number is None:
        return MISSING
    if kind in FRACTION_KINDS:
        return points(number)
    sign = "+" if number > 0 else MINUS if number < 0 else "±"
    short = kind == "duration" and abs(number) < 1
    return f"{sign}{abs(number):.1f} ms" if short else f"{sign}{value(abs(number), kind)}"


def signed_plain(number: float | None) -> str:
    """A difference on its own scale with its sign; None → "–"."""
    return MISSING if number is None else f"+{plain(number)}" if number > 0 else plain(number)
