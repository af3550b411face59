PRAGMA user_version = 1;
PRAGMA application_id = 1347177794;
BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'plumbline','1_first_release','2026-11-30 22:12:45.979946+00:00');
CREATE TABLE aggregates (
        run_key INTEGER NOT NULL,
        group_by TEXT NOT NULL,
        group_name TEXT NOT NULL,
        metric TEXT NOT NULL,
        position INTEGER NOT NULL,
        mean REAL,
        n_scored INTEGER NOT NULL,
        n_not_applicable INTEGER NOT NULL,
        n_error INTEGER NOT NULL,
        low REAL,
        high REAL,
        level REAL NOT NULL,
        method TEXT NOT NULL,
        note TEXT NOT NULL,
        version TEXT,
        PRIMARY KEY (run_key, group_by, group_name, metric)
    ) WITHOUT ROWID;
INSERT INTO "aggregates" VALUES(1,'','','mrr_at_k',0,0.5,2,1,0,0.1,0.9,0.95,'','','1');
CREATE TABLE attributions (
        owner_id TEXT NOT NULL,
        table_name TEXT NOT NULL,
        n_rows INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (owner_id, table_name)
    );
CREATE TABLE baselines (
        name TEXT PRIMARY KEY,
        run_key INTEGER NOT NULL,
        pinned_at TEXT NOT NULL
    );
CREATE TABLE cases (
        key INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        content BLOB NOT NULL,
        id TEXT NOT NULL,
        query TEXT NOT NULL,
        test TEXT NOT NULL,
        evaluator TEXT NOT NULL,
        question_type TEXT NOT NULL,
        cluster TEXT,
        answerable INTEGER,
        body BLOB NOT NULL
    );
INSERT INTO "cases" VALUES(1,X'93A84B322393946C532BFFEF36B6FEB9',X'25F53855153DDCD9','q0','Frage 0?','','','single_hop',NULL,NULL,X'028316928506B07C0EE4B81501738882813D500864593C2C6F2839E69594034D56802A2E061705505F14036B9F9CD4F88CFC02A55A00');
INSERT INTO "cases" VALUES(2,X'871EAA52AB0464D96BE71E110297DDEF',X'F45AB852048621F4','q1','Frage 1?','','','single_hop',NULL,NULL,X'028316928586B07C0EE4B81501738882A13D500864593C2C6F2839E69594034D56802A2E061705505F14036B9F9CD4F88CFC02A55A00');
INSERT INTO "cases" VALUES(3,X'EC17F392908AD2CCC0597167BF34B161',X'01B3E5462BF78AE4','q2','Frage 2?','','','single_hop',NULL,NULL,X'028316928546B07C0EE4B81501738882913D500864593C2C6F2839E69594034D56802A2E061705505F14036B9F9CD4F88CFC02A55A00');
CREATE TABLE documents (
        key INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        body BLOB NOT NULL
    );
CREATE TABLE gates (
        key INTEGER PRIMARY KEY,
        run_key INTEGER NOT NULL,
        baseline_key INTEGER,
        decided_at TEXT NOT NULL,
        verdict TEXT NOT NULL,
        report BLOB NOT NULL
    );
CREATE TABLE jobs (
        id TEXT PRIMARY KEY,
        token TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        settings TEXT NOT NULL,
        status TEXT NOT NULL,
        run_id TEXT,
        pid INTEGER,
        total INTEGER,
        done INTEGER NOT NULL DEFAULT 0,
        message TEXT NOT NULL DEFAULT '',
        error TEXT NOT NULL DEFAULT '',
        cancel_requested INTEGER NOT NULL DEFAULT 0,
        created_at TEXT NOT NULL,
        started_at TEXT,
        finished_at TEXT,
        heartbeat REAL,
        updated_at REAL NOT NULL
    );
CREATE TABLE labels (
        key INTEGER PRIMARY KEY,
        run_key INTEGER NOT NULL,
        case_key INTEGER NOT NULL,
        repeat INTEGER NOT NULL,
        subject TEXT NOT NULL,
        value TEXT NOT NULL,
        author TEXT NOT NULL,
        reason TEXT NOT NULL,
        created_at TEXT NOT NULL,
        undone_at TEXT
    );
CREATE TABLE layouts (key INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, names TEXT NOT NULL);
INSERT INTO "layouts" VALUES(1,X'7227C6182A84B5428C67DE1D9D4F7C3F','["mrr_at_k","ndcg_at_k"]');
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "meta" VALUES('generation','0');
CREATE TABLE metrics (
        name TEXT NOT NULL,
        version TEXT NOT NULL,
        title TEXT NOT NULL,
        family TEXT NOT NULL,
        kind TEXT NOT NULL,
        direction INTEGER NOT NULL,
        low REAL,
        high REAL,
        unit TEXT NOT NULL,
        headline INTEGER NOT NULL,
        PRIMARY KEY (name, version)
    ) WITHOUT ROWID;
