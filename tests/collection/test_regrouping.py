"""Reduction by sampled reports: merges that were planted are found, and so are attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from supm import MessageError, ParameterError, simulation
from supm.collection import associations, count, plan, reduce_study, run_in_process
from supm.collection.cards import moments_of
from supm.mechanisms import Tally
from supm.messages import Study
from supm.owner import interview
from supm.owner.sampled import SampledInterview
from supm.schema import Categorical, Continuous, Regrouped, Schema

ATTRIBUTES = (
    Continuous("nothing", low=0, high=1),
    Continuous("cut", low=0, high=1),
    Categorical("ward", values=("a", "b", "c", "d")),
    Continuous("gaps", low=0, high=1, missing="class"),
    Categorical("coin", values=("x", "y")),
)


def people(rows: int, labels: int = 2) -> tuple[Schema, Any]:
    """Return people whose label goes with "cut" above 3/8, with wards b and d, and with a gap."""
    source = simulation(61)
    columns = {
        name: source.below(1000, rows).astype(np.float64) / 1000 for name in ("nothing", "cut")
    }
    ward = source.below(4, rows).astype(np.int64)
    gap = source.below(2, rows).astype(np.int64) == 1
    gaps = source.below(1000, rows).astype(np.float64) / 1000
    signs = [columns["cut"] >= 3 / 8, ward % 2 == 1, gap]
    which = source.below(3, rows).astype(np.int64)
    label = np.choose(which, signs).astype(np.int64)
    label[label == 1] = 1 + source.below(labels - 1, int((label == 1).sum()))
    schema = Schema(attributes=ATTRIBUTES, target=Categorical("t", values=("p", "q", "r")[:labels]))
    table = columns | {
        "ward": np.array(["a", "b", "c", "d"])[ward],
        "gaps": np.where(gap, np.nan, gaps),
        "coin": np.array(["x", "y"])[source.below(2, rows).astype(np.int64)],
        "t": np.array(["p", "q", "r"])[label],
    }
    return schema, schema.read(table)


def reduced(study: Study, records: Any, seed: int = 3) -> Study:
    asked = interview(study, "reduce")
    counts = count(asked, asked.randomize(asked.encode(records), simulation(seed)))
    return reduce_study(study, counts, simulation(seed))


@pytest.mark.parametrize("sampled", [1, 2])
@pytest.mark.parametrize("labels", [2, 3])
def test_planted_cuts_lists_and_gaps_are_found(labels: int, sampled: int) -> None:
    schema, records = people(60_000, labels)
    study = plan(schema, epsilon=4.0, reduce="regroup", classes=8, keep=3, sampled=sampled)
    found = reduced(study, records)
    assert found.attributes == ("cut", "ward", "gaps")
    assert found.merges is not None
    cut, ward, gaps = (np.array(each) for each in found.merges)
    assert cut.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    # Which of two groups has which number is a convention.
    assert ward.tolist() in ([0, 1, 0, 1], [1, 0, 1, 0])
    # A missing value is apart from most of the others; it must share a group with some.
    assert gaps.size == 9
    assert (gaps[:8] != gaps[8]).sum() >= 7
    merged = found.discretizers("train")
    assert all(isinstance(each, Regrouped) and each.size == 2 for each in merged)
    assert found.previous == study.hash
    assert Study.from_json(found.to_json()) == found


@pytest.mark.parametrize("epsilon", [2.0, 4.0, 30.0])
def test_ranking_finds_the_attributes_that_go_with_the_label(epsilon: float) -> None:
    schema, records = people(60_000)
    study = plan(schema, epsilon=epsilon, reduce="rank", classes=4, keep=2, sampled=2)
    chosen = reduced(study, records)
    assert chosen.merges is None
    assert chosen.attributes is not None
    assert set(chosen.attributes) < {"cut", "ward", "gaps"}
    asked = interview(study, "reduce")
    counts = count(asked, asked.randomize(asked.encode(records), simulation(3)))
    strength = associations(study, counts)
    assert strength.shape == (5,)
    assert ((strength >= 0) & (strength <= 1)).all()
    assert strength[[0, 4]].max() < 0.5 * strength[[1, 2, 3]].min()


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_noise_of_a_table_is_the_spread_of_its_estimates(epsilon: float) -> None:
    schema, records = people(3000)
    study = plan(schema, epsilon=epsilon, reduce="regroup", classes=4, sampled=1)
    asked = interview(study, "reduce")
    assert isinstance(asked, SampledInterview)
    inputs = asked.encode(records)
    drawn = []
    for seed in range(40):
        counts = count(asked, asked.randomize(inputs, simulation(seed)))
        moments = moments_of(asked, counts)
        drawn.append(np.split(moments.held, np.cumsum(moments.sizes)[:-1]))
    noise = [each[0, 0] for each in np.split(moments.held_noise, np.cumsum(moments.sizes)[:-1])]
    for place, stated in enumerate(noise):
        estimates = np.array([tables[place] for tables in drawn])
        spread = float(np.sqrt(estimates.var(axis=0, ddof=1).mean()))
        # In units of a table that adds up to one, seen through all but a part of the reports.
        assert 0.75 < spread / stated < 1.2
        assert estimates.sum(axis=(1, 2)) == pytest.approx(np.ones(40))


def test_all_attributes_are_kept_in_the_order_of_the_schema() -> None:
    schema, records = people(2000)
    study = plan(schema, epsilon=2.0, reduce="regroup", classes=4)
    assert reduced(study, records).attributes == schema.names


def test_the_same_counts_make_the_same_study() -> None:
    schema, records = people(3000)
    study = plan(schema, epsilon=2.0, reduce="regroup", classes=4, keep=4)
    assert reduced(study, records) == reduced(study, records)
    other = [reduced(study, records, seed) for seed in range(4, 8)]
    assert any(each != other[0] for each in other), "noise makes a difference"


def test_merged_classes_are_learned_from_by_the_second_group() -> None:
    schema, records = people(40_000)
    study = plan(schema, epsilon=6.0, reduce="regroup", classes=8)
    trained = run_in_process(study, records, simulation(3))
    told = trained.rule.predict(
        records.encode(trained.study.discretizers("train")), (2,) * len(schema.names)
    )
    majority = max(np.bincount(records.target)) / records.rows
    assert (told == records.target).mean() > majority + 0.15


@pytest.mark.parametrize("form", ["joint", "odp"])
def test_merged_classes_may_be_told_in_other_forms(form: str) -> None:
    schema, records = people(5000)
    study = plan(schema, epsilon=8.0, reduce="regroup", classes=8, keep=2, train=form)
    trained = run_in_process(study, records, simulation(3))
    assert [each.size for each in trained.study.discretizers("train")] == [2, 2]
    told = trained.rule.predict(records.encode(trained.study.discretizers("train")), (2, 2))
    majority = max(np.bincount(records.target)) / records.rows
    assert (told == records.target).mean() > majority + 0.1


def test_counts_of_another_question_and_a_second_reduction_are_refused() -> None:
    schema, records = people(100)
    study = plan(schema, epsilon=2.0, reduce="regroup", classes=4)
    with pytest.raises(ParameterError, match="Collect its reports first"):
        reduce_study(study, None, simulation(1))
    wrong = Tally(counts=np.ones((4, 4), dtype=np.int64), reports=4, simulation=True)
    with pytest.raises(ParameterError, match="those of this question"):
        reduce_study(study, wrong, simulation(1))
    once = reduced(study, records)
    with pytest.raises(MessageError, match="chosen already"):
        reduced(once, records)
