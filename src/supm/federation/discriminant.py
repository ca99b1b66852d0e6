"""Linear discriminant analysis of the tables of several parties, from two noisy sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Integers, Reals, check_kind, keep_checked
from supm.federation.discriminant_sums import (
    RATIO,
    Floats,
    MomentNoise,
    NoisyMoments,
    ScoreCells,
    ScoreHistogram,
    histogram_length,
    histogram_mu,
    histogram_width,
    moments_length,
    read_given,
    read_histogram,
    read_moments,
    scoring,
    tell_histogram,
    tell_moments,
)
from supm.federation.protocol import (
    TABLE,
    Circle,
    Protocol,
    RoundQuestion,
    Totals,
    check_public,
    drawn_for,
    mu_for,
)
from supm.federation.rows import GRID, Encoding, Rows, keep_arrays, shortened
from supm.learning.directions import GaussianRule
from supm.messages import Part
from supm.messages.codec import Message
from supm.privacy import GaussianDP, Guarantee, sequential

_COUNT: Final = Integers("count", 0, 1 << 32)
_SHARE: Final = Reals("share", 0.05, 0.95)
_BINS: Final = Integers("bins", 2, 1 << 12)
_MOST_CELLS: Final = 1 << 16
# Cells for each direction, where there are one or two directions.
_USUAL_BINS: Final = {1: 64, 2: 16}


@dataclass(frozen=True, kw_only=True, eq=False)
class DiscriminantOutcome(Message):
    """Directions that tell classes apart, with everything noisy that they were made from.

    Nothing in it is about one record: whoever has it can score and classify own records, or draw
    made-up pairs of class and score that are distributed like those of the parties.

    Parameters
    ----------
    moments : NoisyMoments
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

    noun = "an outcome of a discriminant"
    moments: NoisyMoments
    directions: Floats
    histogram: ScoreHistogram | None = None

    def __post_init__(self) -> None:
        keep_arrays(self, directions=(None, self.moments.width))
        held, own = self.histogram, (self.moments.classes, len(self.directions))
        if held is not None and (held.classes, held.cells.directions) != own:
            raise ParameterError("histogram", "of as many classes and directions", "others")

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
        return np.asarray(shortened(vectors) @ self.directions.T)

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