INSERT INTO "metrics" VALUES('mrr_at_k','1','Reciprocal rank@k','ranking','bounded',1,0.0,1.0,'',1);
CREATE TABLE outputs (
        key INTEGER PRIMARY KEY,
        run_key INTEGER NOT NULL,
        case_key INTEGER NOT NULL,
        repeat INTEGER NOT NULL,
        failure TEXT,
        latency_ms REAL,
        cost_usd REAL,
        confidence REAL,
        abstained INTEGER,
        n_hits INTEGER NOT NULL,
        text TEXT,
        hits BLOB,
        body BLOB
    );
INSERT INTO "outputs" VALUES(1,1,1,0,NULL,12.5,0.01,NULL,NULL,3,'Antwort auf Frage 0?',X'028B8E8E36D431D2318ED501D5013A204F18E819A381581D70410E22626301',X'02AB26A6C84CC94FD62B48495336C45662122C220DD14B4443E422315729B616258362291370962C84F2AA2134AFD60200');
INSERT INTO "outputs" VALUES(2,1,2,0,NULL,12.5,0.01,NULL,NULL,3,'Antwort auf Frage 1?',X'028B8E8E36D431D2318ED501D5013A204F18E819A381581D70410E22626301',X'02AB26A6C84CC94FD62B48495336C45662122C220DD14B4443E422315729B616258362291370962C84F2AA2134AFD60200');
INSERT INTO "outputs" VALUES(3,1,3,0,NULL,12.5,0.01,NULL,NULL,3,'Antwort auf Frage 2?',X'028B8E8E36D431D2318ED501D5013A204F18E819A381581D70410E22626301',X'02AB26A6C84CC94FD62B48495336C45662122C220DD14B4443E422315729B616258362291370962C84F2AA2134AFD60200');
CREATE TABLE passages (
        key INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        item_id TEXT NOT NULL,
        text_key INTEGER NOT NULL,
        body BLOB NOT NULL
    );
INSERT INTO "passages" VALUES(1,X'37A767B5D2EEC1B0A539CE257D62BB26','doc.pdf#1',1,X'028B564AC94FD62B48495306959321A0A884F0812C251D431D70090E29C6956201');
INSERT INTO "passages" VALUES(2,X'7A7D31B417CD7F73F2D6702219756C4F','doc.pdf#2',2,X'028B564AC94FD62B48495336022A0F014525840F6429E918E9804B704831AE140B00');
INSERT INTO "passages" VALUES(3,X'CB145BF4C82857AFAC9FF3CD6CC67CBD','doc.pdf#3',3,X'028B564AC94FD62B48495336062A0F014525840F6429E918EB804B704831AE140B00');
CREATE TABLE preferences (
        scope TEXT NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (scope, name)
    );
CREATE TABLE results (
        key INTEGER PRIMARY KEY,
        run_key INTEGER NOT NULL,
        case_key INTEGER NOT NULL,
        repeat INTEGER NOT NULL,
        verdict TEXT NOT NULL,
        label TEXT,
        evaluator TEXT NOT NULL,
        test TEXT NOT NULL,
        question_type TEXT NOT NULL,
        primary_reason TEXT,
        failure TEXT,
        n_unchecked INTEGER NOT NULL,
        layout INTEGER NOT NULL,
        scores BLOB NOT NULL,
        body BLOB
    );
INSERT INTO "results" VALUES(1,1,1,0,'PASS','correct','','','single_hop','ok',NULL,0,1,X'000000000000F03F000000000000F87F',X'02AB460EB6A4D4E4C4D2E254B202CD4C21185875000BF222BCC187DD71186142A235903048C94FD62B48495336C46F9F819E25A8A44749DA08AD56C6B53A14A674D4345D9E51A9545B0B00');
INSERT INTO "results" VALUES(2,1,2,0,'FAIL','incorrect','','','single_hop','retrieval_miss',NULL,0,1,X'000000000000E03F000000000000D03F',X'02AB460EB6A4D4E4C4D2E254B202CD4C21185875000BF222BCC187DD71186142A235903048C94FD62B48495336C46F9F819E25A8A44749DA08AD56C6B53AE4A77444DA04A74AF4F45D9E51A9545B0B00');
INSERT INTO "results" VALUES(3,1,3,0,'PASS','correct','','','single_hop','ok',NULL,0,1,X'000000000000F87F000000000000F03F',X'02AB460EB6A4D4E4C4D2E254B202CD4C21185875000BF222BCC187DD71186142A235903048C94FD62B48495336C46F9F819E25A8A44749DA08AD56C6B53A14A674D4345D9E51A9545B0B00');
CREATE TABLE run_cases (
        run_key INTEGER NOT NULL,
        case_key INTEGER NOT NULL,
        position INTEGER NOT NULL,
        PRIMARY KEY (run_key, case_key)
    ) WITHOUT ROWID;
INSERT INTO "run_cases" VALUES(1,1,0);
INSERT INTO "run_cases" VALUES(1,2,1);
INSERT INTO "run_cases" VALUES(1,3,2);
CREATE TABLE run_documents (
        run_key INTEGER NOT NULL,
        doc_path TEXT NOT NULL,
        document_key INTEGER,
        report TEXT,
        PRIMARY KEY (run_key, doc_path)
    ) WITHOUT ROWID;
CREATE TABLE run_figures (
        run_key INTEGER NOT NULL,
        name TEXT NOT NULL,
        value REAL,
        PRIMARY KEY (run_key, name)
    ) WITHOUT ROWID;
INSERT INTO "run_figures" VALUES(1,'cost_usd',0.03);
INSERT INTO "run_figures" VALUES(1,'latency_mean',12.5);
INSERT INTO "run_figures" VALUES(1,'latency_p50',12.5);
INSERT INTO "run_figures" VALUES(1,'latency_p95',12.5);
INSERT INTO "run_figures" VALUES(1,'n_failed',0.0);
INSERT INTO "run_figures" VALUES(1,'n_flaky',0.0);
INSERT INTO "run_figures" VALUES(1,'n_outputs',3.0);
CREATE TABLE runs (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        suite TEXT NOT NULL,
        suite_digest TEXT NOT NULL,
        created_at TEXT NOT NULL,
        status TEXT NOT NULL,
        sealed_at TEXT,
        settings TEXT NOT NULL,
        digests TEXT NOT NULL,
        versions TEXT NOT NULL,
        git_revision TEXT,
        seed INTEGER NOT NULL,
        parent_id TEXT,
        sweep_id TEXT,
        folder TEXT,
        n_cases INTEGER NOT NULL,
        repeats INTEGER NOT NULL,
        verdicts TEXT NOT NULL,
        summary BLOB NOT NULL,
        note TEXT NOT NULL DEFAULT '',
        archived_at TEXT,
        deleted_at TEXT,
        updated_at REAL NOT NULL
    );
INSERT INTO "runs" VALUES(1,'run-1','name of run-1','document_qa','regulations','suite-1','2026-01-01T00:00:00+00:00','sealed','2026-11-30T22:12:46+00:00','{"classifier_type":"document_qa","retriever":"bm25","top_k":8}','{"questions":"q1","corpus":"c1"}','{"plumbline":"0.1.0","parser":"1"}',NULL,0,NULL,NULL,NULL,3,1,'{"PASS":2,"WEAK":0,"FAIL":1,"ERROR":0}',X'007B7D','',NULL,NULL,1.79607676603371548655e+09);
CREATE TABLE tags (run_key INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (run_key, tag)) WITHOUT ROWID;
INSERT INTO "tags" VALUES(1,'released');
CREATE TABLE texts (key INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, body BLOB NOT NULL);
INSERT INTO "texts" VALUES(1,X'7C4FB94CB5B9F96009790A3EC7D9AEE7',X'002254657874203122');
INSERT INTO "texts" VALUES(2,X'CBE4D32FC25A660B5A7B7976B6AA7F2D',X'002254657874203222');
INSERT INTO "texts" VALUES(3,X'9EAD7948325830A976BE74A0BB9CA8F5',X'002254657874203322');
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE INDEX runs_suite ON runs (suite, created_at);
CREATE INDEX runs_sweep ON runs (sweep_id);
CREATE INDEX cases_id ON cases (id);
CREATE INDEX run_cases_case ON run_cases (case_key);
CREATE UNIQUE INDEX outputs_case ON outputs (run_key, case_key, repeat);
CREATE UNIQUE INDEX results_case ON results (run_key, case_key, repeat);
CREATE INDEX results_verdict ON results (run_key, verdict);
CREATE INDEX results_evaluator ON results (run_key, evaluator);
CREATE INDEX gates_run ON gates (run_key);
CREATE INDEX labels_case ON labels (run_key, case_key);
CREATE VIEW case_results AS
    SELECT runs.id AS run_id, runs.key AS run_key, c.id AS case_id, rc.position AS position, r.repeat AS repeat,
        r.verdict AS verdict, r.label AS label, r.evaluator AS evaluator, r.test AS test,
        r.question_type AS question_type, r.primary_reason AS primary_reason, r.failure AS failure,
        r.n_unchecked AS n_unchecked, r.layout AS layout, r.scores AS scores, r.body AS body,
        c.key AS case_key, c.query AS query, c.cluster AS cluster, c.answerable AS answerable,
        o.text AS answer, o.latency_ms AS latency_ms, o.cost_usd AS cost_usd, o.confidence AS confidence,
        o.abstained AS abstained, o.n_hits AS n_hits
    FROM results r
    JOIN runs ON runs.key = r.run_key
    LEFT JOIN cases c ON c.key = r.case_key
    LEFT JOIN run_cases rc ON rc.run_key = r.run_key AND rc.case_key = r.case_key
    LEFT JOIN outputs o ON o.run_key = r.run_key AND o.case_key = r.case_key AND o.repeat = r.repeat;
CREATE TRIGGER run_cases_no_insert BEFORE INSERT ON run_cases WHEN (SELECT sealed_at FROM runs WHERE key = NEW.run_key) IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER run_cases_no_update BEFORE UPDATE ON run_cases WHEN (SELECT sealed_at FROM runs WHERE key = OLD.run_key) IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER run_cases_no_delete BEFORE DELETE ON run_cases WHEN (SELECT sealed_at FROM runs WHERE key = OLD.run_key) IS NOT NULL AND (SELECT deleted_at FROM runs WHERE key = OLD.run_key) IS NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER outputs_no_insert BEFORE INSERT ON outputs WHEN (SELECT sealed_at FROM runs WHERE key = NEW.run_key) IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER outputs_no_update BEFORE UPDATE ON outputs WHEN (SELECT sealed_at FROM runs WHERE key = OLD.run_key) IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER outputs_no_delete BEFORE DELETE ON outputs WHEN (SELECT sealed_at FROM runs WHERE key = OLD.run_key) IS NOT NULL AND (SELECT deleted_at FROM runs WHERE key = OLD.run_key) IS NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER results_no_insert BEFORE INSERT ON results WHEN (SELECT sealed_at FROM runs WHERE key = NEW.run_key) IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER results_no_update BEFORE UPDATE ON results WHEN (SELECT sealed_at FROM runs WHERE key = OLD.run_key) IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER results_no_delete BEFORE DELETE ON results WHEN (SELECT sealed_at FROM runs WHERE key = OLD.run_key) IS NOT NULL AND (SELECT deleted_at FROM runs WHERE key = OLD.run_key) IS NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER aggregates_no_insert BEFORE INSERT ON aggregates WHEN (SELECT sealed_at FROM runs WHERE key = NEW.run_key) IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER aggregates_no_update BEFORE UPDATE ON aggregates WHEN (SELECT sealed_at FROM runs WHERE key = OLD.run_key) IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER aggregates_no_delete BEFORE DELETE ON aggregates WHEN (SELECT sealed_at FROM runs WHERE key = OLD.run_key) IS NOT NULL AND (SELECT deleted_at FROM runs WHERE key = OLD.run_key) IS NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER run_figures_no_insert BEFORE INSERT ON run_figures WHEN (SELECT sealed_at FROM runs WHERE key = NEW.run_key) IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER run_figures_no_update BEFORE UPDATE ON run_figures WHEN (SELECT sealed_at FROM runs WHERE key = OLD.run_key) IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER run_figures_no_delete BEFORE DELETE ON run_figures WHEN (SELECT sealed_at FROM runs WHERE key = OLD.run_key) IS NOT NULL AND (SELECT deleted_at FROM runs WHERE key = OLD.run_key) IS NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER run_documents_no_insert BEFORE INSERT ON run_documents WHEN (SELECT sealed_at FROM runs WHERE key = NEW.run_key) IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER run_documents_no_update BEFORE UPDATE ON run_documents WHEN (SELECT sealed_at FROM runs WHERE key = OLD.run_key) IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER run_documents_no_delete BEFORE DELETE ON run_documents WHEN (SELECT sealed_at FROM runs WHERE key = OLD.run_key) IS NOT NULL AND (SELECT deleted_at FROM runs WHERE key = OLD.run_key) IS NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER runs_no_update BEFORE UPDATE OF id, name, kind, suite, suite_digest, created_at, status, sealed_at, settings, digests, versions, git_revision, seed, parent_id, sweep_id, n_cases, repeats, verdicts, summary ON runs WHEN OLD.sealed_at IS NOT NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
CREATE TRIGGER runs_no_delete BEFORE DELETE ON runs WHEN OLD.sealed_at IS NOT NULL AND OLD.deleted_at IS NULL BEGIN SELECT RAISE(ABORT, 'the run is sealed'); END;
COMMIT;
