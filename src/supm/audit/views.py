"""Ways to look at a sample: each turns samples into a few codes, and is fixed beforehand.

Looking at a sample through a function cannot make a private mechanism less private, so every view
gives a valid bound; a good view gives a tight one. Whole numbers are their own codes, and many of
them are also cut at quantiles. Real numbers are cut at quantiles; they are also looked at by their
exact value, which shows atoms, and by their lowest bits, which show noise that was added in
floating point (Mironov 2012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["View", "views_of"]

_ATOMS = 1 << 16
_MANY = 256
_MIXER = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class View:
    """A function from samples to codes 0 … codes - 1; the first ``single`` stand for one value."""

    name: str
    codes: int
    encode: Callable[[NDArray[Any]], NDArray[np.int64]]
    single: int = 0


def views_of(left: NDArray[Any], right: NDArray[Any]) -> Iterator[View]:
    """Yield the views that suit samples of this type, fitted to them.

    Examples
    --------
    >>> [view.name for view in views_of(np.array([1, 2, 2]), np.array([2, 3, 3]))]
    ['values']
    """
    if left.ndim == 1:
        yield from _scalar_views(left, right, "")
        return
    yield _values(_fingerprint, left, right, "rows")
    for column in range(left.shape[1]):
        for view in _scalar_views(left[:, column], right[:, column], f" of column {column}"):
            yield replace(view, encode=_column(view, column))


def _scalar_views(left: NDArray[Any], right: NDArray[Any], of: str) -> Iterator[View]:
    if left.dtype.kind == "f":
        yield _quantiles(left, right, f"quantile bins{of}")
        yield _lowest_bits(left, right, f"lowest bits{of} by quantile bin")
        yield _values(_pattern, left, right, f"values{of}")
    else:
        values = _values(_whole, left, right, f"values{of}")
        yield values
        if values.codes > _MANY:
            yield _quantiles(left, right, f"quantile bins{of}")


def _column(view: View, column: int) -> Callable[[NDArray[Any]], NDArray[np.int64]]:
    return lambda samples: view.encode(samples[:, column])


def _values(
    word: Callable[[NDArray[Any]], NDArray[np.uint64]],
    left: NDArray[Any],
    right: NDArray[Any],
    name: str,
) -> View:
    """Give each of the most frequent values a code; all others share the last one."""
    seen, counts = np.unique(np.concatenate((word(left), word(right))), return_counts=True)
    frequent = np.flatnonzero(counts > 1)
    if frequent.size > _ATOMS:
        frequent = frequent[np.argsort(-counts[frequent], kind="stable")[:_ATOMS]]
    known = np.sort(seen[frequent])

    def encode(samples: NDArray[Any]) -> NDArray[np.int64]:
        words = word(samples)
        place = np.searchsorted(known, words)
        found = place < known.size
        found[found] = known[place[found]] == words[found]
        return np.where(found, place, known.size)

    return View(name, known.size + 1, encode, single=known.size)


def _quantiles(left: NDArray[Any], right: NDArray[Any], name: str, bins: int = 256) -> View:
    both = np.concatenate((left, right))
    finite = both[np.isfinite(both)]
    inner = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    cuts = np.unique(np.quantile(finite, inner)) if finite.size else np.zeros(1)
    # What is not a number sorts last, so it falls into the last bin.
    return View(
        name, cuts.size + 1, lambda samples: np.searchsorted(cuts, samples).astype(np.int64)
    )


def _lowest_bits(left: NDArray[Any], right: NDArray[Any], name: str) -> View:
    """Look at the last four bits within a bin: a sum is rounded at its larger term's scale."""
    bins = _quantiles(left, right, name, bins=64)

    def encode(samples: NDArray[Any]) -> NDArray[np.int64]:
        return bins.encode(samples) * 16 + (_pattern(samples) & np.uint64(15)).astype(np.int64)

    return View(name, bins.codes * 16, encode)


def _pattern(samples: NDArray[Any]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(samples, dtype=np.float64).view(np.uint64)


def _whole(samples: NDArray[Any]) -> NDArray[np.uint64]:
    return samples.astype(np.uint64)


def _fingerprint(samples: NDArray[Any]) -> NDArray[np.uint64]:
    """Mix each row into one word; two rows may collide, which can only weaken the bound."""
    word = _pattern if samples.dtype.kind == "f" else _whole
    rows = samples.reshape(len(samples), -1)
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for column in range(rows.shape[1]):
        mixed = (mixed ^ word(rows[:, column])) * np.uint64(_MIXER)
        mixed ^= mixed >> np.uint64(32)
    return mixed
