"""What owners of a new archive tell, and what nobody can have told.

The law of a whole report is written down here a second time, in numbers of its own: a draw of
attributes, randomised rounding to the grid, and one mechanism for each number and each class.
"""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import ParameterError, RecordError, simulation
from supm.audit.goodness import goodness_of_fit
from supm.mechanisms import Piecewise, Reports
from supm.schema import Attribute, Categorical, Continuous
from supm.synthesis.collecting import Collection

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

AGE = Continuous("age", low=0, high=100)
HEIGHT = Continuous("height", low=-1, high=1)
ILL = Categorical("ill", values=("no", "yes"))
ATTRIBUTES: tuple[Attribute, ...] = (AGE, HEIGHT, ILL)
# The least, the greatest, and two that lie between points of a grid of 4 or of 16 steps.
AGES = (0.0, 100.0, 37.0, 98.0)
HEIGHTS = (-1.0, 1.0, 0.13, -0.97)
OWNERS = 20_000
BEYOND = 8


def share_of(budget: float) -> float:
    return budget / 2


def number_row(made: Collection, place: int, held: float) -> Floats:
    """Return the probabilities of what is told of a number, from the ends of all cells."""
    low, high = ((0.0, 100.0), (-1.0, 1.0))[place]
    at = (held - low) / (high - low) * made.steps
    below = min(math.floor(at), made.steps - 1)
    rows = [point_row(made, place, below), point_row(made, place, below + 1)]
    return np.asarray((1 - (at - below)) * rows[0] + (at - below) * rows[1])


def point_row(made: Collection, place: int, point: int) -> Floats:
    share = share_of(made.budget)
    if made.noise == "laplace":
        fall = math.exp(-share / made.steps)
        told = np.arange(-BEYOND * made.steps, (BEYOND + 1) * made.steps + 1)
        row = (1 - fall) / (1 + fall) * fall ** np.abs(told - point)
        # The ends hold all that lies beyond them: a geometric series.
        row[[0, -1]] = fall ** np.abs(told - point)[[0, -1]] / (1 + fall)
        return np.asarray(row)
    part = made.parts[place]
    assert isinstance(part, Piecewise)
    told = np.arange(made.steps + part.window)
    inside = (point <= told) & (told < point + part.window)
    return np.where(inside, math.exp(share), 1.0) / (math.exp(share) * part.window + made.steps)


def class_row(made: Collection, held: float) -> Floats:
    kept = math.exp(share_of(made.budget))
    row = np.ones(2)
    row[int(held)] = kept
    return row / (kept + 1)


def counted(made: Collection, record: tuple[float, ...], seed: int) -> tuple[Counts, Floats]:
    """Return how often each report was told, and how likely it is."""
    told = made.randomize([record] * OWNERS, simulation(seed)).symbols
    rows = [number_row(made, 0, record[0]), number_row(made, 1, record[1])]
    rows.append(class_row(made, record[2]))
    first = [-BEYOND * made.steps if made.noise == "laplace" else 0] * 2 + [0]
    counts, chances = [], []
    for drawn in combinations(range(3), 2):
        own = told[(told[:, :2] == drawn).all(axis=1), 2:]
        cells = [
            np.clip(own[:, side] - first[place], 0, rows[place].size - 1)
            for side, place in enumerate(drawn)
        ]
        table = np.zeros([rows[place].size for place in drawn], dtype=np.int64)
        np.add.at(table, tuple(cells), 1)
        counts.append(table.ravel())
        chances.append(np.outer(rows[drawn[0]], rows[drawn[1]]).ravel() / 3)
    return np.concatenate(counts), np.concatenate(chances)


@pytest.mark.parametrize("ill", [0.0, 1.0])
@pytest.mark.parametrize(("noise", "steps"), [("laplace", 4), ("piecewise", 4), ("piecewise", 16)])
def test_whole_reports_have_the_stated_law_at_both_ends_and_off_the_grid(
    noise: Any, steps: int, ill: float
) -> None:
    made = Collection(attributes=ATTRIBUTES, asked=2, budget=4.0, noise=noise, steps=steps)
    for seed, (age, height) in enumerate(product(AGES, HEIGHTS)):
        counts, chances = counted(made, (age, height, ill), seed)
        assert counts.sum() == OWNERS
        assert chances.sum() == pytest.approx(1.0)
        assert goodness_of_fit(counts, chances) > 1e-5, (age, height)


@pytest.mark.parametrize(("noise", "steps"), [("laplace", 2), ("laplace", 1024), ("piecewise", 5)])
def test_classes_are_randomised_whatever_the_noise_of_numbers(noise: Any, steps: int) -> None:
    made = Collection(attributes=ATTRIBUTES, asked=2, budget=4.0, noise=noise, steps=steps)
    for held in (0, 1):
        told = made.randomize([[50.0, 0.0, held]] * OWNERS, simulation(held)).symbols
        own = told[told[:, 1] == 2, 3]
        assert goodness_of_fit(np.bincount(own, minlength=2), class_row(made, held)) > 1e-5


BAD: dict[str, list[int]] = {
    "a place that is none": [0, 3, 1, 1],
    "a place below zero": [-1, 2, 1, 1],
    "places that fall": [2, 0, 1, 1],
    "a place twice": [1, 1, 1, 1],
    "a class that is none": [0, 2, 1, 2],
    "a class below zero": [0, 2, 1, -1],
    "a number beyond the alphabet": [0, 2, 1 << 40, 1],
    "a number below the alphabet": [1, 2, -(1 << 40), 1],
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("noise", ["laplace", "piecewise"])
def test_reports_that_nobody_can_have_told_are_counted_and_refused(
    noise: Any, bad: list[int]
) -> None:
    made = Collection(attributes=ATTRIBUTES, asked=2, budget=4.0, noise=noise, steps=4)
    good = made.randomize([[50.0, 0.0, 1]] * 7, simulation(1)).symbols
    told = np.vstack((good, [bad, bad]))
    with pytest.raises(RecordError, match=r"^2 of 9 reports cannot have been told") as refusal:
        made.archive(Reports(symbols=told, simulation=True))
    assert str(1 << 40) not in str(refusal.value)


@pytest.mark.parametrize(
    "symbols",
    [
        np.zeros((3, 2), dtype=np.int64),
        np.zeros((3, 5), dtype=np.int64),
        np.zeros((3, 6), dtype=np.int64),
        np.zeros(4, dtype=np.int64),
        np.zeros((3, 4, 1), dtype=np.int64),
        np.array([[0.0, 2.0, 1.0, 1.0]]),
        np.array([["0", "2", "1", "1"]]),
    ],
)
def test_reports_of_another_shape_or_kind_are_refused(symbols: NDArray[Any]) -> None:
    made = Collection(attributes=ATTRIBUTES, asked=2, budget=4.0)
    with pytest.raises(RecordError, match="rows of 4 whole numbers"):
        made.archive(Reports(symbols=symbols, simulation=True))


def test_reports_are_reports_and_may_be_short_or_unsigned() -> None:
    made = Collection(attributes=ATTRIBUTES, asked=2, budget=4.0, steps=4)
    with pytest.raises(ParameterError, match="reports must be Reports"):
        made.archive(np.zeros((3, 4)))  # type: ignore[arg-type]
    told = np.array([[0, 2, 1, 1], [1, 2, 3, 0]])
    for kind in (np.uint8, np.uint64, np.int16):
        archive = made.archive(Reports(symbols=told.astype(kind), simulation=True))
        assert archive.reports["ill"].tolist() == [1, 0]
        assert np.isnan(archive.reports["age"]).tolist() == [False, True]
