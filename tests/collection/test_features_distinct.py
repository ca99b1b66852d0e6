"""Distinct rows are those of NumPy, in the same order, whether or not a row fits in one number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from supm.collection.features import distinct_rows

NUMBERS = st.one_of(st.integers(-2, 2), st.integers(-(2**63), 2**63 - 1))


@given(arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=NUMBERS))
def test_they_are_those_of_numpy(rows: Any) -> None:
    distinct, place = distinct_rows(rows)
    expected, where = np.unique(rows, axis=0, return_inverse=True)
    assert distinct.tolist() == expected.tolist()
    assert place.tolist() == where.ravel().tolist()
    assert (distinct[place] == rows).all()


@pytest.mark.parametrize("width", [31, 61, 62, 63])
def test_the_largest_tables_that_fit_in_a_number_and_those_that_do_not(width: int) -> None:
    rows = np.vstack([np.zeros(width), np.ones(width), np.eye(width)]).astype(np.int64)
    distinct, place = distinct_rows(rows)
    assert distinct.tolist() == np.unique(rows, axis=0).tolist()
    assert (distinct[place] == rows).all()
