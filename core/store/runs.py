"""The run store: one SQLite file that several processes write and many read.

    with Store("outputs/plumbline.db") as store:
        store.create_run(run, cases)
        store.add_outputs(run.id, [output])        # acknowledged: kill -9 does not lose it
        store.add_results(run.id, [result])
        store.seal(run.id, summary=…, aggregates=…, verdicts=…, folder=…)

Queries read the view `case_results` (one row a case and repeat, columns in `core.store.schema`):

    store.query("SELECT case_id, verdict, score(layout, scores, 'ndcg_at_k') AS ndcg FROM case_results "
                "WHERE run_id = ? AND verdict = 'FAIL' ORDER BY ndcg LIMIT 200", [run.id])
"""

from __future__ import annotations

from core.store.documents import Documents
from core.store.jobs import Jobs
from core.store.keeping import Keeping
from core.store.labels import Labels


class Store(Documents, Keeping, Labels, Jobs):
    """Everything a store can do. `path` is created on demand; `readonly=True` never writes to it."""
