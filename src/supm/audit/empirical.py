"""A lower bound on epsilon from samples alone, for any callable.

If a mechanism is epsilon-LDP, then no event is more than e^epsilon times as likely for one input
as for another. So an event whose probability for ``left`` is surely at least a, and for ``right``
surely at most b, proves that epsilon is at least log(a / b). The event is chosen on one half of
the samples and measured on the other half, so the choice does not spoil the proof; what is chosen
from is free, and here it is any set of outcomes of a few views of a sample.

A view turns samples into a few codes. Looking through a function cannot make a private mechanism
less private, so every view gives a valid bound; a good view gives a tight one. Whole numbers are
their own codes; real numbers are cut at quantiles, and also looked at by their exact value, which
shows atoms, and by their lowest bits, which show noise that was added in floating point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from supm._errors import ParameterError
from supm._validation import Integers, Reals
from supm.mechanisms import Reports
from supm.reporting import cut_short

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


_TRIALS = Integers("trials", 1000, 1 << 28)
_CONFIDENCE = Reals("confidence", 0.5, 1 - 1e-12)
_CUT = 1e-6
_SAMPLES = Callable[[Any, int], ArrayLike]
_WORDS: TypeAlias = NDArray[Any] | None
_TEXT = "US"
_READABLE = f"biuf{_TEXT}"
_NAMED = 3
_LONG = 60


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """What samples prove about a mechanism.

    Parameters
    ----------
    epsilon : float
        With the stated confidence no smaller epsilon is true. Zero if nothing was proved.
    confidence : float
        Chance that the statement is true, over the samples.
    trials : int
        Samples drawn for each of the two inputs.
    event : str
        What told the two inputs apart.
    """

    epsilon: float
    confidence: float
    trials: int
    event: str


def epsilon_lower_bound(
    mechanism: _SAMPLES,
    left: object,
    right: object,
    *,
    trials: int = 1_000_000,
    confidence: float = 1 - 1e-6,
) -> LowerBound:
    """Bound the epsilon of any mechanism from below by watching what it returns for two inputs.

    Parameters
    ----------
    mechanism : callable
        ``mechanism(value, count)`` returns ``count`` independent samples for one value: an array
        of numbers, of words, or of rows of either. Capture the source of randomness in the
        callable.
    left, right : object
        The two inputs to be told apart.
    trials : int, default 10^6
        Samples drawn for each of the two.
    confidence : float, default 1 - 10^-6
        Chance that the bound is true.

    Returns
    -------
    LowerBound
        The bound and the event that proved it.

    Notes
    -----
    The bound is a proof against a claim, never for one: a mechanism may be worse for another pair
    of inputs or an event that was not looked at. Its margin below the true epsilon shrinks as one
    over the root of ``trials``; about log(trials) - 3 is the most that can ever be proved.

    References
    ----------
    C. Clopper, E. Pearson, The use of confidence or fiducial limits, Biometrika 26 (1934).
    M. Jagielski, J. Ullman, A. Oprea, Auditing differentially private machine learning, NeurIPS
    2020.

    Examples
    --------
    >>> import math
    >>> from supm._random import simulation
    >>> source = simulation(1)
    >>> def leaky(bit, count):
    ...     flip = source.below(4, count) == 0
    ...     return np.where(flip, 1 - bit, bit)
    >>> bound = epsilon_lower_bound(leaky, 0, 1, trials=100_000)
    >>> 1.0 < bound.epsilon < math.log(3)
    True
    >>> bound.event
    '1 of 2 values (0), likelier for left'
    """
    trials, confidence = _TRIALS.check(trials), _CONFIDENCE.check(confidence)
    samples = [_draw(mechanism, value, trials) for value in (left, right)]
    if samples[0].shape[1:] != samples[1].shape[1:]:
        raise ParameterError("samples", "of one shape for both inputs", samples[1].shape[1:])
    samples, words = _numbered(samples)
    half = trials // 2
    candidates = list(_candidates(samples[0][:half], samples[1][:half]))
    later = (samples[0][half:], samples[1][half:])
    # Two bounds for each candidate share the error.
    level = (1.0 - confidence) / max(1, 2 * len(candidates))
    proofs = []
    for view, fitted in groupby(candidates, key=attrgetter("view")):
        codes = [view.encode(each) for each in later]
        proofs += [(candidate.measure(codes, level), candidate) for candidate in fitted]
    best = max(proofs, key=lambda proof: proof[0], default=None)
    if best is None or best[0] <= 0.0:
        return LowerBound(epsilon=0.0, confidence=confidence, trials=trials, event="nothing")
    event = best[1].describe(*later, words)
    return LowerBound(epsilon=best[0], confidence=confidence, trials=trials, event=event)


@dataclass(frozen=True)
class _Candidate:
    """A set of codes of one view, and the input for which it is the likelier one."""

    view: View
    codes: NDArray[np.int64]
    swapped: bool

    def measure(self, codes: list[NDArray[np.int64]], level: float) -> float:
        """Return what the codes of both inputs' samples prove."""
        chosen = np.zeros(self.view.codes, dtype=np.bool_)
        chosen[self.codes] = True
        hits = [int(np.count_nonzero(chosen[each])) for each in codes]
        likely, unlikely = reversed(hits) if self.swapped else hits
        return _log_ratio(likely, unlikely, len(codes[0]), level)

    def describe(self, left: NDArray[Any], right: NDArray[Any], words: _WORDS) -> str:
        side, seen = ("right", right) if self.swapped else ("left", left)
        if not self.view.single:
            return f"{self.codes.size} of {self.view.codes} {self.view.name}, likelier for {side}"
        single = self.codes[self.codes < self.view.single]
        rare = " and those seen at most once" if single.size < self.codes.size else ""
        named = _names(seen, self.view.encode(seen), single, words)
        of = f"{single.size} of {self.view.single} {self.view.name}{named}{rare}"
        return f"{of}, likelier for {side}"


