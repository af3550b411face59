"""Dates, times of day, §-references and codes in a text, normalised: the exact kinds of slot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "januar jänner january jan", "februar feber february feb", "märz maerz march mar mär", "april apr",
            "mai may", "juni june jun", "juli july jul", "august aug", "september sept sep",
            "oktober october okt oct", "november nov", "dezember december dez dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH_PARTS = sorted({name[:3].capitalize() for name in _MONTHS})
_MONTH = "(?P<month>" + "|".join(sorted((n.capitalize() for n in _MONTHS), key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:1[5-9]\d\d|20\d\d|2100)"
_ISO = re.compile(rf"(?<!\d)(?P<year>{_YEAR})-(?P<m>\d\d)-(?P<d>\d\d)(?!\d)")
_DOTTED = re.compile(
    rf"(?<![\d.,])(?P<d>\d\d?)\.\s?(?P<m>0?[1-9]|1[0-2])\.\s?(?P<year>{_YEAR}|\d\d(?!\d))(?!\d)"
)
_DOTTED_DAY = re.compile(  # without a year only behind a word that leads a date: "3.07." may end a sentence
    r"(?:\b(?:am|vom|zum|bis|ab|den|dem|der|und|seit)\s+)(?P<d>\d\d?)\.\s?(?P<m>0?[1-9]|1[0-2])\.(?!\s?\d)(?P<year>)"
)
_SLASHED = re.compile(rf"(?<![\d/])(?P<m>\d\d?)/(?P<d>\d\d?)/(?P<year>{_YEAR})(?!\d)")
_DAY_MONTH = re.compile(
    rf"(?<![\d.,])(?P<d>\d\d?)(?:\.|st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?(?:\s+(?P<year>{_YEAR})(?!\d))?"
)
_MONTH_DAY = re.compile(
    rf"\b(?=[JFMASOND]){_MONTH}\s+(?P<d>\d\d?)(?:st|nd|rd|th)?(?![\d])(?:,?\s+(?P<year>{_YEAR})(?!\d))?"
)
_MONTH_YEAR = re.compile(rf"\b(?=[JFMASOND]){_MONTH},?\s+(?:of\s+)?(?P<year>{_YEAR})(?!\d)")
_YEARS = re.compile(rf"(?<![\w.,/-])(?P<a>{_YEAR})\s?/\s?(?P<b>{_YEAR}|\d\d)(?![\d/])")
_LONE_YEAR = re.compile(
    rf"(?<![\w.,])(?P<year>{_YEAR})(?![\d%€]|[.,]\d)(?!\s*(?:%|€|\$|EUR|Euro|LP|ECTS|km|kg|Stück|Studierende|students|people|words|Wörter|Zeichen))"
)
_CLOCK = re.compile(
    r"(?<![\d.,:])(?P<h>[01]?\d|2[0-4])(?:(?::(?P<m1>[0-5]\d))(?::\d\d)?(?:\s*(?:Uhr|h\b))?|\.(?P<m2>[0-5]\d)\s*Uhr|\s*Uhr"
    r"(?:\s*(?P<m3>[0-5]\d)(?!\d))?)(?:\s*(?P<half>[ap])\.?m\b\.?)?",
    re.IGNORECASE,
)
_CLOCK12 = re.compile(
    r"(?<![\d.,:])(?P<h>1[0-2]|0?\d)(?:[:.](?P<m>[0-5]\d))?\s*(?P<half>[ap])\.?\s?m\b\.?", re.IGNORECASE
)
_LAW = re.compile(
    r"§+\s*(?P<no>\d+\s?[a-z]?)(?![\w])(?:\s*(?:,\s*)?(?:Abs\.?|Absatz|para\.?|paragraph)\s*(?P<abs>\d+[a-z]?))?"
    r"(?:\s*(?:,\s*)?(?:S\.|Satz|sentence)\s*(?P<satz>\d+))?(?:\s*(?:,\s*)?(?:Nr\.?|Nummer|no\.?)\s*(?P<nr>\d+[a-z]?))?",
    re.IGNORECASE,
)
_WHAT = re.compile(r"(?<!\w)[A-Za-z]{2,9}\.?\Z")  # ends where the number or the space before it begins
_PLACE = re.compile(r"(?P<what>[A-Za-z]{2,9}\.?)\s*(?P<no>\d+[a-z]?(?:\.\d+)*)(?![\w%])")
_PLACES = {
    "artikel": "art", "article": "art", "art.": "art", "section": "section", "sections": "section",
    "sec.": "section", "abschnitt": "section", "kapitel": "chapter", "chapter": "chapter", "anlage": "annex",
    "annex": "annex", "anhang": "annex", "tabelle": "table", "table": "table",
    "abbildung": "figure", "figure": "figure", "fig.": "figure", "abs.": "abs", "absatz": "abs", "nr.": "no",
    "nummer": "no", "seite": "page", "page": "page", "stufe": "level", "level": "level", "teil": "part",
    "part": "part", "appendix": "annex", "satz": "satz", "phase": "phase", "version": "version",
}  # fmt: skip
_CODE = re.compile(r"(?<![\w§])(?:[A-ZÄÖÜ][A-Za-zÄÖÜ]{0,7}-?\d+[A-Za-z]?(?:\.\d+)*)(?![\w])")
_TIGHT = re.compile(r"(?<![\w.,])\d+[A-Za-z]+\d+\w*(?!\w)|(?<![\w.,])\d{1,2}[a-zA-Z](?![\w])")
_UNIT_LETTERS = frozenset("hmgltbwsHMGLTBWS")
_RUN = re.compile(r"\d+")
_DOI = re.compile(r"(?:https?://|www\.)\S+|\b10\.\d{4,}/\S+|\b[\w.+-]+@[\w-]+\.[\w.]+")


Runs = Sequence[tuple[int, int]]


def digit_runs(text: str) -> Runs:
    """(start, end) of every run of digits: most of what is looked for can only begin there."""
    return [match.span() for match in _RUN.finditer(text)]


def at_runs(pattern: re.Pattern[str], text: str, starts: Iterable[int]) -> Iterator[re.Match[str]]:
    """What `pattern.finditer` finds, for a pattern that can only match at one of the places (in order)."""
    free = 0
    for start in starts:
        if start >= free and (match := pattern.match(text, start)) is not None:
            free = match.end()
            yield match


def moments(text: str, runs: Runs | None = None) -> Iterator[tuple[int, int, str, str]]:
    """(start, end, kind, key) of every address, reference, date, time and code; kinds: reference, date, time,
    code. Earlier ones win where two overlap. `runs` are the text's `digit_runs` where they are at hand."""
    if "@" in text or "10." in text or "http" in text or "www." in text:
        for match in _DOI.finditer(text):
            yield *match.span(), "code", match.group().rstrip(".,;").casefold()
    runs = digit_runs(text) if runs is None else runs
    if not runs:
        return
    if "§" in text:
        for match in _LAW.finditer(text):
            parts = [
                ("§", match["no"].replace(" ", "")),
                ("abs", match["abs"]),
                ("s", match["satz"]),
                ("nr", match["nr"]),
            ]
            yield (
                *match.span(),
                "reference",
                " ".join(f"{name}{value}" for name, value in parts if value).casefold(),
            )
    for match in at_runs(_PLACE, text, _places(text, runs)):
        kind = _PLACES.get(match["what"].casefold())
        if kind is not None:
            yield *match.span(), "reference", f"{kind}{match['no']}".casefold()
    yield from _dates(text, runs)
    yield from _times(text, runs)
    if any(start and (text[start - 1].isalpha() or text[start - 1] == "-") for start, _ in runs):
        for match in _CODE.finditer(text):
            yield *match.span(), "code", match.group().casefold().replace("-", "")
    for match in at_runs(_TIGHT, text, (start for start, end in runs if text[end : end + 1].isalpha())):
        if match.group()[-1] not in _UNIT_LETTERS:
            yield *match.span(), "code", match.group().casefold()
    for match in at_runs(_LONE_YEAR, text, (start for start, end in runs if end - start == 4)):
        yield *match.span(), "date", match["year"]


