"""Principal components of the tables of several parties, from one noisy sum of products."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError, ParameterError
from supm._random import RandomSource
from supm._validation import EPSILON, Integers, check_kind
from supm.federation.calibration import drawn_for
from supm.federation.encoding import Encoding, SchemaEncoding, VectorEncoding, read_encoding
from supm.federation.protocol import Part, Protocol, Question, Totals
from supm.federation.rows import GRID, Rows
from supm.federation.sums import scatter, triangle, untriangle
from supm.federation.trust import Circle
from supm.learning.principal import principal_components
from supm.mechanisms.noise import sigma_for, summed_mu, symmetric_noise
from supm.privacy import GaussianDP, Guarantee, Neighbours

__all__ = ["Components", "ComponentsOutcome", "ScatterNoise", "shortened"]

Floats: TypeAlias = NDArray[np.float64]

_TABLE: Final = Neighbours.REPLACE_ONE
_COUNT: Final = Integers("components", 1, 1 << 14)
_MOST_ROWS: Final = 1 << 29
_LARGEST_MU: Final = 10.0
# The products of a replaced row with itself change by sqrt(2) at most, in steps of 2^-32.
_SENSITIVITY: Final = math.nextafter(math.sqrt(2.0), 2.0) * GRID * GRID
_FIELDS: Final = ("kind", "encoding", "circle", "components", "spread")
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

    Examples
    --------
    >>> round(ScatterNoise.for_mu(mu=0.1, holders=4).mu(4), 6)
    0.1
    """

    spread: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "spread", _SPREAD.check(self.spread))

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
class ComponentsOutcome:
    """Directions in which the parties' rows are long.

    Parameters
    ----------
    components : ndarray of float64, shape (components, width)
        Orthonormal rows.
    eigenvalues : ndarray of float64
        Noisy sum of squares along each.

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
        """Read what `to_form` wrote.

        Raises
        ------
        MessageError
            If it is no such outcome.
        """
        if not isinstance(form, dict) or set(form) != {"components", "eigenvalues"}:
            message = "components are told with the fields components and eigenvalues."
            raise MessageError(message)
        components, eigenvalues = read_table(form["components"]), read_table([form["eigenvalues"]])
        if len(components) != eigenvalues.shape[1]:
            message = "components must have one eigenvalue each."
            raise MessageError(message)
        return cls(components=components, eigenvalues=eigenvalues[0])


@dataclass(frozen=True, kw_only=True)
class Components(Protocol):
    """Principal components of all rows, uncentred, from one noisy sum.

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

    Notes
    -----
    **Guarantee.** mu-GDP for replacing one record: see `ScatterNoise`. Eigenvectors are functions
    of what is released.

    **Utility.** A direction is found if its sum of squares is well above
    spread sqrt(2 width parties) / 2^32.

    **Cost.** One round; a party tells width (width + 1) / 2 + 1 numbers.

    Examples
    --------
    >>> protocol = Components.for_budget(
    ...     encoding=VectorEncoding(width=8, classes=2), epsilon=1.0, delta=1e-5,
    ...     circle=Circle(parties=3, colluders=0), components=2,
    ... )
    >>> round(protocol.guarantee.to_approximate(1e-5).epsilon, 4)
    1.0
    """

    encoding: Encoding
    circle: Circle
    components: int
    spread: int
    kind: ClassVar[str] = "components"  # type: ignore[misc]  # a constant of the class

    def __post_init__(self) -> None:
        check_kind("encoding", self.encoding, VectorEncoding | SchemaEncoding)  # type: ignore[arg-type]  # isinstance takes both
        check_kind("circle", self.circle, Circle)
        check_count(self.components, self.encoding.width)
        ScatterNoise(spread=self.spread)
        # A width that promises nothing is refused here, not when the noise is drawn.
        _ = self.guarantee

    @classmethod
    def for_budget(
        cls, *, encoding: Encoding, epsilon: float, delta: float, circle: Circle, components: int
    ) -> Components:
        """Make the protocol with the least noise that keeps (epsilon, delta)."""
        all_of_it = GaussianDP.for_approximate(
            epsilon=EPSILON.check(epsilon), delta=delta, neighbours=_TABLE
        )
        mu = min(all_of_it.mu, _LARGEST_MU)
        with drawn_for(epsilon):
            noise = ScatterNoise.for_mu(mu=mu, holders=circle.holders)
        return cls(encoding=encoding, circle=circle, components=components, spread=noise.spread)

    @property
    def rounds(self) -> int:
        """One."""
        return 1

    @property
    def parts(self) -> tuple[Part, ...]:
        """The components."""
        return (scatter_part(self.spread, self.components, self.circle),)

    @property
    def guarantee(self) -> Guarantee:
        """What the round promises."""
        return self.parts[0].guarantee

    def ask(self, totals: Totals) -> Question:
        """Return the only question."""
        del totals
        return Question(number=0, length=ScatterNoise.length(self.encoding.width))

    def tell(self, rows: Rows, question: Question, source: RandomSource) -> NDArray[np.int64]:
        """Return a party's products with its noise."""
        check_rows(rows, self.encoding, self.circle)
        if (question.number, question.length) != (0, ScatterNoise.length(rows.width)):
            message = "the question must be one of the protocol's rounds, of its length."
            raise MessageError(message)
        return ScatterNoise(self.spread).tell(rows, source)

    def rows_told(self, total: NDArray[np.int64]) -> int:
        """Return the last number: without noise, for sizes are public."""
        return int(total[-1])

    def conclude(self, totals: Totals) -> ComponentsOutcome:
        """Return the components."""
        products = ScatterNoise.read(totals[0], self.encoding.width)
        components, eigenvalues = principal_components(products, self.components)
        return ComponentsOutcome(components=components, eigenvalues=eigenvalues)

    def fits(self, outcome: Any) -> bool:  # noqa: ANN401  each its own
        """Say whether an outcome that was read has the shape that this protocol concludes."""
        return bool(outcome.components.shape == (self.components, self.encoding.width))

    def to_form(self) -> dict[str, Any]:
        """Return the parameters as plain values for JSON."""
        circle = self.circle.to_form()
        form = {"kind": self.kind, "encoding": self.encoding.to_form(), "circle": circle}
        return form | {"components": self.components, "spread": self.spread}

    @classmethod
    def from_form(cls, form: object) -> Components:
        """Read what `to_form` wrote; what is missing or not known is refused.

        Raises
        ------
        MessageError
            If it is no such protocol.
        """
        if not isinstance(form, dict) or set(form) != set(_FIELDS) or form["kind"] != cls.kind:
            message = f"a protocol of components has the fields {', '.join(_FIELDS)}."
            raise MessageError(message)
        encoding = read_encoding(form["encoding"])
        numbers = {name: form[name] for name in ("components", "spread")}
        try:
            return cls(encoding=encoding, circle=Circle.from_form(form["circle"]), **numbers)
        except ParameterError as error:
            raise MessageError(str(error)) from None


