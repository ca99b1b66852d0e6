from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import simulation
from supm.audit import LowerBound, epsilon_lower_bound
from supm.audit.empirical import views_of
from supm.mechanisms import GeneralizedRandomizedResponse, Reports, SubsetSelection


def bound_of(
    mechanism: GeneralizedRandomizedResponse | SubsetSelection, seed: int, **options: Any
) -> LowerBound:
    source = simulation(seed)

    def samples(value: int, count: int) -> NDArray[Any]:
        return mechanism.randomize(np.full(count, value), source).symbols

    return epsilon_lower_bound(samples, 0, mechanism.size - 1, **options)


def test_the_bound_for_binary_randomized_response_is_tight() -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=1.0)
    assert 0.97 < bound_of(coin, 1).epsilon <= 1.0


@pytest.mark.parametrize("size", [2, 5])
def test_the_bound_never_exceeds_the_true_epsilon(size: int) -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=size, epsilon=1.0)
    bounds = [bound_of(coin, seed, trials=20_000).epsilon for seed in range(200)]
    assert min(bounds) > 0.7
    assert max(bounds) <= 1.0


def test_the_bound_holds_as_often_as_its_confidence_says() -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=0.5)
    bounds = [bound_of(coin, seed, trials=4_000, confidence=0.8).epsilon for seed in range(200)]
    assert sum(bound > 0.5 for bound in bounds) <= 40


def test_the_event_counts_and_names_the_values() -> None:
    coin = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=1.0)
    shown = {bound_of(coin, seed, trials=10_000).event for seed in range(10)}
    assert shown == {
        "1 of 2 values (0), likelier for left",
        "1 of 2 values (1), likelier for right",
    }


@pytest.mark.parametrize("kind", [list, np.array, lambda words: np.array(words, dtype=object)])
def test_words_are_samples_too(kind: Any) -> None:
    source = simulation(1)

    def answer(truth: int, count: int) -> Any:
        told = np.where(source.below(4, count) == 0, 1 - truth, truth)
        return kind(["yes" if each else "no" for each in told.tolist()])

    found = epsilon_lower_bound(answer, 0, 1, trials=20_000)
    assert 0.8 < found.epsilon < math.log(3)
    assert found.event in {
        "1 of 2 values ('no'), likelier for left",
        "1 of 2 values ('yes'), likelier for right",
    }


def test_rows_are_told_apart_as_wholes() -> None:
    pairs = SubsetSelection.with_width(size=6, width=2, epsilon=2.0)
    found = bound_of(pairs, 1, trials=200_000)
    assert 1.9 < found.epsilon <= 2.0
    assert re.fullmatch(r"\d of 15 rows \(\[0, \d\].*\), likelier for left", found.event)


def test_a_bit_that_is_not_randomised_gives_a_large_bound() -> None:
    source = simulation(1)

    def half_noisy(bit: int, count: int) -> NDArray[Any]:
        return np.stack((source.below(2, count), np.full(count, bit)), axis=1)

    found = epsilon_lower_bound(half_noisy, 0, 1, trials=100_000)
    assert found.epsilon > 7.0
    assert found.trials == 100_000


def test_a_float_that_gives_the_value_away_now_and_then_is_caught() -> None:
    """One time in a thousand the noise is missing; no histogram shows it, the atom does."""
    source = simulation(1)

    def forgetful(value: float, count: int) -> NDArray[np.float64]:
        uniform = source.words(count) * 2.0**-64
        noise = np.log(uniform / (1 - uniform)) * 100
        return np.where(source.below(1000, count) == 0, value, value + noise)

    assert epsilon_lower_bound(forgetful, 0.0, 1e-9, trials=400_000).epsilon > 2.0


def test_honest_continuous_noise_is_not_accused() -> None:
    source = simulation(1)

    def logistic(value: float, count: int) -> NDArray[np.float64]:
        uniform = (source.below(1 << 20, count) + 0.5) * 2.0**-20
        return np.round((np.log(uniform / (1 - uniform)) + value) * 64) / 64

    assert 0.8 < epsilon_lower_bound(logistic, 0.0, 1.0, trials=400_000).epsilon <= 1.0


