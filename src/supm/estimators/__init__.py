"""The scikit-learn face of SUPM: randomise a table, or simulate a whole study, in one object."""

from __future__ import annotations

from supm.estimators.local_randomizer import LocalRandomizer
from supm.estimators.supm_classifier import SUPMClassifier
from supm.estimators.supm_regressor import SUPMRegressor

__all__ = ["LocalRandomizer", "SUPMClassifier", "SUPMRegressor"]
