from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from supm import MessageError
from supm.collection import plan
from supm.messages import Study
from supm.owner import Contribution, Wallet, explain
from supm.schema import Categorical, Continuous, Schema

if TYPE_CHECKING:
    from tests.owner.conftest import FarEnd

MIXED = Schema(
    attributes=(
        Categorical("sex", values=("f", "m")),
        Categorical("smokes", values=("no", "yes")),
        Continuous("age", low=0, high=100),
        Continuous("pulse", low=0, high=220),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
MINE = {"sex": "f", "smokes": "no", "age": 61, "pulse": 88, "ill": "yes"}


def test_what_is_asked_is_told_before_it_is_sent(far_end: FarEnd, wallet: Wallet) -> None:
    wallet.limit(total=3.0)
    contribution = Contribution(far_end.url)
    words = " ".join(contribution.words(wallet))
    assert "Purpose: Who falls ill?" in words
    assert explain(far_end.study).rows[0].asked in words
    assert "age, pulse, ill. It does not leave." in words
    assert "factor of at most 2.72" in words
    assert "It costs epsilon = 1, once; so far you have spent 0 in total, and 3 is left" in words
    [row] = contribution.leaving()
    assert row.truth is not None
    assert 1 / row.choices < row.truth < 1


def test_the_target_is_named_however_many_attributes_are_read(far_end: FarEnd) -> None:
    schema = Schema(
        attributes=tuple(Continuous(f"a{place}", low=0, high=1) for place in range(8)),
        target=Categorical("ill", values=("no", "yes")),
    )
    far_end.study = plan(schema, epsilon=1.0, attributes=schema.names)
    words = " ".join(Contribution(far_end.url).words())
    assert "read on this device: a0, a1, a2, a3, a4, ill and 3 more. It does not" in words


def test_all_are_named_where_one_would_be_left(far_end: FarEnd) -> None:
    schema = Schema(
        attributes=tuple(Continuous(f"a{place}", low=0, high=1) for place in range(6)),
        target=Categorical("ill", values=("no", "yes")),
    )
    far_end.study = plan(schema, epsilon=1.0, attributes=schema.names)
    words = " ".join(Contribution(far_end.url).words())
    assert "read on this device: a0, a1, a2, a3, a4, a5, ill. It does not" in words


def test_the_chance_is_a_range_until_it_is_drawn_what_is_told(
    far_end: FarEnd, wallet: Wallet
) -> None:
    far_end.study = plan(MIXED, epsilon=4.0, attributes=MIXED.names, classes=5, told=2)
    contribution = Contribution(far_end.url)
    [before] = contribution.leaving()
    assert (before.fewest_choices, before.choices) == (2 * 2 * 2, 5 * 5 * 2)
    for cells, chance in ((8, before.most_truth), (50, before.truth)):
        assert chance == pytest.approx(math.exp(4) / (math.exp(4) + cells - 1))
    assert contribution.remembered(wallet).report is None
    report = contribution.answer(MINE, wallet)
    assert contribution.remembered(wallet).report == report
    [drawn] = contribution.leaving(report)
    sizes = [(2, 2, 5, 5)[place] for place in report.symbols[:2]]
    assert drawn.fewest_choices == drawn.choices == 2 * math.prod(sizes)
    assert drawn.truth == drawn.most_truth
    assert drawn.truth == pytest.approx(math.exp(4) / (math.exp(4) + drawn.choices - 1))
    names = [MIXED.names[place] for place in report.symbols[:2]]
    assert drawn.what == f"{', '.join(names)} and ill, together"


@pytest.mark.parametrize("phase", ["reduce", "train", "test"])
@pytest.mark.parametrize("mode", ["strict", "faithful"])
def test_every_form_says_what_leaves(far_end: FarEnd, mode: str, phase: str, study: Study) -> None:
    reduce = "rank" if mode == "strict" else "pw"
    planned = plan(study.schema, epsilon=4.0, mode=mode, reduce=reduce, keep=1)
    far_end.study = planned if phase == "reduce" else planned.reduced(("age",))
    far_end.phase = phase
    question = far_end.study.question(phase)
    if question is None or question.form == "answer":
        with pytest.raises(MessageError):
            Contribution(far_end.url)
        return
    rows = Contribution(far_end.url).leaving()
    assert len(rows) >= 1
    assert all(row.truth is None or 0 < row.truth < 1 for row in rows)
