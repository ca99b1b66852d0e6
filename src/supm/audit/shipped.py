"""All shipped mechanisms, by name, at the parameters at which they are audited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from supm._errors import ParameterError
from supm._extensions import installed, load
from supm.audit.subjects import Auditable
from supm.mechanisms import (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    IndependentReports,
    JointReport,
    LocalHashing,
    OrderedDiscretePerturbation,
    SubsetSelection,
    UnaryEncoding,
)
from supm.mechanisms.randomizers.duchi import Duchi
from supm.mechanisms.randomizers.hybrid import Hybrid
from supm.mechanisms.randomizers.laplace import Laplace
from supm.mechanisms.randomizers.piecewise import Piecewise
from supm.mechanisms.randomizers.square_wave import SquareWave
from supm.schema import Continuous, Ordinal

__all__ = ["Entry", "Kind", "catalogue", "entry", "kinds"]

_EPSILONS = (0.1, 1.0, 4.0, 8.0)


@dataclass(frozen=True, kw_only=True)
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
    return {kind.name: kind for kind in (*_symbol_kinds(), *_record_kinds(), *_number_kinds())}


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
        kind = _symbol(name, load("randomizers", name).for_epsilon, size=5)
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


def _symbol(name: str, make: Callable[..., Any], *, size: int, large: int = 0) -> Kind:
    return Kind(
        name=name,
        size_means="size",
        size=size,
        make=lambda size, epsilon: make(size=size, epsilon=epsilon),
        large=large,
    )


def _symbol_kinds() -> Iterator[Kind]:
    respond = GeneralizedRandomizedResponse.for_epsilon
    yield Kind(
        name="binary-response",
        size_means="",
        size=2,
        make=lambda size, epsilon: respond(size=size, epsilon=epsilon),
    )
    yield _symbol("randomized-response", respond, size=5, large=1000)
    yield _symbol("subset-selection", SubsetSelection.for_epsilon, size=7, large=100)
    yield _symbol("symmetric-unary", UnaryEncoding.symmetric, size=5, large=100)
    yield _symbol("optimised-unary", UnaryEncoding.optimised, size=5, large=100)
    yield _symbol("local-hashing", LocalHashing.for_epsilon, size=6, large=1000)
    yield _symbol("hadamard-response", HadamardResponse.for_epsilon, size=6, large=1000)


def _record_kinds() -> Iterator[Kind]:
    """Yield those of records with two attributes, of ``size`` classes and of one more."""
    independent, joint = IndependentReports.for_epsilon, JointReport.for_epsilon
    yield Kind(
        name="independent-reports",
        size_means="classes",
        size=2,
        make=lambda size, epsilon: independent(sizes=(size, size + 1), epsilon=epsilon),
    )
    yield Kind(
        name="joint-report",
        size_means="classes",
        size=2,
        make=lambda size, epsilon: joint(sizes=(size, size + 1), epsilon=epsilon),
    )


def _number(name: str, make: Callable[..., Any], *, steps: int, large: int) -> Kind:
    return Kind(
        name=name,
        size_means="steps",
        size=steps,
        make=lambda size, epsilon: make(low=-1, high=1, steps=size, epsilon=epsilon),
        large=large,
    )


def _number_kinds() -> Iterator[Kind]:
    perturb = OrderedDiscretePerturbation.for_epsilon
    number = Continuous("number", low=-1, high=1)
    ordered = Ordinal("ordered", values=tuple(range(7)))
    yield Kind(
        name="odp-continuous",
        size_means="classes",
        size=5,
        make=lambda size, epsilon: perturb(attribute=number, classes=size, epsilon=epsilon),
    )
    yield Kind(
        name="odp-ordinal",
        size_means="classes",
        size=5,
        make=lambda size, epsilon: perturb(attribute=ordered, classes=size, epsilon=epsilon),
    )
    yield Kind(
        name="duchi",
        size_means="",
        size=1,
        make=lambda _, epsilon: Duchi.for_epsilon(low=-1, high=1, epsilon=epsilon),
    )
    yield _number("piecewise", Piecewise.for_epsilon, steps=16, large=1024)
    yield _number("hybrid", Hybrid.for_epsilon, steps=16, large=1024)
    yield _number("square-wave", SquareWave.for_epsilon, steps=16, large=256)
    # The stated probabilities are floats, which vanish below e^-700.
    laplace = _number("laplace", Laplace.for_epsilon, steps=16, large=1024)
    yield replace(laplace, extremes=(1e-6, 600.0))
