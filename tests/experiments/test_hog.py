"""Images of the experiments are described by 1764 numbers of a norm that is known before."""

from __future__ import annotations

import numpy as np
from experiments.federated_svm.hog import HOG_NORM, hog_features

from supm import simulation


def test_there_are_1764_numbers_and_none_are_longer_than_said() -> None:
    drawn = simulation(3).below(256, 20 * 32 * 32 * 3)
    described = hog_features(drawn.astype(np.uint8).reshape(20, 32, 32, 3))
    assert described.shape == (20, 1764)
    assert np.linalg.norm(described, axis=1).max() <= HOG_NORM
