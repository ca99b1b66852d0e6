"""The page's JavaScript against the mechanisms of Python, in a real browser."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from scipy.stats import chi2

import supm.service
from supm import simulation
from supm._random import RandomSource
from supm.audit.examples import completed, large_studies, small_studies
from supm.collection import plan
from supm.mechanisms import Reports
from supm.messages import FORMS, PairPoints, Scorecard, Study
from supm.owner.interviews import interview
from supm.owner.owner import draw_groups
from supm.schema import Categorical, Continuous, Ordinal, Schema
from supm.service.status import question_document

DRAWS: Final = 100_000
LEAST_P: Final = 1e-6
SEEDS: Final = 60
WORDS: Final = 160
AGE: Final = Continuous("age", low=-1.5, high=99.7, missing="class")
STAGE: Final = Ordinal("stage", values=(1, 2.5, "three", False, 4), missing="class")
SIDE: Final = Categorical("side", values=("left", "right"))
ILL: Final = Categorical("ill", values=("no", "perhaps", "yes"))
MIXED: Final = Schema(attributes=(AGE, STAGE, SIDE), target=ILL)
PAIRS: Final = [("odp", "odp"), ("oda", "oda"), ("pw", "pw"), ("raw", "raw"), ("joint", "joint")]


def _papers(train: str, test: str) -> Study:
    trust = "t,t,t" if train in ("oda", "raw") else "u,u,u"
    mode = "strict" if train == "joint" else "faithful"
    given: dict[str, Any] = {"reduce": "pw"} if train == "pw" else {"reduce": "rand"}
    return plan(MIXED, epsilon=3.0, mode=mode, trust=trust, keep=2, train=train, test=test, **given)


STUDIES: Final = {
    **{f"papers, {train}": _papers(train, test) for train, test in PAIRS},
    **{f"large, {name}": study for name, study in large_studies().items()},
    "mixed": plan(MIXED, epsilon=3.0, classes=3, told=2),
    "all told": plan(MIXED, epsilon=0.01, classes=3, told=3),
    "merged": plan(MIXED, epsilon=3.0, classes=4, reduce="regroup", sampled=2, told=2),
    "huge budget": plan(MIXED, epsilon=60.0, classes=3, told=1),
    **{name: study for name, study in small_studies().items() if name.startswith("known")},
}


def _with_a_pair(study: Study) -> Study:
    """Return a study whose model has points for two attributes together, larger than all others."""
    card = study.rule
    assert isinstance(card, Scorecard)
    shape = len(card.points[0]), len(card.points[2]), card.offsets.size
    points = np.cos(np.arange(math.prod(shape))).reshape(shape) * 50
    pair = PairPoints(first=0, second=2, points=points)
    return replace(study, rule=replace(card, pairs=(pair,)))


CASES: Final = [
    *(
        pytest.param(completed(study), question.phase, id=f"{name}: {question.phase}")
        for name, study in STUDIES.items()
        for question in study.questions
    ),
    pytest.param(_with_a_pair(completed(STUDIES["mixed"])), "test", id="a pair: test"),
]
SMALL: Final = [
    ("waldp, odp, odp", "reduce"),
    ("pw, pw, pw", "reduce"),
    ("pw, pw, pw", "test"),
    ("rand, odp, odp", "train"),
    ("rand, oda, oda", "train"),
    ("rand, joint, joint", "train"),
    ("known, sample, answer of mixed sizes", "train"),
    ("regroup, sample, answer", "train"),
    ("known, sample, answer", "test"),
    ("known, joint, answer", "test"),
    ("known, sample, answer of a number", "train"),
    ("known, sample, answer of a number", "test"),
]
DRAWN: Final = [
    ("waldp, odp, odp", "reduce"),
    ("pw, pw, pw", "reduce"),
    ("known, sample, answer of mixed sizes", "train"),
]

ENCODE: Final = """async ([question, records]) => {
  const { encode } = await import("/static/randomize.js");
  return records.map((record) => encode(question, record));
}"""
VECTORS: Final = """async ([question, classes, streams]) => {
  const { makeReport, wordsFrom } = await import("/static/randomize.js");
  return classes.map((each, row) => makeReport(question, each, wordsFrom(streams[row])));
}"""
EPSILON: Final = """async (question) => {
  const { epsilonOf } = await import("/static/randomize.js");
  const epsilon = epsilonOf(question);
  return epsilon === Infinity ? null : epsilon;
}"""
DRAW: Final = """async ([question, classes, draws, first]) => {
  const { drawQuestions, randomize, readFields } = await import("/static/randomize.js");
  const counts = new Map();
  for (let draw = 0; draw < draws; draw += 1) {
    const places = first ? drawQuestions(question) : null;
    const read = readFields(question, places);
    const held = classes.map((each, at) => (read.includes(at) ? each : null));
    const told = JSON.stringify(randomize(question, held, undefined, places));
    counts.set(told, (counts.get(told) ?? 0) + 1);
  }
  return [...counts];
}"""
REFUSED: Final = """async ([question, classes]) => {
  const { randomize } = await import("/static/randomize.js");
  try { randomize(question, classes, () => { throw new Error("drew a word"); }); }
  catch (error) { return error.message; }
}"""
GROUPS: Final = """async ([groups, streams]) => {
  const { drawGroup, wordsFrom } = await import("/static/randomize.js");
  return streams.map((words) => drawGroup(groups, wordsFrom(words)));
}"""
READ_ERROR: Final = """async ([question, record]) => {
  const { encode } = await import("/static/randomize.js");
  try { return encode(question, record); } catch (error) { return error.message; }
}"""


def records_of(study: Study, rows: int) -> list[dict[str, object]]:
    """Return records that go through the edges of every attribute, each at its own pace."""
    fields = (*study.schema.attributes, study.schema.target)
    held = {each.name: _edges(each, study.classes) for each in fields}
    return [
        {name: values[(row + place) % len(values)] for place, (name, values) in enumerate(pairs)}
        for row in range(rows)
        for pairs in [list(held.items())]
    ]


def _edges(attribute: Any, classes: int) -> list[object]:
    missing: list[object] = [None] if attribute.missing == "class" else []
    if not isinstance(attribute, Continuous):
        return [*attribute.values, *missing]
    low, high = attribute.low, attribute.high
    cuts = [low + (high - low) * (place / classes) for place in range(1, classes)]
    near = [math.nextafter(each, way) for each in cuts for way in (-math.inf, math.inf)]
    between = [low + (high - low) * share for share in (0.013, 0.25, 0.5, 0.77)]
    return [low, high, *cuts, *near, *between, low - 3.5, high + 3.5, *missing]


def read_by_python(study: Study, phase: str, records: list[dict[str, object]]) -> list[list[float]]:
    """Return what the browser should read: one number for each field."""
    question = study.question(phase)
    assert question is not None
    schema = Schema(attributes=study.asked(phase), target=study.schema.target)
    read = schema.read(records, labelled=question.labelled)
    asked = interview(study, phase)
    if question.form not in ("joint", "answer"):
        encoded: list[list[float]] = asked.encode(read).tolist()
        return encoded
    columns = [*read.encode(study.discretizers(phase)).T]
    if question.labelled and read.target is not None:
        columns.append(read.target)
    return [list(map(float, row)) for row in np.column_stack(columns).tolist()]


@pytest.mark.parametrize(("study", "phase"), CASES)
def test_the_browser_reads_records_as_python_does(
    blank_page: Any, study: Study, phase: str
) -> None:
    records = records_of(study, 60)
    ours = blank_page.evaluate(ENCODE, [question_document(study, phase), records])
    assert ours == read_by_python(study, phase, records)


@pytest.mark.parametrize(("study", "phase"), CASES)
def test_the_same_words_give_the_same_report(blank_page: Any, study: Study, phase: str) -> None:
    question, records = question_document(study, phase), records_of(study, SEEDS)
    classes = read_by_python(study, phase, records)
    streams = [words_of(seed, question["mechanism"]) for seed in range(SEEDS)]
    texts = [[str(word) for word in words] for words in streams]
    told = blank_page.evaluate(VECTORS, [question, classes, texts])
    assert [each["symbols"] for each in told] == told_by_python(study, phase, records, streams)
    assert all(len(each["id"]) == 32 and each["study"] == study.hash for each in told)


def words_of(seed: int, mechanism: dict[str, Any]) -> list[int]:
    """Return words among which some are at the ends of their range and at the thresholds."""
    words = [int(word) for word in simulation(seed).words(WORDS)]
    last = 2**64 - 1
    ends = [0, 1, last - 1, last]
    for threshold in thresholds_in(mechanism):
        ends += [threshold - 1, threshold, min(threshold + 1, last)]
    for place in range(WORDS // 2):
        if words[-1 - place] % 3 == 0:
            words[place] = ends[(seed + place) % len(ends)]
    return words


def thresholds_in(form: Any) -> list[int]:
    if isinstance(form, str):
        return [int(form)] if form.isdigit() else []
    parts = form.values() if isinstance(form, dict) else form if isinstance(form, list) else ()
    return [each for part in parts for each in thresholds_in(part)]


def planted(words: list[int]) -> RandomSource:
    source = simulation(0)
    source._buffer, source._next = np.array(words, dtype=np.uint64), 0
    return source


def told_by_python(
    study: Study, phase: str, records: list[dict[str, object]], streams: list[list[int]]
) -> list[list[int]]:
    question = study.question(phase)
    assert question is not None
    schema = Schema(attributes=study.asked(phase), target=study.schema.target)
    asked = interview(study, phase)
    inputs = asked.encode(schema.read(records, labelled=question.labelled))
    rows = [inputs[row : row + 1] for row in range(len(records))]
    drawn = [asked.randomize(row, planted(words)) for row, words in zip(rows, streams, strict=True)]
    return [each.symbols[0].tolist() for each in drawn]


def test_every_form_is_among_the_cases() -> None:
    forms = {question_document(*case.values)["form"] for case in CASES}  # type: ignore[arg-type]  # a case
    assert forms == set(FORMS)


@pytest.mark.parametrize(("study", "phase"), CASES)
def test_the_browser_derives_the_epsilon_of_the_mechanism(
    blank_page: Any, study: Study, phase: str
) -> None:
    ours = blank_page.evaluate(EPSILON, question_document(study, phase))
    exact = interview(study, phase).epsilon
    assert (math.inf if ours is None else ours) == pytest.approx(exact, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("study", "phase"), CASES)
def test_a_question_that_states_less_than_it_spends_is_refused(
    blank_page: Any, study: Study, phase: str
) -> None:
    question = question_document(study, phase)
    spent = interview(study, phase).epsilon
    stated = 1.0 if math.isinf(spent) else spent * (1 - 1e-9)
    question |= {"private": True, "epsilon": stated}
    classes = read_by_python(study, phase, records_of(study, 1))[0]
    refusal = blank_page.evaluate(REFUSED, [question, classes])
    assert refusal == "the mechanism would spend more than the study states; nothing was sent."


def test_a_mechanism_that_no_page_has_is_refused_before_a_word_is_drawn(blank_page: Any) -> None:
    """A randomizer of one's own, which is installed on devices; its page says so in a sentence."""
    study, phase = completed(small_studies()["rand, odp, odp"]), "train"
    question = question_document(study, phase)
    question["mechanism"] = {"kind": "own", "name": "my_package:MyRandomizer"}
    classes = read_by_python(study, phase, records_of(study, 1))[0]
    refusal = blank_page.evaluate(REFUSED, [question, classes])
    assert refusal == (
        "a page cannot run the mechanism of this study; take part with supm contribute where it is "
        "installed; nothing was sent."
    )


