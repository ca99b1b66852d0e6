"""The words at the very edges of thresholds, and noise that is too rare to be waited for.

A comparison that is off by one word in 2^64 changes no sample that can be drawn, so the words at
the edges are handed over by a scripted source. Noise beyond 16 scales is handed over likewise.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from supm._random import RandomSource, simulation
from supm.mechanisms import UnaryEncoding
from supm.mechanisms.noise import discrete_laplace
from supm.mechanisms.noise.discrete_laplace import FARTHEST, DiscreteLaplaceNoise
from supm.mechanisms.randomizers.laplace import Laplace
from supm.mechanisms.randomizers.numeric import PublicGrid


class ScriptedSource(RandomSource):
    """Hands over the given words, once."""

    __slots__ = ("script",)

    def __init__(self, script: list[int]) -> None:
        super().__init__(bytes(32))
        self.script = np.array(script, dtype=np.uint64)

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next words of the script."""
        assert count <= self.script.size
        taken, self.script = self.script[:count], self.script[count:]
        return taken


class FixedNoise(DiscreteLaplaceNoise):
    """Noise that is far from zero, to either side by turns."""

    def draw(self, count: int, source: RandomSource) -> NDArray[np.int64]:  # noqa: ARG002  the noise is fixed
        return np.where(np.arange(count) % 2 == 0, 1, -1) * (1 << 40)


class FarLaplace(Laplace):
    """The Laplace mechanism with that noise."""

    @property
    def _noise(self) -> DiscreteLaplaceNoise:
        return FixedNoise(self.scale)


@pytest.mark.parametrize("runs", [17, 20, 700, FARTHEST])
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 2), Fraction(60)], ids=str)
def test_a_long_run_of_heads_makes_noise_of_as_many_scales(
    scale: Fraction, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discrete_laplace, "_runs", lambda count, _: np.full(count, runs))
    drawn = np.abs(DiscreteLaplaceNoise(scale).draw(1000, simulation(1)))
    assert runs * scale - 1 < int(drawn.min())
    assert int(drawn.max()) < (runs + 1) * scale


def test_noise_is_cut_where_no_64_bit_number_could_hold_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discrete_laplace, "_runs", lambda count, _: np.full(count, 1 << 40))
    drawn = np.abs(DiscreteLaplaceNoise(Fraction(3)).draw(1000, simulation(1)))
    assert int(drawn.min()) >= FARTHEST * 3
    assert int(drawn.max()) < (FARTHEST + 1) * 3


def test_a_report_with_noise_beyond_the_reach_is_the_end_of_the_alphabet() -> None:
    meter = FarLaplace(grid=PublicGrid(low=0, high=1, steps=6), scale=Fraction(3))
    least, greatest = meter.alphabet
    reports = meter.randomize([0.0, 0.0, 0.5, 0.5, 1.0, 1.0], simulation(1))
    assert reports.symbols.tolist() == [greatest, least] * 3


@pytest.mark.parametrize("fraction", [0.25, 0.5, 0.75, 2.0**-20])
def test_a_value_goes_up_for_as_many_words_as_its_fraction_says(fraction: float) -> None:
    grid = PublicGrid(low=0, high=4, steps=4)
    upward = int(fraction * 2**64)
    words = [0, upward - 1, upward, upward + 1, 2**64 - 1]
    found = grid.locate(np.full(5, 2 + fraction), ScriptedSource(words))
    assert found.tolist() == [3, 3, 2, 2, 2]


def test_a_value_on_a_point_never_goes_up() -> None:
    grid = PublicGrid(low=0, high=4, steps=4)
    assert grid.locate(grid.points(), ScriptedSource([0] * 5)).tolist() == [0, 1, 2, 3, 4]


def test_every_bit_is_set_for_as_many_words_as_its_probability_says() -> None:
    bits = UnaryEncoding(size=3, own_words=2**63, other_words=2**60)
    edges = [(2**60 - 1, True), (2**60, False)]
    own_edges = [(2**63 - 1, True), (2**63, False)]
    rows = [
        ([own, other, third], [own_set, other_set, third_set])
        for own, own_set in own_edges
        for other, other_set in edges
        for third, third_set in edges
    ]
    source = ScriptedSource([word for words, _ in rows for word in words])
    told = bits.randomize(np.zeros(len(rows), dtype=np.int64), source).symbols
    found = np.unpackbits(told, axis=1, bitorder="little")[:, :3].astype(bool)
    assert found.tolist() == [expected for _, expected in rows]