def scatter_part(spread: int, components: int, circle: Circle) -> Part:
    """Return what is said of the round that finds components."""
    method = (
        f"{components} principal components of the sum of all rows' products, each party's noise "
        f"{spread / GRID**2:.3g} wide on each product"
    )
    mu = ScatterNoise(spread).mu(circle.holders)
    return Part(name="components", method=method, guarantee=GaussianDP(mu=mu, neighbours=_TABLE))


def check_count(components: int, width: int) -> int:
    """Return the number of components, or raise where rows are not as wide."""
    if _COUNT.check(components) > width:
        raise ParameterError("components", f"at most the width of the rows, {width}", components)
    return components


def check_rows(rows: Rows, encoding: Encoding, circle: Circle) -> None:
    """Raise if rows are of another encoding, or so many that a sum could overflow."""
    if (rows.width, rows.classes) != (encoding.width, encoding.classes):
        raise ParameterError("rows", "made by the encoding of the protocol", "others")
    Integers("rows", 1, _MOST_ROWS // circle.parties).check(rows.size)


def read_table(form: object) -> Floats:
    """Read rows of finite numbers.

    Raises
    ------
    MessageError
        If they are anything else.
    """
    try:
        table = np.asarray(form, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        message = "a table must have rows of finite numbers, all of one length."
        raise MessageError(message)
    return table


def shortened(vectors: Floats) -> Floats:
    """Return the vectors, those longer than one shortened to one.

    Examples
    --------
    >>> shortened(np.array([[3.0, 4.0], [0.1, 0.0]])).round(6).tolist()
    [[0.6, 0.8], [0.1, 0.0]]
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.maximum(lengths, 1.0)[:, None])
