"""What a margin classifier publishes: components and coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from supm._errors import MessageError, ParameterError
from supm.federation._components_outcome import read_table, shortened
from supm.learning.margins import LOSSES, Loss, outputs_of, probabilities, winners

__all__ = ["MarginOutcome", "reduced"]

Floats: TypeAlias = NDArray[np.float64]

_FIELDS: Final = ("loss", "classes", "components", "coefficients")


def reduced(vectors: Floats, components: Floats | None) -> Floats:
    """Return the rows on which coefficients work: (x, 1) / sqrt(2), x of norm at most one.

    What anybody gives as components, the result has norm at most one, so the promise of the noise
    does not depend on them.

    Examples
    --------
    >>> reduced(np.array([[3.0, 4.0]]), None).round(4).tolist()
    [[0.4243, 0.5657, 0.7071]]
    """
    rows = shortened(vectors)
    if components is not None:
        rows = shortened(rows @ components.T)
    return np.hstack((rows, np.ones((len(rows), 1)))) / math.sqrt(2.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginOutcome:
    """A linear classifier that several parties learned together.

    Parameters
    ----------
    loss : {"huber", "logistic", "softmax"}
        What was minimised.
    classes : int
        How many classes there are.
    components : ndarray of float64, shape (components, width), or None
        What records are projected on, if anything.
    coefficients : ndarray of float64, shape (outputs, numbers + 1)
        One row for each class, or a single one for two; the last number is the intercept.

    Examples
    --------
    >>> line = MarginOutcome(
    ...     loss="logistic", classes=2, components=None, coefficients=np.array([[4.0, 0.0]])
    ... )
    >>> line.predict(np.array([[-1.0], [0.5]])).tolist()
    [0, 1]
    >>> line.probabilities(np.array([[0.0]])).tolist()
    [[0.5, 0.5]]
    """

    loss: Loss
    classes: int
    components: Floats | None
    coefficients: Floats

    def decision(self, vectors: Floats) -> Floats:
        """Return the scores of vectors as the encoding makes them, one column for each output."""
        return reduced(vectors, self.components) @ self.coefficients.T

    def predict(self, vectors: Floats) -> NDArray[np.int64]:
        """Return the class of each vector."""
        return winners(self.decision(vectors))

    def probabilities(self, vectors: Floats) -> Floats:
        """Return the model's shares of the classes; the Huber loss has none."""
        if self.loss == "huber":
            hint = "Use decision(), or another loss."
            raise ParameterError("loss", "'softmax' or 'logistic' for probabilities", "huber", hint)
        return probabilities(self.decision(vectors))

    def to_form(self) -> dict[str, Any]:
        """Return the outcome as plain values for JSON."""
        return {
            "loss": self.loss,
            "classes": self.classes,
            "components": None if self.components is None else self.components.tolist(),
            "coefficients": self.coefficients.tolist(),
        }

    @classmethod
    def from_form(cls, form: object) -> MarginOutcome:
        """Read what `to_form` wrote.

        Raises
        ------
        MessageError
            If it is no such outcome.
        """
        if not isinstance(form, dict) or set(form) != set(_FIELDS) or form["loss"] not in LOSSES:
            message = f"a margin classifier has the fields {', '.join(_FIELDS)}."
            raise MessageError(message)
        given = form["components"]
        outcome = cls(
            loss=form["loss"],
            classes=form["classes"],
            components=None if given is None else read_table(given),
            coefficients=read_table(form["coefficients"]),
        )
        return outcome._checked()

    def _checked(self) -> MarginOutcome:
        try:
            outputs = outputs_of(self.loss, self.classes)
        except ParameterError as error:
            raise MessageError(str(error)) from None
        rows, width = self.coefficients.shape
        if rows != outputs or (self.components is not None and len(self.components) + 1 != width):
            message = "coefficients must have a row for each output, as long as the components say."
            raise MessageError(message)
        return self
