"""The source of randomness: exact, uniform, reproducible when asked, and never copied."""

from __future__ import annotations

import copy
import hashlib
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from supm._errors import ParameterError
from supm._random import RandomSource, secure, simulation

BUFFER = 1 << 13
# A sound generator fails one such test in 10^11 runs.
ALARM = 1e-11
# Just above 2^64 / 3: a third of all words must be drawn again.
WASTEFUL = (1 << 64) // 3 + 1

SOURCES: list[Callable[[], RandomSource]] = [
    secure,
    lambda: simulation(1),
    lambda: simulation(2).child("worker"),
]
both = pytest.mark.parametrize("make", SOURCES, ids=["secure", "simulation", "child"])


def keystream(seed: int, blocks: int) -> NDArray[np.uint64]:
    """AES-256 of the counters 0, 1, 2, …: counter mode, spelled out with another mode."""
    key = hashlib.sha256(b"supm simulation %d" % seed).digest()
    # A single block in ECB is the bare cipher, which is what counter mode is made of.
    encrypt = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305  see above
    counters = b"".join(i.to_bytes(16, "big") for i in range(blocks))
    return np.frombuffer(encrypt.update(counters), dtype="<u8")


def p_value(observed: NDArray[Any], size: int) -> float:
    return float(stats.chisquare(np.bincount(observed, minlength=size)).pvalue)


def test_the_words_are_the_keystream_of_aes_in_counter_mode() -> None:
    np.testing.assert_array_equal(simulation(7).words(2000), keystream(7, 1000))


def test_a_draw_larger_than_the_buffer_is_the_same_keystream() -> None:
    np.testing.assert_array_equal(simulation(7).words(200_001)[-1:], keystream(7, 100_001)[-2:-1])


def test_the_stream_of_a_seed_never_changes() -> None:
    expected = [3992820781489908044, 8575175233033452561, 13097119444228082509]
    assert simulation(7).words(3).tolist() == expected


@given(st.lists(st.integers(0, 9000), max_size=8))
def test_small_draws_use_the_stream_in_order_and_no_word_twice(counts: list[int]) -> None:
    source, again = simulation(3), simulation(3)
    drawn = [source.words(count) for count in counts]
    assert [d.size for d in drawn] == counts
    for first, second in zip(drawn, (again.words(count) for count in counts), strict=True):
        np.testing.assert_array_equal(first, second)
    words = np.concatenate([*drawn, source.words(1)])
    assert np.unique(words).size == words.size


