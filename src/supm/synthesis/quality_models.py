"""What a model of the target is worth: its error, how well that is known, and words for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

_NAMES: Final = {"linear": "linear model", "tree": "tree"}
_CERTAIN: Final = 2.0
# No error of predictions within the bounds is above one; a doubt as large as that says nothing.
_ANYTHING: Final = 0.5


@dataclass(frozen=True, kw_only=True)
class ModelError:
    """The error of one model.

    Parameters
    ----------
    model : str
        "constant", "linear" or "tree".
    rows : str
        What it was trained on: "noisy", "synthetic", "clean" or, for a constant, "".
    error : float
        Of the model. Where it is a square less the noise in it, it may be below zero; then it is
        not known.
    standard_error : float
        Of that figure.
    gain_error : float or None
        The standard error of how much better it is than the constant, where the same records tell
        both; None where that was not found.
    """

    model: str
    rows: str
    error: float
    standard_error: float
    gain_error: float | None = None

    @property
    def name(self) -> str:
        """What to call it."""
        if not self.rows:
            return "constant"
        kind = "rows" if self.rows == "synthetic" else "records"
        return f"{_NAMES[self.model]} on {self.rows} {kind}"

    @property
    def most(self) -> float:
        """The largest error that two standard errors leave possible."""
        return self.error + _CERTAIN * self.standard_error

    @property
    def known(self) -> bool:
        """Whether anything is known of it: no error is below zero, and none is above one."""
        return self.most >= 0 and self.standard_error < _ANYTHING

    def to_form(self) -> dict[str, Any]:
        """Return the error as plain values for JSON."""
        return {
            "name": self.name,
            "model": self.model,
            "rows": self.rows or None,
            "error": self.error,
            "standard_error": self.standard_error,
            "known": self.known,
        }

    @property
    def positive(self) -> bool:
        """Whether it is known to be above zero."""
        return self.known and self.error > _CERTAIN * self.standard_error


@dataclass(frozen=True, kw_only=True)
class ModelReport:
    """The errors of all models of the target.

    Parameters
    ----------
    target : str
        What is predicted.
    measure : str
        What an error is.
    method : str
        How it was found, in a sentence.
    errors : tuple of ModelError
        The constant first.
    span : float or None
        The range of a number, in which errors are told; None where the target has classes.

    Examples
    --------
    >>> constant = ModelError(model="constant", rows="", error=0.04, standard_error=0.001)
    >>> report = ModelReport(
    ...     target="age", measure="", method="", errors=(constant,), span=100.0
    ... )
    >>> report.told(constant)
    '20 ± 0.25'
    """

    target: str
    measure: str
    method: str
    errors: tuple[ModelError, ...]
    span: float | None = None

    def to_form(self) -> dict[str, Any]:
        """Return the errors as plain values for JSON."""
        return {
            "target": self.target,
            "measure": self.measure,
            "method": self.method,
            "errors": [each.to_form() for each in self.errors],
        }

    @property
    def constant(self) -> ModelError:
        """The error of always predicting the same."""
        return self.errors[0]

    @property
    def best(self) -> ModelError:
        """The least error of what can be trained from the archive, of those that are known."""
        usable = [each for each in self.errors if each.rows != "clean" and each.known]
        return min(usable, key=lambda each: each.error, default=self.constant)

    @property
    def telling(self) -> bool:
        """Whether errors can be compared: that of the constant is known to be above zero."""
        return self.constant.positive

    def told(self, error: ModelError) -> str:
        """Return an error in words: of a number as the root of its mean square, in its own unit."""
        if not error.known:
            return "not known"
        if error.error <= 0 or error.error < error.standard_error:
            return f"at most {self._unit(error.most):.3g}"
        middle, doubt = self._unit(error.error), error.standard_error
        if self.span is not None:
            doubt *= self.span**2 / (2 * middle)
        return f"{middle:.3g} ± {doubt:.2g}"

    @property
    def told_measure(self) -> str:
        """What the figures of `told` are."""
        if self.span is None:
            return "balanced error"
        return f"root mean square error in the unit of {self.target}"

    @property
    def sentence(self) -> str:
        """What the best model is worth beside always predicting the same."""
        best, constant = self.best, self.constant
        if not self.telling:
            return (
                f"What a model of {self.target} is worth cannot be known: the noise hides how much "
                f"{self.target} varies."
            )
        if best == constant:
            return f"No model of {self.target} is better than always predicting the same."
        apart = math.hypot(best.standard_error, constant.standard_error)
        doubt = apart if best.gain_error is None else best.gain_error
        sure = constant.error - best.error > _CERTAIN * doubt
        return (
            f"The {best.name} predicts {self.target} with an error of {self.told(best)}, "
            f"and always predicting the same has {self._unit(constant.error):.3g}"
            f" ({self.told_measure}){'' if sure else '; which is better is not known'}."
        )

    def _unit(self, error: float) -> float:
        return error if self.span is None else self.span * math.sqrt(max(error, 0.0))
