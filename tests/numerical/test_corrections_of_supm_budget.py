"""Corrections 12 and 15 to 18 of docs/errata.md: what is spent, on what, and to what use.

As in tests/numerical/test_corrections_of_supm.py, what a paper prints stands as a function whose
name begins with ``printed``, and one assertion is put to both versions.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from supm import ParameterError, simulation
from supm.audit import exact_epsilon
from supm.collection import account, count, plan, reduce_study
from supm.mechanisms import GeneralizedRandomizedResponse, IndependentReports, Piecewise
from supm.messages import Study, Trust
from supm.owner import SeparateInterview, interview
from supm.owner.sampled import SampledInterview
from supm.privacy import Guarantee, NoGuarantee, PureLDP
from supm.schema import Categorical, Continuous, Records, Schema

EPSILON = 2.0
SCHEMA = Schema(
    attributes=tuple(Continuous(name, low=-1, high=1) for name in ("shifted", "useful", "third")),
    target=Categorical("y", values=("no", "yes")),
)


def faithful(
    *,
    keep: int,
    classes: int = 2,
    epsilon: float = EPSILON,
    reduce: str | None = None,
    trust: Trust | None = None,
) -> Study:
    return plan(
        SCHEMA,
        epsilon=epsilon,
        mode="faithful",
        attributes=SCHEMA.names[:keep] if reduce is None else None,
        keep=keep,
        classes=classes,
        reduce=reduce,
        trust=trust,
    )


def printed_report(keep: int, classes: int) -> IndependentReports:
    """000, notation: epsilon_K = epsilon / K, for each of K attributes and the label."""
    share = EPSILON / keep
    sizes = [classes] * keep + [2]
    return IndependentReports(
        tuple(GeneralizedRandomizedResponse.for_epsilon(size=k, epsilon=share) for k in sizes)
    )


def assert_spends_the_budget(channel: list[list[Fraction]]) -> None:
    spent = exact_epsilon(channel)
    assert spent <= EPSILON, "the budget is overdrawn"
    assert spent == pytest.approx(EPSILON, rel=1e-9), "a part of the budget is not used"


@pytest.mark.parametrize(("keep", "classes"), [(1, 4), (2, 3), (3, 2)])
def test_12_a_training_record_has_one_part_more_than_attributes(keep: int, classes: int) -> None:
    printed = printed_report(keep, classes)
    assert printed.epsilon == pytest.approx(EPSILON * (keep + 1) / keep)
    with pytest.raises(AssertionError, match="overdrawn"):
        assert_spends_the_budget(printed.exact_channel())
    study = faithful(keep=keep, classes=classes)
    asked = interview(study, "train")
    assert isinstance(asked, SeparateInterview)
    assert asked.label is not None
    for part in (*asked.columns, asked.label):
        assert part.randomizer.epsilon == pytest.approx(EPSILON / (keep + 1))
    assert_spends_the_budget(asked.exact_channel())


def assert_an_owner_spends_at_most_the_budget(promise: Guarantee) -> None:
    assert isinstance(promise, PureLDP), "there is no epsilon"
    assert promise.epsilon <= EPSILON, "an owner spends more"


@pytest.mark.parametrize("reduction", ["pw", "waldp"])
def test_15_choosing_attributes_and_training_share_one_budget(reduction: str) -> None:
    """000, Theorem 1 has no epsilon; its proof gives each of the two phases the whole one."""
    printed = account(faithful(keep=2, reduce=reduction, epsilon=2 * EPSILON))
    assert printed.phases["reduce"] == printed.phases["train"]
    assert_an_owner_spends_at_most_the_budget(printed.phases["train"])
    with pytest.raises(AssertionError, match="spends more"):
        assert_an_owner_spends_at_most_the_budget(printed.training)
    ours = account(faithful(keep=2, reduce=reduction))
    assert_an_owner_spends_at_most_the_budget(ours.training)
    whole = faithful(keep=2, reduce=reduction)
    greedy = tuple(replace(each, epsilon=EPSILON) for each in whole.questions)
    with pytest.raises(ParameterError, match="in total for one owner"):
        replace(whole, questions=greedy)


def test_15_where_classes_leave_as_they_are_there_is_no_epsilon() -> None:
    trusting = account(faithful(keep=2, reduce="wa", trust=Trust(reduce="trusted")))
    assert isinstance(trusting.training, NoGuarantee)
    with pytest.raises(AssertionError, match="no epsilon"):
        assert_an_owner_spends_at_most_the_budget(trusting.training)
    assert_an_owner_spends_at_most_the_budget(trusting.phases["train"])


def printed_test_report(keep: int, classes: int) -> list[list[Fraction]]:
    """Algorithm 9: what is left for the attributes when the label has a share of its own."""
    whole = IndependentReports.for_epsilon(sizes=[classes] * keep + [2], epsilon=EPSILON)
    return IndependentReports(whole.responses[:-1]).exact_channel()


@pytest.mark.parametrize("form", ["odp", "joint", "sample"])
def test_16_a_record_to_be_classified_spends_nothing_on_a_label(form: str) -> None:
    with pytest.raises(AssertionError, match="not used"):
        assert_spends_the_budget(printed_test_report(2, 2))
    names = SCHEMA.names[:2]
    study = plan(SCHEMA, epsilon=EPSILON, attributes=names, classes=2, train=form, test=form)
    assert_spends_the_budget(interview(study, "test").exact_channel())
    # The faithful mode sends no label either; it leaves the label's share unspent.
    left = interview(faithful(keep=2), "test")
    assert left.width == 2
    assert left.epsilon == pytest.approx(EPSILON * 2 / 3)


def shifted_and_useful() -> Records:
    """4 of 5 labels are "yes". "shifted" is far from 0 for everybody, "useful" tells the label."""
    yes = np.repeat([1.0, 1.0, 1.0, 1.0, -1.0], 2000)
    turn = np.arange(yes.size) % 10
    columns = {
        "shifted": np.where(turn % 2, 0.9, 0.3),
        "useful": np.where(turn < 6, 0.9, -0.9) * yes,
        "third": np.where(turn % 3, 0.1, -0.1),
    }
    return SCHEMA.read(columns | {"y": np.where(yes > 0, "yes", "no")})


def printed_choice(records: Records) -> str:
    """Algorithm 7: the attribute of the largest |sum of y x TA|, with y the class value of ODA."""
    signs = 2 * np.asarray(records.target) - 1
    strength = {
        each.attribute.name: abs(np.mean(np.asarray(each.representatives)[classes] * signs))
        for each, classes in zip(
            SCHEMA.discretize(4), records.encode(SCHEMA.discretize(4)).T, strict=True
        )
    }
    return max(strength, key=strength.__getitem__)


def our_choice(records: Records) -> str:
    study = faithful(keep=1, classes=4, reduce="wa", trust=Trust(reduce="trusted"))
    asked = interview(study, "reduce")
    told = asked.randomize(asked.encode(records), simulation(7))
    chosen = reduce_study(study, count(asked, told), simulation(7)).attributes
    assert chosen is not None
    return chosen[0]


def assert_tells_something(name: str, records: Records) -> None:
    correlation = np.corrcoef(records.columns[name], np.asarray(records.target))[0, 1]
    assert abs(correlation) > 0.1, "the chosen attribute is independent of the label"


def test_17_attributes_are_ranked_by_correlation_and_not_by_a_part_of_it() -> None:
    records = shifted_and_useful()
    with pytest.raises(AssertionError, match="independent of the label"):
        assert_tells_something(printed_choice(records), records)
    assert_tells_something(our_choice(records), records)


SQUARE, SIGN = 0.3, 1.0
"""E[x^2] of an attribute on [-1, 1], and the label as a number."""


def piecewise_variance(epsilon: float, square: float) -> float:
    return Piecewise.for_epsilon(low=-1, high=1, epsilon=epsilon, steps=1 << 14).variance(
        math.sqrt(square)
    )


def printed_variance(keep: int, epsilon: float) -> float:
    """Algorithm 6: PW(x) times PW(TA), each with epsilon / (K + 1)."""
    number, label = (
        piecewise_variance(epsilon / (keep + 1), each) + each for each in (SQUARE, SIGN)
    )
    return number * label - SQUARE


def our_variance(epsilon: float) -> float:
    """One attribute's class and the label as one symbol: the variance of their product, read."""
    study = plan(SCHEMA, epsilon=epsilon, reduce="rank", keep=1, classes=2, sampled=1)
    asked = interview(study, "reduce")
    assert isinstance(asked, SampledInterview)
    # Both classes stand for -1/2 and 1/2, so that the square of a product is 1/4.
    return 0.25 / asked.gap() ** 2 - 0.25


def test_18_one_noisy_product_is_better_than_the_product_of_two_noisy_numbers() -> None:
    keep, epsilon = 4, 5.0
    one_product = piecewise_variance(epsilon / keep, SQUARE)
    assert printed_variance(keep, epsilon) == pytest.approx(27.4, abs=0.05)
    assert one_product == pytest.approx(2.50, abs=0.005)
    # An owner tells K products as printed and one of ours, so a printed one counts K times.
    assert printed_variance(keep, epsilon) / keep > 2 * one_product
    assert our_variance(epsilon) < one_product / keep
