"""From statistics to models. Nothing here knows about privacy, files or networks."""

from __future__ import annotations

from supm.learning.additive import Additive, Line, fit_additive, fit_line
from supm.learning.bayes import conditional, single_opinions
from supm.learning.cells import WeightedCells
from supm.learning.errors import Errors, measure
from supm.learning.folds import folds
from supm.learning.learner import AnyClassifier, Constant, Learner, Predictor, RadialSVM
from supm.learning.moments import Gaps, Moments
from supm.learning.scores import Scores, score
from supm.learning.splitting import Split, best_split
from supm.learning.svm import RbfSVM

__all__ = [
    "Additive",
    "AnyClassifier",
    "Constant",
    "Errors",
    "Gaps",
    "Learner",
    "Line",
    "Moments",
    "Predictor",
    "RadialSVM",
    "RbfSVM",
    "Scores",
    "Split",
    "WeightedCells",
    "best_split",
    "conditional",
    "fit_additive",
    "fit_line",
    "folds",
    "measure",
    "score",
    "single_opinions",
]
