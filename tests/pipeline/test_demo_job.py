"""The demo as a job: stopped before its end it goes on where it was."""

from __future__ import annotations

from pathlib import Path

from core.jobs import work
from core.store.runs import Store


def test_a_stopped_demo_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    with Store(tmp_path / "plumbline.db") as store:
        whole = store.request_job({}, token="whole", kind="demo")
        assert work(whole, store) == 0
        run = store.runs(status="sealed")[0]
        half = run.model_copy(
            update={"id": "20261101T000000-00000f", "name": "half", "sealed_at": None, "status": "running"}
        )
        store.create_run(half, store.cases(run.id))
        before = list(store.outputs(run.id))[:8]
        store.add_outputs(half.id, before)
        store.set_status(half.id, "failed")

        again = store.request_job({"resume": half.id}, token="again", kind="demo")
        assert work(again, store) == 0
        assert store.job(again).run_id == half.id
        finished = store.run(half.id)
        assert finished.status == "sealed"
        assert finished.verdicts == run.verdicts
        assert list(store.outputs(half.id))[:8] == before, "what was answered stays as it was"
        assert len(store.runs()) == 2, "no run is begun anew"
