"""Rules from strangers: plain numbers of the right shape, or a refusal."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supm import MessageError, ParameterError
from supm._json import canonical, read_object
from supm.messages import CellAnswers, Model, PairPoints, Rule, Scorecard
from supm.messages.codec import from_value

TABLE = CellAnswers(answers=np.array([0, 2, 1, 0, 1, 2]))
CARD = Scorecard(
    points=(np.array([[0.5, -1.0], [1.5, 2.0]]), np.array([[0.0, 1.0], [3.0, 0.25], [1.0, 1.0]])),
    offsets=np.array([-0.5, 0.125]),
)
PAIRED = Scorecard(
    points=CARD.points,
    offsets=CARD.offsets,
    pairs=(PairPoints(first=0, second=1, points=np.arange(12.0).reshape(2, 3, 2) / 8),),
)


def read_rule(form: object) -> Rule:
    """Read a rule as a part of a model."""
    rule: Rule = from_value(Rule, form, "rule", Model)
    return rule


class _Text:
    """A rule as a text, which is what the check of damage reads and writes."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule

    def to_json(self) -> str:
        return canonical(self.rule.to_form())


def _read(text: str) -> _Text:
    return _Text(read_rule(read_object(text, "rule", MessageError)))


@pytest.mark.parametrize("rule", [TABLE, CARD, PAIRED], ids=["cells", "scorecard", "pairs"])
def test_a_rule_is_read_as_it_was_written(rule: Rule) -> None:
    again = read_rule(json.loads(json.dumps(rule.to_form())))
    assert again == rule
    assert hash(again) == hash(rule)
    assert type(again) is type(rule)


@pytest.mark.parametrize(
    ("rule", "least"),
    [(TABLE, 150), (CARD, 400), (PAIRED, 600)],
    ids=["cells", "scorecard", "pairs"],
)
def test_damage_is_refused_or_read_as_another_rule(
    rule: Rule, least: int, survives_damage: Callable[[str, Callable[[str], Any]], int]
) -> None:
    assert survives_damage(canonical(rule.to_form()), _read) > least


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, 1.1e9, 10**400, True, "1", 1j])
def test_a_point_that_is_no_number_of_moderate_size_is_refused(wrong: Any) -> None:
    # As plain values too: a form need not have come through the reader of texts.
    for form in (
        {"kind": "scorecard", "points": [[[wrong]]], "offsets": [0.0]},
        {"kind": "scorecard", "points": [[[0.0]]], "offsets": [wrong]},
        {"kind": "cells", "answers": [0, wrong]},
    ):
        with pytest.raises(MessageError):
            read_rule(form)


@pytest.mark.parametrize(
    "points",
    [
        [],
        [[]],
        [[[]]],
        [[], [[1.0, 2.0]]],
        [[[1.0]]],
        [[[1.0, 2.0], [1.0]]],
        [[[1.0, 2.0]], [[1.0, 2.0, 3.0]]],
        [[[1.0, [2.0]]]],
        [[1.0, 2.0]],
        [{"0": [1.0, 2.0]}],
        {"0": [[1.0, 2.0]]},
        "points",
        None,
    ],
)
def test_tables_that_are_ragged_or_no_tables_are_refused(points: Any) -> None:
    with pytest.raises(MessageError, match="points"):
        read_rule({"kind": "scorecard", "points": points, "offsets": [0.0, 0.0]})


@pytest.mark.parametrize(
    "form",
    [
        None,
        [],
        "cells",
        {},
        {"kind": "cells"},
        {"kind": ["cells"], "answers": [0]},
        {"kind": "tree", "answers": [0]},
        {"kind": "cells", "points": [[[0.0]]], "offsets": [0.0]},
        {"kind": "scorecard", "answers": [0]},
        {"kind": "cells", "answers": [0], "code": "print()"},
    ],
)
def test_what_is_of_no_known_kind_is_refused(form: object) -> None:
    with pytest.raises(MessageError, match="rule of a model"):
        read_rule(form)


@pytest.mark.parametrize("answers", [[], [0.0], [[0]], {"0": 1}, "01", None])
def test_answers_that_are_no_label_numbers_are_refused(answers: Any) -> None:
    with pytest.raises(MessageError, match="answers"):
        read_rule({"kind": "cells", "answers": answers})


@pytest.mark.parametrize(
    ("points", "offsets"),
    [
        (([[0.0, 1.0], [2.0]],), [0.0, 0.0]),
        (("points",), [0.0]),
        (([[10**400]],), [0.0]),
        (([[1j]],), [0.0]),
        (([[math.nan]],), [0.0]),
        (([[1e10]],), [0.0]),
        (([0.0],), [0.0]),
        ((), [0.0]),
        (None, [0.0]),
        (np.zeros((1, 2, 1)), [0.0]),
        (([[0.0]],), [[0.0]]),
        (([[0.0]],), []),
        (([[0.0]],), None),
        (([[0.0]],), [0.0, 0.0]),
    ],
)
def test_a_card_of_something_else_is_refused(points: Any, offsets: Any) -> None:
    with pytest.raises(ParameterError, match=r"^(points|offsets) must be"):
        Scorecard(points=points, offsets=offsets)


@pytest.mark.parametrize("answers", [[[0], [0, 1]], [0.5], [[0]], "0", None, [True], [10**400]])
def test_a_table_of_something_else_is_refused(answers: Any) -> None:
    with pytest.raises(ParameterError, match="answers must be"):
        CellAnswers(answers=answers)


