"""Learning from records that were noised long ago: archives, noise laws, synthetic tables."""

from __future__ import annotations

from supm.synthesis.archive import Archive, ArchiveSchema
from supm.synthesis.collecting import Collection
from supm.synthesis.collecting_plan import CollectionOption, CollectionPlan, plan_collection
from supm.synthesis.columns import ClassColumn, NumberColumn
from supm.synthesis.noise_aware import leaf_size, worth_of
from supm.synthesis.quality import Quality, assess
from supm.synthesis.quality_columns import ColumnQuality, FigureComparison
from supm.synthesis.quality_dependence import Dependence
from supm.synthesis.quality_models import ModelError, ModelReport
from supm.synthesis.saved import SavedSynthesizer
from supm.synthesis.synthesizing import Synthesis, read_archive, synthesize
from supm.synthesis.synthetic_model import SyntheticModel, learn_model, learn_paper_model

__all__ = [
    "Archive",
    "ArchiveSchema",
    "ClassColumn",
    "Collection",
    "CollectionOption",
    "CollectionPlan",
    "ColumnQuality",
    "Dependence",
    "FigureComparison",
    "ModelError",
    "ModelReport",
    "NumberColumn",
    "Quality",
    "SavedSynthesizer",
    "Synthesis",
    "SyntheticModel",
    "assess",
    "leaf_size",
    "learn_model",
    "learn_paper_model",
    "plan_collection",
    "read_archive",
    "synthesize",
    "worth_of",
]
