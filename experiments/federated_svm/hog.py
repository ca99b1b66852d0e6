"""Histograms of oriented gradients: what an image looks like, without learning anything.

The description of an image depends on that image alone, so it costs no privacy (N. Dalal, B.
Triggs, Histograms of oriented gradients for human detection, CVPR 2005).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from skimage.feature import hog

__all__ = ["HOG_NORM", "hog_features"]

HOG_NORM: Final = 7.0
"""No description is longer: each of the 49 blocks of an image has norm at most one."""


def hog_features(images: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Describe colour images of 32 x 32 pixels by 1764 numbers each."""
    described = [
        hog(each, orientations=9, pixels_per_cell=(4, 4), cells_per_block=(2, 2), channel_axis=2)
        for each in images
    ]
    return np.array(described, dtype=np.float64)
