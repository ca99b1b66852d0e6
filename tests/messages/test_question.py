from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supm import MessageError, ParameterError
from supm._validation import EPSILON
from supm.messages import FORMS, PHASES, PRIVATE, Question

ALLOWED = {
    "reduce": set(FORMS) - {"raw", "answer"},
    "train": set(FORMS) - {"answer"},
    "test": set(FORMS),
}


@st.composite
def questions(draw: st.DrawFn) -> Question:
    phase = draw(st.sampled_from(PHASES))
    form = draw(st.sampled_from([form for form in FORMS if form in ALLOWED[phase]]))
    return Question(
        phase=phase,
        form=form,
        epsilon=draw(st.floats(1e-6, 1e4)) if form in PRIVATE else None,
        steps=draw(st.integers(1, 1 << 20)) if form in ("pw", "raw", "answer") else None,
        sampled=draw(st.none() | st.integers(1, 1 << 20)),
        group=draw(st.integers(0, 255)),
    )


@given(questions())
def test_a_question_is_read_as_it_was_written(question: Question) -> None:
    assert Question.from_form(json.loads(json.dumps(question.to_form()))) == question
    assert question.private == (question.epsilon is not None)
    assert question.labelled == (question.phase != "test")


def test_numbers_of_any_kind_make_the_same_question() -> None:
    plain = Question(phase="reduce", form="pw", epsilon=2.0, steps=4, sampled=3, group=1)
    other = Question(
        phase="reduce",
        form="pw",
        epsilon=np.float32(2),  # type: ignore[arg-type]
        steps=np.int16(4),  # type: ignore[arg-type]
        sampled=np.int64(3),  # type: ignore[arg-type]
        group=np.uint8(1),  # type: ignore[arg-type]
    )
    assert json.dumps(other.to_form()) == json.dumps(plain.to_form())


@pytest.mark.parametrize("form", PRIVATE)
@pytest.mark.parametrize("epsilon", [None, *EPSILON.violations()])
def test_a_form_that_promises_something_says_how_much(form: str, epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon must be"):
        Question(phase="test", form=form, epsilon=epsilon, steps=4 if form == "pw" else None)


@pytest.mark.parametrize("form", ["oda", "raw"])
def test_a_form_that_promises_nothing_has_no_epsilon(form: str) -> None:
    with pytest.raises(ParameterError, match=f"epsilon must be left out for the form {form}"):
        Question(phase="train", form=form, epsilon=1.0, steps=4 if form == "raw" else None)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"phase": "learn"}, "phase must be one of"),
        ({"phase": None}, "phase must be"),
        ({"form": "rr"}, "form must be one of"),
        ({"form": ["odp"]}, "form must be"),
        ({"phase": "reduce", "form": "raw", "epsilon": None, "steps": 4}, "form must be one of"),
        ({"steps": 4}, "steps must be left out for the form odp"),
        ({"form": "sample", "steps": 4}, "steps must be left out for the form sample"),
        ({"form": "answer"}, "form must be another before there is a model"),
        ({"form": "answer", "phase": "reduce"}, "form must be another before there is a model"),
        ({"form": "answer", "phase": "test", "steps": 0}, "steps must be a whole number"),
        ({"form": "answer", "phase": "test", "steps": True}, "steps must be a whole number"),
        ({"form": "answer", "phase": "test", "epsilon": None}, "epsilon must be given"),
        ({"form": "pw"}, "steps must be given for the form pw"),
        ({"form": "pw", "steps": 0}, "steps must be a whole number"),
        ({"form": "pw", "steps": 2.5}, "steps must be a whole number"),
        ({"sampled": 0}, "sampled must be a whole number"),
        ({"sampled": True}, "sampled must be a whole number"),
        ({"group": 256}, "group must be a whole number"),
        ({"group": None}, "group must be a whole number"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(wrong: dict[str, Any], words: str) -> None:
    fields: dict[str, Any] = {"phase": "train", "form": "odp", "epsilon": 1.0, **wrong}
    with pytest.raises(ParameterError, match=words):
        Question(**fields)
    complete = Question(phase="train", form="odp", epsilon=1.0).to_form() | fields
    with pytest.raises(MessageError, match=words):
        Question.from_form(complete)


@pytest.mark.parametrize("form", [None, [], "odp", 1, {}, {"phase": "train"}])
def test_what_is_no_question_is_refused(form: object) -> None:
    with pytest.raises(MessageError, match="a question"):
        Question.from_form(form)


def test_an_unknown_field_is_refused() -> None:
    form = Question(phase="train", form="odp", epsilon=1.0).to_form()
    with pytest.raises(MessageError, match="delta is not a field of a question"):
        Question.from_form(form | {"delta": 0.1})
