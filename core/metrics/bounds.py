"""How a number is limited by the words around it: at least, at most, about. German and English."""

from __future__ import annotations

import re

MIN = re.compile(
    r"(?:mindestens|wenigstens|minimum|minimal|at least|no(?:t)? (?:less|fewer) than|nicht weniger als"
    r"|minimum of|mindestzahl von|nicht unter)\s*(?:[^\d.;:!?]{0,24})$",
    re.IGNORECASE,
)
MAX = re.compile(
    r"(?:höchstens|maximal|maximum|max\.|at most|up to|no more than|not more than|nicht mehr als|bis zu|längstens"
    r"|not exceed(?:ing)?|maximum of|nicht über)\s*(?:[^\d.;:!?]{0,24})$",
    re.IGNORECASE,
)
# a part of some word of each pattern, in lower case: looking for these first is cheap
BOUND_HINTS = (
    "mind", "wenig", "mini", "least", "less", "fewer", "unter", "höchst", "max", "most", "up to", "more", "mehr", "bis", "längst",
    "exceed", "über",
)  # fmt: skip
MORE_HINTS = ("mehr", "more", "higher", "least")
LESS_HINTS = ("weniger", "less", "fewer", "most")
ABOUT_HINTS = (
    "rund", "etwa", "ca.", "circa", "ungefähr", "about", "approximately", "roughly", "around", "knapp", "nearly", "almost",
)  # fmt: skip
OR_MORE = re.compile(
    r"^\s*(?:\w+\s+)?(?:oder mehr|or more|or higher|und mehr|at (?:the )?least)\b", re.IGNORECASE
)
OR_LESS = re.compile(r"^\s*(?:\w+\s+)?(?:oder weniger|or less|or fewer|at (?:the )?most)\b", re.IGNORECASE)
ABOUT = re.compile(
    r"(?:rund|etwa|ca\.|circa|ungefähr|about|approximately|roughly|around|knapp|nearly|almost)\s*$", re.I
)


def bound(before: str, after: str) -> str:
    """ "min", "max" or "": what the text before a number and the text after it make of it."""
    ahead, behind = before.lower(), after.lower()
    hinted = any(map(ahead.__contains__, BOUND_HINTS))
    if hinted and MIN.search(before):
        return "min"
    if any(map(behind.__contains__, MORE_HINTS)) and OR_MORE.match(after):
        return "min"
    if hinted and MAX.search(before):
        return "max"
    return "max" if any(map(behind.__contains__, LESS_HINTS)) and OR_LESS.match(after) else ""


def approximate(before: str) -> bool:
    """Whether the text before a number says that it is only about right."""
    near = before[-16:].lower()
    return any(map(near.__contains__, ABOUT_HINTS)) and ABOUT.search(before[-16:]) is not None
