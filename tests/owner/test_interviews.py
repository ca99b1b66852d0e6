"""What every interview keeps: its exact channel, its epsilon, a sampler and a door that obey it.

Each kind of question is listed once and inherits all the tests. The statistics share one alarm: all
rows of all questions together fail sound interviews once in 10^6 runs of this file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import simulation
from supm._random import RandomSource
from supm.audit import exact_epsilon
from supm.audit.goodness import goodness_of_fit
from supm.mechanisms import GeneralizedRandomizedResponse, Reports
from supm.messages import Question, Study, Trust
from supm.owner import Interview, SeparateInterview, interview
from supm.owner.columns import Classes, Labels, Unchanged
from supm.privacy import NoGuarantee, PureLDP
from supm.schema import Categorical, Continuous, Ordinal, Schema

DRAWS = 4000
# Rows over which the alarm is shared: those of all questions, and some to spare.
ROWS = 20_000
ALARM = 1e-6

PULSE = Continuous("pulse", low=0, high=200)
STAGE = Ordinal("stage", values=("I", "II", "III"), missing="class")
WARD = Categorical("ward", values=("north", "east", "south"))
SMOKES = Categorical("smokes", values=("no", "yes"), missing="class")
TWO = Categorical("ill", values=("no", "yes"))
THREE = Ordinal("risk", values=(1, 2, 3))

CLASSES = Schema(attributes=(PULSE, STAGE, WARD), target=TWO)
CLASSES_OF_THREE = Schema(attributes=(PULSE, STAGE, WARD), target=THREE)
NUMBERS = Schema(attributes=(PULSE, STAGE, SMOKES), target=TWO)
NUMBERS_OF_THREE = Schema(attributes=(PULSE, STAGE, SMOKES), target=THREE)

REDUCTIONS = {"oda": "wa", "pw": "pw", "odp": "waldp", "sample": "rank"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question over a small schema."""

    phase: str
    form: str
    schema: Schema = CLASSES
    epsilon: float = 1.0
    classes: int = 2
    keep: int = 2
    steps: int | None = None
    sampled: int | None = None

    @property
    def question(self) -> Question:
        private = self.form in ("odp", "joint", "sample", "pw")
        return Question(
            phase=self.phase,
            form=self.form,
            epsilon=self.epsilon if private else None,
            steps=self.steps,
            sampled=self.sampled,
        )

    @property
    def study(self) -> Study:
        reduces, trusted = self.phase == "reduce", self.form in ("oda", "raw")
        train = Question(phase="train", form="odp", epsilon=self.epsilon)
        if self.phase == "test" and self.form == "sample":
            train = replace(self.question, phase="train")
        questions = (self.question,) if self.phase == "train" else (train, self.question)
        places = {"test": "device"} | ({self.phase: "trusted" if trusted else "untrusted"})
        return Study(
            schema=self.schema,
            trust=Trust(**places),
            mode="strict",
            epsilon=2 * self.epsilon,
            reduction=REDUCTIONS[self.form] if reduces else "known",
            keep=self.keep,
            classes=self.classes,
            questions=questions,
            attributes=None if reduces else self.schema.names[: self.keep],
        )


@cache
def asked_of(case: Case) -> Interview:
    return interview(case.study, case.phase)


@cache
def channel_of(case: Case) -> list[list[Fraction]]:
    return asked_of(case).exact_channel()


