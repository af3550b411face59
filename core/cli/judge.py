"""`plumbline judge`: check a judge, hold it against people, try to mislead it, fit the offline one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from core.config_files import read_mapping
from core.contracts import JUDGES, Judge
from core.errors import ConfigError, InputError, Problem
from core.judge import create_judge, missing_key
from core.judge.agreement import Agreement, Rate, agreement
from core.judge.checks import live_checks, plumbing_checks
from core.judge.corrected_rates import CorrectedRate, corrected_rate, rogan_gladen
from core.judge.fitting import fit_threshold
from core.judge.labelled_files import Row, read_rows
from core.judge.probes import probes, run_probes
from core.llm.usage import Budget
from core.metrics.support import support
from core.records import Check
from core.statistics.intervals import Interval


@click.group()
def judge() -> None:
    """Check a judge: malformed replies, agreement with people, probes."""


def judge_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The judge of a configuration file (its `judge:` block), with flags on top."""
    for option in reversed(
        (
            click.argument("config", required=False, type=click.Path(dir_okay=False)),
            click.option("--provider", help=f"One of {', '.join(JUDGES.names())}."),
            click.option("--model", help="Model id, as the provider spells it."),
            click.option("--base-url", help="Address of the interface."),
            click.option("--api-key-env", help="Environment variable that holds the key."),
            click.option("--max-cost", type=float, help="Stop before this many dollars are spent."),
            click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        )
    ):
        command = option(command)
    return command


def _spec(config: str | None, **flags: str | None) -> dict[str, Any]:
    block = read_mapping(config).data.get("judge") or {} if config else {}
    if not isinstance(block, dict):
        raise ConfigError(
            f"{config}: the judge cannot be built", [Problem("judge", "must hold keys and values")]
        )
    return {**block, **{key: value for key, value in flags.items() if value is not None}}


@judge.command()
@judge_options
@click.option("--offline", is_flag=True, help="Only the part that asks no model.")
def check(
    config: str | None, max_cost: float | None, as_json: bool, offline: bool, **flags: str | None
) -> None:
    """Send malformed replies through the judge's client, then ask the judge itself.

    Exits 0 when everything holds, 1 when something does not, 2 when the judge cannot be built.
    """
    spec = _spec(config, **flags)
    checks = plumbing_checks(spec)
    key = missing_key(spec)
    if not offline and key is None:
        opened = create_judge(
            {**spec, "cache": "off"}, cache_dir=None, budget=Budget(max_cost) if max_cost else None
        )
        checks += live_checks(opened)
        _close(opened)
    counts = Counter(each.outcome for each in checks)
    if as_json:
        click.echo(
            json.dumps(
                {"counts": counts, "checks": [each.model_dump() for each in checks]},
                indent=2,
                ensure_ascii=False,
            )
        )
    else:
        _print_checks(checks)
        if not offline and key is not None:
            click.echo(f"The judge itself was not asked: the environment variable {key} is not set.")
    if counts["failed"] or counts["error"]:
        raise click.exceptions.Exit(1)


@judge.command()
@judge_options
@click.option(
    "--cache-dir", type=click.Path(file_okay=False), help="Where replies are recorded; nowhere by default."
)
def probe(
    config: str | None, max_cost: float | None, as_json: bool, cache_dir: str | None, **flags: str | None
) -> None:
    """Change material in ways that must, or must not, change the judge's mind. Exits 1 when a probe fails."""
    opened = create_judge(
        _spec(config, **flags),
        cache_dir=Path(cache_dir) if cache_dir else None,
        budget=Budget(max_cost) if max_cost else None,
    )
    results = run_probes(opened)
    spent = getattr(opened, "usage", None)
    _close(opened)
    if as_json:
        click.echo(json.dumps([asdict(each) for each in results], indent=2, ensure_ascii=False))
    else:
        for name in probes():
            rows = [each for each in results if each.probe == name]
            held, judged = (
                sum(each.held is True for each in rows),
                sum(each.held is not None for each in rows),
            )
            wrong = ", ".join(
                f"{each.item} ({each.before} → {each.after})" for each in rows if each.held is False
            )
            gaps = f"; {len(rows) - judged} not judged" if judged < len(rows) else ""
            click.echo(f"{held}/{judged}  {name}{gaps}{'; failed: ' + wrong if wrong else ''}")
        if spent is not None:
            cost = "unknown" if spent.cost_usd is None else f"${spent.cost_usd:.4f}"
            click.echo(f"{spent.calls} calls, cost {cost}")
    if any(each.held is False for each in results):
        raise click.exceptions.Exit(1)