@pytest.mark.parametrize(("name", "phase"), SMALL)
@pytest.mark.parametrize("end", ["smallest", "largest"])
def test_what_the_browser_draws_fits_the_exact_channel(
    blank_page: Any, name: str, phase: str, end: str
) -> None:
    study = completed(small_studies()[name])
    row = interview(study, phase).exact_channel()[0 if end == "smallest" else -1]
    told = told_by_browser(blank_page, study, phase, end)
    assert p_value(told, [float(each) for each in row]) > LEAST_P


@pytest.mark.parametrize(("name", "phase"), DRAWN)
def test_questions_may_be_drawn_before_they_are_answered(
    blank_page: Any, name: str, phase: str
) -> None:
    study = completed(small_studies()[name])
    row = interview(study, phase).exact_channel()[-1]
    told = told_by_browser(blank_page, study, phase, "largest", drawn_first=True)
    assert p_value(told, [float(each) for each in row]) > LEAST_P


def told_by_browser(
    page: Any, study: Study, phase: str, end: str, *, drawn_first: bool = False
) -> Any:
    """Return how often the browser told each answer."""
    asked, question = interview(study, phase), question_document(study, phase)
    classes = [_end(field, end) for field in question["fields"]]
    counts = page.evaluate(DRAW, [question, classes, DRAWS, drawn_first])
    symbols = np.array([json.loads(told) for told, _ in counts], dtype=np.int64)
    told = np.zeros(asked.outcomes)
    columns = asked.outcome(Reports(symbols=symbols, simulation=True))
    np.add.at(told, columns, [count for _, count in counts])
    assert told.sum() == DRAWS
    return told


