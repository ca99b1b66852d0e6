"""The layout of a strict study: from public numbers alone, by the variance of what reports tell."""

from __future__ import annotations

import math

import pytest

from supm.collection.plan_layout import FIRST, MERGED, attributes_told, finest_classes, lay_out
from supm.owner.draws import gap_of
from supm.schema import Attribute, Categorical, Continuous

MANY: tuple[Attribute, ...] = tuple(Continuous(f"x{place}", low=0, high=1) for place in range(20))
ONE: tuple[Attribute, ...] = (Continuous("x", low=0, high=1),)
COINS: tuple[Attribute, ...] = tuple(
    Categorical(f"c{place}", values=("no", "yes")) for place in range(20)
)
FINER = math.log(32)
"""From this budget on, one group tells two labels by four classes."""


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("cells", [2, 8, 500])
def test_the_gap_is_that_of_one_randomized_response(epsilon: float, cells: int) -> None:
    grown = math.exp(epsilon)
    hit, miss = grown / (grown + cells - 1), 1 / (grown + cells - 1)
    assert gap_of(epsilon, cells) == pytest.approx(hit - miss)
    assert gap_of(1e4, cells) == pytest.approx(1.0)


@pytest.mark.parametrize("labels", [1, 2, 10])
@pytest.mark.parametrize("size", [2, 3, 8])
def test_as_many_attributes_are_told_as_tell_most(labels: int, size: int) -> None:
    for epsilon in (0.2, 1.0, 2.0, 4.0, 8.0, 12.0):
        worth = [told * gap_of(epsilon, labels * size**told) ** 2 for told in range(1, 7)]
        best = 1 + worth.index(max(worth))
        found = attributes_told(epsilon, labels, [size] * 30, 30)
        assert found == best or (best == 6 and found > 6)


def test_more_budget_never_tells_fewer_and_never_more_than_there_are() -> None:
    told = [attributes_told(0.1 * 1.2**step, 2, [2] * 9, 9) for step in range(50)]
    assert told == sorted(told)
    assert (told[0], told[-1]) == (1, 9)
    assert attributes_told(50.0, 2, [2] * 9, 4) == 4
    assert attributes_told(50.0, 2, [2] * 100, 100) == 12
    # At most 2^20 combinations, whatever is drawn; one attribute is always told.
    assert 2 * 64 ** attributes_told(50.0, 2, [64] * 9, 9) <= 1 << 20
    assert attributes_told(1.0, 4, [1 << 19] * 3, 3) == 1


def test_classes_are_as_fine_as_two_attributes_can_be_told() -> None:
    assert [finest_classes(math.log(32) + d, 2) for d in (-0.01, 0.01)] == [2, 4]
    assert [finest_classes(math.log(160) + d, 10) for d in (-0.01, 0.01)] == [2, 4]
    assert finest_classes(1e4, 2) == 4


def test_few_owners_are_one_group_and_many_are_two_at_small_budgets() -> None:
    for epsilon in (1.0, 2.0, FINER - 0.01):
        layouts = [
            lay_out(MANY, epsilon=epsilon, labels=2, owners=owners, classes=None)
            for owners in (None, 10, 100, 10**6, 10**8)
        ]
        assert [each.reduce_told is None for each in layouts[:3]] == [True] * 3
        assert [each.groups for each in layouts[:3]] == [(1,)] * 3
        assert layouts[-1].groups == FIRST
        assert layouts[-1].reduce_told is not None
        assert (layouts[0].classes, layouts[-1].classes) == (2, MERGED)
        # With two groups, pairs of attributes are told, so that the second sees them together.
        assert layouts[-1].train_told >= 2
        assert layouts[0] == layouts[1] == layouts[2]


@pytest.mark.parametrize("epsilon", [FINER + 0.01, 4.0, 8.0, 100.0])
def test_at_larger_budgets_one_group_has_four_classes_however_many_there_are(
    epsilon: float,
) -> None:
    for owners in (None, 10, 10**6, 10**9):
        layout = lay_out(MANY, epsilon=epsilon, labels=2, owners=owners, classes=None)
        assert (layout.classes, layout.reduce_told, layout.groups) == (4, None, (1,))


def test_where_nothing_can_be_merged_there_is_one_group() -> None:
    for epsilon in (0.5, 2.0, 8.0):
        layout = lay_out(COINS, epsilon=epsilon, labels=2, owners=10**9, classes=None)
        assert (layout.reduce_told, layout.groups) == (None, (1,))
    mixed = (*COINS, *ONE)
    assert lay_out(mixed, epsilon=2.0, labels=2, owners=10**9, classes=None).groups == FIRST


def test_more_owners_and_more_of_a_small_budget_never_go_back_to_one_group() -> None:
    staged = [
        [
            lay_out(MANY, epsilon=epsilon, labels=2, owners=10**power, classes=None).groups == FIRST
            for power in range(1, 10)
        ]
        for epsilon in (0.5, 1.0, 2.0, FINER - 0.01)
    ]
    for row in staged:
        assert row == sorted(row)
    for column in zip(*staged, strict=True):
        assert list(column) == sorted(column)


def test_one_attribute_is_one_group_and_two_may_be_two() -> None:
    wish = {"epsilon": 2.0, "labels": 2, "owners": 10**8, "classes": None}
    assert lay_out(ONE, **wish).groups == (1,)  # type: ignore[arg-type]  # values of several kinds
    assert lay_out(MANY[:2], **wish).groups == FIRST  # type: ignore[arg-type]  # the same


@pytest.mark.parametrize("owners", [None, 10**7])
def test_classes_that_the_user_pins_are_kept(owners: int | None) -> None:
    for classes in (2, 3, 5, 16):
        layout = lay_out(MANY, epsilon=4.0, labels=2, owners=owners, classes=classes)
        assert layout.classes == classes


def test_a_number_has_as_many_levels_as_classes() -> None:
    for owners in (None, 10**7):
        number = lay_out(MANY, epsilon=4.0, labels=None, owners=owners, classes=4)
        assert number == lay_out(MANY, epsilon=4.0, labels=4, owners=owners, classes=4)


def test_two_groups_of_classes_are_for_two_labels_and_for_classes_of_our_choice() -> None:
    many = 10**8
    assert lay_out(MANY, epsilon=2.0, labels=2, owners=many, classes=None).groups == FIRST
    for labels, classes in ((3, None), (None, None), (2, 4)):
        layout = lay_out(MANY, epsilon=2.0, labels=labels, owners=many, classes=classes)
        assert (layout.groups, layout.reduce_told) == ((1,), None)