def _places(text: str, runs: Runs) -> Iterator[int]:
    """Where a word begins that stands before a number and names a place in a text ("Seite 5")."""
    for start, _ in runs:
        end = start
        while end and text[end - 1].isspace():
            end -= 1
        if end and (text[end - 1].isalpha() or text[end - 1] == "."):
            word = _WHAT.search(text, max(0, end - 10), end)
            if word is not None and word.group().casefold() in _PLACES:
                yield word.start()


def _dates(text: str, runs: Runs) -> Iterator[tuple[int, int, str, str]]:
    slashed = "/" in text
    short = [start for start, end in runs if end - start <= 2]
    dotted = [start for start, end in runs if end - start <= 2 and text[end : end + 1] == "."]
    found = [
        *(at_runs(_ISO, text, [start for start, _ in runs]) if "-" in text else ()),
        *at_runs(_DOTTED, text, dotted),
        *(_DOTTED_DAY.finditer(text) if dotted else ()),
        *(at_runs(_SLASHED, text, short) if slashed else ()),
    ]
    for match in found:
        year = match["year"]
        if len(year) == 2:
            year = ("20" if int(year) < 70 else "19") + year
        if (key := _key(year, int(match["m"]), int(match["d"]))) is not None:
            yield min(match.span("d"), match.span("year"))[0], match.end(), "date", key
    named: list[re.Match[str]] = []
    if any(map(text.__contains__, _MONTH_PARTS)):
        named = [*at_runs(_DAY_MONTH, text, short), *_MONTH_DAY.finditer(text), *_MONTH_YEAR.finditer(text)]
    for match in named:
        day = match.groupdict().get("d")
        key = _key(match["year"] or "", _MONTHS[match["month"].casefold()], int(day) if day else None)
        if key is not None:
            yield *match.span(), "date", key
    for match in at_runs(_YEARS, text, [start for start, _ in runs]) if slashed else ():
        first, second = match["a"], match["b"]
        second = first[:2] + second if len(second) == 2 else second
        yield *match.span("a"), "date", first
        yield *match.span("b"), "date", second


