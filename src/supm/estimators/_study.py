"""What the estimators of a study share: the model, the answers, and how probable each label is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.collection import (
    Trained,
    account,
    answer_on_device,
    answer_reports,
    make_model,
    make_statement,
    plan,
)
from supm.collection.cards import Card
from supm.collection.testing import asked_in_test, report_chances
from supm.estimators._reading import NoisyEstimator, read_table, source_for
from supm.messages import Model, Scorecard, Study, Trust
from supm.schema import Records, Schema


class StudyEstimator(NoisyEstimator):
    """The part of an estimator that keeps what a study led to and answers by it."""

    epsilon: float
    trust: str | tuple[str, str, str] | Trust
    keep: int | None
    classes: int | None
    told: int | None
    test: str | None
    random_state: int | None
    trained_: Trained

    @property
    def model_(self) -> Model:
        """The model as the aggregator would publish it: plain numbers, and the statement.

        It is what an owner downloads to look up the own record. A table of more than 2^20 cells
        cannot be published.
        """
        check_is_fitted(self)
        return make_model(self.trained_)

    def _plan(self, schema: Schema, owners: int, **forms: Any) -> Study:  # noqa: ANN401  what only some of them set
        return plan(
            schema,
            epsilon=self.epsilon,
            trust=read_trust(self.trust),
            owners=owners,
            keep=self.keep,
            classes=self.classes,
            told=self.told,
            test=self.test,
            **forms,
        )

    def _keep(self, trained: Trained) -> None:
        self.trained_ = trained
        self.study_ = trained.study
        self.chosen_ = self.study_.attributes or ()
        self.account_ = account(self.study_)
        self.statement_ = make_statement(self.study_, simulation=trained.simulation)
        # Kept, so that the statement stays true when the parameter is changed later.
        self._seed = self.random_state

    def _answers(self, table: object) -> NDArray[Any]:
        """Let every row answer the question of the test phase, and answer back."""
        check_is_fitted(self)
        records = read_table(self, table, reset=False)
        if self.study_.question("test") is None:
            return answer_on_device(self.trained_, records)
        asked = asked_in_test(self.trained_)
        source = source_for(self._seed, "predict")
        return answer_reports(self.trained_, asked.randomize(asked.encode(records), source))


def read_trust(trust: object) -> Trust:
    """Return the trust that a user wrote as a value, as one text or as three words."""
    if isinstance(trust, Trust):
        return trust
    if isinstance(trust, str):
        return Trust.parse(trust)
    if isinstance(trust, tuple | list) and all(isinstance(word, str) for word in trust):
        return Trust.parse(",".join(trust))
    hint = 'Write "u,u,u", or one word for each phase.'
    raise ParameterError("trust", "three words or letters", type(trust).__name__, hint)


# A cell that no report of the train phase told may still be somebody's.
_UNSEEN = 1e-3
# In these forms what leaves is seen as it is, or nothing leaves.
_SEEN = (None, "oda")


def tells_probabilities(trained: Trained) -> bool:
    """Say whether a study estimates how probable labels are, and does not only answer.

    Examples
    --------
    >>> from supm import simulation
    >>> from supm.collection import plan, run_in_process
    >>> from supm.datasets import load_wdbc
    >>> wdbc = load_wdbc()
    >>> [
    ...     tells_probabilities(run_in_process(study, wdbc.records(), simulation(1)))
    ...     for study in (plan(wdbc.schema, epsilon=4.0, mode=m) for m in ("strict", "faithful"))
    ... ]
    [True, False]
    """
    if isinstance(trained.predictor, Card):
        return trained.form("test") in (*_SEEN, "answer", "sample")
    # The papers' reports are taken at their word: what they add up to is no estimate.
    estimated = trained.cells is not None and trained.form("train") in ("joint", "oda")
    return estimated and trained.form("test") in (*_SEEN, "answer")


def label_chances(trained: Trained, records: Records, source: RandomSource) -> NDArray[np.float64]:
    """Return the probability of each label for each record, given what the test phase shows.

    Parameters
    ----------
    trained : Trained
        A model for which `tells_probabilities` holds.
    records : Records
        The records of the test owners.
    source : RandomSource
        Where their noise comes from, if any leaves.

    Returns
    -------
    ndarray of float64, shape (records, labels)
        Labels count by the weights that the model was trained with.
    """
    if trained.form("test") in _SEEN:
        return _of_records(trained, records)
    asked = asked_in_test(trained)
    reports = asked.randomize(asked.encode(records), source)
    chances = report_chances(trained, asked, reports)
    if chances is not None:
        return chances
    raise ParameterError("test", "a form that tells probabilities", trained.form("test"))


def _of_records(trained: Trained, records: Records) -> NDArray[np.float64]:
    discretizers = trained.study.discretizers("test")
    classes = records.encode(discretizers)
    if isinstance(trained.rule, Scorecard):
        return trained.rule.probabilities(classes)
    sizes = tuple(each.size for each in discretizers)
    found: NDArray[np.float64] = _of_cells(trained)[np.ravel_multi_index(tuple(classes.T), sizes)]
    return found


def _of_cells(trained: Trained) -> NDArray[np.float64]:
    """Return the shares of labels in each cell; where nobody was seen, those of its answer."""
    if trained.cells is None or trained.answers is None or isinstance(trained.rule, Scorecard):
        raise ParameterError("train", "a form whose cells are estimated", "another")
    whole = trained.answers.sum(axis=0)
    behind = trained.answers + _UNSEEN * whole
    usual = behind / behind.sum(axis=1, keepdims=True)
    held = trained.cells + _UNSEEN / len(trained.cells) * usual[trained.rule.answers]
    weighted = held * trained.weights
    shares: NDArray[np.float64] = weighted / weighted.sum(axis=1, keepdims=True)
    return shares