def test_two_inputs_that_look_alike_prove_nothing() -> None:
    source = simulation(1)
    found = epsilon_lower_bound(lambda _, count: source.below(10, count), 0, 1, trials=50_000)
    assert found == LowerBound(epsilon=0.0, confidence=1 - 1e-6, trials=50_000, event="nothing")


def test_infinities_and_nan_are_outcomes_like_others() -> None:
    def telltale(value: float, count: int) -> NDArray[np.float64]:
        return np.full(count, math.nan if value else math.inf)

    assert epsilon_lower_bound(telltale, 0, 1, trials=2_000).epsilon > 3.0


@pytest.mark.parametrize(
    "samples",
    [
        lambda _, count: np.zeros(count - 1),
        lambda _, count: np.full(count, None),
        lambda value, count: ["a"] * count if value else [1] * count,
        lambda _, __: 0.5,
        lambda _, count: Reports(symbols=np.zeros(count, dtype=np.int64), simulation=True),
        lambda _, count: [[0]] * (count - 1) + [[0, 1]],
        lambda value, count: np.zeros((count, 1 + value)),
    ],
)
def test_samples_that_cannot_be_read_are_refused(samples: Any) -> None:
    with pytest.raises(ParameterError, match="samples must be"):
        epsilon_lower_bound(samples, 0, 1, trials=2_000)


def test_the_largest_confidence_is_printed_as_it_is() -> None:
    with pytest.raises(ParameterError, match=r"in \[0.5, 0.999999999999\], got 1.0"):
        epsilon_lower_bound(lambda _, count: np.zeros(count), 0, 1, confidence=1.0)


@pytest.mark.parametrize("options", [{"trials": 10}, {"confidence": 1.0}, {"trials": 1e6}])
def test_bad_options_are_refused(options: Any) -> None:
    with pytest.raises(ParameterError):
        epsilon_lower_bound(lambda _, count: np.zeros(count), 0, 1, **options)


WORDS = simulation(1).words(6000)
SAMPLES = {
    "few whole numbers": (WORDS % 7).astype(np.int64) - 3,
    "many whole numbers": (WORDS >> np.uint64(8)).astype(np.int64),
    "truth values": WORDS % 2 == 0,
    "floats": WORDS * 2.0**-64,
    "short floats": (WORDS * 2.0**-64).astype(np.float32),
    "floats with gaps": np.where(WORDS % 5 == 0, np.nan, np.where(WORDS % 7 == 0, np.inf, 1.0)),
    "rows": np.stack((WORDS % 3, WORDS % 5), axis=1),
    "rows of floats": np.stack((WORDS * 2.0**-64, WORDS % 5), axis=1),
}


@pytest.mark.parametrize("samples", SAMPLES.values(), ids=SAMPLES)
def test_every_view_gives_codes_in_its_range_also_for_samples_it_has_not_seen(
    samples: NDArray[np.generic],
) -> None:
    left, right, later = np.split(samples, 3)
    views = list(views_of(left, right))
    assert views
    for view in views:
        for part in (left, right, later):
            codes = view.encode(part)
            assert codes.shape == (2000,)
            assert codes.min() >= 0
            assert codes.max() < view.codes


def test_negative_and_positive_numbers_are_not_confused() -> None:
    (view,) = views_of(np.array([-1, -1, 1, 1]), np.array([-1, 1, 1, 1]))
    minus, plus = view.encode(np.array([-1, 1]))
    assert minus != plus


def test_rows_that_differ_in_one_column_get_different_codes() -> None:
    rows = np.array([[1, 2], [2, 1], [1, 1]]).repeat(2, axis=0)
    whole = next(iter(views_of(rows, rows)))
    assert len(set(whole.encode(rows).tolist())) == 3
