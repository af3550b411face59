"""Queries, notices, the split without leakage, and the search of the TED API against a local server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.inputs.classification_queries import load_cpv_queries
from core.inputs.near_duplicates import duplicate_groups, near_pairs, shingles, similarity
from core.inputs.notices import Notice, in_training, split_notices
from core.inputs.ted_search import Search, fetch_notices, notice_of
from tests.classification.services import Answer, Service
from tests.real_data import real_data

ROAD = "Resurfacing of the road between the old mill and the railway station in the northern district of the town"


def test_queries_json_as_published(tmp_path: Path) -> None:
    path = tmp_path / "queries.json"
    path.write_text(
        json.dumps(
            {"queries": [{"query": "Power", "gold_cpv_code": 9310000, "notes": "x"}, {"query": "Road"}]}
        )
    )
    loaded = load_cpv_queries(path)
    assert [case.id for case in loaded.cases] == ["q1", "q2"]
    assert loaded.cases[0].gold_codes == ("09310000",)
    assert loaded.cases[1].gold_codes == ()
    assert any("no gold code" in notice for notice in loaded.notices)


def test_queries_that_cannot_be_used_are_all_named(tmp_path: Path) -> None:
    path = tmp_path / "queries.json"
    path.write_text(json.dumps([{"id": "a", "query": "x"}, {"id": "a", "query": "y"}, {"querry": "z"}]))
    with pytest.raises(InputError) as caught:
        load_cpv_queries(path)
    assert "id 'a': is used twice" in str(caught.value)
    assert "queries[2]" in str(caught.value)


def test_the_columns_that_hold_the_answer_are_never_read() -> None:
    path = real_data("ted_notices", "dev.csv")
    loaded = load_cpv_queries(path, query_text="title")
    assert len(loaded.cases) == 1970
    header = path.read_text("utf-8").splitlines()[0]
    assert "en_cpv_title" in header
    assert "cpv_main_label_en" in header
    for case in loaded.cases:
        assert not {"en_cpv_title", "cpv_main_label_en"} & set(case.metadata)
    first = loaded.cases[0]
    assert (first.id, first.language, first.gold_codes) == ("002705-2021", "pl", ("09310000",))


def test_title_alone_or_with_description() -> None:
    path = real_data("ted_notices", "dev.csv")
    short = {case.id: case.query for case in load_cpv_queries(path, query_text="title").cases}
    long = {case.id: case.query for case in load_cpv_queries(path).cases}
    assert all(long[name].startswith(short[name]) for name in short)
    assert sum(long[name] != short[name] for name in short) > 1000


def test_nearly_equal_queries_share_a_cluster(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_text(json.dumps([{"query": ROAD}, {"query": ROAD + " 2"}, {"query": "Apples for the school"}]))
    clusters = [case.cluster for case in load_cpv_queries(path).cases]
    assert clusters == ["q1", "q1", None]


def test_near_pairs_agree_with_comparing_all(tmp_path: Path) -> None:
    path = real_data("ted_notices", "dev.csv")
    texts = [case.query for case in load_cpv_queries(path).cases[:400]]
    sets = [shingles(text) for text in texts]
    brute = {
        (a, b)
        for a in range(len(texts))
        for b in range(a + 1, len(texts))
        if similarity(sets[a], sets[b]) >= 0.8
    }
    assert {(a, b) for a, b, _ in near_pairs(texts)} == brute


def test_the_split_is_the_published_rule_and_keeps_near_duplicates_together() -> None:
    notices = [
        Notice(f"{n}-2023", "45000000", f"Building number {n} in street {n * 7} of town {n * 13}")
        for n in range(200)
    ]
    twins = [Notice(f"{n}-2024", "45000000", ROAD) for n in range(20)]
    split = split_notices([*notices, *twins])
    train = {notice.number for notice in split.train}
    groups = duplicate_groups([notice.full_text for notice in notices])
    alone = [notice for notice, group in zip(notices, groups, strict=True) if groups.count(group) == 1]
    assert len(alone) > 100
    assert all((notice.number in train) == in_training(notice.number, 0.8) for notice in alone)
    assert {notice.number in train for notice in twins} in ({True}, {False})
    assert split.n_kept_together > 0
    backwards = split_notices([*twins, *notices][::-1])
    assert {notice.number for notice in backwards.train} == train


def _entry(number: int) -> dict[str, Any]:
    return {
        "publication-number": f"{number}-2024",
        "notice-title": {
            "eng": f"Estonia – Electricity – Power {number}",
            "est": f"Eesti – Elekter – Vool {number}",
        },
        "title-proc": {"est": [f"Vool {number}"]},
        "description-proc": {"est": "Elektrienergia ost"},
        "main-classification-proc": ["09310000"],
        "classification-cpv": ["09310000", "65310000"],
        "buyer-name": {"est": ["Linn"]},
        "contract-nature": ["supplies"],
        "official-language": ["EST"],
        "links": {"xml": {"MUL": "x"}},
    }


def test_a_recorded_notice_is_read_in_its_own_language() -> None:
    notice = notice_of(_entry(7))
    assert notice is not None
    assert (notice.number, notice.code, notice.language) == ("7-2024", "09310000", "et")
    assert (notice.title, notice.text, notice.buyer) == ("Vool 7", "Elektrienergia ost", "Linn")
    assert notice.codes == ("09310000", "65310000")
    assert notice_of({"publication-number": "1", "title-proc": {"eng": "x"}}) is None


def test_pages_are_kept_and_an_interrupted_search_continues(tmp_path: Path) -> None:
    broken = {"on": True}

    def script(number: int, body: dict[str, Any], headers: Any) -> Answer:
        page = body["page"]
        if page == 3 and broken["on"]:
            return Answer({"message": "no such field"}, status=400)
        first = (page - 1) * body["limit"]
        return Answer(
            {
                "notices": [_entry(n) for n in range(first, min(first + body["limit"], 9))],
                "totalNoticeCount": 9,
            }
        )

    progress = tmp_path / "pages.jsonl"
    with Service(script) as service:
        search = Search(url=service.url, limit=2, pause_s=0.0)
        with pytest.raises(InputError) as caught:
            list(fetch_notices(search, max_notices=100, progress=progress))
        assert "continues where it stopped" in str(caught.value)
        with progress.open("a") as file:
            file.write('{"search": "half a li')  # a process killed while it wrote
        broken["on"] = False
        asked = len(service.requests)
        found = list(fetch_notices(search, max_notices=100, progress=progress))
        again = list(fetch_notices(search, max_notices=4, progress=progress))
        pages = [body["page"] for body in service.requests[asked:]]
    assert [notice.number for notice in found] == [f"{n}-2024" for n in range(9)]
    assert pages == [3, 4, 5]
    assert again == found[:4]


def test_the_search_waits_as_it_is_told_and_tries_again(tmp_path: Path) -> None:
    def script(number: int, body: dict[str, Any], headers: Any) -> Answer:
        if number == 1:
            return Answer({}, status=429, headers={"retry-after": "0"})
        return Answer({"notices": [_entry(1)], "totalNoticeCount": 1})

    with Service(script) as service:
        search = Search(url=service.url, pause_s=0.0)
        found = list(fetch_notices(search, max_notices=5, progress=tmp_path / "p.jsonl"))
        assert len(service.requests) == 2
        assert service.requests[0]["paginationMode"] == "PAGE_NUMBER"
    assert len(found) == 1


def test_a_reply_that_is_something_else_is_said(tmp_path: Path) -> None:
    with Service(lambda *_: Answer(raw=b"<html>")) as service, pytest.raises(InputError, match="not JSON"):
        list(
            fetch_notices(Search(url=service.url, pause_s=0.0), max_notices=5, progress=tmp_path / "p.jsonl")
        )