@judge.command("agreement")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option(
    "--human",
    default="human",
    show_default=True,
    help="Column with people's labels; empty where nobody labelled.",
)
@click.option(
    "--judge", "judge_column", default="judge", show_default=True, help="Column with the judge's labels."
)
@click.option(
    "--pass",
    "passing",
    multiple=True,
    default=("pass", "supported", "correct", "1", "true"),
    help="Labels that count as a pass (may be repeated).",
)
@click.option("--anchor", is_flag=True, help="The labelled rows come from another set than the rest.")
@click.option("--seed", default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def agreement_command(
    file: str, human: str, judge_column: str, passing: tuple[str, ...], anchor: bool, seed: int, as_json: bool
) -> None:
    """Hold a judge against people: FILE is a CSV or JSONL with both labels of each item.

    Rows without a human label count as judged only; from them and the labelled ones the pass rate is corrected for
    the judge's errors.
    """
    rows = [row for row in read_rows(file, [human, judge_column]) if row.get(judge_column)]
    labelled = [row for row in rows if row.get(human)]
    report = agreement(
        [row[human] for row in labelled], [row[judge_column] for row in labelled], passing=passing, seed=seed
    )
    corrected = _corrected(rows, human, judge_column, passing, report, anchor)
    if as_json:
        click.echo(
            json.dumps({**asdict(report), "pass_rate": asdict(corrected)}, indent=2, ensure_ascii=False)
        )
        return
    _print_agreement(report)
    interval = (
        f" [{corrected.low:.3f}, {corrected.high:.3f}]"
        if corrected.low is not None and corrected.high is not None
        else ""
    )
    value = "undefined" if corrected.value is None else f"{corrected.value:.3f}"
    click.echo(
        f"pass rate      {value}{interval}  {corrected.method}{'; ' + corrected.note if corrected.note else ''}"
    )
    click.echo(
        "judge          " + ("validated" if report.trusted else "unvalidated: " + "; ".join(report.reasons))
    )


@judge.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--claim", default="claim", show_default=True, help="Column with the claim.")
@click.option(
    "--source", default="source", show_default=True, help="Column with the text that should support it."
)
@click.option("--human", default="human", show_default=True, help="Column with people's labels.")
@click.option(
    "--pass",
    "passing",
    multiple=True,
    default=("supported", "1", "true", "yes"),
    help="Labels that mean supported (may be repeated).",
)
@click.option(
    "--output", type=click.Path(dir_okay=False), required=True, help="File for the fit (JSON): judge.fitted."
)
@click.option("--seed", default=0, show_default=True)
def fit(
    file: str, claim: str, source: str, human: str, passing: tuple[str, ...], output: str, seed: int
) -> None:
    """Fit the offline judge's threshold on at least 30 claims that people labelled."""
    rows = [row for row in read_rows(file, [claim, source, human]) if row.get(human)]
    scores = [support(row[claim], row[source]).score for row in rows]
    fitted = fit_threshold(
        [score if score is not None else 0.0 for score in scores],
        [row[human] in passing for row in rows],
        [len(row[claim]) for row in rows],
        seed=seed,
    )
    try:
        Path(output).write_text(fitted.model_dump_json(indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{output}: cannot be written ({error})") from error
    click.echo(
        f"threshold {fitted.threshold:.3f} on {fitted.n} claims; balanced accuracy {fitted.balanced_accuracy:.3f} "
        f"[{fitted.low:.3f}, {fitted.high:.3f}] on claims held back, AUROC {fitted.auroc:.3f}, length alone {fitted.length_only:.3f}"
    )
    click.echo("It may decide verdicts." if fitted.usable else f"It decides no verdict: {fitted.note}.")


def _corrected(
    rows: list[Row], human: str, judged: str, passing: tuple[str, ...], report: Agreement, anchor: bool
) -> CorrectedRate:
    labelled = [row for row in rows if row.get(human)]
    rest = [float(row[judged] in passing) for row in rows if not row.get(human)]
    if not anchor:
        return corrected_rate(
            [float(row[human] in passing) for row in labelled],
            [float(row[judged] in passing) for row in labelled],
            rest,
        )
    if not rest:
        raise InputError("--anchor needs rows without a human label: the set whose pass rate is wanted")
    return rogan_gladen(
        sum(rest) / len(rest),
        len(rest),
        sensitivity=report.sensitivity.value or 0.0,
        n_pass=report.sensitivity.n,
        specificity=report.specificity.value or 0.0,
        n_fail=report.specificity.n,
    )


def _print_checks(checks: list[Check]) -> None:
    malformed = [each for each in checks if each.name.startswith("malformed reply")]
    held = sum(each.outcome == "held" for each in malformed)
    click.echo(f"{held}/{len(malformed)} malformed replies gave no score")
    for each in checks:
        if each in malformed and each.outcome == "held":
            continue
        click.echo(f"{each.outcome:<10}{each.name}{': ' + each.detail if each.detail else ''}")


def _print_agreement(report: Agreement) -> None:
    click.echo(f"items          {report.n}")
    click.echo(f"raw agreement  {_rate(report.raw)}")
    click.echo(f"kappa          {_number(report.kappa, report.kappa_interval)}")
    click.echo(f"AC1            {_number(report.ac1, report.ac1_interval)}")
    click.echo(f"sensitivity    {_rate(report.sensitivity)}")
    click.echo(f"specificity    {_rate(report.specificity)}")
    width = max(map(len, report.labels))
    click.echo("\npeople \\ judge  " + "  ".join(f"{name:>{max(width, 5)}}" for name in report.labels))
    for name, counts in zip(report.labels, report.table, strict=True):
        cells = "  ".join(f"{count:>{max(width, 5)}}" for count in counts)
        click.echo(f"{name:<14}  {cells}   judge agrees: {_rate(report.per_label[name])}")
    click.echo("")


def _rate(rate: Rate) -> str:
    return "undefined" if rate.value is None else f"{_number(rate.value, rate.interval)}  n={rate.n}"


def _number(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "undefined"
    return (
        f"{value:.3f} [{interval.low:.3f}, {interval.high:.3f}]" if interval else f"{value:.3f} (no interval)"
    )


def _close(opened: Judge) -> None:
    close = getattr(opened, "close", None)
    if close is not None:
        close()
