"""Lines that look like headings, by the way they are numbered. Whether they are is decided by `structure`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.inputs.lines import Line, ends_sentence

_SECTION_SIGN = re.compile(r"^§ ?(\d{1,4}) ?([a-z]?)(?![a-zäöüß\d])[.:]? *(\S.*)?$")
_ARTICLE = re.compile(
    r"^(Artikel|Article|Articolo|Artículo|Artigo|Art\.) (\d{1,4} ?[a-z]?|[IVXLC]+)(?!\w)[.:]?(?:\s+[–—-])?(?: *(\S.*))?$",
    re.IGNORECASE,
)
_ANNEX = re.compile(
    r"^(Anlage|Anhang|Annex|Annexe|Appendix|Schedule|Allegato|Anexo|Bijlage)(?: (\d{1,3}[a-z]?|[A-Z]|[IVXL]+))?(?![\w-])"
    r"[.:]?(?:\s+[–—-])?(?: *(\S.*))?$",
    re.IGNORECASE,
)
_PART = re.compile(
    r"^(Teil|Kapitel|Abschnitt|Part|Chapter|Section|Titel|Title|Chapitre|Titre|Partie|Hauptteil) (\d{1,3}|[IVXL]+|[A-Z])(?!\w)"
    r"[.:]?(?:\s+[–—-])?(?: *(\S.*))?$",
    re.IGNORECASE,
)
_ROMAN = re.compile(r"^([IVXL]{1,6})\. +(\S.*)$")
_LETTER = re.compile(r"^([A-H])\. +(\S.*)$")
_NUMBERED = re.compile(r"^(\d{1,3}(?:\.\d{1,3}){0,5})[.)]? +(\S.*)$")
_QUESTION = re.compile(r"^(Q|F|Question|Frage|Pregunta|Domanda)\.? ?(\d{1,4}) ?[.:)–—-] *(\S.*)$")
_AMENDMENT = re.compile(r"^(\d{1,3})\. +((?:(?:In|Nach|Dem|Der) )?§{1,2} ?\d.*)$")

LEADERS = re.compile(r"(?:[.·]\s?){4,}\s*[\divxl]*\s*$|[…_]{2,}\s*\d*\s*$|\t\s*\d+$")
_REFERENCE = re.compile(
    r"^(?:Abs|Absatz|Absätze|Satz|Sätze|Nr|Nrn|Nummer|Ziff|Ziffer|Buchst|Buchstabe|lit|Halbsatz|Unterabs|para|"
    r"paragraph|subsection|alin[eé]a|i\. ?V|ff?)\b",
    re.IGNORECASE,
)
_STATUTE = re.compile(r"^[A-ZÄÖÜ][A-Za-zÄÖÜ]{0,6}[A-ZÄÖÜ](?![\w-])\s*(?:[a-zäöü(,.;]|$)")
_RUNNING_TEXT = re.compile(
    r"\b(?:gilt|gelten|findet|finden|wird|werden|bleibt|bleiben|entsprechend|wie folgt|ist|sind|shall|applies|apply)\b"
)
REPEALED = re.compile(
    r"weggefallen|aufgehoben|entfällt|gestrichen|repealed|deleted|reserved|abrogé", re.IGNORECASE
)
_OPEN_WORDS = (
    "und oder bzw. der des die das den dem bei von für im in zur zum mit sowie an auf and or of the for to on with a"
    " et de la du pour à"
)
_LAST_WORD_OPEN = frozenset(_OPEN_WORDS.split())
MAX_TITLE_WORDS = 25


@dataclass(frozen=True, slots=True)
class Heading:
    """A line that looks like a heading. `line` is its index. `family` is how it is numbered: section_sign |
    article | annex | part | numbered | question | amendment | markdown | outline. `number` orders headings of
    one family; `firm` says that the line by itself and what stands before it leave little doubt."""

    line: int
    family: str
    section_id: str
    title: str
    number: tuple[int, ...] = ()
    suffix: str = ""
    firm: bool = False
    dotted: bool = False
    level: int = 1


def candidates(lines: Sequence[Line]) -> list[Heading]:
    """All lines that look like headings, in order."""
    found = []
    for index, line in enumerate(lines):
        if line.noise and not _ANNEX.match(line.text):
            continue
        if len(line.text) > 300:
            continue
        heading = next(_readings(index, line, lines), None)
        if heading is not None:
            found.append(replace(heading, dotted=bool(LEADERS.search(line.text))))
    return found


def _readings(index: int, line: Line, lines: Sequence[Line]) -> Iterator[Heading]:
    first = line.text[0]
    text = line.text
    firm = line.after != "text"
    if first == "§":
        if found := _SECTION_SIGN.match(text):
            alone = not found[3]
            title = found[3] or _next_title(index, lines)
            doubt = title_doubt(title)
            if doubt < 2 and (title or _next_starts_subsection(index, lines)):
                shown = f"§ {found[1]}{found[2]}"
                sure = (firm or alone) and not doubt
                yield Heading(index, "section_sign", shown, title, (int(found[1]),), found[2], sure)
    elif first.isdigit():
        if found := _AMENDMENT.match(text):
            yield Heading(index, "amendment", f"Nr. {found[1]}", found[2], (int(found[1]),), firm=firm)
        elif found := _NUMBERED.match(text):
            number = tuple(int(part) for part in found[1].split("."))
            doubt = title_doubt(found[2])
            if doubt < 2 and not (doubt and len(number) == 1 and not text.endswith("?")):
                yield Heading(index, "numbered", found[1], found[2], number, firm=firm and not doubt)
    elif first.isalpha():
        yield from _worded(index, line, firm, lines)


def _worded(index: int, line: Line, firm: bool, lines: Sequence[Line]) -> Iterator[Heading]:
    text = line.text
    if found := _ARTICLE.match(text):
        title = found[3] or ""
        if title_doubt(title) == 0:
            shown = f"{found[1]} {found[2].replace(' ', '')}"
            title = title or _next_title(index, lines, strict=True)
            yield Heading(index, "article", shown, title, (_ordinal(found[2]),), firm=firm)
    elif found := _ANNEX.match(text):
        title = found[3] or ""
        # "Anlage A zur Ordnung…" is a title; "Anlage 12 zu dieser Verordnung aufgenommen…" is running text.
        belongs = title.lower().startswith(("zur ", "zum ", "zu ", "to ")) or title.lower() in (
            "zur",
            "zum",
            "zu",
            "to",
        )
        short = (belongs and firm and len(title.split()) <= 10 and title[-1] not in ".,;:") or title_doubt(
            title
        ) == 0
        named = found[2] or not title or text[len(found[1])] == ":"
        if short and text[0].isupper() and named:
            shown = f"{found[1]} {found[2]}" if found[2] else found[1]
            yield Heading(index, "annex", shown, title, firm=firm)
    elif found := _PART.match(text):
        if title_doubt(found[3] or "") == 0 and text[0].isupper():
            title = found[3] or _next_title(index, lines, strict=True)
            yield Heading(index, "part", f"{found[1]} {found[2]}", title, (_ordinal(found[2]),), firm=firm)
    elif found := _ROMAN.match(text):
        # Columns side by side print one heading several times on a line.
        title = found[2].split(f" {found[1]}. ")[0]
        if title_doubt(title) == 0 and (number := _ordinal(found[1])):
            yield Heading(index, "part", f"{found[1]}.", title, (number,), firm=firm)
    elif found := _LETTER.match(text):
        if title_doubt(found[2]) == 0 and len(found[2].split()) <= 8:
            number = ord(found[1]) - ord("A") + 1
            yield Heading(index, "part", f"{found[1]}.", found[2], (number,), "letter", firm)
    elif found := _QUESTION.match(text):
        yield Heading(index, "question", f"{found[1]}{found[2]}", found[3], (int(found[2]),), firm=firm)


def title_doubt(title: str) -> int:
    """0: reads like a title; 1: perhaps; 2: reads like running text. An empty title reads like one."""
    title = LEADERS.sub("", title).strip()
    if not title:
        return 0
    if REPEALED.search(title) and len(title.split()) <= 4:
        return 0
    first = title[0]
    if (
        first.islower()
        or first in ",;.)%-–=+*/"
        or _REFERENCE.match(title)
        or len(title.split()) > MAX_TITLE_WORDS
    ):
        return 2
    if title[-1] in ";:":
        return 2
    running = bool(_RUNNING_TEXT.search(title)) and not title.endswith("?")
    return int(running or _STATUTE.match(title) is not None or title[-1] in ".," or first.isdigit())


def full_title(heading: Heading, lines: Sequence[Line]) -> str:
    """The title with its continuation on the next lines, where it plainly stops in the middle."""
    title = heading.title
    last = heading.line if title in lines[heading.line].text else heading.line + 1
    for following in lines[last + 1 : last + 3]:
        open_end = title.endswith((",", "-", "–")) or title.rsplit(" ", 1)[-1].lower() in _LAST_WORD_OPEN
        if not (title and open_end) or following.noise or len(following.text) > 100:
            break
        if ends_sentence(following.text) or following.text.startswith(("(", "§")):
            break
        title = f"{title} {following.text}"
    return title


def _next_title(index: int, lines: Sequence[Line], *, strict: bool = False) -> str:
    """The next line where it reads like a title that stands below its number. `strict`: only when it is short
    and body text follows it, so that text right below the number is not taken for a title."""
    if index + 1 >= len(lines):
        return ""
    text = lines[index + 1].text
    short = len(text.split()) <= (8 if strict else 15)
    if not short or text[0] in "(§" or text[0].isdigit() or ends_sentence(text) or title_doubt(text):
        return ""
    return text


def _next_starts_subsection(index: int, lines: Sequence[Line]) -> bool:
    return index + 1 < len(lines) and lines[index + 1].text.startswith(("(1)", "( 1 )"))


def _ordinal(text: str) -> int:
    """The value of an Arabic, Roman or single-letter number; 0 for what is none."""
    digits = "".join(char for char in text if char.isdigit())
    if digits:
        return int(digits)
    roman = _roman(text.upper())
    if roman:
        return roman
    return ord(text.upper()) - ord("A") + 1 if len(text) == 1 and text.isalpha() else 0


_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


def _roman(text: str) -> int:
    total = 0
    values = [_ROMAN_VALUES.get(char, 0) for char in text]
    if not all(values) or not re.fullmatch(r"C{0,3}(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})", text):
        return 0
    for value, following in zip(values, [*values[1:], 0], strict=True):
        total += -value if value < following else value
    return total