def _names(
    samples: NDArray[Any], codes: NDArray[np.int64], chosen: NDArray[np.int64], words: _WORDS
) -> str:
    """Name the most telling samples of an event; they are what anybody may see."""
    named = [
        _shown(samples[(codes == code).argmax()], words)
        for code in chosen[:_NAMED].tolist()
        if (codes == code).any()
    ]
    more = f" and {chosen.size - len(named)} more" if chosen.size > len(named) else ""
    return f" ({', '.join(named)}{more})" if named else ""


def _shown(sample: NDArray[Any], words: _WORDS) -> str:
    told = sample if words is None else words[sample]
    return cut_short(repr(told.tolist()), _LONG)


def _draw(mechanism: _SAMPLES, value: object, trials: int) -> NDArray[Any]:
    told = mechanism(value, trials)
    if isinstance(told, Reports):
        raise ParameterError("samples", "an array", "Reports", "Return their symbols.")
    try:
        samples = np.asarray(told)
    except ValueError:
        got = "rows of several lengths"
        raise ParameterError("samples", f"{trials} samples of one shape", got) from None
    if samples.dtype.kind in "OT" and all(isinstance(each, str) for each in samples.flat):
        samples = samples.astype(np.str_)
    if samples.shape[:1] != (trials,) or samples.dtype.kind not in _READABLE:
        got = f"{samples.dtype} of shape {samples.shape}"
        needed = f"an array of {trials} numbers, words, or rows of them"
        hint = "Return as many samples as the second argument asks for."
        raise ParameterError("samples", needed, got, hint)
    return samples


def _numbered(samples: list[NDArray[Any]]) -> tuple[list[NDArray[Any]], _WORDS]:
    """Turn words into their numbers, if that is what the samples are."""
    if not any(each.dtype.kind in _TEXT for each in samples):
        return samples, None
    if not all(each.dtype.kind in _TEXT for each in samples):
        raise ParameterError("samples", "words for both inputs or for none", samples[1].dtype)
    words, numbers = np.unique(np.concatenate(samples), return_inverse=True)
    numbers = numbers.reshape(-1, *samples[0].shape[1:])
    return [numbers[: len(samples[0])], numbers[len(samples[0]) :]], words


def _candidates(left: NDArray[Any], right: NDArray[Any]) -> Iterator[_Candidate]:
    """Choose, for each view and either order of the inputs, the most telling set of codes."""
    half = len(left) // 2
    for view in views_of(left, right):
        codes = [view.encode(samples) for samples in (left, right)]
        first = [np.bincount(each[:half], minlength=view.codes) for each in codes]
        second = [np.bincount(each[half:], minlength=view.codes) for each in codes]
        for swapped in (False, True):
            step = -1 if swapped else 1
            chosen = _most_telling(first[::step], second[::step])
            if chosen.size:
                yield _Candidate(view, chosen, swapped)


def _most_telling(
    first: list[NDArray[np.int64]], second: list[NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Order codes by falling ratio, as Neyman and Pearson do, and cut where most can be proved.

    The order comes from one part of the samples and the cut from another: with many codes an order
    looks far more telling on the samples that made it.
    """
    likely, unlikely = first
    # Half a count each keeps a code that was seen once from looking infinitely telling.
    order = np.argsort(-(likely + 0.5) / (unlikely + 0.5), kind="stable")
    above, below = (np.cumsum(counts[order]) for counts in second)
    provable = _log_ratios(above, below, int(above[-1]), _CUT)
    best = int(provable.argmax())
    return order[: best + 1] if provable[best] > 0.0 else order[:0]


def _log_ratio(likely: int, unlikely: int, total: int, level: float) -> float:
    return float(_log_ratios(np.array([likely]), np.array([unlikely]), total, level)[0])


def _log_ratios(
    likely: NDArray[np.int64], unlikely: NDArray[np.int64], total: int, level: float
) -> NDArray[np.float64]:
    """Return log(lower bound of the one / upper bound of the other), each exact at the level."""
    lower = stats.beta.ppf(level, np.maximum(likely, 1), total - likely + 1)
    lower = np.where(likely > 0, lower, 0.0)
    upper = stats.beta.isf(level, unlikely + 1, np.maximum(total - unlikely, 1))
    upper = np.where(unlikely < total, upper, 1.0)
    with np.errstate(divide="ignore"):
        ratios: NDArray[np.float64] = np.log(lower / upper)
    return ratios
