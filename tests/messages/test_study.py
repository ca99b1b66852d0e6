from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supm import MessageError, ParameterError
from supm.collection import plan
from supm.messages import Question, Study, Trust
from supm.schema import Categorical, Continuous, Ordinal, Schema, discretize

SCHEMA = Schema(
    attributes=(
        Continuous("age", low=0, high=100),
        Ordinal("stage", values=("I", "II", "III"), missing="class"),
        Categorical("ward", values=("nord", "süd")),
    ),
    target=Categorical("ill", values=("no", "yes")),
)
TRAIN = Question(phase="train", form="odp", epsilon=2.0)
TEST = Question(phase="test", form="joint", epsilon=4.0)
STUDY = Study(
    schema=SCHEMA,
    trust=Trust(),
    mode="faithful",
    epsilon=4.0,
    reduction="waldp",
    keep=2,
    classes=3,
    questions=(Question(phase="reduce", form="odp", epsilon=2.0, sampled=2), TRAIN, TEST),
    purpose="who is ill?",
)
REDUCED = STUDY.reduced(("stage", "age"))
# Another value for each field that leaves the study a study.
OTHERS: dict[str, Any] = {
    "schema": replace(SCHEMA, target=Categorical("sick", values=("no", "yes"))),
    "trust": Trust(train="trusted"),
    "mode": "strict",
    "epsilon": 4.000000000000001,
    "keep": 1,
    "classes": 4,
    "questions": (STUDY.questions[0], replace(TRAIN, epsilon=1.9999999999999998), TEST),
    "groups": (2,),
    "purpose": "who is ill? ",
}


def test_the_format_of_a_study_has_not_changed_by_accident() -> None:
    # Owners consented to documents with these hashes: a new format needs a new version.
    assert STUDY.hash == "d641b58154ab3412682cf55b24b08b2c8bd35f0a128d12ac9250c3684c6b762e"
    assert REDUCED.hash == "70e96a997e1b0533fa4ccf0cb3771d6c68fb34c7fd6f8e567de1bb52d0dfedc1"


def test_equal_studies_have_equal_bytes() -> None:
    again = Study(
        schema=Schema.from_json(SCHEMA.to_json()),
        trust=Trust.parse("u,u,u"),
        mode="faithful",
        epsilon=4,
        reduction="waldp",
        keep=np.int64(2),  # type: ignore[arg-type]
        classes=np.int8(3),  # type: ignore[arg-type]
        questions=list(STUDY.questions),  # type: ignore[arg-type]
        groups=[np.uint16(1)],  # type: ignore[arg-type]
        purpose="who is ill?",
    )
    assert again == STUDY
    assert hash(again) == hash(STUDY)
    assert again.to_json() == STUDY.to_json()
    assert again.hash == STUDY.hash


@pytest.mark.parametrize("name", OTHERS)
def test_any_change_of_a_field_changes_the_hash(name: str) -> None:
    other = replace(STUDY, **{name: OTHERS[name]})
    assert other != STUDY
    assert other.hash != STUDY.hash


def test_every_field_was_changed() -> None:
    # How attributes are chosen cannot change without the question that asks for it.
    learned = {"attributes", "merges", "rule", "previous"}
    assert {*OTHERS, "reduction", *learned} == {f.name for f in fields(Study)}
    assert STUDY.reduced(("age", "ward")).hash != REDUCED.hash
    rand = replace(STUDY, reduction="rand", questions=STUDY.questions[1:])
    assert rand.hash != replace(rand, reduction="known", attributes=("age", "ward")).hash


@pytest.mark.parametrize("study", [STUDY, REDUCED])
def test_a_study_is_read_in_any_spacing_and_order(study: Study) -> None:
    assert Study.from_json(study.to_json()) == study
    backwards = dict(reversed(json.loads(study.to_json()).items()))
    assert Study.from_json(json.dumps(backwards, indent=2)).hash == study.hash


def _reduced(study: Study) -> Study:
    names = SCHEMA.names[: study.keep]
    sizes = [discretize(each, study.classes).size for each in SCHEMA.attributes]
    merges = tuple((0,) * (size - 1) + (1,) for size in sizes[: study.keep])
    return study.reduced(names, merges if study.reduction == "regroup" else None)


@settings(max_examples=60, deadline=None)
@given(
    epsilon=st.floats(1e-3, 1e4),
    mode=st.sampled_from(["strict", "faithful"]),
    letters=st.sampled_from(["u,u,u", "t,u,d", "u,t,t", "t,t,u"]),
    keep=st.integers(1, 3),
    classes=st.integers(2, 50),
    purpose=st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cf")), max_size=30),
)
def test_a_planned_study_is_read_as_it_was_written(
    epsilon: float, mode: str, letters: str, keep: int, classes: int, purpose: str
) -> None:
    study = plan(
        SCHEMA,
        epsilon=epsilon,
        mode=mode,
        trust=Trust.parse(letters),
        keep=keep,
        classes=classes,
        purpose=purpose,
    )
    chosen = study.attributes is not None  # nobody is asked where all are kept
    for each in (study, study if chosen else _reduced(study)):
        assert Study.from_json(each.to_json()) == each
        assert Study.from_json(each.to_json()).to_json() == each.to_json()


