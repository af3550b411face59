from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from core.store.runs import Store
from dashboard.queries import case, cases, jobs, runs, source
from dashboard.queries.runs import Version

Choose = Callable[[str], Path]


def newest() -> Version:
    version = runs.version(runs.page(1)[0]["id"])
    assert version is not None
    return version


def test_no_store_at_all_is_an_empty_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PLUMBLINE_STORE", str(tmp_path / "none.db"))
    assert runs.count() == 0
    assert runs.page(5) == []
    assert jobs.recent() == []
    assert not (tmp_path / "none.db").exists(), "reading makes nothing"


def test_counts_equal_what_the_records_say(store: Choose) -> None:
    path = store("failures")
    version = newest()
    with Store(path, readonly=True) as opened:
        results = opened.results(version.run_id)
    worst: dict[str, str] = {}
    for result in results:
        order = cases.SEVERITY.index
        worst[result.case_id] = max(worst.get(result.case_id, "PASS"), result.verdict.value, key=order)
    expected = dict(Counter(worst.values()))
    assert runs.verdicts(version) == expected
    assert cases.verdict_counts(version, cases.Filters()) == expected
    for verdict, number in expected.items():
        wanted = cases.Filters(verdicts=(verdict,))
        assert cases.count(version, wanted) == number
        assert set(cases.page(version, wanted, "file order", 1)["case_id"]) == {
            c for c, v in worst.items() if v == verdict
        }


def test_chips_count_as_core_counts(store: Choose) -> None:
    store("failures")
    version = newest()
    for aggregate in runs.overall(version):
        if aggregate.metric not in cases.metric_names(version):
            continue
        for state, number in (
            ("scored", aggregate.n_scored),
            ("not applicable", aggregate.n_not_applicable),
            ("error", aggregate.n_error),
        ):
            assert cases.count(version, cases.Filters(metric=aggregate.metric, state=state)) == number, (
                aggregate.metric,
                state,
            )


def test_pages_cover_every_case_once(store: Choose) -> None:
    store("failures")
    version = newest()
    for sort in cases.SORTS:
        seen = [
            each
            for number in range(1, 6)
            for each in cases.page(version, cases.Filters(), sort, number, 5)["case_id"]
        ]
        assert sorted(seen) == sorted({f"q{n}" for n in range(21)}), sort


def test_trouble_comes_first(store: Choose) -> None:
    store("failures")
    shown = cases.page(newest(), cases.Filters(), "trouble first", 1)["verdict"].tolist()
    assert shown == sorted(shown, key=("FAIL", "ERROR", "WEAK", "PASS").index)


def test_repeats_stand_in_order(store: Choose) -> None:
    path = store("failures")
    version = newest()
    frame = cases.page(version, cases.Filters(), "file order", 1)
    with Store(path, readonly=True) as opened:
        for row in frame.to_dict("records"):
            exact = [opened.result(version.run_id, row["case_id"], repeat) for repeat in range(3)]
            assert row["verdicts"] == [each.verdict.value for each in exact if each]
            assert bool(row["flaky"]) == (len(set(row["verdicts"])) > 1)


def test_neighbours(store: Choose) -> None:
    store("small")
    version = newest()
    first, last = cases.neighbours(version, "q0"), cases.neighbours(version, "q11")
    assert (first["previous"], first["next"], first["position"], first["total"]) == (None, "q1", 1, 12)
    assert (last["previous"], last["next"]) == ("q10", None)
    assert cases.neighbours(version, "q1")["next_trouble"] == "q4"
    assert cases.neighbours(version, "q9")["next_trouble"] == "q0", "wraps round"
    assert cases.neighbours(version, "nobody") == {}


def test_a_version_changes_with_its_run(
    store: Choose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is cached for a running run is not shown for the run as it is later."""
    from tests.dashboard import stores

    path = tmp_path / "live.db"
    monkeypatch.setenv("PLUMBLINE_STORE", str(path))
    questions = [stores.case(n) for n in range(4)]
    with Store(path) as opened:
        run = stores.add_run(opened, questions, [], [], status="running")
        before = newest()
        assert runs.verdicts(before) == {}
        opened.add_outputs(run.id, [stores.output(questions[0])])
        opened.add_results(run.id, [stores.result(questions[0], stores.Verdict.PASS)])
        after = newest()
        assert after != before
        assert runs.verdicts(after) == {"PASS": 1}


def test_an_artifact_lies_inside_the_outputs_folder(store: Choose) -> None:
    folder = store("small").parent
    run = folder / "a-run"
    run.mkdir(exist_ok=True)
    (run / "summary.json").write_text("{}")
    (folder.parent / "secret.txt").write_text("x")
    assert source.artifact(str(run), "summary.json") == (run / "summary.json").resolve()
    assert source.artifact(str(run), "../../secret.txt") is None
    assert source.artifact("/etc", "hostname") is None
    assert source.artifact(str(run), "missing.csv") is None
    assert source.artifact(None, "summary.json") is None


def test_details_of_one_case(store: Choose) -> None:
    store("failures")
    found = case.details(newest(), "q4", 1)
    assert found is not None
    assert found.output is not None
    assert found.output.repeat == 1
    assert found.verdicts == ("ERROR", "ERROR", "ERROR")
    assert case.details(newest(), "nobody") is None


def test_a_silent_job_is_lost(store: Choose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "jobs.db"
    monkeypatch.setenv("PLUMBLINE_STORE", str(path))
    with Store(path) as opened:
        job_id = opened.request_job({"run_name": "a"}, token="t")
        assert jobs.job(job_id)["status"] == "queued"  # type: ignore[index]
        opened.start_job(job_id, total=10)
        opened.beat(job_id, 4, "4 of 10 answered")
        live = jobs.live()
        assert [each["status"] for each in live] == ["running"]
        assert live[0]["share"] == 0.4
        with opened.write() as connection:
            connection.execute("UPDATE jobs SET heartbeat = heartbeat - 60")
        assert jobs.live() == []
        assert jobs.recent()[0]["status"] == "lost"
