"""The language of a text, by its commonest words. First-class are German and English; a few others are told
apart; None where too little speaks for one."""

from __future__ import annotations

from collections import Counter

from core.text import words

_COMMON = {
    "de": "der die das und nicht von den mit ist des ein eine für auf dem zu im sich oder werden wird bei nach",
    "en": "the of and to is that for with are be this as by or from which not on have was you",
    "fr": "le la les des et est une dans pour que qui par sur pas au avec du vous votre ne",
    "es": "el los las y es una por para que con del se su al como más no lo son",
    "it": "il di che e la per un una non sono del della con gli alla dei si nel è",
    "nl": "de het een en van is dat op te zijn met voor niet aan er ook wordt door",
    "pt": "o os as e do da em um uma que não para com por dos das se ao mais",
    "et": "ja on ei et kui oma see mis ning või ka selle tuleb kas vastavalt",
}
_SETS = {language: frozenset(text.split()) for language, text in _COMMON.items()}


def guess_language(text: str, *, sample: int = 20_000, least: int = 4) -> str | None:
    """ISO 639-1 code, or None where fewer than `least` common words were found or two languages tie."""
    counts = Counter(words(text[:sample]))
    scores = sorted(
        ((sum(counts[word] for word in common), language) for language, common in _SETS.items()), reverse=True
    )
    (best, language), (second, _) = scores[:2]
    return language if best >= least and best > second * 1.2 else None
