"""Principal components of one table under differential privacy."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from supm.estimators._private import PrivateEstimator
from supm.federation import Circle, Components
from supm.federation.components import check_count
from supm.schema import Schema


@dataclass(eq=False, repr=False)
class PrivatePCA(
    PrivateEstimator,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn has no types
    TransformerMixin,  # type: ignore[misc]  # scikit-learn has no types
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
):
    """The directions in which a table is longest, found from a noisy scatter matrix.

    As in the paper nothing is subtracted first: with public bounds, values are told about the
    middle of their range.

    Parameters
    ----------
    n_components : int, default 2
        How many directions.
    epsilon, delta : float, default 1.0 and 1e-6
        The whole budget of one record, under replace one.
    schema : Schema, optional
        Describes the columns, with public bounds; its target is not looked at.
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
    components_ : ndarray of float64, shape (n_components, columns)
        The directions, the longest first.
    outcome_ : supm.federation.ComponentsOutcome
        Directions and noisy lengths.
    release_, statement_
        What would be published, and what is promised.
    clipped_ : int
        How many rows were shortened. It is about the private table: do not publish it.

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> from supm.estimators import PrivatePCA
    >>> wdbc = load_wdbc()
    >>> pca = PrivatePCA(n_components=3, epsilon=2.0, schema=wdbc.schema, random_state=1)
    >>> pca.fit_transform(wdbc.columns).shape
    (569, 3)
    """

    n_components: int = 2
    _: KW_ONLY
    epsilon: float = 1.0
    delta: float = 1e-6
    schema: Schema | None = None
    bounds: tuple[float, float] | None = (-1.0, 1.0)
    norm: float | None = None
    random_state: int | None = None

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002, N803  scikit-learn's names
        """Add noise to the scatter matrix of the table, and keep its longest directions.

        Parameters
        ----------
        X : table
            One row for each record: a dataframe of any library, or a two-dimensional array.
        y : ignored
            There for scikit-learn.

        Returns
        -------
        PrivatePCA
        """
        encoding, rows = self._read_unlabelled(X)
        check_count(self.n_components, encoding.width, name="n_components")
        protocol = Components.for_budget(
            encoding=encoding,
            components=self.n_components,
            epsilon=self.epsilon,
            delta=self.delta,
            circle=Circle(parties=1),
        )
        self.outcome_ = self._run(protocol, rows)
        self.components_ = self.outcome_.components
        return self

    def transform(self, X: object) -> NDArray[np.float64]:  # noqa: N803  scikit-learn's name
        """Return the coordinates of each row along the directions; nothing is spent.

        Parameters
        ----------
        X : table
            With the columns that ``fit`` saw.

        Returns
        -------
        ndarray of float64, shape (rows, n_components)
        """
        vectors = self._vectors(X)
        told: NDArray[np.float64] = self.outcome_.transform(vectors)
        return told

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401  scikit-learn has no types
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags
