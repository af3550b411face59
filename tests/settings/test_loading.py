"""Everything wrong in settings is listed at once, with key, line and the nearest known name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.cli.run import run
from core.contracts import RETRIEVERS
from core.errors import ConfigError
from core.registry import Registry
from core.settings import load_settings

WRONG = """\
docs: nowhere/
questions: missing.json
chunkin: by_section
retriever: bm52
top_k: -3
top_k: -4
overlap: 500
answer_mode: extractiv
hybrid_alpha: 2
rerank_weight: .nan
plugins: [there.is.none]
"""


def problems(source: Path | dict[str, object], **flags: object) -> dict[str, tuple[int | None, str]]:
    with pytest.raises(ConfigError) as caught:
        load_settings(source, **flags)
    return {each.where: (each.line, each.message) for each in caught.value.problems}


def test_everything_is_listed_at_once_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(WRONG, encoding="utf-8")
    found = problems(file)
    lines = {where: line for where, (line, _) in found.items()}
    assert lines == {
        "docs": 1, "questions": 2, "chunkin": 3, "retriever": 4, "top_k": 6, "overlap": 7, "answer_mode": 8,
        "hybrid_alpha": 9, "rerank_weight": 10, "plugins": 11,
    }  # fmt: skip
    assert "did you mean 'chunking'" in found["chunkin"][1]
    assert "did you mean 'bm25'" in found["retriever"][1]
    assert "did you mean 'extractive'" in found["answer_mode"][1]


@pytest.mark.parametrize("ending", ["yaml", "json", "toml"])
@pytest.mark.parametrize(("start", "line_end"), [("", "\n"), ("\ufeff", "\r\n")])
def test_every_format_names_the_line(tmp_path: Path, ending: str, start: str, line_end: str) -> None:
    lines = {
        "yaml": ["docs: .", "retreiver: bm25", "overlap: 500"],
        "json": ['{"docs": ".",', '"retreiver": "bm25",', '"overlap": 500}'],
        "toml": ['docs = "."', 'retreiver = "bm25"', "overlap = 500"],
    }[ending]
    file = tmp_path / f"größe und mehr.{ending}"
    file.write_bytes((start + line_end.join(lines)).encode())
    found = problems(file)
    assert {where: line for where, (line, _) in found.items()} == {
        "retreiver": 2,
        "overlap": 3,
        "questions": None,
    }


def test_a_window_that_does_not_fit_hides_nothing_else() -> None:
    here = {"docs": [__file__], "questions": __file__, "chunk_size": 5, "overlap": 5}
    assert problems({**here, "retriever": {"type": "bm25", "k1": -1, "k2": 3}}).keys() == {
        "overlap",
        "retriever",
    }
    assert problems({**here, "retriever": "bm52"}).keys() == {"overlap", "retriever"}
    assert problems({"docs": [__file__], "questions": __file__, "chunk_size": 50}).keys() == {"overlap"}
    assert load_settings({**here, "chunking": "by_section"}).overlap == 5, "where it does not matter"


def test_flags_win_and_have_no_line(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(
        json.dumps({"docs": [__file__], "questions": __file__, "retriever": "bm52"}), encoding="utf-8"
    )
    assert load_settings(file, retriever="tfidf").retriever == "tfidf"
    assert problems(file, retriever="bm53")["retriever"][0] is None


def test_shipped_components_are_known_without_importing_them() -> None:
    assert {"bm25", "tfidf", "dense", "hybrid"} <= set(RETRIEVERS.names())
    assert "decimal" not in Registry("kind", shipped=["decimal"]).names()


def test_settings_of_odd_types_are_refused() -> None:
    good = {"docs": [__file__], "questions": __file__}
    for key, value in {
        "top_k": "8.5", "chunk_size": True, "questions": 5, "docs": {"a": 1}, "hybrid_alpha": float("nan"),
        "seed": None, "concurrency": 0, "repeats": [], "retriever_options": 3,
    }.items():  # fmt: skip
        assert key in problems({**good, key: value}), key


def test_places_that_cannot_be_written_are_said_before_anything_runs(tmp_path: Path) -> None:
    file = tmp_path / "a file"
    file.write_text("x", encoding="utf-8")
    good = {"docs": [__file__], "questions": __file__}
    found = problems(
        {**good, "output_dir": str(file), "cache_dir": str(file / "cache"), "store_path": str(tmp_path)}
    )
    assert found.keys() == {"output_dir", "cache_dir", "store_path"}
    assert load_settings({**good, "output_dir": str(tmp_path / "new" / "folder")}).output_dir


def test_earlier_names_of_options_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(
        f"docs: {__file__}\nquestions: {__file__}\nsearch_index_dir: {tmp_path / 'old'}\n", encoding="utf-8"
    )
    assert load_settings(file).cache_dir == str(tmp_path / "old")
    told = CliRunner().invoke(
        run, ["--docs", __file__, "--questions", __file__, "--search-index-dir", str(file), "--top-k", "x"]
    )
    assert isinstance(told.exception, ConfigError)
    assert {problem.where for problem in told.exception.problems} == {"cache_dir", "top_k"}


def test_help_names_types_and_defaults() -> None:
    told = " ".join(CliRunner().invoke(run, ["--help"]).output.split())
    assert "--top-k INTEGER how many hits are kept [retrieval; default 8]" in told
    assert "--overlap INTEGER" in told
    assert "--parse-timeout NUMBER" in told
