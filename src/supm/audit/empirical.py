"""A lower bound on epsilon from samples alone, for any callable.

If a mechanism is epsilon-LDP, then no event is more than e^epsilon times as likely for one input
as for another. So an event whose probability for ``left`` is surely at least a, and for ``right``
surely at most b, proves that epsilon is at least log(a / b). The event is chosen on one half of
the samples and measured on the other half, so the choice does not spoil the proof; what is chosen
from is free, and here it is any set of outcomes of a few views of a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from supm._errors import ParameterError
from supm._validation import Integers, Reals
from supm.audit.views import View, views_of
from supm.mechanisms import Reports

__all__ = ["LowerBound", "epsilon_lower_bound"]

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
    proofs = [(candidate.measure(*later, level), candidate) for candidate in candidates]
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

    def measure(self, left: NDArray[Any], right: NDArray[Any], level: float) -> float:
        hits = [self._hits(samples) for samples in (left, right)]
        likely, unlikely = reversed(hits) if self.swapped else hits
        return _log_ratio(likely, unlikely, len(left), level)

    def _hits(self, samples: NDArray[Any]) -> int:
        chosen = np.zeros(self.view.codes, dtype=np.bool_)
        chosen[self.codes] = True
        return int(np.count_nonzero(chosen[self.view.encode(samples)]))

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
    text = repr(told.tolist())
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


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
