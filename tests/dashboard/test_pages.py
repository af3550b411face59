"""Each page over each kind of store, entered through `app.py` as a visitor does."""

from __future__ import annotations

import re

import pytest

from dashboard.widgets import escaped
from tests.dashboard.conftest import Open, fine, words
from tests.dashboard.stores import HOSTILE, hostile_id

PAGES = ("home", "run", "verdicts", "case", "new", "data")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", ["empty", "small", "failures", "running", "errors_only", "hostile"])
def test_every_page_over_every_store(app: Open, name: str, page: str) -> None:
    fine(app(name, page))


@pytest.mark.parametrize("page", ["run", "verdicts", "case"])
def test_an_empty_store_says_what_would_be_here(app: Open, page: str) -> None:
    assert "Runs appear here" in words(app("empty", page))


def test_home_offers_the_demo_only_while_the_store_is_empty(app: Open) -> None:
    assert "Compute the demo" in words(app("empty"))
    assert "Compute the demo" not in words(app("small"))


def test_run_answers_in_its_first_sentence(app: Open) -> None:
    at = fine(app("small", "run"))
    assert (
        at.markdown[0].value
        == "75 % pass: 9 of 12 judged questions, 95 % interval [47, 91]. 1 fails and 2 are weak."
    )


def test_run_with_repeats_counts_cases_and_errors_apart(app: Open) -> None:
    at = fine(app("failures", "run"))
    assert re.match(
        r"\d+ % of the answers pass, 95 % interval \[\d+, \d+\]; \d+ of 19 judged questions pass every time",
        at.markdown[0].value,
    )
    assert "2 ended in an error" in at.markdown[0].value


def test_an_outage_is_not_a_failure(app: Open) -> None:
    at = fine(app("errors_only", "run"))
    assert at.markdown[0].value.startswith("Nothing could be judged: all 6 cases ended in an error")
    assert "Where it fails" not in words(at), "an outage says nothing about quality"


def test_counts_beside_a_mean_lead_to_their_rows(app: Open) -> None:
    """Each chip's number is what the verdicts page shows for it."""
    at = fine(app("failures", "run"))
    chips = [each.proto for each in at.get("page_link") if "metric=" in each.proto.query_string]
    assert chips
    for chip in chips:
        number = int(re.search(r"\d+", chip.label.replace("\\", ""))[0])  # type: ignore[index]
        params = dict(part.split("=", 1) for part in chip.query_string.split("&"))
        shown = app(
            "failures",
            "verdicts",
            run=params["run"],
            metric=params["metric"],
            state=params["state"].replace("+", " "),
        )
        found = re.search(r"(\d+)(?: of 21 cases match| cases)", shown.markdown[0].value)
        assert found, shown.markdown[0].value
        assert int(found[1]) == number, (chip.label, chip.query_string)


def test_verdict_counts_are_filters_and_ignore_their_own(app: Open) -> None:
    at = fine(app("failures", "verdicts"))
    before = [button.label for button in at.button if button.key and button.key.startswith("only_")]
    at.button(key="only_ERROR").click().run()
    fine(at)
    after = [button.label for button in at.button if button.key and button.key.startswith("only_")]
    assert before == after
    assert "2 of 21 cases match the filters" in at.markdown[0].value
    at.button(key="only_ERROR").click().run()
    assert "21 cases" in at.markdown[0].value


def test_flaky_cases_are_a_filter_of_their_own(app: Open) -> None:
    at = fine(app("failures", "verdicts"))
    at.toggle(key="flaky").set_value(True).run()
    shown = [badge.value for badge in at.markdown if "-badge[" in badge.value]
    assert shown
    assert all(len(set(re.findall("[✕◆▲●]", badge)[1:])) > 1 for badge in shown), shown


def test_search_reads_question_answer_and_id_literally(app: Open) -> None:
    assert "1 of 12 cases match" in words(app("small", "verdicts", find="number 11 "))
    assert "12 of 12 cases match" in words(app("small", "verdicts", find="28 days"))
    assert "0 of 12 cases match" in words(app("small", "verdicts", find="number_1"))


