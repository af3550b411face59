"""Patterns that only match where certain words stand: whether one of the words is there is asked first, and costs
next to nothing, because the words of a text are known already."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.text import word_set, words


class Cue:
    """A pattern with the words without which it matches nowhere (a test derives them from the pattern)."""

    def __init__(self, pattern: re.Pattern[str], triggers: str) -> None:
        self.pattern = pattern
        self.triggers = frozenset(words(triggers))

    def occurs(self, text: str) -> bool:
        """Whether the pattern matches somewhere in the text."""
        return not self.triggers.isdisjoint(word_set(text)) and self.pattern.search(text) is not None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The pattern's matches in the text, in order."""
        return iter(()) if self.triggers.isdisjoint(word_set(text)) else self.pattern.finditer(text)
