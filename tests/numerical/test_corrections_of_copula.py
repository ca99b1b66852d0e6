"""Corrections 44 to 50 of docs/errata.md: the noise matrix and the quantiles of paper 004.

What the paper prints stands here as a function whose name begins with ``printed``. One assertion is
put to both versions: ours passes it, the printed one fails it. The others are in
tests/numerical/test_corrections_of_copula_dependence.py (51 to 54).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad

from supm.mechanisms import ContinuousLaplace
from supm.synthesis.distributions import BinnedMarginal
from supm.synthesis.paper_model import paper_cells

Floats = NDArray[np.float64]

WIDTH, SCALE = 0.01, 0.1


def law(epsilon: float) -> ContinuousLaplace:
    return ContinuousLaplace.for_epsilon(low=0.0, high=1.0, epsilon=epsilon)


def tail_below(place: float, scale: float) -> float:
    """Which share of the reports of the value 0 lies below a place, by the Laplace law itself."""
    return math.exp(place / scale) / 2 if place < 0 else 1 - math.exp(-place / scale) / 2


def printed_ends(epsilon: float, r: float) -> tuple[float, float]:
    """Eq. 17 and 18 for values in [0, 1]."""
    return math.log(2 * (1 - r)) / epsilon, 1 + math.log(2 * r) / epsilon


def ours_ends(epsilon: float, r: float) -> tuple[float, float]:
    cells = paper_cells(law(epsilon), 100, r)
    return float(cells[1]), float(cells[-2])


def assert_hold_the_tails(ends: tuple[float, float], epsilon: float, r: float) -> None:
    """Below the least bin lies a share r of the least value's reports; and so at the other end."""
    low, high = ends
    assert low < high, "the output domain has no length"
    width = 0.011
    shares = tail_below(low - width, 1 / epsilon), tail_below(1 - high - width, 1 / epsilon)
    assert max(shares) <= r, "more lies beyond an end than r allows"


@pytest.mark.parametrize(("epsilon", "r"), [(1.0, 0.05), (5.0, 0.01)])
def test_44_the_output_domain_holds_all_but_a_small_tail(epsilon: float, r: float) -> None:
    for share in (r, 1 - r):  # the text does not say which of the two r is
        with pytest.raises(AssertionError):
            assert_hold_the_tails(printed_ends(epsilon, share), epsilon, r)
    assert_hold_the_tails(ours_ends(epsilon, r), epsilon, r)


def printed_bins(epsilon: float, r: float, bins: int) -> float:
    """Eq. 20 with the corrected ends."""
    return (1 - 2 * math.log(2 * r) / epsilon) * bins


def assert_counts_bins(count: float) -> None:
    assert count == int(count), "a number of bins is whole"


def test_45_the_number_of_bins_of_reports_is_whole() -> None:
    with pytest.raises(AssertionError, match="whole"):
        assert_counts_bins(printed_bins(1.0, 0.05, 100))
    assert_counts_bins(len(paper_cells(law(1.0), 100)) - 1)
    assert len(paper_cells(law(1.0), 100)) - 1 == 100 + 2 * math.ceil(230.2585)


def s_masses(count: int, w: float, s: float) -> Floats:
    """Eq. 23 with both of its slips corrected: S_1, S_2, …"""
    orders = np.arange(1, count + 1)
    masses = s / (2 * w) * np.exp(-orders * w / s) * math.expm1(w / s) ** 2
    masses[0] = 1 + math.expm1(-w / s) * s / w
    return np.asarray(masses)


def r_zero(w: float, s: float) -> float:
    """Eq. 22."""
    return -s * math.expm1(-w / s) / (2 * w)


def printed_matrix(bins: int, extra: int, w: float, s: float, upper: int) -> Floats:
    """Eq. 21 row by row. The sum of its third case ends at i + upper; 0 is printed."""
    size = bins + 2 * extra
    masses = s_masses(size, w, s)
    matrix = np.zeros((bins, size))
    for i in range(1, bins + 1):
        row = matrix[i - 1]
        for j in range(2, size):
            row[j - 1] = masses[abs(i - j)]
        first = r_zero(w, s)
        row[0] = first + masses[0] if i == 1 else first - row[1 : i + upper].sum()
        row[-1] = 1 - row[:-1].sum()
    return matrix


def assert_probabilities(matrix: Floats) -> None:
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-12
    assert matrix.min() >= 0, "a probability is negative"


def test_46_the_first_column_subtracts_one_term_less() -> None:
    with pytest.raises(AssertionError, match="negative"):
        assert_probabilities(printed_matrix(40, 0, WIDTH, SCALE, upper=0))
    assert printed_matrix(40, 0, WIDTH, SCALE, upper=0).min() < -0.03
    assert_probabilities(printed_matrix(40, 0, WIDTH, SCALE, upper=-1))
    ours = ContinuousLaplace(low=0.0, high=40 * WIDTH, scale=SCALE)
    inner = WIDTH * np.arange(1, 40)
    matrix = ours.transition(ours.edges(40), np.concatenate(([-np.inf], inner, [np.inf])))
    assert_probabilities(matrix)
    assert matrix == pytest.approx(printed_matrix(40, 0, WIDTH, SCALE, upper=-1), abs=1e-12)


def by_quadrature(
    noise: ContinuousLaplace, bins: int, cells: Floats, row: int, column: int
) -> float:
    """The mass of a cell given a uniform value of a bin: the law itself, integrated."""
    start, end = noise.edges(bins)[row : row + 2]
    first, last = cells[column : column + 2]

    def mass(value: float) -> float:
        below = 0.0 if last == math.inf else 1 - tail_below(last - value, noise.scale)
        above = 0.0 if first == -math.inf else tail_below(first - value, noise.scale)
        return 1 - below - above

    kinks = [place for place in (first, last) if start < place < end]
    found = quad(mass, start, end, points=kinks or None, epsabs=1e-14, epsrel=1e-13)[0]
    return float(found / (end - start))


