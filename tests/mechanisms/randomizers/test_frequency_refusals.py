"""What every frequency randomizer refuses: in one sentence, without a private value, undrawn.

Values come from owners, so they are secret; reports come from strangers, so they may be anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm._errors import ParameterError, RecordError
from supm._random import simulation
from supm._validation import EPSILON, Integers, Reals
from supm.mechanisms import (
    FrequencyRandomizer,
    GeneralizedRandomizedResponse,
    HadamardResponse,
    LocalHashing,
    Reports,
    SubsetSelection,
    Tally,
    UnaryEncoding,
)
from supm.mechanisms.randomizers.frequency import SIZE

Maker = Callable[..., FrequencyRandomizer]

# A value that may appear in no message: it is larger than every alphabet of these tests.
SECRET = 123457

MAKERS: dict[str, Maker] = {
    "response": GeneralizedRandomizedResponse.for_epsilon,
    "symmetric": UnaryEncoding.symmetric,
    "optimised": UnaryEncoding.optimised,
    "subset": SubsetSelection.for_epsilon,
    "hashing": LocalHashing.for_epsilon,
    "Hadamard": HadamardResponse.for_epsilon,
}
SIZES: dict[str, Integers] = {
    name: SIZE if name in ("response", "hashing", "Hadamard") else Integers("size", 2, 1 << 20)
    for name in MAKERS
}

every_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def text_of(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield f"{error!r} {error.args}"
        yield from text_of(error.__cause__)
        error = error.__context__


def assert_untouched(source: Any, seed: int) -> None:
    np.testing.assert_array_equal(source.words(8), simulation(seed).words(8))


BAD_VALUES: dict[str, Any] = {
    "a symbol beyond": [0, SECRET],
    "the size itself": [0, 7],
    "a negative symbol": [0, -SECRET],
    "minus one as int8": np.array([0, -1], dtype=np.int8),
    "a huge unsigned": np.array([2**63 + SECRET], dtype=np.uint64),
    "the largest unsigned": np.array([2**64 - 1], dtype=np.uint64),
    "a number of 70 bits": [2**70 + SECRET],
    "whole floats": np.array([0.0, float(SECRET)]),
    "a float": [0.5, float(SECRET)],
    "not a number": [0.0, math.nan],
    "booleans": [True, False],
    "strings": [str(SECRET)],
    "bytes": np.array([str(SECRET).encode()]),
    "missing": [None, SECRET],
    "objects": np.array([0, SECRET], dtype=object),
    "complex": [1j * SECRET],
    "dates": np.array(["2000-01-01"], dtype="datetime64[D]"),
    "ragged": [[0, SECRET], [1]],
    "two dimensions": [[0, 1], [1, SECRET]],
    "no dimension": np.array(SECRET),
    "a bare number": SECRET,
    "nothing": None,
    "empty": [],
    "empty whole numbers": np.array([], dtype=np.int64),
    "masked": np.ma.masked_array([0, 5], mask=[False, True]),
}


@every_maker
@pytest.mark.parametrize("values", BAD_VALUES.values(), ids=BAD_VALUES)
def test_a_bad_value_is_refused_unseen_and_before_any_draw(make: Maker, values: Any) -> None:
    mechanism, source = make(size=7, epsilon=1.0), simulation(9)
    with pytest.raises(RecordError) as caught:
        mechanism.randomize(values, source)
    assert not any(str(SECRET) in text for text in text_of(caught.value))
    assert caught.value.__context__ is None
    assert str(caught.value).startswith("values must ")
    assert str(caught.value).endswith(".")
    assert_untouched(source, 9)


BAD_ARRAYS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "floats": lambda rows: rows.astype(np.float64),
    "booleans": lambda rows: rows.astype(np.bool_),
    "objects": lambda rows: rows.astype(object),
    "strings": lambda rows: rows.astype(str),
    "no rows": lambda rows: rows[:0],
    "one column more": lambda rows: np.column_stack([rows.reshape(len(rows), -1), rows]),
    "three dimensions": lambda rows: rows.reshape(len(rows), -1, 1)[:, :, None],
    "negative": lambda rows: np.full_like(rows, -1, dtype=np.int64),
    "largest unsigned": lambda rows: np.full_like(rows, 2**64 - 1, dtype=np.uint64),
    "beyond": lambda rows: rows.astype(np.int64) + 2**50,
}


@every_maker
@pytest.mark.parametrize("spoil", BAD_ARRAYS.values(), ids=BAD_ARRAYS)
def test_reports_that_nobody_could_have_sent_are_refused(
    make: Maker, spoil: Callable[[NDArray[Any]], NDArray[Any]]
) -> None:
    mechanism = make(size=7, epsilon=1.0)
    rows = spoil(mechanism.randomize([0, 1, 6], simulation(1)).symbols)
    with pytest.raises(ParameterError, match="reports must be"):
        mechanism.tally(Reports(symbols=rows, simulation=True))


@every_maker
@pytest.mark.parametrize("shape", [(3,), (5,), (4, 1), ()])
def test_a_tally_of_another_shape_is_refused(make: Maker, shape: tuple[int, ...]) -> None:
    tally = Tally(counts=np.zeros(shape, dtype=np.int64), reports=1, simulation=True)
    with pytest.raises(ParameterError, match="tally must be of 4 counts"):
        make(size=4, epsilon=1.0).estimate(tally)


@every_maker
@pytest.mark.parametrize("reports", Integers("reports", 1, 1 << 62).violations())
def test_an_impossible_number_of_reports_is_refused(make: Maker, reports: Any) -> None:
    mechanism = make(size=4, epsilon=1.0)
    with pytest.raises(ParameterError, match="reports must be a whole number"):
        mechanism.estimate(Tally(counts=np.zeros(4), reports=reports, simulation=True))
    with pytest.raises(ParameterError, match="reports must be a whole number"):
        mechanism.variance(0.5, reports)


@every_maker
@pytest.mark.parametrize("share", Reals("frequency", 0.0, 1.0).violations())
def test_an_impossible_share_is_refused(make: Maker, share: Any) -> None:
    with pytest.raises(ParameterError, match="frequency must be a number"):
        make(size=4, epsilon=1.0).variance(share)


@pytest.mark.parametrize(
    ("name", "size"), [(name, bad) for name in MAKERS for bad in SIZES[name].violations()]
)
def test_an_impossible_size_is_refused(name: str, size: Any) -> None:
    with pytest.raises(ParameterError, match=r"^size must be a whole number"):
        MAKERS[name](size=size, epsilon=1.0)


@every_maker
@pytest.mark.parametrize("epsilon", EPSILON.violations())
def test_an_impossible_epsilon_is_refused(make: Maker, epsilon: Any) -> None:
    with pytest.raises(ParameterError, match=r"^epsilon must be a number"):
        make(size=4, epsilon=epsilon)


def test_an_alphabet_too_large_to_be_counted_is_refused() -> None:
    mechanism = GeneralizedRandomizedResponse.for_epsilon(size=2**26 + 1, epsilon=1.0)
    with pytest.raises(ParameterError, match=r"size must be at most 2\^26"):
        mechanism.tally(mechanism.randomize([0], simulation(1)))
