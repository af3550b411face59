"""Live work on a page: what is done, what is left, how long; stop and resume. Polls alone, in its own fragment."""

from __future__ import annotations

import uuid
from typing import Any

import streamlit as st

from dashboard import jobs, widgets, wording
from dashboard.queries import jobs as job_queries
from dashboard.queries import runs, source


def live_jobs() -> None:
    """The jobs under way, and the last one of this session. Polls once a second while something runs and not
    at all otherwise."""
    _panel = st.fragment(_jobs, run_every="1s" if job_queries.live() else None)
    _panel()


def _jobs() -> None:
    under_way = job_queries.live()
    shown = {job["id"]: job for job in under_way}
    mine = st.session_state.get("my_job")
    if mine and mine not in shown and (job := job_queries.job(mine)):
        shown[mine] = job
    for job in shown.values():
        _card(job)
    before = st.session_state.get("jobs_under_way", [])
    now = [job["id"] for job in under_way]
    st.session_state["jobs_under_way"] = now
    if set(before) - set(now):
        st.rerun()  # something ended: lists, counts and the run picker are drawn anew, and polling stops


def _card(job: dict[str, Any]) -> None:
    name = job["settings"].get("run_name") or {"demo": "Demo", "sweep": "Sweep"}.get(job["kind"], "Run")
    with st.container(border=True, key=f"job_{job['id']}"):
        status = job["status"]
        if status in job_queries.LIVE:
            st.progress(job["share"] or 0.0, text=_progress_text(job, name))
            if not source.review_mode() and status != "cancelling":
                st.button(
                    "Stop",
                    key=f"stop_{job['id']}",
                    icon=":material/stop_circle:",
                    on_click=widgets.guarded(jobs.cancel),
                    args=(job["id"],),
                    help="Stops after the question it is at. What was answered stays stored.",
                )
        elif status == "done":
            st.success(f"{widgets.escaped(name)} is complete.", icon=":material/check_circle:")
            _open_run(job)
        else:
            _ended(job, name)


def _progress_text(job: dict[str, Any], name: str) -> str:
    name = widgets.escaped(name)
    if job["status"] == "queued":
        return f"{name}: waiting to start"
    if job["status"] == "cancelling":
        return f"{name}: stopping after the question it is at"
    if job["kind"] == "sweep" and job["total"]:
        return _sweep_text(job, name)
    if not job["total"]:
        doing = widgets.escaped(job["message"]) or "preparing documents and index"
        return f"{name}: {doing}"
    text = f"{name}: {wording.count(job['done'])} of {wording.count(job['total'])} answered"
    if job["left"] is not None:
        text += f", about {wording.duration(max(job['left'], 1) * 1000)} left"
    return text


def _sweep_text(job: dict[str, Any], name: str) -> str:
    if not job["done"]:
        return f"{name}: reading documents and making indexes for {wording.plural(job['total'], 'configuration')}"
    if job["done"] >= job["total"]:
        return f"{name}: comparing the configurations"
    left = f", about {wording.duration(max(job['left'], 1) * 1000)} left" if job["left"] is not None else ""
    return f"{name}: {widgets.escaped(job['message'])} complete{left}"


def _ended(job: dict[str, Any], name: str) -> None:
    problems = [line.removeprefix("  - ") for line in job["error"].splitlines() if line.startswith("  - ")]
    if problems:
        problems_found(problems)
        return
    words = {"failed": "failed", "cancelled": "was stopped", "lost": "has not been heard of"}
    unit = "configuration" if job["kind"] == "sweep" else "answer"
    stored = f"{wording.plural(job['done'], unit)} stored" if job["done"] else f"no {unit} was complete yet"
    resumable = bool(job.get("run_id")) and job["kind"] in jobs.RESUMABLE
    what = "Resume goes on where it stopped." if resumable else "Start it again when the cause is mended."
    (st.info if job["status"] == "cancelled" else st.error)(
        f"Nothing is lost: {stored}. {what}",
        title=f"{widgets.escaped(name)} {words.get(job['status'], job['status'])}",
    )
    said = job["error"] or (jobs.log_tail(job["id"]) if job["status"] in ("failed", "lost") else "")
    if said:
        widgets.quote(said, height=220)
    with st.container(horizontal=True):
        if not source.review_mode() and (resumable or job["kind"] == "demo"):
            st.button(
                "Resume" if resumable else "Start again",
                key=f"resume_{job['id']}",
                icon=":material/play_circle:",
                on_click=widgets.guarded(_resume),
                args=(job,),
            )
        _open_run(job)


def problems_found(problems: list[str]) -> None:
    """What core found wrong with the settings, by key."""
    st.warning(
        "Nothing has run. Mend these and start again:\n"
        + "\n".join(f"- {_by_key(line)}" for line in problems),
        title=f"{wording.plural(len(problems), 'setting')} cannot be used",
    )


def _by_key(problem: str) -> str:
    name, colon, rest = problem.partition(":")
    if name.replace("_", "").replace(".", "").isalnum():
        return f"`{name}`{colon}{widgets.escaped(rest)}"
    return widgets.escaped(problem)


def _resume(job: dict[str, Any]) -> None:
    # one token for one ended job: pressing twice goes on once
    st.session_state["my_job"] = jobs.resume(job, token=f"resume-{job['id']}")


def _open_run(job: dict[str, Any]) -> None:
    if job["kind"] == "sweep":
        if job.get("run_id"):
            widgets.link_to("sweep", "Open the sweep", sweep=job["run_id"])
    elif job.get("run_id") and (found := runs.resolve(job["run_id"])):
        widgets.link_to("run", f"Open {found['name']}", found)


def new_token() -> str:
    """A token for one request; a page keeps it until that request is over."""
    return uuid.uuid4().hex
