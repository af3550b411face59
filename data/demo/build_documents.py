"""Writes the demo's PDFs (`python data/demo/build_documents.py`, needs reportlab). The PDFs are committed; this
script is how they were made. Everything in them is invented."""

from __future__ import annotations

from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table

HERE = Path(__file__).resolve().parent / "documents"

LOANS = [
    ("title", "Loan Rules of Lindenau City Library"),
    ("body", "Adopted by the library council on 12 March 2024. In force from 1 May 2024."),
    ("head", "§ 1 Scope"),
    ("body", "(1) These rules apply to all media of Lindenau City Library and its three branches."),
    ("body", "(2) Media of the reference collection are not lent."),
    ("head", "§ 2 Loan periods"),
    ("body", "(1) Books are lent for 28 days. Films and games are lent for 7 days."),
    ("body", "(2) Magazines are lent for 14 days; the latest issue stays in the reading room."),
    ("body", "(3) A reader may have at most 40 items on loan at a time, of which no more than 10 films."),
    ("head", "§ 3 Renewal"),
    ("body", "(1) A loan can be renewed twice unless another reader has reserved the item."),
    ("body", "(2) Films and games cannot be renewed."),
    ("body", "(3) A renewal must be requested before the loan period ends."),
    ("head", "§ 4 Reservations"),
    ("body", "(1) Items on loan can be reserved. A reservation is kept at the desk for 5 working days."),
    ("body", "(2) Each reader may hold up to 6 reservations."),
    ("head", "§ 5 Loss and damage"),
    ("body", "(1) Lost items must be reported without delay. The reader pays the replacement price."),
    (
        "body",
        "(2) If the price cannot be found out, 25 euros are charged for a book and 40 euros for a film.",
    ),
    ("head", "§ 6 Exclusion"),
    ("body", "Readers who owe more than 30 euros may not borrow until the debt is paid."),
]
MEMBERSHIP = [
    ("title", "Membership at Lindenau City Library"),
    ("head", "1 Joining"),
    (
        "body",
        "Anyone who lives, works or studies in Lindenau can join. An identity card or a passport with a "
        "proof of address is required. Children under 14 need the written consent of a parent.",
    ),
    ("head", "2 Library card"),
    ("head2", "2.1 Validity"),
    (
        "body",
        "A library card is valid for 12 months from the day of issue. It cannot be passed on to others.",
    ),
    ("head2", "2.2 Lost cards"),
    (
        "body",
        "A lost card must be blocked at once. The replacement card costs 5 euros. Until the card is "
        "blocked, its owner answers for everything that is borrowed with it.",
    ),
    ("page", ""),
    ("head", "3 Annual fee"),
    (
        "body",
        "Adults pay an annual fee of 24 euros. Students, apprentices and people on welfare pay 12 euros. "
        "Children and young people under 18 do not pay an annual fee.",
    ),
    ("head", "4 Leaving"),
    ("body", "Membership ends by itself when the card is not renewed. Fees already paid are not refunded."),
    ("head", "5 Personal data"),
    (
        "body",
        "The library deletes personal data 24 months after the last loan, provided that no fees are open.",
    ),
]
ROOMS = [
    ("title", "Rooms and Equipment"),
    ("head", "1 Study rooms"),
    (
        "body",
        "The main library has 9 study rooms, the Harbour branch has 2. Each room can be booked for up to "
        "4 hours a day. A booking lapses when nobody has come 15 minutes after it began.",
    ),
    ("head", "2 Maker space"),
    (
        "body",
        "The maker space may be used by members aged 16 or over who have attended the safety briefing. "
        "The briefing takes 90 minutes and is held on the first Saturday of each month.",
    ),
    ("head", "3 Equipment on loan"),
    (
        "table",
        [
            ["Item", "Loan period", "Deposit"],
            ["Laptop", "1 day", "50 euros"],
            ["Camera", "7 days", "80 euros"],
            ["Telescope", "14 days", "100 euros"],
        ],
    ),
    ("head", "4 Quiet hours"),
    (
        "body",
        "In the reading hall there are quiet hours from 9 a.m. to 1 p.m. Telephone calls are not allowed "
        "in the reading hall at any time.",
    ),
    ("head", "5 Food and drink"),
    (
        "body",
        "Drinks in closed bottles are allowed everywhere except in the reference collection. Food may "
        "only be eaten in the café.",
    ),
]
FEES = [
    ("title", "Gebührenordnung der Stadtbibliothek Lindenau"),
    ("body", "Beschlossen am 12. März 2024. Diese Ordnung tritt am 1. Mai 2024 in Kraft."),
    ("head", "§ 1 Grundsatz"),
    ("body", "(1) Für die Benutzung der Stadtbibliothek wird ein Jahresentgelt nach der Anlage erhoben."),
    ("body", "(2) Kinder und Jugendliche unter 18 Jahren sind vom Jahresentgelt befreit."),
    ("head", "§ 2 Säumnisgebühr"),
    (
        "body",
        "(1) Wird die Leihfrist überschritten, so fällt je Medium und angefangener Woche eine "
        "Säumnisgebühr von 1,50 Euro an. Für Kinder beträgt sie 0,50 Euro.",
    ),
    ("body", "(2) Die Säumnisgebühr ist auf 20 Euro je Medium begrenzt."),
    ("body", "(3) Eine Mahnung ist nicht Voraussetzung der Säumnisgebühr."),
    ("head", "§ 3 Erlass"),
    (
        "body",
        "Gebühren können auf Antrag innerhalb von sechs Wochen erlassen werden, wenn ihre Erhebung eine "
        "unbillige Härte wäre. Über den Antrag entscheidet die Bibliotheksleitung.",
    ),
    ("page", ""),
    ("head", "Anlage: Jahresentgelt"),
    ("head", "§ 1 Höhe"),
    ("body", "Erwachsene zahlen 24 Euro, Ermäßigte 12 Euro im Jahr. Der Tagesausweis kostet 3 Euro."),
    ("head", "§ 2 Fernleihe"),
    ("body", "Jede Bestellung in der Fernleihe kostet 2,50 Euro, auch wenn sie erfolglos bleibt."),
]


def build(name: str, content: list[tuple[str, object]]) -> None:
    """One PDF from (kind, text) pairs; `invariant` keeps the bytes equal from build to build."""
    sheet = getSampleStyleSheet()
    body = ParagraphStyle("body", parent=sheet["BodyText"], fontSize=11, leading=15, spaceAfter=6)
    styles = {"title": sheet["Title"], "head": sheet["Heading2"], "head2": sheet["Heading3"], "body": body}
    story: list[object] = []
    for kind, text in content:
        if kind == "page":
            story.append(PageBreak())
        elif kind == "table":
            story += [Table(text, hAlign="LEFT"), Spacer(1, 8)]
        else:
            story.append(Paragraph(str(text), styles[kind]))
    title = str(content[0][1])
    SimpleDocTemplate(str(HERE / name), pagesize=A4, title=title, author="Lindenau", invariant=1).build(story)


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    build("loan_rules.pdf", LOANS)
    build("membership.pdf", MEMBERSHIP)
    build("rooms_and_equipment.pdf", ROOMS)
    build("gebuehrenordnung.pdf", FEES)
