"""The whole protocol once, with every owner on a device of its own and every report as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.cli._progress import bar
from supm.collection import (
    JointInterview,
    Owner,
    Reception,
    Trained,
    interview,
    publish,
    reduce_study,
    train,
)
from supm.datasets import Dataset
from supm.learning import Learner
from supm.mechanisms import Tally
from supm.messages import Model, Report, Study

__all__ = ["Story", "tell"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Story:
    """What happened, seen from an owner and from the aggregator.

    Parameters
    ----------
    asked : JointInterview
        The mechanism of the train phase.
    record : dict
        What one training owner holds. It is shown because the data are public.
    report : Report
        What left that owner's device to train.
    held : int
        The number of that owner's cell.
    people : dict of str to int
        How many reports were counted in each phase.
    told, estimated, true : ndarray of float
        The share of each combination of classes: in the reports, estimated from them, and in truth,
        which nobody but a reader of public data can know.
    model : Model
        What the aggregator publishes.
    simulation : bool
        Whether the randomness came from a seed.
    """

    asked: JointInterview
    record: dict[str, Any]
    report: Report
    held: int
    people: dict[str, int]
    told: NDArray[np.float64]
    estimated: NDArray[np.float64]
    true: NDArray[np.float64]
    model: Model
    simulation: bool

    @property
    def study(self) -> Study:
        """The study with its attributes chosen."""
        return self.model.study


def tell(study: Study, data: Dataset, learner: Learner, source: RandomSource) -> Story:
    """Run a study with the people of a public data set.

    Parameters
    ----------
    study : Study
        Of joint reports, with its attributes still to be chosen.
    data : Dataset
        The people.
    learner : Learner
        What trains.
    source : RandomSource
        Where the randomness of all devices comes from.

    Returns
    -------
    Story
    """
    crowd = _Crowd(
        owners=[Owner(source=source.child(f"owner {number}")) for number in range(data.rows)],
        records=list(_records(data)),
        simulation=source.simulation,
    )
    with bar(total=data.rows, unit="reports", label="owners report") as shown:
        door, _ = crowd.report(study, "reduce", shown.step)
        reduced = reduce_study(study, door.counts, source)
        desk, first = crowd.report(reduced, "train", shown.step)
    counts, asked = desk.counts, interview(reduced, "train")
    if not isinstance(counts, Tally) or not isinstance(asked, JointInterview):
        raise ParameterError("study", "one of joint reports", study.reduction)
    trained = train(reduced, counts, learner)
    cells = asked.encode(data.records())[:, 0]
    return Story(
        asked=asked,
        record=crowd.records[first],
        report=crowd.owners[first].answer(reduced, "train", crowd.records[first]),
        held=int(cells[first]),
        people={"reduce": door.reports, "train": desk.reports},
        told=_by_classes(counts.counts / counts.reports, asked),
        estimated=_estimated(trained),
        true=_by_classes(np.bincount(cells, minlength=asked.randomizer.size) / data.rows, asked),
        model=publish(trained),
        simulation=source.simulation,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Crowd:
    """People with a record and a device each."""

    owners: list[Owner]
    records: list[dict[str, Any]]
    simulation: bool

    def report(self, study: Study, phase: str, step: Callable[[], object]) -> tuple[Reception, int]:
        """Let the group that is asked report; return also the number of its first member."""
        question = study.question(phase)
        group = 0 if question is None else question.group
        asked = [place for place, owner in enumerate(self.owners) if owner.group(study) == group]
        if not asked:
            raise ParameterError("owners", f"at least one in group {group}", 0)
        door = Reception(study, phase, simulation=self.simulation)
        for place in asked:
            report = self.owners[place].answer(study, phase, self.records[place])
            door.receive(report.to_json())
            step()
        return door, asked[0]


def _records(data: Dataset) -> Iterator[dict[str, Any]]:
    names = list(data.columns)
    for values in zip(*(data.columns[name].tolist() for name in names), strict=True):
        yield dict(zip(names, values, strict=True))


def _estimated(trained: Trained) -> NDArray[np.float64]:
    if trained.cells is None:
        raise ParameterError("study", "one of joint reports", trained.study.reduction)
    return trained.cells


def _by_classes(shares: NDArray[np.float64], asked: JointInterview) -> NDArray[np.float64]:
    """Add up the labels of each combination of classes."""
    summed: NDArray[np.float64] = shares.reshape(-1, asked.sizes[-1]).sum(axis=1)
    return summed
