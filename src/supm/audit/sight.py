"""What an attacker looks at who sees all that leaves an owner, to tell two records apart.

The group, which of the two records a report speaks for, which attributes were drawn, and every
symbol by itself. The formats are public and are read here without the help of the mechanisms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm.audit.telling import Told, questions_of
from supm.messages import Study
from supm.owner import Interview, JointInterview, SampledInterview, interview
from supm.owner.sampled import FINE

__all__ = ["seen"]


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
        columns = _clear(asked, symbols)
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
        low = (symbols[:, : asked.sampled] < len(asked.sizes) // 2).sum(axis=1)
        yield speaks * (asked.sampled + 1) + low
    yield from symbols.T


def _clear(asked: Interview, symbols: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    if isinstance(asked, SampledInterview):
        yield from symbols[:, : asked.sampled].T


def _supports(
    asked: Interview, symbols: NDArray[np.int64], held: NDArray[Any]
) -> NDArray[np.int64]:
    """Say how much of each report is what a record would tell if nothing were randomised."""
    if isinstance(asked, JointInterview):
        return np.minimum(_equal(symbols, held[0]), 1)
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