@dataclass(frozen=True, kw_only=True)
class Discriminant(Protocol):
    """Directions along which classes differ, and the scores along them, counted by class.

    In the first round the parties tell class sums, products and class counts of their rows, in the
    second how many rows of each class are in each cell of the scores along the directions that the
    first gave. Only noisy sums over all parties are seen.

    Parameters
    ----------
    encoding : VectorEncoding or SchemaEncoding
        How records become rows.
    circle : Circle
        The parties and the trust between them.
    noise : MomentNoise
        Widths of each party's noise in the first round.
    histogram : int, optional
        Width of each party's noise on each cell, in steps of 2^-16 of a record; without it there
        is no second round.
    bins : int, default 64
        Cells for each direction.
    directions : int, default 1
        How many, fewer than there are classes; at most two with a histogram.

    Notes
    -----
    **Guarantee.** mu-GDP for replacing one record of one party, label included, with mu² the sum of
    those of the two rounds: Theorem 2 of docs/proofs/discriminant.md. It is derived from the widths
    and never stored.

    **Utility.** In one round the noise is that of one table holding all records, times the parties
    over the holders (`Circle.holders`). Misclassification on the papers' data is in
    experiments/lda_publishing/README.md.

    **Cost.** A party tells C p + p (p + 1) / 2 + C + 2 numbers, then two more than C times the
    number of cells.

    Examples
    --------
    >>> from supm.federation import VectorEncoding
    >>> protocol = Discriminant.for_budget(
    ...     encoding=VectorEncoding(width=4, classes=2), epsilon=1.0, delta=1e-5,
    ...     circle=Circle(parties=3, colluders=1),
    ... )
    >>> protocol.rounds, [part.name for part in protocol.parts]
    (2, ['moments', 'histogram'])
    >>> round(protocol.guarantee.to_approximate(1e-5).epsilon, 4)
    1.0
    """

    noun = "a discriminant"
    kind = "discriminant"
    fewest_rows = 0
    encoding: Encoding
    circle: Circle
    noise: MomentNoise
    histogram: int | None = None
    bins: int = 64
    directions: int = 1

    def _check(self) -> None:
        check_kind("noise", self.noise, MomentNoise)
        keep_checked(self, bins=_BINS)
        counted = self.histogram is not None
        count = check_directions(self.directions, self.encoding, histogram=counted)
        object.__setattr__(self, "directions", count)
        if counted and self.encoding.classes * self._cells > _MOST_CELLS:
            raise ParameterError("bins", f"so few that {_MOST_CELLS} cells are enough", self.bins)

    @classmethod
    def for_budget(  # noqa: PLR0913  each is a choice of its own, with a default
        cls,
        *,
        encoding: Encoding,
        epsilon: float,
        delta: float,
        circle: Circle,
        histogram: bool = True,
        bins: int | None = None,
        directions: int | None = None,
        share: float = 0.7,
        ratio: float = 1.0,
    ) -> Discriminant:
        """Make the protocol with the least noise that keeps (epsilon, delta) in total.

        Parameters
        ----------
        encoding : VectorEncoding or SchemaEncoding
            How records become rows.
        epsilon, delta : float
            What all of it may spend, on the exact curve.
        circle : Circle
            The parties and the trust between them.
        histogram : bool, default True
            Whether scores are counted, too.
        bins : int, optional
            Cells for each direction; 64 for one, 16 for each of two.
        directions : int, optional
            How many; by default one fewer than there are classes, at most two with a histogram.
        share : float, default 0.7
            The part of mu² that moments get, where there is a histogram.
        ratio : float, default 1
            How wide the noise on sums is, as a multiple of that on products.

        Returns
        -------
        Discriminant
        """
        check_public(encoding, circle)
        most = _most_directions(encoding)
        usual = min(most, max(_USUAL_BINS)) if histogram else most
        count = usual if directions is None else directions
        mu = mu_for(EPSILON.check(epsilon), delta) * (1 - 1e-8)
        part = _SHARE.check(share) if histogram else 1.0
        left = mu * math.sqrt(1 - part)
        holders = circle.holders
        apart = RATIO.check(ratio)
        with drawn_for(epsilon):
            noise = MomentNoise.for_mu(mu=mu * math.sqrt(part), holders=holders, ratio=apart)
            width = histogram_width(mu=left, holders=holders) if histogram else None
        return cls(
            encoding=encoding,
            circle=circle,
            noise=noise,
            histogram=width,
            bins=_USUAL_BINS.get(count, 64) if bins is None else bins,
            directions=count,
        )

    @property
    def lengths(self) -> tuple[int, ...]:
        """Of the moments, and of the histogram if there is one."""
        moments = moments_length(self.encoding.classes, self.encoding.width)
        if self.histogram is None:
            return (moments,)
        return moments, histogram_length(self.encoding.classes, self._cells)

    @property
    def given(self) -> tuple[int, ...]:
        """Nothing, then directions and where the cells along them begin and end."""
        return (0, self.directions * (self.encoding.width + 2))[: self.rounds]

    @property
    def parts(self) -> tuple[Part, ...]:
        """Moments, and the histogram if there is one."""
        holders = self.circle.holders
        moments = Part(
            name="moments",
            method=_moments_method(self.noise),
            guarantee=GaussianDP(mu=self.noise.mu(holders), neighbours=TABLE),
        )
        if self.histogram is None:
            return (moments,)
        promise = GaussianDP(mu=histogram_mu(self.histogram, holders), neighbours=TABLE)
        method = _histogram_method(self.histogram, self._cells)
        return moments, Part(name="histogram", method=method, guarantee=promise)

    @property
    def guarantee(self) -> Guarantee:
        """What both rounds promise together."""
        return sequential(*(part.guarantee for part in self.parts))

    def ask(self, totals: Totals) -> RoundQuestion:
        """Return the question of round ``len(totals)``, given the sums of those before."""
        if not totals:
            return RoundQuestion(number=0, length=self.lengths[0])
        directions, cells = self._scoring(totals)
        given = np.concatenate([directions.ravel(), cells.low, cells.high])
        return RoundQuestion(number=1, length=self.lengths[1], given=given)

    def tell(self, rows: Rows, question: RoundQuestion, source: RandomSource) -> NDArray[np.int64]:
        """Return what a party tells: its moments or its counted scores, with its noise."""
        self.check_asked(rows, question)
        if question.number == 0 or self.histogram is None:
            return tell_moments(rows, self.noise, source)
        given = read_given(question.given, self.directions, self.bins)
        return tell_histogram(rows, given, self.histogram, source)

    def rows_told(self, total: NDArray[np.int64]) -> int:
        """Return the last number but one: without noise, for sizes are public."""
        return int(total[-2])

    def conclude(self, totals: Totals) -> DiscriminantOutcome:
        """Return what is published."""
        directions, cells = self._scoring(totals)
        histogram: ScoreHistogram | None = None
        if self.histogram is not None:
            histogram = read_histogram(totals[1], cells, self.encoding.classes, self.histogram)
        moments = self._moments(totals)
        return DiscriminantOutcome(moments=moments, directions=directions, histogram=histogram)

    def fits(self, outcome: Any) -> bool:  # noqa: ANN401  each its own
        """Say whether an outcome that was read has the shape that this protocol concludes."""
        classes, width = self.encoding.classes, self.encoding.width
        return (
            outcome.moments.sums.shape == (classes, width)
            and outcome.directions.shape == (self.directions, width)
            and (outcome.histogram is None) == (self.histogram is None)
        )

    @property
    def _cells(self) -> int:
        return int(self.bins**self.directions)

    def _moments(self, totals: Totals) -> NoisyMoments:
        return read_moments(totals[0], self.encoding.classes, self.encoding.width, self.noise)

    def _scoring(self, totals: Totals) -> tuple[NDArray[np.float64], ScoreCells]:
        return scoring(self._moments(totals), self.directions, self.bins)


