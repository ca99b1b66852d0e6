"""Whatever epsilon is asked for, what is made keeps it, and a budget of it pays for a report."""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import isabstract, signature

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from supm import mechanisms
from supm.mechanisms import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    IndependentReports,
    JointReport,
    LocalHashing,
    OrderedDiscretePerturbation,
    SubsetSelection,
    UnaryEncoding,
)
from supm.mechanisms.randomizers.duchi import Duchi
from supm.mechanisms.randomizers.hybrid import Hybrid
from supm.mechanisms.randomizers.laplace import Laplace
from supm.mechanisms.randomizers.piecewise import Piecewise
from supm.mechanisms.randomizers.randomizer import LocalRandomizer
from supm.mechanisms.randomizers.square_wave import SquareWave
from supm.privacy import Budget, PureLDP
from supm.schema import Continuous, Ordinal

NUMBER = Continuous("number", low=-1, high=1)
ORDERED = Ordinal("ordered", values=tuple(range(7)))
LEAST, GREATEST = 1e-6, 1e4


def records(sizes: tuple[int, ...]) -> Callable[[float], LocalRandomizer]:
    return lambda epsilon: IndependentReports.for_epsilon(sizes=sizes, epsilon=epsilon)


MAKERS: dict[str, Callable[[float], LocalRandomizer]] = {
    "binary response": lambda e: GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=e),
    "response": lambda e: GeneralizedRandomizedResponse.for_epsilon(size=5, epsilon=e),
    "wide response": lambda e: GeneralizedRandomizedResponse.for_epsilon(size=10**6, epsilon=e),
    "subset selection": lambda e: SubsetSelection.for_epsilon(size=7, epsilon=e),
    "unary": lambda e: UnaryEncoding.for_epsilon(size=5, epsilon=e),
    "symmetric unary": lambda e: UnaryEncoding.symmetric(size=5, epsilon=e),
    "optimised unary": lambda e: UnaryEncoding.optimised(size=5, epsilon=e),
    "local hashing": lambda e: LocalHashing.for_epsilon(size=1000, epsilon=e),
    "Hadamard response": lambda e: HadamardResponse.for_epsilon(size=6, epsilon=e),
    "two attributes": records((2, 3)),
    "three attributes": records((2, 3, 4)),
    "seven attributes": records((2, 3, 4, 5, 2, 2, 9)),
    "joint report": lambda e: JointReport.for_epsilon(sizes=(2, 3, 4), epsilon=e),
    "ODP of numbers": lambda e: OrderedDiscretePerturbation.for_epsilon(
        attribute=NUMBER, classes=5, epsilon=e
    ),
    "ODP of ranks": lambda e: OrderedDiscretePerturbation.for_epsilon(
        attribute=ORDERED, classes=3, epsilon=e
    ),
    "Laplace": lambda e: Laplace.for_epsilon(low=-1, high=1, epsilon=e),
    "Laplace on a coarse grid": lambda e: Laplace.for_epsilon(low=-1, high=1, steps=7, epsilon=e),
    "Duchi": lambda e: Duchi.for_epsilon(low=-1, high=1, epsilon=e),
    "piecewise": lambda e: Piecewise.for_epsilon(low=-1, high=1, epsilon=e),
    "optimised piecewise": lambda e: Piecewise.optimised(low=-1, high=1, epsilon=e),
    "hybrid": lambda e: Hybrid.for_epsilon(low=-1, high=1, epsilon=e),
    "optimised hybrid": lambda e: Hybrid.optimised(low=-1, high=1, epsilon=e),
    "square wave": lambda e: SquareWave.for_epsilon(low=-1, high=1, epsilon=e),
}
# Uniform floats alone would nearly all be above 100.
EPSILONS = st.one_of(
    st.floats(LEAST, GREATEST),
    st.floats(math.log(LEAST), math.log(GREATEST)).map(
        lambda power: min(max(math.exp(power), LEAST), GREATEST)
    ),
    st.integers(1, 10_000).map(lambda hundredths: hundredths / 100),
)


@pytest.mark.parametrize("maker", MAKERS)
@given(epsilon=EPSILONS)
@example(epsilon=LEAST)
@example(epsilon=GREATEST)
@example(epsilon=0.1)
@example(epsilon=1.0)
@example(epsilon=math.log(3))
# Halves, thirds and sevenths of these are floats that add up to more.
@example(epsilon=0.13)
@example(epsilon=0.0021582999312788407)
@example(epsilon=14.025081545030227)
@settings(deadline=None, max_examples=60)
def test_what_is_made_for_an_epsilon_keeps_it_and_is_paid_for_by_it(
    maker: str, epsilon: float
) -> None:
    made = MAKERS[maker](epsilon)
    assert 0 < made.epsilon <= epsilon
    budget = Budget(PureLDP(epsilon))
    budget.spend(made.guarantee, purpose="one report")
    assert budget.spent == made.guarantee


SHIPPED = [
    each
    for each in (getattr(mechanisms, name) for name in getattr(mechanisms, "__all__", []))
    if isinstance(each, type) and issubclass(each, LocalRandomizer) and not isabstract(each)
]


@pytest.mark.parametrize("randomizer", SHIPPED, ids=lambda each: each.__name__)
def test_every_randomizer_is_made_for_an_epsilon(randomizer: type[LocalRandomizer]) -> None:
    maker = vars(randomizer)["for_epsilon"]
    assert "epsilon" in signature(maker.__func__).parameters
    assert any(type(make(1.0)) is randomizer for make in MAKERS.values())


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("size", [2, 3, 50])
def test_a_unary_encoding_is_the_better_of_the_two(size: int, epsilon: float) -> None:
    made = UnaryEncoding.for_epsilon(size=size, epsilon=epsilon)
    both = (UnaryEncoding.optimised, UnaryEncoding.symmetric)
    variances = [make(size=size, epsilon=epsilon).variance(1 / size) for make in both]
    assert made.variance(1 / size) == min(variances)
