"""What the protocols publish: components, discriminants and classifiers, noisy as they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError, ParameterError
from supm._random import RandomSource
from supm._validation import Integers, Reals
from supm.federation.discriminant_sums import ScoreCells, ScoreHistogram
from supm.learning.discriminant import ClassMoments, GaussianRule
from supm.learning.margins import LOSSES, Loss, outputs_of, probabilities, winners

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class ComponentsOutcome:
    """Directions in which the parties' rows are long.

    Parameters
    ----------
    components : ndarray of float64, shape (components, width)
        Orthonormal rows.
    eigenvalues : ndarray of float64
        Noisy sum of squares along each. Where the parties told subspaces: which part of the records
        belongs to parties that have it among theirs, 1 at the most.

    Examples
    --------
    >>> outcome = ComponentsOutcome(components=np.eye(2)[:1], eigenvalues=np.array([3.0]))
    >>> outcome.transform(np.array([[0.5, 0.25]])).tolist()
    [[0.5]]
    """

    components: Floats
    eigenvalues: Floats

    def transform(self, vectors: Floats) -> Floats:
        """Return the vectors along the components; longer ones than one are shortened first."""
        return shortened(vectors) @ self.components.T

    def to_form(self) -> dict[str, Any]:
        """Return the outcome as plain values for JSON."""
        return {"components": self.components.tolist(), "eigenvalues": self.eigenvalues.tolist()}

    @classmethod
    def from_form(cls, form: object) -> ComponentsOutcome:
        """Read what `to_form` wrote."""
        if not isinstance(form, dict) or set(form) != {"components", "eigenvalues"}:
            message = "components are told with the fields components and eigenvalues."
            raise MessageError(message)
        components, eigenvalues = (
            read_matrix(form["components"]),
            read_matrix([form["eigenvalues"]]),
        )
        if len(components) != eigenvalues.shape[1]:
            message = "components must have one eigenvalue each."
            raise MessageError(message)
        return cls(components=components, eigenvalues=eigenvalues[0])


def read_matrix(form: object) -> Floats:
    """Read rows of finite numbers."""
    try:
        table = np.asarray(form, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        message = "a table must have rows of finite numbers, all of one length."
        raise MessageError(message)
    return table


def shortened(vectors: Floats) -> Floats:
    """Return the vectors, those longer than one shortened to one."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.maximum(lengths, 1.0)[:, None])


_DISCRIMINANT: Final = ("counts", "sums", "scatter", "noise", "directions", "histogram")
_NOISES: Final = ("count_noise", "sum_noise", "scatter_noise")
_HISTOGRAM: Final = ("low", "high", "bins", "counts", "noise", "total")
_COUNT: Final = Integers("count", 0, 1 << 32)
_TOTAL: Final = Integers("total", 0, 1 << 40)
_BINS: Final = Integers("bins", 2, 1 << 12)
_NOISE: Final = Reals("noise", 0.0, 1e12)
_LARGEST: Final = 1e15


