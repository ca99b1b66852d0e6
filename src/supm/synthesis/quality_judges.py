"""Errors of models that are trained before and after, beside always predicting the same.

With clean rows the error is measured on them. Without, it can still be known for a linear model of
a number: the squared error at a noisy row is, on average, the true one plus noise that is known.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
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
from supm.synthesis.quality_models import ModelError, ModelReport

_MOST: Final = 20_000
# A leaf of a hundredth of the rows: a tree with single rows in its leaves learns the noise.
_LEAF: Final = 0.01
# Two records are equally far from their mean: over their number, the least doubt of a square.
_FEW: Final = 2.0


def model_report(archive: Archive, synthetic: Plain, clean: Plain | None) -> ModelReport | None:
    """Return the errors of models of the target, or None where they cannot be known."""
    schema = archive.schema
    if schema.target is None or len(schema.columns) < 2:
        return None
    if clean is not None:
        return _measured(schema, _whole(as_told(archive)), synthetic, clean)
    numbers = all(isinstance(each, NumberColumn) for each in schema.columns)
    return _estimated(archive, synthetic) if numbers and schema.asked is None else None


def why_no_models(schema: ArchiveSchema) -> str:
    """Say why noisy records alone do not tell what a model of the target is worth."""
    if schema.target is None or len(schema.columns) < 2:
        return ""
    target = schema.column(schema.target)
    numbers = isinstance(target, NumberColumn)
    if not numbers:
        reason = f"{target.name} has classes"
    elif schema.asked is not None:
        reason = "each owner told some columns only"
    else:
        reason = f"{schema.classes[0].name} has classes"
    made = "NoiseAwareRegressor" if numbers else "NoiseAwareClassifier"
    return (
        f"What a model of {target.name} is worth is not told, since {reason}: noisy records alone "
        "tell it where all columns are numbers and everybody told all of them. Models of such "
        f"records: {made} of supm.estimators."
    )


def _measured(schema: ArchiveSchema, noisy: Plain, synthetic: Plain, clean: Plain) -> ModelReport:
    """Measure on every second clean row; the others train what privacy would not allow."""
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


def _estimated(archive: Archive, synthetic: Plain) -> ModelReport:
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
