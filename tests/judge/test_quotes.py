from __future__ import annotations

import pytest

from core.judge.quotes import is_quoted

SOURCE = (
    "Die Prüfung dauert 90 Minuten und ist schrift-\nlich. „Hilfsmittel“ sind nicht erlaubt – außer Wörter\u00adbüchern. "
    "It shall not exceed 80 credits per year, unless the board decides otherwise."
)


@pytest.mark.parametrize(
    "quote",
    [
        "Die Prüfung dauert 90 Minuten",
        "die  PRÜFUNG\ndauert 90 minuten",
        "dauert 90 Minuten und ist schriftlich.",
        '"Hilfsmittel" sind nicht erlaubt - außer Wörterbüchern',
        "“It shall not exceed 80 credits per year”",
        "Die Prüfung dauert […] ist schriftlich",
        "It shall not exceed ... unless the board decides",
        "It shall not exceed 80 credit per year, unless the board decide otherwise",
    ],
)
def test_found(quote: str) -> None:
    assert is_quoted(quote, SOURCE)


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "  ",
        "…",
        "Die Prüfung dauert 120 Minuten",
        "It shall not exceed 90 credits per year, unless the board decides otherwise",
        "unless the board decides … It shall not exceed",
        "Pigs fly on Fridays over the campus",
        "oral",
    ],
)
def test_not_found(quote: str) -> None:
    assert not is_quoted(quote, SOURCE)


def test_long_sources_take_no_time() -> None:
    source = "the exam lasts ninety minutes and more " * 20_000
    assert not is_quoted(
        "the exam never lasts ninety whole minutes on a Sunday in May or June or July", source
    )
