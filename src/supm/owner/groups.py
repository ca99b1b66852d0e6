"""Groups: which questions a training owner answers, drawn by public weights, not by the record."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supm._random import RandomSource
from supm.messages import Study

__all__ = ["draw_groups"]


def draw_groups(study: Study, owners: int, source: RandomSource) -> NDArray[np.int64]:
    """Draw the group of each training owner by the study's weights."""
    bounds = np.cumsum(study.groups)
    drawn = source.below(int(bounds[-1]), owners).astype(np.int64)
    groups: NDArray[np.int64] = np.searchsorted(bounds, drawn, side="right")
    return groups
