"""Pages write the one text of a value as Python does: what is hashed rests on it."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, Final

import pytest

from supm._json import canonical

VECTORS: Final = json.loads(
    (Path(__file__).parents[2] / "canonical_vectors.json").read_text(encoding="utf-8")
)


@pytest.fixture
def written(blank_page: Any) -> Any:
    def write(text: str) -> Any:
        script = "async (text) => (await import('./same.js')).canonical(JSON.parse(text))"
        return blank_page.evaluate(script, text)

    return write


def test_a_page_writes_numbers_as_the_standard_prints_them(written: Any) -> None:
    bits = [bytes.fromhex(each["bits"]) for each in VECTORS["numbers"]]
    numbers = [struct.unpack(">d", each)[0] for each in bits]
    expected = ",".join(each["text"] for each in VECTORS["numbers"])
    assert written(json.dumps(numbers)) == f"[{expected}]" == canonical(numbers)


@pytest.mark.parametrize("vector", VECTORS["documents"], ids=lambda vector: str(vector["about"]))
def test_a_page_writes_a_document_as_it_is_printed(vector: dict[str, str], written: Any) -> None:
    assert written(vector["given"]) == vector["text"]
