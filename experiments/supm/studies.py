"""From a job to what the package runs: records, study and folds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np
from experiments.supm.jobs import Job
from numpy.typing import NDArray

from supm import RandomSource, simulation
from supm.collection import plan
from supm.datasets import Dataset, load_ionosphere, load_musk2, load_wdbc
from supm.learning import folds
from supm.messages import Question, Study, Trust
from supm.schema import Attribute, Continuous, Records, Schema

__all__ = ["Table", "grouped_folds", "source_of", "split", "study_of", "table_of"]

_LOADERS: Final[Mapping[str, Callable[[], Dataset]]] = {
    "wdbc": load_wdbc,
    "ionosphere": load_ionosphere,
    "musk2": load_musk2,
}
_FOLDS: Final = 10
_SEED: Final = 20240101


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Records with the schema by which they were read.

    Parameters
    ----------
    schema : Schema
        Public bounds, or the extremes of the data.
    records : Records
        The records.
    labels : ndarray of int
        The label numbers.
    groups : ndarray or None
        Which rows belong together.
    """

    schema: Schema
    records: Records
    labels: NDArray[np.int64]
    groups: NDArray[Any] | None


@cache
def table_of(data: str, bounds: str) -> Table:
    """Load a data set; "extremes" are its smallest and largest values, as in the papers."""
    dataset = _LOADERS[data]()
    schema = dataset.schema
    if bounds == "extremes":
        narrow = tuple(_narrow(each, dataset) for each in schema.attributes)
        schema = Schema(attributes=narrow, target=schema.target)
    records = schema.read(dataset.columns)
    labels = np.asarray(records.target, dtype=np.int64)
    return Table(schema=schema, records=records, labels=labels, groups=dataset.groups)


def _narrow(attribute: Attribute, dataset: Dataset) -> Attribute:
    if not isinstance(attribute, Continuous):
        return attribute
    held = dataset.columns[attribute.name]
    return replace(attribute, low=float(held.min()), high=float(held.max()))


def source_of(job: Job, repeat: int) -> RandomSource:
    """Return the randomness of a repetition: the same folds and draws for all its budgets."""
    return simulation(_SEED + repeat).child(job.data)


def split(job: Job, table: Table, source: RandomSource) -> tuple[NDArray[np.int64], ...]:
    """Return ten folds."""
    if job.folds == "grouped" and table.groups is not None:
        return grouped_folds(table.groups, _FOLDS, source)
    return folds(len(table.labels), _FOLDS, source, equal=True)


def grouped_folds(
    groups: NDArray[Any], count: int, source: RandomSource
) -> tuple[NDArray[np.int64], ...]:
    """Put whole groups, in random order, into the fold that is smallest so far."""
    names, group = np.unique(groups, return_inverse=True)
    sizes = np.bincount(group)
    held = np.zeros(count, dtype=np.int64)
    fold = np.empty(len(names), dtype=np.int64)
    for place in source.permutation(len(names)):
        fold[place] = held.argmin()
        held[fold[place]] += sizes[place]
    return tuple(np.flatnonzero(fold[group] == number) for number in range(count))


def study_of(job: Job, pair: tuple[int, int], schema: Schema) -> Study:
    """Return the study of one (K, L)."""
    if job.method in ("raw", "pw"):
        return _baseline(job, schema)
    trust = Trust(
        reduce="trusted" if job.reduction == "wa" else "untrusted",
        train="trusted" if job.train == "oda" else "untrusted",
    )
    spent = 2 * job.epsilon if job.reading == "twice" else job.epsilon
    study = plan(
        schema,
        epsilon=spent,
        trust=trust,
        mode="faithful",
        keep=pair[0],
        classes=pair[1],
        reduce=job.reduction,
        train=job.train,
        test="odp",
    )
    return _with_test_budget(study, job)


def _with_test_budget(study: Study, job: Job) -> Study:
    """Let a test owner spend the budget once, on the attributes alone or as the papers do."""
    asked = study.question("test")
    if asked is None or asked.epsilon is None:
        return study
    share = 1.0 if job.shares == "attributes" else asked.epsilon / study.epsilon
    changed: Question = replace(asked, epsilon=share * job.epsilon)
    others = tuple(each for each in study.questions if each.phase != "test")
    return replace(study, questions=(*others, changed))


def _baseline(job: Job, schema: Schema) -> Study:
    place = "trusted" if job.method == "raw" else "untrusted"
    return plan(
        schema,
        epsilon=job.epsilon or 1.0,
        trust=Trust(reduce=place, train=place, test=place),
        mode="faithful",
        attributes=schema.names,
        classes=2,
        train=job.method,
        test=job.method,
    )