@dataclass(frozen=True, kw_only=True, eq=False)
class DiscriminantOutcome:
    """Directions that tell classes apart, with everything noisy that they were made from.

    Nothing in it is about one record: whoever has it can score and classify own records, or draw
    made-up pairs of class and score that are distributed like those of the parties.

    Parameters
    ----------
    moments : ClassMoments
        Noisy counts, sums and products.
    directions : ndarray of float64, shape (directions, width)
        Of length one.
    histogram : ScoreHistogram, optional
        Noisy counts of scores by class.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.federation import Circle, Discriminant, VectorEncoding, grid_rows, run_pooled
    >>> vectors = np.tile([[0.6, 0.2], [-0.6, 0.2], [0.5, -0.3], [-0.5, -0.3]], (500, 1))
    >>> rows = grid_rows(vectors, np.tile([1, 0], 1000), classes=2)
    >>> protocol = Discriminant.for_budget(
    ...     encoding=VectorEncoding(width=2, classes=2), epsilon=1.0, delta=1e-5,
    ...     circle=Circle(parties=1),
    ... )
    >>> outcome = run_pooled(protocol, [rows], ["clinic"], simulation(1))
    >>> outcome.predict(vectors[:4]).tolist()
    [1, 0, 1, 0]
    """

    moments: ClassMoments
    directions: Floats
    histogram: ScoreHistogram | None = None

    @property
    def failed(self) -> bool:
        """Whether noise hides all classes but one; then the commonest is always answered."""
        return not self.moments.decides

    @property
    def counts(self) -> Floats:
        """Noisy counts of the classes."""
        return self.moments.counts

    @property
    def means(self) -> Floats:
        """Noisy means of the classes, as rows."""
        return self.moments.means

    @cached_property
    def rule(self) -> GaussianRule:
        """The decision from moments alone."""
        return self.moments.rule(self.directions)

    def scores(self, vectors: Floats) -> Floats:
        """Return the score of each vector along each direction, in [-1, 1]."""
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1.0) @ self.directions.T)

    def predict(self, vectors: Floats) -> NDArray[np.int64]:
        """Return the class of each vector, by the histogram where there is one."""
        scores = self.scores(vectors)
        if self.histogram is None or self.failed:
            return self.rule.predict(scores)
        return self.histogram.predict(scores, self.rule)

    def predict_by_moments(self, vectors: Floats) -> NDArray[np.int64]:
        """Return the class of each vector, by the moments alone."""
        return self.rule.predict(self.scores(vectors))

    def sample(self, count: int, source: RandomSource) -> tuple[NDArray[np.int64], Floats]:
        """Draw made-up pairs of class and score, distributed as the histogram says."""
        if self.histogram is None:
            hint = "Ask for one: for_budget(…, histogram=True)."
            raise ParameterError("histogram", "there to draw pairs from", None, hint)
        return self.histogram.sample(_COUNT.check(count), source)

    def to_form(self) -> dict[str, Any]:
        """Return the outcome as plain values for JSON."""
        moments = self.moments
        return {
            "counts": moments.counts.tolist(),
            "sums": moments.sums.tolist(),
            "scatter": moments.scatter.tolist(),
            "noise": {name: getattr(moments, name) for name in _NOISES},
            "directions": self.directions.tolist(),
            "histogram": None if self.histogram is None else _histogram_form(self.histogram),
        }

    @classmethod
    def from_form(cls, form: object) -> DiscriminantOutcome:
        """Read what `to_form` wrote."""
        given = _object(form, _DISCRIMINANT, "a discriminant")
        sums = _numbers(given["sums"], 2)
        classes, width = sums.shape
        noise = _object(given["noise"], _NOISES, "noise")
        moments = ClassMoments(
            counts=_numbers(given["counts"], 1, classes),
            sums=sums,
            scatter=_numbers(given["scatter"], 2, width, width),
            **{name: _read(_NOISE, noise[name]) for name in _NOISES},
        )
        directions = _numbers(given["directions"], 2, None, width)
        histogram = _read_histogram(given["histogram"], classes, len(directions))
        return cls(moments=moments, directions=directions, histogram=histogram)


def _histogram_form(histogram: ScoreHistogram) -> dict[str, Any]:
    cells = histogram.cells
    return {
        "low": cells.low.tolist(),
        "high": cells.high.tolist(),
        "bins": cells.bins,
        "counts": histogram.counts.tolist(),
        "noise": histogram.noise,
        "total": histogram.total,
    }


def _read_histogram(form: object, classes: int, directions: int) -> ScoreHistogram | None:
    if form is None:
        return None
    given = _object(form, _HISTOGRAM, "a histogram")
    low, high = (_numbers(given[name], 1, directions) for name in ("low", "high"))
    if not (low < high).all():
        message = "the cells of a histogram must begin before they end."
        raise MessageError(message)
    cells = ScoreCells(low=low, high=high, bins=_read(_BINS, given["bins"]))
    return ScoreHistogram(
        cells=cells,
        counts=_numbers(given["counts"], 2, classes, cells.count),
        noise=_read(_NOISE, given["noise"]),
        total=_read(_TOTAL, given["total"]),
    )


def _object(form: object, fields: tuple[str, ...], noun: str) -> dict[str, Any]:
    if not isinstance(form, dict) or set(form) != set(fields):
        message = f"{noun} has the fields {', '.join(fields)}."
        raise MessageError(message)
    return form


def _read(constraint: Any, value: object) -> Any:  # noqa: ANN401  of either kind of number
    try:
        return constraint.check(value)
    except ParameterError as error:
        raise MessageError(str(error)) from None


def _numbers(form: object, dimensions: int, *shape: int | None) -> Floats:
    """Return an array of finite numbers of a shape; None stands for any length."""
    try:
        array = np.array(form, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    wanted = shape or (None,) * dimensions
    fits = array.ndim == dimensions and array.size > 0
    fits = fits and all(n in (None, have) for n, have in zip(wanted, array.shape, strict=True))
    if not fits or not (np.abs(array) < _LARGEST).all():
        message = "an array of a discriminant has finite numbers, and as many as its other parts."
        raise MessageError(message)
    return array


_MARGIN: Final = ("loss", "classes", "components", "coefficients")


def reduced(vectors: Floats, components: Floats | None) -> Floats:
    """Return the rows on which coefficients work: (x, 1) / sqrt(2), x of norm at most one.

    What anybody gives as components, the result has norm at most one, so the promise of the noise
    does not depend on them.
    """
    rows = shortened(vectors)
    if components is not None:
        rows = shortened(rows @ components.T)
    return np.hstack((rows, np.ones((len(rows), 1)))) / math.sqrt(2.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginOutcome:
    """A linear classifier that several parties learned together.

    Parameters
    ----------
    loss : {"huber", "logistic", "softmax"}
        What was minimised.
    classes : int
        How many classes there are.
    components : ndarray of float64, shape (components, width), or None
        What records are projected on, if anything.
    coefficients : ndarray of float64, shape (outputs, numbers + 1)
        One row for each class, or a single one for two; the last number is the intercept.

    Examples
    --------
    >>> line = MarginOutcome(
    ...     loss="logistic", classes=2, components=None, coefficients=np.array([[4.0, 0.0]])
    ... )
    >>> line.predict(np.array([[-1.0], [0.5]])).tolist()
    [0, 1]
    >>> line.probabilities(np.array([[0.0]])).tolist()
    [[0.5, 0.5]]
    """

    loss: Loss
    classes: int
    components: Floats | None
    coefficients: Floats

    def decision(self, vectors: Floats) -> Floats:
        """Return the scores of vectors as the encoding makes them, one column for each output."""
        return reduced(vectors, self.components) @ self.coefficients.T

    def predict(self, vectors: Floats) -> NDArray[np.int64]:
        """Return the class of each vector."""
        return winners(self.decision(vectors))

    def probabilities(self, vectors: Floats) -> Floats:
        """Return the model's shares of the classes; the Huber loss has none."""
        if self.loss == "huber":
            hint = "Use decision(), or another loss."
            raise ParameterError("loss", "'softmax' or 'logistic' for probabilities", "huber", hint)
        return probabilities(self.decision(vectors))

    def to_form(self) -> dict[str, Any]:
        """Return the outcome as plain values for JSON."""
        return {
            "loss": self.loss,
            "classes": self.classes,
            "components": None if self.components is None else self.components.tolist(),
            "coefficients": self.coefficients.tolist(),
        }

    @classmethod
    def from_form(cls, form: object) -> MarginOutcome:
        """Read what `to_form` wrote."""
        if not isinstance(form, dict) or set(form) != set(_MARGIN) or form["loss"] not in LOSSES:
            message = f"a margin classifier has the fields {', '.join(_MARGIN)}."
            raise MessageError(message)
        given = form["components"]
        outcome = cls(
            loss=form["loss"],
            classes=form["classes"],
            components=None if given is None else read_matrix(given),
            coefficients=read_matrix(form["coefficients"]),
        )
        return outcome._checked()

    def _checked(self) -> MarginOutcome:
        try:
            outputs = outputs_of(self.loss, self.classes)
        except ParameterError as error:
            raise MessageError(str(error)) from None
        rows, width = self.coefficients.shape
        if rows != outputs or (self.components is not None and len(self.components) + 1 != width):
            message = "coefficients must have a row for each output, as long as the components say."
            raise MessageError(message)
        return self
