from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dashboard import passages, wording
from dashboard.charts import palette
from dashboard.reasons import reason
from dashboard.widgets import escaped

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.82, "82 %"),
        (1.0, "100 %"),
        (0.0, "0 %"),
        (None, "–"),
        (0.997, "99.7 %"),
        (0.9999, ">99.9 %"),
        (0.004, "0.4 %"),
        (0.0001, "<0.1 %"),
    ],
)
def test_rates_never_round_to_certainty(value: float | None, text: str) -> None:
    assert wording.rate(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(-0.04, "−4 points"), (0.01, "+1 point"), (0.0, "±0 points"), (None, "–")]
)
def test_differences_carry_their_sign(value: float | None, text: str) -> None:
    assert wording.points(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (340, "340 ms"),
        (1240, "1.2 s"),
        (999.7, "1.0 s"),
        (185_000, "3 min 5 s"),
        (7_260_000, "2 h 1 min"),
        (0.2, "<1 ms"),
        (None, "–"),
    ],
)
def test_durations(value: float | None, text: str) -> None:
    assert wording.duration(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0042, "$0.0042"), (0, "$0"), (12.5, "$12.50"), (None, "price unknown")]
)
def test_money(value: float | None, text: str) -> None:
    assert wording.money(value) == text


@pytest.mark.parametrize(
    ("back", "text"),
    [
        (10, "just now"),
        (180, "3 min ago"),
        (7200, "2 h ago"),
        (86400, "1 day ago"),
        (86400 * 3, "3 days ago"),
        (86400 * 90, "1 September 2026"),
    ],
)
def test_times(back: int, text: str) -> None:
    assert wording.ago((NOW - timedelta(seconds=back)).isoformat(), NOW) == text


def test_intervals_counts_and_titles() -> None:
    assert wording.interval(0.76, 0.87) == "[76, 87]"
    assert wording.interval(1.25, 3.5, "count") == "[1.25, 3.5]"
    assert wording.interval(None, 0.5) == ""
    assert wording.count(12345) == "12\u202f345"
    assert wording.title("mean_ndcg_at_k") == "Mean nDCG at k"
    assert wording.title("document_qa") == "Document QA"
    assert wording.shortened("one two three four", 12) == "one two…"
    assert wording.denominator(57, 1, 2) == "57 of 60; 1 not applicable; 2 errors"
    assert reason("gold_missing_from_top_k") == "the expected passage is not among the retrieved ones"


def test_markdown_is_escaped_for_places_that_read_it() -> None:
    assert escaped("*a* $5 [x](y) :red[z]\n# b") == r"\*a\* \$5 \[x\]\(y\) \:red\[z\] \# b"


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("may be renewed twice", "A loan may be re-\nnewed twice.", "may be re-\nnewed twice"),
        ("28 days", "lent for 28\n  days", "28\n  days"),
        ("(a+b)*", "see (a+b)* here", "(a+b)*"),
        ("GRÖSSE 7", "die größe 7", None),
        ("", "text", None),
        ("absent", "text", None),
    ],
)
def test_quotes_are_found_over_line_ends(quote: str, text: str, found: str | None) -> None:
    place = passages.locate(quote, text)
    assert (text[slice(*place)] if place else None) == found


def test_marks_do_not_overlap() -> None:
    assert passages.without_overlaps([(5, 9, "b"), (0, 6, "a"), (9, 12, "c")]) == [(0, 6, "a"), (9, 12, "c")]


def test_every_verdict_has_its_own_word_mark_and_colours() -> None:
    looks = [palette.LOOKS[verdict] for verdict in palette.ORDER]
    for attribute in ("word", "mark", "shape", "badge", "light", "dark"):
        assert len({getattr(each, attribute) for each in looks}) == 4
    assert palette.ORDER == ("FAIL", "ERROR", "WEAK", "PASS")
