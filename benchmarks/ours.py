"""Our randomizers with the parameters and the input that the benchmark gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._random import RandomSource, simulation
from supm.mechanisms import (
    Duchi,
    GeneralizedRandomizedResponse,
    HadamardResponse,
    Hybrid,
    IndependentReports,
    JointReport,
    Laplace,
    LocalHashing,
    OrderedDiscretePerturbation,
    Piecewise,
    Reports,
    SquareWave,
    SubsetSelection,
    UnaryEncoding,
)
from supm.schema import Continuous

__all__ = ["Case", "Randomizer", "joint_report", "randomized_response", "records", "the_others"]

_SIZE = 64
_ATTRIBUTES = (4,) * 8


class Randomizer(Protocol):
    """What the benchmark needs of a randomizer."""

    @property
    def report_bytes(self) -> int:
        """Bytes of one report."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        """Turn values into reports."""


@dataclass(frozen=True)
class Case:
    """A randomizer and one value per owner for it."""

    name: str
    parameters: str
    randomizer: Randomizer
    values: NDArray[Any]


def randomized_response(count: int) -> Case:
    """Return the case of the main comparison: five symbols, epsilon 1."""
    response = GeneralizedRandomizedResponse.for_epsilon(size=5, epsilon=1.0)
    return Case("randomized response", "5 symbols, epsilon 1", response, _symbols(5, count))


def the_others(count: int) -> list[Case]:
    """Return one case for each other randomizer."""
    return [*_finite(count), *_numeric(count), *_several(count)]


def records(count: int) -> NDArray[np.int64]:
    """Return records of eight attributes with four classes each."""
    return _symbols(4, 8 * count).reshape(count, 8)


def joint_report(*, chosen: bool) -> JointReport:
    """Return the joint report at epsilon 4: by randomized response, or as the chooser picks."""
    if chosen:
        return JointReport.for_epsilon(sizes=_ATTRIBUTES, epsilon=4.0)
    response = GeneralizedRandomizedResponse.for_epsilon(size=4**8, epsilon=4.0)
    return JointReport(sizes=_ATTRIBUTES, randomizer=response)


def _finite(count: int) -> list[Case]:
    made: dict[str, Randomizer] = {
        "subset selection": SubsetSelection.for_epsilon(size=_SIZE, epsilon=1.0),
        "symmetric unary encoding": UnaryEncoding.symmetric(size=_SIZE, epsilon=1.0),
        "optimised unary encoding": UnaryEncoding.optimised(size=_SIZE, epsilon=1.0),
        "local hashing": LocalHashing.for_epsilon(size=_SIZE, epsilon=1.0),
        "Hadamard response": HadamardResponse.for_epsilon(size=_SIZE, epsilon=1.0),
    }
    symbols = _symbols(_SIZE, count)
    return [Case(name, "64 symbols, epsilon 1", each, symbols) for name, each in made.items()]


def _numeric(count: int) -> list[Case]:
    made: dict[str, Randomizer] = {
        "Laplace": Laplace.for_epsilon(low=-1, high=1, epsilon=1.0),
        "Duchi": Duchi.for_epsilon(low=-1, high=1, epsilon=1.0),
        "piecewise": Piecewise.for_epsilon(low=-1, high=1, epsilon=1.0),
        "hybrid": Hybrid.for_epsilon(low=-1, high=1, epsilon=1.0),
        "square wave": SquareWave.for_epsilon(low=-1, high=1, epsilon=1.0),
        "ODP": OrderedDiscretePerturbation.for_epsilon(
            attribute=Continuous("reading", low=-1, high=1), classes=4, epsilon=1.0
        ),
    }
    numbers = _symbols(1025, count) / 512 - 1
    return [Case(name, "a number in [-1, 1], epsilon 1", m, numbers) for name, m in made.items()]


def _several(count: int) -> list[Case]:
    made: dict[str, Randomizer] = {
        "independent reports": IndependentReports.for_epsilon(sizes=_ATTRIBUTES, epsilon=4.0),
        "joint report": joint_report(chosen=True),
    }
    rows = records(count)
    return [Case(name, "8 attributes of 4, epsilon 4", m, rows) for name, m in made.items()]


def _symbols(size: int, count: int) -> NDArray[np.int64]:
    return simulation(size).below(size, count).view(np.int64)
