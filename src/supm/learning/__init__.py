"""From statistics to models. Nothing here knows about privacy, files or networks."""

from __future__ import annotations

from supm.learning.cells import WeightedCells
from supm.learning.folds import folds
from supm.learning.learner import AnyClassifier, Constant, Learner, Predictor, RadialSVM
from supm.learning.scores import Scores, score
from supm.learning.svm import RbfSVM

__all__ = [
    "AnyClassifier",
    "Constant",
    "Learner",
    "Predictor",
    "RadialSVM",
    "RbfSVM",
    "Scores",
    "WeightedCells",
    "folds",
    "score",
]
