"""A classifier that simulates a whole study: owners, aggregator, and the owners it answers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from supm._errors import RecordError
from supm.collection import run_in_process
from supm.estimators._reading import check_schema, read_table, source_for
from supm.estimators._study import StudyEstimator, label_chances, tells_probabilities
from supm.estimators._targets import declared_labels, found_labels, label_order, target_for
from supm.learning import AnyClassifier, Learner, RadialSVM
from supm.messages import Trust
from supm.schema import Records, Schema

_FOUND: Final = (
    "the labels that occur in y are taken for the public list, so that whoever is the only one of "
    "a label is seen; declare the possible labels in a schema."
)


def _tells_probabilities(estimator: SUPMClassifier) -> bool:
    # Before ``fit`` nobody knows; a call then says what is missing.
    return not hasattr(estimator, "trained_") or tells_probabilities(estimator.trained_)


@dataclass(kw_only=True, eq=False, repr=False)
class SUPMClassifier(
    StudyEstimator,
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn has no types
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
):
    """Train and test as a study would, with every row of a table as an owner.

    ``fit`` plans a study from public facts alone (the schema, the budget, the trust, and how many
    rows there are), lets each row answer the questions that fall to it, and trains on the answers.
    ``predict`` lets each row answer the question of the test phase and classifies the answer, or
    looks the row up on its own device where the trust says so. The aggregator's part sees reports
    only. The table that you hold is for the simulation; in a study nobody holds it.

    Parameters
    ----------
    epsilon : float, default 4.0
        The most that an owner spends: in total for a row of ``fit``, and in total for a row of one
        call of ``predict``.
    trust : str, tuple or supm.messages.Trust, default "u,u,u"
        Where the phases reduce, train and test happen: "untrusted", "trusted" or, for the last,
        "device", by word or first letter. It picks what leaves an owner.
    mode : {"strict", "faithful"}, default "strict"
        Our protocol, or that of papers 000 and 001 with its errors corrected.
    schema : supm.schema.Schema, optional
        What is public about the columns, which are then found by name in any dataframe, and about
        the labels.
    bounds : tuple of two floats, default (-1.0, 1.0)
        The public bounds of all columns where there is no schema; what lies beyond is clipped. No
        bound is ever learned from the values. The labels that occur are then the possible ones, as
        if they were public; without a seed ``fit`` warns of that.
    keep : int, optional
        How many attributes are kept, K; by a public rule where not given.
    classes : int, optional
        Into how many classes an attribute is divided, L; by a public rule where not given.
    told : int, optional
        How many attributes, drawn at random, a training owner tells; by a public rule where not
        given.
    reduce : {"rand", "wa", "pw", "waldp", "rank", "regroup"}, optional
        How attributes are chosen, or classes merged; what the trust calls for by default.
    train : {"odp", "oda", "pw", "raw", "joint", "sample"}, optional
        What leaves a training owner; what the trust calls for by default.
    test : {"odp", "oda", "pw", "raw", "joint", "sample", "answer", "device"}, optional
        What leaves a test owner; what the trust calls for by default.
    class_weight : "balanced" or dict of label to float, optional
        How much each label counts: all alike by default, each as much as any other if "balanced"
        (by the shares that the reports show), or by these numbers, where a label that is not named
        counts 1.
    classifier : scikit-learn classifier, optional
        What is trained where owners tell all kept attributes; its ``fit`` takes ``sample_weight``.
        By default the papers' support vector machine with a radial kernel. Where owners tell a few
        attributes each (the form "sample"), a scorecard is made and this is not used.
    penalty : float, default 1.0
        The constant C of that machine; not used where a classifier is given.
    random_state : int, optional
        None draws secure randomness, anew in each call. A whole number makes a simulation that can
        be repeated, which is not private.

    Attributes
    ----------
    classes_ : ndarray
        The possible labels.
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
    and spends twice. The same holds for a row that is in several training sets, as in a
    cross-validation. `supm.collection.evaluate` draws each row's report once and uses it in all
    folds, as a study would have to; use it to measure accuracy.

    With a seed, a call can be repeated. The noise of a row depends on its place in the table, so a
    part of a table, or the table in another order, is answered with other noise.

    Examples
    --------
    >>> from supm.datasets import load_wdbc
    >>> from supm.estimators import SUPMClassifier
    >>> wdbc = load_wdbc()
    >>> study = SUPMClassifier(epsilon=4.0, schema=wdbc.schema, random_state=1)
    >>> study.fit(wdbc.columns, wdbc.target).predict(wdbc.columns).shape
    (569,)
    >>> study.model_.rule, study.account_.training.epsilon <= 4.0
    (Scorecard(attributes=30, outputs=2), True)
    >>> study.statement_.simulation
    True
    """

    epsilon: float = 4.0
    trust: str | tuple[str, str, str] | Trust = "u,u,u"
    mode: str = "strict"
    schema: Schema | None = None
    bounds: tuple[float, float] = (-1.0, 1.0)
    keep: int | None = None
    classes: int | None = None
    told: int | None = None
    reduce: str | None = None
    train: str | None = None
    test: str | None = None
    class_weight: Mapping[Any, float] | str | None = None
    classifier: Any = None
    penalty: float = 1.0
    random_state: int | None = None

    def fit(self, X: object, y: object) -> Self:  # noqa: N803  scikit-learn's name
        """Plan the study, let every row answer, choose attributes or classes, and train.

        Parameters
        ----------
        X : table
            One row for each training owner: a dataframe of any library, or a two-dimensional array.
        y : array, series or list
            Their labels.

        Returns
        -------
        SUPMClassifier
        """
        source, learner = source_for(self.random_state, "fit"), self._learner()
        records, schema, classes = self._labelled(X, y)
        weights = label_order(self.class_weight, classes)
        forms = {"reduce": self.reduce, "train": self.train}
        study = self._plan(schema, records.rows, mode=self.mode, **forms)
        if self.schema is None and not source.simulation:
            warnings.warn(_FOUND, UserWarning, stacklevel=2)
        self._keep(run_in_process(study, records, source, learner=learner, weights=weights))
        self.classes_ = classes
        return self

    def predict(self, X: object) -> NDArray[Any]:  # noqa: N803  scikit-learn's name
        """Let every row answer the question of the test phase, and classify the answers.

        Parameters
        ----------
        X : table
            One row for each test owner, with the columns that ``fit`` saw.

        Returns
        -------
        ndarray
            A label for each row. Each call draws and spends anew, except where the rows are looked
            up on their own device.
        """
        numbers = self._answers(X)
        named: NDArray[Any] = self.classes_[numbers]
        return named

    @available_if(_tells_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: object) -> NDArray[np.float64]:  # noqa: N803  scikit-learn's name
        """Return how probable each label is, given what the test phase lets be seen.

        On the device, or where the record is told as it is, that is the record; elsewhere it is the
        noisy report, which each call draws and spends anew. After ``fit`` the method is there only
        if the study estimates probabilities: in strict mode, unless the test form is "joint" or one
        of the papers'; in faithful mode where training is trusted and the test on the device.

        Parameters
        ----------
        X : table
            One row for each test owner, with the columns that ``fit`` saw.

        Returns
        -------
        ndarray of float64, shape (rows, labels)
            In the order of ``classes_``. Where ``class_weight`` is set, labels count by it.
        """
        check_is_fitted(self)
        records = read_table(self, X, reset=False)
        return label_chances(self.trained_, records, source_for(self._seed, "predict"))

    def _labelled(self, table: object, y: object) -> tuple[Records, Schema, NDArray[Any]]:
        records = read_table(self, table, reset=True)
        schema = check_schema(self.schema)
        labels = found_labels(y) if schema is None else declared_labels(y, schema)
        if labels.numbers.size != records.rows:
            raise RecordError(
                f"y has {labels.numbers.size} labels and the table {records.rows} records."
            )
        if schema is None:
            names = tuple(attribute.name for attribute in records.attributes)
            schema = Schema(attributes=records.attributes, target=target_for(labels, names))
        return replace(records, target=labels.numbers), schema, labels.classes

    def _learner(self) -> Learner:
        if self.classifier is None:
            return RadialSVM(penalty=self.penalty)
        return AnyClassifier(estimator=self.classifier)
