"""The scikit-learn face of SUPM: a study, a table, or several tables, in one object.

What a name needs is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm.estimators.copula_synthesizer import CopulaSynthesizer
    from supm.estimators.federating import federate
    from supm.estimators.local_randomizer import LocalRandomizer
    from supm.estimators.noise_aware_classifier import NoiseAwareClassifier
    from supm.estimators.noise_aware_regressor import NoiseAwareRegressor
    from supm.estimators.private_lda import PrivateLDA
    from supm.estimators.private_linear import PrivateLogisticRegression, PrivateSVC
    from supm.estimators.private_pca import PrivatePCA
    from supm.estimators.supm_classifier import SUPMClassifier
    from supm.estimators.supm_regressor import SUPMRegressor

__all__ = [
    "CopulaSynthesizer",
    "LocalRandomizer",
    "NoiseAwareClassifier",
    "NoiseAwareRegressor",
    "PrivateLDA",
    "PrivateLogisticRegression",
    "PrivatePCA",
    "PrivateSVC",
    "SUPMClassifier",
    "SUPMRegressor",
    "federate",
]

__getattr__ = names_on_demand(
    __name__,
    {
        "copula_synthesizer": "CopulaSynthesizer",
        "federating": "federate",
        "local_randomizer": "LocalRandomizer",
        "noise_aware_classifier": "NoiseAwareClassifier",
        "noise_aware_regressor": "NoiseAwareRegressor",
        "private_lda": "PrivateLDA",
        "private_linear": "PrivateLogisticRegression PrivateSVC",
        "private_pca": "PrivatePCA",
        "supm_classifier": "SUPMClassifier",
        "supm_regressor": "SUPMRegressor",
    },
)
