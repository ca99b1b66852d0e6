"""All classes of an answer as one symbol, through a randomizer of one's own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError, PromiseError
from supm._extensions import offered
from supm._random import RandomSource
from supm.mechanisms import Reports
from supm.mechanisms.randomizers.frequency import FrequencyRandomizer
from supm.messages import Question, Study
from supm.owner.interviews import Leaving, budget_of
from supm.owner.joint import JointInterview
from supm.schema import Attribute


def own_randomizer(name: str, size: int, epsilon: float) -> FrequencyRandomizer:
    """Return the randomizer of that name for an alphabet and a budget, which it must not exceed."""
    made = offered("randomizers", name).for_epsilon(size=size, epsilon=epsilon)
    if not isinstance(made, FrequencyRandomizer) or made.size != size:
        rule = f"a FrequencyRandomizer of {size} symbols where {name} is asked"
        raise ParameterError("randomizer", rule, type(made).__name__)
    if not made.epsilon <= epsilon:
        message = f"the randomizer {name} spends epsilon {made.epsilon:.6g}, not {epsilon:g}."
        raise PromiseError(message)
    return made


@dataclass(frozen=True, kw_only=True)
class OwnInterview(JointInterview):
    """All asked classes leave as one symbol, through a randomizer that the study names.

    What is promised is derived from the channel of the randomizer that is installed here.
    """

    randomizer: FrequencyRandomizer  # type: ignore[assignment]  # of which subset selection is one
    name: str

    @classmethod
    def of(cls, study: Study, question: Question) -> Self:
        """Find the randomizer, and give the whole budget to the table of all combinations."""
        discretizers = study.discretizers(question.phase)
        cells = math.prod(each.size for each in discretizers) * study.labels
        name = question.mechanism or ""
        return cls(
            discretizers=discretizers,
            labels=study.labels,
            randomizer=own_randomizer(name, cells, budget_of(question)),
            name=name,
        )

    @property
    def width(self) -> int:
        """One symbol."""
        return 1

    def randomize(self, inputs: NDArray[Any], source: RandomSource) -> Reports:
        """Turn each cell number into the number of a column of the channel."""
        told = self.randomizer.randomize(inputs[:, 0], source)
        symbols = self.randomizer.outcome(told)[:, np.newaxis]
        return Reports(symbols=symbols.astype(np.int64), simulation=told.simulation)

    def accepts(self, symbols: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say of each row whether it is the number of a column."""
        return np.asarray((symbols[:, 0] >= 0) & (symbols[:, 0] < self.outcomes))

    def leaving(
        self, target: Attribute, symbols: Sequence[int] | None = None
    ) -> tuple[Leaving, ...]:
        """Say that all leaves together."""
        _ = symbols
        what = f"{len(self.discretizers)} attributes and {target.name}, through {self.name}"
        return (Leaving.certain(what, self.randomizer.size, None),)

    def describe(self, target: Attribute) -> dict[str, Any]:
        """Return the fields, and the name: a page cannot run what is not installed in it."""
        mechanism = {"kind": "own", "name": self.name}
        return {"fields": self._fields(target), "mechanism": mechanism}
