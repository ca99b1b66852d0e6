"""Principal components of the tables of several parties, from one sum of what each makes noisy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Integers, keep_checked
from supm.federation.protocol import (
    TABLE,
    Circle,
    Protocol,
    RoundQuestion,
    Totals,
    drawn_for,
    mu_for,
)
from supm.federation.rows import (
    GRID,
    Encoding,
    Rows,
    keep_arrays,
    scatter,
    shortened,
    triangle,
    untriangle,
)
from supm.learning.directions import principal_components
from supm.mechanisms.noise import sigma_for, summed_mu, symmetric_noise
from supm.messages import Part
from supm.messages.codec import Message
from supm.privacy import GaussianDP, Guarantee

Floats: TypeAlias = NDArray[np.float64]

STEPS: Final = 1 << 20
"""One, in steps of what is told. Entries are at most one, so a sum is below 2^29 STEPS = 2^49."""


def weighted_subspace(products: Floats, components: int, rows: int) -> NDArray[np.int64]:
    """Return the projector on the top components times the number of rows, upper triangle.

    The projector, not the components: their signs, order and rotations are arbitrary, and a sum of
    components depends on them.
    """
    found, _ = principal_components(products, components)
    return triangle(np.rint(rows * STEPS * (found.T @ found)).astype(np.int64))


def mean_subspace(total: NDArray[np.int64], width: int) -> Floats:
    """Return the average of the parties' projectors, from the sum of what they told."""
    return untriangle(total[:-1], width) / (float(STEPS) * float(total[-1]))


Share: TypeAlias = Literal["covariance", "subspace"]
"""What a party tells: its products with its noise, or the subspace that it finds in them."""

_MOST_COMPONENTS: Final = 1 << 14
# The products of a replaced row with itself change by sqrt(2) at most, in steps of 2^-32.
_SENSITIVITY: Final = math.nextafter(math.sqrt(2.0), 2.0) * GRID * GRID
_SPREAD: Final = Integers("spread", 6, 1 << 45)


@dataclass(frozen=True)
class ScatterNoise:
    """Noise on the products of all columns, drawn by each party.

    Parameters
    ----------
    spread : int
        Width on each product, before the matrix is made symmetric, in steps of 2^-32.

    Notes
    -----
    **Guarantee.** 2B + Z + Z' is a function of B + Z, where Z has independent entries. Replacing a
    row of norm at most one changes B by at most sqrt(2) in Frobenius norm, so the sum over holders
    is mu-GDP with the mu of `summed_mu` at that sensitivity. No doubling enters: B is doubled after
    the noise is in it.

    **Utility.** Off the diagonal the noise of B has half the variance of that on it.

    **Cost.** width^2 draws at each party.
    """

    spread: int

    def __post_init__(self) -> None:
        keep_checked(self, spread=_SPREAD)

    @classmethod
    def for_mu(cls, *, mu: float, holders: int) -> ScatterNoise:
        """Return the least width that keeps mu."""
        return cls(sigma_for(mu=mu, sensitivity=_SENSITIVITY, holders=holders))

    def mu(self, holders: int) -> float:
        """Return what the sum of so many holders' noise keeps."""
        return summed_mu(sensitivity=_SENSITIVITY, sigma=self.spread, holders=holders)

    def tell(self, rows: Rows, source: RandomSource) -> NDArray[np.int64]:
        """Return twice the products with noise, upper triangle, and the number of rows."""
        products = 2 * scatter(rows.values)
        products += symmetric_noise(rows.width, self.spread, source)
        return np.append(triangle(products), rows.size)

    @staticmethod
    def read(total: NDArray[np.int64], width: int) -> Floats:
        """Return the products of the rows, in units of one, from the sum of what was told."""
        return untriangle(total[:-1], width) / (2.0 * GRID * GRID)

    @staticmethod
    def length(width: int) -> int:
        """Return how many numbers a party tells."""
        return width * (width + 1) // 2 + 1


@dataclass(frozen=True, kw_only=True, eq=False)
class ComponentsOutcome(Message):
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

    noun = "an outcome of components"
    components: Floats
    eigenvalues: Floats

    def __post_init__(self) -> None:
        keep_arrays(self, components=(None, None))
        keep_arrays(self, eigenvalues=(len(self.components),))

    def transform(self, vectors: Floats) -> Floats:
        """Return the vectors along the components; longer ones than one are shortened first."""
        return shortened(vectors) @ self.components.T