def test_no_array_of_a_rule_can_be_changed_and_the_maker_keeps_its_own() -> None:
    points, offsets, answers = np.zeros((2, 2)), np.zeros(2), np.zeros(4, dtype=np.int64)
    card = Scorecard(points=(points, points), offsets=offsets)
    table = CellAnswers(answers=answers)
    for held in (*card.points, card.offsets, table.answers):
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 1
    points += 7.0
    offsets += 7.0
    answers += 7
    assert not card.scores(np.zeros((1, 2), dtype=np.int64)).any()
    assert not table.answers.any()


def test_equal_numbers_make_equal_rules_with_equal_text() -> None:
    signed = Scorecard(points=([[-0.0]],), offsets=[-0.0])  # type: ignore[arg-type]  # lists are read
    plain = Scorecard(points=(np.zeros((1, 1), dtype=np.float32),), offsets=np.zeros(1))
    assert signed == plain
    assert canonical(signed.to_form()) == canonical(plain.to_form())
    assert CellAnswers(answers=np.array([1, 0], dtype=np.uint8)) == CellAnswers(
        answers=np.array([1, 0])
    )
    assert TABLE != CARD
    assert TABLE.to_form() != TABLE


def test_a_repr_says_how_large_a_rule_is_and_nothing_else() -> None:
    assert repr(TABLE) == "CellAnswers(cells=6)"
    assert repr(CARD) == "Scorecard(attributes=2, outputs=2)"


@pytest.mark.parametrize(
    ("rule", "sizes", "outputs"),
    [
        (TABLE, (2, 2), 3),
        (TABLE, (2, 3), 2),
        (CellAnswers(answers=np.array([0, -1])), (2,), 2),
        (CellAnswers(answers=np.array([2**64 - 1, 0], dtype=np.uint64)), (2,), 2),
        (CARD, (2, 2), 2),
        (CARD, (3, 2), 2),
        (CARD, (2, 3), 3),
        (CARD, (2,), 2),
        (CARD, (2, 3, 2), 2),
    ],
)
def test_a_rule_about_other_classes_or_labels_is_refused(
    rule: Rule, sizes: tuple[int, ...], outputs: int
) -> None:
    with pytest.raises(ParameterError, match=r"^(answers|points) must be"):
        rule.check(sizes, outputs)


def test_a_table_has_at_most_2_to_the_20_cells() -> None:
    largest = CellAnswers(answers=np.zeros(1 << 20, dtype=np.int64))
    largest.check((1 << 10, 1 << 10), 2)
    with pytest.raises(ParameterError, match="cells of a published model must be"):
        largest.check((1 << 11, 1 << 10), 2)


def test_the_last_attribute_of_a_table_runs_fastest() -> None:
    rows = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]])
    assert TABLE.predict(rows, (2, 3)).tolist() == [0, 2, 1, 0, 1, 2]


def test_a_score_is_the_offset_and_the_points_of_each_class() -> None:
    rows = np.array([[1, 0], [0, 1]])
    np.testing.assert_allclose(CARD.scores(rows), [[1.0, 3.125], [3.0, -0.625]])
    assert CARD.predict(rows, (2, 3)).tolist() == [1, 0]


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=5))
def test_probabilities_sum_to_one_however_large_the_points_are(scores: list[float]) -> None:
    card = Scorecard(points=(np.array([scores]),), offsets=np.zeros(len(scores)))
    found = card.probabilities(np.zeros((1, 1), dtype=np.int64))
    assert found.sum() == pytest.approx(1.0)
    assert found.min() >= 0
    assert found[0, int(np.argmax(scores))] == found.max()


def test_points_of_a_pair_are_added_to_those_of_its_attributes() -> None:
    classes = np.array([[0, 0], [1, 2], [0, 1]])
    more = PAIRED.scores(classes) - CARD.scores(classes)
    assert more.tolist() == [[0.0, 0.125], [1.25, 1.375], [0.25, 0.375]]


@pytest.mark.parametrize(
    "pairs",
    [
        {},
        None,
        [None],
        [{"first": 0, "second": 1}],
        [{"first": 1, "second": 0, "points": [[[0.0, 0.0]] * 2] * 3}],
        [{"first": 0, "second": 0, "points": [[[0.0, 0.0]] * 2] * 2}],
        [{"first": 0, "second": 2, "points": [[[0.0, 0.0]] * 3] * 2}],
        [{"first": 0, "second": 1, "points": [[[0.0, 0.0]] * 2] * 3}],
        [{"first": 0, "second": 1, "points": [[[0.0]] * 3] * 2}],
        [{"first": 0, "second": 1, "points": [[[0.0, "1"]] * 3] * 2}],
        [{"first": True, "second": 1, "points": [[[0.0, 0.0]] * 3] * 2}],
        [{"first": -1, "second": 1, "points": [[[0.0, 0.0]] * 3] * 2}],
        [{"first": 0, "second": 1, "points": [[[0.0, 0.0]] * 3] * 2, "code": 0}],
    ],
)
def test_pairs_that_do_not_fit_the_card_are_refused(pairs: Any) -> None:
    with pytest.raises(MessageError, match=r"pair|place"):
        read_rule({**CARD.to_form(), "pairs": pairs})


@pytest.mark.parametrize("pairs", [None, "pairs", [CARD], 3])
def test_a_card_of_other_things_than_pairs_is_refused(pairs: Any) -> None:
    with pytest.raises(ParameterError, match="pairs"):
        Scorecard(points=CARD.points, offsets=CARD.offsets, pairs=pairs)
