"""Lower bounds for owners of studies of any size: what an attacker learns who sees all they send.

Two records that differ in everything are told apart by what leaves their owners: the group, which
of the two a report speaks for, which attributes were drawn, and every symbol by itself. The formats
are public and are read here without the help of the mechanisms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.audit.empirical import LowerBound, epsilon_lower_bound
from supm.audit.findings import FAMILY_ERROR
from supm.audit.owners import Told, by_interviews, questions_of
from supm.messages import Study
from supm.owner import Interview, SampledInterview, interview
from supm.owner.sampled import FINE
from supm.schema import Attribute, Continuous


def seen(
    study: Study,
    owner: str,
    told: Told,
    pair: tuple[Mapping[str, object], Mapping[str, object]] | None = None,
) -> NDArray[np.int64]:
    """Return what an attacker sees of each owner; without a pair, what was told in clear."""
    by_group: dict[int, list[NDArray[np.int64]]] = {}
    for question in questions_of(study, owner):
        asked, symbols = interview(study, question.phase), told.symbols[question.phase]
        columns: Iterable[NDArray[np.int64]] = symbols[:, : _drawn(asked)].T
        if pair is not None:
            held = asked.encode(study.schema.read([dict(record) for record in pair]))
            columns = _columns(asked, symbols, held)
        by_group.setdefault(question.group, []).extend(columns)
    width = max((len(columns) for columns in by_group.values()), default=0)
    rows = np.zeros((len(told.groups), 1 + width), dtype=np.int64)
    rows[:, 0] = told.groups
    for group, shown in by_group.items():
        for place, column in enumerate(shown, start=1):
            rows[told.groups == group, place] = column
    return rows


def _columns(
    asked: Interview, symbols: NDArray[np.int64], held: NDArray[Any]
) -> Iterator[NDArray[np.int64]]:
    """Yield whom a report speaks for, also by how many low places were drawn; then all of it."""
    left, right = (_supports(asked, symbols, row) for row in held)
    speaks = left * (asked.width + 1) + right
    yield speaks
    if isinstance(asked, SampledInterview):
        low = (symbols[:, : _drawn(asked)] < len(asked.sizes) // 2).sum(axis=1)
        yield speaks * (asked.sampled + 1) + low
    yield from symbols.T


def _drawn(asked: Interview) -> int:
    """Return how many symbols say which attributes were drawn; they are told in clear."""
    return asked.sampled if isinstance(asked, SampledInterview) else 0


def _supports(
    asked: Interview, symbols: NDArray[np.int64], held: NDArray[Any]
) -> NDArray[np.int64]:
    """Say how much of each report is what a record would tell if nothing were randomised."""
    if not isinstance(asked, SampledInterview):
        return _equal(symbols, held)
    places, told = symbols[:, : asked.sampled], symbols[:, asked.sampled :]
    own = held[places]
    if asked.labels is not None:
        label = held[-1] if asked.target is None else round(held[-1] / FINE)
        own = np.column_stack((own, np.full(len(places), label)))
    whole: NDArray[np.int64] = np.where(_equal(told, own) == told.shape[1], 1, 0)
    return whole


def _equal(told: NDArray[np.int64], own: NDArray[Any]) -> NDArray[np.int64]:
    """Count in each row what is the record's own."""
    count: NDArray[np.int64] = (told == own).sum(axis=1)
    return count


TRIALS: Final = 1 << 17

Record: TypeAlias = Mapping[str, object]
_Through: TypeAlias = Callable[[Study, str, Record, int, RandomSource], Told]


def telling_pairs(study: Study) -> dict[str, tuple[Record, Record]]:
    """Return pairs of records that differ in every attribute and in the target.

    Parameters
    ----------
    study : Study
        The study.

    Returns
    -------
    mapping of str to pair of records
        The two ends of all attributes; and records that are at one end in the first half of the
        attributes and at the other in the second, so that a draw that depends on values is seen.

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.schema import Categorical, Continuous, Schema
    >>> schema = Schema(
    ...     attributes=(Continuous("age", low=0, high=100), Continuous("pulse", low=0, high=220)),
    ...     target=Categorical("ill", values=("no", "yes")),
    ... )
    >>> telling_pairs(plan(schema, epsilon=1.0))["halves"][0]
    {'age': 0.0, 'pulse': 220.0, 'ill': 'no'}
    """
    fields = (*study.schema.attributes, study.schema.target)
    ends = [_ends(attribute) for attribute in fields]
    half = len(study.schema.attributes) // 2
    turned = [pair if place < half else pair[::-1] for place, pair in enumerate(ends[:-1])]
    names = [attribute.name for attribute in fields]

    def records(pairs: list[tuple[object, object]]) -> tuple[Record, Record]:
        left, right = (dict(zip(names, held, strict=True)) for held in zip(*pairs, strict=True))
        return left, right

    return {"ends": records(ends), "halves": records([*turned, ends[-1]])}


def attack_owner(  # noqa: PLR0913  whose output, what tells it apart and how hard, by name
    study: Study,
    owner: str,
    source: RandomSource,
    *,
    pair: tuple[Record, Record],
    trials: int = TRIALS,
    error: float = FAMILY_ERROR,
    through: _Through = by_interviews,
) -> LowerBound:
    """Bound from below what all that leaves an owner tells about the record.

    Parameters
    ----------
    study : Study
        The study, as it is in its last phase; its schema may be large.
    owner : {"training owner", "test owner"}
        Whose output.
    source : RandomSource
        Where randomness comes from.
    pair : pair of records
        The two to be told apart.
    trials : int, default 2^17
        Owners of each of the two records.
    error : float, default 1e-6
        Chance that the bound is not true.
    through : callable, default `by_interviews`
        Who answers: the mechanisms for all owners at once, or `by_devices` the code of each device.

    Returns
    -------
    LowerBound
        What the reports prove.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.audit import completed, large_studies
    >>> study = completed(large_studies()["known, sample, answer"])
    >>> pair = telling_pairs(study)["ends"]
    >>> bound = attack_owner(study, "test owner", simulation(1), pair=pair, trials=20_000)
    >>> 1.8 < bound.epsilon <= 2.0
    True
    """

    def told(which: int, count: int) -> NDArray[np.int64]:
        return seen(study, owner, through(study, owner, pair[which], count, source), pair)

    return epsilon_lower_bound(told, 0, 1, trials=trials, confidence=1.0 - error)


def _ends(attribute: Attribute) -> tuple[object, object]:
    if isinstance(attribute, Continuous):
        return attribute.low, attribute.high
    return attribute.values[0], attribute.values[-1]
