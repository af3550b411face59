"""A classifier behind an HTTP endpoint (`api_classifier`): POST `{id, query, top_k}`, a list of codes back."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any

from core.corpus import Catalog
from core.errors import ConfigError, Problem
from core.inputs.codes import CodeForm
from core.llm.connections import client_for_many
from core.records import Case, Output
from core.systems.classifier_replies import REMARKS, read_reply
from core.systems.http_retry import Retry, send
from core.systems.http_service import read_json

CONCURRENCY = 8


class ClassifierApi:
    """One client, one connection pool for the whole run.

    A failure of a request is a failure of its case; transport faults and 429/5xx are tried again. `remarks` counts
    what the replies did not do as they should, over the run. Header values are never stored nor logged.
    ConfigError for an address that is none.
    """

    def __init__(
        self,
        url: str,
        *,
        top_k: int,
        catalog: Catalog | None = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 30.0,
        retry: Retry | None = None,
        concurrency: int = CONCURRENCY,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            wrong = Problem(
                "api_classifier_url", f"'{url}' is no address", hint="it begins with http:// or https://"
            )
            raise ConfigError("the classifier service cannot be reached", [wrong])
        self.url, self.top_k, self.concurrency = url, top_k, concurrency
        self.retry, self.timeout_s = retry or Retry(), timeout_s
        self.known = catalog.by_code if catalog is not None else None
        self.width = catalog.width if catalog is not None else 8
        self.remarks: Counter[str] = Counter()
        self._lock = threading.Lock()
        bearer = {"authorization": f"Bearer {token}"} if token else {}
        self._client = client_for_many(
            timeout=timeout_s,
            headers={"accept": "application/json", **bearer, **(headers or {})},
        )

    def ask(self, case: Case) -> Output:
        """Raises SystemFailure: transport, rate_limit, http_status, timeout, malformed."""
        payload = {"id": case.id, "query": case.query, "top_k": self.top_k}
        reply = send(
            lambda seconds: self._client.post(self.url, json=payload, timeout=seconds),
            self.retry,
            self.timeout_s,
        )
        body = read_json(reply.response)
        form = CodeForm(self.width, known=self.known)
        reading = read_reply(body, case_id=case.id, top_k=self.top_k, normalise=form.read, known=self.known)
        with self._lock:
            self.remarks += reading.remarks
        signals: dict[str, Any] = {"retrieval_query": case.query, "response_remarks": dict(reading.remarks)}
        if reading.repeated:
            signals["repeated_codes"] = list(reading.repeated)
        if "wrong_id" in reading.remarks:
            signals["echoed_id"] = str(body["id"])[:200]
        return Output(
            case_id=case.id,
            hits=reading.hits,
            confidence=reading.confidence,
            explanation=reading.explanation,
            latency_ms=reply.latency_ms,
            signals=signals,
            retries=reply.retries,
        )

    def close(self) -> None:
        self._client.close()


def remark_lines(remarks: Mapping[str, int]) -> list[str]:
    """What the replies did not do as they should, in words, most frequent first."""
    return [
        f"{count}×: {REMARKS.get(name, name)}"
        for name, count in sorted(remarks.items(), key=lambda each: (-each[1], each[0]))
    ]
