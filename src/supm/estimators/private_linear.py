"""Linear classifiers of one table under differential privacy: largest margin, and logistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from supm.estimators._private import PrivateClassifier
from supm.federation import Circle, Margin
from supm.federation.components import check_count
from supm.schema import Schema

_Loss: TypeAlias = Literal["huber", "logistic", "softmax"]
_TWO: Final = 2


@dataclass(kw_only=True, eq=False, repr=False)
class _PrivateLinear(
    PrivateClassifier,
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn has no types
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
):
    """What the two classifiers share; they differ in the loss."""

    epsilon: float = 1.0
    delta: float = 1e-6
    n_components: int | None = None
    regularisation: float = 0.001
    schema: Schema | None = None
    labels: Sequence[Any] | None = None
    bounds: tuple[float, float] | None = (-1.0, 1.0)
    norm: float | None = None
    random_state: int | None = None
    # For two labels, and for more.
    _losses: ClassVar[tuple[_Loss, _Loss]]

    def fit(self, X: object, y: object) -> Self:  # noqa: N803  scikit-learn's name
        """Learn from the table with a noisy objective.

        Parameters
        ----------
        X : table
            One row for each record: a dataframe of any library, or a two-dimensional array.
        y : array, series or list
            Their labels.

        Returns
        -------
        self
        """
        encoding, rows = self._read_labelled(X, y)
        if self.n_components is not None:
            check_count(self.n_components, encoding.width, name="n_components")
        protocol = Margin.for_budget(
            encoding=encoding,
            epsilon=self.epsilon,
            delta=self.delta,
            circle=Circle(parties=1),
            components=self.n_components,
            loss=self._losses[encoding.classes > _TWO],
            regularisation=self.regularisation,
        )
        self.outcome_ = self._run(protocol, rows)
        return self


class PrivateSVC(_PrivateLinear):
    """A linear support vector machine whose coefficients are differentially private.

    The smooth (Huber) hinge loss is minimised with noise in the objective; with more than two
    labels there is one machine for each, and the budget is that of all of them together.

    Parameters
    ----------
    epsilon, delta : float, default 1.0 and 1e-6
        The whole budget of one record, under replace one.
    n_components : int, optional
        Reduce the columns to so many noisy principal components first; they get two fifths of
        mu squared, which is how Gaussian budgets add up (of epsilon, with gamma noise).
    regularisation : float, default 1e-3
        The weight of the squared length of the coefficients. Public: chosen before seeing the data.
    schema : Schema, optional
        Describes the columns and the target, with public bounds.
    labels : sequence, optional
        The possible labels, which are public, where there is no schema. Without either, those that
        occur are taken, as scikit-learn does; who is the only one of a label is then seen, so the
        statement promises nothing.
    bounds : tuple of two floats or None, default (-1.0, 1.0)
        Public bounds of all columns, where there is no schema; values beyond are clipped. None
        takes vectors as they are, divided by ``norm``.
    norm : float, optional
        Public. Vectors longer than it are shortened. By default what no record exceeds: the square
        root of the number of columns, or 1.0 where ``bounds`` is None.
    random_state : int, optional
        None draws secure randomness. A whole number makes a simulation, which is not private.

    Attributes
    ----------
    classes_ : ndarray
        The possible labels.
    outcome_ : supm.federation.MarginOutcome
        Components and coefficients.
    release_, statement_
        What would be published, and what is promised.
    clipped_ : int
        How many rows were shortened. It is about the private table: do not publish it.

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> from supm.estimators import PrivateSVC
    >>> wdbc = load_wdbc()
    >>> svm = PrivateSVC(epsilon=4.0, schema=wdbc.schema, random_state=1)
    >>> svm.fit(wdbc.columns, wdbc.target).decision_function(wdbc.columns).shape
    (569,)
    """

    _losses: ClassVar[tuple[_Loss, _Loss]] = ("huber", "huber")

    def decision_function(self, X: object) -> NDArray[np.float64]:  # noqa: N803  scikit-learn's name
        """Return how far each row lies on the side of each label; nothing is spent.

        Parameters
        ----------
        X : table
            With the columns that ``fit`` saw.

        Returns
        -------
        ndarray of float64
            Of shape (rows,) for two labels, (rows, labels) for more.
        """
        vectors = self._vectors(X)
        told: NDArray[np.float64] = self.outcome_.decision(vectors)
        # One machine tells two labels apart, and scikit-learn wants its numbers without an axis.
        return told[:, 0] if told.shape[1] == 1 else told


class PrivateLogisticRegression(_PrivateLinear):
    """Logistic regression whose coefficients are differentially private.

    Two labels: the logistic loss; more: softmax with one noise matrix for all labels.

    Parameters
    ----------
    epsilon, delta : float, default 1.0 and 1e-6
        The whole budget of one record, under replace one.
    n_components : int, optional
        Reduce the columns to so many noisy principal components first; they get two fifths of
        mu squared, which is how Gaussian budgets add up (of epsilon, with gamma noise).
    regularisation : float, default 1e-3
        The weight of the squared length of the coefficients. Public: chosen before seeing the data.
    schema : Schema, optional
        Describes the columns and the target, with public bounds.
    labels : sequence, optional
        The possible labels, which are public, where there is no schema. Without either, those that
        occur are taken, as scikit-learn does; who is the only one of a label is then seen, so the
        statement promises nothing.
    bounds : tuple of two floats or None, default (-1.0, 1.0)
        Public bounds of all columns, where there is no schema; values beyond are clipped. None
        takes vectors as they are, divided by ``norm``.
    norm : float, optional
        Public. Vectors longer than it are shortened. By default what no record exceeds: the square
        root of the number of columns, or 1.0 where ``bounds`` is None.
    random_state : int, optional
        None draws secure randomness. A whole number makes a simulation, which is not private.

    Attributes
    ----------
    classes_ : ndarray
        The possible labels.
    outcome_ : supm.federation.MarginOutcome
        Components and coefficients.
    release_, statement_
        What would be published, and what is promised.
    clipped_ : int
        How many rows were shortened. It is about the private table: do not publish it.

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> from supm.estimators import PrivateLogisticRegression
    >>> wdbc = load_wdbc()
    >>> model = PrivateLogisticRegression(epsilon=4.0, schema=wdbc.schema, random_state=1)
    >>> model.fit(wdbc.columns, wdbc.target).predict_proba(wdbc.columns).shape
    (569, 2)
    """

    _losses: ClassVar[tuple[_Loss, _Loss]] = ("logistic", "softmax")

    def predict_proba(self, X: object) -> NDArray[np.float64]:  # noqa: N803  scikit-learn's name
        """Return how probable each label is for each row; nothing is spent.

        Parameters
        ----------
        X : table
            With the columns that ``fit`` saw.

        Returns
        -------
        ndarray of float64, shape (rows, labels)
        """
        vectors = self._vectors(X)
        told: NDArray[np.float64] = self.outcome_.probabilities(vectors)
        return told
