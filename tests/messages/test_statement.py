from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supm import MessageError, ParameterError
from supm.messages import PHASES, PhaseStatement, Statement
from supm.privacy import (
    ApproximateDP,
    GaussianDP,
    Guarantee,
    Neighbours,
    NoGuarantee,
    PureDP,
    PureLDP,
)

REDUCE = PhaseStatement(phase="reduce", method="DR.WA", guarantee=NoGuarantee("as they are"))
TRAIN = PhaseStatement(phase="train", method="ODP, 2 attributes", guarantee=PureLDP(2.5))
STATEMENT = Statement(
    study="0a" * 32,
    phases=(REDUCE, TRAIN),
    training=NoGuarantee("as they are"),
    testing=PureLDP(0.0),
    simulation=False,
    software="supm 1.0",
)

epsilons = st.floats(0, 1e4)
relations = st.sampled_from([Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE])
guarantees: st.SearchStrategy[Guarantee] = st.one_of(
    st.builds(PureLDP, epsilons),
    st.builds(PureDP, epsilon=epsilons, neighbours=relations),
    st.builds(ApproximateDP, epsilon=epsilons, delta=st.floats(0, 0.5), neighbours=relations),
    st.builds(GaussianDP, mu=st.floats(0, 1e3), neighbours=relations),
    st.just(NoGuarantee("nothing was randomised")),
)


@given(
    told=st.lists(st.sampled_from(PHASES), unique=True),
    promised=st.lists(guarantees, min_size=5, max_size=5),
    simulation=st.booleans(),
    words=st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cf")), max_size=20),
)
def test_a_statement_is_read_as_it_was_written_and_has_words(
    *, told: list[str], promised: list[Guarantee], simulation: bool, words: str
) -> None:
    phases = tuple(
        PhaseStatement(phase=phase, method=words, guarantee=guarantee)
        for phase, guarantee in zip(told, promised[2:], strict=False)
    )
    for each in phases:
        # A total cannot promise more than its part.
        total = 1 if each.phase == "test" else 0
        if promised[total] < each.guarantee:
            promised[total] = NoGuarantee("too much")
    statement = Statement(
        study="f" * 64,
        phases=phases,
        training=promised[0],
        testing=promised[1],
        simulation=simulation,
        software=words,
    )
    assert Statement.from_json(statement.to_json()) == statement
    silent = promised[0] == PureLDP(0.0)
    sentence = "Nothing leaves the device." if silent else promised[0].sentence
    assert sentence in statement.words
    assert ("not private" in statement.words) == simulation


@pytest.mark.parametrize(
    ("guarantee", "words"),
    [
        (PureLDP(1.5), "ODP; epsilon = 1.5."),
        (PureLDP(0.0), "ODP; nothing leaves."),
        (NoGuarantee("why not"), "ODP; nothing is promised."),
        (
            ApproximateDP(epsilon=1.0, delta=1e-6, neighbours=Neighbours.ADD_REMOVE),
            "ODP; epsilon = 1, delta = 1e-06.",
        ),
        (GaussianDP(mu=0.5, neighbours=Neighbours.ADD_REMOVE), "ODP; mu = 0.5."),
        (GaussianDP(mu=0.0, neighbours=Neighbours.ADD_REMOVE), "ODP; mu = 0."),
    ],
)
def test_each_phase_is_told_with_its_numbers(guarantee: Guarantee, words: str) -> None:
    phase = PhaseStatement(phase="train", method="ODP", guarantee=guarantee)
    assert f"To train: {words}" in replace(STATEMENT, phases=(phase,)).words


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"study": "0" * 63}, "study must be a hash"),
        ({"study": None}, "study must be a hash"),
        ({"phases": (TRAIN, TRAIN)}, "phases must be different"),
        ({"phases": ("train",)}, "each of phases must be"),
        ({"training": 1.0}, "training must be of kind Guarantee"),
        ({"testing": None}, "testing must be of kind Guarantee"),
        ({"simulation": 0}, "simulation must be of kind bool"),
        ({"software": "\ud800"}, "software must be Unicode"),
        ({"software": "x" * 1001}, "software must be a text of at most"),
    ],
)
def test_a_wrong_part_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        replace(STATEMENT, **wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"phase": "learn"}, "phase must be one of"),
        ({"phase": ["train"]}, "phase must be of kind str"),
        ({"method": None}, "method must be of kind str"),
        ({"method": "x" * 1001}, "method must be a text of at most"),
        ({"guarantee": 2.0}, "guarantee must be of kind Guarantee"),
    ],
)
def test_a_wrong_part_of_a_phase_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        replace(TRAIN, **wrong)


@pytest.mark.parametrize("version", [0, 2, "1", True, None])
def test_another_version_is_refused(version: object) -> None:
    form = STATEMENT.to_form() | {"version": version}
    with pytest.raises(MessageError, match="version of a statement must be 1"):
        Statement.from_json(json.dumps(form))


def test_damage_is_refused_or_read_as_another_statement(
    survives_damage: Callable[[str, Callable[[str], Any]], int],
) -> None:
    assert survives_damage(STATEMENT.to_json(), Statement.from_json) > 400