def test_draws_that_fill_the_buffer_exactly_equal_one_long_stream() -> None:
    source = simulation(4)
    pieces = [source.words(BUFFER // 4) for _ in range(8)]
    np.testing.assert_array_equal(np.concatenate(pieces), simulation(4).words(2 * BUFFER))


def test_a_draw_that_does_not_fit_starts_a_new_buffer() -> None:
    source, stream = simulation(5), simulation(5).words(2 * BUFFER)
    source.words(BUFFER - 3)
    np.testing.assert_array_equal(source.words(4), stream[BUFFER : BUFFER + 4])


def test_a_word_that_was_handed_out_is_not_kept() -> None:
    source = simulation(6)
    handed_out = source.words(100)
    assert not np.isin(handed_out, source._buffer).any()
    handed_out[:] = 0
    assert source.words(100).all()


@pytest.mark.parametrize("count", [0, 1, BUFFER, BUFFER + 1])
def test_a_draw_has_the_size_that_was_asked_for(count: int) -> None:
    assert simulation(1).words(count).shape == (count,)
    assert simulation(1).below(5, count).shape == (count,)
    assert simulation(1).words(count).dtype == np.uint64


@both
@pytest.mark.parametrize("byte", range(8))
def test_every_byte_of_a_word_is_uniform(make: Callable[[], RandomSource], byte: int) -> None:
    words = make().words(100_000)
    assert p_value(((words >> np.uint64(8 * byte)) & np.uint64(255)).astype(int), 256) > ALARM


@both
def test_neighbouring_words_are_independent(make: Callable[[], RandomSource]) -> None:
    top = (make().words(200_000) >> np.uint64(60)).astype(int)
    assert p_value(16 * top[:-1:2] + top[1::2], 256) > ALARM


@both
@pytest.mark.parametrize("bound", [2, 3, 5, 6, 7, 10, 1000])
def test_below_is_uniform_on_a_small_range(make: Callable[[], RandomSource], bound: int) -> None:
    assert p_value(make().below(bound, 200_000).astype(int), bound) > ALARM


@both
@pytest.mark.parametrize("bound", [(1 << 63) - 25, 1 << 63, WASTEFUL, (1 << 62) + 1])
def test_below_is_uniform_on_a_large_range(make: Callable[[], RandomSource], bound: int) -> None:
    drawn = make().below(bound, 100_000)
    assert int(drawn.max()) < bound
    share = drawn.astype(np.float64) / bound
    assert stats.kstest(share, "uniform").pvalue > ALARM
    # The lowest bits are where a biased division would show.
    assert p_value((drawn % np.uint64(3)).astype(int), 3) > ALARM


@pytest.mark.parametrize("bound", [3, 5, 1 << 20, (1 << 63) - 25, 1 << 63, WASTEFUL])
def test_below_cuts_the_words_into_equal_runs(bound: int) -> None:
    run = (1 << 64) // bound
    expected = [word // run for word in simulation(8).words(3 * BUFFER).tolist()]
    drawn = simulation(8).below(bound, 3 * BUFFER).tolist()
    assert all(d == e for d, e in zip(drawn, expected, strict=True) if e < bound)
    assert all(d < bound for d in drawn)


def test_below_draws_again_what_falls_outside() -> None:
    words = simulation(9).words(30_000)
    outside = int((words // np.uint64((1 << 64) // WASTEFUL) >= np.uint64(WASTEFUL)).sum())
    assert outside > 9000
    assert int(simulation(9).below(WASTEFUL, 30_000).max()) < WASTEFUL


def test_below_one_is_zero_and_draws_nothing() -> None:
    source = simulation(10)
    assert not source.below(1, 100).any()
    np.testing.assert_array_equal(source.words(5), simulation(10).words(5))


@pytest.mark.parametrize("bound", [0, -1, (1 << 63) + 1, 1 << 64, 2.0, "3", None, True])
def test_a_bound_outside_its_range_is_refused(bound: Any) -> None:
    with pytest.raises(ParameterError, match=r"^bound must be a whole number"):
        simulation(1).below(bound, 3)


@pytest.mark.parametrize("count", [-1, 2.0, "3", None, True, 1 << 60])
def test_a_count_that_is_none_is_refused(count: Any) -> None:
    for draw in (simulation(1).words, lambda c: simulation(1).below(1, c)):
        with pytest.raises(ParameterError, match=r"^count must be a whole number"):
            draw(count)


@pytest.mark.parametrize("seed", [-1, 1.0, True, "7", None, b"7", 1 << 129, [7]])
def test_a_seed_that_is_no_whole_number_is_refused(seed: Any) -> None:
    with pytest.raises(ParameterError, match=r"^seed must be a whole number"):
        simulation(seed)


def test_seeds_of_any_integer_kind_name_the_same_stream() -> None:
    np.testing.assert_array_equal(simulation(7).words(9), simulation(np.uint8(7)).words(9))  # type: ignore[arg-type]  # at run time any whole number will do


def test_different_seeds_and_labels_give_streams_that_share_no_word() -> None:
    sources = [simulation(seed) for seed in (0, 1, 10, 11)]
    children = [simulation(1).child(label) for label in ("", "a", "b", "ab")]
    grandchild = simulation(1).child("a").child("b")
    words = np.concatenate([s.words(20_000) for s in [*sources, *children, grandchild]])
    assert np.unique(words).size == words.size


def test_a_child_depends_on_the_seed_and_the_label_and_not_on_what_was_drawn() -> None:
    fresh, used = simulation(1), simulation(1)
    used.words(12_345)
    np.testing.assert_array_equal(fresh.child("a").words(9), used.child("a").words(9))


def test_the_children_of_a_secure_source_are_secure_and_differ() -> None:
    parent = secure()
    first, second = parent.child("a"), parent.child("a")
    assert not first.simulation
    assert len({id(parent), id(first), id(second)}) == 3
    assert not np.isin(first.words(100), second.words(100)).any()


def test_the_child_of_a_simulation_is_a_simulation() -> None:
    assert simulation(1).child("a").simulation


def test_two_secure_sources_share_no_word() -> None:
    assert not np.isin(secure().words(10_000), secure().words(10_000)).any()


@both
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_source_cannot_be_copied(
    make: Callable[[], RandomSource], duplicate: Callable[[RandomSource], object]
) -> None:
    with pytest.raises(TypeError, match="use child"):
        duplicate(make())


@both
def test_the_repr_says_the_kind_and_hides_the_key(make: Callable[[], RandomSource]) -> None:
    source = make()
    kind = "simulation" if source.simulation else "secure"
    assert repr(source) == str(source) == f"RandomSource({kind})"
    assert not hasattr(source, "__dict__")
