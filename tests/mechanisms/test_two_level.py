"""Each word leads to the right cell, and the words left over to a fair second draw.

The biases that a missing second draw would cause are of the order of 2^-64: no sample shows them.
So the words at the ends of every run are handed over by a scripted source, and the exact number of
words of each cell follows (docs/proofs/two-level.md, Theorem 2).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from supm._errors import ParameterError
from supm._random import RandomSource, secure, simulation
from supm._validation import EPSILON, Integers
from supm.mechanisms.thresholds import MAX_CELLS, WORDS, TwoLevel, epsilon_of, words_inside

EPSILONS = [1e-6, 0.1, 1.0, 5.0, 1e4]
SHAPES = [(1, 1), (1, 4), (2, 1), (3, 5), (1, 2**40 - 1), (2**40, 2**40), (2**41, 1)]
# A sound sampler fails one such test in 10^11 runs.
ALARM = 1e-11


class ScriptedSource(RandomSource):
    """Hands over the given words first and counts what is drawn after them."""

    __slots__ = ("bounds", "script")

    def __init__(self, script: list[int]) -> None:
        super().__init__(bytes(32))
        self.script = np.array(script, dtype=np.uint64)
        self.bounds: list[tuple[int, int]] = []

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the script when it is asked for as a whole, else real words."""
        if count == self.script.size:
            script, self.script = self.script, np.empty(0, dtype=np.uint64)
            return script
        return super().words(count)

    def below(self, bound: int, count: int) -> NDArray[np.uint64]:
        """Note what is drawn again."""
        self.bounds.append((bound, count))
        return super().below(bound, count)


def cells_of(cells: TwoLevel, script: list[int]) -> tuple[list[int], list[tuple[int, int]]]:
    source = ScriptedSource(script)
    return cells.draw(len(script), source).tolist(), source.bounds


def p_value(observed: NDArray[np.uint64], probabilities: list[Fraction]) -> float:
    expected = [float(each) * observed.size for each in probabilities]
    return float(stats.chisquare(np.bincount(observed, minlength=len(expected)), expected).pvalue)


@given(inside=st.integers(1, 2**41), outside=st.integers(1, 2**41), epsilon=st.floats(1e-5, 1e4))
def test_probabilities_add_up_and_epsilon_is_kept(
    inside: int, outside: int, epsilon: float
) -> None:
    cells = TwoLevel.for_epsilon(inside=inside, outside=outside, epsilon=epsilon)
    high, low = cells.inside_probability, cells.outside_probability
    assert inside * high + outside * low == 1
    assert high > low > 0
    assert cells.epsilon == epsilon_of(high / low) <= epsilon


@pytest.mark.parametrize(("inside", "outside"), [(1, 1), (1, 4), (2, 1), (3, 5), (500, 524)])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0])
def test_epsilon_is_used_up_to_one_part_in_a_billion(
    inside: int, outside: int, epsilon: float
) -> None:
    cells = TwoLevel.for_epsilon(inside=inside, outside=outside, epsilon=epsilon)
    assert cells.epsilon == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 40.0])
def test_every_run_of_outside_words_has_its_cell(epsilon: float) -> None:
    cells = TwoLevel.for_epsilon(inside=1, outside=5, epsilon=epsilon)
    run = (WORDS - cells.threshold) // 5
    ends = [(cells.threshold + k * run, cells.threshold + (k + 1) * run - 1) for k in range(5)]
    drawn, again = cells_of(
        cells, [0, cells.threshold - 1, *(word for end in ends for word in end)]
    )
    assert drawn == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert again == []


def test_every_run_of_inside_words_has_its_cell() -> None:
    cells = TwoLevel(inside=3, outside=2, threshold=WORDS - 5)
    run = cells.threshold // 3
    ends = [(k * run, (k + 1) * run - 1) for k in range(3)]
    script = [*(word for end in ends for word in end), cells.threshold, cells.threshold + 1]
    drawn, again = cells_of(cells, [*script, cells.threshold + 2, cells.threshold + 3])
    assert drawn == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert again == []


