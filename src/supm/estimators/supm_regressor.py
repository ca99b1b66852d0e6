"""A regressor that simulates a whole study of a number: owners, aggregator, and test owners."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from supm._errors import RecordError
from supm.collection import run_in_process
from supm.estimators._reading import check_schema, read_table, source_for
from supm.estimators._study import StudyEstimator
from supm.estimators._targets import bounded_target, declared_target, read_numbers
from supm.messages import Trust
from supm.schema import Records, Schema


@dataclass(kw_only=True, eq=False, repr=False)
class SUPMRegressor(
    StudyEstimator,
    RegressorMixin,  # type: ignore[misc]  # scikit-learn has no types
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
):
    """Predict a number as a study would, with every row of a table as an owner.

    ``fit`` plans a strict study from public facts alone (the schema, the budget, the trust, and how
    many rows there are), lets each row tell a few attributes and its target as one randomised
    symbol, and fits points for each class that add up to the number. ``predict`` lets each row
    follow the model and tell the predicted number with noise, or keeps it on its own device where
    the trust says so. The table that you hold is for the simulation; in a study nobody holds it.

    Parameters
    ----------
    epsilon : float, default 4.0
        The most that an owner spends: in total for a row of ``fit``, and in total for a row of one
        call of ``predict``.
    trust : str, tuple or supm.messages.Trust, default "u,u,u"
        Where the phases reduce, train and test happen, by word or first letter. The first two are
        untrusted; the last is "untrusted" or "device".
    schema : supm.schema.Schema, optional
        What is public about the columns, which are then found by name in any dataframe, and about
        the target, which is continuous.
    bounds : tuple of two floats, default (-1.0, 1.0)
        The public bounds of all columns where there is no schema; what lies beyond is clipped.
    target_bounds : tuple of two floats, default (-1.0, 1.0)
        The public bounds of the target where there is no schema; what lies beyond is clipped, and
        all predictions lie within. No bound is ever learned from the values. Narrow ones let the
        noise weigh less.
    keep : int, optional
        How many attributes are kept, K; all of them where not given.
    classes : int, optional
        Into how many classes an attribute is divided, L; by a public rule where not given.
    told : int, optional
        How many attributes, drawn at random, a training owner tells; by a public rule where not
        given.
    test : {"answer", "sample", "device"}, optional
        What leaves a test owner: the predicted number, or a few attributes, either with noise. What
        the trust calls for by default.
    random_state : int, optional
        None draws secure randomness, anew in each call. A whole number makes a simulation that can
        be repeated, which is not private.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, where they have any.
    study_ : supm.messages.Study
        The document that the owners consented to, with the chosen attributes.
    chosen_ : tuple of str
        The chosen attributes.
    trained_ : supm.collection.Trained
        The trained model, with what the aggregator knows beside it.
    model_ : supm.messages.Model
        The model as it would be published.
    account_ : supm.collection.Account
        What each phase, a training owner and a test owner spend.
    statement_ : supm.messages.Statement
        What was promised to whom, in words and for machines. It says so where this was a
        simulation.

    Notes
    -----
    Nothing is remembered between calls: to predict for the same row twice, its owner answers twice
    and spends twice. `supm.collection.evaluate` draws each row's report once and uses it in
    all folds, as a study would have to; use it to measure errors.

    ``score`` is the share of the variance that is explained, R^2: 0 for the best constant, and
    below 0 for what is worse.

    Examples
    --------
    >>> import numpy as np
    >>> from supm.estimators import SUPMRegressor
    >>> age = np.linspace(0, 100, 2000)[:, np.newaxis]
    >>> pulse = 60 + age[:, 0] / 2
    >>> study = SUPMRegressor(
    ...     epsilon=8.0, trust="u,u,d", bounds=(0, 100), target_bounds=(40, 140), random_state=1
    ... )
    >>> study.fit(age, pulse).predict([[10], [90]]).round(-1).tolist()
    [70.0, 100.0]
    >>> study.model_.rule, study.account_.training.epsilon <= 8.0
    (Scorecard(attributes=1, outputs=1), True)
    """

    epsilon: float = 4.0
    trust: str | tuple[str, str, str] | Trust = "u,u,u"
    schema: Schema | None = None
    bounds: tuple[float, float] = (-1.0, 1.0)
    target_bounds: tuple[float, float] = (-1.0, 1.0)
    keep: int | None = None
    classes: int | None = None
    told: int | None = None
    test: str | None = None
    random_state: int | None = None

    def fit(self, X: object, y: object) -> Self:  # noqa: N803  scikit-learn's name
        """Plan the study, let every row answer, and fit.

        Parameters
        ----------
        X : table
            One row for each training owner: a dataframe of any library, or a two-dimensional array.
        y : array, series or list
            Their targets.

        Returns
        -------
        SUPMRegressor
        """
        source = source_for(self.random_state, "fit")
        records, schema = self._with_target(X, y)
        study = self._plan(schema, records.rows)
        self._keep(run_in_process(study, records, source))
        return self

    def predict(self, X: object) -> NDArray[np.float64]:  # noqa: N803  scikit-learn's name
        """Let every row answer the question of the test phase, and return the numbers.

        Parameters
        ----------
        X : table
            One row for each test owner, with the columns that ``fit`` saw.

        Returns
        -------
        ndarray of float64
            A number within the target's bounds for each row. Each call draws and spends anew,
            except where the model is followed on the rows' own device.
        """
        return self._answers(X)

    def _with_target(self, table: object, y: object) -> tuple[Records, Schema]:
        records = read_table(self, table, reset=True)
        schema = check_schema(self.schema)
        if schema is None:
            names = tuple(attribute.name for attribute in records.attributes)
            target = bounded_target(self.target_bounds, names)
        else:
            target = declared_target(schema)
        numbers = read_numbers(y, target, declared=schema is not None)
        if numbers.size != records.rows:
            raise RecordError(f"y has {numbers.size} numbers and the table {records.rows} records.")
        held = schema or Schema(attributes=records.attributes, target=target)
        return replace(records, target=numbers), held
