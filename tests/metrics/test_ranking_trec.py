"""`plumbline rank` against the official outputs of trec_eval and the reference figures of ir_measures."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.cli.rank import rank, split_names
from core.errors import ConfigError, InputError, UnknownNameError
from core.inputs.trec import parse_qrels, parse_run, read_qrels, read_run
from core.metrics.trec_run import evaluate, parse_measures
from tests.real_data import real_data

OFFICIAL_OUTPUTS = [
    ("out.test", "qrels.test", "results.test", []),
    ("out.test", "qrels.test.with-comments", "results.test", []),
    ("out.test.a", "qrels.test", "results.test", ["-m", "all_trec"]),
    ("out.test.aq", "qrels.test", "results.test", ["-m", "all_trec", "-q"]),
    ("out.test.aqc", "qrels.test", "results.trunc", ["-m", "all_trec", "-q", "-c"]),
    ("out.test.aqcM", "qrels.test", "results.trunc", ["-m", "all_trec", "-q", "-c", "-M100"]),
    ("out.test.aql", "qrels.rel_level", "results.test", ["-m", "all_trec", "-m", "relstring.20", "-q", "-l2"]),
    (
        "out.test.meas_params",
        "qrels.test",
        "results.test",
        ["-q", "-miprec_at_recall..10,.20,.25,.75,.50", "-m", "P.5,7,3", "-m", "recall.20,2000", "-m", "Rprec_mult.5.0,0.2,0.35", "-mutility.2,-1,0,0", "-m", "11pt_avg..25,.5,.75", "-mndcg.1=3,2=9,4=4.5", "-mndcg_cut.10,20,23.4", "-msuccess.2,5,20"],
    ),
]  # fmt: skip


@pytest.mark.real_data
@pytest.mark.parametrize(("expected", "qrels", "run", "options"), OFFICIAL_OUTPUTS)
def test_prints_what_trec_eval_prints(expected: str, qrels: str, run: str, options: list[str]) -> None:
    arguments = [*options, str(real_data("trec_eval", qrels)), str(real_data("trec_eval", run))]
    result = CliRunner().invoke(rank, arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout == real_data("trec_eval", expected).read_text()


@pytest.mark.real_data
def test_equals_the_reference_figures_to_1e_9() -> None:
    names = {"AP": "map", "RR": "recip_rank", "nDCG": "ndcg", "Bpref": "bpref", "Rprec": "Rprec"}
    with real_data("ranking_reference", "per_query.csv").open() as file:
        rows = list(csv.DictReader(file))
    folder = real_data("ranking_reference").parent
    compared = 0
    for qrels, run in sorted({(row["qrels"], row["run"]) for row in rows}):
        mine = [row for row in rows if (row["qrels"], row["run"]) == (qrels, run)]
        measures = {row["measure"]: names.get(row["measure"], row["measure"]) for row in mine}
        scores = read_run(folder / run).scores
        found = evaluate(read_qrels(folder / qrels), scores, parse_measures(list(measures.values())))
        for row in mine:
            if row["measure"] == "Judged@10" and row["qrels"].endswith("rel_level"):
                continue  # ir_measures counts grades below 0 as judged; here (and in trec_eval) they are not
            ours = found.per_topic[row["query_id"]][measures[row["measure"]]]
            assert ours == pytest.approx(float(row["value"]), abs=1e-9), row
            compared += 1
    assert compared == len(rows) - 3 > 100


@pytest.mark.real_data
def test_means_equal_the_reference_means_to_1e_9() -> None:
    names = {"AP": "map", "RR": "recip_rank", "nDCG": "ndcg", "Bpref": "bpref", "Rprec": "Rprec"}
    with real_data("ranking_reference", "aggregate.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if not row["measure"].startswith("Judged")]
    folder = real_data("ranking_reference").parent
    for row in rows:
        measure = names.get(row["measure"], row["measure"])
        found = evaluate(
            read_qrels(folder / row["qrels"]), read_run(folder / row["run"]).scores, parse_measures([measure])
        )
        assert found.average[measure] == pytest.approx(float(row["value"]), abs=1e-9), row
    assert rows


@pytest.mark.real_data
def test_headline_metrics_of_the_issue() -> None:
    names = "ndcg@10,map,recip_rank,recall@10,P@5,success@5,Rprec,bpref"
    arguments = [
        "--metrics",
        names,
        str(real_data("trec_eval", "qrels.test")),
        str(real_data("trec_eval", "results.test")),
    ]
    result = CliRunner().invoke(rank, arguments)
    values = {line.split("\t")[0].strip(): line.split("\t")[2] for line in result.stdout.splitlines()}
    assert values == {
        "ndcg@10": "0.3016", "map": "0.1785", "recip_rank": "0.4064", "recall@10": "0.0317", "P@5": "0.2667",
        "success@5": "0.3333", "Rprec": "0.2174", "bpref": "0.1981",
    }  # fmt: skip


@pytest.mark.real_data
def test_reads_gz_alike_and_says_what_is_missing() -> None:
    plain = CliRunner().invoke(
        rank, [str(real_data("ranx", "qrels.trec")), str(real_data("ranx", "run.trec"))]
    )
    packed = CliRunner().invoke(
        rank, [str(real_data("ranx", "qrels.trec.gz")), str(real_data("ranx", "run.trec.gz"))]
    )
    assert plain.exit_code == packed.exit_code == 0
    assert plain.stdout == packed.stdout
    assert "num_q                 \tall\t2" in plain.stdout


def _write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_missing_and_unjudged_queries_are_counted_and_said(tmp_path: Path) -> None:
    qrels = _write(tmp_path, "q", "1 0 a 1\n2 0 a 1\n3 0 a 0\n")
    run = _write(tmp_path, "r", "1 Q0 a 1 0.5 t\n3 Q0 a 1 0.5 t\n9 Q0 a 1 0.5 t\n")
    dropped = json.loads(CliRunner().invoke(rank, ["-m", "map", "--json", qrels, run]).stdout)
    assert (dropped["n_queries"], dropped["metrics"]["map"]) == (2, 0.5)
    counted = json.loads(CliRunner().invoke(rank, ["-m", "map", "-c", "--json", qrels, run]).stdout)
    assert (counted["n_queries"], counted["metrics"]["map"]) == (3, pytest.approx(1 / 3))
    assert (
        counted["n_missing_queries"],
        counted["n_unjudged_queries"],
        counted["n_queries_without_relevant"],
    ) == (1, 1, 1)
    said = CliRunner().invoke(rank, ["-m", "map", qrels, run]).stderr
    assert "1 judged queries are not in the run" in said
    assert "1 queries of the run have no judgements" in said
    assert "no relevant document" in said


def test_ties_and_unjudged_documents_are_said(tmp_path: Path) -> None:
    qrels = _write(tmp_path, "q", "1 0 a 1\n")
    run = _write(tmp_path, "r", "".join(f"1 Q0 {d} 1 0.5 t\n" for d in "abcd"))
    result = CliRunner().invoke(rank, ["-m", "ndcg@10", qrels, run])
    assert "only 25% of the first 10 documents are judged" in result.stderr
    assert "ndcg@10 could lie 0.5693 apart" in result.stderr


def test_condensed_lists_drop_what_nobody_judged(tmp_path: Path) -> None:
    qrels = _write(tmp_path, "q", "1 0 a 1\n1 0 n 0\n1 0 m -1\n")
    run = _write(tmp_path, "r", "".join(f"1 Q0 {d} 1 {9 - i} t\n" for i, d in enumerate("xymna")))
    full = json.loads(CliRunner().invoke(rank, ["-m", "recip_rank", "--json", qrels, run]).stdout)
    condensed = json.loads(CliRunner().invoke(rank, ["-m", "recip_rank", "-J", "--json", qrels, run]).stdout)
    assert (full["metrics"]["recip_rank"], condensed["metrics"]["recip_rank"]) == (0.2, 0.5)
    assert full["judged_at_10"] == condensed["judged_at_10"] == 0.4


def test_gz_is_recognised_by_content(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_bytes(gzip.compress(b"1 0 a 1\n"))
    assert read_qrels(path) == {"1": {"a": 1}}
    path.write_bytes(gzip.compress(b"1 0 a 1\n")[:-6])
    with pytest.raises(InputError, match="cannot be read"):
        read_qrels(path)


def test_comments_more_fields_and_blank_lines() -> None:
    run = parse_run(["# made by x", "", "1 Q0 a 7 0.5 tag more junk", "1\tQ0\tb\t1\t0.7\ttag2"])
    assert run.scores == {"1": {"a": 0.5, "b": 0.7}}
    assert run.tag == "tag2"


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        (["1 Q0 a 1 0.5 t", "1 Q0 a 2 0.4 t"], 2, "retrieved twice"),
        (["1 Q0 a 1 0.5"], 1, "5 fields instead of 6"),
        (["#", "1 Q0 a 1 nan t"], 2, "is not a number"),
        (["1 Q0 a 1 x t"], 1, "is not a number"),
    ],
)
def test_a_run_that_cannot_be_used_names_the_line(lines: list[str], line: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_run(lines)
    assert caught.value.problems[0].line == line
    assert message in caught.value.problems[0].message


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        (["1 0 a 1", "1 0 a 1"], 2, "judged twice"),
        (["1 0 a"], 1, "3 fields instead of 4"),
        (["1 0 a 1.5"], 1, "not a whole number"),
    ],
)
def test_judgements_that_cannot_be_used_name_the_line(lines: list[str], line: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_qrels(lines)
    assert caught.value.problems[0].line == line
    assert message in caught.value.problems[0].message


def test_all_problems_at_once_and_empty_files() -> None:
    with pytest.raises(InputError) as caught:
        parse_run(["x"] * 30)
    assert len(caught.value.problems) == 20
    assert "10 more" in str(caught.value)
    with pytest.raises(InputError, match="holds no retrieved document"):
        parse_run(["# nothing"])


def test_unknown_measures_get_a_hint() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'ndcg@10'"):
        parse_measures(["ndgc@10"])
    with pytest.raises(ConfigError, match="takes no parameters"):
        parse_measures(["map.5"])
    with pytest.raises(ConfigError, match="cannot be read"):
        parse_measures(["P.x"])


def test_commas_inside_parameters_do_not_separate_measures() -> None:
    assert split_names(("P.5,10,map", "11pt_avg,ndcg.1=3,2=9,bpref")) == [
        "P.5,10", "map", "11pt_avg", "ndcg.1=3,2=9", "bpref",
    ]  # fmt: skip


def test_two_files_of_different_collections_are_an_error(tmp_path: Path) -> None:
    qrels, run = _write(tmp_path, "q", "1 0 a 1\n"), _write(tmp_path, "r", "2 Q0 a 1 0.5 t\n")
    result = CliRunner().invoke(rank, [qrels, run])
    assert isinstance(result.exception, ConfigError)
