"""Masks cancel in every sum, and what is masked is uniform."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from supm._errors import ParameterError
from supm._random import simulation
from supm.federation.secure_sum.keys import (
    as_signed,
    mask_vector,
    new_secret,
    pair_masks,
    stream,
    unmask_total,
)

Keys = dict[int, dict[int, bytes]]


def pair_keys(parties: int, seed: int) -> Keys:
    keys: Keys = {n: {} for n in range(parties)}
    for one, two in combinations(range(parties), 2):
        keys[one][two] = keys[two][one] = new_secret(simulation(seed).child(f"{one} {two}"), 1)[0]
    return keys


@given(st.integers(1, 9), st.integers(0, 40), st.integers(0, 2**60))
def test_the_masks_of_all_pairs_sum_to_zero(parties: int, length: int, seed: int) -> None:
    keys = pair_keys(parties, seed)
    masks = [pair_masks(n, keys[n], length) for n in range(parties)]
    total = np.sum(masks, axis=0, dtype=np.uint64)
    assert total.tolist() == [0] * length
    if length and parties > 1:
        assert all(mask.any() for mask in masks)


@settings(max_examples=50)
@given(st.integers(1, 7), st.integers(0, 2**60), st.data())
def test_the_sum_is_opened_exactly_whoever_is_lost(
    parties: int, seed: int, data: st.DataObject
) -> None:
    keys, own = pair_keys(parties, seed), new_secret(simulation(seed), parties)
    words = st.integers(-(2**63), 2**63 - 1)
    vectors = [np.array(data.draw(st.lists(words, min_size=3, max_size=3))) for _ in keys]
    there = sorted(data.draw(st.sets(st.integers(0, parties - 1), min_size=1)))
    masked = [mask_vector(vectors[n], n, own[n], keys[n]) for n in there]
    lost = {n: {m: keys[n][m] for m in there} for n in keys if n not in there}
    total = unmask_total(np.sum(masked, axis=0, dtype=np.uint64), [own[n] for n in there], lost)
    plain = [sum(int(vectors[n][k]) for n in there) for k in range(3)]
    assert total.tolist() == [(x + 2**63) % 2**64 - 2**63 for x in plain]


def test_one_key_too_few_leaves_noise() -> None:
    keys, own = pair_keys(3, 1), new_secret(simulation(2), 3)
    vectors = [np.full(1000, n) for n in range(3)]
    masked = [mask_vector(vectors[n], n, own[n], keys[n]) for n in range(3)]
    total = np.asarray(np.sum(masked, axis=0, dtype=np.uint64))
    for known in ([own[0], own[1]], []):
        left = unmask_total(total, known, {})
        assert stats.kstest((left.view(np.uint64) / 2.0**64), "uniform").pvalue > 1e-6


def test_a_masked_vector_is_uniform_whatever_it_hides() -> None:
    masked = mask_vector(np.zeros(5000, dtype=np.int64), 1, bytes(32), {0: bytes(range(32))})
    assert stats.kstest(masked / 2.0**64, "uniform").pvalue > 1e-6
    assert np.unique(masked).size == 5000


def test_the_sign_of_a_mask_follows_the_order_of_numbers() -> None:
    key = bytes(range(32))
    assert pair_masks(3, {5: key}, 4).tolist() == stream(key, 4).tolist()
    assert pair_masks(5, {3: key}, 4).tolist() == (np.uint64(0) - stream(key, 4)).tolist()


def test_a_party_has_no_mask_with_itself() -> None:
    with pytest.raises(ParameterError, match="agreed with others"):
        pair_masks(1, {1: bytes(32)}, 3)


def test_sums_are_signed() -> None:
    assert as_signed(np.array([2**63, 2**63 - 1], dtype=np.uint64)).tolist() == [
        -(2**63),
        2**63 - 1,
    ]