def assert_equals_quadrature(matrix: Floats, noise: ContinuousLaplace, cells: Floats) -> None:
    bins = len(matrix)
    places = [(i, j) for i in (0, 1, bins - 1) for j in range(0, len(cells) - 1, 7)]
    for i, j in [*places, (bins // 2, len(cells) - 2)]:
        wanted = by_quadrature(noise, bins, cells, i, j)
        assert abs(matrix[i, j] - wanted) < 1e-10, "a cell has another mass"


def test_47_values_and_reports_have_different_origins() -> None:
    noise = law(5.0)
    cells = paper_cells(noise, 20)
    extra = (len(cells) - 1 - 20) // 2
    # Printed with the corrected limit of its sum, and still one index for both axes.
    printed = printed_matrix(20, extra, 1 / 20, noise.scale, upper=-1)
    with pytest.raises(AssertionError, match="another mass"):
        assert_equals_quadrature(printed, noise, cells)
    matrix = noise.transition(noise.edges(20), cells)
    assert_equals_quadrature(matrix, noise, cells)
    assert_probabilities(matrix)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 8.0])
def test_47_the_closed_form_of_the_ends_is_the_integral(epsilon: float) -> None:
    noise = law(epsilon)
    cells = noise.report_cells(noise.edges(20))
    assert_equals_quadrature(noise.transition(noise.edges(20), cells), noise, cells)
    below = SCALE / (2 * WIDTH) * math.exp(-(3 + 2) * WIDTH / SCALE) * math.expm1(WIDTH / SCALE)
    ours = ContinuousLaplace(low=0.0, high=1.0, scale=SCALE)
    first = ours.transition(ours.edges(100), [-np.inf, -2 * WIDTH, np.inf])[2, 0]
    assert first == pytest.approx(below, rel=1e-12)


def printed_middle(order: int, w: float, s: float) -> float:
    """The middle of Eq. 23: two integrals of the distribution function."""

    def area(width: float) -> float:
        inner = quad(lambda t: math.exp(-t / s) / 2, 0, width, epsabs=1e-14)[0]
        return float(inner / w)

    return area(order * w) - area((order - 1) * w)


FINE = ContinuousLaplace(low=0.0, high=1.0, scale=SCALE)
FINE_CELLS: Floats = np.asarray(WIDTH * np.arange(101), dtype=np.float64)


def ours_mass(order: int) -> float:
    """The mass of the bin at a distance, in the noise matrix of the package."""
    return float(FINE.transition(FINE.edges(100), FINE_CELLS)[0, order - 1])


def assert_is_the_mass(found: float, order: int) -> None:
    wanted = by_quadrature(FINE, 100, FINE_CELLS, 0, order - 1)
    assert found == pytest.approx(wanted, rel=1e-9), "not the mass of a bin at this distance"


@pytest.mark.parametrize("order", [2, 3, 7])
def test_48_the_middle_of_equation_23_is_not_its_right_side(order: int) -> None:
    with pytest.raises(AssertionError, match="distance"):
        assert_is_the_mass(printed_middle(order, WIDTH, SCALE), order)
    assert_is_the_mass(ours_mass(order), order)
    assert ours_mass(order) == pytest.approx(float(s_masses(order, WIDTH, SCALE)[-1]))


def printed_own_bin(w: float, s: float) -> float:
    """The last case of Eq. 23, by its parentheses."""
    return 1 + (-1 + math.exp(-w / s) * s) / w


def test_49_a_parenthesis_of_equation_23() -> None:
    with pytest.raises(AssertionError, match="distance"):
        assert_is_the_mass(printed_own_bin(WIDTH, SCALE), 1)
    assert_is_the_mass(ours_mass(1), 1)
    assert ours_mass(1) == pytest.approx(1 - 2 * r_zero(WIDTH, SCALE))


def printed_quantile(level: float, reached: Floats) -> float:
    """Eq. 24: u' by its fractions as they are printed."""
    bins = len(reached)
    k = int(np.flatnonzero(reached >= level)[0])
    if k == 0:
        return float(level / (reached[0] * bins))
    return float((k + level - reached[k - 1]) / ((reached[k] - reached[k - 1]) * bins))


def ours_quantile(level: float, reached: Floats) -> float:
    marginal = BinnedMarginal(0.0, 1.0, np.diff(reached, prepend=0.0), tied=True)
    return float(marginal.values(np.array([level]))[0])


def assert_is_a_quantile(values: list[float]) -> None:
    assert min(values) >= 0, "a value lies outside of the range"
    assert max(values) <= 1, "a value lies outside of the range"
    assert values == sorted(values), "quantiles must not fall"


def test_50_values_lie_in_the_range_and_grow_with_the_level() -> None:
    reached = np.array([0.2, 0.5, 0.6, 1.0])
    levels = np.linspace(0.001, 0.999, 200)
    printed = [printed_quantile(t, reached) for t in levels]
    assert max(printed) > 5
    with pytest.raises(AssertionError, match="outside"):
        assert_is_a_quantile(printed)
    ours = [ours_quantile(t, reached) for t in levels]
    assert_is_a_quantile(ours)
    edges = np.linspace(0, 1, 5)
    back = np.interp(ours, edges, np.concatenate(([0.0], reached)))
    assert back == pytest.approx(levels)
