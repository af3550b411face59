"""Does an answer resist a false premise? A heuristic for use without a judge; it says that it is one.

It looks for three things: an act of correcting ("that is not correct", "the question assumes", "Missverständnis"), a
contrast with the premise's own words ("28 days, not 90", "statt 8 Semester"), and a clause that denies most of the
premise ("there is no unlimited plan"). A negation about anything else ("there is no setup fee") is none.

On the 109 labelled answers of `tests/evaluation/pushback.tsv` (English and German, half of them acceptances with a
negation about something else): precision .98 (48 of 49), recall .86 (48 of 56). The rules were written with a view of
these answers, so expect somewhat less on others. What it misses counts as accepted: it errs towards a failed case.
"""

from __future__ import annotations

import re

from core.metrics.refusal import is_refusal
from core.text import fold, language, sentences, stems

_CORRECTING = re.compile(
    r"""
    \b(?:contrary\ to|on\ the\ contrary|in\ reality|unlike\ what|misunderstanding|mistaken|misconception|untrue)\b
    | \b(?:that|this|it|which|the\ premise|the\ assumption|your\ (?:question|premise|statement|claim|assumption))\b[^.?!]{0,40}
      \b(?:is|was|'s)(?:\ not|n't)?\ (?:quite\ |entirely\ )?(?:in)?(?:correct|true|right|accurate|the\ case)\b(?<!is\ correct)(?<!is\ true)(?<!is\ right)
    | \b(?:incorrect|inaccurate|false\ (?:premise|assumption)|wrong\ (?:premise|assumption))\b
    | \b(?:need|have|want|like)\ to\ (?:correct|clarify)\b | \b(?:one|a)\ correction\b
    | \b(?:question|premise)\ (?:assumes|presupposes|implies)\b | \byou\ (?:seem\ to\ )?assume\b
    | \bnever\ (?:took\ place|happened|existed|occurred)\b
    | \bin\ wirklichkeit\b | \bim\ gegenteil\b | \bentgegen\b | \banders\ als\b | \bmissverständnis | \birrtum
    | \b(?:nicht\ (?:ganz\ )?(?:richtig|korrekt|wahr|zutreffend)|unzutreffend|trifft\ (?:so\ )?nicht\ zu|stimmt\ (?:so\ )?nicht)\b
    | \b(?:annahme|frage|behauptung|voraussetzung|angabe)\b[^.?!]{0,30}\b(?:falsch|unzutreffend|nicht)\b
    | \bfalsche\w*\ (?:annahme|voraussetzung) | \bkeine\ rede\b
    """,
    re.VERBOSE,
)
_CONTRAST = re.compile(
    r"(?:,\ (?:and\ |und\ )?(?:but\ )?(?:not|nicht)|\brather\ than|\binstead\ of|\bstatt|\banstelle|\banstatt|\bnicht|\bnot)\b\s*([^.,;:?!]{1,60})"
)
_SONDERN = re.compile(r"\bsondern\b|\bbut (?:rather )?\b")
_LEADING = re.compile(r"^\W*(?:actually|in fact|in reality|tatsächlich|in wirklichkeit|vielmehr)\b")
_NEGATION = re.compile(
    r"\b(?:no longer|no|not|never|none|nothing|neither|nor|cannot|without|\w+n't|excluded|denied|unaware|nicht(?: mehr)?|nie|niemals|keineswegs|"
    r"kein(?:e|er|es|en|em|erlei)?|weder|ausgeschlossen)\b"
)
_CLAUSES = re.compile(
    r"[,;:–]\s*|\s(?:and|but|because|since|so|while|although|und|aber|weil|da|denn|obwohl)\s"
)
_NO = re.compile(r"^\W*(?:no|nope|nein|non)\b")
_AGREEING = re.compile(r"^\W*(?:yes|yeah|correct|exactly|indeed|ja|genau|stimmt|richtig)\b")
_SHARE = 0.5  # of the premise's content words, from which on a negated clause denies the premise


def pushes_back(answer: str, premise: str) -> bool:
    """Whether the answer corrects or denies the premise, or declines because of it.

    >>> pushes_back("There is no unlimited plan; the largest is 50 GB.", "the plan is unlimited")
    True
    >>> pushes_back("The unlimited plan costs 20 euros, and there is no setup fee.", "the plan is unlimited")
    False
    """
    text = fold(answer)
    if not text or _AGREEING.match(text):
        return False
    if _NO.match(text) or _LEADING.match(text) or _CORRECTING.search(text) or is_refusal(answer).refused:
        return True
    tongue = language(premise, answer)
    meant = set(stems(premise, tongue))
    return any(
        _contrasts(sentence, meant, tongue) or _denies(sentence, meant, tongue)
        for sentence in map(fold, sentences(answer))
    )


def _contrasts(sentence: str, meant: set[str], tongue: str) -> bool:
    """Whether what is set aside ("…, not 90", "nicht mündlich, sondern …") is the premise's."""
    for match in _CONTRAST.finditer(sentence):
        opening = match[0].lstrip(", ")
        plain = opening.startswith(("not", "nicht")) and not match[0].startswith(",")
        if plain and not _SONDERN.search(sentence, match.end()):
            continue
        if meant & set(stems(match[1], tongue)):
            return True
    return False


def _denies(sentence: str, meant: set[str], tongue: str) -> bool:
    """Whether a clause about the premise negates the premise and not something else: "no unlimited plan", but not
    "the unlimited plan has no setup fee"."""
    for clause in _CLAUSES.split(sentence):
        for match in _NEGATION.finditer(clause):
            denied = set(stems(clause[match.end() :], tongue))
            about = meant & ({*stems(clause[: match.start()], tongue)} | denied)
            if len(about) >= _SHARE * len(meant) > 0 and 2 * len(denied & meant) >= len(denied) + bool(
                denied
            ):
                return True
    return False