@pytest.mark.parametrize("version", [0, 1, 3, "2", 2.0, True, None, [2]])
def test_another_version_is_refused(version: object) -> None:
    form = STUDY.to_form() | {"version": version}
    with pytest.raises(MessageError, match="version of a study must be 2"):
        Study.from_json(json.dumps(form))


@pytest.mark.parametrize("name", STUDY.to_form())
def test_an_absent_field_is_refused(name: str) -> None:
    form = {key: value for key, value in STUDY.to_form().items() if key != name}
    with pytest.raises(MessageError, match="version" if name == "version" else "has the fields"):
        Study.from_json(json.dumps(form))


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(MessageError, match="delta is not a field of a study"):
        Study.from_json(json.dumps(STUDY.to_form() | {"delta": 0}))


@pytest.mark.parametrize("study", [STUDY, REDUCED])
def test_damage_is_refused_or_read_as_another_study(
    study: Study, survives_damage: Callable[[str, Callable[[str], Any]], int]
) -> None:
    assert survives_damage(study.to_json(), Study.from_json) > 700


@pytest.mark.parametrize("depth", range(300, 1100, 50))
def test_no_depth_of_nesting_gets_past_the_reader(depth: int) -> None:
    # Between what is read and what is written back there must be no gap.
    form = json.dumps(STUDY.to_form() | {"schema": "nest"})
    with pytest.raises(MessageError):
        Study.from_json(form.replace('"nest"', "[" * depth + "]" * depth))
    nest: list[Any] = []
    for _ in range(10 * depth):
        nest = [nest]
    with pytest.raises(MessageError):
        Study.from_form(STUDY.to_form() | {"schema": nest})


RAW = Question(phase="train", form="raw", steps=8)
WARDS = replace(SCHEMA, attributes=(Categorical("ward", values=("n", "e", "s")),))
WIDE = Schema(
    attributes=tuple(Continuous(f"x{n}", low=0, high=1) for n in range(300)), target=SCHEMA.target
)
CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    (
        {"schema": replace(SCHEMA, target=Continuous("y", low=0, high=1))},
        "reduce phase must be sample or answer where the target is a number",
    ),
    ({"mode": "lenient"}, "mode must be strict or faithful"),
    ({"reduction": "svd"}, "reduction must be one of"),
    ({"reduction": "rank"}, "reduce phase must be sample where the reduction is rank"),
    ({"reduction": "rand"}, "reduce phase must be absent where the reduction is rand"),
    ({"questions": (TRAIN, TEST)}, "reduce phase must be odp where the reduction is waldp"),
    ({"questions": ()}, "at least one for the train phase"),
    ({"questions": (*STUDY.questions, TRAIN)}, "at most one for each phase"),
    ({"questions": STUDY.questions[:2]}, "test phase must be absent exactly where"),
    ({"trust": Trust(test="device")}, "test phase must be absent exactly where"),
    ({"questions": (STUDY.questions[0], RAW, TEST)}, "answer where .* untrusted"),
    (
        {
            "reduction": "wa",
            "questions": (Question(phase="reduce", form="oda", sampled=3), TRAIN, TEST),
        },
        "answer where .* untrusted",
    ),
    ({"groups": ()}, "groups must be 1 to 256 weights"),
    ({"groups": (1,) * 257}, "groups must be 1 to 256 weights"),
    ({"groups": (0,)}, "a group's weight must be"),
    ({"groups": (True,)}, "a group's weight must be"),
    (
        {"questions": (STUDY.questions[0], replace(TRAIN, group=1), TEST)},
        "group must be below 1",
    ),
    ({"epsilon": 3.9999999999999996}, "epsilon must be at most the study's epsilon"),
    ({"epsilon": 1e5}, "epsilon must be a number"),
    (
        {"questions": (STUDY.questions[0], TRAIN, replace(TEST, epsilon=4.000000000000001))},
        "epsilon must be at most the study's epsilon",
    ),
    (
        {"questions": (STUDY.questions[0], TRAIN, replace(TEST, sampled=1))},
        "sampled must be left out after the reduce phase",
    ),
    (
        {"questions": (replace(STUDY.questions[0], sampled=4), TRAIN, TEST)},
        "sampled must be a number of attributes, at most 3",
    ),
    (
        {"questions": (replace(STUDY.questions[0], sampled=None), TRAIN, TEST)},
        "sampled must be a number of attributes",
    ),
    ({"keep": 4}, "keep must be at most the 3 attributes"),
    ({"classes": 1}, "classes must be a whole number"),
    ({"attributes": ("age",)}, "attributes must be 2 different names"),
    ({"attributes": ("age", "age")}, "attributes must be 2 different names"),
    ({"attributes": ("age", "height")}, "attributes must be names of the schema"),
    ({"attributes": "age"}, "attributes must be a list"),
    ({"attributes": (1, 2)}, "each of attributes must be of kind str"),
    ({"reduction": "known", "questions": STUDY.questions[1:]}, "attributes must be named"),
    ({"previous": "0" * 64}, "previous must be left out"),
    ({"attributes": ("age", "stage")}, "previous must be the hash of this very study"),
    ({"attributes": ("age", "stage"), "previous": "0" * 64}, "hash of this very study"),
    ({"purpose": "x" * 2001}, "purpose must be a text of at most 2000 characters"),
    ({"purpose": "\ud800"}, "purpose must be Unicode text"),
    ({"schema": WIDE, "classes": 1 << 16}, r"classes must be at most 2\^24 over all"),
    ({"keep": 3, "classes": 1 << 16, "schema": WIDE}, r"classes must be at most 2\^24 over all"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "words"), CONTRADICTIONS)
