"""ODP of the papers: a raw value becomes one of a few public classes, then randomized response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm._validation import check_kind
from supm.mechanisms.randomizers.frequency import SymbolReport
from supm.mechanisms.randomizers.generalized_response import GeneralizedRandomizedResponse
from supm.mechanisms.randomizers.randomizer import Reports
from supm.schema import Attribute, Continuous, Discretizer, discretize


@dataclass(frozen=True, kw_only=True)
class OrderedDiscretePerturbation(SymbolReport):
    """Sort a raw value into one of a few public classes and randomise the class.

    Seeing a report changes the odds between any two raw values by a factor of at most e^epsilon.
    Continuous, ordinal and categorical attributes are treated alike: only the public discretizer
    differs.

    Parameters
    ----------
    discretizer : Discretizer
        Public arithmetic from raw values to classes.
    response : GeneralizedRandomizedResponse
        What randomises the class; its size is the discretizer's.

    Notes
    -----
    **Guarantee.** epsilon-LDP for every raw value that the attribute allows, the bounds and what
    lies beyond them included, with the response's own epsilon (docs/proofs/ordered-discrete.md,
    Theorem 1). As printed in the papers it promises nothing at the minimum: docs/errata.md, 1.

    **Utility.** Unbiased shares of the classes, with the variance of the response.

    **Cost.** One word per report of log2(classes) bits.

    References
    ----------
    Paper 000, algorithms 3 to 5, with the corrections of docs/errata.md.

    Examples
    --------
    >>> age = Continuous("age", low=0, high=100)
    >>> odp = OrderedDiscretePerturbation.for_epsilon(attribute=age, classes=4, epsilon=1.0)
    >>> odp.inputs()
    array([12.5, 37.5, 62.5, 87.5])
    >>> odp.epsilon <= 1.0
    True
    """

    discretizer: Discretizer
    response: GeneralizedRandomizedResponse

    def __post_init__(self) -> None:
        check_kind("discretizer", self.discretizer, Discretizer)
        check_kind("response", self.response, GeneralizedRandomizedResponse)
        if self.response.size != self.discretizer.size:
            raise ParameterError("response", f"of size {self.discretizer.size}", self.response.size)

    @classmethod
    def for_epsilon(cls, *, attribute: Attribute, classes: int, epsilon: float) -> Self:
        """Use the papers' discretizer for the attribute and as much truth as epsilon allows."""
        discretizer = discretize(attribute, classes)
        response = GeneralizedRandomizedResponse.for_epsilon(size=discretizer.size, epsilon=epsilon)
        return cls(discretizer=discretizer, response=response)

    @property
    def _told_by(self) -> GeneralizedRandomizedResponse:
        return self.response

    def inputs(self) -> NDArray[Any]:
        """Return a raw value of each class."""
        attribute = self.discretizer.attribute
        if isinstance(attribute, Continuous):
            scale = self.discretizer.representatives
            values = np.asarray(scale, dtype=np.float64)
            missing: float | None = np.nan
        else:
            values = np.array([*attribute.values, None], dtype=object)[:-1]
            missing = None
        if attribute.missing == "class":
            values = np.append(values, np.array([missing], dtype=values.dtype))
        _, first = np.unique(self.discretizer.encode(values), return_index=True)
        return values[first]

    def randomize(self, values: ArrayLike, source: RandomSource) -> Reports:
        """Turn each owner's raw value into a class and the class into a report."""
        return self.response.randomize(self.discretizer.encode(values), source)
