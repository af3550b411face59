"""Does an answer say what the gold says? Slot by slot: numbers with units, dates, polarity, names, parts.

`compare` gives the label correct | partially_correct | incorrect | needs_manual_review and why. It calls an
answer correct only when everything the gold requires is there and nothing speaks against it; where words alone
cannot tell it says needs_manual_review. (`unsupported` is decided by the evaluation, which knows the context.)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from core.metrics import bindings, parts
from core.metrics.directions import arabic, modality_differs, turned
from core.metrics.overlap import answer_has_gold_substring, common_language
from core.metrics.polarity import Stance, stance
from core.metrics.quantities import Slot, bounds_differ, comparable, same, slots
from core.text import blank, fold, words

LABELS = ("correct", "partially_correct", "incorrect", "unsupported", "needs_manual_review")
_ENOUGH = 0.5  # of a part's own words, weighted: the part counts as said
_TEXT_CORRECT, _TEXT_PARTIAL = 0.7, 0.3  # for golds without slots
_BRIEF = 12  # words up to which "ein" may be the number one
_NAMED = 3  # a gold of so few content words names something; another name is another answer


@dataclass(frozen=True, slots=True)
class Comparison:
    """`label` and the reason codes behind it; `matched`, `missing`, `conflicting` are texts of gold slots and
    parts; `coverage` is the weighted share of the gold's own words (not in the question) that the answer has,
    None where it has none."""

    label: str
    reasons: tuple[str, ...]
    matched: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    conflicting: tuple[str, ...] = ()
    coverage: float | None = None


def compare(answer: str, gold: str, question: str = "", language: str | None = None) -> Comparison | None:
    """Compare an answer with a gold answer. None without gold. An empty answer is incorrect (`no_answer`)."""
    if blank(gold):
        return None
    if blank(answer):
        return Comparison("incorrect", ("no_answer",), missing=(gold,))
    spoken = language or common_language(question, gold, answer)
    if words(answer) == words(gold) and _values(answer, spoken) == _values(gold, spoken):
        return Comparison("correct", ("same_words",), matched=(gold,), coverage=1.0)
    answer, gold, question = arabic(answer), arabic(gold), arabic(question)
    read = parts.Reading.of(gold, question, spoken)
    said = slots(answer, spoken)
    asked = slots(question, spoken)
    facts = _hold(read, said, asked, question, answer)
    covered = parts.coverage(read, answer, spoken)
    return _decide(read, facts, covered, answer, gold, question, spoken)


def _values(text: str, language: str) -> list[float | None]:
    return [slot.value for slot in slots(text, language)]


@dataclass(frozen=True, slots=True)
class _Facts:
    matched: tuple[Slot, ...]
    missing: tuple[Slot, ...]
    conflicts: tuple[str, ...]
    doubts: tuple[str, ...]


def _hold(
    read: parts.Reading, said: tuple[Slot, ...], asked: tuple[Slot, ...], question: str, answer: str
) -> _Facts:
    """Which required slots of the gold the answer has, lacks, or contradicts."""
    matched, missing = [], []
    conflicts: list[str] = []
    doubts: list[str] = []
    required = read.required
    brief = len(answer.split()) <= _BRIEF
    allowed = (*required, *read.optional)
    for slot in required:
        equal = [each for each in said if same(slot, each) and _counts(slot, each, brief)]
        if not equal:
            missing.append(slot)
        elif all(bounds_differ(slot, each) for each in equal) and slot.kind == "number":
            conflicts.append(f"bound: {_shown(read.gold, slot)}")
        else:
            matched.append(slot)
    fresh = [each for each in said if not each.weak and not any(same(slot, each) for slot in required)]
    unused = [each for each in fresh if not any(same(slot, each) for slot in asked)]
    for slot in missing:
        limits = [
            each
            for each in said
            if not any(same(gold, each) and gold.bound == each.bound for gold in required)
        ]
        if any(_stands_instead(slot, each) for each in unused) or any(
            _other_limit(slot, each) for each in limits
        ):
            conflicts.append(f"{slot.kind}: {_shown(read.gold, slot)}")
        elif slot.unit and any(each.unit == slot.unit and each not in unused for each in fresh):
            doubts.append("value_of_the_question")
    conflicts += bindings.other_count_of_same_noun(required, said)
    extra = [
        each
        for each in unused
        if not any(same(slot, each) for slot in allowed)
        and any(slot.unit and slot.unit == each.unit for slot in required)
    ]
    if extra and not missing:
        doubts.append("further_value")
    if not missing and not conflicts and bindings.swapped(read.gold, required, answer, said, question):
        conflicts.append("values are exchanged")
    return _Facts(tuple(matched), tuple(missing), tuple(conflicts), tuple(doubts))


def _counts(slot: Slot, given: Slot, brief: bool) -> bool:
    """Whether an article may stand for the number one: of the same noun or unit, or in a few words."""
    if not given.weak:
        return True
    alike = slot.noun[:5] == given.noun[:5] if slot.noun or given.noun else slot.unit == given.unit != ""
    return alike or brief


def _stands_instead(slot: Slot, given: Slot) -> bool:
    if not comparable(slot, given) or (slot.kind == "reference") != (given.kind == "reference"):
        return False
    return not (slot.unit and not given.unit and given.noun)  # "30 LP" against "2 cases" is no contradiction


def _other_limit(slot: Slot, given: Slot) -> bool:
    """ "höchstens 13" where the gold says "höchstens 15"."""
    return (
        bool(slot.bound) and slot.bound == given.bound and comparable(slot, given) and not same(slot, given)
    )


def _shown(text: str, slot: Slot) -> str:
    tail = re.match(r"[\s -]*[\w%€]+", text[slot.end :])
    return text[slot.start : slot.end + (tail.end() if tail and slot.value is not None else 0)]


def _polarity(gold: Stance, said: Stance, denied: bool) -> tuple[str, ...]:
    """("conflict",) where yes stands against no, ("doubt",) where negations differ, () where they agree.

    `denied`: whether a part of the gold that the answer speaks of has a negation. "Only once" and "not a second
    time" agree.
    """
    if gold.answer and said.answer:
        return ("conflict",) if gold.answer != said.answer else ()
    if gold.answer == "no" and not said.negations:
        return ("doubt",)
    if gold.answer == "yes" and said.negations:
        return ("doubt",)
    if gold.answer:
        return ()
    if denied and not said.negations:
        return ("conflict",) if said.includes else () if said.only else ("doubt",)
    if said.negations and not gold.negations and not gold.only:
        return ("doubt",)
    return ()


def _decide(
    read: parts.Reading,
    facts: _Facts,
    covered: parts.Coverage,
    answer: str,
    gold: str,
    question: str,
    language: str,
) -> Comparison:
    gold_stance, said_stance = stance(read.core), stance(answer)
    polarity = _polarity(gold_stance, said_stance, covered.negated)
    missing = tuple(_shown(gold, slot) for slot in facts.missing) + covered.missing_parts
    matched = tuple(_shown(gold, slot) for slot in facts.matched)

    def verdict(label: str, *reasons: str) -> Comparison:
        return Comparison(label, reasons, matched, missing, facts.conflicts, covered.share)

    if "conflict" in polarity:
        return verdict("incorrect", "polarity")
    if turned(read.core, answer, language):
        return verdict("incorrect", "direction")
    if facts.conflicts:
        return verdict("incorrect", *sorted({conflict.split(":")[0] for conflict in facts.conflicts}))
    if facts.missing and facts.matched and said_stance.both and not gold_stance.both:
        return verdict("incorrect", "claims_to_hold_for_all")
    if facts.missing:
        return _with_missing_slots(facts, covered, verdict)
    if read.required:
        return _with_all_slots(facts, covered, polarity, gold_stance, said_stance, verdict)
    return _text_only(read, covered, polarity, gold_stance, said_stance, answer, gold, question, verdict)


def _with_missing_slots(
    facts: _Facts, covered: parts.Coverage, verdict: Callable[..., Comparison]
) -> Comparison:
    if facts.doubts:
        return verdict("needs_manual_review", *facts.doubts)
    if facts.matched or (covered.share or 0.0) >= _TEXT_PARTIAL:
        return verdict("partially_correct", "part_missing")
    if covered.hits == 0:
        return verdict("incorrect", "nothing_of_the_gold")
    return verdict("needs_manual_review", "little_in_common")


def _with_all_slots(
    facts: _Facts,
    covered: parts.Coverage,
    polarity: tuple[str, ...],
    gold_stance: Stance,
    said_stance: Stance,
    verdict: Callable[..., Comparison],
) -> Comparison:
    doubts = list(facts.doubts)
    if "doubt" in polarity:
        doubts.append("negation_differs")
    if said_stance.only and not gold_stance.only and (covered.missing_parts or covered.half_parts):
        doubts.append("only")
    if covered.replaced:
        doubts.append("other_name")
    if modality_differs(gold_stance, said_stance):
        doubts.append("modality")
    if doubts:
        return verdict("needs_manual_review", *doubts)
    if covered.missing_parts or covered.half_parts:
        return verdict("partially_correct", "part_missing")
    return verdict("correct", "all_slots_match")


def _text_only(
    read: parts.Reading,
    covered: parts.Coverage,
    polarity: tuple[str, ...],
    gold_stance: Stance,
    said_stance: Stance,
    answer: str,
    gold: str,
    question: str,
    decide: Callable[..., Comparison],
) -> Comparison:
    if "doubt" in polarity:
        return decide("needs_manual_review", "negation_differs")
    if answer_has_gold_substring(answer, gold):
        # "Which has more, A or B?": naming both does not say which.
        chosen = fold(answer).startswith(fold(gold).rstrip(" .")) or not answer_has_gold_substring(
            question, gold
        )
        return (
            decide("correct", "gold_in_answer") if chosen else decide("needs_manual_review", "names_a_choice")
        )
    if gold_stance.answer and gold_stance.answer == said_stance.answer:
        return decide("correct", "same_polarity")
    share = covered.share
    other_modality = modality_differs(gold_stance, said_stance)
    if other_modality and (share is None or share >= _TEXT_CORRECT):
        return decide("incorrect", "modality")
    if share is None:
        return decide("needs_manual_review", "nothing_to_compare")
    if said_stance.both and not gold_stance.both and share < _TEXT_CORRECT:
        return decide("needs_manual_review", "claims_to_hold_for_all")
    if share >= _TEXT_CORRECT and not (covered.missing_parts or covered.half_parts or covered.replaced):
        return decide("correct", "same_content")
    if share >= _TEXT_PARTIAL and not covered.replaced:
        return decide("partially_correct", "part_missing")
    if covered.hits == 0 and covered.needed <= _NAMED:
        return decide("incorrect", "other_name")
    return decide("needs_manual_review", "little_in_common")