def check_directions(
    directions: int, encoding: Encoding, *, histogram: bool, name: str = "directions"
) -> int:
    """Return the number of directions, or raise where there cannot be as many."""
    count = Integers(name, 1, _most_directions(encoding), _why(encoding)).check(directions)
    if histogram and count not in _USUAL_BINS:
        hint = "Without a histogram there may be more."
        raise ParameterError(name, "1 or 2 with a histogram", count, hint)
    return count


def _most_directions(encoding: Encoding) -> int:
    return min(max(encoding.classes - 1, 1), encoding.width)


def _why(encoding: Encoding) -> str:
    """Say what bounds the number of directions."""
    if encoding.width < encoding.classes - 1:
        return f"Rows of {encoding.width} numbers have no more."
    if encoding.classes <= 2:
        return "Two classes have one direction."
    return f"{encoding.classes} classes have {encoding.classes - 1}, one fewer."


def _moments_method(noise: MomentNoise) -> str:
    return (
        "class sums, products and class counts of rows of norm at most one, each party's noise "
        f"{noise.sums / GRID:.3g} wide on sums, {noise.scatter / GRID**2:.3g} on products and "
        f"{noise.counts / GRID:.3g} on counts"
    )


def _histogram_method(width: int, cells: int) -> str:
    return (
        f"scores along the directions counted by class in {cells} cells, each party's noise "
        f"{width / GRID:.3g} wide on each count"
    )