CASES = {
    "odp train": Case(phase="train", form="odp"),
    "odp train, little budget": Case(phase="train", form="odp", epsilon=1e-5),
    "odp train, much budget": Case(phase="train", form="odp", epsilon=60.0),
    "odp train, 3 classes, 3 labels": Case(
        phase="train", form="odp", schema=CLASSES_OF_THREE, classes=3, keep=3, epsilon=3.0
    ),
    "odp test": Case(phase="test", form="odp", classes=3, keep=3),
    "odp reduce, 1 of 3": Case(phase="reduce", form="odp", sampled=1),
    "odp reduce, 2 of 3": Case(phase="reduce", form="odp", sampled=2, classes=3, epsilon=4.0),
    "odp reduce, 3 of 3": Case(phase="reduce", form="odp", sampled=3),
    "oda train": Case(phase="train", form="oda"),
    "oda train, 3 classes, 3 labels": Case(
        phase="train", form="oda", schema=CLASSES_OF_THREE, classes=3
    ),
    "oda test": Case(phase="test", form="oda", keep=3),
    "oda reduce, 2 of 3": Case(phase="reduce", form="oda", sampled=2),
    "oda reduce, 3 of 3": Case(phase="reduce", form="oda", sampled=3),
    "joint train": Case(phase="train", form="joint"),
    "joint train, one cell told": Case(phase="train", form="joint", epsilon=4.0),
    "joint train, 3 classes, 3 labels": Case(
        phase="train", form="joint", schema=CLASSES_OF_THREE, classes=3, epsilon=2.9
    ),
    "joint test": Case(phase="test", form="joint", keep=2, epsilon=0.1),
    "sample reduce, 1 of 3": Case(phase="reduce", form="sample", sampled=1),
    "sample reduce, 2 of 3, 3 labels": Case(
        phase="reduce", form="sample", schema=CLASSES_OF_THREE, sampled=2, epsilon=4.0
    ),
    "sample train, 2 of 3": Case(phase="train", form="sample", keep=3, sampled=2, epsilon=0.3),
    "sample train, all": Case(phase="train", form="sample", sampled=2, classes=3),
    "sample test, 2 of 3": Case(phase="test", form="sample", keep=3, sampled=2),
    "pw train, 2 steps": Case(phase="train", form="pw", schema=NUMBERS, steps=2, epsilon=3.0),
    "pw train, 3 steps": Case(phase="train", form="pw", schema=NUMBERS, steps=3),
    "pw train, 4 steps": Case(phase="train", form="pw", schema=NUMBERS, steps=4, epsilon=8.0),
    "pw train, 3 labels": Case(phase="train", form="pw", schema=NUMBERS_OF_THREE, steps=2),
    "pw test, 3 attributes": Case(
        phase="test", form="pw", schema=NUMBERS, steps=4, keep=3, epsilon=6.0
    ),
    "pw reduce, 1 of 3": Case(phase="reduce", form="pw", schema=NUMBERS, steps=2, sampled=1),
    "pw reduce, 2 of 3": Case(
        phase="reduce", form="pw", schema=NUMBERS, steps=2, sampled=2, epsilon=5.0
    ),
    "pw reduce, 3 labels": Case(
        phase="reduce", form="pw", schema=NUMBERS_OF_THREE, steps=3, sampled=1
    ),
    "raw train": Case(phase="train", form="raw", schema=NUMBERS, steps=2),
    "raw test": Case(phase="test", form="raw", schema=NUMBERS, steps=4),
}

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def draw(asked: Interview, rows: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
    """Return the outcome of one answer for each numbered input, or raise if it is impossible."""
    reports = asked.randomize(asked.inputs()[rows], source)
    assert reports.symbols.shape == (len(rows), asked.width)
    assert asked.accepts(reports.symbols).all()
    return asked.outcome(reports)


def p_value(
    asked: Interview, source: RandomSource, exact: list[list[Fraction]] | None = None
) -> float:
    """Return the least p-value of a row, over all of which the alarm is shared."""
    exact = asked.exact_channel() if exact is None else exact
    channel = np.array([[float(each) for each in row] for row in exact])
    rows, columns = channel.shape
    # All inputs take turns, so that what leaks from one answer into the next is seen.
    held = np.tile(np.arange(rows), DRAWS)
    told = draw(asked, held, source)
    counts = np.bincount(held * columns + told, minlength=rows * columns).reshape(channel.shape)
    if counts[channel == 0].any():
        return 0.0
    return min(goodness_of_fit(*pair) for pair in zip(counts, channel, strict=True))


def is_honest(asked: Interview, claimed: float, source: RandomSource) -> bool:
    """Say whether an interview keeps a claim and draws what its channel says."""
    return exact_epsilon(asked.exact_channel()) <= claimed and p_value(asked, source) > ALARM / ROWS


@every_case
def test_every_row_of_the_channel_sums_to_exactly_one(case: Case) -> None:
    channel = channel_of(case)
    assert len(channel) == len(asked_of(case).inputs())
    assert {len(row) for row in channel} == {asked_of(case).outcomes}
    assert {sum(row) for row in channel} == {Fraction(1)}
    assert all(0 <= each <= 1 for row in channel for each in row)


@every_case
def test_an_interview_spends_what_its_question_states_and_not_more(case: Case) -> None:
    asked, stated = asked_of(case), case.question.epsilon
    exact = exact_epsilon(channel_of(case))
    if stated is None:
        assert exact == asked.epsilon == math.inf
        assert isinstance(asked.guarantee, NoGuarantee)
    else:
        assert exact <= asked.epsilon <= stated
        assert exact == pytest.approx(asked.epsilon, rel=1e-12)
        assert asked.epsilon == pytest.approx(stated, rel=1e-12, abs=1e-14)
        assert asked.guarantee == PureLDP(asked.epsilon)


@every_case
def test_the_sampler_draws_every_row_of_the_channel(case: Case) -> None:
    assert p_value(asked_of(case), simulation(3), channel_of(case)) > ALARM / ROWS


def test_the_alarm_is_shared_over_all_rows() -> None:
    assert sum(len(asked_of(case).inputs()) for case in CASES.values()) <= ROWS


@every_case
@pytest.mark.parametrize("apart", [1, 1 << 15])
def test_two_owners_answer_independently(case: Case, apart: int) -> None:
    """Neighbours in a crowd, and those at the same place of two chunks, share no words."""
    asked = asked_of(case)
    row = np.array([float(each) for each in channel_of(case)[0]])
    owners = 1 << 16
    told = draw(asked, np.zeros(owners, dtype=np.int64), simulation(5))
    first = np.arange(0, owners - apart)[: owners // 2 if apart > 1 else None : 1 + (apart == 1)]
    # One answer in two groups, so that the table of pairs is small and each group is common.
    common = np.cumsum(np.sort(row)[::-1]) < 0.6
    group = np.zeros(row.size, dtype=np.int64)
    group[np.argsort(-row)[: max(1, int(common.sum()))]] = 1
    share = np.array([row[group == 0].sum(), row[group == 1].sum()])
    pairs = np.bincount(2 * group[told[first]] + group[told[first + apart]], minlength=4)
    assert goodness_of_fit(pairs, np.outer(share, share).ravel()) > ALARM / ROWS


def box(asked: Interview, case: Case) -> NDArray[np.int64]:
    """Return every row of small whole numbers, the possible answers among them."""
    drawn = asked.randomize(np.repeat(asked.inputs(), 50, axis=0), simulation(2)).symbols
    sides = [range(-1, int(column.max()) + 3) for column in drawn.T]
    assert math.prod(map(len, sides)) < 1 << 18, case
    return np.array(list(product(*sides)), dtype=np.int64)


@pytest.mark.parametrize(
    "name", [name for name in CASES if not name.startswith(("odp reduce, 3", "oda reduce, 3"))]
)
def test_exactly_the_possible_answers_are_accepted(name: str) -> None:
    case = CASES[name]
    asked = asked_of(case)
    rows = box(asked, case)
    accepted = rows[asked.accepts(rows)]
    numbers = asked.outcome(Reports(symbols=accepted, simulation=True))
    assert sorted(numbers) == list(range(asked.outcomes))
    possible = {number for row in channel_of(case) for number, each in enumerate(row) if each > 0}
    assert possible == set(range(asked.outcomes))


@every_case
@pytest.mark.parametrize("wrong", [-1, 1 << 40, (1 << 53) - 1])
def test_a_symbol_far_outside_is_not_accepted_wherever_it_stands(case: Case, wrong: int) -> None:
    asked = asked_of(case)
    told = asked.randomize(asked.inputs()[:1], simulation(1)).symbols
    for place in range(asked.width):
        changed = told.copy()
        changed[0, place] = wrong
        assert not asked.accepts(changed).any()


def records(case: Case, **values: list[Any]) -> Any:
    """Return what an interview reads from given columns; other columns hold their first value."""
    rows = len(next(iter(values.values())))
    table: dict[str, list[Any]] = {case.schema.target.name: [_first(case.schema.target)] * rows}
    table |= {each.name: [_first(each)] * rows for each in case.schema.attributes}
    return asked_of(case).encode(case.schema.read(table | values))


def _other(attribute: Any) -> Any:
    """Return the largest value, or the second of a list without order."""
    if isinstance(attribute, Continuous):
        return attribute.high
    return attribute.values[1 if isinstance(attribute, Categorical) else -1]


def _first(attribute: Any) -> Any:
    return attribute.low if isinstance(attribute, Continuous) else attribute.values[0]


@every_case
def test_what_is_read_is_a_row_of_the_channel_at_the_bounds_and_beyond(case: Case) -> None:
    known = {tuple(row) for row in asked_of(case).inputs()}
    read = records(case, pulse=[-1e300, -1.0, 0.0, 200.0, 201.0, 1e300])
    assert {tuple(row) for row in read} <= known
    assert (read[:3] == read[0]).all()
    assert (read[3:] == read[5]).all()
    assert not (read[0] == read[5]).all()


@every_case
def test_the_first_and_the_last_input_are_somebody_s(case: Case) -> None:
    """The smallest record and the largest are inputs of the channel, and are not the same."""
    last = {each.name: [_other(each)] for each in (*case.schema.attributes, case.schema.target)}
    low, high = records(case, pulse=[0.0])[0], records(case, **last)[0]
    known = [tuple(row) for row in asked_of(case).inputs()]
    assert tuple(low) == known[0]
    assert tuple(high) in known
    assert (low != high).all()


@every_case
def test_a_missing_value_is_read_as_a_class_of_its_own_or_as_the_middle(case: Case) -> None:
    place = case.schema.names.index("stage")
    read = records(case, stage=["I", "II", "III", None])
    if case.form in ("pw", "raw"):
        middle = 0.0 if case.form == "pw" else (case.steps or 0) / 2
        assert read[3, place] == middle == read[1, place]
    elif case.form == "joint":
        assert len({*read[:, 0]}) == min(case.classes, 3) + 1
    else:
        assert read[3, place] == min(case.classes, 3)


@every_case
def test_a_label_is_read_where_it_is_asked_and_only_there(case: Case) -> None:
    target = case.schema.target.name
    values: Any = case.schema.target.values  # type: ignore[union-attr]  # no target here is continuous
    read = records(case, **{target: [values[0], values[-1]]})
    assert (read[0] == read[1]).all() == (case.phase == "test")


ODP = CASES["odp train"]
SAMPLED = CASES["odp reduce, 1 of 3"]


class PlaceFromRecord(SeparateInterview):
    """Plants a defect: which attribute is told depends on the record."""

    def randomize(self, inputs: NDArray[Any], source: RandomSource) -> Reports:
        told = super().randomize(inputs, source).symbols.copy()
        own = (inputs[:, 0] == 0) & (source.below(6, len(inputs)) == 0)
        told[own, 0], told[own, 1] = 0, np.minimum(told[own, 1], 1)
        return Reports(symbols=told, simulation=source.simulation)


class SameWords(SeparateInterview):
    """Plants a defect: all columns are randomised with the same words."""

    def _chunk(self, inputs: NDArray[Any], source: RandomSource) -> NDArray[np.int64]:
        asked = self.columns if self.label is None else (*self.columns, self.label)
        seed = int(source.words(1)[0])
        told = [
            column.randomizer.randomize(inputs[:, place], simulation(seed)).symbols
            for place, column in enumerate(asked)
        ]
        return np.stack(told, axis=1)


def separate(case: Case) -> SeparateInterview:
    asked = asked_of(case)
    assert isinstance(asked, SeparateInterview)
    return asked


def parts(asked: SeparateInterview) -> dict[str, Any]:
    return {"columns": asked.columns, "label": asked.label, "sampled": asked.sampled}


def test_an_honest_interview_is_found_honest() -> None:
    assert is_honest(asked_of(ODP), ODP.epsilon, simulation(1))
    assert is_honest(asked_of(SAMPLED), SAMPLED.epsilon, simulation(1))


def test_a_label_that_leaves_as_it_is_is_noticed() -> None:
    broken = replace(separate(ODP), label=Labels(randomizer=Unchanged(2)))
    assert not is_honest(broken, 1e9, simulation(1))
    assert broken.epsilon == math.inf


def test_a_budget_that_is_not_split_is_noticed() -> None:
    honest = separate(ODP)
    respond = GeneralizedRandomizedResponse.for_epsilon
    whole = tuple(
        Classes(discretizer=each, randomizer=respond(size=each.size, epsilon=ODP.epsilon))
        for each in ODP.study.discretizers("train")
    )
    broken = replace(honest, columns=whole)
    assert not is_honest(broken, ODP.epsilon, simulation(1))
    assert broken.epsilon > 2 * ODP.epsilon


def test_a_place_that_depends_on_the_record_is_noticed() -> None:
    broken = PlaceFromRecord(**parts(separate(SAMPLED)))
    assert not is_honest(broken, SAMPLED.epsilon, simulation(1))


def test_words_that_serve_two_columns_are_noticed() -> None:
    broken = SameWords(**parts(separate(ODP)))
    assert not is_honest(broken, ODP.epsilon, simulation(1))
