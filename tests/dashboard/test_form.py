from __future__ import annotations

from typing import Any

from dashboard import wording
from dashboard.parts import form
from dashboard.queries import descriptions
from tests.dashboard.conftest import Open, fine, words


def settings() -> dict[str, Any]:
    return {each["name"]: each for each in descriptions.description()["settings"]}


def test_the_form_follows_the_tree_of_settings() -> None:
    known = settings()
    values = {name: each["default"] for name, each in known.items()}
    assert form.applies("chunk_size", known, values)
    assert not form.applies("chunk_size", known, {**values, "chunking": "by_section"})
    assert not form.applies("chunk_size", known, {**values, "classifier_type": "ted_cpv"}), (
        "a parent that does not apply"
    )
    assert not form.applies("rerank_weight", known, values)
    assert form.applies("rerank_weight", known, {**values, "rerank_top_n": 20}), '"!0" means anything but 0'


def test_code_and_places_are_not_named_from_a_browser() -> None:
    assert {"plugins", "store_path", "output_dir", "cache_dir"} <= form.HIDDEN


def test_only_what_applies_is_shown_and_only_changes_are_sent(app: Open) -> None:
    at = fine(app("empty", "new"))
    labels = [each.label for each in at.number_input]
    assert "Chunk size" in labels
    at.selectbox(key="set_chunking").select("by_section").run()
    assert "Chunk size" not in [each.label for each in at.number_input]
    assert "chunking \\= by\\_section" in words(at)


def test_every_component_can_be_chosen(app: Open) -> None:
    at = fine(app("empty", "new"))
    known = descriptions.description()["components"]
    assert at.selectbox(key="set_retriever").options == [
        wording.setting(each["name"]) for each in known["retriever"]
    ]
    assert at.selectbox(key="set_chunking").options == [
        wording.setting(each["name"]) for each in known["chunking"]
    ]
