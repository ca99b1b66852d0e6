"""The strength of an attribute is what the textbook says of the same reports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats.contingency import association

from supm import MessageError, ParameterError, simulation
from supm.collection import associations, count, plan, reduce_study
from supm.collection.reduction import draw_attributes
from supm.mechanisms import Piecewise, Reports, Tally
from supm.messages import Study, Trust
from supm.owner import interview
from supm.owner.columns import Numbers
from supm.owner.separate import SeparateInterview
from supm.schema import Categorical, Continuous, Schema

TRUSTED = Trust.parse("t,u,u")


def _study(people: Any, reduce: str, epsilon: float = 200.0, **wishes: Any) -> Study:
    chosen = {"keep": 1, "classes": 4} | wishes
    return plan(people.schema, epsilon=epsilon, trust=TRUSTED, reduce=reduce, **chosen)


def _reports(study: Study, people: Any, seed: int = 3) -> Reports:
    asked = interview(study, "reduce")
    return asked.randomize(asked.encode(people.records), simulation(seed))


def _strengths(study: Study, people: Any, seed: int = 3) -> NDArray[np.float64]:
    return associations(study, count(interview(study, "reduce"), _reports(study, people, seed)))


def _correlation_ratio(values: NDArray[Any], labels: NDArray[Any]) -> float:
    means = np.array([values[labels == label].mean() for label in labels])
    return float(np.sqrt(means.var() / values.var()))


def _scaled(people: Any, study: Study) -> dict[str, NDArray[Any]]:
    """Return the numbers that stand for the classes of each attribute, or the classes."""
    held = {}
    for place, discretizer in enumerate(study.discretizers("reduce")):
        classes = people.records.encode(study.discretizers("reduce"))[:, place]
        scale = discretizer.representatives
        held[discretizer.attribute.name] = classes if scale is None else scale[classes]
    return held


def test_for_two_labels_the_strength_is_the_absolute_correlation(make_people: Any) -> None:
    people = make_people(400)
    study = _study(people, "wa")
    labels = people.records.target
    expected = [abs(np.corrcoef(held, labels)[0, 1]) for held in _scaled(people, study).values()]
    np.testing.assert_allclose(_strengths(study, people), expected, rtol=1e-9)


@pytest.mark.parametrize("labels", [2, 3, 4])
def test_more_labels_give_the_correlation_ratio_or_cramers_v(make_people: Any, labels: int) -> None:
    people = make_people(400, labels=labels, wards=True)
    study = _study(people, "wa")
    held, truth = _scaled(people, study), people.records.target
    expected = [_correlation_ratio(held[name], truth) for name in ("noise", "strong", "weak")]
    for name in ("sex", "ward"):
        table = np.zeros((3, labels), dtype=np.int64)
        np.add.at(table, (held[name], truth), 1)
        table = table[table.sum(axis=1) > 0]
        expected.append(association(table, method="cramer"))
    np.testing.assert_allclose(_strengths(study, people), expected, rtol=1e-9)


@pytest.mark.parametrize(("low", "width"), [(0.0, 1e-9), (1e9, 1.0), (-8e307, 1.6e308)])
def test_the_unit_and_the_zero_of_an_attribute_do_not_matter(
    make_people: Any, low: float, width: float
) -> None:
    plain = make_people(300)
    where = np.round((plain.table["strong"] + 1) / 2, 2)
    attribute = Continuous("strong", low=low, high=low + width)
    schema = Schema(attributes=(attribute,), target=plain.schema.target)
    unit = Schema(attributes=(Continuous("strong", low=0, high=1),), target=plain.schema.target)
    for reduce in ("wa", "pw"):
        found = []
        for each, values in ((schema, low + where * width), (unit, where)):
            records = each.read({"strong": values, "ill": plain.table["ill"]})
            people = replace(plain, schema=each, records=records)
            found.append(_strengths(_study(people, reduce), people)[0])
        assert found[1] > 0.5
        assert found[0] == pytest.approx(found[1], abs=0.02)


def _decoded(symbols: NDArray[Any], column: Any) -> NDArray[np.float64]:
    assert isinstance(column.randomizer, Piecewise)
    return column.randomizer.decode(Reports(symbols=symbols, simulation=True))


@pytest.mark.parametrize("labels", [2, 3])
def test_the_strength_from_pw_reports_is_that_of_their_readings(
    make_people: Any, labels: int
) -> None:
    people = make_people(500, labels=labels)
    study = _study(people, "pw", 12.0, keep=2)
    asked, reports = interview(study, "reduce"), _reports(study, people)
    assert isinstance(asked, SeparateInterview)
    found = associations(study, count(asked, reports))
    places, told, label = np.hsplit(reports.symbols, [2, 4])
    for place, column in enumerate(asked.columns):
        assert isinstance(column, Numbers)
        rows, which = np.nonzero(places == place)
        readings = _decoded(told[rows, which], column)
        if labels == 2:
            signs = _decoded(label[rows, 0], asked.label)
            expected = abs(np.corrcoef(readings, signs)[0, 1])
        else:
            expected = _correlation_ratio(readings, label[rows, 0])
        assert found[place] == pytest.approx(expected, rel=1e-9)


def test_joint_reports_are_debiased_and_others_are_taken_at_their_word(make_people: Any) -> None:
    people = make_people(60_000)
    truth = _strengths(_study(people, "wa"), people)
    debiased = _strengths(_study(people, "rank", 2.0), people)
    # Twice the budget, since one half of it is kept for the train phase.
    attenuated = _strengths(_study(people, "waldp", 4.0), people)
    assert abs(debiased - _strengths(_study(people, "rank", 60.0), people)).max() < 0.05
    assert attenuated[1] < truth[1] / 1.5


@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize("reduce", ["wa", "pw", "waldp", "rank"])
def test_every_reduction_finds_the_attribute_that_decides(
    make_people: Any, reduce: str, labels: int
) -> None:
    people = make_people(2000, labels=labels)
    for seed in range(3):
        study = _study(people, reduce, 60.0, keep=2)
        counts = count(interview(study, "reduce"), _reports(study, people, seed))
        reduced = reduce_study(study, counts, simulation(seed))
        assert reduced.attributes == ("strong", "weak")
        assert reduced.previous == study.hash


def test_an_attribute_that_does_not_vary_or_that_nobody_told_has_no_strength(
    make_people: Any,
) -> None:
    people = make_people(50)
    table = people.table | {"noise": np.full(50, 0.3), "sex": np.full(50, "m")}
    constant = replace(people, records=people.schema.read(table))
    for reduce in ("wa", "rank"):
        found = _strengths(_study(constant, reduce, 200.0), constant)
        assert found[[0, 3]].tolist() == [0.0, 0.0]
    for reduce in ("wa", "pw", "waldp", "rank"):
        study = _study(people, reduce)
        tally = count(interview(study, "reduce"), _reports(study, people))
        assert isinstance(tally, Tally)
        nobody = Tally(counts=np.zeros_like(tally.counts), reports=0, simulation=True)
        assert associations(study, nobody).tolist() == [0.0] * 4


def test_of_attributes_alike_the_earlier_are_kept(make_people: Any) -> None:
    people = make_people(100)
    names = tuple(f"attribute {number}" for number in range(40))
    schema = Schema(
        attributes=tuple(Continuous(name, low=-1, high=1) for name in names),
        target=people.schema.target,
    )
    columns = dict.fromkeys(names, people.table["strong"])
    same = replace(
        people, schema=schema, records=schema.read(columns | {"ill": people.table["ill"]})
    )
    study = _study(same, "wa", keep=20, train="odp", test="odp")
    counts = count(interview(study, "reduce"), _reports(study, same))
    assert reduce_study(study, counts, simulation(1)).attributes == names[:20]


def test_a_random_choice_is_uniform_and_looks_at_no_report(make_people: Any) -> None:
    study = plan(make_people(5).schema, epsilon=4.0, reduce="rand", keep=2)
    source = simulation(1)
    drawn = [draw_attributes(study, source) for _ in range(600)]
    assert all(len(set(names)) == 2 for names in drawn)
    times = [sum(name in names for names in drawn) for name in study.schema.names]
    # Two of four: 300 each on average; six standard deviations are 74.
    assert all(226 < each < 374 for each in times)
    one = reduce_study(study, None, simulation(9))
    assert one == reduce_study(study, None, simulation(9))


def test_counts_of_another_phase_are_refused(make_people: Any) -> None:
    people = make_people(50)
    study = _study(people, "waldp")
    with pytest.raises(ParameterError, match="Collect its reports first"):
        reduce_study(study, None, simulation(1))
    known = plan(people.schema, epsilon=4.0, attributes=["strong"], train="odp")
    asked = interview(known, "train")
    training = count(asked, asked.randomize(asked.encode(people.records), simulation(1)))
    with pytest.raises(ParameterError, match="those of the reduce phase"):
        associations(study, training)
    with pytest.raises(MessageError, match="asks nothing in the reduce phase"):
        associations(known, training)
    numbers = plan(people.schema, epsilon=4.0, attributes=["strong"], train="pw", test="pw")
    asked = interview(numbers, "train")
    rows = count(asked, asked.randomize(asked.encode(people.records), simulation(1)))
    with pytest.raises(ParameterError, match="those of the reduce phase"):
        associations(study, rows)


def test_a_target_with_one_label_in_the_reports_gives_no_strength() -> None:
    schema = Schema(
        attributes=(Continuous("a", low=0, high=1), Categorical("b", values=("x", "y", "z"))),
        target=Categorical("t", values=("p", "q")),
    )
    study = plan(schema, epsilon=4.0, trust=TRUSTED, reduce="wa", keep=1, classes=3)
    records = schema.read({"a": [0.1, 0.5, 0.9], "b": ["x", "y", "z"], "t": ["q", "q", "q"]})
    asked = interview(study, "reduce")
    counts = count(asked, asked.randomize(asked.encode(records), simulation(1)))
    assert associations(study, counts).tolist() == [0.0, 0.0]
