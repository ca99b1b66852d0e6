"""The error tree: what it says, and what it never says."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

from supm import _errors
from supm._errors import ParameterError, SupmError


def test_every_error_is_exported_and_descends_from_one_base() -> None:
    classes = {
        name: kind
        for name, kind in inspect.getmembers(_errors, inspect.isclass)
        if kind.__module__ == _errors.__name__
    }
    assert sorted(classes) == _errors.__all__
    assert all(issubclass(kind, SupmError) for kind in classes.values())


def test_the_drawn_tree_shows_every_error() -> None:
    drawn = str(_errors.__doc__)
    assert all(name in drawn for name in _errors.__all__)


def test_a_parameter_error_says_what_the_constraint_what_was_got_and_what_to_do() -> None:
    error = ParameterError("size", "at least 2", 1, "One class has nothing to hide.")
    assert str(error) == "size must be at least 2, got 1. One class has nothing to hide."
    assert isinstance(error, ValueError)


def test_a_parameter_error_without_a_hint_ends_with_its_sentence() -> None:
    assert str(ParameterError("size", "at least 2", 1)) == "size must be at least 2, got 1."


def test_a_long_value_is_cut() -> None:
    message = str(ParameterError("name", "short", "x" * 1000))
    assert message.endswith("….")
    assert len(message) < 100


def test_a_table_given_by_mistake_is_not_shown() -> None:
    message = str(ParameterError("epsilon", "a number", np.array([3.14159, 2.71828])))
    assert message == "epsilon must be a number, got a ndarray."


def test_a_scalar_of_numpy_is_shown() -> None:
    assert "0.5" in str(ParameterError("epsilon", "a number", np.float64(0.5)))


def test_a_whole_number_that_python_refuses_to_print_is_named() -> None:
    message = str(ParameterError("size", "at least 2", 10**5000))
    assert message == "size must be at least 2, got a int too large to show."


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_parameter_error_travels_between_processes(protocol: int) -> None:
    error = ParameterError("size", "at least 2", 1, "Use more classes.")
    # The bytes are our own, made in the line above.
    copy = pickle.loads(pickle.dumps(error, protocol))  # noqa: S301  see the comment above
    assert type(copy) is ParameterError
    assert str(copy) == str(error)
