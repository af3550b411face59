"""Sections and paragraphs: they cover the text, and headings are told from contents, lists and references."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.inputs.page_text import join_pages
from core.inputs.structure import Layout, structure

BODY = "Dies ist ein Satz, der den Inhalt der Vorschrift in vielen Worten beschreibt."
REGULATION = f"""Prüfungsordnung der Hochschule
Aufgrund von
§ 34 Abs. 1 des Gesetzes hat der Senat die Satzung beschlossen.
Inhaltsverzeichnis
I. Allgemeines
§ 1 Geltungsbereich
§ 2 Prüfungen, Fristen und
Wiederholungen
§ 2a Sprache
II. Schluss
§ 3 Inkrafttreten
Anlage A Studienplan
I. Allgemeines
§ 1 Geltungsbereich
(1) {BODY} Es gelten die in
§ 59 LHG genannten Voraussetzungen und
§ 2 Absatz 3 dieser Ordnung.
(2) {BODY}
§ 2 Prüfungen, Fristen und
Wiederholungen
(1) {BODY}
§ 2a Sprache
{BODY}
II. Schluss
§ 3 Inkrafttreten
{BODY}
Anlage A Studienplan
§ 1 Module
{BODY}
§ 2 Wahlmodule
{BODY}
"""


def ids(layout: Layout) -> list[str]:
    return [section.section_id for section in layout.sections]


def test_a_regulation_gives_its_sections_and_not_its_contents_or_references() -> None:
    layout = structure(REGULATION, [0])
    assert ids(layout) == [
        *("PREAMBLE", "I.", "§ 1", "§ 2", "§ 2a", "II.", "§ 3", "Anlage A", "§ 1", "§ 2"),
    ]
    titles = {section.section_id: section.title for section in layout.sections[:7]}
    assert titles["§ 2"] == "Prüfungen, Fristen und Wiederholungen"
    assert layout.sections[2].part == "I. Allgemeines"
    assert layout.sections[8].part == "Anlage A Studienplan"
    assert [section.level for section in layout.sections[:3]] == [1, 1, 2]
    assert "59 LHG" in REGULATION[layout.sections[2].start : layout.sections[2].end]


def test_numbers_that_start_again_without_an_annex_name_the_part() -> None:
    text = "\n".join(f"§ {n} Titel {n}\n(1) {BODY}" for n in (1, 2, 3, 4, 1, 2))
    layout = structure(text, [0])
    assert ids(layout) == ["§ 1", "§ 2", "§ 3", "§ 4", "§ 1", "§ 2"]
    assert [section.part for section in layout.sections] == ["", "", "", "", "part 2", "part 2"]


def test_contents_with_dot_leaders_are_no_headings() -> None:
    text = f"""Report
1 Introduction ............ 3
1.1 Background . . . . . . . 4
2 Method ........ 7
1 Introduction
{BODY}
1.1 Background
{BODY}
2 Method
{BODY}"""
    layout = structure(text, [0])
    assert ids(layout) == ["PREAMBLE", "1", "1.1", "2"]
    assert text[layout.sections[1].start :].startswith("1 Introduction\nDies")


def test_numbered_headings_follow_each_other_and_list_items_are_none() -> None:
    text = f"""1 Scope
{BODY} The following apply:
1. Alpha
2. Beta
3. Gamma
2 Terms
{BODY}
2.1 First Term
{BODY} It costs
3.50 Euro a month and
2.2 Second Term
{BODY}
3 Conclusion
{BODY}"""
    layout = structure(text, [0])
    assert ids(layout) == ["1", "2", "2.1", "2.2", "3"]
    assert [section.level for section in layout.sections] == [1, 1, 2, 2, 1]


def test_articles_and_amendments() -> None:
    text = f"""Satzung zur Änderung der Prüfungsordnung
Artikel 1
Die Prüfungsordnung wird wie folgt geändert:
1. § 4 der Prüfungsordnung wird wie folgt geändert:
In § 4 Absatz 2 werden die Worte gestrichen.
§ 17 Absatz 2 Satz 3 wird neu gefasst:
2. § 5 erhält folgende Fassung:
{BODY}
Artikel 2
{BODY}"""
    assert ids(structure(text, [0])) == ["PREAMBLE", "Artikel 1", "Nr. 1", "Nr. 2", "Artikel 2"]


def test_questions_of_a_faq_are_sections_and_their_list_is_none() -> None:
    text = f"""FAQ
