"""`plumbline rank QRELS RUN`: the figures of trec_eval, digit for digit."""

from __future__ import annotations

import json
from typing import Any, Literal

import click

from core.errors import ConfigError
from core.inputs.trec import TrecRun, read_qrels, read_run
from core.metrics.trec import Value
from core.metrics.trec_run import Evaluated, Wanted, evaluate, only_average, parse_measures

WARN_JUDGED = 0.8
WARN_TIES = 0.01


@click.command(short_help="Score a TREC run against qrels exactly as trec_eval does.")
@click.argument("qrels_path", metavar="QRELS")
@click.argument("run_path", metavar="RUN")
@click.option(
    "--metrics",
    "-m",
    multiple=True,
    help="Measures, separated by commas or given again: ndcg@10, map, P_5, P.5,10, official (default), all_trec.",
)
@click.option(
    "-c", "--complete", is_flag=True, help="Judged queries the run does not answer count as empty rankings."
)
@click.option("-q", "--per-query", is_flag=True, help="Print the values of every query too.")
@click.option(
    "-l", "--rel-level", default=1, show_default=True, type=int, help="Lowest grade that is relevant."
)
@click.option(
    "-M", "--max-docs", default=None, type=click.IntRange(min=1), help="Look only at the first N documents."
)
@click.option(
    "--single-precision",
    is_flag=True,
    help="Compare scores as 32-bit floats, as trec_eval 9 and pytrec_eval do.",
)
@click.option("-J", "--judged-only", is_flag=True, help="Drop documents nobody judged and close the ranks.")
@click.option(
    "--ties",
    type=click.Choice(["trec", "expected"]),
    default="trec",
    show_default=True,
    help="Equal scores: by document id as trec_eval, or the average over all their orders.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON with full precision.")
def rank(
    qrels_path: str,
    run_path: str,
    metrics: tuple[str, ...],
    complete: bool,
    per_query: bool,
    rel_level: int,
    max_docs: int | None,
    single_precision: bool,
    judged_only: bool,
    ties: Literal["trec", "expected"],
    as_json: bool,
) -> None:
    """Score a TREC run against qrels exactly as trec_eval does.

    QRELS and RUN are TREC files (also .gz). The rank column is ignored: documents are ordered by score, ties by
    document id, descending. Remarks about missing queries, unjudged documents and ties go to standard error.
    """
    wanted = parse_measures(split_names(metrics) or ["official"])
    judged, run = read_qrels(qrels_path), read_run(run_path)
    found = evaluate(
        judged,
        run.scores,
        wanted,
        complete=complete,
        rel_level=rel_level,
        max_docs=max_docs,
        precision="single" if single_precision else "double",
        judged_only=judged_only,
        tie_mode=ties,
    )
    if not found.n_topics:
        raise ConfigError(
            f"no query of {run_path} is judged in {qrels_path}: are these two files of one collection?"
        )
    if as_json:
        click.echo(json.dumps(as_record(found, run, per_query), indent=2, ensure_ascii=False))
        return
    for line in report(found, run, wanted, per_query):
        click.echo(line)
    for remark in remarks(found, complete, ties):
        click.echo(f"note: {remark}", err=True)


def split_names(given: tuple[str, ...]) -> list[str]:
    """Names from options: commas separate measures, except those between the parameters of one (`P.5,10`)."""
    names: list[str] = []
    for part in (part for option in given for part in option.split(",")):
        part = part.strip()
        is_parameter = (
            bool(part)
            and (part[0].isdigit() or part[0] in ".-")
            and part != "11pt_avg"
            and not part.startswith("11pt_avg.")
        )
        if is_parameter and names and "." in names[-1]:
            names[-1] += f",{part}"
        elif part:
            names.append(part)
    return names


def report(found: Evaluated, run: TrecRun, wanted: list[Wanted], per_query: bool) -> list[str]:
    """Lines as trec_eval prints them: name, query (or `all`), value."""
    lines: list[str] = []
    hidden = only_average(wanted)
    official = any(label == "num_ret" for each in wanted for label in each.labels)
    if per_query:
        for query, values in found.per_topic.items():
            lines += [_line(name, query, value) for name, value in values.items() if name not in hidden]
    if official:
        lines += [_line("runid", "all", run.tag), _line("num_q", "all", found.n_topics)]
    return lines + [_line(name, "all", value) for name, value in found.average.items()]


def _line(name: str, query: str, value: Value) -> str:
    shown = f"{value:6.4f}" if isinstance(value, float) else str(value)
    return f"{name:<22}\t{query}\t{shown}"


def as_record(found: Evaluated, run: TrecRun, per_query: bool) -> dict[str, Any]:
    """The same as JSON, with full precision and what stands beside the headline."""
    record: dict[str, Any] = {
        "run": run.tag,
        "n_queries": found.n_topics,
        "metrics": found.average,
        "n_missing_queries": len(found.missing),
        "n_unjudged_queries": len(found.unjudged),
        "n_queries_without_relevant": len(found.without_relevant),
        "judged_at_10": found.judged_at_10,
        "tie_spread_ndcg_at_10": found.tie_spread,
    }
    if per_query:
        record["queries"] = found.per_topic
    return record


def remarks(found: Evaluated, complete: bool, ties: str = "trec") -> list[str]:
    """What the figures alone do not say."""
    said: list[str] = []
    if found.missing:
        how = "count as empty rankings" if complete else "are left out (-c counts them as empty rankings)"
        said.append(f"{len(found.missing)} judged queries are not in the run and {how}")
    if found.unjudged:
        said.append(f"{len(found.unjudged)} queries of the run have no judgements and are left out")
    if found.without_relevant:
        said.append(
            f"{len(found.without_relevant)} queries have no relevant document; trec_eval counts them as 0"
        )
    if found.judged_at_10 is not None and found.judged_at_10 < WARN_JUDGED:
        said.append(
            f"only {found.judged_at_10:.0%} of the first 10 documents are judged: the figures are lower bounds (-J leaves the others out)"
        )
    if ties == "trec" and found.tie_spread is not None and found.tie_spread > WARN_TIES:
        said.append(
            f"equal scores decide part of the order: ndcg@10 could lie {found.tie_spread:.4f} apart "
            "(--ties expected averages over their orders)"
        )
    return said
