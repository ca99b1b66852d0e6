"""The band of a distribution covers the truth; what is called known can be seen through noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri

from supm import simulation
from supm.mechanisms import (
    ContinuousGaussian,
    ContinuousLaplace,
    ContinuousPiecewise,
    ContinuousSquareWave,
    GeneralizedRandomizedResponse,
    NoisedNumber,
)
from supm.synthesis import Archive, ArchiveSchema, ClassColumn, NumberColumn
from supm.synthesis.quality import assess
from supm.synthesis.quality_columns import (
    DistributionShape,
    blur_kernel,
    shape_of_classes,
    shape_of_number,
)

Numbers = NDArray[np.float64]
BINS: Final = 30
FINE: Final = 480
TRIES: Final = 24


def uniform(rows: int, seed: int) -> Numbers:
    return np.asarray(simulation(seed).words(rows) / 2.0**64)


def normal(rows: int, seed: int) -> Numbers:
    return np.asarray(np.clip(0.5 + 0.15 * ndtri(uniform(rows, seed)), 0.0, 1.0))


def spiked(rows: int, seed: int) -> Numbers:
    """Most at zero, some at a third, the rest anywhere."""
    lot = uniform(rows, seed)
    return np.where(lot < 0.5, 0.0, np.where(lot < 0.8, 1 / 3, uniform(rows, seed + 1000)))


def law_of(kind: Any, epsilon: float, high: float = 1.0) -> NoisedNumber:
    more = {"delta": 1e-6} if kind is ContinuousGaussian else {}
    law: NoisedNumber = kind.for_epsilon(low=0, high=high, epsilon=epsilon, **more)
    return law


def shape(law: NoisedNumber, held: Numbers, seed: int) -> DistributionShape:
    reports = law.randomize(held, simulation(seed))
    return shape_of_number(NumberColumn("x", law), reports, BINS)


def blurred(held: Numbers, width: float) -> Numbers:
    """Return the true shares of the bins, blurred on a grid that is far finer."""
    shares = np.histogram(held, np.linspace(0, 1, FINE + 1))[0] / held.size
    spread = width / np.sqrt(8 * np.log(2))
    return np.asarray((blur_kernel(FINE, float(spread)) @ shares).reshape(BINS, -1).sum(axis=1))


@pytest.mark.parametrize("draw", [normal, spiked], ids=["normal", "spiked"])
@pytest.mark.parametrize(
    ("kind", "epsilon", "rows"),
    [
        (ContinuousLaplace, 1.0, 10_000),
        (ContinuousLaplace, 4.0, 2000),
        (ContinuousLaplace, 50.0, 500),
        (ContinuousGaussian, 50.0, 2000),
        (ContinuousPiecewise, 4.0, 2000),
        (ContinuousSquareWave, 2.0, 2000),
    ],
)
def test_the_band_covers_the_blurred_truth(
    kind: Any, epsilon: float, rows: int, draw: Callable[[int, int], Numbers]
) -> None:
    law, inside = law_of(kind, epsilon), []
    for seed in range(TRIES):
        held = draw(rows, seed)
        found = shape(law, held, seed + 5000)
        truth = blurred(held, found.blur)
        inside.append(np.mean((found.low <= truth) & (truth <= found.high)))
    # Two standard errors are 95 %; neighbouring bins miss together, so single tries vary.
    assert np.mean(inside) > 0.91
    assert float((found.high - found.low).mean()) < 1.3 / BINS


def test_less_noise_and_more_reports_are_blurred_less() -> None:
    widths = [
        shape(law_of(ContinuousLaplace, each), normal(2000, 1), 3).blur for each in (1, 4, 16)
    ]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 3 * widths[2]
    more = [
        shape(law_of(ContinuousLaplace, 4), normal(rows, 1), 3).blur for rows in (200, 2000, 20_000)
    ]
    assert more == sorted(more, reverse=True)
    assert more[0] > more[2]


@pytest.mark.parametrize(
    ("epsilon", "rows", "known"),
    [
        (0.5, 3000, False),
        (1.0, 3000, False),
        (4.0, 3000, True),
        (50.0, 500, True),
        (50.0, 9, False),
    ],
)
def test_a_shape_is_known_where_the_noise_is_small_and_reports_are_many(
    *, epsilon: float, rows: int, known: bool
) -> None:
    assert shape(law_of(ContinuousLaplace, epsilon), normal(rows, 1), 3).known is known


def test_how_far_is_blurred_does_not_depend_on_what_was_reported() -> None:
    law = law_of(ContinuousLaplace, 4.0)
    assert shape(law, normal(500, 1), 3).blur == shape(law, np.zeros(500), 4).blur


@pytest.mark.parametrize("high", [1e-90, 1.0, 1e99])
@pytest.mark.parametrize("rows", [2, 40])
def test_any_bounds_and_any_number_of_reports_have_a_band(high: float, rows: int) -> None:
    found = shape(law_of(ContinuousLaplace, 2.0, high), np.full(rows, high / 3), 1)
    assert np.isfinite(found.low).all()
    assert (found.low <= found.high).all()
    assert ((found.low >= 0) & (found.high <= 1)).all()


@pytest.mark.parametrize("blur", [0.02, 0.1, 2.0])
def test_a_blur_keeps_what_there_is(blur: float) -> None:
    kernel = blur_kernel(50, blur)
    assert kernel.sum(axis=0) == pytest.approx(1.0)
    assert kernel == pytest.approx(kernel.T)
    assert kernel.min() > -1e-3
    if blur > 1:
        assert kernel == pytest.approx(1 / 50)


@pytest.mark.parametrize(("epsilon", "known"), [(0.1, False), (3.0, True)])
def test_shares_of_classes_have_a_band_of_two_standard_errors(
    *, epsilon: float, known: bool
) -> None:
    law = GeneralizedRandomizedResponse.for_epsilon(size=3, epsilon=epsilon)
    schema = ArchiveSchema(columns=(ClassColumn("kind", ("a", "b", "c"), law),))
    inside = []
    for seed in range(TRIES):
        held = {"kind": np.array(["a", "b", "c"])[(3 * uniform(2000, seed) ** 2).astype(int)]}
        found = assess(Archive.noised(held, schema, simulation(seed)), held, held).columns[0]
        assert found.clean is not None
        assert found.shape.known is known
        inside.append(np.mean((found.shape.low <= found.clean) & (found.clean <= found.shape.high)))
    assert np.mean(inside) > 0.88


def test_the_columns_whose_shape_is_hidden_are_named() -> None:
    known = shape_of_classes(np.full(2, 0.5), np.full(2, 0.01), 100)
    hidden = shape_of_classes(np.full(2, 0.5), np.full(2, 0.4), 100)
    few = shape_of_classes(np.full(2, 0.5), np.full(2, 0.01), 5)
    assert (known.known, hidden.known, few.known) == (True, False, False)
    law = law_of(ContinuousLaplace, 4.0)
    schema = ArchiveSchema(columns=(NumberColumn("x", law),))
    held = {"x": normal(500, 1)}
    found = assess(Archive.noised(held, schema, simulation(1)), held)

    def told(**shapes: DistributionShape) -> str:
        named = [replace(found.columns[0], name=name, shape=each) for name, each in shapes.items()]
        return replace(found, columns=tuple(named)).of_shapes

    assert told(a=known) == ""
    assert told(a=known, b=hidden).startswith("The shape of the distribution of b is")
    many = told(**{f"x{place}": hidden for place in range(7)})
    assert "of x0, x1, x2, x3, x4 and 2 more is not known" in many


def test_the_report_says_it_in_words_and_in_figures() -> None:
    law = law_of(ContinuousLaplace, 0.5)
    schema = ArchiveSchema(columns=(NumberColumn("a", law), NumberColumn("b", law)))
    held = {"a": normal(500, 1), "b": spiked(500, 2)}
    found = assess(Archive.noised(held, schema, simulation(1)), held)
    assert any("distribution of a and b is not known" in each for each in found.sentences)
    form = found.to_form()["columns"][0]["shape"]
    assert (form["known"], len(form["low"]), len(form["high"])) == (False, BINS, BINS)
