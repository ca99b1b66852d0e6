"""What papers 000 and 001 ran: data, budgets, figures with their printed (K, L) sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

__all__ = [
    "DATA",
    "FIGURES",
    "REDUCTIONS",
    "SEARCHED",
    "Curve",
    "Data",
    "Figure",
    "Pairs",
    "figures_of",
]

Pairs = tuple[tuple[int, int], ...]
"""Sets of (K, L): attributes kept, classes of each."""

REDUCTIONS: Final = ("rand", "wa", "pw", "waldp")
"""The dimension reductions, by the package's words."""

SEARCHED: Final[Pairs] = tuple((k, c) for k in range(2, 11) for c in range(2, 6))
"""All (K, L) of the papers' experiment 1."""


@dataclass(frozen=True, kw_only=True)
class Data:
    """A data set as the papers used it.

    Parameters
    ----------
    name, title : str
        The short name, and the name in titles.
    penalty : float
        The constant C of the support vector machine.
    raw : float
        The printed accuracy without noise, in per cent.
    grid : tuple of float
        The budgets of the figures; the printed thresholds are among them.
    coarse : tuple of float
        The budgets of the search over all (K, L) and of nested cross-validation.
    repeats : int
        Repetitions of ten-fold cross-validation.
    raw_repeats : int
        The same without noise, where the split alone makes the difference.
    searches : tuple of str
        The reductions for which all (K, L) are searched.
    search_repeats : int
        Repetitions of the search.
    combined : tuple of float
        The budgets at which every reduction meets every pair of training and testing.
    noisy : tuple of float
        The budgets of the piecewise mechanism on all attributes.
    grouped : bool
        Whether rows belong to groups and are not independent.
    """

    name: str
    title: str
    penalty: float
    raw: float
    grid: tuple[float, ...]
    coarse: tuple[float, ...]
    repeats: int
    raw_repeats: int
    searches: tuple[str, ...]
    search_repeats: int
    combined: tuple[float, ...]
    noisy: tuple[float, ...]
    grouped: bool = False


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One method of a figure.

    Parameters
    ----------
    reduction : str
        DR.Rand, DR.WA, DR.PW or DR.WALDP, by the package's word.
    train, test : str
        "odp" (noise) or "oda" (classes as they are).
    pairs : Pairs
        The printed (K, L).
    """

    reduction: str
    train: str = "odp"
    test: str = "odp"
    pairs: Pairs


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One printed figure.

    Parameters
    ----------
    paper : str
        "000" or "001".
    number : int
        Its number in the paper.
    data : str
        Name of the data set.
    kind : {"sizes", "reductions", "phases"}
        Experiment 1 (a line for each (K, L)), 2 or 3 (the best (K, L) at each budget).
    curves : tuple of Curve
        Its methods.
    """

    paper: str
    number: int
    data: str
    kind: str
    curves: tuple[Curve, ...]

    @property
    def name(self) -> str:
        """How files and the column of results name it."""
        return f"{self.paper}-{self.number}"


_TENS: Final = (10.0, 20.0, 30.0, 40.0, 50.0)


def _every(step: float, *printed: float) -> tuple[float, ...]:
    steps = (10 + step * place for place in range(int(40 / step) + 1))
    return tuple(sorted({*steps, *printed}))


DATA: Final[Mapping[str, Data]] = {
    each.name: each
    for each in (
        Data(
            name="wdbc",
            title="WDBC",
            penalty=2.1,
            raw=98.04,
            grid=_every(2.0, 21.4, 22.4, 27.4),
            coarse=_TENS,
            repeats=20,
            raw_repeats=100,
            searches=("rand", "wa"),
            search_repeats=10,
            combined=(10.0, 30.0, 50.0),
            noisy=_TENS,
        ),
        Data(
            name="ionosphere",
            title="Ionosphere",
            penalty=3.9,
            raw=95.71,
            grid=_every(2.0, 10.2, 13.0, 22.8, 25.0, 41.6, 47.0),
            coarse=_TENS,
            repeats=20,
            raw_repeats=100,
            searches=("rand", "wa"),
            search_repeats=10,
            combined=(10.0, 30.0, 50.0),
            noisy=_TENS,
        ),
        Data(
            name="musk2",
            title="Musk (version 2)",
            penalty=5.0,
            raw=98.98,
            grid=(10.0, 12.6, 15.0, 20.4, 27.0, 35.0, 42.0, 50.0),
            coarse=(12.6, 27.0, 50.0),
            repeats=3,
            raw_repeats=3,
            searches=("rand",),
            search_repeats=2,
            combined=(27.0, 50.0),
            noisy=(20.4, 50.0),
            grouped=True,
        ),
    )
}