def _end(field: dict[str, Any], end: str) -> float:
    read, top = field["read"], end == "largest"
    if read["how"] in ("number", "sign"):
        return 1 if top else -1
    last = (read["levels"] - 1) * read["fine"] if read["how"] == "level" else read["size"] - 1
    return float(last if top else 0)


def p_value(told: Any, chances: Sequence[float]) -> float:
    """Return the p-value of a chi-square test; what cannot happen must not have happened."""
    expected = np.array(chances) * told.sum()
    assert (told[expected == 0] == 0).all()
    held = expected > 0
    assert expected[held].min() >= 5
    statistic = float(((told[held] - expected[held]) ** 2 / expected[held]).sum())
    return float(chi2.sf(statistic, max(1, int(held.sum()) - 1)))


def test_the_scripts_have_no_other_randomness() -> None:
    scripts = list((Path(supm.service.__file__).parent / "static").glob("*.js"))
    assert len(scripts) > 5
    assert not [each.name for each in scripts if "Math.random" in each.read_text()]


def test_the_same_words_give_the_same_group(blank_page: Any) -> None:
    study = plan(MIXED, epsilon=3.0, classes=4, reduce="regroup", sampled=2, told=2)
    streams = [[str(word) for word in simulation(seed).words(9)] for seed in range(SEEDS)]
    drawn = blank_page.evaluate(GROUPS, [list(study.groups), streams])
    assert drawn == [int(draw_groups(study, 1, simulation(seed))[0]) for seed in range(SEEDS)]


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ({"age": 4, "side": "left", "ill": "no"}, None),
        ({"age": 4, "stage": 1, "ill": "no"}, "side: a value is needed."),
        ({"age": "17", "side": "left", "ill": "no"}, "age: a number is needed."),
        ({"age": True, "side": "left", "ill": "no"}, "age: a number is needed."),
        ({"age": 4, "side": "up", "ill": "no"}, "side: choose one of the listed values."),
    ],
)
def test_what_the_schema_does_not_allow_is_refused_without_the_value(
    blank_page: Any, record: dict[str, object], sentence: str | None
) -> None:
    study = plan(MIXED, epsilon=3.0, classes=3, told=2)
    told = blank_page.evaluate(READ_ERROR, [question_document(study, "train"), record])
    assert told == sentence or sentence is None
