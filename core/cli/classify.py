"""`plumbline prepare-cpv`, `ingest-notices` and `classifier-check`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from core.errors import ConfigError, Problem
from core.inputs.catalog import load_catalog
from core.inputs.classification_queries import load_cpv_queries, queries_json
from core.inputs.notices import EXPORT_COLUMNS, Notice, export_rows, read_notices, split_notices
from core.inputs.ted_search import DEFAULT_QUERY, TED_URL, Search, fetch_notices
from core.inputs.training_texts import catalog_entries, is_usable
from core.records import Case
from core.store.export import write_csv, write_json
from core.systems.classifier_api import ClassifierApi
from core.systems.classifier_check import TEXTS, check_service
from core.systems.http_retry import Retry

MAX_QUERIES = 100
CATALOG_COLUMNS = ("code", "label", "description", "parent_code", "examples")
_MARKS = {"ok": "ok    ", "advice": "advice", "wrong": "WRONG "}


@click.command("prepare-cpv", short_help="Make a code list and test queries from notices.")
@click.option("--source", type=click.Choice(["auto", "file", "api"]), default="auto", show_default=True)
@click.option("--corpus-export-path", type=click.Path(dir_okay=False), help="Corpus export CSV.")
@click.option("--query", default=DEFAULT_QUERY, show_default=True, help="Expert query of the TED search.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 250), help="Notices a page.")
@click.option("--start-page", default=1, show_default=True, type=click.IntRange(1))
@click.option("--pages", default=4, show_default=True, type=click.IntRange(1))
@click.option("--pause-seconds", default=0.35, show_default=True, type=click.FloatRange(0))
@click.option("--train-ratio", default=0.8, show_default=True, type=click.FloatRange(0, 1))
@click.option("--max-queries", default=MAX_QUERIES, show_default=True, type=click.IntRange(1))
@click.option("--url", default=TED_URL, show_default=True, help="Address of the search.")
@click.option("--catalog-out", default="data/ted_cpv_candidates_from_corpus.csv", show_default=True)
@click.option("--queries-out", default="data/cpv_ted_test_queries.json", show_default=True)
@click.option(
    "--train-out", default="data/ted_train_notices.csv", show_default=True, help="Training notices."
)
@click.option("--raw-out", default="data/ted_notice_sample.json", show_default=True)
def prepare_cpv(
    source: str,
    corpus_export_path: str | None,
    query: str,
    limit: int,
    start_page: int,
    pages: int,
    pause_seconds: float,
    train_ratio: float,
    max_queries: int,
    url: str,
    catalog_out: str,
    queries_out: str,
    train_out: str,
    raw_out: str,
) -> None:
    """Make a code list and test queries from notices.

    Also written: the training notices. Notices are split by publication number; nearly equal ones stay on one
    side. The texts of the test are in none of the
    other files.
    """
    if _from_file(source, corpus_export_path):
        notices, said = read_notices(corpus_export_path or "")
    else:
        search = Search(query=query, url=url, limit=limit, pause_s=pause_seconds)
        progress = Path(raw_out).with_suffix(".pages.jsonl")
        said = []
        notices = list(
            fetch_notices(
                search,
                max_notices=pages * limit,
                progress=progress,
                start_page=start_page,
                max_pages=pages,
                on_page=_tell,
            )
        )
    split = split_notices(notices, train_ratio=train_ratio)
    entries = catalog_entries(split.train)
    cases = queries_of(split.test, max_queries)
    write_csv(
        _place(catalog_out),
        CATALOG_COLUMNS,
        (
            [code, label, text, "", " || ".join(examples)]
            for code, (label, text, examples) in sorted(entries.items())
        ),
    )
    write_csv(_place(train_out), EXPORT_COLUMNS, export_rows(split.train))
    write_json(_place(queries_out), queries_json(cases))
    write_json(_place(raw_out), [asdict(notice) for notice in notices[:200]])
    for line in said:
        click.echo(f"note: {line}")
    unseen = sum(case.gold_codes[0] not in entries for case in cases)
    click.echo(
        f"{len(notices)} notices: {len(split.train)} for training, {len(split.test)} for testing "
        f"({split.n_kept_together} kept beside a near-duplicate)"
    )
    click.echo(f"{len(entries)} codes → {catalog_out}; {len(cases)} queries → {queries_out}")
    if unseen:
        click.echo(
            f"note: the codes of {unseen} queries have no training text; they are kept, because leaving them out "
            "would make any classifier look better. Use the official code list to make them answerable."
        )


def queries_of(notices: Sequence[Notice], at_most: int) -> list[Case]:
    """Test cases: the first usable text of each notice, each (text, code) once, in order of the numbers."""
    seen: set[tuple[str, str]] = set()
    cases = []
    for notice in sorted(notices, key=lambda each: each.number):
        text = next((each for each in notice.texts if is_usable(each)), notice.texts[0])
        if (text, notice.code) in seen:
            continue
        seen.add((text, notice.code))
        codes = (notice.code, *(code for code in notice.codes if code != notice.code))
        cases.append(Case(id=notice.number, query=text, gold_codes=codes, language=notice.language))
        if len(cases) == at_most:
            break
    return cases


@click.command("ingest-notices", short_help="Fetch tender notices into a local database.")
@click.option("--source", type=click.Choice(["auto", "file", "api"]), default="auto", show_default=True)
@click.option("--corpus-export-path", type=click.Path(dir_okay=False), help="Corpus export CSV.")
@click.option("--query", default=DEFAULT_QUERY, show_default=True, help="Expert query of the TED search.")
@click.option("--limit", default=250, show_default=True, type=click.IntRange(1, 250), help="Notices a page.")
@click.option("--max-notices", default=20_000, show_default=True, type=click.IntRange(1))
@click.option("--pause-seconds", default=0.35, show_default=True, type=click.FloatRange(0))
@click.option("--url", default=TED_URL, show_default=True, help="Address of the search.")
@click.option(
    "--out",
    "--db-path",
    "out",
    default=".plumbline/ted_notices.csv",
    show_default=True,
    help="Where the notices go; use it as cpv_notices.",
)
@click.option("--raw-out", default=None, help="The first 200 notices as JSON.")
def ingest_notices(
    source: str,
    corpus_export_path: str | None,
    query: str,
    limit: int,
    max_notices: int,
    pause_seconds: float,
    url: str,
    out: str,
    raw_out: str | None,
) -> None:
    """Fetch tender notices into an export CSV, page by page.

    Pages are kept as they arrive: after an interruption the same command continues behind the last one.
    """
    target = _place(out)
    if _from_file(source, corpus_export_path):
        notices, said = read_notices(corpus_export_path or "")
    else:
        search = Search(query=query, url=url, limit=limit, pause_s=pause_seconds)
        said = []
        notices = list(
            fetch_notices(
                search, max_notices=max_notices, progress=target.with_suffix(".pages.jsonl"), on_page=_tell
            )
        )
    unique = list({notice.number: notice for notice in notices}.values())[:max_notices]
    write_csv(target, EXPORT_COLUMNS, export_rows(unique))
    if raw_out:
        write_json(_place(raw_out), [asdict(notice) for notice in unique[:200]])
    for line in said:
        click.echo(f"note: {line}")
    click.echo(f"{len(unique)} notices, {len({n.code for n in unique})} codes → {target}")


@click.command("classifier-check", short_help="Tell the owner of a classifier API what is wrong with it.")
@click.argument("url")
@click.option("--cpv-catalog", type=click.Path(dir_okay=False), help="Code list, to tell unknown codes.")
@click.option("--cpv-queries", type=click.Path(dir_okay=False), help="Texts to ask (the first four).")
@click.option("--top-k", default=5, show_default=True, type=click.IntRange(1))
@click.option("--api-timeout-seconds", default=30.0, show_default=True, type=click.FloatRange(0.01))
@click.option("--api-auth-token-env", default="API_CLASSIFIER_TOKEN", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def classifier_check(
    url: str,
    cpv_catalog: str | None,
    cpv_queries: str | None,
    top_k: int,
    api_timeout_seconds: float,
    api_auth_token_env: str,
    as_json: bool,
) -> None:
    """Tell the owner of a classifier API what is wrong with it.

    Exit code 0 when nothing is wrong, 1 otherwise; advice does not count.
    """
    loaded = load_catalog(cpv_catalog) if cpv_catalog else None
    texts: Sequence[str] = TEXTS
    if cpv_queries:
        form = loaded.form if loaded else None
        texts = [case.query for case in load_cpv_queries(cpv_queries, form).cases[:4]]
    api = ClassifierApi(
        url,
        top_k=top_k,
        catalog=loaded.catalog if loaded else None,
        token=os.environ.get(api_auth_token_env),
        timeout_s=api_timeout_seconds,
        retry=Retry(attempts=1),
        concurrency=1,
    )
    try:
        found = check_service(api, texts)
    finally:
        api.close()
    if as_json:
        click.echo(json.dumps([asdict(each) for each in found], ensure_ascii=False, indent=2))
    else:
        for each in found:
            click.echo(f"{_MARKS[each.outcome]} {each.name}: {each.detail}")
            if each.hint and each.outcome != "ok":
                click.echo(f"       → {each.hint}")
    wrong = sum(each.outcome == "wrong" for each in found)
    if not as_json:
        click.echo("nothing is wrong" if not wrong else f"{wrong} thing(s) are wrong")
    if wrong:
        raise click.exceptions.Exit(1)


def _from_file(source: str, path: str | None) -> bool:
    if source == "file" and not path:
        raise ConfigError(
            "no file is named", [Problem("--corpus-export-path", "is needed for --source file")]
        )
    return source == "file" or (source == "auto" and path is not None)


def _place(path: str) -> Path:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def _tell(page: int, notices: int) -> None:
    click.echo(f"page {page}: {notices} notices", err=True)
