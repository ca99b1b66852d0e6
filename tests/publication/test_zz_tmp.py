"""A reader of many entries accepts and refuses exactly what `read_entry` does."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.publication.conftest import Maker

from supm._errors import PublicationError
from supm.publication.entry import Entry, read_entry
from supm.publication.entry_reader import EntryReader
from supm.publication.history import rotating

SIGNS = '"\\{}[],:0123456789aeEzZ.-+ \\n\\té\\ud800\\u202e'
PIECES = [
    "",
    '"study":""',
    '"study":"' + "0a" * 32 + '"',
    ',"run":"","size":',
    ',"statement":',
    ',"study":"',
]


def texts(maker: Maker) -> list[str]:
    other = replace(maker.statement(), study="0c" * 32)
    found = [
        *(maker.release(number) for number in range(3)),
        maker.release(3, epsilon=3.0),
        replace(maker.release(4), statement=other),
        replace(maker.joint_release(), run=""),
        maker.joint_release(("ab" * 32, "")),
        maker.round(0, "ab" * 32),
        rotating(maker.time, maker.key(2).verifier, maker.key()),
        maker.contract(),
    ]
    return [each.text for each in found]


def outcome(read: object, text: str) -> Entry | str:
    try:
        return read(text)  # type: ignore[operator,no-any-return]  # either reader
    except PublicationError as error:
        return str(error)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    with ExitStack() as opened:
        return texts(Maker(tmp_path_factory.mktemp("entries"), opened))


@settings(max_examples=6000, deadline=None)
@given(data=st.data())
def test_what_it_remembers_changes_no_answer(known: list[str], data: st.DataObject) -> None:
    reader = EntryReader()
    for text in known:
        assert reader.read(text) == read_entry(text)
    text = data.draw(st.sampled_from(known))
    at = data.draw(st.integers(0, len(text)))
    skipped = data.draw(st.sampled_from([0, 1, 2, 12]))
    piece = data.draw(st.sampled_from(PIECES) | st.sampled_from(SIGNS))
    rest = data.draw(st.sampled_from([text, *known]))
    text = text[:at] + piece + rest[at + skipped :]
    assert outcome(reader.read, text) == outcome(read_entry, text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"study":"' + "0a" * 32 + '","time"', '"study":"' + "0c" * 32 + '","time"'),
        ('"study":"' + "0a" * 32 + '","testing"', '"study":"","testing"'),
        ('"simulation":false', '"simulation":true'),
        ('"epsilon":2.0', '"epsilon":0.2'),
        ('"size":11', '"size":011'),
        ('"size":11', '"size":1e1'),
        ('"size":11', '"size":9999999999999999999'),
        ("model-0", "model/0"),
        ("model-0", ""),
        ("T14", "T25"),
    ],
)
def test_an_altered_entry_is_not_taken_for_the_other(maker: Maker, old: str, new: str) -> None:
    reader, text = EntryReader(), maker.release(0).text
    reader.read(text)
    assert old in text
    altered = text.replace(old, new, 1)
    assert outcome(reader.read, altered) == outcome(read_entry, altered)
