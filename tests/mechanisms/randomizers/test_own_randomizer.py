"""A randomizer of one's own: an alphabet and an exact channel, everything else follows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from supm._errors import ParameterError, RecordError
from supm._random import secure, simulation
from supm.audit import audit
from supm.audit.goodness import goodness_of_fit
from supm.mechanisms import FrequencyRandomizer, JointReport, Reports

ALARM = 1e-11


@dataclass(frozen=True, kw_only=True)
class Own(FrequencyRandomizer):
    """What a researcher writes."""

    rows: tuple[tuple[int, ...], ...] = ((6, 3, 1, 2), (2, 6, 2, 2), (2, 2, 6, 2))
    parts: int = 12
    size: int = 3

    def exact_channel(self) -> list[list[Fraction]]:
        """Write the channel down."""
        return [[Fraction(entry, self.parts) for entry in row] for row in self.rows]


def test_epsilon_and_the_length_of_a_report_are_derived() -> None:
    own = Own()
    assert own.epsilon == pytest.approx(math.log(6))
    assert own.epsilon >= math.log(6)
    assert (own.outcomes, own.report_bits, own.report_bytes) == (4, 2, 1)
    assert own.guarantee.epsilon == own.epsilon


@pytest.mark.parametrize("held", [0, 1, 2])
def test_the_sampler_draws_the_row_of_what_is_held(held: int) -> None:
    own, draws = Own(), 100_000
    counts = own.tally(own.randomize(np.full(draws, held), secure())).counts
    assert goodness_of_fit(counts, own.channel()[held]) > ALARM


def test_the_estimate_is_unbiased_and_within_its_error() -> None:
    own = Own()
    held = np.repeat([0, 1, 2], [50_000, 30_000, 20_000])
    found = own.estimate(own.tally(own.randomize(held, simulation(1))))
    np.testing.assert_allclose(found.values, [0.5, 0.3, 0.2], atol=5 * found.standard_error.max())
    assert own.variance(0.5, 100_000) == pytest.approx(found.standard_error[0] ** 2, rel=0.1)
    assert found.simulation


def test_the_variance_bounds_that_of_every_crowd() -> None:
    own = Own()
    reading = np.linalg.pinv(own.channel())
    for held in range(3):
        exact = own.channel()[held] @ reading**2 - (own.channel()[held] @ reading) ** 2
        assert exact[held] <= own.variance(1.0) + 1e-12
        assert np.delete(exact, held).max() <= own.variance(0.0) + 1e-12


def test_the_audit_takes_it_and_finds_nothing() -> None:
    assert audit(Own(), simulation(1)).verdict == "true"


def test_the_audit_finds_a_sampler_that_does_not_obey_the_channel() -> None:
    class Bent(Own):
        def draw(self, symbols, source):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  as its parent's
            return super().draw(np.minimum(symbols + 1, 2), source)

    assert audit(Bent(), secure()).verdict == "broken"


def test_it_serves_a_joint_report() -> None:
    four = Own(rows=((3, 1, 1, 1), (1, 3, 1, 1), (1, 1, 3, 1), (1, 1, 1, 3)), parts=6, size=4)
    joint = JointReport(sizes=(2, 2), randomizer=four)
    found = joint.estimate(joint.tally(joint.randomize([[0, 1]] * 20_000, simulation(1))))
    np.testing.assert_allclose(found.values, [[0, 1], [0, 0]], atol=0.1)


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        (((1, 1), (2, 0)), 2)  # a report that tells for certain
    ],
)
def test_a_channel_without_a_promise_has_no_epsilon(
    rows: tuple[tuple[int, ...], ...], parts: int
) -> None:
    with pytest.raises(ParameterError, match="channel"):
        _ = Own(rows=rows, parts=parts, size=2).epsilon


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        (((1, 1), (1, 2)), 2),  # a row that does not add up
        (((3, -1), (1, 1)), 2),  # a negative entry
        (((1 << 63, 1 << 63), (1 << 62, 3 << 62)), 1 << 64),  # no draw has so many parts
    ],
)
def test_a_channel_that_cannot_be_drawn_from_is_refused(
    rows: tuple[tuple[int, ...], ...], parts: int
) -> None:
    if parts == 1 << 64:
        rows = (((1 << 63) + 1, (1 << 63) - 1), rows[1])
    with pytest.raises(ParameterError, match="channel"):
        Own(rows=rows, parts=parts, size=2).randomize([0, 1], simulation(1))


def test_inputs_that_cannot_be_told_apart_have_no_estimate() -> None:
    flat = Own(rows=((1, 1), (1, 1)), parts=2, size=2)
    tally = flat.tally(flat.randomize([0, 1], simulation(1)))
    with pytest.raises(ParameterError, match="differ"):
        flat.estimate(tally)


def test_strangers_are_refused() -> None:
    with pytest.raises(RecordError, match="0 … 2"):
        Own().randomize([3], simulation(1))
    with pytest.raises(ParameterError, match="0 … 3"):
        Own().tally(Reports(symbols=np.array([4]), simulation=True))