1. How do I pay?
2. How do I cancel?
Q1. How do I pay?
{BODY}
Q2. How do I cancel?
{BODY}"""
    layout = structure(text, [0])
    assert ids(layout) == ["PREAMBLE", "Q1", "Q2"]
    assert layout.sections[1].title == "How do I pay?"


def test_markdown_headings_but_not_comments_in_code() -> None:
    text = f"""# Guide

{BODY}

```
# not a heading
```

## 3.2 Setup

{BODY}

Underlined
----------

| a | b |
|---|---|

### § 4 Fristen ###
{BODY}
"""
    layout = structure(text, [0], markdown=True)
    assert [(s.section_id, s.title, s.level) for s in layout.sections] == [
        ("Guide", "Guide", 1),
        ("3.2", "Setup", 2),
        ("Underlined", "Underlined", 2),
        ("§ 4", "Fristen", 3),
    ]
    assert layout.title == "Guide"


def test_an_outline_gives_headings_where_the_pages_bear_it_out() -> None:
    pages = [f"Overview\n{BODY}", f"Costs and Fees\n{BODY}\nSupport\n{BODY}"]
    text, starts = join_pages(pages)
    outline = [(1, "Overview", 1), (1, "Costs and Fees", 2), (2, "Support", 2)]
    layout = structure(text, starts, outline=outline)
    assert ids(layout) == ["Overview", "Costs and Fees", "Support"]
    wrong = [(1, "Nowhere", 1), (1, "Also missing", 2), (1, "Support", 1), (1, "Overview", 1)]
    assert ids(structure(text, starts, outline=wrong)) == ["PREAMBLE"]


def test_running_headers_are_no_headings_and_page_numbers_no_body() -> None:
    pages = [
        f"3 Annual Report\n1 Start\n{BODY}\n{n}" if n == 1 else f"3 Annual Report\n{BODY}\n{n}"
        for n in range(1, 6)
    ]
    text, starts = join_pages(pages)
    assert "3" not in ids(structure(text, starts))


def test_a_long_text_without_headings_is_cut_at_its_pages() -> None:
    text, starts = join_pages([f"{BODY}\n" * 30, f"{BODY}\n" * 30])
    layout = structure(text, starts)
    assert ids(layout) == ["page 1", "page 2"]
    assert layout.sections[1].start == starts[1]


def test_a_heading_belongs_to_the_paragraph_that_follows_it() -> None:
    layout = structure(REGULATION, [0])
    texts = [REGULATION[p.start : p.end] for p in layout.paragraphs]
    assert any(text.startswith("§ 1 Geltungsbereich\n(1) Dies") for text in texts)
    assert any(text.startswith("(2) Dies") for text in texts)


LINES = st.sampled_from(
    [
        *(
            "§ 1 Titel",
            "§ 2 Titel",
            "§ 3a Titel",
            "§ 12",
            "(1) Satz.",
            "Anlage A",
            "Anhang 2 Plan",
            "I. Teil",
            "II. Teil",
        ),
        *(
            "1. Punkt",
            "1.1 Punkt",
            "2 Punkt",
            "Artikel 1",
            "Artikel 2",
            "Q1. Frage?",
            "Q2. Frage?",
            "# Kopf",
            "```",
            "===",
        ),
        *(
            "",
            " ",
            "Ein Satz endet hier.",
            "ohne Ende",
            "§ 1 Titel ........ 3",
            "12",
            "| a | b |",
            "• Punkt",
            "Ü" * 40,
        ),
    ]
)


@given(st.lists(st.lists(LINES, max_size=12), min_size=1, max_size=5), st.booleans())
def test_parts_cover_the_text(pages: list[list[str]], markdown: bool) -> None:
    text, starts = join_pages(["\n".join(lines) for lines in pages], keep_indent=markdown)
    layout = structure(text, starts, markdown=markdown, outline=[(1, "Kopf", 1), (1, "I. Teil", 1)])
    assert [section.ordinal for section in layout.sections] == list(range(len(layout.sections)))
    assert "".join(text[section.start : section.end] for section in layout.sections) == text
    assert "".join(text[page.start : page.end] for page in layout.pages) == text
    position = 0
    for ordinal, paragraph in enumerate(layout.paragraphs):
        section = layout.sections[paragraph.section]
        assert paragraph.ordinal == ordinal
        assert section.start <= paragraph.start < paragraph.end <= section.end
        assert not text[position : paragraph.start].strip()
        assert text[paragraph.start : paragraph.end] == text[paragraph.start : paragraph.end].strip()
        position = paragraph.end
    assert not text[position:].strip()
