"""A transformer that does to a table what each owner would do to one row of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from supm._validation import EPSILON
from supm.estimators._reading import read_table, source_for, tag_input
from supm.mechanisms import IndependentReports
from supm.privacy import realised
from supm.schema import Discretizer, Schema, discretize


@dataclass(kw_only=True, eq=False, repr=False)
class LocalRandomizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Randomise each row of a table, as its owner would before it leaves the device.

    Each value falls into one of a few public classes, and each class goes through randomized
    response with an equal share of the budget (the ODP of the papers). What comes out is a number
    for each class, so that any learner can follow: the middle of the class for a continuous
    attribute, a number in [-1, 1] for an ordinal one, and one column for each class of a
    categorical one, of which one is 1.

    `supm.mechanisms.LocalRandomizer` is another thing of the same name: the base class of the
    mechanisms, of which this transformer uses one.

    Parameters
    ----------
    epsilon : float, default 1.0
        The budget of one row in one call of ``transform``, all its values together.
    schema : supm.schema.Schema, optional
        What is public about the columns, which are then found by name in any dataframe. Columns
        that it does not name, and its target, are not looked at.
    bounds : tuple of two floats, default (-1.0, 1.0)
        The public bounds of all columns where there is no schema; what lies beyond is clipped.
        Nothing is ever learned from the values.
    classes : int, default 4
        The number of classes L of an attribute, at most.
    random_state : int, optional
        None draws secure randomness, anew in each call. A whole number makes a simulation, which
        is not private: whoever knows the number can undo the noise. Each call then starts its
        stream again.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, where they have any.
    discretizers_ : tuple of Discretizer
        How values fall into classes.
    mechanism_ : IndependentReports
        What randomises the classes. Its ``estimate`` removes the bias that noise brings.
    guarantee_ : Guarantee
        What one call of ``transform`` promises to the owner of each row. It says so where it is a
        simulation.

    Notes
    -----
    ``fit`` draws nothing and learns nothing from the values; it spends nothing. Every call of
    ``transform`` spends ``guarantee_`` for every row, and nothing is remembered between calls: to
    transform the same rows twice tells twice as much about them. Transform once, and keep the
    result. Cross-validation of a pipeline with this step inside does not: it randomises a row once
    for each fold.

    The reports are not corrected: each is what an honest aggregator would receive.

    Examples
    --------
    >>> from supm.estimators import LocalRandomizer
    >>> table = [[-0.9, 0.2], [0.4, 0.8]]
    >>> randomizer = LocalRandomizer(epsilon=8.0, classes=2, random_state=1).fit(table)
    >>> randomizer.transform(table)
    array([[-0.5,  0.5],
           [ 0.5,  0.5]])
    >>> print(randomizer.guarantee_.reason)
    simulation: the randomness came from a seed, so it is not private
    >>> LocalRandomizer(epsilon=8.0, classes=2).fit(table).guarantee_.epsilon <= 8.0
    True
    """

    epsilon: float = 1.0
    schema: Schema | None = None
    bounds: tuple[float, float] = (-1.0, 1.0)
    classes: int = 4
    random_state: int | None = None

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002, N803  scikit-learn's names
        """Check the parameters and the table; nothing is learned from its values.

        Parameters
        ----------
        X : table
            A dataframe of any library, or a two-dimensional array.
        y : object, optional
            Not looked at.

        Returns
        -------
        LocalRandomizer
        """
        epsilon = EPSILON.check(self.epsilon)
        source = source_for(self.random_state, "transform")
        records = read_table(self, X, reset=True)
        self.discretizers_ = tuple(discretize(each, self.classes) for each in records.attributes)
        sizes = [discretizer.size for discretizer in self.discretizers_]
        self.mechanism_ = IndependentReports.for_epsilon(sizes=sizes, epsilon=epsilon)
        self.guarantee_ = realised(self.mechanism_.guarantee, source)
        # Kept, so that the promise stays true when the parameter is changed later.
        self._seed = self.random_state
        return self

    def transform(self, X: object) -> NDArray[np.float64]:  # noqa: N803  scikit-learn's name
        """Randomise each row. This spends ``guarantee_`` for each of them, every time.

        Parameters
        ----------
        X : table
            Rows with the columns that ``fit`` saw.

        Returns
        -------
        ndarray of float64, shape (rows, columns out)
        """
        check_is_fitted(self)
        records = read_table(self, X, reset=False)
        source = source_for(self._seed, "transform")
        reports = self.mechanism_.randomize(records.encode(self.discretizers_), source)
        pairs = zip(self.discretizers_, reports.symbols.T, strict=True)
        return np.hstack([_numbers(discretizer, told) for discretizer, told in pairs])

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the name of each column that ``transform`` returns.

        Parameters
        ----------
        input_features : sequence of str, optional
            The names of the columns in, for a table that had none.

        Returns
        -------
        ndarray of str
            A column keeps its name; the columns of a categorical attribute add the class to it.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        pairs = zip(names, self.discretizers_, strict=True)
        return np.array([out for pair in pairs for out in _names(*pair)], dtype=object)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401  scikit-learn has no types
        return tag_input(super().__sklearn_tags__(), self.schema)


def _numbers(discretizer: Discretizer, told: NDArray[np.int64]) -> NDArray[np.float64]:
    scale = discretizer.representatives
    return discretizer.one_hot(told) if scale is None else scale[told][:, np.newaxis]


def _names(name: str, discretizer: Discretizer) -> list[str]:
    if discretizer.representatives is not None:
        return [name]
    return [f"{name}_{label}" for label in discretizer.labels]
