"""A linear classifier of the tables of several parties: components, then noisy minimisation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError, ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Integers, Reals, check_kind, keep_checked
from supm.federation.components import ScatterNoise, check_count, scatter_part
from supm.federation.margin_noise import FLOATS, MOST_GAMMAS, STEPS, MarginNoise
from supm.federation.protocol import Circle, Protocol, RoundQuestion, Totals, drawn_for, mu_for
from supm.federation.rows import Encoding, Rows, keep_arrays, shortened
from supm.learning.directions import principal_components
from supm.learning.margins import Loss, outputs_of, probabilities, winners
from supm.mechanisms.noise.loss_bounds import LossBounds
from supm.messages import Part
from supm.messages.codec import Message
from supm.privacy import Guarantee

Floats: TypeAlias = NDArray[np.float64]

_SHARE: Final = Reals("share", 0.05, 0.95)
_DELTA: Final = Reals("delta", 1e-24, 0.5, "A pure epsilon is not to be had in floating point.")
_LARGEST_ENTRY: Final = 2.0


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
class MarginOutcome(Message):
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

    noun = "an outcome of a margin"
    loss: Loss
    classes: int
    components: Floats | None
    coefficients: Floats

    def __post_init__(self) -> None:
        width = None
        if self.components is not None:
            keep_arrays(self, components=(None, None))
            width = len(self.components) + 1
        keep_arrays(self, coefficients=(outputs_of(self.loss, self.classes), width))

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


@dataclass(frozen=True, kw_only=True)
class Margin(Protocol):
    """A linear classifier: the average of those that the parties learned with noise.

    In the first round the parties tell products of their rows, from which components follow. In the
    second each minimises its own loss on its projected rows, with noise inside the objective, and
    tells its coefficients times its number of rows. Only the sums over all parties are seen.

    Parameters
    ----------
    encoding : VectorEncoding or SchemaEncoding
        How records become rows.
    circle : Circle
        The parties and the trust between them.
    loss : {"softmax", "huber", "logistic"}
        What is minimised; Huber is a support vector machine for each class against the rest.
    noise : MarginNoise
        Noise inside the objective.
    delta : float
        At which the guarantee is told.
    components : int, optional
        How many; without it rows are used as they are.
    spread : int, optional
        Width of each party's noise on products, in steps of 2^-32; with components only.

    Notes
    -----
    **Guarantee.** (epsilon, delta) for replacing one record of any party, label included: Theorem 4
    of docs/proofs/objective-perturbation.md. It is derived from the noise, for parties of any size.
    Noise inside an objective protects each party by itself, whoever colludes; that of the products
    counts as `Circle` says. One class against the rest is one release of all problems together, so
    its epsilon is that of all of them.

    **Utility.** Noise of the coefficients shrinks with the root of the number of parties, that of
    the components with the number itself. Accuracy is in experiments/federated_svm/README.md.

    **Cost.** A party tells width (width + 1) / 2 + 1 numbers, then one for each coefficient.

    **Seeds.** Other threads or another BLAS change the last bits of a party's minimum; it is told
    in steps of 2^-20 / n, which nearly always hides that. Components are made by the server, as
    floats: for a simulation to be the same bit for bit, only its BLAS and threads must be the same.

    References
    ----------
    Paper 003; K. Chaudhuri, C. Monteleoni, A. Sarwate, JMLR 12 (2011).

    Examples
    --------
    >>> from supm.federation import VectorEncoding
    >>> protocol = Margin.for_budget(
    ...     encoding=VectorEncoding(width=8, classes=3), epsilon=1.0, delta=1e-5,
    ...     circle=Circle(parties=3, colluders=0), components=2,
    ... )
    >>> protocol.rounds, [part.name for part in protocol.parts]
    (2, ['components', 'coefficients'])
    >>> round(protocol.guarantee.epsilon, 4), protocol.guarantee.delta
    (1.0, 1e-05)
    """

    noun = "a margin protocol"
    kind = "margin"
    encoding: Encoding
    circle: Circle
    loss: Loss
    noise: MarginNoise
    delta: float
    components: int | None = None
    spread: int | None = None

    def _check(self) -> None:
        check_kind("noise", self.noise, MarginNoise)
        keep_checked(self, delta=_DELTA)
        if (self.components is None) != (self.spread is None):
            raise ParameterError("spread", "given with components and not without", self.spread)
        if self.components is not None:
            check_count(self.components, self.encoding.width)
        if self.noise.law == "gamma":
            Integers("coefficients", 1, MOST_GAMMAS).check(self._length - 1)

    @classmethod
    def for_budget(  # noqa: PLR0913  each is a choice of its own, with a default
        cls,
        *,
        encoding: Encoding,
        epsilon: float,
        delta: float,
        circle: Circle,
        components: int | None = None,
        loss: Loss = "softmax",
        regularisation: float = 3e-4,
        share: float = 0.4,
    ) -> Margin:
        """Make the protocol with the least noise that keeps (epsilon, delta) in total.

        Parameters
        ----------
        encoding : VectorEncoding or SchemaEncoding
            How records become rows.
        epsilon, delta : float
            What all of it may spend; delta is above 0.
        circle : Circle
            The parties and the trust between them.
        components : int, optional
            How many components rows are projected on.
        loss : {"softmax", "huber", "logistic"}
            What is minimised.
        regularisation : float, default 3e-4
            How strongly long coefficients are held back; a small party uses more.
        share : float, default 0.4
            The part of mu^2 (of epsilon, with gamma noise) that components get.

        Returns
        -------
        Margin
            With Gaussian or with gamma noise, whichever is less for these public numbers.
        """
        bounds = LossBounds(loss=loss, classes=encoding.classes, intercept=True)
        epsilon = EPSILON.check(epsilon) * (1 - 1e-8)
        part = 0.0 if components is None else _SHARE.check(share)
        width = encoding.width if components is None else check_count(components, encoding.width)
        noise, mu = _least_noise(
            bounds, epsilon, _DELTA.check(delta), part, regularisation, width + 1
        )
        with drawn_for(epsilon):
            spread = ScatterNoise.for_mu(mu=mu, holders=circle.holders).spread if mu else None
        return cls(
            encoding=encoding,
            circle=circle,
            loss=loss,
            noise=noise,
            delta=delta,
            components=components,
            spread=spread,
        )

    @property
    def bounds(self) -> LossBounds:
        """What one record can do to the loss."""
        return LossBounds(loss=self.loss, classes=self.encoding.classes, intercept=True)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Of the products if there are components, and of the coefficients."""
        if self.components is None:
            return (self._length,)
        return ScatterNoise.length(self.encoding.width), self._length

    @property
    def given(self) -> tuple[int, ...]:
        """Nothing, then the components if there are any."""
        if self.components is None:
            return (0,)
        return 0, self.components * self.encoding.width

    @property
    def parts(self) -> tuple[Part, ...]:
        """The components, if there are any, and the coefficients."""
        coefficients = Part(
            name="coefficients",
            method=_method(self.loss, self.noise),
            guarantee=self.noise.guarantee(self.bounds, self.delta),
        )
        if self.components is None or self.spread is None:
            return (coefficients,)
        return scatter_part(self.spread, self.components, self.circle), coefficients

    @property
    def guarantee(self) -> Guarantee:
        """What both rounds promise together."""
        mu = 0.0
        if self.spread is not None:
            mu = ScatterNoise(self.spread).mu(self.circle.holders)
        return self.noise.guarantee(self.bounds, self.delta, mu)

    def ask(self, totals: Totals) -> RoundQuestion:
        """Return the question of round ``len(totals)``, given the sums of those before."""
        if self.components is not None and not totals:
            return RoundQuestion(number=0, length=self.lengths[0])
        given = self._components(totals)
        given = np.empty(0) if given is None else given.ravel()
        return RoundQuestion(number=len(totals), length=self._length, given=given)

    def check_asked(self, rows: Rows, question: RoundQuestion) -> None:
        """Refuse components with large entries, too, for all rows alike."""
        super().check_asked(rows, question)
        # Components have entries of at most one. Larger ones could make sums overflow for some rows
        # and not for others, and whether an answer comes would tell which.
        if not (np.abs(question.given) <= _LARGEST_ENTRY).all():
            raise MessageError(
                "the question must be one of the protocol's rounds, with components."
            )

    def tell(self, rows: Rows, question: RoundQuestion, source: RandomSource) -> NDArray[np.int64]:
        """Return what a party tells: its products, or its coefficients times its size."""
        self.check_asked(rows, question)
        if self.spread is not None and question.number == 0:
            return ScatterNoise(self.spread).tell(rows, source)
        components = None
        if self.components is not None:
            components = question.given.reshape(self.components, self.encoding.width)
        vectors = reduced(rows.unit, components)
        told = self.noise.tell(vectors, rows.labels, self.bounds, source)
        return np.append(told, rows.size)

    def conclude(self, totals: Totals) -> MarginOutcome:
        """Return the average of the parties' coefficients, each weighted by its size."""
        whole = totals[-1]
        coefficients = whole[:-1] / (STEPS * float(whole[-1]))
        return MarginOutcome(
            loss=self.loss,
            classes=self.encoding.classes,
            components=self._components(totals),
            coefficients=coefficients.reshape(self.bounds.outputs, -1),
        )

    def fits(self, outcome: Any) -> bool:  # noqa: ANN401  each its own
        """Say whether an outcome that was read has the shape that this protocol concludes."""
        width = self.encoding.width
        held = outcome.components
        shape = None if self.components is None else (self.components, width)
        return (
            (outcome.loss, outcome.classes) == (self.loss, self.encoding.classes)
            and (None if held is None else held.shape) == shape
            and outcome.coefficients.size == self._length - 1
        )

    @property
    def _length(self) -> int:
        width = self.encoding.width if self.components is None else self.components
        return self.bounds.outputs * (width + 1) + 1

    def _components(self, totals: Totals) -> NDArray[np.float64] | None:
        if self.components is None:
            return None
        products = ScatterNoise.read(totals[0], self.encoding.width)
        return principal_components(products, self.components)[0]


def _least_noise(
    bounds: LossBounds,
    epsilon: float,
    delta: float,
    share: float,
    regularisation: float,
    width: int,
) -> tuple[MarginNoise, float]:
    """Return the noise inside the objective, and the mu of components."""
    normal, mu = MarginNoise.gaussian(
        bounds=bounds, epsilon=epsilon, delta=delta, regularisation=regularisation, share=share
    )
    numbers = bounds.outputs * width
    if delta <= 2 * FLOATS or numbers > MOST_GAMMAS:
        return normal, mu
    gamma = MarginNoise.gamma(
        bounds=bounds, epsilon=epsilon * (1 - share), regularisation=regularisation
    )
    beside = mu_for(epsilon * share, delta - 2 * FLOATS) * (1 - 1e-8) if share else 0.0
    less = gamma.deviation(numbers) < normal.deviation(numbers) and beside >= mu
    return (gamma, beside) if less else (normal, mu)


def _method(loss: Loss, noise: MarginNoise) -> str:
    return (
        f"coefficients that minimise the {loss} loss of a party's rows of norm at most one with "
        f"{noise.law} noise of scale {noise.scale:.3g} in the objective, averaged over the parties"
    )
