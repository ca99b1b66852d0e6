"""What a model of the target is worth, trained before and after: its error, and words for it.

With clean rows the error is measured on them. Without, it can still be known for a linear model of
a number: the squared error at a noisy row is, on average, the true one plus noise that is known.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from supm.synthesis.archive import Archive, ArchiveSchema
from supm.synthesis.columns import ClassColumn, NumberColumn
from supm.synthesis.quality_dependence import Plain, as_told

_MOST: Final = 20_000
# A leaf of a hundredth of the rows: a tree with single rows in its leaves learns the noise.
_LEAF: Final = 0.01
# Two records are equally far from their mean: over their number, the least doubt of a square.
_FEW: Final = 2.0
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


def measured_models(archive: Archive, synthetic: Plain, clean: Plain) -> ModelReport:
    """Measure on every second clean row; the others train what privacy would not allow."""
    schema, noisy = archive.schema, _whole(as_told(archive))
    target = schema.column(str(schema.target))
    held = {name: column[::2] for name, column in clean.items()}
    rest = {name: column[1::2] for name, column in clean.items()}
    tables = {"noisy": noisy, "synthetic": synthetic, "clean": rest}
    tables = {name: table for name, table in tables.items() if _rows(table) >= 10}
    judge = _Squares(schema) if isinstance(target, NumberColumn) else _Balance(schema)
    errors = [judge.constant(rest if _rows(rest) else held, held)]
    for model in ("linear", "tree"):
        for rows, table in tables.items():
            errors.append(judge.judged(model, rows, table, held))
    many = f"{_rows(held)} clean records"
    return ModelReport(
        target=target.name,
        measure=judge.measure,
        method=f"Measured on {many}, which no model saw without noise.",
        errors=tuple(errors),
        span=target.mechanism.span if isinstance(target, NumberColumn) else None,
    )


class _Judge(ABC):
    """Trains models of one target and measures them on clean rows."""

    measure: str

    def __init__(self, schema: ArchiveSchema) -> None:
        self._schema = schema
        self._target = schema.column(str(schema.target))

    def judged(self, model: str, rows: str, table: Plain, held: Plain) -> ModelError:
        """Train on some rows, of which every class must be there, and measure."""
        some = {name: column[:_MOST] for name, column in table.items()}
        inputs, answers = self._inputs(some), some[self._target.name]
        made = self._made(model, answers)
        found = made.fit(inputs, answers).predict(self._inputs(held))
        error, standard = self._error(found, held[self._target.name])
        return ModelError(model=model, rows=rows, error=error, standard_error=standard)

    def _inputs(self, table: Plain) -> NDArray[np.float64]:
        return np.column_stack(list(_features(self._schema, table)))

    @abstractmethod
    def _made(self, model: str, answers: NDArray[np.float64]) -> Any:  # noqa: ANN401  scikit-learn ships no types
        """Return a model to train."""

    @abstractmethod
    def _error(self, found: NDArray[np.float64], true: NDArray[np.float64]) -> tuple[float, float]:
        """Return an error and its standard error."""


class _Squares(_Judge):
    measure = "mean squared error, in squared ranges of the target"

    def constant(self, known: Plain, held: Plain) -> ModelError:
        """Return the error of predicting the mean."""
        true = held[self._target.name]
        mean = np.full(true.size, known[self._target.name].mean())
        error, standard = self._error(mean, true)
        return ModelError(model="constant", rows="", error=error, standard_error=standard)

    def _made(self, model: str, answers: NDArray[np.float64]) -> Any:  # noqa: ANN401  the same
        del answers
        if model == "linear":
            return make_pipeline(StandardScaler(), LinearRegression())
        return DecisionTreeRegressor(min_samples_leaf=_LEAF, random_state=0)

    def _error(self, found: NDArray[np.float64], true: NDArray[np.float64]) -> tuple[float, float]:
        law = getattr(self._target, "mechanism")  # noqa: B009  known to be a number here
        losses = ((np.clip(found, law.low, law.high) - true) / law.span) ** 2
        return float(losses.mean()), float(losses.std()) / math.sqrt(losses.size)


class _Balance(_Judge):
    measure = "balanced error (mean over the classes of the share that is wrong)"

    def constant(self, known: Plain, held: Plain) -> ModelError:
        """Return the error of always naming one class."""
        classes = np.unique(held[self._target.name]).size
        del known
        return ModelError(
            model="constant", rows="", error=1 - 1 / max(1, classes), standard_error=0.0
        )

    def _made(self, model: str, answers: NDArray[np.float64]) -> Any:  # noqa: ANN401  the same
        if model == "linear" and np.unique(answers).size > 1:
            judge = LogisticRegression(class_weight="balanced", max_iter=500)
            return make_pipeline(StandardScaler(), judge)
        return DecisionTreeClassifier(
            min_samples_leaf=_LEAF, class_weight="balanced", random_state=0
        )

    def _error(self, found: NDArray[np.float64], true: NDArray[np.float64]) -> tuple[float, float]:
        wrong = [(found[true == each] != each) for each in np.unique(true)]
        shares = np.array([each.mean() for each in wrong])
        doubts = shares * (1 - shares) / [each.size for each in wrong]
        return float(shares.mean()), math.sqrt(float(doubts.sum())) / len(wrong)


def estimated_models(archive: Archive, synthetic: Plain) -> ModelReport:
    """Estimate the error of linear models from noisy rows: the square, less the noise in it."""
    target = archive.schema.column(str(archive.schema.target))
    span = float(getattr(target, "mechanism").span)  # noqa: B009  known to be a number here
    judge = _Noisy(archive, target.name, span)
    errors = [judge.constant()]
    for rows, table in (("noisy", as_told(archive)), ("synthetic", synthetic)):
        errors.append(judge.judged(rows, table))
    return ModelReport(
        target=target.name,
        measure=_Squares.measure,
        method="Estimated for linear models from the noisy records themselves, less the noise that "
        "is known to be in them; a little too good, since the same records made the rows.",
        errors=tuple(errors),
        span=span,
    )


class _Noisy:
    """Measures linear models on noisy records, less the noise in them."""

    def __init__(self, archive: Archive, target: str, span: float) -> None:
        self._inputs = [name for name in archive.schema.names if name != target]
        self._target = target
        told = np.column_stack([archive.unbiased(name) for name in self._inputs])
        answers = archive.unbiased(target)
        self._span = span
        self._told = (told - told.mean(axis=0)) / span
        self._answers = (answers - answers.mean()) / span
        noise = [archive.noise_variance(name) for name in (*self._inputs, target)]
        self._noise = np.array(noise) / span**2

    def constant(self) -> ModelError:
        """Return the error of predicting the mean."""
        error, doubt = self._error(np.zeros(len(self._inputs)))
        return ModelError(model="constant", rows="", error=error, standard_error=doubt)

    def judged(self, rows: str, table: Plain) -> ModelError:
        """Train on some rows and measure; what the coefficients follow of the noise is doubt."""
        inputs = np.column_stack([table[name] for name in self._inputs])
        slopes = np.asarray(LinearRegression().fit(inputs, table[self._target]).coef_)
        error, doubt = self._error(slopes)
        followed = self._followed(slopes, inputs)
        return ModelError(
            model="linear",
            rows=rows,
            error=error,
            standard_error=math.hypot(doubt, followed),
            gain_error=math.hypot(self._gain_error(slopes), followed),
        )

    def _gain_error(self, slopes: NDArray[np.float64]) -> float:
        """Return the standard error of the difference to the constant, record by record."""
        gains = self._answers**2 - (self._answers - self._told @ slopes) ** 2
        least = math.sqrt(2.0) * float(slopes**2 @ self._noise[:-1])
        return max(float(gains.std()), least) / math.sqrt(len(gains))

    def _error(self, slopes: NDArray[np.float64]) -> tuple[float, float]:
        squares = (self._answers - self._told @ slopes) ** 2
        extra = float(np.append(slopes**2, 1.0) @ self._noise)
        # Squares of noise vary at least as those of a normal one do, whatever few records say.
        least = math.sqrt(2.0) * extra
        doubt = max(float(squares.std()), least) / math.sqrt(squares.size)
        mean = float(squares.mean())
        return mean - extra, max(doubt, _FEW * mean / squares.size)

    def _followed(self, slopes: NDArray[np.float64], inputs: NDArray[np.float64]) -> float:
        """Return by how much coefficients that follow the noise of the records look too good."""
        left = self._answers - self._told @ slopes
        pulls = left[:, np.newaxis] * self._told + slopes * self._noise[:-1]
        bent = np.atleast_2d(np.cov(inputs / self._span, rowvar=False, bias=True))
        spread = np.atleast_2d(np.cov(pulls, rowvar=False, bias=True))
        return 2 * float(np.trace(np.linalg.pinv(bent, hermitian=True) @ spread)) / len(left)


def _features(schema: ArchiveSchema, table: Plain) -> Iterator[NDArray[np.float64]]:
    for column in schema.columns:
        if column.name == schema.target:
            continue
        held = table[column.name]
        if isinstance(column, ClassColumn) and not column.ordered and len(column.values) > 2:
            for place in range(len(column.values)):
                yield (held == place).astype(np.float64)
        else:
            yield held


def _whole(table: Plain) -> Plain:
    """Return the rows that have every cell."""
    whole = np.all([~np.isnan(column) for column in table.values()], axis=0)
    return {name: column[whole] for name, column in table.items()}


def _rows(table: Plain) -> int:
    return len(next(iter(table.values())))
