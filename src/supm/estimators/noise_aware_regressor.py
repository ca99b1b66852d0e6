"""Predict a number from records that were noised long ago."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.base import BaseEstimator, RegressorMixin

from supm._validation import Reals
from supm.estimators._noise_aware import NoiseAwareEstimator, check_lengths
from supm.estimators._reading import check_bounds
from supm.estimators._targets import given_numbers
from supm.mechanisms import ContinuousLaplace
from supm.synthesis import ArchiveSchema, NumberColumn
from supm.synthesis.noise_aware import NoisyColumn, fit_number

_LEVEL: Final = Reals("level", 0.01, 0.9999)


@dataclass(kw_only=True, eq=False, repr=False)
class NoiseAwareRegressor(
    NoiseAwareEstimator,
    RegressorMixin,  # type: ignore[misc]  # scikit-learn has no types
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
):
    """Regression on noised records that takes their known noise into account.

    The columns and the target are noised; how is known. The model is a sum of straight lines or of
    smooth curves, one for each column, whose coefficients follow from debiased moments. The known
    noise of each moment says how much of it to believe: with much noise the model is a constant,
    the mean of the target, and with so much that even the mean is unknown, the middle of its
    bounds.
    ``predict`` takes clean records, since they may stay where they are.

    Put no scaler before it: scaled columns no longer have the bounds and the noise that were
    stated. And ``score`` or ``cross_val_score`` on noised records do not measure it, since they
    hand it noise for clean records and compare with noise; ``explained_`` is what can be said
    without clean records.

    Parameters
    ----------
    schema : supm.synthesis.ArchiveSchema, optional
        How each column was noised, and which is the target, a number. Columns go by their names.
    epsilon : float or sequence of floats, default 1.0
        Where there is no schema: what the Laplace noise of all columns, or of each, was made for.
    bounds : tuple of two floats or sequence of such tuples, default (-1.0, 1.0)
        Where there is no schema: public bounds of all columns, or of each, before the noise.
    target_epsilon : float, optional
        Where no schema names a target: what the Laplace noise of y was made for. By default that
        of all columns; a schema without target does not say, and needs it.
    target_bounds : tuple of two floats, default (-1.0, 1.0)
        Where no schema names a target: public bounds of y before the noise.
    form : {"auto", "linear", "additive"}, default "auto"
        Straight lines, smooth curves, or both, weighted by how likely each makes the reports.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, where they have any.
    columns_ : tuple of supm.synthesis.NumberColumn or supm.synthesis.ClassColumn
        How each was noised.
    target_ : supm.synthesis.NumberColumn
        How the target was noised.
    model_ : supm.synthesis.noise_aware.NumberModel
        The fitted model, in units of the target's range.
    explained_ : float
        Share of the target's variance that the predictions are expected to explain: 0 where they
        are constant, never above 1. It is estimated from the noisy records, so that it too errs.
    statement_ : supm.messages.ReleaseStatement
        What the owners of the records were promised.

    Examples
    --------
    >>> import numpy as np
    >>> from supm import simulation
    >>> from supm.estimators import NoiseAwareRegressor
    >>> from supm.mechanisms import ContinuousLaplace
    >>> years = ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=2.0)
    >>> beats = ContinuousLaplace.for_epsilon(low=40, high=140, epsilon=2.0)
    >>> age = np.linspace(0, 100, 20_000)
    >>> noisy_age = years.randomize(age, simulation(1))
    >>> noisy_pulse = beats.randomize(60 + age / 2, simulation(2))
    >>> model = NoiseAwareRegressor(epsilon=2.0, bounds=(0, 100), target_bounds=(40, 140))
    >>> model.fit(noisy_age[:, np.newaxis], noisy_pulse).predict([[10], [90]]).round(-1)
    array([ 60., 100.])
    >>> low, high = model.predict_interval([[50]], level=0.9).T
    >>> bool(low[0] < 85 < high[0])
    True
    """

    schema: ArchiveSchema | None = None
    epsilon: float | Sequence[float] = 1.0
    bounds: tuple[float, float] | Sequence[tuple[float, float]] = (-1.0, 1.0)
    target_epsilon: float | None = None
    target_bounds: tuple[float, float] = (-1.0, 1.0)
    form: str = "auto"

    def fit(self, X: object, y: object = None) -> Self:  # noqa: N803  scikit-learn's name
        """Learn from noised records.

        Parameters
        ----------
        X : table or supm.synthesis.Archive
            Noised records: a two-dimensional array; with a schema a table of any kind.
        y : array, series or list, optional
            The noised target. None where X holds it: an archive, or a table with the target's
            column, beside which y is refused.

        Returns
        -------
        NoiseAwareRegressor

        Warns
        -----
        UserWarning
            If a column cannot be what was stated with the noise that was stated, say because it
            varies less than its noise. Nothing that is learned from it means anything.
        """
        form = self._checked_form()
        if self._target_apart(X, y):
            columns, noised, target = self._from_numbers(X, y)
            asked, simulation = self._asked_with(noised), False
        else:
            archive = self._read_archive(X, y)
            wanted = "a regressor needs a number"
            columns, noised, target = self._from_records(archive, NumberColumn, wanted)
            asked, simulation = archive.schema.asked, archive.simulation
        self.target_ = noised
        self._check_noise(columns, noised, target)
        self.model_ = fit_number(columns, target, form=form)
        self.explained_ = self.model_.explained
        self._state(noised, asked, simulation=simulation)
        return self

    def predict(self, X: object) -> NDArray[np.float64]:  # noqa: N803  scikit-learn's name
        """Return the expected target of clean records.

        Parameters
        ----------
        X : table
            Clean records, with the columns that ``fit`` saw; beyond the bounds is clipped.

        Returns
        -------
        ndarray of float64
            Within the target's bounds.
        """
        values, law = self._clean(X), self.target_.mechanism
        return law.low + law.span * self.model_.predict(values)

    def predict_interval(self, X: object, level: float = 0.9) -> NDArray[np.float64]:  # noqa: N803  scikit-learn's name
        """Return an interval for the clean target of each clean record.

        It counts the noise of the fit, by the posterior of its coefficients, and that people who
        look alike have different targets, as if normally distributed.

        Parameters
        ----------
        X : table
            Clean records, with the columns that ``fit`` saw.
        level : float, default 0.9
            Share of targets that are to lie within.

        Returns
        -------
        ndarray of float64, shape (rows, 2)
            Low and high end, within the target's bounds.
        """
        values, law = self._clean(X), self.target_.mechanism
        reach = float(ndtri((1 + _LEVEL.check(level)) / 2))
        middle, off = self.model_.predict(values), reach * self.model_.deviation(values)
        ends = np.clip(np.column_stack((middle - off, middle + off)), 0.0, 1.0)
        return np.asarray(law.low + law.span * ends)

    def _from_numbers(
        self, table: object, y: object
    ) -> tuple[list[NoisyColumn], NumberColumn, NoisyColumn]:
        columns = self._inputs(table)
        reports = given_numbers(y)
        check_lengths(reports.size, np.size(columns[0].reports))
        epsilon = self._epsilon_of_target(self.target_epsilon)
        low, high = check_bounds("target_bounds", self.target_bounds)
        law = ContinuousLaplace.for_epsilon(low=low, high=high, epsilon=epsilon)
        noised = NumberColumn(self._free_name(), law)
        return columns, noised, NoisyColumn(channel=noised.channel(), reports=reports)
