"""The channel of all that leaves an owner: what breaks a promise about it is seen."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from supm import simulation
from supm._random import RandomSource
from supm.audit import (
    Branch,
    OwnerOutput,
    audit_owner,
    exact_epsilon,
    example_records,
    small_studies,
)
from supm.mechanisms import Reports
from supm.messages import Study
from supm.owner import Interview, SeparateInterview, interview
from supm.owner.columns import Labels, Unchanged

EPSILON = 2.0


def parts(study: Study) -> tuple[OwnerOutput, list[Interview]]:
    """Return the honest output of a training owner of a study without groups, and its parts."""
    reduced = study.reduced(study.schema.names[: study.keep])
    asked = [interview(reduced, phase) for phase in ("reduce", "train")]
    records = study.schema.read(example_records(study))
    return OwnerOutput(records=records, branches=(Branch(weight=1, asked=tuple(asked)),)), asked


def broken(output: OwnerOutput, claimed: float = EPSILON) -> list[str]:
    """Return which checks a claim about an output fails."""
    found = audit_owner(output, simulation(4), claimed=claimed, draws=1 << 12)
    assert (found.verdict == "broken") == any(not each.passed for each in found.findings)
    return [each.check for each in found.findings if not each.passed]


PRIVATE = small_studies(EPSILON)["waldp, odp, odp"]


def test_an_honest_output_breaks_nothing() -> None:
    output, _ = parts(PRIVATE)
    assert broken(output) == []
    assert output.epsilon == pytest.approx(EPSILON, rel=1e-12)
    assert output.report_bits == (output.outcomes - 1).bit_length()


def test_an_answer_that_is_drawn_again_is_caught() -> None:
    """Asked again, an owner without a memory would spend the train share twice."""
    output, (reduce, train) = parts(PRIVATE)
    again = replace(output, branches=(Branch(weight=1, asked=(reduce, train, train)),))
    assert broken(again) == ["check_epsilon"]
    assert exact_epsilon(again.exact_channel()) == pytest.approx(1.5 * EPSILON, rel=1e-9)


def test_phases_that_each_take_the_whole_budget_are_caught() -> None:
    output, _ = parts(PRIVATE)
    twice = [parts(small_studies(2 * EPSILON)["waldp, odp, odp"])[1][place] for place in (0, 1)]
    assert broken(replace(output, branches=(Branch(weight=1, asked=tuple(twice)),))) == [
        "check_epsilon"
    ]


def test_a_label_that_leaves_as_it_is_is_caught() -> None:
    output, (reduce, train) = parts(PRIVATE)
    assert isinstance(train, SeparateInterview)
    bare = replace(train, label=Labels(randomizer=Unchanged(2)))
    leaking = replace(output, branches=(Branch(weight=1, asked=(reduce, bare)),))
    assert broken(leaking) == ["check_epsilon"]
    assert broken(leaking, math.inf) == []


class SameWords(OwnerOutput):
    """Plants a defect: both phases are randomised with the same words."""

    def _answers(
        self, branch: Branch, held: NDArray[np.int64], source: RandomSource
    ) -> NDArray[np.int64]:
        seed = int(source.words(1)[0])
        numbers = np.zeros(held.size, dtype=np.int64)
        for asked in branch.asked:
            reports = asked.randomize(asked.encode(self.records)[held], simulation(seed))
            numbers = numbers * asked.outcomes + asked.outcome(reports)
        return numbers


def test_words_that_serve_two_phases_are_caught() -> None:
    output, (_, train) = parts(PRIVATE)
    twice = (Branch(weight=1, asked=(train, train)),)
    assert broken(OwnerOutput(records=output.records, branches=twice)) == []
    assert broken(SameWords(records=output.records, branches=twice)) == ["check_sampler"]


class GroupFromRecord(OwnerOutput):
    """Plants a defect: some owners of one record move to the first group."""

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        told = super().randomize(values, source)
        again = super().randomize(values, source)
        moved = (np.asarray(values) == 0) & (told.symbols >= self.branches[0].outcomes)
        symbols = np.where(moved, again.symbols, told.symbols)
        return Reports(symbols=symbols, simulation=source.simulation)


def test_a_group_that_depends_on_the_record_is_caught() -> None:
    study = small_studies(EPSILON)["rank, joint, joint"].reduced(("pulse",))
    branches = (
        Branch(weight=2, asked=(interview(study, "reduce"),)),
        Branch(weight=3, asked=(interview(study, "train"),)),
    )
    records = study.schema.read(example_records(study))
    assert broken(OwnerOutput(records=records, branches=branches)) == []
    assert broken(GroupFromRecord(records=records, branches=branches)) == ["check_sampler"]


def test_groups_are_paid_for_once_and_the_same_people_twice() -> None:
    study = small_studies(EPSILON)["rank, joint, joint"].reduced(("pulse",))
    reduce, train = interview(study, "reduce"), interview(study, "train")
    records = study.schema.read(example_records(study))
    apart = (Branch(weight=2, asked=(reduce,)), Branch(weight=3, asked=(train,)))
    exact = exact_epsilon(OwnerOutput(records=records, branches=apart).exact_channel())
    assert exact == pytest.approx(EPSILON, rel=1e-9)
    together = OwnerOutput(records=records, branches=(Branch(weight=1, asked=(reduce, train)),))
    assert broken(together) == ["check_epsilon"]
    assert together.epsilon == pytest.approx(2 * EPSILON, rel=1e-12)


def test_a_number_between_two_points_of_its_grid_has_the_mixture_of_their_rows() -> None:
    study = small_studies(EPSILON)["rand, pw, pw"]
    asked = interview(study.reduced(("pulse",)), "test")
    records = study.schema.read(
        {"pulse": [0.0, 50.0, 100.0], "stage": [1, 1, 1], "ill": ["no", "no", "no"]}
    )
    output = OwnerOutput(records=records, branches=(Branch(weight=1, asked=(asked,)),))
    low, between, middle = output.exact_channel()
    assert between == [(a + b) / 2 for a, b in zip(low, middle, strict=True)]
    assert {sum(row) for row in (low, between, middle)} == {Fraction(1)}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_group_that_spends_most_says_what_is_spent(order: tuple[int, int]) -> None:
    output, (reduce, train) = parts(PRIVATE)
    groups = (Branch(weight=1, asked=(reduce, train)), Branch(weight=9, asked=(train,)))
    apart = replace(output, branches=tuple(groups[place] for place in order))
    assert apart.epsilon == pytest.approx(EPSILON, rel=1e-12)
    assert exact_epsilon(apart.exact_channel()) == pytest.approx(EPSILON, rel=1e-9)


class Stray(SeparateInterview):
    """Plants a defect: the first owner of each call tells an attribute that there is not."""

    def randomize(self, inputs: NDArray[Any], source: RandomSource) -> Reports:
        told = super().randomize(inputs, source)
        told.symbols[0, 0] = len(self.columns)
        return told


def test_a_single_answer_that_could_not_be_told_is_caught_whatever_is_answered_next() -> None:
    output, (reduce, train) = parts(PRIVATE)
    assert isinstance(reduce, SeparateInterview)
    stray = Stray(columns=reduce.columns, label=reduce.label, sampled=reduce.sampled)
    for asked in ((stray, train), (train, stray)):
        straying = replace(output, branches=(Branch(weight=1, asked=asked),))
        told = straying.randomize([3, 3, 3], simulation(1)).symbols
        assert told[0] < 0 <= told[1:].min()
        assert broken(straying) == ["check_sampler"]