@dataclass(frozen=True, kw_only=True)
class Components(Protocol):
    """Principal components of all rows, uncentred, from one sum over the parties.

    They tell their products with noise; or, where only subspaces may travel, each tells the
    projector on the top components of its own noisy products, times its number of rows.

    Parameters
    ----------
    encoding : VectorEncoding or SchemaEncoding
        How records become rows.
    circle : Circle
        The parties and the trust between them.
    components : int
        How many, at most the width of a row.
    spread : int
        Width of each party's noise on each product, in steps of 2^-32.
    share : {"covariance", "subspace"}
        What a party tells.

    Notes
    -----
    **Guarantee.** mu-GDP for replacing one record: see `ScatterNoise`. Eigenvectors are functions
    of what is released. A subspace is a function of one party's noisy products, so there the noise
    of that party counts alone, whoever colludes: Theorem 2 of docs/proofs/components.md.

    **Utility.** A direction is found if its sum of squares is well above
    spread sqrt(2 width parties) / 2^32; of subspaces, if that holds for single parties.

    **Cost.** One round; a party tells width (width + 1) / 2 + 1 numbers.

    **Seeds.** Products are told alike on every machine, subspaces nearly always: they are rounded
    to steps of 2^-20. Components are floats, and another BLAS may change their last bits.

    Examples
    --------
    >>> from supm.federation import VectorEncoding
    >>> protocol = Components.for_budget(
    ...     encoding=VectorEncoding(width=8, classes=2), epsilon=1.0, delta=1e-5,
    ...     circle=Circle(parties=3, colluders=0), components=2,
    ... )
    >>> round(protocol.guarantee.to_approximate(1e-5).epsilon, 4)
    1.0
    """

    noun = "a protocol of components"
    kind = "components"
    encoding: Encoding
    circle: Circle
    components: int
    spread: int
    share: Share = "covariance"

    def _check(self) -> None:
        check_count(self.components, self.encoding.width)
        ScatterNoise(self.spread)
        if self.share not in get_args(Share):
            raise ParameterError("share", "'covariance' or 'subspace'", self.share)

    @classmethod
    def for_budget(
        cls,
        *,
        encoding: Encoding,
        epsilon: float,
        delta: float,
        circle: Circle,
        components: int,
        share: Share = "covariance",
    ) -> Components:
        """Make the protocol with the least noise that keeps (epsilon, delta)."""
        mu = mu_for(EPSILON.check(epsilon), delta)
        with drawn_for(epsilon):
            noise = ScatterNoise.for_mu(mu=mu, holders=_holders(circle, share))
        return cls(
            encoding=encoding,
            circle=circle,
            components=components,
            spread=noise.spread,
            share=share,
        )

    @property
    def lengths(self) -> tuple[int, ...]:
        """Of the only round."""
        return (ScatterNoise.length(self.encoding.width),)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The components."""
        return (scatter_part(self.spread, self.components, self.circle, self.share),)

    @property
    def guarantee(self) -> Guarantee:
        """What the round promises."""
        return self.parts[0].guarantee

    @property
    def trust(self) -> str:
        """The trust in words; a subspace relies on nobody else's noise."""
        return self.circle.alone if self.share == "subspace" else super().trust

    @property
    def withstood(self) -> int:
        """How many other parties may work with the server: all, where subspaces are told."""
        return self.circle.parties - 1 if self.share == "subspace" else super().withstood

    def ask(self, totals: Totals) -> RoundQuestion:
        """Return the only question."""
        del totals
        return RoundQuestion(number=0, length=self.lengths[0])

    def tell(self, rows: Rows, question: RoundQuestion, source: RandomSource) -> NDArray[np.int64]:
        """Return a party's products with its noise, or the subspace that they span."""
        self.check_asked(rows, question)
        told = ScatterNoise(self.spread).tell(rows, source)
        if self.share == "covariance":
            return told
        products = ScatterNoise.read(told, rows.width)
        return np.append(weighted_subspace(products, self.components, rows.size), rows.size)

    def conclude(self, totals: Totals) -> ComponentsOutcome:
        """Return the components."""
        read = ScatterNoise.read if self.share == "covariance" else mean_subspace
        whole = read(totals[0], self.encoding.width)
        components, eigenvalues = principal_components(whole, self.components)
        return ComponentsOutcome(components=components, eigenvalues=eigenvalues)

    def fits(self, outcome: Any) -> bool:  # noqa: ANN401  each its own
        """Say whether an outcome that was read has the shape that this protocol concludes."""
        return bool(outcome.components.shape == (self.components, self.encoding.width))


def scatter_part(spread: int, components: int, circle: Circle, share: Share = "covariance") -> Part:
    """Return what is said of the round that finds components."""
    whose = {
        "covariance": "the sum of all rows' products",
        "subspace": "the average of the parties' subspaces, each found in its rows' products",
    }
    method = (
        f"{components} principal components of {whose[share]}, each party's noise "
        f"{spread / GRID**2:.3g} wide on each product"
    )
    mu = ScatterNoise(spread).mu(_holders(circle, share))
    return Part(name="components", method=method, guarantee=GaussianDP(mu=mu, neighbours=TABLE))


def _holders(circle: Circle, share: Share) -> int:
    """Return whose noise counts: a subspace shows that of one party only."""
    return circle.holders if share == "covariance" else 1


def check_count(components: int, width: int, *, name: str = "components") -> int:
    """Return the number of components, or raise where rows are not as wide."""
    if Integers(name, 1, _MOST_COMPONENTS).check(components) > width:
        raise ParameterError(name, f"at most the width of the rows, {width}", components)
    return components
