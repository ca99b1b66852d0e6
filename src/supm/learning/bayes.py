"""What each class says about the label by itself, and how far such words may be added up."""

from __future__ import annotations

import numpy as np

from supm.learning.moments import Floats, Moments


def conditional(moments: Moments) -> Floats:
    """Return the probability of each class (row) given the label (column), smoothed by its noise.

    Parameters
    ----------
    moments : Moments
        How often classes and labels were told together.

    Returns
    -------
    ndarray, shape (classes, labels)
        Those of one attribute add up to 1 for each label.
    """
    smoothed = np.maximum(moments.held, 0.0) + moments.held_noise * moments.shares
    totals = np.zeros((len(moments.sizes), moments.labels))
    np.add.at(totals, moments.of, smoothed)
    chances: Floats = smoothed / totals[moments.of]
    return chances


def single_opinions(moments: Moments) -> Floats:
    """Return the logarithm of how much likelier each class is under each label than on the whole.

    Parameters
    ----------
    moments : Moments
        How often classes and labels were told together.

    Returns
    -------
    ndarray, shape (classes, labels)
        Added up over attributes they are the points of a naive Bayes classifier.
    """
    chances = conditional(moments)
    overall = (chances * moments.shares).sum(axis=1, keepdims=True)
    opinions: Floats = np.log(chances) - np.log(overall)
    return opinions
