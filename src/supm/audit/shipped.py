"""All shipped mechanisms, by name, at the parameters at which they are audited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

from supm import mechanisms
from supm._errors import ParameterError
from supm._extensions import installed, load
from supm.audit.subjects import Auditable
from supm.schema import Continuous, Ordinal

_EPSILONS = (0.1, 1.0, 4.0, 8.0)


@dataclass(frozen=True)
class Kind:
    """A shipped mechanism before its parameters are chosen.

    Parameters
    ----------
    name : str
        What it is called on the command line.
    size_means : str
        What ``size`` stands for; empty if there is none.
    size : int
        The size that is audited where none is given.
    make : callable
        ``make(size, epsilon)`` returns the mechanism.
    large : int
        A size whose channel is too large to be written down; 0 if the mechanism has none.
    extremes : tuple of float
        Epsilons at which the exact checks are made too.
    """

    name: str
    size_means: str
    size: int
    make: Callable[[int, float], Auditable]
    large: int = 0
    extremes: tuple[float, ...] = (1e-6, 1e4)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the catalogue.

    Parameters
    ----------
    name : str
        The mechanism.
    parameters : str
        Its parameters, in words.
    mechanism : FiniteChannel or Laplace
        The mechanism itself.
    sampled : bool
        False if the exact checks are enough at these parameters.
    """

    name: str
    parameters: str
    mechanism: Auditable
    sampled: bool = True


def kinds() -> dict[str, Kind]:
    """Return all shipped mechanisms by name.

    Examples
    --------
    >>> sorted(kinds())[:3]
    ['binary-response', 'duchi', 'hadamard-response']
    """
    return {kind.name: kind for kind in _SHIPPED}


def catalogue() -> list[Entry]:
    """Return all shipped mechanisms at several parameters.

    Examples
    --------
    >>> catalogue()[0].name
    'binary-response'
    """
    return [line for kind in kinds().values() for line in _lines(kind)]


def entry(name: str, *, epsilon: float = 1.0, size: int | None = None) -> Entry:
    """Return one shipped mechanism, or one of one's own, at given parameters.

    Parameters
    ----------
    name : str
        One of `kinds`, a randomizer that a package offers, or ``module:Name``.
    epsilon : float, default 1
        What the mechanism is made for.
    size : int, optional
        Its size, where it has one.

    Examples
    --------
    >>> entry("randomized-response", size=3).parameters
    'size 3, epsilon 1'
    """
    kind = kinds().get(name)
    if kind is None and (":" in name or name in installed("randomizers")):
        make = _made(load("randomizers", name).for_epsilon)
        kind = Kind(name=name, size_means="size", size=5, make=make)
    if kind is None:
        known = sorted(kinds())
        near = get_close_matches(name, known, n=1)
        hint = f"Did you mean {near[0]}?" if near else ""
        raise ParameterError("mechanism", f"one of {', '.join(known)}", name, hint)
    if size is not None and not kind.size_means:
        raise ParameterError("size", f"left out for {name}, which has none", size)
    return _line(kind, kind.size if size is None else size, epsilon)


def _lines(kind: Kind) -> Iterator[Entry]:
    for epsilon in _EPSILONS:
        yield _line(kind, kind.size, epsilon)
    for epsilon in kind.extremes:
        yield _line(kind, kind.size, epsilon, sampled=False)
    if kind.large:
        yield _line(kind, kind.large, 1.0)


def _line(kind: Kind, size: int, epsilon: float, *, sampled: bool = True) -> Entry:
    sized = f"{kind.size_means} {size}, " if kind.size_means else ""
    return Entry(
        name=kind.name,
        parameters=f"{sized}epsilon {epsilon:g}",
        mechanism=kind.make(size, epsilon),
        sampled=sampled,
    )


_Make: TypeAlias = Callable[[int, float], Any]


def _made(make: Callable[..., Any], named: str = "size", **given: object) -> _Make:
    """Give a size by its name, if it has one, and what else is always given."""
    return lambda size, epsilon: make(**given, **({named: size} if named else {}), epsilon=epsilon)


def _two(make: Callable[..., Any]) -> _Make:
    """Make one for records of two attributes, of ``size`` classes and of one more."""
    return lambda size, epsilon: make(sizes=(size, size + 1), epsilon=epsilon)


_RANGE: Final[dict[str, Any]] = {"low": -1, "high": 1}
_NUMBER: Final = Continuous("number", low=-1, high=1)
_ORDERED: Final = Ordinal("ordered", values=tuple(range(7)))
_RESPOND: Final = _made(mechanisms.GeneralizedRandomizedResponse.for_epsilon)
_PERTURB: Final = mechanisms.OrderedDiscretePerturbation.for_epsilon


def _gridded(kind: Any) -> _Make:  # noqa: ANN401  the class of a mechanism for numbers
    """Make one for numbers on a grid of ``size`` steps."""
    return _made(kind.for_epsilon, "steps", **_RANGE)


_SHIPPED: Final = (
    Kind("binary-response", "", 2, _RESPOND),
    Kind("randomized-response", "size", 5, _RESPOND, large=1000),
    Kind("subset-selection", "size", 7, _made(mechanisms.SubsetSelection.for_epsilon), large=100),
    Kind("symmetric-unary", "size", 5, _made(mechanisms.UnaryEncoding.symmetric), large=100),
    Kind("optimised-unary", "size", 5, _made(mechanisms.UnaryEncoding.optimised), large=100),
    Kind("local-hashing", "size", 6, _made(mechanisms.LocalHashing.for_epsilon), large=1000),
    Kind(
        "hadamard-response", "size", 6, _made(mechanisms.HadamardResponse.for_epsilon), large=1000
    ),
    Kind("independent-reports", "classes", 2, _two(mechanisms.IndependentReports.for_epsilon)),
    Kind("joint-report", "classes", 2, _two(mechanisms.JointReport.for_epsilon)),
    Kind("odp-continuous", "classes", 5, _made(_PERTURB, "classes", attribute=_NUMBER)),
    Kind("odp-ordinal", "classes", 5, _made(_PERTURB, "classes", attribute=_ORDERED)),
    Kind("duchi", "", 1, _made(mechanisms.Duchi.for_epsilon, "", **_RANGE)),
    Kind("piecewise", "steps", 16, _gridded(mechanisms.Piecewise), large=1024),
    Kind("hybrid", "steps", 16, _gridded(mechanisms.Hybrid), large=1024),
    Kind("square-wave", "steps", 16, _gridded(mechanisms.SquareWave), large=256),
    # Its stated probabilities are floats, which vanish below e^-700.
    Kind("laplace", "steps", 16, _gridded(mechanisms.Laplace), large=1024, extremes=(1e-6, 600.0)),
)
