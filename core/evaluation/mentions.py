"""Does a text say something? Comparison of texts the way readers compare: normalised, numbers as numbers.

Unicode NFKC, case folded, white space folded, typographic dashes and quotes unified, thousands separators and
the spellings of money unified (`$5.2M`, `5.2 million dollars`; with the German locale also `5,2 Mio. $`). Numbers
match on number boundaries (`12` is not in `2012`), letters as substrings.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from core.text import fold

Locale = Literal["auto", "en", "de"]

_DASHES = str.maketrans(
    {
        "‐": "-",
        "‑": "-",
        "‒": "-",
        "–": "-",
        "—": "-",
        "−": "-",
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "\u00ad": None,
    }
)
_SCALES = {
    "k": 3, "thousand": 3, "tausend": 3, "tsd": 3, "m": 6, "mn": 6, "mio": 6, "million": 6, "millions": 6,
    "millionen": 6, "bn": 9, "b": 9, "billion": 9, "billions": 9, "mrd": 9, "milliarde": 9, "milliarden": 9,
}  # fmt: skip
_CURRENCIES = {
    "$": "usd", "usd": "usd", "us$": "usd", "dollar": "usd", "dollars": "usd", "us-dollar": "usd", "€": "eur",
    "eur": "eur", "euro": "eur", "euros": "eur", "£": "gbp", "gbp": "gbp", "pound": "gbp", "pounds": "gbp",
}  # fmt: skip
_NUMBER = re.compile(
    r"(?P<before>us\$|usd|eur|gbp|[$€£])?\s?(?P<digits>\d+(?:[.,'\u00a0\u202f ]\d{3})*(?:[.,]\d+)?)"
    r"(?:\s?(?P<scale>thousand|tausend|tsd\b\.?|millionen|millions?|mio\b\.?|mn\b|milliarden?|billions?|mrd\b\.?|bn\b|[kmb]\b))?"
    r"(?:\s?(?P<after>us-dollar|us\$|dollars?|usd|euros?|eur|pounds?|gbp|[$€£]))?"
)
_THOUSANDS = re.compile(r"^\d{1,3}(?:[.,'\u00a0\u202f ]\d{3})+$")


@lru_cache(maxsize=4096)
def unified(text: str, locale: Locale = "auto") -> str:
    """The comparable form of a text; every number stands as `⟨value⟩` with its currency behind it."""
    folded = fold(text.translate(_DASHES))
    return _NUMBER.sub(lambda match: _number(match, locale), folded)


def _number(match: re.Match[str], locale: Locale) -> str:
    value = _value(match["digits"], locale)
    scale = _SCALES.get((match["scale"] or "").rstrip("."), 0)
    # "5 m" may be metres: without a currency a bare letter is not a scale
    letter = match["scale"] in ("k", "m", "b")
    currency = _CURRENCIES.get(match["before"] or match["after"] or "", "")
    tail = ""
    if letter and not currency and not match[0].rstrip().endswith(match["digits"] + match["scale"]):
        scale, tail = 0, " " + match["scale"]
    money = f" {currency}" if currency else ""
    return f"⟨{_plain(value * 10**scale)}⟩{money}{tail}"


def _value(digits: str, locale: Locale) -> float:
    decimal = "," if locale == "de" else "."
    group = "." if locale == "de" else ","
    compact = re.sub(r"['\u00a0\u202f ]", "", digits)
    if (
        _THOUSANDS.match(digits)
        and (locale == "auto" or decimal not in digits)
        and compact.count(decimal) != 1
    ):
        return float(re.sub(r"[.,]", "", compact))
    if locale == "auto" and _THOUSANDS.match(digits) and digits.count(".") + digits.count(",") == 1:
        return float(re.sub(r"[.,]", "", compact)) if "," in digits else float(compact)
    if "." in compact and "," in compact:
        last = max(compact.rfind("."), compact.rfind(","))
        return float(re.sub(r"[.,]", "", compact[:last]) + "." + compact[last + 1 :])
    if locale == "de":
        return float(compact.replace(group, "").replace(decimal, "."))
    return float(
        compact.replace(",", ".") if "," in compact and locale == "auto" else compact.replace(",", "")
    )


def _plain(value: float) -> str:
    return f"{round(value, 6):.6f}".rstrip("0").rstrip(".")


def mentions(text: str, wanted: str, locale: Locale = "auto") -> bool:
    """Whether `text` mentions `wanted`. An empty `wanted` is mentioned by nothing.

    >>> mentions("founded in 2012", "12"), mentions("Revenue was 5.2 million dollars.", "$5.2M")
    (False, True)
    """
    needle = unified(wanted, locale).strip()
    return bool(needle) and needle in unified(text, locale)


def which_mentioned(text: str, wanted: tuple[str, ...], locale: Locale = "auto") -> list[str]:
    """Those of `wanted` that `text` mentions, in their order."""
    return [each for each in wanted if mentions(text, each, locale)]
