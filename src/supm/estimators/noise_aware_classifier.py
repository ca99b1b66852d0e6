"""Predict a class from records that were noised long ago."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from supm.estimators._noise_aware import NoiseAwareEstimator, check_lengths
from supm.estimators._targets import ReadLabels, found_labels
from supm.mechanisms import GeneralizedRandomizedResponse
from supm.synthesis import Archive, ArchiveSchema, ClassColumn
from supm.synthesis.distributions import Channel
from supm.synthesis.noise_aware import NoisyColumn, fit_classes


@dataclass(kw_only=True, eq=False, repr=False)
class NoiseAwareClassifier(
    NoiseAwareEstimator,
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn has no types
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
):
    """Classification of noised records that takes their known noise into account.

    The columns are noised, and the labels may be, by randomized response; how is known. The
    probability of each class is a sum of straight lines or smooth curves, one for each column,
    from debiased class-conditional moments. The known noise of each moment says how much of it to
    believe: with much noise all records get the shares of the classes, and with so much that even
    these are unknown, equal ones. ``predict`` takes clean records.

    Put no scaler before it: scaled columns no longer have the bounds and the noise that were
    stated. And ``score`` or ``cross_val_score`` on noised records do not measure it, since they
    hand it noise for clean records and compare with labels that may be noise.

    Parameters
    ----------
    schema : supm.synthesis.ArchiveSchema, optional
        How each column was noised, and which is the target, a class. Columns go by their names.
    epsilon : float or sequence of floats, default 1.0
        Where there is no schema: what the Laplace noise of all columns, or of each, was made for.
    bounds : tuple of two floats or sequence of such tuples, default (-1.0, 1.0)
        Where there is no schema: public bounds of all columns, or of each, before the noise.
    label_epsilon : float, optional
        Where no schema names a target: what the randomized response of y was made for. By default
        labels were not noised. The labels that occur are the possible ones.
    form : {"auto", "linear", "additive"}, default "auto"
        Straight lines, smooth curves, or both, weighted by how likely each makes the reports.

    Attributes
    ----------
    classes_ : ndarray
        The possible labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, where they have any.
    columns_ : tuple of supm.synthesis.NumberColumn or supm.synthesis.ClassColumn
        How each was noised.
    model_ : supm.synthesis.noise_aware.ClassModel
        The fitted model.
    statement_ : supm.messages.ReleaseStatement
        What the owners of the records were promised.

    Examples
    --------
    >>> import numpy as np
    >>> from supm import simulation
    >>> from supm.estimators import NoiseAwareClassifier
    >>> from supm.mechanisms import ContinuousLaplace, GeneralizedRandomizedResponse
    >>> years = ContinuousLaplace.for_epsilon(low=0, high=100, epsilon=2.0)
    >>> answer = GeneralizedRandomizedResponse.for_epsilon(size=2, epsilon=2.0)
    >>> age = np.linspace(0, 100, 20_000)
    >>> noisy_age = years.randomize(age, simulation(1))
    >>> noisy_label = answer.randomize((age > 60).astype(int), simulation(2)).symbols
    >>> model = NoiseAwareClassifier(epsilon=2.0, bounds=(0, 100), label_epsilon=2.0)
    >>> model.fit(noisy_age[:, np.newaxis], noisy_label).predict([[20], [90]])
    array([0, 1])
    """

    schema: ArchiveSchema | None = None
    epsilon: float | Sequence[float] = 1.0
    bounds: tuple[float, float] | Sequence[tuple[float, float]] = (-1.0, 1.0)
    label_epsilon: float | None = None
    form: str = "auto"

    def fit(self, X: object, y: object = None) -> Self:  # noqa: N803  scikit-learn's name
        """Learn from noised records.

        Parameters
        ----------
        X : table or supm.synthesis.Archive
            Noised records: a two-dimensional array; with a schema a table of any kind.
        y : array, series or list, optional
            The labels as they were told. None where X holds them: an archive, or a table with the
            target's column, beside which y is refused.

        Returns
        -------
        NoiseAwareClassifier

        Warns
        -----
        UserWarning
            If a column cannot be what was stated with the noise that was stated, say because it
            varies less than its noise. Nothing that is learned from it means anything.
        """
        form = self._checked_form()
        if self._target_apart(X, y):
            columns, target = self._from_labelled(X, y)
        else:
            columns, target = self._from_classes(self._read_archive(X, y))
        self._check_noise(columns, self._label, target)
        self.model_ = fit_classes(columns, target, form=form)
        return self

    def predict_proba(self, X: object) -> NDArray[np.float64]:  # noqa: N803  scikit-learn's name
        """Return how probable each label is for clean records.

        Parameters
        ----------
        X : table
            Clean records, with the columns that ``fit`` saw; beyond the bounds is clipped.

        Returns
        -------
        ndarray of float64, shape (rows, labels)
            In the order of ``classes_``.
        """
        values = self._clean(X)
        return self.model_.probabilities(values)

    def predict(self, X: object) -> NDArray[Any]:  # noqa: N803  scikit-learn's name
        """Return the most probable label of clean records.

        Parameters
        ----------
        X : table
            Clean records, with the columns that ``fit`` saw; beyond the bounds is clipped.

        Returns
        -------
        ndarray
        """
        likeliest = self.predict_proba(X).argmax(axis=1)
        named: NDArray[Any] = self.classes_[likeliest]
        return named

    def _from_labelled(self, table: object, y: object) -> tuple[list[NoisyColumn], NoisyColumn]:
        columns = self._inputs(table)
        labels = found_labels(y)
        check_lengths(labels.numbers.size, np.size(columns[0].reports))
        self.classes_ = labels.classes
        target = self._label = self._label_column(labels)
        self._state(target, self._asked_with(target))
        channel = (
            Channel.of_classes("unordered", np.eye(len(labels.classes)))
            if target is None
            else target.channel()
        )
        return columns, NoisyColumn(channel=channel, reports=labels.numbers)

    def _label_column(self, labels: ReadLabels) -> ClassColumn | None:
        if self.label_epsilon is None:
            return None
        law = GeneralizedRandomizedResponse.for_epsilon_in_floats(
            size=len(labels.classes), epsilon=self.label_epsilon
        )
        return ClassColumn(self._free_name(), tuple(labels.classes.tolist()), law)

    def _from_classes(self, archive: Archive) -> tuple[list[NoisyColumn], NoisyColumn]:
        wanted = "a classifier needs classes"
        columns, self._label, reports = self._from_records(archive, ClassColumn, wanted)
        values = self._label.values
        alike = len({type(value) for value in values}) == 1
        self.classes_ = np.array(values, dtype=None if alike else object)
        self._state(self._label, archive.schema.asked, simulation=archive.simulation)
        return columns, reports
