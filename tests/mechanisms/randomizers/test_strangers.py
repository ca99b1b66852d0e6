"""What a careless caller may hand over: each is refused in one sentence, and nothing is drawn."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from supm import ParameterError, RandomSource, RecordError, secure, simulation
from supm.mechanisms import (
    Duchi,
    Estimate,
    GeneralizedRandomizedResponse,
    Hybrid,
    IndependentReports,
    JointReport,
    Laplace,
    OrderedDiscretePerturbation,
    Piecewise,
    Reports,
    SquareWave,
    Tally,
)
from supm.privacy import Budget, PureLDP

COIN = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=1.0)
NUMBERS: list[Any] = [
    kind.for_epsilon(low=0.0, high=1.0, epsilon=1.0)
    for kind in (Laplace, Duchi, Piecewise, Hybrid, SquareWave)
]
BOTH = IndependentReports.for_epsilon(sizes=(2, 3), epsilon=1.0)
RANDOMIZERS: list[Any] = [COIN, *NUMBERS]


@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda each: type(each).__name__)
def test_what_lies_under_a_mask_is_never_reported(randomizer: Any) -> None:
    source = simulation(1)
    with pytest.raises(RecordError):
        randomizer.randomize(np.ma.array([0, 1, 0], mask=[False, True, False]), source)
    assert source.words(1) == simulation(1).words(1)


@pytest.mark.parametrize("randomizer", [*RANDOMIZERS, BOTH], ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("source", [None, 1, "secure", object(), np.ones(3)])
def test_a_source_must_be_ours(randomizer: Any, source: object) -> None:
    with pytest.raises(ParameterError, match=r"source must be supm.secure\(\)"):
        randomizer.randomize([[0, 0]] if randomizer is BOTH else [0], source)


@pytest.mark.parametrize("randomizer", [*RANDOMIZERS, BOTH], ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("given", [None, "x", [0, 1], np.array([0, 1])])
def test_reports_and_tallies_must_be_reports_and_tallies(randomizer: Any, given: object) -> None:
    with pytest.raises(ParameterError, match="reports must be"):
        randomizer.tally(given)
    if randomizer is not BOTH:
        with pytest.raises(ParameterError, match="tally must be"):
            randomizer.estimate(given)


@pytest.mark.parametrize("mark", [None, 0, 1, "no", np.True_])
def test_the_mark_of_a_simulation_is_true_or_false(mark: Any) -> None:
    rows = np.array([1, 2])
    for make in (
        lambda: Reports(symbols=rows, simulation=mark),
        lambda: Tally(counts=rows, reports=2, simulation=mark),
        lambda: Estimate(values=rows / 2, standard_error=rows / 2, simulation=mark),
    ):
        with pytest.raises(ParameterError, match="simulation must be True or False"):
            make()


def test_masked_reports_and_odd_tallies_are_refused() -> None:
    with pytest.raises(ParameterError, match="plain array"):
        Reports(symbols=np.ma.array([0, 99], mask=[False, True]), simulation=False)
    with pytest.raises(ParameterError, match="plain array"):
        Tally(counts=[1, 2], reports=2, simulation=False)  # type: ignore[arg-type]
    one: Any = Tally(counts=np.array([1]), reports=1, simulation=False)
    with pytest.raises(ParameterError, match="tally must be"):
        one + 3


def test_a_source_cannot_be_relabelled_and_its_key_cannot_be_chosen() -> None:
    source = simulation(1)
    with pytest.raises(AttributeError):
        source.simulation = False  # type: ignore[misc]
    assert RandomSource(bytes(32)).simulation, "who knows the key knows the noise"
    assert not secure().simulation


@pytest.mark.parametrize(
    "make",
    [
        lambda: Laplace(grid=None, scale=None),  # type: ignore[arg-type]
        lambda: Duchi(grid=None, keep_words=1),  # type: ignore[arg-type]
        lambda: Piecewise(grid=3, window=1, threshold=1),  # type: ignore[arg-type]
        lambda: SquareWave(grid="x", window=1, threshold=1),  # type: ignore[arg-type]
        lambda: JointReport(sizes=(2, 2), randomizer=None),  # type: ignore[arg-type]
        lambda: OrderedDiscretePerturbation(discretizer=None, response=COIN),  # type: ignore[arg-type]
        lambda: IndependentReports(True),  # type: ignore[arg-type]
        lambda: IndependentReports((COIN, None)),  # type: ignore[arg-type]
    ],
)
def test_parts_of_another_kind_are_refused(make: Any) -> None:
    with pytest.raises(ParameterError, match="must be of kind"):
        make()


def test_a_denormal_number_does_not_depend_on_the_callers_warnings() -> None:
    wide = Piecewise.for_epsilon(low=0.0, high=1e100, epsilon=1.0)
    with np.errstate(all="raise"):
        told = wide.randomize([5e-324, 1e50], simulation(1))
    assert told.symbols.tolist() == wide.randomize([0.0, 1e50], simulation(1)).symbols.tolist()


def test_the_error_of_a_strangers_array_is_not_chained() -> None:
    class Stranger:
        def __array__(self, *_: object, **__: object) -> Any:
            message = "secret 123457"
            raise RuntimeError(message)

    for randomizer in RANDOMIZERS:
        with pytest.raises(RecordError) as caught:
            randomizer.randomize(Stranger(), simulation(1))
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_budget_has_one_holder(duplicate: Any) -> None:
    with pytest.raises(TypeError, match="cannot be copied"):
        duplicate(Budget(PureLDP(1.0)))
