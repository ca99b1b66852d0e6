"""Events of a report whose probability is known for each input, also where no channel is listed.

The formats of reports are public and are read here without the mechanism's help. An event is of
use where a report that was not randomised decides it: then it comes always or never.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.audit.subjects import Auditable, is_listed
from supm.mechanisms import (
    FiniteChannel,
    GeneralizedRandomizedResponse,
    HadamardResponse,
    IndependentReports,
    JointReport,
    Laplace,
    LocalHashing,
    Reports,
    SubsetSelection,
    SupportRandomizer,
    UnaryEncoding,
)
from supm.mechanisms.randomizers.randomizer import ENTRIES

_BITS = 20
_FORMATS = (
    GeneralizedRandomizedResponse,
    HadamardResponse,
    LocalHashing,
    SubsetSelection,
    UnaryEncoding,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownEvent:
    """Whether something holds for each report, and how likely that is."""

    seen: NDArray[np.bool_]
    # What the reports are sorted by: the input, or the symbol that was looked for.
    group: NDArray[np.int64]
    # The probability for each group.
    chance: NDArray[np.float64]


def supports(
    mechanism: SupportRandomizer, told: NDArray[Any], symbols: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Tell of each report whether it supports one symbol, a different one for each report.

    Examples
    --------
    >>> bits = UnaryEncoding.optimised(size=3, epsilon=1.0)
    >>> supports(bits, np.array([[0b101], [0b101]]), np.array([0, 1]))
    array([ True, False])
    """
    if isinstance(mechanism, SubsetSelection):
        return np.asarray((told == symbols[:, np.newaxis]).any(axis=1))
    if isinstance(mechanism, UnaryEncoding):
        rows = told[np.arange(len(told)), symbols // 8].astype(np.int64)
        return (rows >> (symbols % 8) & 1).astype(np.bool_)
    if isinstance(mechanism, HadamardResponse):
        return np.asarray(np.bitwise_count(told.astype(np.int64) & (symbols + 1)) % 2 == 0)
    if isinstance(mechanism, LocalHashing):
        factor, shift, bucket = told.astype(np.int64).T
        residue = (_product(factor, symbols, mechanism.prime) + shift) % mechanism.prime
        return np.asarray(residue % mechanism.buckets == bucket)
    return np.asarray(told.reshape(-1) == symbols)


def events(
    mechanism: Auditable, reports: Reports, held: NDArray[np.int64], source: RandomSource
) -> Iterator[KnownEvent]:
    """Yield events of the reports of a crowd that holds the inputs of the given numbers.

    Examples
    --------
    >>> from supm._random import simulation
    >>> coin = GeneralizedRandomizedResponse(size=2, keep_words=3 << 62)
    >>> held = np.array([0, 1, 1])
    >>> reports = Reports(symbols=np.array([0, 0, 1]), simulation=True)
    >>> own = next(events(coin, reports, held, simulation(1)))
    >>> own.seen, own.chance
    (array([ True, False,  True]), array([0.75, 0.75]))
    """
    if isinstance(mechanism, Laplace):
        yield from _of_noise(mechanism, reports.symbols, held)
    elif isinstance(mechanism, JointReport):
        yield from events(mechanism.randomizer, reports, held, source)
    elif isinstance(mechanism, IndependentReports):
        yield from _of_attributes(mechanism, reports.symbols, held)
    elif isinstance(mechanism, _FORMATS):
        yield from _of_symbols(mechanism, reports.symbols, held, source)
    elif has_events(mechanism):
        yield from _of_cells(mechanism, mechanism.outcome(reports), held)


def has_events(mechanism: Auditable) -> bool:
    """Tell whether there are events: the format is known, or the channel can be listed.

    Examples
    --------
    >>> has_events(UnaryEncoding.optimised(size=1000, epsilon=1.0))
    True
    """
    if isinstance(mechanism, (*_FORMATS, Laplace, JointReport, IndependentReports)):
        return not isinstance(mechanism, JointReport) or has_events(mechanism.randomizer)
    return is_listed(mechanism, ENTRIES.high)


def _of_symbols(
    mechanism: SupportRandomizer, told: NDArray[Any], held: NDArray[np.int64], source: RandomSource
) -> Iterator[KnownEvent]:
    """Look for the own symbol, for the next one, and for a random other one."""
    owners, group = np.unique(held, return_inverse=True)
    hit, miss = (np.full(owners.size, float(each)) for each in (mechanism.hit, mechanism.miss))
    yield KnownEvent(seen=supports(mechanism, told, held), group=group, chance=hit)
    following = (held + 1) % mechanism.size
    yield KnownEvent(seen=supports(mechanism, told, following), group=group, chance=miss)
    # Another symbol of the crowd: of a large alphabet, each is looked for often enough.
    step = 1 + source.below(max(1, owners.size - 1), len(held)).astype(np.int64)
    sought = (group + step) % owners.size
    if owners.size > 1:
        seen = supports(mechanism, told, owners[sought])
        yield KnownEvent(seen=seen, group=group, chance=miss)
        yield KnownEvent(seen=seen, group=sought, chance=miss)
    if isinstance(mechanism, LocalHashing):
        yield from _of_functions(mechanism, told, group)


def _of_functions(
    mechanism: LocalHashing, told: NDArray[Any], group: NDArray[np.int64]
) -> Iterator[KnownEvent]:
    """Split the numbers of the hash function in half: they must not depend on the symbol."""
    groups = int(group.max()) + 1
    half, prime = mechanism.prime // 2, mechanism.prime
    # Factors are 1 … prime - 1, shifts 0 … prime - 1.
    for column, chance in ((0, half / (prime - 1)), (1, (half + 1) / prime)):
        seen = told[:, column].astype(np.int64) <= half
        yield KnownEvent(seen=seen, group=group, chance=np.full(groups, chance))


def _of_attributes(
    mechanism: IndependentReports, told: NDArray[Any], held: NDArray[np.int64]
) -> Iterator[KnownEvent]:
    """Look for the own class of each attribute, by that class."""
    records = np.stack(np.unravel_index(held, mechanism.sizes), axis=0)
    for response, own, column in zip(mechanism.responses, records, told.T, strict=True):
        chance = np.full(response.size, float(response.hit))
        yield KnownEvent(seen=column == own, group=own, chance=chance)


def _of_noise(
    mechanism: Laplace, told: NDArray[Any], held: NDArray[np.int64]
) -> Iterator[KnownEvent]:
    owners, group = np.unique(held, return_inverse=True)
    wide = round(mechanism.scale)
    for most in (-1, 0, wide):
        chance = [float(mechanism.cumulative(each, each + most)) for each in owners.tolist()]
        yield KnownEvent(seen=told - held <= most, group=group, chance=np.array(chance))


def _of_cells(
    mechanism: FiniteChannel, told: NDArray[np.int64], held: NDArray[np.int64]
) -> Iterator[KnownEvent]:
    """Split each row of the channel in two: its likelier part, and its lower part."""
    channel = mechanism.channel()
    order = np.argsort(-channel, axis=1, kind="stable")
    ranked = np.cumsum(np.take_along_axis(channel, order, axis=1), axis=1)
    likely = np.zeros(channel.shape, dtype=np.bool_)
    # The cells before the total reaches one half, and the one that reaches it.
    np.put_along_axis(likely, order, np.roll(ranked, 1, axis=1) < 0.5, axis=1)
    np.put_along_axis(likely, order[:, :1], np.True_, axis=1)
    below = np.cumsum(channel, axis=1)
    for chosen in (likely, below - channel / 2 < 0.5):
        chance = np.clip((channel * chosen).sum(axis=1), 0.0, 1.0)
        yield KnownEvent(seen=chosen[held, told], group=held, chance=chance)


def _product(left: NDArray[np.int64], right: NDArray[np.int64], prime: int) -> NDArray[np.int64]:
    """Multiply numbers of up to 41 bits modulo a prime, in 63 bits."""
    high, low = right >> _BITS, right & ((1 << _BITS) - 1)
    product: NDArray[np.int64] = ((left * high % prime << _BITS) + left * low) % prime
    return product
