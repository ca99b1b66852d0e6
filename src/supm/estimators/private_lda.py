"""Discriminant analysis of one table under differential privacy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)

from supm.estimators._private import PrivateClassifier
from supm.estimators._reading import check_flag
from supm.federation import Circle, Discriminant
from supm.federation.discriminant import check_directions
from supm.schema import Schema


@dataclass(eq=False, repr=False)
class PrivateLDA(
    PrivateClassifier,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn has no types
    TransformerMixin,  # type: ignore[misc]  # scikit-learn has no types
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn has no types
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
):
    """Linear discriminant analysis whose published numbers are differentially private.

    Class counts, class sums and the scatter matrix get jointly calibrated discrete Gaussian noise;
    directions follow from them, and a noisy histogram of the scores, if there is one, sets the
    thresholds.

    Parameters
    ----------
    n_components : int, optional
        How many directions, fewer than there are labels; at most two with a histogram. By default
        as many as that allows.
    histogram : bool, default True
        Whether scores are counted by label. Without it the moments get the whole budget and decide
        alone, along any number of directions.
    epsilon, delta : float, default 1.0 and 1e-6
        The whole budget of one record, under replace one.
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
    outcome_ : supm.federation.DiscriminantOutcome
        Directions, noisy moments and the histogram of scores, if any.
    release_ : supm.messages.Release
        The same as a document to publish.
    statement_ : supm.messages.ReleaseStatement
        What is promised.
    clipped_ : int
        How many rows were shortened. It is about the private table: do not publish it.

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> from supm.estimators import PrivateLDA
    >>> wdbc = load_wdbc()
    >>> lda = PrivateLDA(epsilon=2.0, schema=wdbc.schema, random_state=1)
    >>> lda.fit(wdbc.columns, wdbc.target).predict(wdbc.columns).shape
    (569,)
    >>> lda.statement_.total.epsilon <= 2.0, lda.statement_.simulation
    (True, True)
    """

    n_components: int | None = None
    _: KW_ONLY
    histogram: bool = True
    epsilon: float = 1.0
    delta: float = 1e-6
    schema: Schema | None = None
    labels: Sequence[Any] | None = None
    bounds: tuple[float, float] | None = (-1.0, 1.0)
    norm: float | None = None
    random_state: int | None = None

    def fit(self, X: object, y: object) -> Self:  # noqa: N803  scikit-learn's name
        """Add noise to the moments of the table, and learn from those alone.

        Parameters
        ----------
        X : table
            One row for each record: a dataframe of any library, or a two-dimensional array.
        y : array, series or list
            Their labels.

        Returns
        -------
        PrivateLDA
        """
        histogram = check_flag("histogram", self.histogram)
        encoding, rows = self._read_labelled(X, y)
        if self.n_components is not None:
            check_directions(self.n_components, encoding, histogram=histogram, name="n_components")
        protocol = Discriminant.for_budget(
            encoding=encoding,
            epsilon=self.epsilon,
            delta=self.delta,
            circle=Circle(parties=1),
            histogram=histogram,
            directions=self.n_components,
        )
        self.outcome_ = self._run(protocol, rows)
        return self

    def transform(self, X: object) -> NDArray[np.float64]:  # noqa: N803  scikit-learn's name
        """Return the scores of each row along the published directions; nothing is spent.

        Parameters
        ----------
        X : table
            With the columns that ``fit`` saw.

        Returns
        -------
        ndarray of float64, shape (rows, directions)
        """
        vectors = self._vectors(X)
        scores: NDArray[np.float64] = self.outcome_.scores(vectors)
        return scores

    @property
    def _n_features_out(self) -> int:
        return int(self.outcome_.directions.shape[0])
