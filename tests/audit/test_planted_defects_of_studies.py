"""Interviews of strict studies that leak on purpose: each defect, with the checks that catch it."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supm import simulation
from supm._random import RandomSource
from supm.audit import (
    attack_owner,
    attack_study,
    audit_study,
    by_devices,
    check_owner,
    completed,
    example_records,
    large_studies,
    small_studies,
    telling_pairs,
)
from supm.mechanisms import GeneralizedRandomizedResponse, Reports
from supm.messages import Study
from supm.owner import AnswerInterview, Interview, SampledInterview, interview
from supm.owner.sampled import FINE

EPSILON = 2.0


class LabelAsItIs(SampledInterview):
    """Plants a defect: the classes are randomised, and the label is told as it is."""

    def _chunk(self, inputs: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        told = super()._chunk(inputs, source)
        if self.labels is not None:
            told[:, -1] = inputs[:, -1]
        return told


class DrawnByValue(SampledInterview):
    """Plants a defect: of two draws that with more classes other than the first is told."""

    def _chunk(self, inputs: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        first, second = (super(DrawnByValue, self)._chunk(inputs, source) for _ in range(2))
        richer = self._others(inputs, second) > self._others(inputs, first)
        return np.where(richer[:, np.newaxis], second, first)

    def _others(self, inputs: NDArray[np.int64], told: NDArray[np.int64]) -> NDArray[np.int64]:
        held = np.take_along_axis(inputs, told[:, : self.sampled], axis=1)
        count: NDArray[np.int64] = (held > 0).sum(axis=1)
        return count


class AnswerOneAsItIs(AnswerInterview):
    """Plants a defect: whoever has the answer 1 tells it."""

    def randomize(self, inputs: NDArray[Any], source: RandomSource) -> Reports:
        told = super().randomize(inputs, source)
        symbols = np.where(inputs == 1, 1, told.symbols)
        return Reports(symbols=symbols, simulation=told.simulation)


class SmallestAlphabet(SampledInterview):
    """Plants a defect: the truth is told as often as the smallest draw allows, in every draw."""

    def _response(self, cells: int) -> GeneralizedRandomizedResponse:
        words = super()._response(self._smallest).keep_words
        return GeneralizedRandomizedResponse(size=cells, keep_words=words)

    @cached_property
    def _smallest(self) -> int:
        return min(self._alphabets)


class FineLevelInClass(SampledInterview):
    """Plants a defect: a class says whether the target lies between two levels."""

    def _chunk(self, inputs: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        told = super()._chunk(inputs, source)
        if self.target is not None:
            told[:, self.sampled] = inputs[:, -1] % FINE > 0
        return told


class FineLevelTold(SampledInterview):
    """Plants a defect: the level is told as finely as it is known."""

    def _chunk(self, inputs: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
        told = super()._chunk(inputs, source)
        if self.target is not None:
            told[:, -1] = inputs[:, -1]
        return told


NUMBER = "known, sample, answer of a number"
DEFECTS: list[tuple[type[Interview], str, set[str]]] = [
    (LabelAsItIs, "known, sample, answer", {"check_sampler"}),
    (LabelAsItIs, "regroup, sample, answer", {"check_sampler"}),
    (DrawnByValue, "known, sample, answer", {"check_sampler"}),
    (AnswerOneAsItIs, "known, sample, answer", {"check_sampler"}),
    (AnswerOneAsItIs, "known, joint, answer", {"check_sampler"}),
    (SmallestAlphabet, "known, sample, answer of mixed sizes", {"check_epsilon", "check_train"}),
    (FineLevelInClass, NUMBER, {"check_sampler"}),
    (FineLevelTold, NUMBER, {"check_sampler"}),
]


def defective(kind: type[Interview], study: Study, phase: str) -> Interview:
    """Return the interview of a phase with a defect, if it is one that can have it."""
    honest = interview(study, phase)
    if not issubclass(kind, type(honest)):
        return honest
    return kind(**{each.name: getattr(honest, each.name) for each in fields(honest)})  # type: ignore[arg-type]  # both kinds are dataclasses


def plant(monkeypatch: pytest.MonkeyPatch, kind: type[Interview], *modules: str) -> None:
    for module in modules:
        monkeypatch.setattr(
            f"supm.{module}.interview", lambda study, phase: defective(kind, study, phase)
        )


def names(case: object) -> str | None:
    return case.__name__ if isinstance(case, type) else None


@pytest.mark.parametrize(("kind", "name", "checks"), DEFECTS, ids=names)
def test_a_defect_of_an_interview_is_caught_against_the_exact_channel(
    kind: type[Interview], name: str, checks: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_studies(EPSILON)[name]
    assert {row.verdict for row in audit_study(study, simulation(1), draws=1 << 9).rows} == {"true"}
    plant(monkeypatch, kind, "audit.studies")
    rows = audit_study(study, simulation(1), draws=1 << 9).rows
    failed = {each.check for row in rows for each in row.findings if not each.passed}
    assert failed == checks


@pytest.mark.parametrize(("kind", "name"), [case[:2] for case in DEFECTS], ids=names)
def test_a_defect_of_the_device_alone_is_caught_by_its_twin(
    kind: type[Interview], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = completed(small_studies(EPSILON)[name])
    phases = ("test",) if issubclass(kind, AnswerInterview) else ("reduce", "train")
    records = (example_records(study) * 4)[:128]
    assert check_owner(study, phases, records, simulation(1)).passed
    plant(monkeypatch, kind, "owner.owner")
    monkeypatch.setattr("supm.owner.owner.check_promise", lambda *_: None)
    assert not check_owner(study, phases, records, simulation(1)).passed


@pytest.mark.parametrize(
    ("kind", "name", "checks"),
    [
        (LabelAsItIs, "known, sample, answer", {"check_attack"}),
        (LabelAsItIs, "regroup, sample, answer", {"check_attack"}),
        (DrawnByValue, "known, sample, answer", {"check_attack", "check_draws"}),
        (DrawnByValue, "regroup, sample, answer", {"check_attack", "check_draws"}),
        (AnswerOneAsItIs, "known, sample, answer", {"check_attack"}),
        (FineLevelTold, NUMBER, {"check_attack"}),
    ],
    ids=names,
)
def test_a_defect_is_caught_by_samples_where_the_channel_is_too_large(
    kind: type[Interview], name: str, checks: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, kind, "audit.owners")
    rows = attack_study(large_studies(EPSILON)[name], simulation(1), trials=40_000)
    failed = {each.check for row in rows for each in row.findings if not each.passed}
    # Devices still run the honest interview, so that they may differ from the planted one.
    assert failed - {"check_owner"} == checks


def test_samples_show_an_alphabet_that_is_not_that_of_the_draw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = completed(small_studies(EPSILON)["known, sample, answer of mixed sizes"])
    pair = telling_pairs(study)["ends"]
    honest = attack_owner(study, "training owner", simulation(1), pair=pair, trials=60_000)
    plant(monkeypatch, SmallestAlphabet, "audit.owners")
    leaking = attack_owner(study, "training owner", simulation(1), pair=pair, trials=60_000)
    assert 0.8 * EPSILON < honest.epsilon <= EPSILON < leaking.epsilon


def test_samples_show_a_target_between_two_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    study = completed(large_studies(EPSILON)[NUMBER])
    low, _ = telling_pairs(study)["ends"]
    pair = (low, {**low, "stay": 7.1})
    honest = attack_owner(study, "training owner", simulation(1), pair=pair, trials=40_000)
    plant(monkeypatch, FineLevelInClass, "audit.owners")
    leaking = attack_owner(study, "training owner", simulation(1), pair=pair, trials=40_000)
    assert honest.epsilon <= EPSILON < leaking.epsilon


def test_samples_of_devices_show_their_defects(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the record to the report: nothing but what leaves `Owner.answer` is looked at."""
    study = completed(small_studies(EPSILON)["known, sample, answer"])
    pair = telling_pairs(study)["ends"]

    def bound() -> float:
        return attack_owner(
            study, "test owner", simulation(1), pair=pair, trials=1000, through=by_devices
        ).epsilon

    assert 1.0 < bound() <= EPSILON
    plant(monkeypatch, AnswerOneAsItIs, "owner.owner")
    assert bound() > EPSILON
