"""How probable each label is, by what the test phase lets the aggregator, or the device, see."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supm._errors import ParameterError
from supm._random import RandomSource
from supm.collection import Trained
from supm.collection.cards import Card
from supm.collection.noisy_answers import report_chances
from supm.collection.testing import asked_in_test
from supm.messages import Scorecard
from supm.schema import Records

__all__ = ["probabilities", "tells_probabilities"]

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
        return _form(trained, "test") in (*_SEEN, "answer", "sample")
    # The papers' reports are taken at their word: what they add up to is no estimate.
    estimated = trained.cells is not None and _form(trained, "train") in ("joint", "oda")
    return estimated and _form(trained, "test") in (*_SEEN, "answer")


def probabilities(trained: Trained, records: Records, source: RandomSource) -> NDArray[np.float64]:
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
    if _form(trained, "test") in _SEEN:
        return _of_records(trained, records)
    asked = asked_in_test(trained)
    reports = asked.randomize(asked.encode(records), source)
    chances = report_chances(trained, asked, reports)
    if chances is not None:
        return chances
    raise ParameterError("test", "a form that tells probabilities", _form(trained, "test"))


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


def _form(trained: Trained, phase: str) -> str | None:
    question = trained.study.question(phase)
    return None if question is None else question.form
