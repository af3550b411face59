from __future__ import annotations

import pytest

from core.llm.strict_json import parse, well_formed


@pytest.mark.parametrize(
    "text",
    ["NaN", "Infinity", "-Infinity", "1e999", '{"a": 1, "a": 2}', "{} {}", "", "{", "[" * 100_000, "'a'"],
)
def test_what_json_is_not(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the messages are Python's own
        parse(text)


def test_what_json_is() -> None:
    assert parse('{"a": [1, 2.5, null, true, "ü"], "b": {}}') == {"a": [1, 2.5, None, True, "ü"], "b": {}}


def test_a_lone_surrogate_becomes_storable() -> None:
    assert well_formed(parse('"a\\ud800b"')).encode() == "a�b".encode()
    assert well_formed("😀 ü") == "😀 ü"
