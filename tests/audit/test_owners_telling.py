"""Owners one by one send what interviews draw for all at once: the same distribution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from supm import simulation
from supm._random import RandomSource
from supm.audit import (
    Branch,
    OwnerOutput,
    by_devices,
    by_interviews,
    check_sampler,
    completed,
    example_records,
    small_studies,
)
from supm.audit.owners import Told, questions_of
from supm.collection import plan
from supm.mechanisms import Reports
from supm.messages import Study
from supm.owner import interview


@dataclass(frozen=True, kw_only=True, eq=False)
class ThroughDevices(OwnerOutput):
    """The output of owners whose devices answer, one after the other, from the raw record."""

    study: Study
    owner: str
    raw: list[dict[str, Any]]

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        numbers = np.array([self._number(each, source) for each in np.asarray(values).tolist()])
        return Reports(symbols=numbers, simulation=source.simulation)

    def _number(self, value: int, source: RandomSource) -> int:
        told = by_devices(self.study, self.owner, self.raw[value], 1, source)
        group = int(told.groups[0])
        first = sum(branch.outcomes for branch in self.branches[:group])
        (sent,) = (symbols for symbols in told.symbols.values() if len(symbols))
        (asked,) = self.branches[group].asked
        return first + int(asked.outcome(Reports(symbols=sent, simulation=True))[0])


@pytest.mark.parametrize("owner", ["training owner", "test owner"])
@pytest.mark.parametrize("name", ["known, sample, answer", "regroup, sample, answer"])
def test_reports_of_devices_follow_the_exact_channel_of_the_record(name: str, owner: str) -> None:
    """From a raw record through `Owner.answer` to the report, against fractions."""
    study = completed(small_studies()[name])
    raw = example_records(study)[:: 11 if owner == "training owner" else 13]
    asked = questions_of(study, owner)
    weights = study.groups if owner == "training owner" else (1,)
    branches = tuple(
        Branch(weight=weight, asked=(interview(study, question.phase),))
        for weight, question in zip(weights, asked, strict=True)
    )
    records = study.schema.read(raw)
    output = ThroughDevices(records=records, branches=branches, study=study, owner=owner, raw=raw)
    assert check_sampler(output, simulation(1), draws=150).passed


def shares(told: Told) -> list[float]:
    """Return how many are in the second group and what the symbols are on average."""
    means = [float(symbols.mean()) for symbols in told.symbols.values()]
    return [float(told.groups.mean()), *means]


def test_both_ways_tell_the_same_about_groups_and_symbols() -> None:
    study = completed(small_studies()["rank, joint, joint"])
    record = example_records(study)[-1]
    one = by_devices(study, "training owner", record, 500, simulation(1))
    many = by_interviews(study, "training owner", record, 50_000, simulation(1))
    assert set(one.symbols) == set(many.symbols) == {"reduce", "train"}
    assert shares(one) == pytest.approx(shares(many), abs=0.15)


@pytest.mark.parametrize("crowd", [by_devices, by_interviews])
def test_nothing_leaves_owners_who_look_the_answer_up(crowd: Callable[..., Told]) -> None:
    strict = small_studies()["known, sample, answer"]
    study = plan(strict.schema, epsilon=1.0, trust="u,u,d")
    told = crowd(study, "test owner", example_records(study)[0], 3, simulation(1))
    assert (told.groups.tolist(), told.symbols) == ([0, 0, 0], {})
