"""What the entries of a log tell together, where it may be right and may be wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from supm import PublicationError
from supm.publication.monitoring import check_log
from supm.publication.story import Story

if TYPE_CHECKING:
    from tests.publication.conftest import Maker

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
    story = Story()
    for time in ("2026-11-18T14:00:00Z", "2026-11-18T14:00:00Z", "2026-11-18T14:00:01Z"):
        story.take(replace(maker.round(0, HASH, OTHER), time=time).text)
    back = replace(maker.round(0, HASH, OTHER), time="2026-11-18T14:00:00Z")
    with pytest.raises(PublicationError, match="entry 3 is dated 2026-11-18T14:00:00Z, before"):
        story.take(back.text)


def test_of_many_runs_some_are_named(maker: Maker) -> None:
    story = Story()
    for number in range(5):
        story.take(replace(maker.round(0, HASH, OTHER), run=str(number) * 64).text)
    [told] = story.warnings(None)
    assert "in run 00000000…, 11111111…, 22222222… and 2 more: it" in told
