"""What was retrieved for a case, and where the expected evidence stands on its page."""

from __future__ import annotations

import streamlit as st

from core.records import Evidence, Hit
from dashboard import passages as places
from dashboard import widgets, wording
from dashboard.queries import case as case_queries
from dashboard.queries import pictures
from dashboard.queries.case import Details
from dashboard.queries.runs import Version
from dashboard.reasons import RELEVANCE_SOURCES

OPEN_FIRST = 3


def passages(found: Details) -> None:
    """The ranking: each passage with its score, its relevance and where it comes from."""
    output, result = found.output, found.result
    if output is None or output.failure is not None:
        return
    if found.case.evaluator and not output.hits:
        return  # an agent need not show what it rests on
    codes = bool(found.case.gold_codes)
    st.header("Ranking" if codes else "Retrieved passages")
    if not output.hits:
        st.info(
            "The system found nothing that matches.",
            title=f"No {'candidate' if codes else 'passage'} was returned",
        )
        return
    graded = result is not None and result.relevance_source != "none"
    relevant = [hit.rank for hit in output.hits if result is not None and result.relevance.get(hit.id, 0) > 0]
    cited = {citation.source_id for citation in output.citations}
    if graded:
        where = f"first at rank {relevant[0]}" if relevant else "not found"
        st.markdown(
            f"{wording.count(len(relevant))} of {wording.plural(len(output.hits), 'candidate' if codes else 'passage')} {'right' if codes else 'relevant'}; {where}."
            if relevant
            else f"The right code is not among the {wording.plural(len(output.hits), 'candidate')}."
            if codes
            else f"The expected passage was not found among the {wording.plural(len(output.hits), 'retrieved passage')}."
        )
    if result is not None:
        st.caption(RELEVANCE_SOURCES.get(result.relevance_source, "").capitalize() + ".")
    quotes = [evidence.quote for evidence in found.case.evidence if evidence.quote]
    for hit in output.hits:
        grade = result.relevance.get(hit.id) if result is not None and graded else None
        _hit(hit, grade, hit.id in cited, hit.rank in relevant[:1] or hit.rank <= OPEN_FIRST, quotes)


def _hit(hit: Hit, grade: int | None, cited: bool, opened: bool, quotes: list[str]) -> None:
    relevance = (
        ""
        if grade is None
        else " · ● relevant"
        if grade == 1
        else f" · ● relevant (grade {grade})"
        if grade
        else " · ○ not relevant"
    )
    score = f" · score {wording.plain(hit.score)}" if hit.score is not None else ""
    title = " ".join(part for part in (hit.section_id, hit.title) if part)
    page = f", page {hit.page}" if hit.page else ""
    label = f"{hit.rank}. {wording.shortened(title or hit.doc_path or hit.id, 60)}{relevance}{' · cited' if cited else ''}{score}"
    part = st.expander(widgets.escaped(label), expanded=opened, on_change="rerun", key=f"hit_{hit.rank}")
    if not part.open:
        return
    with part:
        if hit.doc_path:
            st.caption(widgets.escaped(f"{hit.doc_path}{page}"), help=widgets.escaped(hit.id))
        marks = [(*place, "evidence") for quote in quotes if (place := places.locate(quote, hit.text))]
        widgets.quote(hit.text, places.without_overlaps(marks), height=300)
        if hit.parts:
            st.caption(
                widgets.escaped(
                    " · ".join(
                        f"{wording.title(name)} {wording.plain(value) if isinstance(value, int | float) else value}"
                        for name, value in hit.parts.items()
                        if value not in (None, "")
                    )
                )
            )


def on_its_page(version: Version, found: Details) -> None:
    """Each piece of expected evidence as the text of its page, with the quote marked."""
    if not found.case.evidence:
        return
    st.header("Evidence on its page")
    for number, evidence in enumerate(found.case.evidence):
        page = f", page {evidence.page}" if evidence.page else ""
        part = st.expander(
            widgets.escaped(f"{evidence.doc_path}{page}"),
            expanded=number == 0,
            on_change="rerun",
            key=f"evidence_{number}",
        )
        if part.open:
            with part:
                shown = _page_text(version, evidence)
                _page_picture(version, evidence, shown, key=f"picture_{number}")


def _page_picture(version: Version, evidence: Evidence, number: int | None, *, key: str) -> None:
    """The page as it is printed, on request: drawing it takes a second."""
    if number is None or not pictures.available():
        return
    if not st.toggle("Show the page as it is printed", key=key):
        return
    with st.spinner("Drawing the page"):
        picture = pictures.page(version, evidence.doc_path, number, evidence.quote or "")
    if picture.problem:
        st.caption(widgets.escaped(picture.problem))
        return
    st.image(picture.png, caption=widgets.escaped(f"{evidence.doc_path}, page {number}"))


def _page_text(version: Version, evidence: Evidence) -> int | None:
    """Number of the page that is shown; None where the document has no pages or is not kept."""
    document = case_queries.document(version, evidence.doc_path)
    if document is None:
        st.caption("The run keeps no text of this document; this is the quote as it was given.")
        widgets.quote(evidence.quote or "", height=200)
        return None
    start, end = 0, len(document.text)
    page = next((each for each in document.pages if each.number == evidence.page), None)
    if page is not None:
        start, end = page.start, page.end
    if evidence.start is not None and evidence.end is not None:
        place: tuple[int, int] | None = (evidence.start, evidence.end)
    else:
        found = places.locate(evidence.quote or "", document.text[start:end])
        place = (found[0] + start, found[1] + start) if found else None
        if (
            place is None
            and page is not None
            and (elsewhere := places.locate(evidence.quote or "", document.text))
        ):
            place = elsewhere
            st.caption(f"Not on the page that was named; it stands on page {document.page_at(elsewhere[0])}.")
            start, end = 0, len(document.text)
    if place is None:
        st.caption("The quote was not found on this page as it was given:")
        widgets.quote(evidence.quote or "")
        widgets.quote(document.text[start:end], height=420)
        return page.number if page is not None else None
    low, high = (
        (start, end)
        if page is not None and end - start < widgets.SHOWN_CHARACTERS and start <= place[0] < end
        else places.around(document.text, *place)
    )
    widgets.quote(document.text[low:high], [(place[0] - low, place[1] - low, "evidence")], height=420)
    return document.page_at(place[0])