def _times(text: str, runs: Runs) -> Iterator[tuple[int, int, str, str]]:
    folded = text.casefold()
    patterns = [
        pattern
        for pattern, hints in ((_CLOCK12, ("am", "pm", "a.m", "p.m", "a. m", "p. m")), (_CLOCK, (":", "uhr")))
        if any(map(folded.__contains__, hints))
    ]
    for pattern in patterns:
        for match in at_runs(pattern, text, [start for start, end in runs if end - start <= 2]):
            groups = match.groupdict()
            minute = next((groups[name] for name in ("m", "m1", "m2", "m3") if groups.get(name)), "00")
            hour = int(match["h"])
            if match["half"]:
                hour = hour % 12 + (12 if match["half"].casefold() == "p" else 0)
            yield *match.span(), "time", f"{hour:02d}:{minute}"


def _key(year: str, month: int, day: int | None) -> str | None:
    if not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return None
    tail = f"{month:02d}" if day is None else f"{month:02d}-{day:02d}"
    return f"{year}-{tail}" if year else f"-{tail}"


def same_date(gold: str, given: str) -> bool:
    """Whether two dates agree as far as both go: "2010-07-08" with "2010-07", "2010" and "-07-08" (no year)."""
    pairs = [(a, b) for a, b in zip(gold.split("-"), given.split("-"), strict=False) if a and b]
    return bool(pairs) and all(a == b for a, b in pairs)