@pytest.mark.parametrize(
    ("key", "value"), [("verdict", "Purple"), ("type", "no such type"), ("metric", "nope"), ("why", "x")]
)
def test_a_filter_the_run_does_not_have_is_said(app: Open, key: str, value: str) -> None:
    assert f"this run has no {escaped(repr(value))}" in words(app("small", "verdicts", **{key: value}))


@pytest.mark.parametrize("page", ["run", "verdicts", "case", "data"])
def test_an_unknown_run_is_said_and_nothing_else_is_shown(app: Open, page: str) -> None:
    at = app("small", page, run="nobody")
    assert "No run answers to this link" in "".join(str(each.proto) for each in at.warning)
    assert "nobody" in words(at)
    assert "judged questions" not in words(at)


def test_a_link_opens_an_older_run_by_id_label_or_name(app: Open) -> None:
    for link in ("20261101T100000-000001", "baseline (000001)", "baseline"):
        assert app("two_runs", "run", run=link).title[0].value == "baseline"
    assert app("two_runs", "run").title[0].value == "candidate"


def test_case_shows_what_the_verdict_rests_on(app: Open) -> None:
    text = words(fine(app("failures", "case", case="q1")))
    assert "<mark" in text, "evidence and claims are marked"
    assert "A loan may be re-\nnewed twice" in text, "the quote is found over a line end"
    for part in (
        "Answer",
        "Expected",
        "Diagnosis",
        "Claims",
        "Retrieved passages",
        "Evidence on its page",
        "Checks",
        "Judgements",
    ):
        assert part in text
    assert "One of two claims is supported." in text


def test_case_that_failed_to_answer_says_so(app: Open) -> None:
    at = fine(app("failures", "case", case="q4"))
    assert "no answer within 30 seconds" in words(at)
    assert "counts as an error, not as a failure" in words(at)


def test_case_over_runs(app: Open) -> None:
    at = fine(app("two_runs", "case", case="q3", run="candidate"))
    links = [
        each.proto.query_string
        for each in at.get("page_link")
        if each.proto.page == "case" and "000001" in each.proto.query_string
    ]
    assert links == ["run=20261101T100000-000001&case=q3"]


def test_an_unknown_case_is_said(app: Open) -> None:
    at = app("small", "case", case="q999")
    assert "This run has no such case" in "".join(str(each.proto) for each in at.warning)
    assert "q999" in words(at)


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_text_of_others_stays_text(app: Open, number: int) -> None:
    at = fine(app("hostile", "case", case=hostile_id(number)))
    for element in at.html:
        assert "<script" not in element.value
        assert "<img" not in element.value
        assert "<b>" not in element.value
    for element in [*at.markdown, *at.caption, *at.title, *at.header]:
        assert "<script" not in element.value.replace("\\<", ""), element.value
        assert not re.search(r"(?<!\\)!?\[no (link|image)\]", element.value)


def test_a_stopped_run_says_what_is_there(app: Open) -> None:
    text = words(app("running", "run", run="cancelled run"))
    assert "12 of 30 answers are stored" in text
    assert "Stopped after 12 of 30 cases" in text


def test_live_and_lost_jobs(app: Open) -> None:
    at = fine(app("running", "home"))
    assert not at.get("progress"), "a job without a sign of life is not shown as running"


def test_data_reports_every_document(app: Open) -> None:
    at = fine(app("small", "data"))
    table = at.dataframe[0].value
    assert table["document"].tolist() == ["rules/broken.pdf", "rules/scan.pdf", "rules/loan_rules.pdf"]
    assert "1 of 3 documents were read completely; 2 need a look" in words(at)


def test_review_mode_shows_and_starts_nothing(app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUMBLINE_REVIEW", "1")
    at = fine(app("small", "home"))
    assert "only shows runs" in words(at)
    assert "Compute the demo" not in words(app("empty", "home"))
    assert not app("small", "data").get("file_uploader")
    with pytest.raises(ValueError, match="not"):
        at.switch_page("app_pages/new.py")
