"""An owner sends what its interviews draw, and code that sends something else is seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from supm import simulation
from supm._errors import MessageError
from supm.audit import check_owner, completed, example_records, small_studies
from supm.messages import Question, Report, Study
from supm.owner import Owner

PHASES = ("reduce", "train")


@pytest.mark.parametrize(
    "name",
    [
        "waldp, odp, odp",
        "rank, joint, joint",
        "wa, oda, odp",
        "known, sample, answer",
        "regroup, sample, answer",
    ],
)
def test_the_owner_of_this_package_sends_what_its_interviews_draw(name: str) -> None:
    study = completed(small_studies()[name])
    for phases in (PHASES, ("test",)):
        assert check_owner(study, phases, example_records(study), simulation(1)).passed


def test_a_study_of_known_attributes_is_checked_too() -> None:
    small = small_studies()["rand, pw, pw"]
    known = replace(small, reduction="known", attributes=("stage",))
    assert check_owner(known, PHASES, example_records(known), simulation(1)).passed


class ForgetfulOwner(Owner):
    """Plants a defect: nothing is remembered, so that asking again draws again."""

    def answer(self, study: Study, phase: str, record: Any) -> Any:
        self._memory = {key: self._memory[key] for key in self._memory if key.startswith("group")}
        return super().answer(study, phase, record)


class CopyingOwner(Owner):
    """Plants a defect: the id of a report is made of the record."""

    def answer(self, study: Study, phase: str, record: Any) -> Report:
        report = super().answer(study, phase, record)
        return replace(report, id=f"{int(record['pulse']):032x}")


class ChoosingOwner(Owner):
    """Plants a defect: the group follows from the study and not from a draw."""

    def group(self, study: Study) -> int:
        drawn = super().group(study)
        return len(study.groups) - 1 if drawn == 0 else drawn


class GenerousOwner(Owner):
    """Plants a defect: the questions of both groups are answered."""

    def _consent(self, study: Study, phase: str) -> Question:
        question = study.question(phase)
        assert question is not None
        return question


class SilentOwner(Owner):
    """Plants a defect: it refuses whatever is asked."""

    def answer(self, study: Study, phase: str, record: Any) -> Report:
        del study, phase, record
        message = "nothing is sent."
        raise MessageError(message)


@pytest.mark.parametrize(
    "kind", [ForgetfulOwner, CopyingOwner, ChoosingOwner, GenerousOwner, SilentOwner]
)
def test_an_owner_who_sends_something_else_is_caught(kind: type[Owner]) -> None:
    study = small_studies()["rank, joint, joint"].reduced(("pulse",))
    found = check_owner(study, PHASES, example_records(study), simulation(1), kind=kind)
    assert not found.passed
    assert "owners sent something else" in found.detail