@pytest.mark.parametrize(
    ("inside", "outside", "threshold", "left"),
    [
        (1, 5, WORDS // 2, 3),
        (1, 5, WORDS - 4, 4),  # fewer words than cells: no cell has a run of its own
        (1, 5, WORDS - 9, 4),
        (3, 5, WORDS - 4, 4),
        (3, 5, WORDS - 9, 4),
        (2**41, 2**19, WORDS - 2**20 - 3, 3),
    ],
)
def test_words_left_over_outside_are_drawn_again_among_all_outside_cells(
    inside: int, outside: int, threshold: int, left: int
) -> None:
    cells = TwoLevel(inside=inside, outside=outside, threshold=threshold)
    drawn, again = cells_of(cells, list(range(WORDS - left, WORDS)))
    assert all(inside <= cell < inside + outside for cell in drawn)
    assert again == [(outside, left)]


@pytest.mark.parametrize(
    ("inside", "outside", "threshold", "left"),
    [
        (3, 5, WORDS - 2, 2),
        (3, 5, WORDS - 3, 1),
        (3, 1, WORDS // 4 * 3 + 2, 2),
        (1000, 7, WORDS - 3, 613),
        (2**41, 1, WORDS - 1, 2**41 - 1),  # the quotient passes the last outside cell
        (2**41, 2**19, WORDS - 1, 2**41 - 1),
    ],
)
def test_words_left_over_inside_are_drawn_again_among_all_inside_cells(
    inside: int, outside: int, threshold: int, left: int
) -> None:
    cells = TwoLevel(inside=inside, outside=outside, threshold=threshold)
    assert threshold % inside == left
    for word in (threshold - left, threshold - 1):
        drawn, again = cells_of(cells, [word])
        assert drawn[0] < inside
        assert again[-1] == (inside, 1)


def test_a_second_draw_is_spread_evenly() -> None:
    cells = TwoLevel(inside=1, outside=5, threshold=WORDS - 4)
    source = ScriptedSource([WORDS - 1] * 50_000)
    drawn = cells.draw(50_000, source)
    assert p_value(drawn - np.uint64(1), [Fraction(1, 5)] * 5) > ALARM


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize(("inside", "outside"), [(1, 1), (1, 4), (2, 1), (3, 5)])
@pytest.mark.parametrize("source", [secure(), simulation(11)], ids=["secure", "simulation"])
def test_the_cells_are_drawn_with_their_probabilities(
    inside: int, outside: int, epsilon: float, source: RandomSource
) -> None:
    cells = TwoLevel.for_epsilon(inside=inside, outside=outside, epsilon=epsilon)
    probabilities = [cells.inside_probability] * inside + [cells.outside_probability] * outside
    assert p_value(cells.draw(100_000, source), probabilities) > ALARM


@pytest.mark.parametrize(("inside", "outside"), SHAPES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_cell_lies_outside(inside: int, outside: int, epsilon: float) -> None:
    cells = TwoLevel.for_epsilon(inside=inside, outside=outside, epsilon=epsilon)
    drawn = cells.draw(1000, simulation(3))
    ends, _ = cells_of(cells, [0, cells.threshold - 1, cells.threshold, WORDS - 1])
    assert int(drawn.max()) < inside + outside
    assert ends[0] < inside
    assert ends[1] < inside
    assert inside <= ends[2] < inside + outside
    assert inside <= ends[3] < inside + outside


def test_no_draw_is_an_empty_array() -> None:
    cells = TwoLevel.for_epsilon(inside=2, outside=3, epsilon=1.0)
    assert cells.draw(0, simulation(1)).tolist() == []


def test_numbers_of_numpy_become_whole_numbers_of_python() -> None:
    one, four, half = np.array([1], np.int64)[0], np.array([4], np.uint8)[0], np.uint64(2**63)
    cells = TwoLevel(inside=one, outside=four, threshold=half)  # type: ignore[arg-type]
    assert {type(cells.inside), type(cells.outside), type(cells.threshold)} == {int}
    assert cells.inside_probability + 4 * cells.outside_probability == 1


@pytest.mark.parametrize("bad", Integers("inside", 1, 2 * MAX_CELLS).violations())
def test_impossible_numbers_of_cells_are_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match="inside must be a whole number"):
        TwoLevel.for_epsilon(inside=bad, outside=1, epsilon=1.0)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="outside must be a whole number"):
        TwoLevel.for_epsilon(inside=1, outside=bad, epsilon=1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", words_inside("threshold", inside=2, outside=3).violations())
def test_impossible_thresholds_are_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match="threshold must be a whole number"):
        TwoLevel(inside=2, outside=3, threshold=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", EPSILON.violations())
def test_impossible_epsilons_are_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match="epsilon must be a number"):
        TwoLevel.for_epsilon(inside=1, outside=1, epsilon=bad)  # type: ignore[arg-type]


def test_the_fair_share_is_refused_because_it_says_nothing() -> None:
    with pytest.raises(ParameterError, match="threshold must be a whole number"):
        TwoLevel(inside=1, outside=1, threshold=WORDS // 2)
    assert TwoLevel(inside=1, outside=1, threshold=WORDS // 2 + 1).epsilon > 0
