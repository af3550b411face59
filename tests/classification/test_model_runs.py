"""Whole classification runs with the models in them: a real cross-encoder, a language model behind a local server."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from core import pipeline
from core.embeddings import DEFAULT_MODEL, model_folder
from core.llm.loopback import Behaviour, Exchange, LoopbackServer, form_reply
from core.records import Output, Run
from core.settings import load_settings
from core.store.runs import Store
from tests.servers.messages_api import scripted

CODES = "code,label\n45000000,Construction work\n45214000,School buildings\n09310000,Electricity\n"
QUERIES = [
    {"id": "a", "query": "Electricity for school buildings", "gold_cpv_code": "09310000"},
    {"id": "b", "query": "Strom für alle Ämter", "gold_cpv_code": "09310000", "language": "de"},
]


def classified(folder: Path, **settings: Any) -> tuple[Run, dict[str, Output]]:
    (folder / "codes.csv").write_text(CODES, encoding="utf-8")
    (folder / "queries.json").write_text(json.dumps(QUERIES), encoding="utf-8")
    chosen = load_settings(
        {
            "classifier_type": "ted_cpv",
            "cpv_catalog": str(folder / "codes.csv"),
            "cpv_queries": str(folder / "queries.json"),
            "output_dir": str(folder / "outputs"),
            "cache_dir": str(folder / "cache"),
            "top_k": 3,
            **settings,
        }
    )
    store = Store(folder / "runs.db")
    run = pipeline.run(chosen, store=store)
    return run, {output.case_id: output for output in store.outputs(run.id)}


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A two-layer cross-encoder made of the bundled model's weights, with a head that nobody trained."""
    base = model_folder(DEFAULT_MODEL) if importlib.util.find_spec("sentence_transformers") else None
    if base is None:
        pytest.skip("the extra 'dense' and its bundled model are not installed")
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("cross-encoder")
    model = AutoModelForSequenceClassification.from_pretrained(base, num_labels=1, num_hidden_layers=2)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(base).save_pretrained(folder)
    return folder


def test_a_cross_encoder_orders_the_first_candidates(tmp_path: Path, cross_encoder: Path) -> None:
    from sentence_transformers import CrossEncoder

    run, outputs = classified(
        tmp_path,
        retriever="bm25",
        cross_encoder_rerank=True,
        cross_encoder_model=str(cross_encoder),
        cross_encoder_top_n=2,
    )
    hits = outputs["a"].hits
    assert run.verdicts.get("ERROR", 0) == 0
    assert {hit.id for hit in hits[:2]} == {"09310000", "45214000"}
    asked = outputs["a"].signals["retrieval_query"]
    read = CrossEncoder(str(cross_encoder), max_length=512).predict(
        [(asked, f"{hit.title}\n{hit.text}") for hit in hits[:2]]
    )
    told = [hit.parts["cross_encoder_score"] for hit in hits[:2]]
    assert told == pytest.approx([float(each) for each in read], abs=1e-5)
    scores = [round(hit.score or 0.0, 6) for hit in hits[:2]]
    assert scores in ([1.0, 0.0], [0.55, 0.45]), ".45 of the words' and .55 of the model's min-max"
    assert "cross_encoder" in outputs["a"].stages


def test_a_language_model_translates_and_orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(server: LoopbackServer, exchange: Exchange) -> Behaviour:
        if (exchange.tool or {})["name"] == "give_query":
            return form_reply(server, exchange, {"text": "School buildings and electricity"})
        return form_reply(server, exchange, {"codes": ["09310000", "45214000"]})

    with scripted(answer) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "of-a-test")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        run, outputs = classified(
            tmp_path, query_augmentation="translate_en", llm_rerank=True, llm_rerank_weight=1.0
        )
        asked = len(server.exchanges)
        again, _ = classified(
            tmp_path, query_augmentation="translate_en", llm_rerank=True, llm_rerank_weight=1.0
        )
        assert len(server.exchanges) == asked, "known replies are not asked for again"
    assert run.verdicts["PASS"] == again.verdicts["PASS"] == 2
    assert outputs["b"].signals["query_augmentation_status"] == "success"
    assert outputs["b"].signals["retrieval_query"] == "School buildings and electricity"
    assert outputs["b"].signals["llm_rerank_status"] == "success"
    usage = outputs["b"].usage
    assert usage is not None
    assert usage.calls + usage.cached_calls == 2
