"""Words that turn a statement round without a "not": before and after, more and less, must and may.

Only the same object on the other side counts ("vor dem 3. Semester" against "ab dem 3. Semester"), so that a
preposition with another meaning ("nach § 5") speaks against nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from core.metrics.polarity import Stance
from core.text import stem, stop_words

_SIDES = (
    ("before", r"(?:not|no|nicht|nie) (?:later|später) (?:than|als)|prior to|before|until|till|by|vor|bis(?: zum?r?)?|spätestens"),
    ("after", r"after|since|from|following|nach|ab|seit|frühestens"),
    ("less", r"(?:not|no|nicht) (?:more|mehr|greater|über) ?(?:than|als)?|less than|fewer than|under|below|at most|up to"
             r"|weniger als|unter|unterhalb|höchstens|maximal|bis zu|younger than|jünger als|kleiner als"),
    ("more", r"(?:not|no|nicht) (?:less|fewer|weniger|unter) ?(?:than|als)?|more than|over|above|exceed(?:s|ing)?|at least"
             r"|mehr als|über|oberhalb|mindestens|wenigstens|minimum|older than|älter als|größer als|greater than"),
)  # fmt: skip
_CUE = re.compile(
    r"(?<!\w)(?:"
    + "|".join(f"(?P<{name}>{words})" for name, words in (_SIDES[2], _SIDES[3], *_SIDES[:2]))
    + r")(?!\w)",
    re.IGNORECASE,
)
_OPPOSITE = {"before": "after", "after": "before", "less": "more", "more": "less"}
_OBJECT = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_WINDOW = 40  # characters behind a cue in which its object stands
_SENTENCE_END = re.compile(r"[;:!?]|\.(?=\s+[A-ZÄÖÜ]|\s*$)")
_OPPOSED = (
    ("duty", "permission"),
    ("duty", "not duty"),
    ("permission", "not permission"),
    ("duty", "not permission"),
    ("not duty", "not permission"),
)


@lru_cache(maxsize=8_192)
def sides(text: str, language: str) -> frozenset[tuple[str, str]]:
    """(side, object) of a text: what comes before, after, above or below what. The object is the first word or
    number behind the cue that is no function word; for "more" and "less" it is a number."""
    found = set()
    for match in _CUE.finditer(text):
        behind = _SENTENCE_END.split(text[match.end() : match.end() + _WINDOW])[0]
        for token in _OBJECT.findall(behind):
            folded = token.casefold()
            if folded in stop_words("de") or folded in stop_words("en"):
                continue
            name = str(match.lastgroup)
            if name in ("before", "after") or folded[0].isdigit():
                found.add((name, folded if folded[0].isdigit() else stem(folded, language)))
            break
    return frozenset(found)


def turned(gold: str, answer: str, language: str) -> str:
    """The object that the answer puts on the other side than the gold does; "" for none."""
    wanted, said = sides(gold, language), sides(answer, language)
    for side, thing in sorted(wanted):
        opposite = (_OPPOSITE[side], thing)
        if opposite in said and (side, thing) not in said and opposite not in wanted:
            return thing
    return ""


def modality_differs(gold: Stance, said: Stance) -> bool:
    """Whether one speaks of a duty where the other speaks of a permission, or one denies what the other grants."""
    for pair in _OPPOSED:
        for one, other in (pair, pair[::-1]):
            if (
                one in gold.modality
                and other in said.modality
                and not {one} & said.modality
                and not {other} & gold.modality
            ):
                return True
    return False


_ROMAN = re.compile(r"(?<=\w )(?=[IVX]{2,}\b)X{0,3}(?:IX|IV|V?I{0,3})\b")
_DIGITS = {"I": 1, "V": 5, "X": 10}


@lru_cache(maxsize=8_192)
def arabic(text: str) -> str:
    """The text with Roman numerals of two letters and more behind a word written in digits.

    >>> arabic("Phase II and Henry VIII")
    'Phase 2 and Henry 8'
    """
    return _ROMAN.sub(lambda match: str(_value(match.group())), text) if "I" in text or "X" in text else text


def _value(roman: str) -> int:
    numbers = [_DIGITS[letter] for letter in roman]
    return sum(-n if i + 1 < len(numbers) and n < numbers[i + 1] else n for i, n in enumerate(numbers))
