"""Uploads and parsing reports as the data page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import uploads, widgets, wording
from dashboard.charts import palette

STATUS = {"read": "PASS", "partly_read": "WEAK", "empty": "WEAK", "failed": "FAIL"}


def summary() -> None:
    """How much input is there."""
    documents, questions = len(uploads.stored("documents")), len(uploads.stored("questions"))
    if not documents and not questions:
        st.markdown("Nothing was uploaded yet. Files stay on this machine, in the outputs folder.")
        return
    st.markdown(
        f"{wording.plural(documents, 'document')} and {wording.plural(questions, 'question file')} uploaded; "
        "they can be chosen on the page New run."
    )


def uploader(kind: str, title: str, formats: str) -> None:
    """Choose, check, keep; what is there already, with a way to take it away."""
    st.header(title)
    round_ = st.session_state.setdefault(f"{kind}_round", 0)
    given = st.file_uploader(
        f"Upload {kind} ({formats}, at most {uploads.MEGABYTES} MB each)", accept_multiple_files=True, key=f"up_{kind}_{round_}",
        type=[suffix.lstrip(".") for suffix in uploads.KINDS[kind]], max_upload_size=uploads.MEGABYTES,
    )  # fmt: skip
    for file in given or []:
        checked = uploads.keep(kind, file.name, file.getvalue())
        if checked.problem:
            st.error(widgets.escaped(f"{checked.name} {checked.problem}"), icon=":material/error:")
        else:
            st.success(
                widgets.escaped(f"{checked.name} kept{': ' + checked.note if checked.note else ''}"),
                icon=":material/check_circle:",
            )
    there = uploads.stored(kind)
    if not there:
        st.caption(f"No {kind} uploaded yet.")
    for path in there[:50]:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(path.name, width="stretch", wrap=False)
            st.caption(_size(path), width="content")
            st.button(
                "Remove",
                key=f"remove_{kind}_{path.name}",
                icon=":material/delete:",
                type="tertiary",
                on_click=widgets.guarded(_remove),
                args=(kind, path),
            )
    if len(there) > 50:
        st.caption(f"and {wording.count(len(there) - 50)} more")


def parsing(reports: pd.DataFrame, run_name: str) -> None:
    """How every document of the run was read."""
    bad = reports[reports["status"] != "read"]
    total = len(reports)
    st.markdown(
        widgets.escaped(run_name)
        + ": "
        + (
            f"all {wording.plural(total, 'document')} were read completely."
            if bad.empty
            else f"{wording.count(total - len(bad))} of {wording.plural(total, 'document')} were read completely; {wording.count(len(bad))} need a look."
        )
    )
    order = {"failed": 0, "empty": 1, "partly_read": 2, "read": 3}
    ordered = reports.sort_values("status", key=lambda column: column.map(order), kind="stable")
    shown = pd.DataFrame(
        {
            "status": [[_status(status)] for status in ordered["status"]],
            "document": ordered["doc_path"],
            "pages": ordered["n_pages"],
            "empty pages": ordered["n_empty_pages"],
            "characters": ordered["n_characters"],
            "sections": ordered["n_sections"],
            "tables": ordered["n_tables"],
            "remark": [_remark(row) for row in ordered.to_dict("records")],
            "time": [wording.duration(seconds * 1000) for seconds in ordered["seconds"]],
        }
    )
    for column in ("empty pages", "tables", "remark"):
        if not shown[column].astype(bool).any():
            shown = shown.drop(columns=column)
    labels = [_status(status) for status in STATUS]
    st.dataframe(
        shown, hide_index=True, alt="How each document was read", height="content" if total <= 25 else 600,
        column_config={"status": st.column_config.MultiselectColumn("Status", options=labels,
                                                                    color=[palette.look(v).light for v in STATUS.values()]),
                       "document": st.column_config.TextColumn("Document", width="medium"),
                       "remark": st.column_config.TextColumn("Remark", width="large")},
    )  # fmt: skip


def _status(status: str) -> str:
    return f"{palette.look(STATUS.get(status)).mark} {status.replace('_', ' ')}"


def _remark(row: Mapping[Any, Any]) -> str:
    parts = [
        "encrypted" if row["encrypted"] else "",
        "pictures of pages only" if row["image_only"] else "",
        str(row["problems"] or ""),
    ]
    return "; ".join(part for part in parts if part)


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1024 / 1024:.1f} MB" if size >= 1024 * 1024 else f"{max(size // 1024, 1)} kB"


def _remove(kind: str, path: Path) -> None:
    uploads.remove(path)
    st.session_state[f"{kind}_round"] += 1  # an empty uploader: else the file would be kept again at once
