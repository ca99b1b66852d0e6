"""What is learned between two phases, made up: merged classes, and a model whose answer is told."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from supm.messages import CellAnswers, Rule, Scorecard, Study

__all__ = ["completed"]


def completed(study: Study) -> Study:
    """Return a study as it is in its last phase, with public stand-ins for what is learned.

    Parameters
    ----------
    study : Study
        In any phase.

    Returns
    -------
    Study
        The first ``keep`` attributes stand for the chosen ones, the lower and the upper half of the
        classes for merged ones, and a model that goes by the mean class for a trained one. What is
        there already stays.

    Examples
    --------
    >>> from supm.collection import plan
    >>> from supm.schema import Categorical, Continuous, Schema
    >>> schema = Schema(
    ...     attributes=(Continuous("age", low=0, high=100),),
    ...     target=Categorical("ill", values=("no", "yes")),
    ... )
    >>> completed(plan(schema, epsilon=1.0)).rule
    Scorecard(attributes=1, outputs=2)
    """
    if study.attributes is None:
        chosen = study.schema.names[: study.keep]
        study = study.reduced(chosen, _merges(study) if study.reduction == "regroup" else None)
    test = study.question("test")
    if test is None or test.form != "answer" or study.rule is not None:
        return study
    return study.with_rule(_rule(study))


def _merges(study: Study) -> tuple[tuple[int, ...], ...]:
    sizes = [each.size for each in study.discretizers("reduce")][: study.keep]
    return tuple(tuple(int(2 * place >= size) for place in range(size)) for size in sizes)


def _rule(study: Study) -> Rule:
    sizes = tuple(each.size for each in study.discretizers("test"))
    train = study.question("train")
    card = _scorecard(sizes, study.labels, numeric=study.numeric)
    if train is None or train.form != "joint":
        return card
    cells = np.array(list(product(*map(range, sizes))))
    return CellAnswers(answers=card.predict(cells, sizes))


def _scorecard(sizes: tuple[int, ...], labels: int, *, numeric: bool) -> Scorecard:
    """Return a card by which the label, or the number, is as far up as the classes are."""
    shares = [_shares(size) / len(sizes) for size in sizes]
    if numeric:
        points = tuple(2.0 * share[:, np.newaxis] for share in shares)
        return Scorecard(points=points, offsets=np.array([-1.0]))
    # The label nearest to the mean is that of the most points: twice the product, less the square.
    numbers = np.arange(labels, dtype=np.float64)
    points = tuple(2.0 * (labels - 1) * np.outer(share, numbers) for share in shares)
    return Scorecard(points=points, offsets=-(numbers**2))


def _shares(size: int) -> NDArray[np.float64]:
    return np.arange(size) / max(1, size - 1)
