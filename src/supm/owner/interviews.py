"""The interview: the mechanism that a question describes, shared by owner and aggregator.

Each form of a question has a class in a file that `interview` loads when it is asked for.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError
from supm._random import RandomSource
from supm.mechanisms import Reports
from supm.messages import Question, Study
from supm.privacy import Guarantee, NoGuarantee, PureLDP
from supm.schema import Attribute, Records

# A form that is not named here is told column by column.
_HOMES: Final = {
    "answer": ("answering", "AnswerInterview"),
    "joint": ("joint", "JointInterview"),
    "own": ("joint", "OwnInterview"),
    "sample": ("sampled", "SampledInterview"),
}
_OTHER: Final = ("separate", "SeparateInterview")


@dataclass(frozen=True, kw_only=True)
class Leaving:
    """One thing that leaves the device.

    Parameters
    ----------
    what : str
        About what.
    choices : int
        One of how many different things is told, at most.
    truth : float or None
        The chance that it is the truth, at least; None where a number near it is told.
    fewest_choices : int
        One of how many, at least: fewer where a draw decides about what.
    most_truth : float or None
        The chance for so few.
    """

    what: str
    choices: int
    truth: float | None
    fewest_choices: int
    most_truth: float | None

    @classmethod
    def certain(cls, what: str, choices: int, truth: float | None) -> Self:
        """Return what leaves where no draw decides about what it is."""
        return cls(
            what=what, choices=choices, truth=truth, fewest_choices=choices, most_truth=truth
        )


class Interview(ABC):
    """What turns a record into the symbols of a report, with the promise that follows from it."""

    @classmethod
    @abstractmethod
    def of(cls, study: Study, question: Question) -> Self:
        """Return the mechanism of a question: the one place where its budget is split."""

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """What an answer really spends, rounded up; infinite where nothing is promised."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many symbols an answer has."""

    @property
    @abstractmethod
    def outcomes(self) -> int:
        """How many different answers there are."""

    @abstractmethod
    def encode(self, records: Records) -> NDArray[Any]:
        """Return what `randomize` takes: one row for each record, by public arithmetic."""

    @abstractmethod
    def randomize(self, inputs: NDArray[Any], source: RandomSource) -> Reports:
        """Turn each row into the symbols of a report."""

    @abstractmethod
    def accepts(self, symbols: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say of each row whether it could have been told."""

    @abstractmethod
    def inputs(self) -> NDArray[Any]:
        """Return one row for each row of the channel."""

    @abstractmethod
    def outcome(self, reports: Reports) -> NDArray[np.int64]:
        """Return the column of the channel that each report stands for."""

    @abstractmethod
    def exact_channel(self) -> list[list[Fraction]]:
        """Return the exact probability of each whole answer (column) for each record (row)."""

    @abstractmethod
    def leaving(
        self, target: Attribute, symbols: Sequence[int] | None = None
    ) -> tuple[Leaving, ...]:
        """Say what leaves the device; what it is about is certain once the symbols are drawn."""

    @abstractmethod
    def describe(self, target: Attribute) -> dict[str, Any]:
        """Return, for a page, the fields that are read and the mechanism's whole numbers."""

    def named(self, target: Attribute, symbols: Sequence[int]) -> tuple[tuple[str, str], ...]:
        """Return which class a report names of what; nothing where it names no single class."""
        _ = target, symbols
        return ()

    @property
    def guarantee(self) -> Guarantee:
        """The promise to an owner who answers."""
        if math.isinf(self.epsilon):
            return NoGuarantee("what leaves the owner is not randomised")
        return PureLDP(self.epsilon)


def interview(study: Study, phase: str) -> Interview:
    """Return the mechanism of a phase.

    Parameters
    ----------
    study : Study
        What is asked; after the reduce phase, with the chosen attributes.
    phase : {"reduce", "train", "test"}
        Which question.

    Returns
    -------
    Interview
        Its ``epsilon`` is derived from the thresholds that it draws with, not from what the study
        states.

    Raises
    ------
    MessageError
        If the phase asks nothing, or asks for what an attribute is not.

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.datasets import load_wdbc
    >>> study = plan(load_wdbc().schema, epsilon=2.0, attributes=["mean radius"])
    >>> interview(study, "train").epsilon <= 2.0
    True
    """
    question = study.question(phase)
    if question is None:
        raise MessageError(f"the study asks nothing in the {phase} phase.")
    return _made(study, question)


# A device answers one question, and an aggregator a few, again and again.
@lru_cache(maxsize=64)
def _made(study: Study, question: Question) -> Interview:
    file, name = _HOMES.get("own" if question.mechanism else question.form, _OTHER)
    form: type[Interview] = getattr(import_module(f"supm.owner.{file}"), name)
    return form.of(study, question)


def budget_of(question: Question) -> float:
    """Return what a question states, where it states a budget to share."""
    if question.epsilon is None:
        raise MessageError(f"the form {question.form} has no budget to share.")
    return question.epsilon
