"""Numbers as people write them: digits in German and English format, number words, ordinals, fractions.

Pure parsing of one token or a run of tokens; `core.metrics.quantities` finds them in a text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from core.text import WordTable, word_set, words

_DE_SMALL = {
    "null": 0, "ein": 1, "eins": 1, "eine": 1, "einen": 1, "einem": 1, "einer": 1, "eines": 1, "zwei": 2, "zwo": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6,
    "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12, "dreizehn": 13, "vierzehn": 14,
    "fünfzehn": 15, "sechzehn": 16, "siebzehn": 17, "achtzehn": 18, "neunzehn": 19,
}  # fmt: skip
_DE_TENS = {
    "zwanzig": 20, "dreissig": 30, "vierzig": 40, "fünfzig": 50, "sechzig": 60, "siebzig": 70, "achtzig": 80,
    "neunzig": 90,
}  # fmt: skip
_DE_ODD_ORDINALS = {"erst": 1, "dritt": 3, "siebt": 7, "acht": 8}
_EN_SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_EN_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15,
    "sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30,
    "fortieth": 40, "fiftieth": 50, "sixtieth": 60, "seventieth": 70, "eightieth": 80, "ninetieth": 90,
    "hundredth": 100, "thousandth": 1000,
}  # fmt: skip
SCALES = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "millions": 10**6, "billion": 10**9, "billions": 10**9,
    "trillion": 10**12, "mio": 10**6, "mill": 10**6, "millionen": 10**6, "mrd": 10**9, "milliarde": 10**9,
    "milliarden": 10**9, "tsd": 1000, "tausend": 1000, "hundert": 100, "dutzend": 12, "dozen": 12,
    "bn": 10**9, "mn": 10**6,
}  # fmt: skip
_HALVES = {"anderthalb": 1.5, "eineinhalb": 1.5, "einhalb": 0.5, "halb": 0.5, "half": 0.5, "hälfte": 0.5}
_FRACTION_WORDS = {
    "drittel": 3, "viertel": 4, "fünftel": 5, "sechstel": 6, "achtel": 8, "zehntel": 10, "third": 3, "thirds": 3,
    "quarter": 4, "quarters": 4, "fifths": 5, "fifth": 5, "sixths": 6, "eighths": 8, "tenths": 10, "tenth": 10,
}  # fmt: skip
_ORDINAL_TAILS = frozenset("e en er es em ens".split())
_DE_ENDING = re.compile(r"(?:st|t)(?:e|en|er|es|em|ens)$")
_DE_MULTIPLE = re.compile(r"^(?P<n>.+?)[-]?(?:fach(?:e|en|er|es|em)?|mal|malig(?:e|en|er|es|em)?)$")
_DE_SPAN = re.compile(
    r"^(?P<n>.+?)-?(?P<unit>jährig|monatig|wöchig|tägig|stündig|minütig|semestrig|seitig)(?:e|en|er|es|em)?$"
)
SPAN_UNITS = {
    "jährig": "jahr", "monatig": "monat", "wöchig": "woche", "tägig": "tag", "stündig": "stunde",
    "minütig": "minute", "semestrig": "semester", "seitig": "seite",
}  # fmt: skip
_MULTIPLES_EN = {"once": 1, "twice": 2, "thrice": 3, "double": 2, "triple": 3, "quadruple": 4}
_MULTIPLES_DE = re.compile(r"^doppelt(?:e|en|er|es|em)?$")


def parse_digits(text: str, language: str = "other") -> float | None:
    """The value of a run of digits with separators ("1.200,50", "1,200.5", "12'000", "10 000").

    A single separator before exactly three digits is the thousands' in the language that uses it so ("1.200"
    in German, "1,200" in English); where the language is unknown it is the thousands' too.
    """
    if text.isdecimal():
        return float(text)
    compact = re.sub(r"[\s'’]", "", text)
    dots, commas = compact.count("."), compact.count(",")
    if dots and commas:
        decimal = max(compact.rfind("."), compact.rfind(","))
        whole = re.sub(r"[.,]", "", compact[:decimal])
        return float(f"{whole}.{compact[decimal + 1 :]}")
    if dots + commas == 0:
        return float(compact)
    sign = "." if dots else ","
    head, _, tail = compact.partition(sign)
    grouped = bool(re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", compact)) and head != "0"
    decimal_sign = {"de": ",", "en": "."}.get(language)
    if dots + commas > 1:
        return float(compact.replace(sign, "")) if grouped else None  # "3.2.1" is no number
    if grouped and sign != decimal_sign:
        return float(head + tail)
    return float(f"{head}.{tail}")


@lru_cache(maxsize=16_384)
def german_cardinal(word: str) -> int | None:
    """The value of a German number word written as one ("dreiundachtzig", "zweitausendvierzehn"), or None."""
    word = word.replace("ß", "ss")
    if word in _DE_SMALL:
        return _DE_SMALL[word]
    if word in _DE_TENS:
        return _DE_TENS[word]
    for scale, size in (("tausend", 1000), ("hundert", 100)):
        if scale in word:
            head, _, tail = word.partition(scale)
            factor = 1 if not head else german_cardinal(head)
            rest = 0 if not tail else german_cardinal(tail.removeprefix("und"))
            return None if factor is None or rest is None else factor * size + rest
    for tens, value in _DE_TENS.items():
        if word.endswith("und" + tens):
            unit = _DE_SMALL.get(word[: -len("und" + tens)])
            return None if unit is None or not 1 <= unit <= 9 else value + unit
    return None


@lru_cache(maxsize=16_384)
def german_ordinal(word: str) -> int | None:
    """The value of a German ordinal ("dritten", "einundzwanzigste"), or None."""
    ending = _DE_ENDING.search(word)
    if not ending:
        return None
    for base, value in _DE_ODD_ORDINALS.items():
        if re.fullmatch(base + r"(?:e|en|er|es|em|ens)", word):
            return value
    for cut in ("st", "t"):  # twenty and up take -ste, the rest -te: "zwanzigste", "sechste"
        stem, mark, rest = word.rpartition(cut)
        read = german_cardinal(stem) if mark and rest in _ORDINAL_TAILS else None
        if read is not None and read != 1 and (cut == "st") == (read % 100 >= 20 or read % 100 == 0):
            return read
    return None


@lru_cache(maxsize=16_384)
def word_number(word: str) -> tuple[float, str, str] | None:
    """(value, kind, unit word) of one case-folded word, German or English; kind is cardinal | ordinal |
    multiple; the unit word is set for "dreimonatig" and its like. None when it is no number."""
    if word in _HALVES:
        return _HALVES[word], "cardinal", ""
    if word in _EN_SMALL:
        return float(_EN_SMALL[word]), "cardinal", ""
    if word in _MULTIPLES_EN:
        return float(_MULTIPLES_EN[word]), "multiple", "times"
    if _MULTIPLES_DE.match(word):
        return 2.0, "multiple", "times"
    if word in _EN_ORDINALS:
        return float(_EN_ORDINALS[word]), "ordinal", ""
    cardinal = german_cardinal(word)
    if cardinal is not None:
        return float(cardinal), "cardinal", ""
    ordinal = german_ordinal(word)
    if ordinal is not None:
        return float(ordinal), "ordinal", ""
    return _compound(word)


def _compound(word: str) -> tuple[float, str, str] | None:
    if word.endswith("einhalb") and (whole := german_cardinal(word[: -len("einhalb")])) is not None:
        return whole + 0.5, "cardinal", ""
    for pattern, kind in ((_DE_MULTIPLE, "multiple"), (_DE_SPAN, "cardinal")):
        match = pattern.match(word)
        if match is None:
            continue
        number = match["n"]
        value = float(number) if number.isdigit() else german_cardinal(number)
        if value is not None:
            unit = "times" if kind == "multiple" else SPAN_UNITS[match["unit"]]
            return float(value), kind, unit
    return None


def english_run(run: list[str]) -> tuple[float, str, int] | None:
    """The number that starts a run of case-folded English words ("one hundred and twenty three", "twenty first"):
    (value, cardinal | ordinal, words used), or None."""
    total, current, used, kind = 0.0, 0.0, 0, "cardinal"
    previous = -1.0
    for index, word in enumerate(run):
        if (
            word == "and"
            and used
            and previous >= 100
            and index + 1 < len(run)
            and run[index + 1] in _EN_SMALL
        ):
            continue
        if word in ("hundred",) and used:
            current, previous = max(current, 1) * 100, 100
        elif word in ("thousand", "million", "billion") and used:
            total, current, previous = total + max(current, 1) * SCALES[word], 0.0, 1000
        elif word in _EN_SMALL and (not used or _follows(previous, _EN_SMALL[word])):
            current, previous = current + _EN_SMALL[word], _EN_SMALL[word]
        elif word in _EN_ORDINALS and used and _follows(previous, _EN_ORDINALS[word]):
            return total + current + _EN_ORDINALS[word], "ordinal", index + 1
        else:
            break
        used = index + 1
    return (total + current, kind, used) if used else None


def _follows(previous: float, value: float) -> bool:
    return previous >= 100 or (20 <= previous <= 90 and 1 <= value <= 9)


def fraction_word(word: str) -> int | None:
    """The denominator a case-folded word names ("drittel", "quarters"), or None."""
    return _FRACTION_WORDS.get(word)


@lru_cache(maxsize=65_536)
def plain_number(word: str) -> str | None:
    """A case-folded word that is a number, in one spelling ("12,50" and "12.50" are "12.5", "sechs" is "6"); None
    for every other word, and for those that are rarely meant as numbers ("ein", "one").

    >>> [plain_number(word) for word in ("12,50", "sechs", "1.000", "ein", "frist")]
    ['12.5', '6', '1000', None, None]
    """
    if word[:1].isdigit():
        if word.isdigit():
            return word
        compact = word.strip(".,")
        value = parse_digits(compact) if compact.replace(".", "").replace(",", "").isdigit() else None
        return None if value is None else f"{value:.12g}"
    read = word_number(word) if word.isalpha() and len(word) > 2 else None
    return f"{read[0]:.12g}" if read is not None and read[1] == "cardinal" and read[0] > 1 else None


_SPELLED = WordTable(lambda word: plain_number(word) or word)


@lru_cache(maxsize=8_192)
def spelled(text: str) -> tuple[str, ...]:
    """The words of a text with every number in one spelling: what stands in another text is compared by these."""
    return tuple(map(_SPELLED.__getitem__, words(text)))


@lru_cache(maxsize=8_192)
def spelled_set(text: str) -> frozenset[str]:
    return frozenset(map(_SPELLED.__getitem__, word_set(text)))