def test_a_study_that_contradicts_itself_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        replace(STUDY, **wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"trust": ["trusted"] * 2}, "trust must be a list of three words"),
        ({"trust": [["trusted"]] * 3}, "trust of the reduce phase"),
        ({"questions": {}}, "questions of a study must be a list"),
        ({"epsilon": 3.9}, "epsilon must be at most"),
        ({"trust": ["untrusted", "untrusted", "device"]}, "test phase must be absent"),
        ({"schema": {}}, "version is missing"),
    ],
)
def test_a_text_that_contradicts_itself_is_refused_as_a_message(
    wrong: dict[str, Any], words: str
) -> None:
    with pytest.raises(MessageError, match=words):
        Study.from_json(json.dumps(STUDY.to_form() | wrong))


def test_an_owner_of_each_group_has_a_budget_of_its_own() -> None:
    first = replace(STUDY.questions[0], epsilon=4.0)
    train = replace(TRAIN, epsilon=4.0, group=1)
    apart = replace(STUDY, groups=(1, 1), questions=(first, train, TEST))
    with pytest.raises(ParameterError, match="epsilon must be at most the study's epsilon"):
        replace(apart, questions=(first, replace(train, group=0), TEST))


def test_budgets_add_up_as_the_decimals_that_they_are_written_as() -> None:
    parts = (replace(STUDY.questions[0], epsilon=0.1), replace(TRAIN, epsilon=0.2))
    assert 0.1 + 0.2 > 0.3, "in binary"
    test = replace(TEST, epsilon=0.3)
    assert replace(STUDY, epsilon=0.3, questions=(*parts, test)).epsilon == 0.3


def test_a_question_that_nobody_could_answer_is_refused_before_anybody_is_asked() -> None:
    known: dict[str, Any] = {"reduction": "known", "keep": 1, "attributes": ("ward",)}
    pw = Question(phase="train", form="pw", epsilon=2.0, steps=8)
    with pytest.raises(ParameterError, match="ward has no order and so is no number"):
        replace(STUDY, schema=WARDS, questions=(pw, TEST), **known)
    assert replace(STUDY, questions=(pw, TEST), **known).asked("train")[0].name == "ward"
    few = replace(TRAIN, epsilon=2.9e-6)
    with pytest.raises(ParameterError, match="more than 1e-06 for each of the 3 parts"):
        replace(STUDY, questions=(STUDY.questions[0], few, TEST))
    rand: dict[str, Any] = {"reduction": "rand", "schema": WIDE, "keep": 10, "classes": 4}
    with pytest.raises(ParameterError, match=r"cells of a joint answer in the train phase"):
        replace(STUDY, questions=(replace(TRAIN, form="joint"), TEST), **rand)
    # Without a label the same cells fit.
    assert replace(STUDY, questions=(TRAIN, TEST), **rand).keep == 10


def test_the_chosen_attributes_are_asked_after_the_reduce_phase() -> None:
    assert [each.name for each in STUDY.asked("reduce")] == ["age", "stage", "ward"]
    assert [each.name for each in REDUCED.asked("train")] == ["stage", "age"]
    assert [each.size for each in REDUCED.discretizers("test")] == [4, 3]
    for phase in ("train", "test"):
        with pytest.raises(MessageError, match=f"the {phase} phase needs the chosen attributes"):
            STUDY.asked(phase)


def test_attributes_are_chosen_once_and_the_choice_names_what_it_continues() -> None:
    assert REDUCED.previous == STUDY.hash
    assert REDUCED.attributes == ("stage", "age")
    assert STUDY.reduced(["stage", "age"]) == REDUCED  # type: ignore[arg-type]
    with pytest.raises(MessageError, match="chosen already"):
        REDUCED.reduced(("age", "ward"))
    with pytest.raises(ParameterError, match="attributes must be a list"):
        STUDY.reduced("ab")  # type: ignore[arg-type]


def test_a_phase_without_a_question_asks_nothing() -> None:
    device = replace(STUDY, trust=Trust(test="device"), questions=STUDY.questions[:2])
    assert device.question("test") is None
    assert device.question("train") == TRAIN
    assert device.question("learn") is None
