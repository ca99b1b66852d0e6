"""Stand-ins for what is learned: all classes and labels occur, and what is there stays."""

from __future__ import annotations

import numpy as np
import pytest

from supm.audit import completed, example_records, large_studies, small_studies
from supm.collection import plan
from supm.messages import CellAnswers, Scorecard
from supm.owner import interview
from supm.schema import Categorical, Continuous, Schema


def test_the_lower_and_the_upper_half_of_classes_are_merged() -> None:
    study = completed(small_studies()["regroup, sample, answer"])
    assert study.merges == ((0, 0, 1, 1), (0, 0, 1, 1))
    assert isinstance(study.rule, Scorecard)


def test_what_is_there_already_stays() -> None:
    for study in (*small_studies().values(), *large_studies().values()):
        done = completed(study)
        assert completed(done) is done
        assert done.beginning == study.hash


def test_a_model_of_a_joint_report_is_a_table() -> None:
    rule = completed(small_studies()["known, joint, answer"]).rule
    assert isinstance(rule, CellAnswers)
    assert rule.answers.tolist() == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("labels", [2, 3, 5])
def test_every_label_is_the_answer_for_some_record(labels: int) -> None:
    schema = Schema(
        attributes=(Continuous("age", low=0, high=1), Continuous("pulse", low=0, high=1)),
        target=Categorical("stage", values=tuple(map(str, range(labels)))),
    )
    study = completed(plan(schema, epsilon=1.0, classes=5))
    answers = interview(study, "test").encode(schema.read(example_records(study)))
    assert np.unique(answers).tolist() == list(range(labels))


def test_a_number_goes_from_one_end_to_the_other() -> None:
    study = completed(small_studies()["known, sample, answer of a number"])
    answers = interview(study, "test").encode(study.schema.read(example_records(study)))
    assert (answers.min(), answers.max()) == (-1.0, 1.0)
