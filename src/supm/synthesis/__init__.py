"""Learning from records that were noised long ago: archives, noise laws, synthetic tables."""

from __future__ import annotations

from supm.synthesis.archive import Archive
from supm.synthesis.archive_schema import ArchiveSchema, ClassColumn, NumberColumn
from supm.synthesis.collecting import Collection
from supm.synthesis.collecting_plan import CollectionOption, CollectionPlan, plan_collection
from supm.synthesis.noise_aware_leaves import leaf_size, worth_of
from supm.synthesis.noise_laws import (
    BinnedReports,
    GaussianLaw,
    LaplaceLaw,
    NumberLaw,
    PiecewiseLaw,
    ResponseLaw,
    SquareWaveLaw,
)
from supm.synthesis.paper_copula import learn_paper_model
from supm.synthesis.quality import Quality, assess
from supm.synthesis.quality_columns import ColumnQuality, Comparison
from supm.synthesis.quality_dependence import Dependence
from supm.synthesis.quality_models import ModelError, ModelReport
from supm.synthesis.saved import SavedSynthesizer
from supm.synthesis.synthetic_model import SyntheticModel, learn_model

__all__ = [
    "Archive",
    "ArchiveSchema",
    "BinnedReports",
    "ClassColumn",
    "Collection",
    "CollectionOption",
    "CollectionPlan",
    "ColumnQuality",
    "Comparison",
    "Dependence",
    "GaussianLaw",
    "LaplaceLaw",
    "ModelError",
    "ModelReport",
    "NumberColumn",
    "NumberLaw",
    "PiecewiseLaw",
    "Quality",
    "ResponseLaw",
    "SavedSynthesizer",
    "SquareWaveLaw",
    "SyntheticModel",
    "assess",
    "leaf_size",
    "learn_model",
    "learn_paper_model",
    "plan_collection",
    "worth_of",
]
