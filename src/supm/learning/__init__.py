"""Statistics to models: cells, support vector machines, folds and scores. No privacy, no files."""

from __future__ import annotations

from supm.learning.cells import WeightedCells
from supm.learning.folds import folds
from supm.learning.scores import Scores, score
from supm.learning.svm import RbfSVM

__all__ = ["RbfSVM", "Scores", "WeightedCells", "folds", "score"]
