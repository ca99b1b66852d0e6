"""What the entries of a log tell together, where it may be right and may be wrong."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.publication.conftest import Maker

from supm import PublicationError
from supm.publication.entry import LogEntry, read_entry
from supm.publication.history import rotating
from supm.publication.monitoring import check_log
from supm.publication.story import EntryReader, LogStory

HASH, OTHER = "5" * 64, "6" * 64


def test_a_run_without_a_release_is_warned_of(maker: Maker) -> None:
    log, key = maker.log(1), maker.key()
    given_up = replace(maker.round(0, HASH, OTHER), run="a" * 64)
    log.append([given_up, replace(given_up, round=1)], key)
    [told] = [line for line in check_log(log, key.verifier) if line.startswith("WARNING")]
    assert "no release followed, in run aaaaaaaa…: it is not over, was given up, or" in told
    # The run is repeated without a party, and released: the first one stays conspicuous.
    log.append([maker.round(0, HASH, ""), maker.joint_release((HASH, ""))], key)
    assert told in list(check_log(log, key.verifier))


def test_a_run_that_was_released_is_not_warned_of(maker: Maker) -> None:
    log, key = maker.log(1), maker.key()
    log.append([maker.round(0, HASH, OTHER), maker.joint_release((HASH, OTHER))], key)
    assert not [line for line in check_log(log, key.verifier) if line.startswith("WARNING")]


def test_times_do_not_go_backwards(maker: Maker) -> None:
    story = LogStory()
    for time in ("2026-11-18T14:00:00Z", "2026-11-18T14:00:00Z", "2026-11-18T14:00:01Z"):
        story.take(replace(maker.round(0, HASH, OTHER), time=time).text)
    back = replace(maker.round(0, HASH, OTHER), time="2026-11-18T14:00:00Z")
    with pytest.raises(PublicationError, match="entry 3 is dated 2026-11-18T14:00:00Z, before"):
        story.take(back.text)


def test_of_many_runs_some_are_named(maker: Maker) -> None:
    story = LogStory()
    for number in range(5):
        story.take(replace(maker.round(0, HASH, OTHER), run=str(number) * 64).text)
    [told] = story.warnings(None)
    assert "in run 00000000…, 11111111…, 22222222… and 2 more: it" in told


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


def outcome(read: object, text: str) -> LogEntry | str:
    try:
        return read(text)  # type: ignore[operator,no-any-return]  # either reader
    except PublicationError as error:
        return str(error)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    with ExitStack() as opened:
        return texts(Maker(tmp_path_factory.mktemp("entries"), opened))


@settings(max_examples=1000, deadline=None)
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
        ('"epsilon":2,', '"epsilon":0.2,'),
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
