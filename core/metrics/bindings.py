"""Which value belongs to what: the right numbers at the wrong things are another statement."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.metrics.quantities import Slot, same

_WORD = re.compile(r"[^\W\d_]{4,}|\b(?:1[5-9]|20)\d\d\b", re.UNICODE)


def other_count_of_same_noun(required: Sequence[Slot], said: Sequence[Slot]) -> list[str]:
    """Conflicts where the gold counts a thing once and the answer gives another number of the same thing
    ("drei Versuche … zwei Wiederholungen" against "zwei Versuche")."""
    found = []
    for slot in required:
        if not slot.noun or sum(other.noun == slot.noun for other in required) != 1:
            continue
        equal = [each for each in said if each.noun == slot.noun and not each.weak]
        elsewhere = [other for other in required if not other.noun and not other.unit]
        if any(same(other, each) for other in elsewhere for each in equal):
            continue  # the gold gives that number too, without saying of what
        if equal and not any(same(slot, each) for each in equal):
            found.append(f"number: {slot.noun}")
    return found


def swapped(gold: str, required: Sequence[Slot], answer: str, said: Sequence[Slot], question: str) -> bool:
    """Whether the answer has the gold's values in another order while what they belong to keeps its order.

    Values are those of the required numbers, each once; the things are words of four letters or more and years
    that stand once in the gold and once in the answer.
    """
    numbers = [slot for slot in required if slot.value is not None]
    if len({slot.value for slot in numbers}) < 2 or len({slot.value for slot in numbers}) != len(numbers):
        return False
    places = []
    for slot in numbers:
        equal = [each for each in said if same(slot, each)]
        if len(equal) != 1:
            return False
        places.append(equal[0].start)
    if places == sorted(places):
        return False
    left, right = _once(gold, required), _once(answer, said)
    shared = sorted(set(left) & set(right), key=left.__getitem__)
    order = [right[word] for word in shared]
    return len(shared) >= 2 and order == sorted(order)


def _once(text: str, values: Sequence[Slot]) -> dict[str, int]:
    """Place of each thing that stands once in a text, by its first eight letters; values are no things."""
    numbers = {slot.start for slot in values if slot.value is not None}
    found: dict[str, list[int]] = {}
    for match in _WORD.finditer(text):
        if match.start() not in numbers:
            found.setdefault(match.group().casefold()[:8], []).append(match.start())
    return {word: places[0] for word, places in found.items() if len(places) == 1}
