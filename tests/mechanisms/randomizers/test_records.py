"""Records are numbered without loss, and a class out of range is refused without being shown."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from supm._errors import ParameterError, RecordError
from supm._random import simulation
from supm.mechanisms.randomizers.frequency import SIZE
from supm.mechanisms.randomizers.records import (
    all_records,
    check_classes,
    check_sizes,
    number_records,
    record_numbers,
)

SIZES = st.lists(st.integers(2, 1 << 12), min_size=1, max_size=12).filter(
    lambda sizes: math.prod(sizes) <= 1 << 40
)


def records_of(sizes: tuple[int, ...], count: int) -> NDArray[np.int64]:
    """Draw public records, the first and the last of all among them."""
    source = simulation(3)
    columns = [source.below(size, count).astype(np.int64) for size in sizes]
    ends = np.array([[0] * len(sizes), [size - 1 for size in sizes]])
    return np.concatenate([np.stack(columns, axis=1), ends])


@given(SIZES)
def test_numbering_agrees_with_numpy_and_goes_back(sizes: list[int]) -> None:
    shape = tuple(sizes)
    records = records_of(shape, 50)
    numbers = number_records(records, shape)
    np.testing.assert_array_equal(numbers, np.ravel_multi_index(tuple(records.T), shape))
    np.testing.assert_array_equal(record_numbers(numbers, shape), records)
    assert int(numbers[-1]) == math.prod(sizes) - 1


@pytest.mark.parametrize("sizes", [(2,) * 40, (2**20, 2**20), (2**39, 2), (3,) * 25, (2**40,)])
def test_the_largest_alphabets_are_numbered_exactly(sizes: tuple[int, ...]) -> None:
    records = records_of(sizes, 1000)
    exact = [sum(int(c) * math.prod(sizes[k + 1 :]) for k, c in enumerate(row)) for row in records]
    assert number_records(records, sizes).tolist() == exact


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 2**14 - 1, 2**14, 2**14 + 1, 2**15 + 65])
@pytest.mark.parametrize("place", [0, -1])
def test_one_bad_class_is_found_wherever_it_is(rows: int, place: int) -> None:
    sizes = (3, 5, 2)
    records = records_of(sizes, rows)[:rows]
    number_records(records, sizes)
    for column, bad in ((0, 3), (1, 5), (2, 2), (1, -1), (2, 2**62)):
        spoilt = records.copy()
        spoilt[place, column] = bad
        with pytest.raises(RecordError, match=f"attribute {column} must be a class"):
            number_records(spoilt, sizes)


@pytest.mark.parametrize("dtype", ["i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8"])
def test_a_negative_class_of_any_type_is_refused(dtype: str) -> None:
    # Read without its sign, -1 of a narrow type is below this size.
    sizes = (2, 2**33)
    for bad in (-1, np.iinfo(dtype).min):
        with pytest.raises(RecordError, match="attribute 1 must be a class"):
            check_classes(np.array([[0, 0], [1, bad]], dtype=dtype), sizes)
    check_classes(np.array([[0, 0], [1, np.iinfo(dtype).max & (2**33 - 1)]], dtype=dtype), sizes)


@pytest.mark.parametrize("dtype", ["u1", "<u2", ">u4", "<u8", ">u8"])
def test_the_largest_unsigned_class_is_read_with_its_true_value(dtype: str) -> None:
    top = int(np.iinfo(dtype).max)
    with pytest.raises(RecordError, match="attribute 0 must be a class"):
        check_classes(np.array([[top]], dtype=dtype), (min(top, 2**40),))


@pytest.mark.parametrize(
    "spell",
    [
        lambda records: records.tolist(),
        lambda records: records.astype(np.uint8),
        lambda records: records.astype(">i4"),
        np.asfortranarray,
        lambda records: np.repeat(records, 2, axis=0)[::2],
        lambda records: np.repeat(records, 2, axis=1)[:, ::2],
    ],
)
def test_records_may_be_spelled_in_many_ways(spell: Any) -> None:
    sizes = (3, 5, 2)
    records = records_of(sizes, 300)
    np.testing.assert_array_equal(
        number_records(spell(records), sizes), number_records(records, sizes)
    )


def test_all_records_are_listed_in_the_order_of_their_numbers() -> None:
    records = all_records((2, 3))
    assert records.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    assert number_records(records, (2, 3)).tolist() == list(range(6))


def test_too_many_records_are_not_listed() -> None:
    with pytest.raises(ParameterError, match=r"inputs to be listed .* \[1, 2\^22\]"):
        all_records((2,) * 23)


@pytest.mark.parametrize("bad", [*SIZE.violations(), 0, 1])
def test_an_impossible_size_of_an_attribute_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match=r"^size must be a whole number"):
        check_sizes([2, bad])


@pytest.mark.parametrize("bad", [5, None, 2.5])
def test_sizes_must_be_a_list(bad: Any) -> None:
    with pytest.raises(ParameterError, match="sizes must be a list"):
        check_sizes(bad)


def test_a_record_has_at_least_one_attribute() -> None:
    with pytest.raises(ParameterError, match="sizes must be at least one attribute"):
        check_sizes([])
