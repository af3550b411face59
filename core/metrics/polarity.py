"""What turns a statement round: yes and no, negation, exclusion, modality. German and English."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from core.metrics.cues import Cue

_YES = re.compile(
    r"^\W*(ja|jawohl|doch|yes|yep|yeah|right|correct|richtig|stimmt|true|wahr)\b(?=\W|$)", re.IGNORECASE
)
_NO = re.compile(
    r"^\W*(nein|nee|no|nope|false|falsch|incorrect|unwahr)\b(?=\s*(?:[,.;:!–—-]|$))", re.IGNORECASE
)
_NEGATION = Cue(
    re.compile(
        r"\b(?:nicht|kein(?:e|en|em|er|es|erlei)?|nie|niemals|nirgends|weder|ohne|niemand(?:em|en)?|nichts|keinesfalls|keineswegs"
        r"|entfällt|entfallen|ausgeschlossen|ausgenommen|untersagt|verboten|unzulässig|unbenotet|unmöglich|verweigert|abgelehnt"
        r"|not|no|never|none|nobody|nothing|neither|nor|without|cannot|can't|won't|don't|doesn't|didn't|isn't|aren't|wasn't|weren't"
        r"|shouldn't|mustn't|couldn't|wouldn't|hasn't|haven't|hadn't|excluded|excluding|exempt(?:ed)?|forbidden|prohibited|except"
        r"|excludes|impossible|unable|ungraded|denied|fails?|failed to)\b|n’t\b",
        re.IGNORECASE,
    ),
    "nicht kein keine keinen keinem keiner keines keinerlei nie niemals nirgends weder ohne niemand niemandem niemanden nichts "
    "keinesfalls keineswegs entfällt entfallen ausgeschlossen ausgenommen untersagt verboten unzulässig unbenotet unmöglich "
    "verweigert abgelehnt not no never none nobody nothing neither nor without cannot t excluded excluding exempt exempted "
    "forbidden prohibited except excludes impossible unable ungraded denied fail fails failed",
)
# "nicht nur", "not only", "no more than", "nicht später als": a negation that denies nothing.
_EMPTY_NEGATION = Cue(
    re.compile(
        r"\b(?:nicht (?:nur|mehr als|weniger als|später als|länger als|unter|über|zuletzt|bestandene\w*)|not (?:only|more than|less than"
        r"|fewer than|later than|exceed(?:ing)?|passed)|no (?:more than|less than|fewer than|later than|doubt|matter)|without (?:a )?doubt"
        r"|nichts anderes|nicht werktage|es sei denn|wenn nicht|if not|not to mention|ohne weiteres|failed)\b",
        re.IGNORECASE,
    ),
    "nicht nichts not no without sei ohne failed",
)
_ONLY = Cue(
    re.compile(r"\b(?:nur|lediglich|ausschließlich|allein|only|solely|exclusively|merely)\b", re.IGNORECASE),
    "nur lediglich ausschließlich allein only solely exclusively merely",
)
_BOTH = Cue(
    re.compile(
        r"\b(?:beid(?:e|en|er|es|em)|both|jeweils|sämtlich(?:e|en|er)|alle[nrs]?|all|each|every|immer|always|gleichermaßen|either)\b",
        re.IGNORECASE,
    ),
    "beide beiden beider beides beidem both jeweils sämtliche sämtlichen sämtlicher alle allen aller alles all each every immer "
    "always gleichermaßen either",
)
_INCLUDES = Cue(
    re.compile(
        r"\b(?:including|included|includes|einschließlich|inklusive|inkl|mitsamt|samt)\b",
        re.IGNORECASE,
    ),
    "including included includes einschließlich inklusive inkl mitsamt samt",
)
_MODALS = {
    "duty": Cue(
        re.compile(
            r"\b(?:muss|musst|müssen|müsste|must|shall|has to|have to|required|verpflichtet|pflicht|obligatory|mandatory|compulsory"
            r"|obligatorisch|zwingend|erforderlich|notwendig|needs? to)\b",
            re.IGNORECASE,
        ),
        "muss musst müssen müsste must shall to required verpflichtet pflicht obligatory mandatory compulsory obligatorisch "
        "zwingend erforderlich notwendig",
    ),
    "permission": Cue(
        re.compile(
            r"\b(?:kann|kannst|können|könnte|darf|darfst|dürfen|may|can|could|might|allowed|permitted|erlaubt|zulässig|möglich"
            r"|possible|optional|freiwillig)\b",
            re.IGNORECASE,
        ),
        "kann kannst können könnte darf darfst dürfen may can could might allowed permitted erlaubt zulässig möglich possible "
        "optional freiwillig",
    ),
    "advice": Cue(
        re.compile(r"\b(?:soll|sollen|sollte|sollten|should|ought|recommended|empfohlen)\b", re.IGNORECASE),
        "soll sollen sollte sollten should ought recommended empfohlen",
    ),
}


@dataclass(frozen=True, slots=True)
class Stance:
    """How a text stands to what it speaks of. `answer` is "yes" | "no" | "" (its first word); `negations` and
    `only` are character ranges; `modality` names duty | permission | advice as they occur, with "not " in front
    where a negation follows or precedes within three words."""

    answer: str
    negations: tuple[tuple[int, int], ...]
    only: bool
    both: bool
    includes: bool
    modality: frozenset[str]


@lru_cache(maxsize=8_192)
def stance(text: str) -> Stance:
    """Polarity of a text, from its words alone."""
    empty = [match.span() for match in _EMPTY_NEGATION.finditer(text)]
    found = _negations(text, empty)
    opening = "yes" if _YES.match(text) else "no" if _NO.match(text) else ""
    return Stance(
        answer=opening,
        negations=found,
        only=_ONLY.occurs(text),
        both=_BOTH.occurs(text),
        includes=_INCLUDES.occurs(text),
        modality=frozenset(_modality(text, found)),
    )


def _modality(text: str, negations: tuple[tuple[int, int], ...]) -> list[str]:
    found = []
    for name, pattern in _MODALS.items():
        for match in pattern.finditer(text):
            near = any(
                (len(text[match.end() : start].split()) <= 3 and match.end() <= start)
                or (len(text[end : match.start()].split()) <= 1 and end <= match.start())
                for start, end in negations
                if abs(start - match.start()) < 60
            )
            found.append(f"not {name}" if near else name)
    return found


@lru_cache(maxsize=8_192)
def negated(text: str) -> bool:
    """Whether a statement denies: an odd reading is not attempted, one negation is enough."""
    if not _NEGATION.occurs(text):
        return False
    empty = [match.span() for match in _EMPTY_NEGATION.finditer(text)]
    return not empty or bool(_negations(text, empty))


def _negations(text: str, empty: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple(
        match.span()
        for match in _NEGATION.finditer(text)
        if not any(start <= match.start() < end for start, end in empty)
    )
