"""From statistics to models. Nothing here knows about privacy, files or networks."""

from __future__ import annotations

from supm.learning.additive import Additive, Line, fit_additive, fit_line
from supm.learning.bayes import conditional, single_opinions
from supm.learning.cells import WeightedCells
from supm.learning.folds import folds
from supm.learning.interactions import Interaction, fit_interactions
from supm.learning.learner import AnyClassifier, Constant, Learner, Predictor, RadialSVM
from supm.learning.margins import MarginFit, fit_margins
from supm.learning.moments import Gaps, Moments
from supm.learning.principal import average_subspace, principal_components
from supm.learning.scores import Errors, Metric, Scores, average, measure, score
from supm.learning.splitting import Split, best_split
from supm.learning.svm import RbfSVM

__all__ = [
    "Additive",
    "AnyClassifier",
    "Constant",
    "Errors",
    "Gaps",
    "Interaction",
    "Learner",
    "Line",
    "MarginFit",
    "Metric",
    "Moments",
    "Predictor",
    "RadialSVM",
    "RbfSVM",
    "Scores",
    "Split",
    "WeightedCells",
    "average",
    "average_subspace",
    "best_split",
    "conditional",
    "fit_additive",
    "fit_interactions",
    "fit_line",
    "fit_margins",
    "folds",
    "measure",
    "principal_components",
    "score",
    "single_opinions",
]
