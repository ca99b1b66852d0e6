"""What both estimators do alike: run a study in ``fit``, ask its last question in ``predict``."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from supm._errors import ParameterError
from supm.collection import (
    Trained,
    account,
    answer_on_device,
    answer_reports,
    make_statement,
    publish,
)
from supm.collection.testing import asked_in_test
from supm.estimators._randomness import source_for
from supm.estimators._tables import read_table
from supm.messages import Model, Trust

__all__ = ["StudyEstimator", "read_trust"]


class StudyEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The part of an estimator that keeps what a study led to and answers by it."""

    trained_: Trained

    @property
    def model_(self) -> Model:
        """The model as the aggregator would publish it: plain numbers, and the statement.

        It is what an owner downloads to look up the own record. A table of more than 2^20 cells
        cannot be published.
        """
        check_is_fitted(self)
        return publish(self.trained_)

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
