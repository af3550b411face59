"""Which store the dashboard shows, and how it is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import streamlit as st

from core.errors import EmptyStoreError
from core.store.runs import Store

DEFAULT_STORE = "outputs/plumbline.db"


def store_path() -> Path:
    """The store: PLUMBLINE_STORE, or outputs/plumbline.db below the working directory."""
    return Path(os.environ.get("PLUMBLINE_STORE") or DEFAULT_STORE)


def output_dir() -> Path:
    """The folder runs are written to: the one that holds the store."""
    return store_path().parent


def review_mode() -> bool:
    """Whether the dashboard only shows: nothing can be started, uploaded or changed (PLUMBLINE_REVIEW=1)."""
    return os.environ.get("PLUMBLINE_REVIEW", "").strip().lower() not in {"", "0", "false", "no"}


@contextmanager
def opened() -> Iterator[Store | None]:
    """The store for one call, or None where none was made yet."""
    path = store_path()
    if not path.is_file() or path.stat().st_size == 0:
        yield None
        return
    try:
        store = Store(path, readonly=True)
    except EmptyStoreError:
        yield None
        return
    with store:
        yield store


def rows(sql: str, params: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """Rows of a SELECT; none where there is no store."""
    with opened() as store:
        return store.query(sql, params) if store is not None else []


def first(sql: str, params: Sequence[Any] = ()) -> dict[str, Any] | None:
    found = rows(sql, params)
    return found[0] if found else None


def cached(function: Callable[..., Any]) -> Callable[..., Any]:
    """Cache by plain arguments, with bounds. The first two arguments are `Version` fields; see `runs.version`."""
    return st.cache_data(max_entries=256, max_size="32MB", show_spinner=False)(function)


def artifact(run_folder: str | None, name: str) -> Path | None:
    """A file of a run's folder, or None where it is missing or lies outside the outputs folder."""
    if not run_folder:
        return None
    inside = output_dir().resolve()
    path = (Path(run_folder) / name).resolve()
    return path if path.is_relative_to(inside) and path.is_file() else None
