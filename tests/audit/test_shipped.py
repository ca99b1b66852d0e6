from __future__ import annotations

import pytest

from supm._errors import ParameterError
from supm.audit import entry, kinds


@pytest.mark.parametrize("name", kinds())
def test_every_kind_is_made_for_the_epsilon_that_is_asked_for(name: str) -> None:
    made = entry(name, epsilon=2.0)
    assert made.mechanism.epsilon <= 2.0
    assert made.mechanism.epsilon == pytest.approx(2.0)
    assert made.parameters.endswith("epsilon 2")


@pytest.mark.parametrize("name", [name for name, kind in kinds().items() if kind.size_means])
def test_every_kind_that_has_a_size_takes_one(name: str) -> None:
    assert entry(name, size=3).parameters.startswith(f"{kinds()[name].size_means} 3, ")


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        ParameterError, match=r"mechanism must be one of .*, got 'lplace'. Did you mean laplace"
    ):
        entry("lplace")


def test_a_size_is_refused_where_there_is_none() -> None:
    with pytest.raises(ParameterError, match="size must be left out for duchi"):
        entry("duchi", size=3)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf")])
def test_a_bad_epsilon_is_refused(epsilon: float) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        entry("laplace", epsilon=epsilon)
