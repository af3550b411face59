"""A classifier behind HTTP: every spelling of a reply, every way to fail, and every row accounted for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from core import pipeline
from core.cli.classify import classifier_check
from core.errors import ConfigError, SystemFailure
from core.inputs.codes import CodeForm
from core.records import Case
from core.settings import load_settings
from core.store.runs import Store
from core.systems.classifier_api import ClassifierApi
from core.systems.classifier_replies import CODES, LISTS, SCORES, read_reply
from core.systems.http_retry import Retry
from tests.classification.services import Answer, Service

CODES_CSV = (
    "code,label\n45000000,Construction\n45200000,Civil engineering\n09310000,Electricity\n33100000,Medical\n"
)


def _read(body: Any, top_k: int = 5, known: set[str] | None = None) -> Any:
    return read_reply(body, case_id="q1", top_k=top_k, normalise=CodeForm(known=known).read, known=known)


@pytest.mark.parametrize("key", CODES)
@pytest.mark.parametrize("name", LISTS)
def test_every_spelling_of_a_code_is_read(name: str, key: str) -> None:
    reading = _read({"id": "q1", name: [{key: "45000000-7", "score": 0.5}]})
    assert [hit.id for hit in reading.hits] == ["45000000"]
    assert reading.remarks == {"check_digit": 1}


@pytest.mark.parametrize("key", SCORES)
def test_every_spelling_of_a_score_is_read_and_only_probabilities_are_confidences(key: str) -> None:
    reading = _read({"id": "q1", "predictions": [{"code": "45000000", key: 0.5}]})
    assert reading.hits[0].score == 0.5
    assert reading.confidence == (0.5 if key in ("confidence", "probability") else None)


def test_missing_scores_stay_missing() -> None:
    reading = _read({"id": "q1", "predictions": [{"code": "45000000"}, "09310000", 9310000]})
    assert [(hit.id, hit.score) for hit in reading.hits] == [("45000000", None), ("09310000", None)]
    assert reading.confidence is None
    assert reading.repeated == ("09310000",)
    assert reading.remarks == {"missing_score": 2, "lost_zero": 1, "repeated_code": 1}


def test_what_is_wrong_with_a_reply_is_counted_and_survived() -> None:
    reading = _read(
        {
            "id": "another",
            "predictions": [
                {"label": "45000000", "confidence": 1.7},
                None,
                {"score": 0.3},
                {"label": "", "code": "77777777", "score": "NaN"},
                {"label": "09310000", "score": 0.9},
                {"label": "33100000", "score": 0.1},
            ],
        },
        top_k=3,
        known={"45000000", "09310000", "33100000"},
    )
    assert [hit.id for hit in reading.hits] == ["45000000", "77777777", "09310000"]
    assert reading.confidence is None
    assert reading.remarks == {
        "wrong_id": 1,
        "confidence_out_of_range": 1,
        "skipped_candidate": 2,
        "unknown_code": 1,
        "bad_score": 1,
        "beyond_top_k": 1,
    }


@pytest.mark.parametrize("body", [[], "x", {"result": []}, {"predictions": {"a": 1}}, None])
def test_a_reply_without_a_list_is_malformed(body: Any) -> None:
    with pytest.raises(SystemFailure) as caught:
        _read(body)
    assert caught.value.kind == "malformed"


def test_request_as_published_and_one_connection_pool() -> None:
    seen: list[str] = []

    def script(number: int, body: dict[str, Any], headers: Any) -> Answer:
        seen.append({key.lower(): value for key, value in headers.items()}["authorization"])
        return Answer({"id": body["id"], "predictions": []})

    with Service(script) as service:
        api = ClassifierApi(service.url, top_k=4, token="s3cret", headers={"x-team": "a"})
        for number in range(5):
            api.ask(Case(id=str(number), query="road works"))
        api.close()
        assert service.requests[0] == {"id": "0", "query": "road works", "top_k": 4}
        assert service.connections == 1
    assert set(seen) == {"Bearer s3cret"}


def test_transport_faults_are_tried_again_and_never_name_the_token() -> None:
    def script(number: int, body: dict[str, Any], headers: Any) -> Answer:
        return (
            Answer({"error": "busy"}, status=503)
            if number < 3
            else Answer({"predictions": [{"code": "45000000"}]})
        )

    with Service(script) as service:
        api = ClassifierApi(service.url, top_k=1, token="s3cret", retry=Retry(attempts=3, first_wait=0.01))
        output = api.ask(Case(id="a", query="x"))
        assert (output.retries, output.hits[0].id) == (2, "45000000")
        api.close()
    api = ClassifierApi(service.url, top_k=1, token="s3cret", retry=Retry(attempts=1))
    with pytest.raises(SystemFailure) as caught:
        api.ask(Case(id="a", query="x"))
    assert caught.value.kind == "transport"
    assert "s3cret" not in str(caught.value)


def _settings(folder: Path, url: str, n: int) -> dict[str, Any]:
    (folder / "codes.csv").write_text(CODES_CSV)
    queries = [{"id": f"q{i}", "query": f"text {i}", "gold_cpv_code": "45000000"} for i in range(n)]
    (folder / "queries.json").write_text(json.dumps({"queries": queries}))
    return {
        "classifier_type": "api_classifier",
        "api_classifier_url": url,
        "api_timeout_seconds": 0.4,
        "api_retries": 1,
        "cpv_catalog": str(folder / "codes.csv"),
        "cpv_queries": str(folder / "queries.json"),
        "output_dir": str(folder / "out"),
        "cache_dir": str(folder / "cache"),
        "concurrency": 8,
    }


def _troubled(number: int, body: dict[str, Any], headers: Any) -> Answer:
    place = int(body["id"][1:])
    if place % 10 == 1:
        return Answer({"error": "x"}, status=500)
    if place % 10 == 2:
        return Answer(hang_s=5.0)
    if place % 10 == 3:
        return Answer(raw=b"<html>gateway</html>")
    if place % 10 == 4:
        return Answer({"id": "someone else", "predictions": [{"code": "45000000-7", "confidence": 0.9}]})
    if place % 10 == 5:
        return Answer({"id": body["id"], "predictions": []})
    return Answer(
        {"id": body["id"], "predictions": [{"code": "45000000", "confidence": 0.8}, {"code": "09310000"}]}
    )


def test_a_troubled_service_leaves_every_row_accounted_for(tmp_path: Path) -> None:
    with Service(_troubled) as service:
        settings = load_settings(_settings(tmp_path, service.url, 40))
        store = Store(tmp_path / "runs.db")
        run = pipeline.run(settings, store=store)
        assert service.most_in_flight <= 8
    results = {result.case_id: result for result in store.results(run.id)}
    assert len(results) == 40
    assert run.verdicts == {"PASS": 24, "WEAK": 0, "FAIL": 4, "ERROR": 12}
    kinds = {place: results[f"q{place}"].failure for place in (1, 2, 3)}
    assert [failure.kind if failure else "" for failure in kinds.values()] == [
        "http_status",
        "timeout",
        "malformed",
    ]
    assert results["q4"].verdict == "PASS"
    contract = run.summary["classifier"]["response_contract"]
    assert (contract["n_replies"], contract["n_failed"], contract["n_empty"]) == (28, 12, 4)
    assert contract["remarks"]["wrong_id"] == 4
    accuracy = next(row for row in run.aggregates if row.metric == "exact_top1_match" and not row.group_by)
    assert (accuracy.n_scored, accuracy.n_error) == (28, 12)
    assert accuracy.mean == pytest.approx(24 / 28)
    calibration = run.summary["calibration"]["prediction_confidence"]
    assert calibration["n_scored"] == 24
    assert calibration["auroc"] is None


def test_only_the_errors_are_asked_again(tmp_path: Path) -> None:
    with Service(_troubled) as service:
        settings = load_settings(_settings(tmp_path, service.url, 10) | {"api_retries": 0})
        store = Store(tmp_path / "runs.db")
        first = pipeline.run(settings, store=store)
        asked = len(service.requests)
        service.script = lambda number, body, headers: Answer(
            {"id": body["id"], "predictions": [{"code": "45000000"}]}
        )
        second = pipeline.run(settings, store=store, retry_errors=first.id)
        again = {body["id"] for body in service.requests[asked:]}
    assert again == {"q1", "q2", "q3"}
    assert second.verdicts == {"PASS": 9, "WEAK": 0, "FAIL": 1, "ERROR": 0}


def test_a_good_service_passes_its_check(tmp_path: Path) -> None:
    def script(number: int, body: dict[str, Any], headers: Any) -> Answer:
        codes = ["45000000", "45200000", "09310000"][: body["top_k"]]
        ranked = [{"label": code, "confidence": 0.9 - place / 10} for place, code in enumerate(codes)]
        return Answer({"id": body["id"], "predictions": ranked})

    (tmp_path / "codes.csv").write_text(CODES_CSV)
    with Service(script) as service:
        done = CliRunner().invoke(
            classifier_check, [service.url, "--cpv-catalog", str(tmp_path / "codes.csv"), "--top-k", "3"]
        )
    assert done.exit_code == 0, done.output
    assert "nothing is wrong" in done.output


def test_a_bad_service_is_told_what_to_do(tmp_path: Path) -> None:
    def script(number: int, body: dict[str, Any], headers: Any) -> Answer:
        if not body["query"]:
            return Answer({}, status=500)
        return Answer(
            {"id": "1", "top_k_answers": [{"label": "45000000-7"}, {"label": "45000000-7"}, {"label": "XX"}]}
        )

    (tmp_path / "codes.csv").write_text(CODES_CSV)
    with Service(script) as service:
        done = CliRunner().invoke(
            classifier_check, [service.url, "--cpv-catalog", str(tmp_path / "codes.csv")]
        )
    assert done.exit_code == 1
    for said in (
        "wrong id",
        "repeated code",
        "unknown code",
        "an empty query",
        "give back the id",
        "no confidence",
    ):
        assert said in done.output


BROKEN: list[tuple[Answer, str, str]] = [
    (Answer([{"label": "45000000"}]), "4 of 4 failed: malformed", "answer with"),
    (Answer(raw=b"<html>log in</html>"), "the reply is not JSON", "answer with"),
    (Answer(raw=b"[" * 100_000), "the reply is not JSON", "answer with"),
    (Answer(raw=b'{"predictions": [{"label": "45000000", "score": NaN}]}'), "NaN is no JSON number", "answer with"),
    (Answer({"predictions": None}), "has no list 'predictions'", "answer with"),
    (Answer({"error": "who are you?"}, status=401), "HTTP 401", "--api-auth-token-env"),
    (Answer({}, status=404), "HTTP 404", "the path of the address"),
    (Answer({}, status=500), "HTTP 500", "the log of the service"),
    (Answer({"predictions": []}), "no reply names a code", "each candidate needs a code"),
    (Answer({"predictions": [{"score": 0.3}]}), "no reply names a code", "each candidate needs a code"),
    (Answer({}, hang_s=5), "4 of 4 failed: timeout", "answer sooner"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "said", "advice"), BROKEN)
def test_each_way_to_be_broken_is_named_once_with_advice(answer: Answer, said: str, advice: str) -> None:
    with Service(lambda number, body, headers: answer) as service:
        done = CliRunner().invoke(classifier_check, [service.url, "--api-timeout-seconds", "0.2"])
    assert done.exit_code == 1, done.output
    assert done.output.count(said) == 1, done.output
    assert advice in done.output


def test_an_address_that_is_none_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(ConfigError, match="begins with http"):
        ClassifierApi("localhost:8080/classify", top_k=3)
