"""Does a text say something? Comparison of texts the way readers compare: normalised, numbers as numbers.

Unicode NFKC, case folded, white space folded, typographic dashes and quotes unified, thousands separators, per cent and
the spellings of money unified (`$5.2M`, `5.2 million dollars`, `5,2 Mio. $`). Numbers match on number boundaries (`12`
is not in `2012`), letters as substrings. What a lone separator means depends on the country (`1.234`): with locale
`en` or `de` there is one reading; with `auto` a text mentions something when it does in either.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from core.text import fold

Locale = Literal["auto", "en", "de"]

_UNIFIED = str.maketrans(
    {**dict.fromkeys("‐‑‒–—−", "-"), **dict.fromkeys("’‘‚", "'"), **dict.fromkeys("“”„", '"')}
)
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_SCALES = {
    "k": 3, "thousand": 3, "tausend": 3, "tsd": 3, "m": 6, "mn": 6, "mio": 6, "million": 6, "millions": 6,
    "millionen": 6, "bn": 9, "b": 9, "billion": 9, "billions": 9, "mrd": 9, "milliarde": 9, "milliarden": 9,
}  # fmt: skip
_CURRENCIES = {
    "$": "usd", "usd": "usd", "us$": "usd", "dollar": "usd", "dollars": "usd", "us-dollar": "usd", "€": "eur",
    "eur": "eur", "euro": "eur", "euros": "eur", "£": "gbp", "gbp": "gbp", "pound": "gbp", "pounds": "gbp",
    "pfund": "gbp",
}  # fmt: skip
_BEFORE = r"(?P<before>us\$|(?<![^\W\d_])(?:usd|eur|gbp)|[$€£])?\s?"
_AFTER = (
    r"(?:\s?(?P<scale>(?:thousand|tausend|tsd|millionen|millions?|mio|mn|milliarden?|billions?|mrd|bn|[kmb])(?![^\W\d_])\.?))?"
    r"(?:\s?(?P<after>(?:us-dollar|dollars?|usd|euros?|eur|pounds?|pfund|gbp)(?![^\W\d_])|us\$|[$€£]))?"
    r"(?:\s?(?P<percent>%|(?:percent|per\ cent|prozent)(?![^\W\d_])))?"
)
_DIGITS = r"(?P<digits>\d{{1,3}}(?:[{groups}]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*)"
# a plain space between groups of digits may as well stand between two numbers
_TOGETHER = re.compile(_BEFORE + _DIGITS.format(groups=".,' ") + _AFTER)
_APART = re.compile(_BEFORE + _DIGITS.format(groups=".,'") + _AFTER)

_GLUED = re.compile(r"\d[kmb](?![^\W\d_])")


@lru_cache(maxsize=8192)
def readings(text: str, locale: Locale = "auto") -> frozenset[str]:
    """The comparable forms of a text: in each, every number stands as `⟨value⟩` with its currency behind it."""
    folded = fold(_INVISIBLE.sub("", text).translate(_UNIFIED))
    marks = {"auto": (".", ","), "en": (".",), "de": (",",)}[locale]
    # "5m" may be millions or metres
    units = (False, True) if _GLUED.search(folded) else (False,)
    return frozenset(
        pattern.sub(lambda match, mark=mark, unit=unit: _number(match, mark, unit), folded)  # type: ignore[misc]
        for pattern in (_TOGETHER, _APART)
        for mark in marks
        for unit in units
    )


def _number(match: re.Match[str], mark: str, unit: bool) -> str:
    """One number in its comparable form. `unit`: a letter glued to it (`5m`) is a unit, no scale; one that stands
    apart without a currency is a unit anyway."""
    digits, scale = match["digits"], (match["scale"] or "").rstrip(".")
    currency = _CURRENCIES.get(match["before"] or match["after"] or "", "")
    behind = [currency, "%" if match["percent"] else ""]
    if scale in ("k", "m", "b") and not currency and (unit or match.end("digits") != match.start("scale")):
        behind.append(scale)
        scale = ""
    value = _value(digits, mark)
    if value is None or (len(digits) > 1 and digits[0] == "0" and digits.isdigit()):
        exact = digits  # a version, an address, a code: its digits are what counts
    else:
        exact = f"{value.scaleb(_SCALES.get(scale, 0)).normalize():f}"
    lead = " " if match[0][:1].isspace() else ""
    return lead + " ".join([f"⟨{exact}⟩", *filter(None, behind)])


def _value(digits: str, mark: str) -> Decimal | None:
    """The value of digits with separators, `mark` being the country's decimal mark; None for what is no number
    (`1.2.3`)."""
    compact = re.sub(r"[' ]", "", digits)
    present = [separator for separator in ".," if separator in compact]
    if len(present) == 2:
        last = max(compact.rfind("."), compact.rfind(","))
        whole, part = compact[:last], compact[last + 1 :]
        return Decimal(re.sub(r"[.,]", "", whole) + "." + part) if compact[last] not in whole else None
    if not present:
        return Decimal(compact)
    separator = present[0]
    groups = compact.split(separator)
    grouped = 1 <= len(groups[0]) <= 3 and groups[0] != "0" and all(len(group) == 3 for group in groups[1:])
    if len(groups) > 2:
        return Decimal("".join(groups)) if grouped else None
    if separator != mark and grouped:
        return Decimal("".join(groups))
    return Decimal(compact.replace(separator, "."))


def mentions(text: str, wanted: str, locale: Locale = "auto") -> bool:
    """Whether `text` mentions `wanted`. An empty `wanted` is mentioned by nothing.

    >>> mentions("founded in 2012", "12"), mentions("Revenue was 5.2 million dollars.", "$5.2M")
    (False, True)
    >>> mentions("Der Umsatz lag bei 5,2 Mio. $", "$5.2M"), mentions("1.250 Euro", "€1,250")
    (True, True)
    """
    needles = {needle for reading in readings(wanted, locale) if (needle := reading.strip())}
    return any(needle in reading for reading in readings(text, locale) for needle in needles)


def which_mentioned(text: str, wanted: tuple[str, ...], locale: Locale = "auto") -> list[str]:
    """Those of `wanted` that `text` mentions, in their order."""
    return [each for each in wanted if mentions(text, each, locale)]
