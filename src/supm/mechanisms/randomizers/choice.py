"""Which randomizer has the least variance for an alphabet and an epsilon, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from supm._errors import ParameterError
from supm._validation import EPSILON, Integers
from supm.mechanisms.randomizers.frequency import SIZE, FrequencyRandomizer
from supm.mechanisms.randomizers.generalized_response import GeneralizedRandomizedResponse
from supm.mechanisms.randomizers.hadamard_response import HadamardResponse
from supm.mechanisms.randomizers.local_hashing import LocalHashing
from supm.mechanisms.randomizers.subset_selection import SubsetSelection
from supm.mechanisms.randomizers.unary_encoding import UnaryEncoding

_REPORT_BYTES = Integers("report_bytes", 1, 1 << 20)
_TABLE = 1 << 20

_MAKERS: tuple[tuple[str, int, Callable[..., FrequencyRandomizer]], ...] = (
    ("randomized response", 1 << 40, GeneralizedRandomizedResponse.for_epsilon),
    ("subset selection", _TABLE, SubsetSelection.for_epsilon),
    ("optimised unary encoding", _TABLE, UnaryEncoding.optimised),
    ("symmetric unary encoding", _TABLE, UnaryEncoding.symmetric),
    ("local hashing", 1 << 40, LocalHashing.for_epsilon),
    ("Hadamard response", 1 << 40, HadamardResponse.for_epsilon),
)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One randomizer that was considered.

    Parameters
    ----------
    name : str
        What it is called.
    randomizer : FrequencyRandomizer
        The randomizer itself.
    variance : float
        Variance of an estimated share of 1 / size from one report.
    """

    name: str
    randomizer: FrequencyRandomizer
    variance: float


@dataclass(frozen=True, kw_only=True)
class RandomizerChoice:
    """The randomizer that was chosen, the reason and all that were considered.

    Parameters
    ----------
    randomizer : FrequencyRandomizer
        The one of least variance whose report is short enough.
    reason : str
        One sentence.
    candidates : tuple of Candidate
        All that were considered, best first, also those whose report is too long.
    """

    randomizer: FrequencyRandomizer
    reason: str
    candidates: tuple[Candidate, ...]


def choose(*, size: int, epsilon: float, report_bytes: int = 1024) -> RandomizerChoice:
    """Choose the randomizer of least variance for an alphabet.

    Parameters
    ----------
    size : int
        Number of symbols, 2 to 2^40.
    epsilon : float
        What the report may cost.
    report_bytes : int, default 1024
        How long a report may be. Subset selection and unary encoding grow with the alphabet.

    Returns
    -------
    RandomizerChoice
        The randomizer, the reason and the candidates.

    Examples
    --------
    >>> print(choose(size=64, epsilon=1.0).reason)
    subset selection has the least variance for 64 symbols at epsilon 1 among reports of at most
    1024 bytes: 3.55 per report against 3.57 of local hashing.
    >>> type(choose(size=8, epsilon=4.0).randomizer).__name__
    'GeneralizedRandomizedResponse'
    """
    size, epsilon = SIZE.check(size), EPSILON.check(epsilon)
    limit = _REPORT_BYTES.check(report_bytes)
    ranked = sorted(_candidates(size, epsilon), key=lambda candidate: candidate.variance)
    short = [each for each in ranked if each.randomizer.report_bytes <= limit]
    if not short:
        least = min(each.randomizer.report_bytes for each in ranked)
        raise ParameterError("report_bytes", f"at least {least} for {size} symbols", limit)
    best, others = short[0], short[1:]
    reason = (
        f"{best.name} has the least variance for {size} symbols at epsilon {epsilon:g} among "
        f"reports of at most {limit} bytes: {best.variance:.3g} per report{_against(others)}."
    )
    return RandomizerChoice(randomizer=best.randomizer, reason=reason, candidates=tuple(ranked))


def _candidates(size: int, epsilon: float) -> Iterator[Candidate]:
    for name, largest, make in _MAKERS:
        if size <= largest:
            randomizer = make(size=size, epsilon=epsilon)
            yield Candidate(
                name=name, randomizer=randomizer, variance=randomizer.variance(1 / size)
            )


def _against(others: list[Candidate]) -> str:
    return f" against {others[0].variance:.3g} of {others[0].name}" if others else ""
