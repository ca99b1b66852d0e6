"""SUPM: machine learning from people's data with nobody trusted to hold it.

What a name needs is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from supm._errors import (
    BudgetError,
    DatasetError,
    FederationError,
    MessageError,
    PackageError,
    ParameterError,
    PromiseError,
    PublicationError,
    RecordError,
    SchemaError,
    SupmError,
)
from supm._lazy import names_on_demand

if TYPE_CHECKING:
    from supm._random import RandomSource, secure, simulation
    from supm.collection import compare, plan, simulate
    from supm.estimators import (
        CopulaSynthesizer,
        LocalRandomizer,
        NoiseAwareClassifier,
        NoiseAwareRegressor,
        PrivateLDA,
        PrivateLogisticRegression,
        PrivatePCA,
        PrivateSVC,
        SUPMClassifier,
        SUPMRegressor,
    )
    from supm.estimators.federating import federate
    from supm.owner import Owner
    from supm.publication import verify
    from supm.schema import Schema
    from supm.synthesis import synthesize

__version__ = "0.1.0.dev0"
__all__ = [
    "BudgetError",
    "CopulaSynthesizer",
    "DatasetError",
    "FederationError",
    "LocalRandomizer",
    "MessageError",
    "NoiseAwareClassifier",
    "NoiseAwareRegressor",
    "Owner",
    "PackageError",
    "ParameterError",
    "PrivateLDA",
    "PrivateLogisticRegression",
    "PrivatePCA",
    "PrivateSVC",
    "PromiseError",
    "PublicationError",
    "RandomSource",
    "RecordError",
    "SUPMClassifier",
    "SUPMRegressor",
    "Schema",
    "SchemaError",
    "SupmError",
    "__version__",
    "compare",
    "federate",
    "plan",
    "secure",
    "simulate",
    "simulation",
    "synthesize",
    "verify",
]

__getattr__ = names_on_demand(
    __name__,
    {
        "_random": "RandomSource secure simulation",
        "collection": "compare plan simulate",
        "estimators": (
            "CopulaSynthesizer LocalRandomizer NoiseAwareClassifier NoiseAwareRegressor PrivateLDA "
            "PrivateLogisticRegression PrivatePCA PrivateSVC SUPMClassifier SUPMRegressor "
            "federate"
        ),
        "owner": "Owner",
        "publication": "verify",
        "schema": "Schema",
        "synthesis": "synthesize",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