_RAND: Final[Mapping[str, Pairs]] = {
    "wdbc": ((5, 2), (6, 3), (7, 4)),
    "ionosphere": ((2, 3), (4, 4), (6, 5)),
    "musk2": ((2, 4), (5, 4), (7, 4)),
}
_REDUCTIONS: Final[Mapping[str, Mapping[str, Pairs]]] = {
    "wdbc": {"pw": ((2, 2), (4, 4)), "wa": ((2, 2), (4, 4)), "rand": ((5, 2), (7, 4))},
    "ionosphere": {
        "pw": ((2, 2), (3, 2), (4, 2)),
        "wa": ((2, 2), (4, 2)),
        "rand": ((2, 3), (4, 4), (6, 5)),
    },
    "musk2": {
        "pw": ((2, 3), (3, 5), (8, 3)),
        "wa": ((3, 4), (5, 4)),
        "rand": ((2, 4), (5, 4), (7, 4)),
    },
}
_PHASES: Final[Mapping[str, tuple[str, Mapping[tuple[str, str], Pairs]]]] = {
    "wdbc": (
        "rand",
        {
            ("odp", "odp"): ((5, 2), (7, 4)),
            ("oda", "odp"): ((6, 2), (7, 4)),
            ("odp", "oda"): ((6, 2), (8, 4)),
            ("oda", "oda"): ((7, 2),),
        },
    ),
    "ionosphere": (
        "wa",
        {
            ("odp", "odp"): ((2, 2), (3, 2), (5, 2)),
            ("oda", "odp"): ((2, 2), (3, 2)),
            ("odp", "oda"): ((3, 2), (5, 4), (8, 2)),
            ("oda", "oda"): ((5, 2),),
        },
    ),
    "musk2": (
        "rand",
        {
            ("odp", "odp"): ((2, 4), (5, 4), (7, 4)),
            ("oda", "odp"): ((2, 2), (10, 5)),
            ("odp", "oda"): ((8, 2), (10, 5)),
            ("oda", "oda"): ((10, 2),),
        },
    ),
}
# Paper 001 lists one more (K, L) for (WALDP, WALDP) on WDBC.
_MORE: Final[Mapping[tuple[str, str, tuple[str, str]], Pairs]] = {
    ("001", "wdbc", ("odp", "odp")): ((6, 3),)
}


def _figures(paper: str, names: tuple[str, ...]) -> Iterator[Figure]:
    for place, data in enumerate(names):
        reduction, phases = _PHASES[data]
        curves = {
            "sizes": (Curve(reduction="rand", pairs=_RAND[data]),),
            "reductions": tuple(
                Curve(reduction=word, pairs=pairs) for word, pairs in _REDUCTIONS[data].items()
            ),
            "phases": tuple(
                Curve(
                    reduction=reduction,
                    train=both[0],
                    test=both[1],
                    pairs=pairs + _MORE.get((paper, data, both), ()),
                )
                for both, pairs in phases.items()
            ),
        }
        for number, (kind, drawn) in enumerate(curves.items(), 3 * place + 1):
            yield Figure(paper=paper, number=number, data=data, kind=kind, curves=drawn)


FIGURES: Final = (*_figures("000", tuple(DATA)), *_figures("001", ("wdbc", "ionosphere")))


def figures_of(data: str, paper: str | None = None) -> tuple[Figure, ...]:
    """Return the figures about a data set."""
    return tuple(f for f in FIGURES if f.data == data and paper in (None, f.paper))
